"""Publishers that do what a marble diagram says, on virtual time, and the expectation that a publisher does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rx_core import UNBOUNDED, FlowableBase, MissingBackpressureError, add_cap, invalid_request
from rx_testing._marbles import Marbles, Mark, Values, format_marbles, parse_marbles
from rx_testing._subscribers import TestSubscriber

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Worker
    from rx_testing._virtual import VirtualScheduler

T = TypeVar("T")


class MarbleError(Exception):
    """What ``#`` stands for when nothing else is said."""


class MarbleSource(FlowableBase[T]):
    """What :func:`cold` and :func:`hot` have in common: a diagram, a clock, and a note of each subscription."""

    def __init__(self, clock: VirtualScheduler, text: str, values: Values, error: Exception | None, frame: float) -> None:
        self._clock = clock
        self._text = text
        self._frame = frame
        self._marbles = parse_marbles(text, values=values, error=MarbleError("#") if error is None else error, frame=frame)
        self._started = clock.now()
        self._log: list[list[float | None]] = []

    @property
    def subscriptions(self) -> list[tuple[float, float | None]]:
        """When each subscriber came, and when it cancelled (None: it did not); in seconds after the source was made."""
        return [(float(begin or 0.0), end) for begin, end in self._log]

    def assert_subscriptions(self, *expected: str) -> None:
        """Compare with diagrams such as ``"--^---!"``; without ``!`` for subscriptions that were not cancelled."""
        __tracebackhide__ = True
        wanted = []
        for text in expected:
            read = parse_marbles(text, frame=self._frame)
            cancelled = read.cancelled_at
            wanted.append((-read.start, None if cancelled is None else cancelled - read.start))
        if wanted != self.subscriptions:
            raise AssertionError(f"subscriptions of {self!r} differ\n  expected {wanted}\n  but was  {self.subscriptions}")

    def _note(self) -> Callable[[], object]:
        entry: list[float | None] = [round(self._clock.now() - self._started, 9), None]
        self._log.append(entry)

        def cancelled() -> None:
            if entry[1] is None:
                entry[1] = round(self._clock.now() - self._started, 9)

        return cancelled

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._text!r})"


class Cold(MarbleSource[T]):
    """Plays its diagram anew for each subscriber. What is due and not requested waits for a request."""

    def subscribe_actual(self, subscriber: Subscriber[T], /) -> None:
        worker = self._clock.create_worker()
        playing = _Playing(subscriber, self._note(), worker)
        for mark in self._marbles.signals:
            worker.schedule(partial(playing.arrive, mark), mark.at)
        playing.start()


class Hot(MarbleSource[T]):
    """Plays its diagram once, from when it was made, for the subscribers there are.

    An item that a subscriber did not request ends it with MissingBackpressureError; who comes after the end gets the end.
    """

    def __init__(self, clock: VirtualScheduler, text: str, values: Values, error: Exception | None, frame: float) -> None:
        super().__init__(clock, text, values, error, frame)
        self._listening: list[_Playing[T]] = []
        self._end: Mark | None = None
        worker = clock._worker()
        for mark in self._marbles.signals:
            if mark.at >= 0:  # before the ^ there can be no subscriber
                worker.schedule(partial(self._tell, mark), mark.at)

    def _tell(self, mark: Mark) -> None:
        if mark.kind != "next":
            self._end = mark
        for playing in list(self._listening):
            playing.arrive(mark)
        self._listening = [playing for playing in self._listening if not playing.over]

    def subscribe_actual(self, subscriber: Subscriber[T], /) -> None:
        playing = _Playing(subscriber, self._note(), None)
        if self._end is None:
            self._listening.append(playing)
        else:
            playing.arrive(self._end)
        playing.start()


class _Playing(Generic[T]):
    """One subscription: keeps the signals that are due until they are requested, or fails instead (without a worker)."""

    def __init__(self, down: Subscriber[T], on_cancel: Callable[[], object], worker: Worker | None) -> None:
        self._down: Subscriber[T] | None = down
        self._on_cancel = on_cancel
        self._worker = worker
        self._due: deque[Mark] = deque()
        self._requests: deque[int] = deque()
        self._demand = 0
        self._token: dict[int, bool] = {}  # taken: start() gives it back

    @property
    def over(self) -> bool:
        return self._down is None

    def start(self) -> None:
        if self._down is not None:
            self._down.on_subscribe(self)
        self._token[0] = True
        self._drain()

    def request(self, n: int, /) -> None:
        self._requests.append(n)
        self._drain()

    def cancel(self) -> None:
        if self._down is not None:
            self._on_cancel()
            self._stop()

    def arrive(self, mark: Mark) -> None:
        self._due.append(mark)
        self._drain()

    def _drain(self) -> None:
        # Publish first, look afterwards: the holder of the token sees what came, or this thread gets the token.
        while self._down is not None and (self._requests or self._ready()) and self._token.pop(0, False):
            try:
                while self._step():
                    pass
            finally:
                self._token[0] = True

    def _ready(self) -> bool:
        if not self._due:
            return False
        return self._due[0].kind != "next" or self._demand > 0 or self._worker is None

    def _step(self) -> bool:
        down = self._down
        if down is None:
            return False
        if self._requests:
            n = self._requests.popleft()
            if type(n) is int and n > 0:
                self._demand = add_cap(self._demand, n)
            else:
                self._stop()
                down.on_error(invalid_request(n))
            return True
        if not self._ready():
            return False
        mark = self._due.popleft()
        if mark.kind == "next":
            if self._demand:
                self._demand -= self._demand < UNBOUNDED
                down.on_next(mark.value)
            else:
                self._stop()
                down.on_error(MissingBackpressureError(f"a hot source sent {mark.value!r}, which was not requested"))
            return True
        self._stop()
        if mark.kind == "error":
            down.on_error(mark.value)
        else:
            down.on_complete()
        return False

    def _stop(self) -> None:
        self._down = None
        self._due.clear()
        if self._worker is not None:
            self._worker.dispose()


def cold(
    clock: VirtualScheduler, text: str, /, *, values: Values = None, error: Exception | None = None, frame: float = 1.0
) -> Cold[Any]:
    """A publisher that plays ``text`` for each subscriber from the moment it subscribes."""
    return Cold(clock, text, values, error, frame)


def hot(
    clock: VirtualScheduler, text: str, /, *, values: Values = None, error: Exception | None = None, frame: float = 1.0
) -> Hot[Any]:
    """A publisher that plays ``text`` from now on (from its ``^`` on), with subscribers or without."""
    return Hot(clock, text, values, error, frame)


# -- expectations ------------------------------------------------------------------------------------------------------


class _Timed(TestSubscriber[Any]):
    """Notes when signals come."""

    def __init__(self, clock: VirtualScheduler, request: int) -> None:
        super().__init__(request)
        self.clock = clock
        self.start = clock.now()
        self.marks: list[Mark] = []

    def note(self, kind: Any, value: Any = None) -> None:
        self.marks.append(Mark(round(self.clock.now() - self.start, 9), kind, value))

    def on_next(self, item: Any, /) -> None:
        self.note("next", item)
        super().on_next(item)

    def on_error(self, error: Exception, /) -> None:
        self.note("error", error)
        super().on_error(error)

    def on_complete(self) -> None:
        self.note("complete")
        super().on_complete()


def expect_marbles(
    publisher: Publisher[Any],
    text: str,
    /,
    *,
    clock: VirtualScheduler,
    values: Values = None,
    error: Exception | type[Exception] | None = None,
    frame: float = 1.0,
    request: int = UNBOUNDED,
) -> None:
    """Subscribe, let ``clock`` run as long as the diagram, and fail unless exactly its signals came at exactly its instants.

    ::

        expect_marbles(cold(clock, "--1-2|").map(str), "--a-b|", clock=clock, values={"a": "1", "b": "2"})

    The subscription is made at the ``^`` (else in the first column) and cancelled at the ``!``, after what is due in that column.
    ``error`` is the exception that ``#`` stands for, or its type; without it any will do. Time after the last column is not
    looked at: add ``-`` to see that nothing more comes.
    """
    __tracebackhide__ = True
    expected = parse_marbles(text, values=values, error=error, frame=frame)
    clock.advance_by(-expected.start)
    subscriber = _Timed(clock, request)
    publisher.subscribe(subscriber)
    clock.run_due()
    stop = expected.cancelled_at
    if stop is not None:
        clock.advance_to(subscriber.start + stop)
        subscriber.cancel()
    clock.advance_to(max(subscriber.start + expected.seconds, clock.now()))
    got = tuple(subscriber.marks)
    subscriber.cancel()
    subscriber.assert_valid()
    _compare(text, expected, got, values, frame)


def _compare(text: str, expected: Marbles, got: tuple[Mark, ...], values: Values, frame: float) -> None:
    __tracebackhide__ = True
    wanted = expected.signals
    for mark, other in zip(wanted, got, strict=False):
        if not _same(mark, other):
            difference = f"expected {mark}, got {other}"
            break
    else:
        if len(wanted) == len(got):
            return
        missing = len(wanted) > len(got)
        difference = f"expected {wanted[len(got)]}, it did not come" if missing else f"unexpected {got[len(wanted)]}"
    drawn = format_marbles(got, values=values, frame=frame, seconds=expected.seconds)
    shown = " " * round(-expected.start / frame) + drawn if drawn is not None else "; ".join(map(str, got)) or "nothing"
    raise AssertionError(f"{difference}\n  expected {text}\n  but was  {shown}")


def _same(expected: Mark, got: Mark) -> bool:
    if expected.kind != got.kind or expected.at != got.at:
        return False
    if expected.kind != "error":
        return bool(expected.value == got.value)
    error = expected.value
    if error is None:
        return True
    if isinstance(error, type):
        return isinstance(got.value, error)
    return error is got.value or (type(error) is type(got.value) and error.args == got.value.args)

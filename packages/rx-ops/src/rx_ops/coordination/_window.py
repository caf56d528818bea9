"""window: one source cut into streams, one after the other or overlapping.

The windows outlive the stream of windows when that is cancelled, so the source belongs to none of their runs: a hand-written
subscriber, ``_Windows``, deals out what comes. Whatever comes (an item, a cut, a window that is left) is dealt with on the thread
that brings it, one at a time. By count, the source is asked for what the wanted windows need; by time and by another source it is
asked for everything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeVar

from rx_core import (
    OPERATOR_CODES,
    UNBOUNDED,
    BaseDisposable,
    CallbackObserver,
    CompositeDisposable,
    Disposable,
    Items,
    MissingBackpressureError,
    ObservableSource,
    Publisher,
    Run,
    Scheduler,
    Subscription,
    add_cap,
    dropped,
    mul_cap,
    none_argument,
    none_produced,
)
from rx_core.blocks import QueueDrain
from rx_fusion import Head, Text, as_text
from rx_ops.coordination._arrivals import Beat
from rx_ops.coordination._cutters import Cutter
from rx_ops.coordination._parts import Part

T = TypeVar("T")

_CUT: Final[Any] = object()
_NO_MORE: Final[Any] = object()  # the stream of windows is over


class _End:
    __slots__ = ("error",)

    def __init__(self, error: Exception | None) -> None:
        self.error = error


class _Do:
    """Something for a cutter."""

    __slots__ = ("action",)

    def __init__(self, action: Callable[[], object]) -> None:
        self.action = action


class _Left:
    """A window that nobody reads any more, or that nobody has subscribed to in time."""

    __slots__ = ("window",)

    def __init__(self, window: _Window[Any]) -> None:
        self.window = window


class WindowHead(Head, Generic[T]):
    """The description: where from, and what cuts. By count there is a ``skip``, by time ``seconds``, or a ``boundary``; or a
    ``cutter`` does it all."""

    __slots__ = ("_text", "boundary", "cutter", "face", "scheduler_", "seconds", "size", "skip", "upstream")
    name = "window"

    def __init__(
        self,
        source: Any,
        face: Callable[[int, Head], Any],
        text: Text,
        *,
        size: int | None = None,
        skip: int | None = None,
        seconds: float | None = None,
        scheduler: Scheduler | None = None,
        boundary: Publisher[Any] | ObservableSource[Any] | None = None,
        cutter: Cutter | None = None,
    ) -> None:
        self.upstream: Sequence[Any] = (source,)
        self.face = face
        self.size = size
        self.skip = skip
        self.seconds = seconds
        #: Whose clock cuts; the windows are not on a worker of their own.
        self.scheduler_ = scheduler
        self.boundary = boundary
        self.cutter = cutter
        self._text = text

    def open(self, run: Run, window: int, /) -> Items[Any]:
        return _Windows(run, self, window).stream()

    def notes(self) -> Sequence[str]:
        return (f"queue: at most {self.size} items in each window" if self.size else "queue: what comes between two cuts",)

    def __repr__(self) -> str:
        return f"{self.upstream[0]!r}.{as_text(self._text)}"


class _Windows(BaseDisposable, Generic[T]):
    """One run of window: subscriber of the source, and what all windows share."""

    __slots__ = (
        "_asks",
        "_cutters",
        "_filled",
        "_granted",
        "_upstream",
        "_work",
        "at",
        "ended",
        "error",
        "fresh",
        "head",
        "is_over",
        "live",
        "opened",
        "outer_open",
        "run",
        "window",
    )

    def __init__(self, run: Run, head: WindowHead[T], window: int) -> None:
        self.run = run
        self.head = head
        #: How many windows the consumer runs at the same time; 0 where its demand says so.
        self.window = window
        self.fresh: deque[_Window[T]] = deque()  # opened and not given away yet
        self.live: dict[_Window[T], None] = {}
        self.at = 0  # where the next item is, counted from the beginning of the newest window
        self.opened = 0
        self.outer_open = True
        self.ended = False
        self.error: Exception | None = None
        self.is_over = False
        self._upstream: dict[int, Any] = {}
        self._granted = 0
        self._cutters = CompositeDisposable()
        self._filled: Callable[[], object] | None = None  # the cutter's answer to a window that is full
        self._work: QueueDrain[Any] = QueueDrain(self._deal)
        self._asks: QueueDrain[int] = QueueDrain(self._request)
        run.own(self)
        run.later(self._start)

    # -- the stream of windows ----------------------------------------------------------------------------------------------

    def stream(self) -> Items[Any]:
        run, fresh = self.run, self.fresh
        try:
            while True:
                if fresh and (self.window or run.outstanding):
                    window = fresh.popleft()
                    if self.ended and not fresh:
                        run.poke()  # the end is known: it needs no further demand
                    yield self.head.face(window.number, window)
                    if window.left_alone:
                        self._work.offer(_Left(window))
                    continue
                if self.error is not None:
                    raise self.error
                if fresh:
                    if self.head.skip is None:
                        raise MissingBackpressureError("window() has a new window and nobody asks for another one")
                elif self.ended:
                    return
                elif self.head.skip is not None:
                    self._ask(self.head.skip)
                yield None
        except Exception as error:
            self._work.offer(_End(error))
            raise
        finally:
            self._work.offer(_NO_MORE)

    def _ask(self, skip: int) -> None:
        """Ask for what the windows need that are wanted now. Without a bound, for one window after the other."""
        demand = self.run.demand
        if not self._upstream or not (demand or self.window):
            return
        more = 1 if self.window or demand == UNBOUNDED else demand
        size = self.head.size or skip
        total = add_cap(mul_cap(self.opened + more - 1, skip), size)
        if total > self._granted:
            n, self._granted = total - self._granted, total
            self.run.later(partial(self._asks.offer, n))  # later: what it sends at once has to find the run free

    def _request(self, n: int) -> None:
        request: Callable[[int], object] | None = getattr(self._upstream.get(0), "request", None)
        if request is not None and not self.is_over:
            request(n)

    def dispose(self) -> None:
        """The run of the stream of windows is over."""
        self._work.offer(_NO_MORE)

    @property
    def is_disposed(self) -> bool:
        return not self.outer_open

    # -- the source -------------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        head = self.head
        if not self.outer_open:
            return
        try:
            if head.cutter is not None:
                self._filled = head.cutter.start(self)
            elif head.skip is None:
                self._work.offer(_CUT)  # the first window
            if head.seconds is not None and head.scheduler_ is not None:
                worker = head.scheduler_.create_worker()
                self._cutters.add(worker)
                Beat(worker, head.seconds, head.seconds, partial(self._work.offer, _CUT))
            if head.boundary is not None:
                cutter: CallbackObserver[Any] = CallbackObserver(
                    self.run.origin,
                    lambda _item: self._work.offer(_CUT),
                    lambda error: self._work.offer(_End(error)),
                    lambda: self._work.offer(_End(None)),
                )
                self._cutters.add(cutter)
                head.boundary.subscribe(cutter)
            head.upstream[0].subscribe(self)
        except Exception as error:
            self._work.offer(_End(error))

    def on_subscribe(self, upstream: Subscription | Disposable, /) -> None:
        if upstream is None:
            raise self._refused(none_argument("on_subscribe(None)", "subscription"))
        if self._upstream.setdefault(0, upstream) is not upstream:
            _stop(upstream)  # RS 2.5
        elif self.is_over:
            _stop(upstream)
        else:
            lender = getattr(upstream, "_rx_lender", None)
            if lender is not None:
                self.run.follow(lender)
            self._begin()

    def _begin(self) -> None:
        if self.head.skip is None:
            self._asks.offer(UNBOUNDED)
        else:
            self.run.poke()  # whoever wants windows asks now

    def on_next(self, item: T, /) -> None:
        if item is None:
            raise self._refused(none_produced("a source"))
        self._work.offer(item)

    def _refused(self, error: TypeError) -> TypeError:
        """For a None (RS 2.13): ``error`` ends the stream, and is what the source gets to see."""
        self._work.offer(_End(error))
        return error

    def on_error(self, error: Exception, /) -> None:
        if error is None:
            raise self._refused(none_argument("on_error(None)", "error"))
        if self.is_over:
            dropped(error, self.run.origin)
        else:
            self._work.offer(_End(error))

    def on_complete(self) -> None:
        self._work.offer(_End(None))

    # -- dealing out, one thing at a time -------------------------------------------------------------------------------------

    def _deal(self, event: Any) -> None:
        try:
            self._handle(event)
        except BaseException as error:  # a subscriber's, raised where its run was woken; nothing is dealt with after it
            self._let_go()
            if isinstance(error, Exception) and not self.ended:
                self._finish(error)
            raise

    def _handle(self, event: Any) -> None:
        if event is _NO_MORE:
            self._close_outer()
        elif type(event) is _Left:
            event.window.abandoned = True
            self._close(event.window, None)
        elif self.ended:
            pass
        elif event is _CUT:
            self._cut()
        elif type(event) is _End:
            self._finish(event.error)
        elif type(event) is _Do:
            event.action()
        else:
            self._give(event)

    def _give(self, item: T) -> None:
        skip, size = self.head.skip, self.head.size
        if skip is not None:
            if self.at == 0:
                self._open()
            self.at = (self.at + 1) % skip
        full = False
        for window in tuple(self.live):
            window.queue.append(item)
            window.count += 1
            if window.count == size:
                full = True
                self._close(window, None)
            else:
                window.stir()
        if full and self._filled is not None:
            self._filled()
        elif full and skip is None:
            self._open()

    def _cut(self) -> None:
        for window in tuple(self.live):
            self._close(window, None)
        self._open()

    def _open(self) -> _Window[T] | None:
        if not self.outer_open or self.ended:
            return None
        if self.window and len(self.fresh) >= self.window and self.head.skip is None:
            self._finish(MissingBackpressureError(f"window() has a new window, and {self.window} of them wait for their turn"))
            return None
        window = _Window(self, self.opened)
        self.opened += 1
        self.live[window] = None
        self.fresh.append(window)
        self.run.poke()
        return window

    # What a cutter works with.

    @property
    def origin(self) -> object:
        return self.run.origin

    def do(self, action: Callable[[], object], /) -> None:
        self._work.offer(_Do(action))

    def begin(self) -> _Window[T] | None:
        return self._open()

    def end(self, piece: _Window[T], /) -> None:
        self._close(piece, None)

    def over(self, error: Exception | None, /) -> None:
        if not self.ended:
            self._finish(error)

    def keep(self, disposable: Disposable, /) -> object:
        return self._cutters.add(disposable)

    def let_go(self, disposable: Disposable, /) -> object:
        return self._cutters.remove(disposable)

    def _close(self, window: _Window[T], error: Exception | None) -> None:
        if window in self.live:
            del self.live[window]
            window.error = error
            window.done = True
            window.stir(ended=True)
        if not (self.live or self.outer_open):
            self._let_go()

    def _close_outer(self) -> None:
        self.outer_open = False
        self.fresh.clear()
        for window in tuple(self.live):
            if window.left_alone:
                self._close(window, None)
        if not self.live:
            self._let_go()

    def _finish(self, error: Exception | None) -> None:
        self.ended = True
        self.error = error
        for window in tuple(self.live):
            self._close(window, error)
        self._let_go()
        self.run.poke()

    def _let_go(self) -> None:
        """Nobody wants anything of the source any more, or it has ended."""
        if not self.is_over:
            self.is_over = True
            upstream = self._upstream.get(0)
            if upstream is not None:
                _stop(upstream)
            self._cutters.dispose()


class _Window(Part[T]):
    """One window: the queue of its items."""

    __slots__ = ("count", "number", "windows")
    name = "window"

    def __init__(self, windows: _Windows[T], number: int) -> None:
        super().__init__()
        self.windows = windows
        self.number = number
        #: How many items it was given.
        self.count = 0

    def stir(self, *, ended: bool = False) -> None:
        """Something was put into it."""
        run = self.run  # read once: its subscriber may leave meanwhile, on another thread
        if run is not None:
            run.poke() if ended else run.wake()
        elif self.left_alone:
            self.windows.run.poke()  # the consumer may have come back without subscribing to it

    def put_back(self) -> None:
        self.windows._work.offer(_Left(self))

    def begin(self, run: Run) -> Items[T]:
        return self._stream(run)

    def _stream(self, run: Run) -> Items[T]:
        queue = self.queue
        try:
            while True:
                while queue:
                    item = queue.popleft()
                    if self.done and not queue:
                        run.poke()  # the end is known: it needs no further demand
                    yield item
                if not self.done:
                    yield None
                elif not queue:
                    break
            if self.error is not None:
                raise self.error
        finally:
            self.run = None
            queue.clear()
            self.windows._work.offer(_Left(self))

    def __repr__(self) -> str:
        return f"window({self.number})"


OPERATOR_CODES.update((_Windows.stream.__code__, _Window._stream.__code__))  # they raise what ended the source


def _stop(upstream: Any) -> None:
    stop: Callable[[], object] = getattr(upstream, "cancel", None) or upstream.dispose
    stop()

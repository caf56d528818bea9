"""Cutters: what says where a piece of a stream begins and where it ends, when one piece may begin before the other has ended.

A cutter is a description and holds no run state. ``start`` begins one run over a :class:`Target`, which is a run of ``buffer`` or
of ``window``: there all that happens is put in one line with the items, so a piece has exactly the items between its cuts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from rx_core import CallbackObserver, Disposable, Scheduler, Worker, name_of, user_call
from rx_ops.coordination._arrivals import Beat


class Target(Protocol):
    """What a cutter cuts. Everything but ``do`` is called by what ``do`` was given."""

    @property
    def origin(self) -> object: ...

    def do(self, action: Callable[[], object], /) -> None:
        """Call ``action`` after all that has come, before all that is to come. Thread-safe."""

    def begin(self) -> Any:
        """A new piece, or None when nobody takes pieces any more."""

    def end(self, piece: Any, /) -> None:
        """Give ``piece`` as it is; nothing when it has ended."""

    def over(self, error: Exception | None, /) -> None:
        """The end of everything."""

    def keep(self, disposable: Disposable, /) -> object:
        """Dispose it with the run."""

    def let_go(self, disposable: Disposable, /) -> object:
        """Dispose it now."""


class Cutter(ABC):
    """What says where pieces begin and end."""

    __slots__ = ()

    @property
    @abstractmethod
    def text(self) -> str:
        """The call as the user wrote it."""

    @abstractmethod
    def start(self, target: Target, /) -> Callable[[], object] | None:
        """Begin one run. What is returned is called when a piece was full and has ended for that."""


class Overlapping(Cutter):
    """A piece begins every so often and lasts for some time, which may be longer or shorter."""

    __slots__ = ("_every", "_operator", "_scheduler", "_seconds")

    def __init__(self, operator: str, seconds: float, every: float, scheduler: Scheduler) -> None:
        self._operator, self._seconds, self._every, self._scheduler = operator, seconds, every, scheduler

    @property
    def text(self) -> str:
        return f"{self._operator}(seconds={self._seconds}, every={self._every})"

    def start(self, target: Target, /) -> None:
        worker = self._scheduler.create_worker()
        target.keep(worker)
        begin = partial(self._begin, target, worker)
        Beat(worker, self._every, self._every, partial(target.do, begin))
        target.do(begin)

    def _begin(self, target: Target, worker: Worker) -> None:
        piece = target.begin()
        if piece is not None:
            worker.schedule(partial(target.do, partial(target.end, piece)), self._seconds)


class Restarting(Cutter):
    """One piece after the other; each has its whole time, also after one that was full before its time."""

    __slots__ = ("_count", "_operator", "_scheduler", "_seconds")

    def __init__(self, operator: str, seconds: float, count: int, scheduler: Scheduler) -> None:
        self._operator, self._seconds, self._count, self._scheduler = operator, seconds, count, scheduler

    @property
    def text(self) -> str:
        return f"{self._operator}(seconds={self._seconds}, count={self._count}, restart=True)"

    def start(self, target: Target, /) -> Callable[[], object]:
        worker = self._scheduler.create_worker()
        target.keep(worker)
        periods = _Periods(target, worker, self._seconds)
        target.do(periods.begin)
        return periods.restart


class _Periods:
    """One run of :class:`Restarting`."""

    __slots__ = ("_alarm", "_seconds", "_target", "_worker")

    def __init__(self, target: Target, worker: Worker, seconds: float) -> None:
        self._target, self._worker, self._seconds = target, worker, seconds
        self._alarm: Disposable | None = None

    def begin(self) -> None:
        piece = self._target.begin()
        if piece is not None:
            # Relative to now, not to when the last period was due: a full piece moved everything anyway.
            self._alarm = self._worker.schedule(partial(self._target.do, partial(self._ring, piece)), self._seconds)

    def _ring(self, piece: Any) -> None:
        self._target.end(piece)
        self.begin()

    def restart(self) -> None:
        if self._alarm is not None:
            self._alarm.dispose()
        self.begin()


class Closing(Cutter):
    """One piece after the other; each lasts until the source that was made for it signals."""

    __slots__ = ("_closing", "_operator")

    def __init__(self, operator: str, closing: Callable[[], Any]) -> None:
        self._operator, self._closing = operator, closing

    @property
    def text(self) -> str:
        return f"{self._operator}(closing={name_of(self._closing)})"

    def start(self, target: Target, /) -> None:
        target.do(partial(self._begin, target))

    def _begin(self, target: Target) -> None:
        piece = target.begin()
        if piece is not None:
            listen(target, self._operator, self._closing, (), partial(self._next, target, piece))

    def _next(self, target: Target, piece: Any) -> None:
        target.end(piece)
        self._begin(target)


class Opening(Cutter):
    """A piece begins with each item of one source and lasts until the source that was made of that item signals."""

    __slots__ = ("_closing", "_opening", "_operator")

    def __init__(self, operator: str, opening: Any, closing: Callable[[Any], Any]) -> None:
        self._operator, self._opening, self._closing = operator, opening, closing

    @property
    def text(self) -> str:
        return f"{self._operator}(opening={self._opening!r}, closing={name_of(self._closing)})"

    def start(self, target: Target, /) -> None:
        toggle = _Toggle(target, self._operator, self._closing)
        observer: CallbackObserver[Any] = CallbackObserver(
            target.origin,
            lambda item: target.do(partial(toggle.begin, item)),
            lambda error: target.do(partial(target.over, error)),
            lambda: target.do(toggle.no_more),
        )
        target.keep(observer)
        self._opening.subscribe(observer)


class _Toggle:
    """One run of :class:`Opening`: it is over when no piece is open and none can begin."""

    __slots__ = ("_closing", "_live", "_no_more", "_operator", "_target")

    def __init__(self, target: Target, operator: str, closing: Callable[[Any], Any]) -> None:
        self._target, self._operator, self._closing = target, operator, closing
        self._live = 0
        self._no_more = False

    def begin(self, item: Any) -> None:
        piece = self._target.begin()
        if piece is not None:
            self._live += 1  # under the target's line: one at a time
            listen(self._target, self._operator, self._closing, (item,), partial(self._end, piece))

    def _end(self, piece: Any) -> None:
        self._target.end(piece)
        self._live -= 1
        self._look()

    def no_more(self) -> None:
        self._no_more = True
        self._look()

    def _look(self) -> None:
        if self._no_more and not self._live:
            self._target.over(None)


def listen(
    target: Target, operator: str, function: Callable[..., Any], args: tuple[Any, ...], signalled: Callable[[], object]
) -> None:
    """Call ``signalled`` once, in ``target``'s line, when the source that ``function`` makes gives an item or completes."""
    waiting = {0: True}

    def signal(_item: object = None) -> None:
        if waiting.pop(0, None):
            target.do(answer)

    def answer() -> None:
        target.let_go(observer)
        signalled()

    observer: CallbackObserver[Any] = CallbackObserver(
        target.origin, signal, lambda error: target.do(partial(target.over, error)), signal
    )
    target.keep(observer)
    try:
        source = user_call(operator, function, *args)
        if not hasattr(source, "subscribe"):
            raise TypeError(
                f"{operator}() expected a function returning a source, but {name_of(function)} returned {source!r}.\n"
                f"  For example:  .{operator}(closing=lambda: Flowable.timer(1.0))"
            )
        source.subscribe(observer)
    except Exception as error:
        target.over(error)

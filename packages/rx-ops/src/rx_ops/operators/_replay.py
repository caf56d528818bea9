"""``replay`` and ``cache``: one run of a source, its items kept for subscribers that come late."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from rx_core import UNBOUNDED, composite, name_of, user_call
from rx_core.streams import ROUNDING, End, Failing, Log, Op, RelayedInput, ReplayHub, takes_requests
from rx_fusion import op
from rx_ops.operators._connect import Connectable, Connection, Within
from rx_ops.operators._connectable import AutoConnect
from rx_ops.operators._mapping import as_error

if TYPE_CHECKING:
    from rx_core import Scheduler, Subscriber

T = TypeVar("T")


class Replay(Connectable[T]):
    """What came before, to late subscribers too. ``eager`` asks the source for everything at once (``cache``)."""

    __slots__ = ("_asked", "_clock", "_eager", "_seconds", "_size")

    def __init__(
        self, source: Any, size: int | None, seconds: float | None, clock: Scheduler, text: str, *, eager: bool = False
    ) -> None:
        super().__init__(source, text)
        self._size = size
        self._seconds = seconds
        self._clock = clock
        self._eager = eager
        self._asked = takes_requests(source)

    def _make(self) -> Connection[T]:
        log: Log[T] = Log(self._size, self._seconds, self._clock)
        return _Replayed(self, _RecordingHub(self, log, self._asked), self._eager or not self._asked)


class _Replayed(Connection[T]):
    __slots__ = ("_hub", "_recorder")

    def __init__(self, owner: Replay[T], hub: _RecordingHub[T], everything: bool) -> None:
        super().__init__(owner)
        self._hub = hub
        self._recorder: Recorder[T] = Recorder(hub, everything, owner)
        hub.recorder = self._recorder

    def subscribe(self, down: Subscriber[T], /) -> None:
        self._hub.subscribe(down)

    def _start(self) -> None:
        self._recorder.connect(self.owner.source)

    def _stop(self) -> None:
        self._recorder.cancel()
        self._hub.subscribers.clear()

    @property
    def is_disposed(self) -> bool:
        return self._recorder.stopped

    @property
    def is_useless(self) -> bool:
        return self._recorder.stopped and self._hub.end is None


class _RecordingHub(ReplayHub[T]):
    """Tells the recorder how far its subscribers want to get."""

    __slots__ = ("owner", "recorder")

    owner: object
    recorder: Recorder[T]

    def __init__(self, owner: object, log: Log[T], asked: bool) -> None:
        super().__init__("replay", log, patient=True, asked=asked)
        self.owner = owner

    def want(self, total: int) -> None:
        self.recorder.want(total)

    def __repr__(self) -> str:
        return repr(self.owner)


class Recorder(Op[T]):
    """Subscriber of the source on behalf of a hub. It asks for as many items as the subscriber that wants most, from the first
    item on: the token carries that total."""

    __slots__ = ("input", "totals")

    input: RelayedInput[T]
    #: How many items subscribers want in all. Any: a list, whose pop and append are atomic.
    totals: Any

    def __init__(self, hub: ReplayHub[T], everything: bool, origin: object) -> None:
        super().__init__(hub, origin)
        self.totals = []
        self.input = RelayedInput(self)
        self.token.append(UNBOUNDED if everything else 0)

    def connect(self, source: Any) -> None:
        self.input.open(source)

    def want(self, total: int) -> None:
        self.totals.append(total)
        self.drain()

    def step(self, demand: int) -> int:
        source = self.input
        if source.done:
            return self.finish(source.error)
        totals = self.totals
        while totals:
            demand = max(demand, totals.pop(0))
        source.ask(demand)
        return demand

    def close(self) -> None:
        self.input.close()


@op("replay")
class ReplayWithin(Within):
    """``replay(selector=...)``."""

    __slots__ = ()


def replayed(size: int | None, seconds: float | None, clock: Scheduler, text: str) -> Callable[[Any], Connectable[Any]]:
    return lambda source: Replay(source, size, seconds, clock, text)


class Lifetimes(Generic[T]):
    """For how long ``cache_ttl`` keeps a result, by what it is: in seconds, or what a function says."""

    __slots__ = ("empty", "errors", "items")

    #: Of several items the shortest time counts.
    items: float | Callable[[T], float]
    #: A bool: as long as ``items`` says, or not at all.
    errors: bool | Callable[[Exception], float]
    empty: float | Callable[[], float]

    def __init__(
        self,
        items: float | Callable[[T], float],
        errors: bool | Callable[[Exception], float],
        empty: float | Callable[[], float] | None,
    ) -> None:
        self.items = items
        self.errors = errors
        if empty is None:
            empty = 0.0 if callable(items) else items
        self.empty = empty

    def of_error(self, error: Exception) -> float:
        if callable(self.errors):
            return _lasts(self.errors, error)
        return self.items if self.errors and not callable(self.items) else NOT_KEPT

    def of_empty(self) -> float:
        return _lasts(self.empty) if callable(self.empty) else self.empty


#: Stale from the beginning, also for one who looked at the clock before the end came.
NOT_KEPT: Final = -inf


def _lasts(function: Callable[..., float], *args: object) -> float:
    seconds = user_call("cache_ttl", function, *args)
    said = f"cache_ttl(): {name_of(function)} returned {seconds!r} as seconds; 0.0 keeps nothing, inf for ever"
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(said)
    if not seconds >= 0:
        raise ValueError(said)
    return seconds


class Refreshed(Replay[T]):
    """What ``cache_ttl`` keeps: the run of the source that is current, also when it is over, until it is stale."""

    __slots__ = ("_lifetimes",)

    def __init__(self, source: Any, lifetimes: Lifetimes[T], clock: Scheduler, text: str) -> None:
        super().__init__(source, None, None, clock, text, eager=True)
        self._lifetimes = lifetimes

    def _make(self) -> Connection[T]:
        lifetimes = self._lifetimes
        made: type[_EndingHub[T]] = _JudgingHub if callable(lifetimes.items) else _EndingHub
        return _Refreshing(self, made(self, Log(), self._asked, self._clock, lifetimes), everything=True)

    def subscribe(self, subscriber: Subscriber[T], /) -> None:
        """To the current run, or to a new one where there is none or it is stale. The first who is there starts it."""
        try:
            now = self._clock.now()
        except Exception as error:  # no scheduler is there
            Failing(subscriber, error, self).start()
            return
        while True:
            run = self.take()
            assert isinstance(run, _Refreshing)
            if not run.is_stale(now):
                break
            self.detach(run)  # by one of those who come at the same time: the others find the run that it makes
        run.subscribe(subscriber)
        run.connect()


class _EndingHub(_RecordingHub[T]):
    """Knows when its source ended, and for how long that is to last."""

    __slots__ = ("clock", "ended", "lasts", "lifetimes")

    clock: Scheduler
    ended: float
    #: In seconds, from ``ended`` on.
    lasts: float
    lifetimes: Lifetimes[T]

    def __init__(self, owner: object, log: Log[T], asked: bool, clock: Scheduler, lifetimes: Lifetimes[T]) -> None:
        super().__init__(owner, log, asked)
        self.clock = clock
        self.lifetimes = lifetimes
        self.ended = 0.0
        self.lasts = inf if callable(lifetimes.items) else lifetimes.items

    def finish(self, end: End) -> None:
        try:
            if end.error is not None:
                self.lasts = self.lifetimes.of_error(end.error)
            elif not self.log.tail.index:
                self.lasts = self.lifetimes.of_empty()
        except Exception as failure:
            self.lasts = NOT_KEPT
            end = End(as_error(failure) if end.error is None else composite([end.error, as_error(failure)]))
        self.ended = self.clock.now()  # before the end, which says that it is there
        super().finish(end)


class _JudgingHub(_EndingHub[T]):
    """Asks of each item for how long it lasts."""

    __slots__ = ()

    def on_next(self, item: T, /) -> None:
        items = self.lifetimes.items
        assert callable(items)
        try:
            self.lasts = min(self.lasts, _lasts(items, item))
        except Exception as failure:  # before subscribers get the item: of a Single it is all they would hear
            self.recorder.input.fail(as_error(failure))
        else:
            super().on_next(item)


class _Refreshing(_Replayed[T]):
    __slots__ = ()

    _hub: _EndingHub[T]

    def is_stale(self, now: float) -> bool:
        hub = self._hub
        return hub.end is not None and now - hub.ended + ROUNDING >= hub.lasts  # one that runs is not: a second would be too many


def cached(source: Any, clock: Scheduler, text: str) -> AutoConnect[Any]:
    """The first subscriber starts the source, which then runs to its end, also when subscribers leave."""
    return AutoConnect(Replay(source, None, None, clock, text, eager=True), 1, None)

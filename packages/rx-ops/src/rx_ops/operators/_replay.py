"""``replay`` and ``cache``: one run of a source, its items kept for subscribers that come late."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import UNBOUNDED
from rx_core.streams import End, Failing, Log, Op, RelayedInput, ReplayHub, takes_requests
from rx_fusion import op
from rx_ops.operators._connect import Connectable, Connection, Within
from rx_ops.operators._connectable import AutoConnect

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


class Refreshed(Replay[T]):
    """What ``cache_ttl`` keeps: the run of the source that is current, also when it is over, until it is stale."""

    __slots__ = ("_errors", "_lasting")

    def __init__(self, source: Any, seconds: float, errors: bool, clock: Scheduler, text: str) -> None:
        super().__init__(source, None, None, clock, text, eager=True)
        self._lasting = seconds
        self._errors = errors

    def _make(self) -> Connection[T]:
        return _Refreshing(self, _EndingHub(self, Log(), self._asked, self._clock), everything=True)

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
            if not run.is_stale(now, self._lasting, self._errors):
                break
            self.detach(run)  # by one of those who come at the same time: the others find the run that it makes
        run.subscribe(subscriber)
        run.connect()


class _EndingHub(_RecordingHub[T]):
    """Knows when its source ended."""

    __slots__ = ("clock", "ended")

    clock: Scheduler
    ended: float

    def __init__(self, owner: object, log: Log[T], asked: bool, clock: Scheduler) -> None:
        super().__init__(owner, log, asked)
        self.clock = clock
        self.ended = 0.0

    def finish(self, end: End) -> None:
        self.ended = self.clock.now()  # before the end, which says that it is there
        super().finish(end)


class _Refreshing(_Replayed[T]):
    __slots__ = ()

    _hub: _EndingHub[T]

    def is_stale(self, now: float, seconds: float, errors: bool) -> bool:
        hub = self._hub
        end = hub.end
        if end is None:
            return False  # it runs, so a second one would be one too many
        return now - hub.ended >= seconds or (end.error is not None and not errors)


def cached(source: Any, clock: Scheduler, text: str) -> AutoConnect[Any]:
    """The first subscriber starts the source, which then runs to its end, also when subscribers leave."""
    return AutoConnect(Replay(source, None, None, clock, text, eager=True), 1, None)

"""``replay`` and ``cache``: one run of a source, its items kept for who comes late."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import UNBOUNDED, dropped, none_argument, none_produced
from rx_core.blocks import QueueDrain
from rx_ops.coordination._history import Hub, Log
from rx_ops.coordination._multicast import Connectable, Connection, can_be_asked
from rx_ops.coordination._sharing import AutoConnect

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
        self._asked = can_be_asked(source)

    def _make(self) -> Connection[T]:
        log: Log[T] = Log(self._size, self._seconds, self._clock)
        return _Recording(self, log, self._asked, self._eager or not self._asked)


class _RecordingHub(Hub[T]):
    """Tells the recording how far its subscribers want to get."""

    __slots__ = ("asking", "owner")

    def __init__(self, owner: object, log: Log[T], asking: QueueDrain[int], asked: bool) -> None:
        super().__init__("replay", log, patient=True, asked=asked)
        self.owner = owner
        self.asking = asking

    def want(self, total: int) -> None:
        self.asking.offer(total)

    def __repr__(self) -> str:
        return repr(self.owner)


class _Recording(Connection[T]):
    """Subscriber of the source. It asks for as many items as the subscriber that wants most, from the first item on."""

    __slots__ = ("_asked", "_asking", "_disposed", "_goal", "_hub", "_upstream")

    def __init__(self, owner: Replay[T], log: Log[T], asked: bool, everything: bool) -> None:
        super().__init__(owner)
        self._asking: QueueDrain[int] = QueueDrain(self._ask)
        self._hub = _RecordingHub(owner, log, self._asking, asked)
        self._upstream: dict[int, Any] = {}
        self._goal = UNBOUNDED if everything else 0
        self._asked = 0
        self._disposed = False

    def subscribe(self, down: Subscriber[T], /) -> None:
        self._hub.subscribe(down)

    def _start(self) -> None:
        if self._disposed:
            return
        try:
            self.owner.source.subscribe(self)
        except Exception as error:
            self.on_error(error)

    def _ask(self, total: int) -> None:
        """One call at a time, so requests are serial (RS 2.7); a source that answers at once does not nest them."""
        if total > self._goal:
            self._goal = total
        upstream = self._upstream.get(0)
        if upstream is not None and self._goal > self._asked and self._hub.end is None:
            n = UNBOUNDED if self._goal == UNBOUNDED else self._goal - self._asked
            self._asked = self._goal
            request: Callable[[int], object] | None = getattr(upstream, "request", None)  # an Observable's has none
            if request is not None:
                request(n)

    # -- what the source signals -----------------------------------------------------------------------------------------

    def on_subscribe(self, subscription: Any, /) -> None:
        if subscription is None:
            raise self._refused(none_argument("on_subscribe(None)", "subscription"))
        if self._upstream.setdefault(0, subscription) is not subscription or self._disposed:
            _stop(subscription)  # RS 2.5
            return
        self._asking.offer(0)  # what was wanted before there was a source

    def on_next(self, item: T, /) -> None:
        if item is None:
            raise self._refused(none_produced(repr(self.owner)))
        if self._disposed:
            return
        self._hub.on_next(item)

    def _refused(self, error: TypeError) -> TypeError:
        """For a None (RS 2.13): ``error`` ends the stream, unless it is over, and is what the source gets to see."""
        if not self.is_disposed:
            self._stop_source()
            self._hub.on_error(error)
        return error

    def on_error(self, error: Exception, /) -> None:
        if error is None:
            raise self._refused(none_argument("on_error(None)", "error"))
        if self._disposed:
            dropped(error, self.owner)
        else:
            self._hub.on_error(error)

    def on_complete(self) -> None:
        if not self._disposed:
            self._hub.on_complete()

    def _stop_source(self) -> None:
        upstream = self._upstream.get(0)
        if upstream is not None:
            _stop(upstream)

    # -- the connection --------------------------------------------------------------------------------------------------

    def dispose(self) -> None:
        self._disposed = True  # publish first: an on_subscribe at the same time sees it, or its subscription is seen here
        self._fresh.clear()
        self.owner.detach(self)
        if self._hub.end is None:
            self._stop_source()
        self._hub.tickets.clear()

    @property
    def is_disposed(self) -> bool:
        return self._disposed or self._hub.end is not None

    @property
    def is_useless(self) -> bool:
        return self._disposed


def _stop(subscription: Any) -> None:
    stop: Callable[[], object] = getattr(subscription, "cancel", None) or subscription.dispose
    stop()


def replayed(size: int | None, seconds: float | None, clock: Scheduler, text: str) -> Callable[[Any], Connectable[Any]]:
    return lambda source: Replay(source, size, seconds, clock, text)


def cached(source: Any, clock: Scheduler, text: str) -> AutoConnect[Any]:
    """The first subscriber starts the source, which then runs to its end, whoever leaves."""
    return AutoConnect(Replay(source, None, None, clock, text, eager=True), 1, None)

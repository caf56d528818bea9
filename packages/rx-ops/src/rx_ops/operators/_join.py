"""Two sources whose items live for a time, and meet: join, group_join.

All that happens (an item, the end of its time) is dealt with in the order in which it came, by the holder of the token.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import UNBOUNDED, MissingBackpressureError, composite, dropped_late, none_produced
from rx_core.streams import Input, Op, Unicast
from rx_fusion import op
from rx_ops.operators._mapping import mapper_failure
from rx_ops.operators._selecting import Indicator, Refused, Selector, selected
from rx_ops.operators._unicast import unicast_stream

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription
    from rx_core.streams import Listening
    from rx_fusion import Head

R = TypeVar("R")


class _Side(Input[Any]):
    """One of the two sources, asked for everything; and its items that are alive, each with the source that says for how long."""

    __slots__ = ("alive", "lifetime")

    #: In the order in which they came. What is kept of an item of the left side is in a group join its window.
    alive: dict[Indicator, Any]

    def __init__(self, op: Join[Any], lifetime: Selector) -> None:
        super().__init__(op)
        self.lifetime = lifetime
        self.alive = {}

    def subscribed(self, up: Subscription) -> None:
        up.request(UNBOUNDED)

    def on_next(self, item: Any, /) -> None:
        if not self.closed:
            self.op.events.append((self, item))
            self.op.drain()

    def on_error(self, error: Exception, /) -> None:
        if self.closed:
            dropped_late(error, self.op.origin)
            return
        self.op.errors.append(error)
        self.on_complete()

    def fail(self, error: Exception) -> None:
        self.stop()
        self.op.errors.append(error)
        self.on_complete()

    def close(self) -> None:
        super().close()
        alive = list(self.alive)
        self.alive.clear()
        for entry in alive:
            entry.close()


@op("join")
class Join(Op[R]):
    """A row of each two items of the two sources that are alive at the same time. An error of any source is one at once."""

    __slots__ = ("combiner", "errors", "events", "left", "right", "sources", "wanted")

    opens_sources: ClassVar[bool] = True

    operator: ClassVar[str] = "join"

    left: _Side
    right: _Side
    #: What came: an item with its side, or the indicator of an item whose time is over.
    events: deque[tuple[Any, Any]]
    errors: list[Exception]
    #: The account of demand while the token is held.
    wanted: int

    def __init__(
        self,
        down: Subscriber[R],
        source: Publisher[Any],
        other: Publisher[Any],
        left: Selector,
        right: Selector,
        combiner: Callable[[Any, Any], R],
    ) -> None:
        super().__init__(down)
        self.sources = (source, other)
        self.left = _Side(self, left)
        self.right = _Side(self, right)
        self.combiner = combiner
        self.events = deque()
        self.errors = []
        self.wanted = 0

    def open(self) -> None:
        self.left.open(self.sources[0])
        if not self.stopped:
            self.right.open(self.sources[1])

    def indicated(self, entry: Indicator) -> None:
        """The time of an item is over, or its source has failed."""
        if entry.error is not None:
            self.errors.append(entry.error)
        else:
            self.events.append((entry, None))
        self.drain()

    def step(self, demand: int) -> int:
        self.wanted = demand
        events = self.events
        while not self.errors:
            over = self.left.done and self.right.done  # before the events: what came before the ends is dealt with now
            if not events:
                if over and not self.errors:
                    return self.ended(None)
                break
            party, item = events.popleft()
            if party is self.left or party is self.right:
                self.came(party, item)
            else:
                gone = party.subject.alive.pop(party, None)
                self.left_life(party.subject, gone)
            if self.stopped:
                return 0
        if self.errors:
            errors, self.errors = self.errors, []  # not kept: the frames in their tracebacks may hold this
            return self.ended(composite(errors))
        return self.wanted

    def came(self, side: _Side, item: Any) -> None:
        """An item: its time begins, then it meets those of the other side."""
        indicator = Indicator(self, side)
        kept = side.alive[indicator] = self.kept(side, item)
        made = selected(side, self.operator, side.lifetime, item)
        if isinstance(made, Refused):
            self.errors.append(made.error)
            return
        indicator.open(made)
        if not self.errors and not self.stopped:
            self.meet(side, item, kept)

    def kept(self, _side: _Side, item: Any) -> Any:
        """What is to be kept of an item that is alive."""
        return item

    def left_life(self, _side: _Side, _kept: Any) -> None:
        """The time of an item is over."""

    def meet(self, side: _Side, item: Any, _kept: Any) -> None:
        """Emit the rows of ``item`` and what is alive on the other side, in the order in which that came."""
        from_left = side is self.left
        for other in list((self.right if from_left else self.left).alive.values()):
            if not (self.give_row(item, other) if from_left else self.give_row(other, item)):
                return

    def give_row(self, left: Any, right: Any) -> bool:
        """Emit what the combiner makes of two. False: the stream is over, or ends."""
        combiner = self.combiner
        try:
            value = combiner(left, right)
        except (Exception, GeneratorExit) as error:
            self.errors.append(mapper_failure(self.operator, combiner, error))
            return False
        if value is None:
            self.errors.append(none_produced(self.operator, combiner))
            return False
        if not self.has_demand():
            self.errors.append(MissingBackpressureError(f"{self.operator}() has a row that was not requested"))
            return False
        if self.wanted != UNBOUNDED:
            self.wanted -= 1
        self.emit(value)
        return not self.stopped

    def has_demand(self) -> bool:
        """Whether a row is wanted. What was requested from inside of the ``on_next`` of the one before counts."""
        requests = self.requests
        while not self.wanted and requests:
            n = requests[0]
            if type(n) is not int or n < 1:
                return False  # look() answers it
            requests.pop(0)  # only the holder of the token takes out
            self.wanted = min(n, UNBOUNDED)
        return self.wanted > 0

    def ended(self, error: Exception | None) -> int:
        return self.finish(error)

    def listening(self) -> Iterable[Listening]:
        return (self.left, self.right, *list(self.left.alive), *list(self.right.alive))

    def close(self) -> None:
        self.left.close()
        self.right.close()
        self.events.clear()


@op("group_join")
class GroupJoin(Join[R]):
    """A result for each item of the left source, made of it and of a stream: its window, of the items of the right source that
    are alive at the same time."""

    __slots__ = ("face",)

    operator: ClassVar[str] = "group_join"

    def __init__(
        self,
        down: Subscriber[R],
        source: Publisher[Any],
        other: Publisher[Any],
        left: Selector,
        right: Selector,
        combiner: Callable[[Any, Any], R],
        face: Callable[[Head], Any],
    ) -> None:
        super().__init__(down, source, other, left, right, combiner)
        self.face = face

    def kept(self, side: _Side, item: Any) -> Any:
        return unicast_stream("group_join", self.face) if side is self.left else item

    def left_life(self, side: _Side, kept: Any) -> None:
        if side is self.left and kept is not None:
            kept[0].end()

    def meet(self, side: _Side, item: Any, kept: Any) -> None:
        if side is self.right:
            for window, _ in list(self.left.alive.values()):
                window.push(item)
            return
        window, stream = kept
        if self.give_row(item, stream):
            for other in list(self.right.alive.values()):
                window.push(other)

    def ended(self, error: Exception | None) -> int:
        windows: list[Unicast[Any]] = [window for window, _ in self.left.alive.values()]
        for window in windows:
            window.end(error)
        if windows and self.stopped:
            return 0  # left because of what a window was told, which is this error
        return self.finish(error)

"""What divides a source among the rails of ``parallel``, and how the description of one rail becomes several that run."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from rx_core import UNBOUNDED
from rx_core.streams import NULL_SUBSCRIBER, End, Failing, Input, Member, MergedInput, Pump, Stream
from rx_fusion import OperatorHead, Pipeline, PushHead

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_core.streams import Listening

T = TypeVar("T")


class RailsHead(PushHead):
    """Where the description of a rail begins. It stands for each of them; a run puts a :class:`RailHead` in its place."""

    __slots__ = ("parallelism", "prefetch", "upstream")

    name: ClassVar[str] = "parallel"  # type: ignore[misc]  # fixed for this kind of head

    def __init__(self, source: Any, parallelism: int, prefetch: int) -> None:
        self.upstream = (source,)
        self.parallelism = parallelism
        self.prefetch = prefetch

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        refused = TypeError(f"{self!r} is divided into rails, and this is only the description of one.\n  Right:  .sequential()")
        Failing(subscriber, refused, self).start()

    def notes(self) -> Sequence[str]:
        return (
            f"{self.parallelism} rails, items to the next one that wants any",
            f"queue: what is in front is asked for {self.prefetch} items, unless it is synchronous",
        )

    def __repr__(self) -> str:
        return f"{self.upstream[0]!r}.parallel({self.parallelism})"


class RailHead(PushHead):
    """One rail of a run. It is not picklable and allows one subscriber."""

    __slots__ = ("rail",)

    name: ClassVar[str] = "parallel"  # type: ignore[misc]  # as above

    def __init__(self, rail: Rail[Any]) -> None:
        self.rail = rail

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self.rail.attach(subscriber)

    def __repr__(self) -> str:
        return repr(self.rail.op.origin)  # as the description has it


def rails_begin(described: Pipeline[Any]) -> RailsHead | None:
    """What the description of a rail begins with; None for what is no rail."""
    head = described._head
    while isinstance(head, OperatorHead) and head.upstream:
        source = head.upstream[0]  # the operators of a rail have one source
        if not isinstance(source, Pipeline):
            return None
        head = source._head
    return head if isinstance(head, RailsHead) else None


def moved(described: Pipeline[Any], head: PushHead) -> Pipeline[Any]:
    """The description of a rail with ``head`` for its beginning."""
    own = described._head
    replaced: Any = head
    if isinstance(own, OperatorHead):
        replaced = copy(own)
        replaced.upstream = (moved(own.upstream[0], head),)
    return type(described)(replaced, described._shape, described._args)


class Rail(Member[T]):
    """One rail of a :class:`Split`: it has one subscriber, which comes when the rails are connected."""

    __slots__ = ("attached", "free", "held", "number")

    op: Split[T]
    number: int
    #: Each holds one entry: until it is subscribed, and until it holds the source no more.
    free: Any
    held: Any
    #: ``on_subscribe`` has returned.
    attached: bool

    def __init__(self, split: Split[T], number: int) -> None:
        super().__init__(split, NULL_SUBSCRIBER, 0)
        self.number = number
        self.free = [True]
        self.held = [True]
        self.attached = False

    def attach(self, down: Subscriber[T]) -> None:
        try:
            self.free.pop()
        except IndexError:
            Failing(down, RuntimeError(f"a rail of {self.op.origin!r} allows one subscriber"), self.op.origin).start()
            return
        self.down = down
        self.emit = down.on_next
        try:
            down.on_subscribe(self)
        except BaseException:
            self.cancel()  # RS 2.13
            raise
        self.attached = True
        self.op.drain()

    def tell(self, end: End) -> None:
        """The end. Holds the split's token."""
        down = self.let_go()
        if end.error is None:
            down.on_complete()
        else:
            down.on_error(end.error)


class _Rails(Generic[T]):
    """The rails of a split as one subscriber: an item goes to the next one that wants any."""

    __slots__ = ("at", "end", "order", "rails")

    rails: Sequence[Rail[T]]
    #: Whose turn it is.
    at: int
    end: End | None
    #: The numbers of the rails that got the items, in order, where that is to be known.
    order: deque[int] | None

    def __init__(self, rails: Sequence[Rail[T]], order: deque[int] | None) -> None:
        self.rails = rails
        self.at = 0
        self.end = None
        self.order = order

    def on_next(self, item: T, /) -> None:
        rails = self.rails
        at = self.at
        for _ in rails:
            rail = rails[at]
            at += 1
            if at == len(rails):
                at = 0
            if rail.demand and not rail.stopped:
                self.at = at
                if rail.demand != UNBOUNDED:
                    rail.demand -= 1
                if self.order is not None:
                    self.order.append(rail.number)  # before the item: who sees that finds whose it is
                rail.emit(item)
                return
        # The one that had asked for it has left since the last look: it goes with that one.

    def on_error(self, error: Exception, /) -> None:
        self.finish(End(error))

    def on_complete(self) -> None:
        self.finish(End(None))

    def finish(self, end: End) -> None:
        self.end = end
        for rail in self.rails:
            if rail.attached and not rail.stopped:
                rail.tell(end)


class Split(Pump[T]):
    """The source of all rails. The token carries what they want in all.

    A passive source is iterated by whichever thread asks; any other is asked for a window, and what no rail wants yet waits here.
    The source is cancelled when the last rail has left.
    """

    __slots__ = ("holders", "input", "pulled", "rails", "source", "waits")

    rails: _Rails[T]
    input: _SplitInput[T]
    #: To be opened by the holder of the token; None when it was.
    source: Any
    #: The items come from ``items``.
    pulled: bool
    #: Not connected: nothing is given and nothing ends.
    waits: bool
    #: An entry for each rail that holds the source, False at the bottom: so one rail finds that it is the last. Any: a list.
    holders: Any

    def __init__(self, place: RailsHead, order: deque[int] | None = None) -> None:
        rails: _Rails[T] = _Rails([Rail(self, number) for number in range(place.parallelism)], order)
        super().__init__(rails, place)  # type: ignore[arg-type]  # it is never given a Subscription
        self.rails = rails
        self.input = _SplitInput(self, place.prefetch)
        self.source = place.upstream[0]
        self.pulled = False
        self.waits = True
        self.holders = [False] + [True] * (place.parallelism - 1)
        self.token.append(0)

    def connect(self) -> None:
        """Subscribe to the source, once all rails have their subscribers."""
        self.waits = False
        self.drain()

    def leave(self, rail: Rail[T]) -> None:
        try:
            rail.held.pop()
        except IndexError:
            return
        if self.holders.pop():
            self.drain()
        else:
            self.cancel()

    # -- the holder of the token ----------------------------------------

    def look(self, demand: int, /) -> int:
        if self.stopped:
            self.close()
            self.refuse_late()
            return 0
        if self.opened:
            self.open_next()
        wanted = 0
        for rail in self.rails.rails:
            error = rail.collect()
            if rail.stopped:
                continue
            if error is not None:
                rail.tell(End(error))
                self.leave(rail)
            elif rail.attached:
                wanted = UNBOUNDED if rail.demand >= UNBOUNDED - wanted else wanted + rail.demand
        return self.step(wanted)

    def refuse_late(self) -> None:
        """A rail that was subscribed after the end is told it."""
        end = self.rails.end
        if end is not None:
            self.rails.finish(end)

    def step(self, demand: int) -> int:
        if self.waits or self.stopped:  # the last rail may have left just now
            return demand
        source = self.source
        if source is not None:
            self.source = None
            if isinstance(source, Stream) and source._passive_into(self):
                self.pulled = True
            else:
                self.subscribe_later(source, self.input)
        if self.pulled:
            return super().step(demand)
        waiting = self.input
        while not self.stopped:
            done = waiting.done  # before the queue: what came before the end is in it
            if done and waiting.error is not None:
                return self.finish(waiting.error)
            if waiting.queue:
                if not demand or self.dirty:
                    break
                item = waiting.queue.popleft()
                waiting.took()
                if demand is not UNBOUNDED:
                    demand -= 1
                self.emit(item)
            elif done:
                return self.finish()
            else:
                break
        return demand

    def listening(self) -> Iterable[Listening]:
        return () if self.pulled else (self.input,)

    def close(self) -> None:
        super().close()
        self.source = None
        self.input.close()


class _SplitInput(MergedInput[T]):
    """The source of a split: straight to a rail when one wants the item, else through the queue."""

    __slots__ = ()

    def keep(self, item: T) -> None:
        if not self.closed:
            self.put(item)

    def on_error(self, error: Exception, /) -> None:
        Input.on_error(self, error)

    def on_complete(self) -> None:
        Input.on_complete(self)


def rails_of(described: Pipeline[Any], order: deque[int] | None = None) -> tuple[Split[Any], list[Any]]:
    """For one run: what divides the source, and the rails, all of which are to be subscribed before :meth:`Split.connect`."""
    place = rails_begin(described)
    if place is None:
        raise TypeError(f"{described!r} leads to no rails")
    split: Split[Any] = Split(place, order)
    return split, [moved(described, RailHead(rail)) for rail in split.rails.rails]

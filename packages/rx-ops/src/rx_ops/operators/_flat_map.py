"""Inner sources side by side: flat_map, merge."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rx_core import UNBOUNDED, composite
from rx_core.streams import (
    Failed,
    MergedInput,
    Op,
    Stream,
    close,
    end_of_one,
    is_exhausted,
    takes_requests,
    without_demand,
)
from rx_fusion import op, operator_of
from rx_ops.operators._group_ahead import groups_ahead
from rx_ops.operators._group_loop import groups_loop
from rx_ops.operators._mapping import mapper_failure, not_a_source, opened, pulled
from rx_ops.operators._outer import KnownInput, OuterInput, PassiveInput, pull, push_known, push_passive
from rx_ops.operators._part import give_up

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription
    from rx_core.streams import Listening, Outcome
    from rx_core.streams.contracts import Subscribing

T = TypeVar("T")
R = TypeVar("R")


class Merging(Op[T]):
    """Inputs side by side, their items as they come. Those that are passive are iterated in turns."""

    __slots__ = ("delay_error", "ended", "errors", "hint", "inputs", "items", "last", "prefetch", "ready")

    #: Whether inputs have their turns in the order in which they came, and it matters which one is the first.
    in_line: ClassVar[bool] = False

    #: Inputs with an item in their queue, once for each item; and passive ones that are not exhausted, once.
    ready: deque[MergedInput[T] | PassiveInput | KnownInput]
    #: Inputs whose source has ended and that were not looked at.
    ended: deque[Any]
    #: The open inputs, in order of opening.
    inputs: dict[MergedInput[T] | PassiveInput | KnownInput, None]
    #: What failed; without ``delay_error`` the first is the end.
    errors: list[Exception]
    #: Of the passive source that was opened last; and whether a stage has said that the item just given is a source's last.
    items: Iterator[Any]
    hint: Callable[[], int] | None
    last: bool

    def __init__(self, down: Subscriber[T], prefetch: int, delay_error: bool) -> None:
        super().__init__(down)
        self.prefetch = prefetch
        self.delay_error = delay_error
        self.ready = deque()
        self.ended = deque()
        self.inputs = {}
        self.errors = []
        self.hint = None
        self.last = False

    def new_input(self) -> MergedInput[T]:
        """An input for a source that pushes; it counts as open."""
        made: MergedInput[T] = MergedInput(self, self.prefetch)
        self.inputs[made] = None
        return made

    def take_turn(self, items: Iterator[T], hint: Callable[[], int] | None) -> None:
        """The ``items`` of a passive source wait for their turn."""
        made = PassiveInput(items, hint, self.prefetch)
        self.inputs[made] = None
        self.ready.append(made)

    def wait_for_turn(self, item: T) -> None:
        """As take_turn, for a source whose only ``item`` is known."""
        made = KnownInput(item)
        self.inputs[made] = None
        self.ready.append(made)

    def open_passive(self, source: Any) -> Iterator[Any] | None:
        """The items of a source that need not be subscribed. Where not all is wanted ``hint`` is set, too."""
        self.hint = None
        return opened(source, self, UNBOUNDED if self.settled else 0)

    def give_some(self, items: Iterator[Any], hint: Callable[[], int] | None, demand: int) -> tuple[int, Outcome]:
        """As ``give``. An end that is known to follow the last item needs no demand."""
        self.last = False
        demand, outcome = self.give(items, demand)
        if outcome is False and (self.last or (hint is not None and not hint())) and not self.stopped:
            outcome = end_of_one(items)
        return demand, outcome

    def input_ended(self, ended: MergedInput[T] | PassiveInput | KnownInput) -> None:
        """An inner source is over and all its items are out. Holds the token."""
        self.inputs.pop(ended, None)

    def fail(self, error: Exception) -> bool:
        """Note ``error``. True: the stream ends with it now."""
        self.errors.append(error)
        return not self.delay_error

    def failure(self) -> Exception | None:
        """What the stream ends with. It is not kept: the frames in its traceback may hold this."""
        errors = self.errors
        self.errors = []
        return composite(errors) if errors else None

    def look_at_ends(self) -> bool:
        """What needs no demand. True: an error ends the stream."""
        ended = self.ended
        while ended:
            entry = ended.popleft()
            if entry.error is not None and self.fail(entry.error):
                return True
            if not entry.queue:
                self.input_ended(entry)
        return False

    def take_turns(self, demand: int) -> int:
        """Emit what waits, one item of a pushing source and as much as is wanted of a passive one at a time.

        Returns early, with ``dirty`` raised, when something new was published; -1 for an error that ends the stream.
        """
        ready = self.ready
        emit = self.emit
        while ready and demand:
            entry = ready.popleft()
            if type(entry) is KnownInput:
                emit(entry.item)
                if demand is not UNBOUNDED:
                    demand -= 1
                self.input_ended(entry)
            elif type(entry) is PassiveInput:
                wanted = demand
                if demand == UNBOUNDED:
                    demand, outcome = self.give(entry.items, demand)
                else:
                    demand, outcome = self.give_some(entry.items, entry.hint, demand)
                if outcome is False:
                    self.next_turn(entry, wanted - demand)
                elif outcome is True:
                    self.input_ended(entry)
                elif isinstance(outcome, Failed):
                    self.input_ended(entry)
                    if self.fail(outcome.take()):
                        return -1
                else:
                    del self.inputs[entry]
                    self.later.append((self.new_input().open, outcome))
            elif entry.queue:
                item = entry.queue.popleft()
                if entry.left > 1:  # took(), without its frame
                    entry.left -= 1
                else:
                    entry.took()
                emit(item)
                if demand is not UNBOUNDED:
                    demand -= 1
                if entry.done and not entry.queue:
                    self.input_ended(entry)
            if self.dirty:
                break
        return demand

    def next_turn(self, entry: PassiveInput, given: int) -> None:
        """A passive source was interrupted: it goes on when a window of its items is out, as if they had waited in a queue."""
        if entry.left <= given:
            entry.left = entry.limit
            self.ready.append(entry)
        else:
            entry.left -= given
            self.ready.appendleft(entry)

    def listening(self) -> Iterable[Listening]:
        return list(self.inputs)

    def close(self) -> None:
        if self.inputs:
            for entry in list(self.inputs):
                entry.close()
            self.inputs.clear()
        self.ready.clear()
        self.ended.clear()


@op("merge")
class Merge(Merging[T]):
    """All sources at once. They are subscribed in order; a passive one gives what is wanted before the next is subscribed."""

    __slots__ = ("all_open", "sources")

    discards: ClassVar[bool] = True

    #: The last source was subscribed; written once.
    all_open: bool

    def __init__(self, down: Subscriber[T], sources: Sequence[Any], prefetch: int, delay_error: bool) -> None:
        super().__init__(down, prefetch, delay_error)
        self.sources = sources
        self.all_open = False

    def open(self) -> None:
        # Another thread may be at the gate already: it must not find the last of the open sources gone before all were opened.
        for source in self.sources:
            if self.stopped:
                return
            items = None if without_demand(source) else self.open_passive(source)
            if is_exhausted(items):
                continue
            if items is None:
                entry = self.new_input()
                entry.open(source)
                if self.stopped:
                    entry.close()  # type: ignore[unreachable]  # set meanwhile
            else:
                self.take_turn(items, self.hint)
                self.drain()
        self.all_open = True

    def step(self, demand: int) -> int:
        if self.ended and self.look_at_ends():
            return self.finish(self.failure())
        if self.ready:
            demand = self.take_turns(demand)
            if demand < 0:
                return self.finish(self.failure())
        if self.stopped or self.dirty:
            return demand
        if self.all_open and not self.inputs:
            return self.finish(self.failure())
        return demand


#: From this limit of inner sources on, items that are used up at once are asked for again in batches.
_BATCHED: Final = 32


class _Outer(OuterInput):
    """A source of sources that pushes: its items are mapped and subscribed as they come, on its thread.

    It is asked for as many items as inner sources may run. An item that is used up at once, by an inner source that was pulled,
    is asked for again, in batches where many may run; but never in batches while inner sources run, which would lessen how many
    can run at the same time.
    """

    __slots__ = ("limit", "limited", "used", "window")

    #: It cannot be asked for fewer items than it has: their sources wait in the operator.
    limited: bool
    #: How many items were used up and not asked for again; only the source's thread writes it.
    used: int

    def __init__(self, op: FlatMap[Any], window: int) -> None:
        super().__init__(op)
        self.window = window
        # A source that takes its time for each item is kept at work, as in RxJava, where the limit is small.
        self.limit = 1 if window < _BATCHED else window - (window >> 2)
        self.limited = False
        self.used = 0

    @property
    def may_be_asked(self) -> bool:
        """Whether it may give more items than it was asked for already."""
        return not (self.up is None or self.done or self.closed or self.window == UNBOUNDED)

    def open(self, source: Any) -> None:
        if not takes_requests(source):
            self.limited = self.window != UNBOUNDED
            self.window = self.limit = UNBOUNDED
        super().open(source)

    def subscribed(self, up: Subscription) -> None:
        up.request(self.window)

    def on_next(self, item: Any, /) -> None:
        op = self.op
        if op.stopped or self.closed:
            op.discard(item)
            return
        mapper = op.mapper
        try:
            source = mapper(item)
        except (Exception, GeneratorExit) as error:
            self.fail(mapper_failure(op.operator, mapper, error))
            return
        except BaseException as error:
            self.interrupted(error)
            raise
        if self.limited:
            refused = not_a_source(op.operator, mapper, source)
            if refused is None:
                op.waiting.append(source)
                op.drain()
            else:
                self.fail(refused)
            return
        if isinstance(source, Stream):
            known = source._known_item()
            if known is not None and push_known(op, known, self):
                return
        items = pulled(source, op, 0) if op.settled else op.open_passive(source)
        if items is not None:
            push_passive(op, source, items, self)
            return
        refused = not_a_source(op.operator, mapper, source)
        if refused is not None:
            self.fail(refused)
            return
        if self.used:
            self.flush()
        entry = op.new_input()
        if op.stopped:  # publish first, look afterwards: close() does the same
            entry.close()
            give_up(op, source)
            return
        entry.open(source)

    def use(self) -> None:
        used = self.used + 1
        self.used = used
        if used >= self.limit or self.op.inputs:
            self.flush()

    def flush(self) -> None:
        used = self.used
        self.used = 0
        if self.window != UNBOUNDED and not self.done and not self.closed:
            self.up.request(used)


@op("flat_map", loop=groups_loop, instead=groups_ahead)
class FlatMap(Merging[R]):
    """Inner sources at the same time, at most ``max_concurrency`` of them.

    A passive outer source is pulled as long as fewer run, and its passive inner sources are emitted without an input while items
    are wanted. Any other outer source pushes.
    """

    __slots__ = ("fed", "freed", "mapper", "max_concurrency", "outer", "outer_items", "source", "waiting")

    discards: ClassVar[bool] = True
    opens_sources: ClassVar[bool] = True

    operator: ClassVar[str] = "flat_map"

    #: The iterator of a passive outer source, until it is exhausted.
    outer_items: Iterator[Any] | None
    outer: _Outer
    #: The outer source may give more.
    fed: bool
    #: How many inner sources have ended, and were not made up for by a request of the outer one.
    freed: int
    #: Inner sources of an Observable that are one too many as yet.
    waiting: deque[Any]

    def __init__(
        self,
        down: Subscriber[R],
        source: Publisher[T],
        mapper: Callable[[T], Any],
        max_concurrency: int,
        prefetch: int,
        delay_error: bool,
    ) -> None:
        super().__init__(down, prefetch, delay_error)
        self.source = source
        self.mapper = mapper
        self.max_concurrency = max_concurrency
        self.outer_items = None
        self.outer = _Outer(self, max_concurrency)
        self.fed = True
        self.freed = 0
        self.waiting = deque()

    def open(self) -> None:
        source = self.source
        items = source._passive_items(self) if isinstance(source, Stream) else None
        if items is None:
            self.outer.open(source)
        else:
            self.outer_items = items

    def step(self, demand: int) -> int:
        while True:
            if self.ended and self.look_at_ends():
                return self.finish(self.failure())
            if self.waiting:
                self.subscribe_waiting()
            if self.ready:
                demand = self.take_turns(demand)
                if demand < 0:
                    return self.finish(self.failure())
            if self.freed:
                self.replenish()
            if self.stopped or self.dirty:
                return demand
            if self.waiting and len(self.inputs) < self.max_concurrency:
                continue
            if self.outer_items is None or self.opening or len(self.inputs) >= self.max_concurrency:
                break
            demand, again = pull(self, demand)
            if not again:
                return demand
        if not self.fed and not self.inputs:
            return self.finish(self.failure() if self.errors else None)
        return demand

    def subscribe_waiting(self) -> None:
        """As many of the sources that wait as may run."""
        waiting = self.waiting
        while waiting and len(self.inputs) < self.max_concurrency:
            source = waiting.popleft()
            items = None if without_demand(source) else self.open_passive(source)
            if items is None:
                self.subscribe_later(source, self.new_input())
            else:
                self.take_turn(items, self.hint)

    def subscribe_now(self, pair: tuple[Any, Subscribing]) -> None:
        super().subscribe_now(pair)
        if self.stopped:
            give_up(self, pair[0])  # unless it was subscribed

    def input_ended(self, ended: Any) -> None:
        if ended is self.outer:
            self.fed = False
        elif self.inputs.pop(ended, self) is None:
            self.freed += 1

    def replenish(self) -> None:
        """Ask the outer source for as many items as inner sources have ended in this turn, at once, as RxJava does."""
        outer, freed = self.outer, self.freed
        self.freed = 0
        if outer.may_be_asked:
            self.later.append((outer.up.request, freed))

    def listening(self) -> Iterable[Listening]:
        return (self.outer, *list(self.inputs))

    def close(self) -> None:
        super().close()
        self.outer.close()
        while self.waiting:
            give_up(self, self.waiting.popleft())
        for source, _ in self.pending or ():
            give_up(self, source)
        items = self.outer_items
        if items is not None:
            self.outer_items = None
            close(items)


#: What is known of it, so that it need not be looked up for each stream.
FLAT_MAP: Final = operator_of(FlatMap)

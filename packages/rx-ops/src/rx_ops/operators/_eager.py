"""Inner sources at the same time, their items in order: concat_map_eager, concat_eager."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import UNBOUNDED
from rx_core.streams import LOOK_FIRST, Failed, MergedInput, close
from rx_fusion import op
from rx_ops.operators._concat import itself
from rx_ops.operators._flat_map import FlatMap
from rx_ops.operators._loops import concat_loop, concat_map_loop
from rx_ops.operators._mapping import opened
from rx_ops.operators._outer import KnownInput, PassiveInput, pull

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber

T = TypeVar("T")
R = TypeVar("R")


class _InLine(MergedInput[R]):
    """An inner source. Its items wait until all sources before it are over; then they go on as those of a merged one."""

    __slots__ = ()

    has_turns: ClassVar[bool] = False

    def on_next(self, item: R, /) -> None:
        if self.op.current is self:  # and it is so until this source has ended
            MergedInput.on_next(self, item)  # super() costs as much as the call
            return
        self.keep(item)
        op = self.op
        if not LOOK_FIRST or op.current is None or op.current is self:  # as in wait(), without the call
            op.drain()

    def wait(self, item: R) -> None:
        self.keep(item)
        op = self.op
        # Publish first, look afterwards: the holder of the token makes it the current one first, then looks at its items.
        if not LOOK_FIRST or op.current is None or op.current is self:
            op.drain()


@op("concat_map_eager", loop=concat_map_loop)
class ConcatMapEager(FlatMap[R]):
    """As flat_map, but the open inputs stand in line, and only the first gives items.

    A passive inner source of many items is iterated when its turn has come: nothing of it is missed by asking late.

    ``delay_error`` keeps errors until all is over, or, without ``till_the_end``, until the inner source that gives items is.
    """

    __slots__ = ("current", "till_the_end")

    operator: ClassVar[str] = "concat_map_eager"
    in_line: ClassVar[bool] = True

    # What is ``ready`` is here the line itself: all open inputs, in order.

    #: The first in line, once the holder of the token has looked at it; None between two.
    current: MergedInput[R] | PassiveInput | KnownInput | None

    def __init__(
        self,
        down: Subscriber[R],
        source: Publisher[T],
        mapper: Callable[[T], Any],
        delay_error: bool,
        till_the_end: bool,
        max_concurrency: int,
        prefetch: int,
    ) -> None:
        super().__init__(down, source, mapper, max_concurrency, prefetch, delay_error)
        self.till_the_end = till_the_end
        self.current = None

    def new_input(self) -> MergedInput[R]:
        made: MergedInput[R] = _InLine(self, self.prefetch)
        self.inputs[made] = None
        self.ready.append(made)
        return made

    def open_passive(self, source: Any) -> Iterator[Any] | None:
        """As in Merging, but no loop: what it meets, as it is iterated in its turn, would be subscribed no earlier."""
        return opened(source, self, 0)

    def fail(self, error: Exception) -> bool:
        """As in Merging. What is delayed up to the next boundary ends the outer source now."""
        if super().fail(error):
            return True
        if not self.till_the_end:
            self.fed = False
            self.outer.stop()
            self.waiting.clear()
            items = self.outer_items
            if items is not None:
                self.outer_items = None
                close(items)
            self.dirty = True  # to be looked at, also where no inner source runs
        return False

    def look_at_ends(self) -> bool:
        ended = self.ended
        while ended:
            entry = ended.popleft()
            if entry is self.outer:
                self.fed = False
            if entry.error is not None and self.fail(entry.error):
                return True
        return False

    def take_turns(self, demand: int) -> int:
        """Emit what the first in line has, and of the next when it is over."""
        line = self.ready
        while True:
            entry = self.current
            if entry is None:
                if self.errors and not self.till_the_end:
                    return -1
                if not line:
                    return demand
                self.current = entry = line[0]
            if type(entry) is KnownInput:
                if not demand:
                    return demand
                emit = self.emit
                emit(entry.item)
                if demand is not UNBOUNDED:
                    demand -= 1
            elif type(entry) is PassiveInput:
                if demand == UNBOUNDED:
                    demand, outcome = self.give(entry.items, demand)
                else:
                    demand, outcome = self.give_some(entry.items, entry.hint, demand)
                if outcome is False:
                    return demand
                if isinstance(outcome, Failed):
                    if self.fail(outcome.take()):
                        return -1
                elif outcome is not True:
                    del self.inputs[entry]
                    self.current = line[0] = rest = self.new_input()
                    line.pop()  # it takes the place of the other one
                    self.later.append((rest.open, outcome))
                    return demand
            else:
                done = entry.done  # before the items: what came before the end is taken now
                queue = entry.queue
                while queue and demand:
                    item = queue.popleft()
                    if entry.left > 1:
                        entry.left -= 1
                    else:
                        entry.took()
                    emit = self.emit
                    emit(item)
                    if demand is not UNBOUNDED:
                        demand -= 1
                    if self.dirty:
                        return demand
                if not done or queue:
                    return demand
            self.current = None
            line.popleft()
            self.input_ended(entry)
            # Before the next one gives anything the outer source is asked for an item, as in RxJava: it may have an error.
            if self.outer_items is None:
                if self.freed:
                    self.ask_outer()
            elif line and not (self.opening or self.dirty):
                demand, _ = pull(self, demand)
            if self.stopped or self.dirty or self.opening:
                return demand

    def ask_outer(self) -> None:
        """As replenish, but with the token: what an inner source gives at once waits until the outer one has answered."""
        outer, freed = self.outer, self.freed
        self.freed = 0
        if outer.may_be_asked:
            outer.up.request(freed)

    def close(self) -> None:
        super().close()
        self.current = None


@op("concat_eager", loop=concat_loop)
class ConcatEager(ConcatMapEager[T]):
    """The same of sources that are known."""

    __slots__ = ()

    opens_sources: ClassVar[bool] = False

    operator: ClassVar[str] = "concat_eager"

    def __init__(
        self,
        down: Subscriber[T],
        sources: Sequence[Any],
        delay_error: bool,
        till_the_end: bool,
        max_concurrency: int,
        prefetch: int,
    ) -> None:
        super().__init__(down, None, itself, delay_error, till_the_end, max_concurrency, prefetch)  # type: ignore[arg-type]  # it is not subscribed
        self.outer_items = iter(sources)

    def open(self) -> None:
        pass

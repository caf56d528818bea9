"""group_by directly in front of flat_map, in one loop, for a subscriber that does not want everything.

It is the loop of :mod:`rx_ops.operators._group_loop`, given as it is requested, and read ahead when nothing is wanted: the two
operators ask their source for a window beyond what is requested, and what RxJava's do with it can be seen. An error is signalled
ahead of items that wait, the end behind the last of them without a request, and functions are called for items that wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from rx_core import DEFAULT_PREFETCH, UNBOUNDED, hooks
from rx_core.queue_fusion import fusion_enabled
from rx_core.streams import Failed, Handover, OneAtATime, throw_away, without_this_frame
from rx_fusion import IterableHead, OperatorHead, Pipeline, PlainFlow
from rx_ops.operators._group import GroupBy
from rx_ops.operators._group_loop import grouped_items
from rx_ops.operators._loops import RestHead

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_core.streams import Outcome

#: Of flat_map and group_by. One that was given says how far each group is read ahead, and the loop knows all groups together.
_WINDOWS: Final = (DEFAULT_PREFETCH, DEFAULT_PREFETCH)


def groups_ahead(head: OperatorHead, down: Subscriber[Any]) -> GroupsAhead | None:
    """The operator for ``down`` in place of flat_map and the group_by in front of it; None where there is none, or where these
    have to be subscribed: the source may push, errors are delayed, or windows were given."""
    source = head.upstream[0] if type(head) is OperatorHead else None  # not what a loop has left over
    if not isinstance(source, Pipeline):
        return None
    groups = source._head
    if not isinstance(groups, OperatorHead) or groups.function is not GroupBy or head.args[3]:
        return None
    if (head.args[2], groups.args[2]) != _WINDOWS or not fusion_enabled() or hooks.on_subscribe is not None:
        return None
    found, shape, _ = source._resolve()
    if found is not groups or shape:
        return None
    inmost = groups.upstream[0]
    if not isinstance(inmost, Pipeline) or type(inmost._head) is not IterableHead:
        return None
    return GroupsAhead(down, head, groups)


@final
class GroupsAhead(OneAtATime[Any]):
    """Gives what the loop gives; where that meets what has to be subscribed, the rest, which asks for its windows itself."""

    __slots__ = ("groups", "head", "over", "waiting")

    operator_name: ClassVar[str] = "flat_map"
    opens_sources: ClassVar[bool] = True

    head: OperatorHead
    groups: OperatorHead
    #: What was read ahead.
    waiting: deque[Any]
    #: There is nothing behind it.
    over: bool

    def __init__(self, down: Subscriber[Any], head: OperatorHead, groups: OperatorHead) -> None:
        super().__init__(down)
        self.head = head
        self.groups = groups
        self.waiting = deque()
        self.over = False

    def open(self) -> None:
        head, groups = self.head, self.groups
        items = groups.upstream[0]._passive_items(self)
        if items is None:  # a rule makes something else of the source
            self.subscribe_current(PlainFlow(RestHead(head, head.upstream, head.args)))
        else:
            self.items = grouped_items(head, groups, items, self)

    def step(self, demand: int) -> int:
        waiting = self.waiting
        while waiting:
            current = self.current
            if current is not None and current.done and current.error is not None:
                return self.finish(current.error)
            if not demand or self.dirty:
                break
            item = waiting.popleft()
            if demand is not UNBOUNDED:
                demand -= 1
            self.emit(item)
            if self.stopped:
                return 0
        else:
            if self.over:
                return self.finish()
            demand = super().step(demand)
        if not demand and self.items is not None and not self.dirty and not self.stopped:
            outcome = self.read_ahead(self.items)
            if outcome is not False:
                self.items = None
                return self.ended(outcome)
        return demand

    def read_ahead(self, items: Iterator[Any]) -> Outcome:
        """As ``give``, into the window."""
        waiting = self.waiting
        try:
            for item in items:
                waiting.append(item)
                if len(waiting) >= DEFAULT_PREFETCH or self.dirty:
                    return False
        except Handover as handover:
            rest: Outcome = handover.rest
            return rest
        except (Exception, GeneratorExit) as error:
            return Failed(without_this_frame(error))
        return True

    def ended(self, outcome: Outcome) -> int:
        """The loop is over, and nothing is wanted."""
        if isinstance(outcome, Failed):
            return self.finish(outcome.take())
        if outcome is not True:
            self.subscribe_current(outcome)
        elif self.waiting:
            self.over = True
        else:
            return self.finish()
        return 0

    def source_ended(self, error: Exception | None, _demand: int) -> int:
        return self.finish(error)

    def close(self) -> None:
        super().close()
        throw_away(self.waiting, self.discard)

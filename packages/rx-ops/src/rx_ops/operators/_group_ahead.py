"""group_by directly in front of flat_map, in one loop, for a subscriber that does not want everything.

It is the loop of :mod:`rx_ops.operators._group_loop`, given as it is requested and read ahead when nothing is wanted, see
:mod:`rx_ops.operators._read_ahead`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from rx_core import DEFAULT_PREFETCH, hooks
from rx_core.queue_fusion import fusion_enabled
from rx_fusion import IterableHead, OperatorHead, Pipeline, PlainFlow
from rx_ops.operators._group import GroupBy
from rx_ops.operators._group_loop import grouped_items
from rx_ops.operators._loops import RestHead
from rx_ops.operators._read_ahead import ReadAhead

if TYPE_CHECKING:
    from rx_core import Subscriber

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
class GroupsAhead(ReadAhead):
    """flat_map and the group_by in front of it, in one loop."""

    __slots__ = ("groups", "head")

    operator_name: ClassVar[str] = "flat_map"
    opens_sources: ClassVar[bool] = True

    head: OperatorHead
    groups: OperatorHead

    def __init__(self, down: Subscriber[Any], head: OperatorHead, groups: OperatorHead) -> None:
        super().__init__(down)
        self.head = head
        self.groups = groups

    def open(self) -> None:
        head, groups = self.head, self.groups
        items = groups.upstream[0]._passive_items(self)
        if items is None:  # a rule makes something else of the source
            self.subscribe_current(PlainFlow(RestHead(head, head.upstream, head.args)))
        else:
            self.items = grouped_items(head, groups, items, self, None)

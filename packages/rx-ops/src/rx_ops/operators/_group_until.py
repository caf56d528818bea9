"""group_by_until: groups that end when a source of theirs says so."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rx_core import UNBOUNDED, MissingBackpressureError, none_produced, user_call
from rx_fusion import op
from rx_ops.operators._cutters import ClosingInput
from rx_ops.operators._group import GroupHead
from rx_ops.operators._mapping import as_error, not_a_source
from rx_ops.operators._part import Part
from rx_ops.operators._runs import BoundedParts

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_fusion import Head

_NAME: Final = "group_by_until"


@op(_NAME)
class GroupByUntil(BoundedParts):
    """As group_by, but a group ends at the first signal of the source that ``until`` makes of its key.

    Items, ends of groups and the end of the source are dealt with one after the other by the holder of the token; so an item
    that comes while its group ends, on another thread, is in that group or in the next one of its key.
    """

    __slots__ = ("groups", "key_of", "until", "value_of")

    opens_sources: ClassVar[bool] = True

    #: Makes a stream of a key and a head.
    face: Any
    #: The open groups.
    groups: dict[Any, LimitedGroup]

    def __init__(
        self,
        down: Subscriber[Any],
        source: Publisher[Any],
        key: Callable[[Any], Hashable],
        until: Callable[[Any], Any],
        value: Callable[[Any], Any] | None,
        buffer_size: int,
        face: Callable[[Hashable, Head], Any],
    ) -> None:
        super().__init__(down, source, face, buffer_size)
        self.key_of = key
        self.until = until
        self.value_of = value
        self.groups = {}

    def put(self, item: Any) -> None:
        try:
            key = user_call(_NAME, self.key_of, item)
            group = self.groups.get(key)
            made = item if self.value_of is None else self.valued(self.value_of, item)
        except Exception as error:
            self.source_ended(as_error(error))
            return
        fresh = group is None or group.stopped
        if group is not None and fresh:
            self.forget(group)
        if fresh:
            group = self.begin_group(key)
        if group is None:
            if not self.over:
                self.main.took(1)
            return
        try:
            straight = group.push(made)
        except Exception as error:  # its subscriber's. The source takes that for a cancel (RS 2.13)
            self.source_ended(error)
            raise
        if straight:
            self.main.took(1)
        if fresh and not self.over:
            if group.stopped or self.abandon_unclaimed(group):  # a group that was left at once needs no limit
                self.forget(group)
            else:
                self.limit(group)

    def valued(self, value_of: Callable[[Any], Any], item: Any) -> Any:
        made = user_call(_NAME, value_of, item)
        if made is None:
            raise none_produced(_NAME, value_of)
        return made

    def begin_group(self, key: Any) -> LimitedGroup | None:
        """A new group, given away; None where no further ones are wanted, or it was not requested, which ends everything."""
        if self.stopped:
            return None
        if not self.has_demand():
            self.source_ended(
                MissingBackpressureError(
                    f"{_NAME}() has a new group, {len(self.groups)} groups are open, and no further group was requested.",
                    f"  More groups at a time:   .flat_map(..., max_concurrency={2 * max(len(self.groups), 1)})",
                )
            )
            return None
        if self.wanted != UNBOUNDED:
            self.wanted -= 1
        group = LimitedGroup(key, self)
        self.groups[key] = group
        try:
            self.emit(self.face(key, GroupHead(group)))
        except BaseException:
            self.forget(group)
            group.release()
            raise
        return group

    def limit(self, group: LimitedGroup) -> None:
        """Subscribe to what says when the group ends."""
        try:
            source = user_call(_NAME, self.until, group.key)
        except Exception as error:
            self.source_ended(as_error(error))
            return
        refused = not_a_source(_NAME, self.until, source)
        if refused is not None:
            self.source_ended(refused)
            return
        group.closing = closing = ClosingInput(self, group, self.closed)
        closing.open(source)

    def closed(self, closing: ClosingInput) -> None:
        """The source of a group has signalled."""
        group = closing.piece
        self.forget(group)
        try:
            group.end()
        except Exception as error:  # its subscriber's: nothing would come for the others any more
            self.source_ended(error)
            raise

    def forget(self, group: LimitedGroup) -> None:
        """It gets no further items: its key makes a new one."""
        if self.groups.get(group.key) is group:
            del self.groups[group.key]
        closing, group.closing = group.closing, None
        if closing is not None:
            closing.close()

    def source_ended(self, error: Exception | None) -> None:
        if self.over:
            return
        groups = list(self.groups.values())
        self.stop()
        for group in groups:
            group.end(error)
        if not self.stopped:
            self.wanted = self.finish(error)

    def stop(self) -> None:
        for group in list(self.groups.values()):
            self.forget(group)
        super().stop()


class LimitedGroup(Part):
    """One group, until its source signals."""

    __slots__ = ("closing", "key", "owner")

    #: What says when it ends.
    closing: ClosingInput | None

    def __init__(self, key: Any, owner: GroupByUntil) -> None:
        super().__init__(owner.holders, owner.origin, owner.credit if owner.bounded else None)
        self.key = key
        self.owner = owner
        self.closing = None

    def step(self, demand: int) -> int:
        if self.done and self.error is not None:
            return self.finish(self.error)  # an error does not wait behind items
        return super().step(demand)

    def close(self) -> None:
        super().close()
        if not self.owner.over:
            self.owner.cue(self.owner.forget, self)

    def shown(self) -> str:
        return f"group({self.key!r})"

"""group_by: one source dealt out to one stream for each key."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from threading import get_ident
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import UNBOUNDED, MissingBackpressureError, add_cap, dropped_late, none_produced, user_error
from rx_core.streams import Op, QueuedInput, tell_interrupted
from rx_fusion import op
from rx_ops.operators._part import Holders, Part, PartHead

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_core.streams import Listening
    from rx_fusion import Head

T = TypeVar("T")


@op("group_by", in_loop_of="flat_map")
class GroupBy(Op[Any]):
    """Deals the items of its source out to groups, and emits a group with its first item.

    The source's thread is the sole signaller of groups, so it passes by the gate, and decides about a group that was not
    subscribed as soon as it was emitted. Ends pass the gate: the source emits nothing more once it has published one.

    The source is left when the stream of groups *and* all groups are.
    """

    __slots__ = ("asked", "back", "failure", "held", "holders", "main", "over", "refused", "returned", "source")

    discards: ClassVar[bool] = True

    #: Valid requests, appended by any thread and counted by the source's.
    asked: deque[int]
    holders: Holders
    #: Whether the stream of groups holds the source; for the holder of the token.
    held: bool
    #: How many items left their groups after they had waited there; added to ``back`` by the holder of the token.
    returned: deque[int]
    back: int
    #: The groups have been told the end, which is ``failure`` if it is an error. Published last.
    over: bool
    failure: Exception | None
    #: A wrong request: it was handed to the source, which answers it serially with its other signals (RS 3.9).
    refused: Exception | None

    def __init__(
        self,
        down: Subscriber[Any],
        source: Publisher[T],
        key: Callable[[T], Hashable],
        value: Callable[[T], Any] | None,
        buffer_size: int,
        face: Callable[[Hashable, Head], Any],
    ) -> None:
        super().__init__(down)
        self.source = source
        self.main = KeyedInput(self, key, value, buffer_size, face)
        self.asked = deque()
        self.holders = Holders(self.leave_source)
        self.held = True
        self.returned = deque()
        self.back = 0
        self.over = False
        self.failure = None
        self.refused = None

    def open(self) -> None:
        self.main.open(self.source)

    def request(self, n: int, /) -> None:
        if type(n) is int and n > 0:
            self.asked.append(n)
        else:
            super().request(n)

    def open_inputs(self) -> Iterable[Listening]:
        return (self.main,)

    def open_demand(self) -> int | None:
        return None  # its input counts groups

    def refuse_request(self, error: Exception) -> None:
        main = self.main
        if main.up is None or main.done or main.closed:
            self.finish(error)
        else:
            self.refused = error
            self.later.append((main.up.request, 0))

    def step(self, demand: int) -> int:
        self.replenish()
        if self.over:
            failure = self.failure if self.refused is None else self.refused
            self.failure = self.refused = None  # the frames in its traceback may hold this
            return self.finish(failure)
        return demand

    def close(self) -> None:
        self.replenish()
        if self.held:
            self.held = False
            self.holders.release()
        if self.over or self.main.closed:
            self.main.close()

    def leave_source(self) -> None:
        """The stream of groups and all groups are left. Any thread."""
        self.main.stop()
        self.drain()

    def credit(self, count: int) -> None:
        """``count`` items left their group after they had waited there. Any thread."""
        main = self.main
        if main.emitting == get_ident():  # inside on_next, with the first item of a group
            for _ in range(count):
                main.took()
        else:
            self.returned.append(count)
            self.drain()

    def replenish(self) -> None:
        """Holds the token. Items that went straight are counted by the source's thread, those that had to wait here, and either
        account is settled when it has a quarter of the window: what is not asked for yet is room that open groups do not have."""
        returned = self.returned
        if not returned:
            return
        while returned:
            self.back += returned.popleft()
        main = self.main
        if self.back >= main.limit and not main.done and not main.closed:
            self.later.append((main.up.request, self.back))
            self.back = 0


class KeyedInput(QueuedInput[Any]):
    """The source of groups: puts each item into its group. What is here belongs to the source's thread."""

    __slots__ = ("credit", "emitting", "face", "groups", "key_of", "left_groups", "value_of", "wanted")

    op: GroupBy
    groups: dict[Any, Group]
    #: Groups whose subscriber has left, appended by any thread. Only the source's thread takes them out of ``groups``.
    left_groups: deque[Group]
    #: How many groups may still be emitted.
    wanted: int
    #: The source's thread while it emits a group, else 0.
    emitting: int
    #: What a group calls for items that had to wait; None where the source is asked for everything.
    credit: Callable[[int], object] | None

    def __init__(
        self,
        op: GroupBy,
        key: Callable[[Any], Hashable],
        value: Callable[[Any], Any] | None,
        buffer_size: int,
        face: Callable[[Hashable, Head], Any],
    ) -> None:
        super().__init__(op, buffer_size)
        self.left = self.limit = max(buffer_size >> 2, 1)  # see GroupBy.replenish
        self.key_of = key
        self.value_of = value
        self.face = face
        self.groups = {}
        self.left_groups = deque()
        self.wanted = 0
        self.emitting = 0
        self.credit = None if buffer_size == UNBOUNDED else op.credit

    def on_next(self, item: Any, /) -> None:
        op = self.op  # first, then look: close() does it the other way round
        if self.closed:
            op.discard(item)
            return
        key_of = self.key_of
        try:
            key = key_of(item)
            group = self.groups.get(key)  # runs the key's __hash__ and __eq__
        except BaseException as error:
            op.discard(item)
            self.fail_all(op, self.user_failed(op, key_of, error))
            return
        if group is None or group.stopped:
            self.first_item(op, key, item)
            return
        if self.value_of is not None:
            try:
                item = self.value(op, item)
            except Exception as error:
                self.fail_all(op, error)
                return
        try:
            straight = group.push(item)
        except Exception as error:  # its subscriber's. The source takes that for a cancel (RS 2.13)
            self.fail_all(op, error)
            raise
        if straight:
            left = self.left - 1  # took(), without its frame
            if left:
                self.left = left
            else:
                self.left = limit = self.limit
                if not self.closed:
                    self.up.request(limit)

    def first_item(self, op: GroupBy, key: Any, item: Any) -> None:
        """Of a new group, or of one whose subscriber has left."""
        groups = self.groups
        left_groups = self.left_groups
        while left_groups:
            gone = left_groups.popleft()
            if groups.get(gone.key) is gone:
                del groups[gone.key]
        group = Group(key, self, op)  # it holds the source now; then look: a cancel sets ``stopped`` and lets go afterwards
        if op.stopped:
            group.release()
            op.discard(item)
            self.took()
            return
        groups[key] = group
        failure: Exception | None = None
        if self.value_of is not None:
            try:
                item = self.value(op, item)
            except Exception as error:
                failure = error
        if failure is None:
            group.queue = deque((item,))
        if not self.may_emit(op):
            others = sum(not each.stopped for each in groups.values()) - 1
            group.give_up()
            self.fail_all(op, too_many_groups(others, failure))
            return
        self.emitting = get_ident()
        try:
            op.emit(self.face(key, GroupHead(group)))
        except BaseException:
            op.cancel()  # RS 2.13
            group.release()
            raise
        finally:
            self.emitting = 0
        if failure is not None:
            self.fail_all(op, failure)
        elif group.try_abandon():
            if groups.get(key) is group:
                del groups[key]
            self.took()

    def value(self, op: GroupBy, item: Any) -> Any:
        """What the user's function makes of ``item``. Raises what is to be signalled."""
        value_of = self.value_of
        assert value_of is not None
        try:
            made = value_of(item)
        except BaseException as error:
            failure = self.user_failed(op, value_of, error)
            if failure is error:
                raise
            raise failure from error
        if made is None:
            raise none_produced("group_by", value_of)
        return made

    def may_emit(self, op: GroupBy) -> bool:
        """Take one group from what was requested."""
        asked = op.asked
        while asked:
            self.wanted = add_cap(self.wanted, asked.popleft())
        if self.wanted == UNBOUNDED:
            return True
        if not self.wanted:
            return False
        self.wanted -= 1
        return True

    def user_failed(self, op: GroupBy, function: Callable[..., Any], error: BaseException) -> Exception:
        """What is to be signalled for what ``function`` raised. A KeyboardInterrupt and the like is no signal: it is raised again
        when everything was given back."""
        noted = user_error("group_by", function, error)
        if isinstance(error, Exception):
            return error  # a StopIteration as it is: there is no generator between
        if isinstance(noted, Exception):
            return noted
        tell_interrupted(self, error)
        self.closed = True
        self.up.cancel()
        for group in list(self.groups.values()):
            group.cancel()
        op.cancel()
        raise error

    def fail_all(self, op: GroupBy, error: Exception) -> None:
        """The stream and all its groups end with ``error``, which is not the source's."""
        self.stop()
        self.end_groups(op, error)

    def on_error(self, error: Exception, /) -> None:
        op = self.op
        if self.closed:
            dropped_late(error, op.origin)
            return
        self.done = True
        self.end_groups(op, error)

    def on_complete(self) -> None:
        op = self.op
        if not self.closed:
            self.done = True
            self.end_groups(op, None)

    def end_groups(self, op: GroupBy, error: Exception | None) -> None:
        """End the open groups, then the stream of groups."""
        groups = list(self.groups.values())
        self.groups.clear()
        for group in groups:
            group.end(error)
        op.failure = error
        op.over = True
        op.drain()


class Group(Part):
    """One group. Its key comes again as a new group when its subscriber has left, or when it was abandoned."""

    __slots__ = ("key", "main")

    def __init__(self, key: Any, main: KeyedInput, op: GroupBy) -> None:
        super().__init__(op.holders, op.origin, main.credit)
        self.discard = op.discard
        self.key = key
        self.main = main

    def step(self, demand: int) -> int:
        if self.done and self.error is not None:
            return self.finish(self.error)  # an error does not wait behind items
        return super().step(demand)

    def close(self) -> None:
        super().close()
        self.main.left_groups.append(self)

    def shown(self) -> str:
        return f"group({self.key!r})"


class GroupHead(PartHead):
    """The head of a group."""

    __slots__ = ()
    name = "group"


def too_many_groups(count: int, cause: Exception | None) -> Exception:
    """The error for a new group that was not requested, while ``count`` others are open."""
    error = MissingBackpressureError(
        f"group_by() has a new group, {count} groups are open, and no further group was requested; to wait would stop those.",
        f"  More groups at a time:   .flat_map(..., max_concurrency={2 * max(count, 1)})\n"
        f"  To fold each group:      .group_reduce(key, value, reducer), which keeps one value per key",
    )
    error.__cause__ = cause
    return error


def group_notes(buffer_size: int) -> tuple[str]:
    """What a plan says of a group_by."""
    bound = "whatever the source is ahead" if buffer_size == UNBOUNDED else f"{buffer_size} items"
    return (f"queue: {bound} in all groups together",)

"""group_by: one source dealt out to many.

The groups share one run of the source. Whoever needs an item (the stream of groups, or a group that ran dry) *pumps*: it
takes one
item from the source and puts it where it belongs. Inside one run that is a plain call; a group that somebody subscribed to
on their
own wakes the run of the groups instead.

At most ``buffer_size`` items wait in all groups together. A group that nobody subscribes to while it is being emitted is
abandoned:
it keeps its first item, completes, and its key may come again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from rx_core import (
    OPERATOR_CODES,
    UNBOUNDED,
    BaseDisposable,
    Drain,
    Items,
    MissingBackpressureError,
    Run,
    Subscription,
    close,
    name_of,
    none_produced,
    user_call,
    user_error,
)
from rx_fusion import Head
from rx_fusion.symbols import without_symbols
from rx_ops.coordination._known import known_items
from rx_ops.coordination._parts import Part

if TYPE_CHECKING:
    from rx_ops._faces import GroupedFlowable, GroupedObservable

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

Grouped: TypeAlias = "GroupedFlowable[K, V] | GroupedObservable[K, V]"

_END: Any = object()


class GroupByHead(Head, Generic[T, K, V]):
    """The description: where from, by what, how much may wait."""

    __slots__ = ("_face", "buffer_size", "key", "upstream", "value")
    name = "group_by"

    def __init__(
        self,
        source: Any,
        key: Callable[[T], K],
        value: Callable[[T], V] | None,
        buffer_size: int,
        face: Callable[[K, Head], Grouped[K, V]],
    ) -> None:
        self.upstream: Sequence[Any] = (source,)
        self.key, self.value = without_symbols((key, value))
        self.buffer_size = buffer_size
        self._face = face

    def open(self, run: Run, window: int, /) -> Items[Grouped[K, V]]:
        return Groups(run, self, window).stream()

    def notes(self) -> Sequence[str]:
        bound = "whatever the source is ahead" if self.buffer_size == UNBOUNDED else f"{self.buffer_size} items"
        return (f"queue: {bound} in all groups together",)

    def __repr__(self) -> str:
        return f"{self.upstream[0]!r}.group_by({name_of(self.key)})"


class _Feed(Run):
    """The run as the source sees it: something arrived means that a group, or the stream of groups, should pump."""

    __slots__ = ("_groups",)

    def __init__(self, groups: Groups[Any, Any, Any]) -> None:
        super().__init__()
        self._groups = groups

    @property
    def root(self) -> Run:
        return self  # the groups may outlive the run they began in

    @property
    def pipeline(self) -> object:
        return self._groups.run.origin

    @property
    def cancelled(self) -> bool:
        root: Any = self._groups.run.root
        return bool(root.cancelled)

    @property
    def demand(self) -> int:
        return UNBOUNDED

    @property
    def threaded(self) -> bool:
        return self._groups.run.threaded

    def wake(self) -> None:
        self._groups.feed()

    def poke(self) -> None:
        self._groups.feed(urgent=True)

    def hand_over(self, run: Run) -> None:
        """What is to happen after the end of the source happens after that of the run which was the last to need it."""
        actions, self._after = self._after, []
        for action in actions:
            run.after(action)

    def follow(self, lender: Any, /) -> None:
        self._groups.run.follow(lender)

    def later(self, action: Callable[[], object], /) -> None:
        self._groups.run.later(action)


class _Nobody:
    """Wants everything, and takes nothing."""

    __slots__ = ()

    def on_subscribe(self, subscription: Subscription, /) -> None:
        subscription.request(UNBOUNDED)

    def on_next(self, item: object, /) -> None:
        pass

    def on_error(self, error: Exception, /) -> None:
        pass

    def on_complete(self) -> None:
        pass


class Groups(BaseDisposable, Generic[T, K, V]):
    """One run of group_by. Everything here is the run's owner's, except ``freed`` and ``feed``."""

    __slots__ = (
        "a_group",
        "buffer_size",
        "ended",
        "face",
        "freed",
        "fresh",
        "full",
        "head",
        "items",
        "key",
        "open_groups",
        "outer_closed",
        "returned",
        "run",
        "source",
        "stuck",
        "waiting",
        "window",
    )

    def __init__(self, run: Run, head: GroupByHead[T, K, V], window: int) -> None:
        self.run = run
        self.head = head
        self.key = head.key
        self.buffer_size = head.buffer_size
        #: How many groups the consumer runs at the same time; 0 where its demand says so.
        self.window = window
        self.face = head._face
        self.open_groups: dict[K, Group[K, V]] = {}
        #: Some group that runs inside this run and could pump.
        self.a_group: Group[K, V] | None = None
        self.fresh: deque[Group[K, V]] = deque()  # found and not emitted yet
        self.freed: deque[None] = deque()  # one mark per item taken out of a group, from whatever thread took it
        #: Groups that a queue let go of: were they subscribed to?
        self.returned: deque[Group[K, V]] = deque()
        self.waiting = 0
        self.full = False
        self.ended = False
        self.outer_closed = False
        self.stuck = False
        self.source = _Feed(self)
        run.own(self)
        self.items: Items[T] = self.source.open(head.upstream[0], head.buffer_size)
        known = known_items(head.upstream[0])
        if known:  # without the generator that looks for a cancel before each: pump() does
            self.items = iter(known)

    def stream(self) -> Items[Grouped[K, V]]:
        """The stream of groups."""
        try:
            while True:
                if not self.fresh:
                    if self.ended:
                        return
                    if self.pump():
                        self.run.poke()  # go on pumping; but who got the item has its turn first, so that order is kept
                    if not self.fresh:
                        if not self.ended:
                            yield None
                        continue
                if not self.window and not self.run.demand:
                    raise self._too_many("nobody asks for another group")
                self.stuck = False
                group = self.fresh.popleft()
                yield self.face(group.key, group)
                if group.left_alone:
                    self.abandon(group)
        except Exception as error:
            self._end(error)
            raise
        finally:
            self.outer_closed = True
            while self.fresh:
                self.abandon(self.fresh.popleft())
            if self.open_groups:
                self.feed()  # those that are open have to go on by themselves
            else:
                self._let_go()

    def dispose(self) -> None:
        """The run of the stream of groups is over. Groups that run apart from it go on, with a run that only pumps."""
        self.outer_closed = True
        for group in list(self.open_groups.values()):
            if group.left_alone:
                self.abandon(group)
        if self.ended or not self.open_groups:
            self._let_go()
            return

        def pumping(run: Run) -> Items[Any]:
            self.run = run
            return self._pumping()

        Drain[Any](_Nobody()).start(pumping)

    @property
    def is_disposed(self) -> bool:
        return self.outer_closed

    def _pumping(self) -> Items[Any]:
        try:
            while self.open_groups and not self.ended:
                if not self.pump():
                    yield None
        except Exception:
            return  # the groups have it
        finally:
            self._let_go()

    def over(self) -> None:
        """Who took the items out of the source has dealt with them, and with all groups."""
        self.ended = self.outer_closed = True
        self.open_groups.clear()
        self._let_go()

    def _let_go(self) -> None:
        close(self.items)
        self.source.release()
        self.source.hand_over(self.run)

    def feed(self, *, urgent: bool = False) -> None:
        """Something arrived, or room was made: let somebody pump. Thread-safe. With ``urgent`` (the end of the source) also when
        no item is wanted."""
        group = self.a_group
        run = None if group is None else group.run
        if run is not None:
            if urgent:
                run.poke()
            else:
                run.wake()
        self.run.poke()

    def pump(self) -> bool:
        """Take one item from the source and deal it out; False when there is nothing to take or no room for it."""
        while True:
            while self.freed:
                self.freed.popleft()
                self.waiting -= 1
            while self.returned:
                group = self.returned.popleft()
                if group.left_alone:
                    self.abandon(group)
            if self.ended:
                return False
            if self.waiting < self.buffer_size:
                break
            self.full = True  # publish first, look afterwards: who takes an item from now on feeds
            if not self.freed:
                return False
        self.full = False
        root: Any = self.run.root
        try:
            item = _END if root.cancelled else next(self.items, _END)
            if item is None:
                return False
            if item is _END:
                self._end(None)
                return False
            try:  # user_call without its frame
                key = self.key(item)
            except (StopIteration, GeneratorExit) as error:
                raise user_error("group_by", self.key, error) from error
            except Exception as error:
                user_error("group_by", self.key, error)
                raise
            self._deal(key, item)
        except Exception as error:
            self._end(error)
            raise
        return True

    def look_for_deadlock(self) -> None:
        """A group ran dry because the buffer is full of items for groups nobody took. Give the consumer one more turn to take
        one; when it comes back without having done so, it never will."""
        if self.ended or not self.fresh or self.waiting < self.head.buffer_size:
            return
        if self.stuck:
            raise self._too_many(f"its buffer of {self.head.buffer_size} items is full of items for groups nobody took")
        self.stuck = True
        self.run.root.poke()

    def _deal(self, key: K, item: Any) -> None:
        value = item if self.head.value is None else user_call("group_by", self.head.value, item)
        if value is None:
            raise none_produced("group_by", self.head.value)
        group = self.open_groups.get(key)
        if group is None:
            if self.outer_closed:
                return  # nobody takes new groups any more
            group = self.new_group(key)
            self.fresh.append(group)
        self.put(group, value)
        run = group.run  # read once: its subscriber may leave meanwhile, on another thread
        if run is not None:
            run.wake()

    def new_group(self, key: K) -> Group[K, V]:
        if self.window and len(self.open_groups) >= self.window:
            raise self._too_many(f"{self.window} groups are open, and the consumer takes no more at a time")
        group = self.open_groups[key] = Group(self, key)
        return group

    def put(self, group: Group[K, V], value: V) -> None:
        group.queue.append(value)
        self.waiting += 1

    def _too_many(self, why: str) -> Exception:
        more = 2 * max(self.window, len(self.open_groups), 1)
        return MissingBackpressureError(
            f"group_by() has a new group but {why}; waiting would stop the groups that are open.",
            f"  More groups at a time:   .flat_map(..., max_concurrency={more})\n"
            f"  To fold each group:      .group_reduce(key, value, reducer), which keeps one value per key",
        )

    def abandon(self, group: Group[K, V]) -> None:
        if group.abandoned:
            return
        if self.open_groups.get(group.key) is group:
            del self.open_groups[group.key]
        group.abandoned = group.done = True
        self.waiting -= len(group.queue)

    def _end(self, error: Exception | None) -> None:
        if self.ended:
            return
        self.ended = True
        for group in list(self.open_groups.values()):
            group.error = error
            group.done = True
            run = group.run
            if run is not None:
                run.poke()
        self.open_groups.clear()
        self.run.poke()

    def leave(self, group: Group[K, V]) -> None:
        """A group's subscriber is gone; its key may come again."""
        if self.open_groups.get(group.key) is group:
            del self.open_groups[group.key]
        if not group.abandoned:
            self.freed.extend([None] * len(group.queue))
        group.queue.clear()
        if self.a_group is group:
            self.a_group = next((each for each in list(self.open_groups.values()) if each.runs_inside), None)
        if self.outer_closed and not self.open_groups:
            self.feed()  # whoever owns the source lets go of it
        elif not self.ended:
            self.feed()


class Group(Part[V], Generic[K, V]):
    """One group: its key, and the queue of its items."""

    __slots__ = ("groups", "key", "runs_inside")
    name = "group"

    def __init__(self, groups: Groups[Any, K, V], key: K) -> None:
        super().__init__()
        self.groups = groups
        self.key = key
        #: Whether its subscriber is part of the run of the groups: then it pumps by itself.
        self.runs_inside = False

    def put_back(self) -> None:
        self.groups.returned.append(self)
        self.groups.run.poke()

    def begin(self, run: Run) -> Items[V]:
        self.runs_inside = self.groups.run.root is run.root
        if self.runs_inside:
            self.groups.a_group = self
        run.own(self)  # a generator that was never started runs no finally
        return self._stream()

    def dispose(self) -> None:
        """Its subscriber is gone, or has all of it."""
        run, self.run = self.run, None
        if run is not None:
            run.disown(self)
            self.groups.leave(self)

    @property
    def is_disposed(self) -> bool:
        return self.run is None

    def _stream(self) -> Items[V]:
        groups, queue = self.groups, self.queue
        try:
            while True:
                while queue:
                    item = queue.popleft()
                    if not self.abandoned:
                        if self.runs_inside:
                            groups.waiting -= 1  # it is the owner's
                        else:
                            groups.freed.append(None)
                        if groups.full:
                            groups.feed()  # another group may be waiting for the room
                    if self.done and not queue and self.run is not None:
                        self.run.poke()  # the end is known: it needs no further demand
                    yield item
                if not self.done:
                    if self.runs_inside:
                        if not groups.pump():
                            groups.look_for_deadlock()
                    else:
                        groups.feed()
                    if not queue and not self.done:
                        if groups.outer_closed and self.runs_inside and self.run is not None:
                            self.run.wake()  # nobody else goes on pumping
                        yield None  # what was pumped went to another group, which is awake now
                elif not queue:
                    break
            if self.error is not None:
                raise self.error
        finally:
            self.dispose()

    def __repr__(self) -> str:
        return f"group({self.key!r})"


OPERATOR_CODES.add(Group._stream.__code__)  # it raises what ended the source, a StopIteration included
OPERATOR_CODES.add(Groups.pump.__code__)  # the key function runs in it

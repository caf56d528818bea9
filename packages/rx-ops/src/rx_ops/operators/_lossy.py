"""What debounce, sample and throttle share: items that come too fast are kept until they are due, or dropped.

These operators ask their source for everything and drop what does not count. The source's thread puts an item into a cell when it
comes, the clock's thread marks the cell as due, and the holder of the token gives what is due. The thread that takes an item out
of its cell decides what becomes of it: so each is either given or dropped, on whatever threads source and clock run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from rx_core import UNBOUNDED, MissingBackpressureError, dropped_late, user_call
from rx_core.streams import LOOK_FIRST, Input, Op
from rx_ops.operators._mapping import as_error

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription
    from rx_core.streams import Listening

T = TypeVar("T")
Drop = Callable[[T], object] | None


class Held(Generic[T]):
    """An item that is either given or dropped: the thread that takes it out decides, and another one finds nothing."""

    __slots__ = ("cell", "due")

    cell: Any
    #: Its time has come. Set by the clock, or by the source that stands in for one.
    due: bool

    def __init__(self, item: T) -> None:
        self.cell = [item]
        self.due = False

    def take(self) -> T | None:
        try:
            return self.cell.pop()  # type: ignore[no-any-return]  # what was put in
        except IndexError:
            return None


class Arrivals(Input[T]):
    """A source that is asked for everything; ``op.arrived(item)`` decides about an item on the thread that sends it."""

    __slots__ = ()

    def subscribed(self, up: Subscription) -> None:
        up.request(UNBOUNDED)

    def on_next(self, item: T, /) -> None:
        op = self.op
        if not op.stopped:
            op.arrived(item)
        else:
            op.discard(item)

    def fail(self, error: Exception) -> None:
        """A user's function raised ``error`` for an item: it ends the operator, and this listens no more."""
        op = self.op
        if op.stopped:
            dropped_late(error, op.origin)
            return
        self.stop()
        self.error = error
        self.done = True
        op.drain()


class Lossy(Op[T]):
    """Keeps the newest item until it is due, and gives what is due; that is an error where nothing is wanted."""

    __slots__ = ("due", "gives_last", "held", "main", "on_drop", "source")

    discards: ClassVar[bool] = True

    #: What users call it.
    name: ClassVar[str]
    source: Publisher[T]
    main: Arrivals[T]
    on_drop: Drop[T]
    #: The newest item. Only the source's thread replaces it.
    held: Held[T] | None
    #: Those that are due, in order. An item that was dropped meanwhile leaves its cell empty.
    due: deque[Held[T]]
    #: Whether the newest item is given at completion.
    gives_last: bool

    def __init__(self, down: Subscriber[T], source: Publisher[T], on_drop: Drop[T], gives_last: bool) -> None:
        super().__init__(down)
        self.source = source
        self.main = Arrivals(self)
        self.on_drop = on_drop
        self.held = None
        self.due = deque()
        self.gives_last = gives_last

    def open(self) -> None:
        self.main.open(self.source)

    # -- the source's thread ----------------------------------------

    def arrived(self, item: T) -> None:
        raise NotImplementedError

    def put(self, item: T) -> Held[T]:
        """``item`` is the newest; the one that it replaces is dropped, unless it is due."""
        before, held = self.held, Held(item)
        self.held = held
        if before is not None and not before.due:
            replaced = before.take()
            if replaced is not None:
                self.drop(replaced)
        if not LOOK_FIRST:
            self.token.copy()  # a fence between publishing and looking; a list has a lock
        if self.stopped:  # published first, looked at afterwards: close() finds the item, or this finds that it ran
            self.give_up(held)
        return held

    def give_up(self, held: Held[T]) -> None:
        item = held.take()
        if item is not None:
            self.discard(item)

    def drop(self, item: T) -> None:
        if self.on_drop is None:
            self.discard(item)
            return
        try:
            user_call(self.name, self.on_drop, item)
        except Exception as error:
            self.main.fail(as_error(error))

    # -- the clock's thread ----------------------------------------

    def mark(self, held: Held[T]) -> None:
        """The time of ``held`` has come."""
        self.due.append(held)  # first: a cell that is marked is never dropped
        held.due = True

    # -- the holder of the token ----------------------------------------

    @property
    def ended(self) -> bool:
        """A source whose end is the end is complete, or has failed."""
        return self.main.done

    @property
    def failure(self) -> Exception | None:
        return self.main.error

    def step(self, demand: int) -> int:
        ended = self.ended  # both before looking: what was due before the end is there
        failure = self.failure
        due = self.due
        while due:
            item = due.popleft().take()
            if item is not None:
                demand = self.give_item(item, demand)
                if self.stopped:
                    return 0
        if failure is not None:
            return self.finish(failure)
        if not ended:
            return demand
        if self.gives_last and self.held is not None:
            item = self.held.take()
            if item is not None:
                self.give_item(item, demand)
        return self.finish()

    def give_item(self, item: T, demand: int) -> int:
        if not demand:
            self.discard(item)
            return self.finish(MissingBackpressureError(f"{self.name}() had an item to give that was not requested"))
        self.emit(item)
        return demand if demand is UNBOUNDED else demand - 1

    def listening(self) -> Iterable[Listening]:
        return (self.main,)

    def close(self) -> None:
        self.main.close()
        while self.due:
            self.give_up(self.due.popleft())
        held = self.held
        if held is not None:
            self.held = None
            self.give_up(held)

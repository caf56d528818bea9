"""Unicast: a queue that one subscriber may subscribe to (groups, windows, what an operator tells a user's stream)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core._demand import UNBOUNDED
from rx_core.gate import LOOK_FIRST
from rx_core.streams.contracts import NO_ITEMS, NULL_SUBSCRIBER
from rx_core.streams.op import Op
from rx_core.streams.pump import Failing

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber

T = TypeVar("T")


class Unicast(Op[T]):
    """Items that one party pushes, serially, for one subscriber, which may come late and ask slowly.

    :meth:`push` and :meth:`end` belong to the party that made it. ``taken(n)`` is called for items that had to wait here and went
    out later, or were given up: a source that counts them may send as many more. Each item is counted once, whether :meth:`push`
    said that it does not wait, or here.
    """

    __slots__ = ("done", "error", "free", "queue", "taken")

    queue: deque[Any]
    #: The end was pushed, and the error if it is one.
    done: bool
    error: Exception | None
    #: Holds one entry until the one subscriber takes it out.
    free: Any
    taken: Callable[[int], object] | None

    def __init__(self, origin: object = None, taken: Callable[[int], object] | None = None) -> None:
        super().__init__(NULL_SUBSCRIBER, origin)
        self.queue = NO_ITEMS
        self.done = False
        self.error = None
        self.free = [True]
        self.taken = taken

    def attach(self, down: Subscriber[T]) -> None:
        """Subscribe ``down``. A second subscriber gets a RuntimeError as its signal (RS 1.9)."""
        try:
            self.free.pop()
        except IndexError:
            message = f"{self.shown()} allows one subscriber; share its items if more need them"
            Failing(down, RuntimeError(message), self.origin).start()
            return
        self.down = down
        self.emit = down.on_next
        self.start()

    def shown(self) -> str:
        """How a message names it."""
        return repr(self.origin)

    @property
    def is_attached(self) -> bool:
        return not self.free

    # -- the party that pushes ----------------------------------------

    def push(self, item: T) -> bool:
        """Give ``item``, straight if it is wanted, else through the queue. True: it does not wait; it may be dropped, too."""
        token = self.token
        if token or not LOOK_FIRST:
            try:
                demand = token.pop()
            except IndexError:  # another thread is at work, or there is no subscriber yet
                demand = -1
            if demand > 0 and not self.dirty:  # then the queue is empty, too: with demand nothing stays there
                emit = self.emit_unguarded
                try:
                    emit(item)
                except BaseException as error:
                    try:
                        told = self.unguarded_raised(error)
                    finally:
                        token += (0,)
                    if not told:
                        raise
                    self.drain()
                    return True
                token.append(demand if demand is UNBOUNDED else demand - 1)
                if self.dirty:
                    self.drain()  # type: ignore[unreachable]  # set meanwhile
                return True
            if demand >= 0:
                token.append(demand)
        if self.stopped or self.done:  # ended by another party: abandoned
            self.discard(item)
            if self.dirty:
                self.drain()
            return True
        queue = self.queue
        if queue is NO_ITEMS:
            queue = self.queue = deque()
        queue.append(item)
        self.drain()
        return False

    def end(self, error: Exception | None = None) -> None:
        """Complete, or fail with ``error``, behind what was pushed."""
        self.error = error
        self.done = True  # published last
        self.drain()

    # -- the holder of the token ----------------------------------------

    def step(self, demand: int) -> int:
        done = self.done  # before the queue: what was pushed before the end is in it
        queue = self.queue
        taken = 0
        try:
            while queue and demand and not self.stopped:
                item = queue.popleft()
                taken += 1
                self.emit(item)
                if demand is not UNBOUNDED:
                    demand -= 1
        except BaseException:
            if self.taken is not None:
                self.taken(taken)
            raise
        if taken and self.taken is not None:
            self.later.append((self.taken, taken))
        if self.stopped:
            return 0
        return self.finish(self.error) if done and not queue else demand

    def close(self) -> None:
        queue = self.queue
        given_up = 0
        while queue:
            item = queue.popleft()
            given_up += 1
            self.discard(item)
        if given_up and self.taken is not None:
            self.taken(given_up)  # now: behind a subscriber that raised nothing that was put off is done

"""Inputs whose items pass the gate: other sources may signal at the same time. See :mod:`rx_core.streams.inputs`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import _hooks
from rx_core._demand import UNBOUNDED, request_all
from rx_core.streams.inputs import QueuedInput

if TYPE_CHECKING:
    from rx_core._protocols import Subscription
    from rx_core.streams.op import Op

T = TypeVar("T")


class MergedInput(QueuedInput[T]):
    """One of several sources whose items go on as they are. The operator has two lists: ``ready``, of inputs with an item in
    their queue, once for each item, and ``ended``, of inputs whose source has ended."""

    __slots__ = ()

    #: Whether ``ready`` has an entry for each item that waits.
    has_turns: ClassVar[bool] = True

    def on_next(self, item: T, /) -> None:
        op = self.op
        token = op.token
        if not token:  # another thread is at work, or this item answers a request: looking spares an error, which costs more
            self.wait(item)
            return
        try:
            demand = token.pop()
        except IndexError:
            self.wait(item)
            return
        if not demand or self.queue or op.dirty or self.closed:
            if demand or op.dirty:
                token.append(demand)
                self.wait(item)
                return
            self.keep(item)  # until it is requested: there is nothing else to look at
            token.append(0)
            if op.dirty:
                op.drain()
            return
        emit = op.emit_unguarded
        try:
            emit(item)
        except BaseException as error:
            try:
                told = op.unguarded_raised(error)
            finally:
                token += (0,)
            if not told:
                raise
            op.drain()
            return
        token.append(demand if demand is UNBOUNDED else demand - 1)
        left = self.left - 1
        if left:
            self.left = left
        else:
            self.left = limit = self.limit
            if not self.closed:
                self.up.request(limit)
        if op.dirty:
            op.drain()

    def wait(self, item: T) -> None:
        self.keep(item)
        self.op.drain()

    def keep(self, item: T) -> None:
        """Let ``item`` wait in the queue, unless it comes too late."""
        op = self.op
        if self.closed:
            op.discard(item)
            return
        queue = self.queue
        if queue:  # as put() has it, without the call
            queue.append(item)
            if len(queue) > self.window and not self.done:
                self.overrun()
        else:
            self.put(item)
        if self.has_turns:
            op.ready.append(self)

    def on_error(self, error: Exception, /) -> None:
        if self.closed:
            _hooks.dropped_late(error, self.op.origin)
            return
        self.error = error
        self.on_complete()

    def on_complete(self) -> None:
        self.done = True
        self.op.ended.append(self)
        self.op.drain()


class GatedInput(QueuedInput[T]):
    """A relayed source while others may signal as well: it is asked for what downstream wants, and its items pass the gate. One
    that finds the gate taken waits for its holder; it was wanted.

    ``of_one``: a Single, Maybe or Completable. It is asked for everything at once, so that its item comes when it is there; then
    the item waits in the queue until it is wanted.
    """

    __slots__ = ("asked", "came", "of_one")

    of_one: bool
    #: What the source was asked for in all, and how many items it gave before everything was wanted.
    asked: int
    came: int

    def __init__(self, op: Op[Any], of_one: bool = False) -> None:
        super().__init__(op, UNBOUNDED)
        self.asked = 0
        self.came = 0
        self.of_one = of_one

    def subscribed(self, up: Subscription) -> None:
        if self.of_one:
            self.asked = UNBOUNDED
            up.request(UNBOUNDED)
        elif self.op.settled:
            self.asked = UNBOUNDED
            request_all(up)
        else:
            self.op.drain()

    def on_next(self, item: T, /) -> None:
        op = self.op
        token = op.token
        try:
            demand = token.pop()
        except IndexError:
            self.wait(item)
            return
        if not demand or self.queue or op.dirty or self.closed:
            token.append(demand)
            self.wait(item)
            return
        emit = op.emit_unguarded
        try:
            emit(item)
        except BaseException as error:
            try:
                told = op.unguarded_raised(error)
            finally:
                token += (0,)
            if not told:
                raise
            op.drain()
            return
        if demand is not UNBOUNDED:
            demand -= 1
            self.came += 1
        token.append(demand)
        if op.dirty:
            op.drain()

    def wait(self, item: T) -> None:
        if not self.closed:
            self.put(item)
        else:
            self.op.discard(item)
        self.op.drain()

    def ask_again(self) -> None:
        """For a subclass that does not pass an item on: another one is to come in its place."""
        if not self.done and not self.closed:
            self.up.request(1)

    def ask(self, demand: int) -> None:
        """For ``step``: what is wanted by now, after :meth:`take`."""
        if self.up is None or self.done or self.asked == UNBOUNDED:
            return
        total = UNBOUNDED if demand >= UNBOUNDED - self.came else demand + self.came
        if total > self.asked:
            more = UNBOUNDED if total == UNBOUNDED else total - self.asked
            self.asked = total
            if more == UNBOUNDED and self.op.settled:
                self.op.later.append((request_all, self.up))
            else:
                self.op.later.append((self.up.request, more))

    def take(self, demand: int) -> int:
        """For ``step``: emit what had to wait. What is still wanted."""
        queue = self.queue
        op = self.op
        while queue and demand and not op.stopped:
            self.came += 1
            op.emit(queue.popleft())
            if demand is not UNBOUNDED:
                demand -= 1
        return demand

    @property
    def waits(self) -> bool:
        """The item of a Single or Maybe came and is not wanted yet. After :meth:`take`, where the source is over."""
        return bool(self.queue)

    def settle(self, demand: int) -> int:
        return demand

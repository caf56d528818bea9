"""Inputs: the subscribers with which an operator listens to its sources, one class for each way of asking.

==================  ==============================================================================================
input               how its items go on, and what its source is asked for
==================  ==============================================================================================
``QueuedInput``     every item waits in a queue for ``step``; the source is asked for a window, replenished at 75 %
``MergedInput``     straight downstream while the gate is free, the item is wanted and none waits; else queued. A window
``RelayedInput``    straight downstream past the gate, because its source is the *sole* signaller just now; asked for
                    what downstream wants
``DirectInput``     the same for a downstream that wants everything, without a call between
``GatedInput``      as relayed, while other sources may signal too: through the gate
==================  ==============================================================================================

``MergedInput`` and ``GatedInput``, whose items pass the gate, are in ``gated_inputs``.

Demand belongs to an input and never to the outermost subscriber: a source is asked for what *its* consumer wants of it. After its
source has ended, or the input was closed, an input neither requests nor cancels (RS 2.3, 2.4).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from rx_core import _buffer_watch, _hooks
from rx_core._demand import UNBOUNDED, request_all
from rx_core._errors import MissingBackpressureError
from rx_core._observers import CallbackObserver, LeadsToCallbacks, callbacks_behind
from rx_core.gate import LOOK_FIRST
from rx_core.streams.contracts import NO_ITEMS, close, is_exhausted, throw_away
from rx_core.streams.entry import Entry, subscribe, takes_requests
from rx_core.streams.op import interruption

if TYPE_CHECKING:
    from rx_core._protocols import Subscription
    from rx_core.streams.op import Op

T = TypeVar("T")

#: What :meth:`QueuedInput.poll` gives once its source is complete.
END: Final[Any] = object()


class Input(Generic[T]):
    """An operator's subscriber to one source. ``done`` is published last: who sees it finds the error and every item."""

    __slots__ = ("closed", "done", "error", "op", "up")

    op: Any
    up: Any
    error: Exception | None
    #: The source has signalled its end.
    done: bool
    #: The operator does not listen any more.
    closed: bool

    def __init__(self, op: Op[Any]) -> None:
        self.op = op
        self.up = None
        self.error = None
        self.done = False
        self.closed = False

    def open(self, source: Any) -> None:
        """Subscribe. Not while the token is held, unless the source is known to answer little (see Op.subscribe_later)."""
        subscribe(source, self)

    # -- signals of the source, serial (RS 1.3) ----------------------------------------

    def on_subscribe(self, up: Subscription, /) -> None:
        if self.up is not None:
            up.cancel()  # RS 2.5
            return
        self.up = up  # publish first, look afterwards: close() does the same
        if self.closed:
            up.cancel()
        else:
            self.subscribed(up)

    def subscribed(self, up: Subscription) -> None:
        """The source is there: ask for what is wanted at once."""

    def on_next(self, item: T, /) -> None:
        raise NotImplementedError

    def on_error(self, error: Exception, /) -> None:
        if self.closed:
            _hooks.dropped_late(error, self.op.origin)
            return
        self.error = error
        self.done = True
        self.op.drain()

    def on_complete(self) -> None:
        self.done = True
        self.op.drain()

    def fail(self, error: Exception) -> None:
        """A user's function failed for an item: that is the source's error from here on."""
        self.stop()
        self.error = error
        self.done = True
        self.op.drain()

    def interrupted(self, error: BaseException) -> None:
        """A user's function was left by what is no signal (KeyboardInterrupt). To be raised again by the caller."""
        told = interruption(error)
        if told is None:
            self.op.cancel()
        else:
            self.fail(told)

    # -- for the holder of the token ----------------------------------------

    def close(self) -> None:
        """Stop listening for good and forget what waits. Idempotent."""
        self.stop()
        self.error = None

    def stop(self) -> None:
        """Stop listening; any thread may call it. What waits in a queue belongs to the holder of the token."""
        if not self.closed:
            self.closed = True
            up = self.up
            if up is not None and not self.done:
                up.cancel()


class QueuedInput(Input[T]):
    """Items wait in a queue until ``step`` polls them. A passive source is not subscribed but iterated by :meth:`poll`."""

    __slots__ = ("items", "left", "limit", "peak", "queue", "window")

    #: What arrived and was not taken. Only the source's thread replaces NO_ITEMS by a queue, and appends.
    queue: deque[Any]
    #: How many items the source is asked for ahead; UNBOUNDED: for everything.
    window: int
    #: How many are still to be taken before the source is asked for ``limit`` more.
    left: int
    limit: int
    #: The most items that waited at a time, where the operator counts them; see BufferWatch.
    peak: int
    #: The iterator of a passive source.
    items: Iterator[Any] | None

    def __init__(self, op: Op[Any], window: int) -> None:
        self.op = op
        self.up = None
        self.error = None
        self.done = False
        self.closed = False
        self.queue = NO_ITEMS
        self.window = window
        self.left = self.limit = window - (window >> 2)  # 75 %: late enough to ask in batches, early enough not to run dry
        self.peak = 0
        self.items = None

    def open(self, source: Any) -> None:
        if not takes_requests(source):
            self.window = self.left = self.limit = UNBOUNDED
        subscribe(source, self)

    def subscribed(self, up: Subscription) -> None:
        up.request(self.window)

    def on_next(self, item: T, /) -> None:
        if not self.closed:
            self.put(item)
            self.op.drain()
        else:
            self.op.discard(item)

    def put(self, item: T) -> None:
        """Append to the queue, which is made with the first item that has to wait."""
        queue = self.queue
        if queue is NO_ITEMS:
            queue = self.queue = deque()
        queue.append(item)
        if len(queue) > self.window and not self.done:
            self.overrun()

    def overrun(self) -> None:
        """The source sent more than it was asked for (RS 1.1): its stream ends with an error, and the queue does not grow on.

        Or this was closed while the item was on its way, see :meth:`close`.
        """
        if self.closed and self.window < 0:
            self.forget()
            return
        up = self.up
        if isinstance(up, Entry):  # which counts by itself; so this source cannot be asked, and what it sends waits
            self.window = UNBOUNDED
            return
        if up is not None:
            up.cancel()
        asked = f"{self.window} {'item' if self.window == 1 else 'items'}"
        self.on_error(MissingBackpressureError(f"a source sent an item that it had not been asked for: {asked} wait already"))

    def poll(self) -> Any:
        """The next item; None while there is none; END after the last one. Raises what a passive source raises."""
        items = self.items
        if items is not None:
            return next(items, END)
        queue = self.queue
        if queue:
            item = queue.popleft()
            self.took()  # behind it: a source that answers at once finds room in the queue
            return item
        if not self.done:
            return None
        queue = self.queue  # again: the end is published last
        return queue.popleft() if queue else END

    @property
    def ended(self) -> bool:
        """Known to be over, with nothing left to take: that needs no demand."""
        items = self.items
        if items is not None:
            return is_exhausted(items)
        return self.done and not self.queue

    def took(self) -> None:
        """An item was taken: replenish the window when 75 % of it were."""
        left = self.left - 1
        if left:
            self.left = left
            return
        self.left = limit = self.limit
        if not self.done and not self.closed:
            self.up.request(limit)

    def took_many(self, count: int) -> None:
        """As :meth:`took`, ``count`` times; ``count`` is at most ``left``."""
        if count:
            self.left -= count - 1
            self.took()

    def close(self) -> None:
        super().close()
        items = self.items
        if items is not None:
            self.items = None
            close(items)
        self.window = -1  # publish first, look afterwards: an item that is being put is found here, or finds this; see overrun
        if not LOOK_FIRST:
            self.op.token.copy()  # a fence between the two; a list has a lock
        if self.queue:
            self.forget()
        if self.peak and _buffer_watch.watch is not None:
            _buffer_watch.watch(self.peak)
            self.peak = 0

    def forget(self) -> None:
        """Drop what waits. Any thread, once this is closed."""
        throw_away(self.queue, self.op.discard)


class AskedInput(QueuedInput[T]):
    """A source that ``step`` asks for what is wanted, and for nothing ahead. What it sends waits in the queue."""

    __slots__ = ("unasked",)

    #: It cannot be asked: it sends what it has.
    unasked: bool

    def __init__(self, op: Op[Any]) -> None:
        super().__init__(op, UNBOUNDED)
        self.unasked = False

    def open(self, source: Any) -> None:
        self.unasked = not takes_requests(source)
        super().open(source)

    def subscribed(self, up: Subscription) -> None:
        if self.unasked:
            up.request(UNBOUNDED)
        else:
            self.op.drain()

    def took(self) -> None:
        pass


class RelayedInput(Input[T]):
    """The sole source that can signal just now. Its items need no gate and no queue: they are counted here, and taken from the
    operator's account of demand when the source is over (:meth:`settle`)."""

    __slots__ = ("asked", "count", "emit")

    #: Whether an item came that is not wanted yet, see :class:`GatedInput`.
    waits: ClassVar[bool] = False
    #: How many items came; only the source's thread writes it.
    count: int
    #: The operator's demand as far as the source was asked for it.
    asked: int
    #: Downstream's ``on_next``.
    emit: Any

    def __init__(self, op: Op[Any]) -> None:
        self.op = op
        self.up = None
        self.error = None
        self.done = False
        self.closed = False
        self.count = 0
        self.asked = 0
        self.emit = op.emit

    def subscribed(self, up: Subscription) -> None:
        self.op.drain()

    def on_next(self, item: T, /) -> None:
        self.count += 1
        emit = self.emit
        try:
            emit(item)
        except BaseException:
            self.op.cancel()  # RS 2.13
            raise

    def ask(self, demand: int) -> None:
        """For ``step``: what is wanted by now, settled or not."""
        more = demand - self.asked
        if more and self.up is not None and not self.done:
            self.asked = demand
            if demand == UNBOUNDED and self.op.settled:
                self.op.later.append((request_all, self.up))
            else:
                self.op.later.append((self.up.request, UNBOUNDED if demand == UNBOUNDED else more))

    def settle(self, demand: int) -> int:
        """What is left of ``demand`` after the items that this source gave. Once, when it is over."""
        return demand if demand == UNBOUNDED else demand - self.count

    def take(self, demand: int) -> int:
        """For ``step``: emit what waits. Nothing ever does, see :class:`GatedInput`."""
        return demand

    def close(self) -> None:
        self.emit = self.op.discard
        super().close()


class DirectInput(RelayedInput[T], LeadsToCallbacks):
    """The same where everything is wanted for good (``op.settled``): nothing is counted, and ``on_next`` is downstream's."""

    __slots__ = ("on_next",)

    on_next: Callable[[T], object]  # type: ignore[assignment]  # of downstream, in place of a method

    def __init__(self, op: Op[Any]) -> None:
        super().__init__(op)
        self.on_next = op.emit

    def callbacks(self) -> CallbackObserver[Any] | None:
        callbacks = callbacks_behind(self.op.down)
        return callbacks if callbacks is not None and self.emit == callbacks.on_next else None  # the operator may emit otherwise

    def close(self) -> None:
        self.on_next = self.op.discard
        super().close()


class Trigger(Input[Any]):
    """A source whose first signal is all that counts: an item or its completion sets ``done``, an error ``error`` as well."""

    __slots__ = ()

    def subscribed(self, up: Subscription) -> None:
        up.request(UNBOUNDED)

    def on_next(self, _item: object, /) -> None:
        if not self.done and not self.closed:
            self.stop()
            self.on_complete()

    def on_error(self, error: Exception, /) -> None:
        if self.done or self.closed:
            _hooks.dropped_late(error, self.op.origin)
            return
        self.error = error
        self.on_complete()

"""Broadcast: one run of a source for several subscribers, as fast as the slowest of them requests (publish, share).

It is an Op whose subscriber is the group: the token carries what *all* of them want, and one gate puts their signals in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rx_core import _hooks
from rx_core._demand import UNBOUNDED
from rx_core._observers import CallbackObserver, callbacks_behind
from rx_core.streams.contracts import ignore
from rx_core.streams.gated_inputs import MergedInput
from rx_core.streams.hub import End, tell_each
from rx_core.streams.inputs import Input
from rx_core.streams.members import Member
from rx_core.streams.op import Op

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber
    from rx_core.streams.contracts import Listening

T = TypeVar("T")

_ABSENT = object()


class Receiver(Member[T]):
    """One subscriber of a broadcast."""

    __slots__ = ("callbacks", "emit_unguarded")

    #: The callbacks that get its items, if they do, and their function, else ``emit``: see Op.emit_unguarded.
    callbacks: CallbackObserver[T] | None
    emit_unguarded: Callable[[Any], object]

    def __init__(self, op: Broadcast[T], down: Subscriber[T], demand: int) -> None:
        super().__init__(op, down, demand)
        self.callbacks = callbacks = callbacks_behind(down)
        self.emit_unguarded = (callbacks and callbacks.function) or self.emit

    def let_go(self) -> Any:
        self.emit_unguarded = ignore
        return super().let_go()

    @property
    def up(self) -> Broadcast[T]:
        broadcast: Broadcast[T] = self.op
        return broadcast

    def failed(self, error: Exception) -> None:
        """It raised, which counts as a cancel (RS 2.13); the others are not to suffer for it."""
        self.cancel()
        _hooks.dropped(error, self.op.origin)

    def unguarded_raised(self, error: BaseException) -> None:
        """``emit_unguarded`` raised ``error``. What is no Exception is raised again, and ends the broadcast."""
        if self.callbacks is not None:
            self.callbacks.callback_failed(error)
        elif isinstance(error, Exception):
            self.failed(error)
        else:
            raise error


class Receivers(Generic[T]):
    """The subscribers of a broadcast as one subscriber."""

    __slots__ = ("end", "members", "now", "origin")

    #: In order of arrival. Any: what is done to it is one step each.
    members: Any
    #: The members at the broadcast's last look.
    now: tuple[Receiver[T], ...]
    end: End | None
    origin: object

    def __init__(self, origin: object) -> None:
        self.members = {}
        self.now = ()
        self.end = None
        self.origin = origin

    def on_next(self, item: T, /) -> None:
        for receiver in self.now:
            emit = receiver.emit
            try:
                emit(item)
            except Exception as error:
                receiver.failed(error)

    def on_error(self, error: Exception, /) -> None:
        self.finish(End(error))

    def on_complete(self) -> None:
        self.finish(End(None))

    def finish(self, end: End) -> None:
        self.end = end  # published before the members are looked at: see add
        tell_each(partial(self.tell, end), iter(list(self.members)))

    def drop(self) -> None:
        """The run was disposed: nothing is signalled to those that are there. One that comes from here on gets the end."""
        if self.end is None:
            self.end = End(None)
            self.members.clear()

    def add(self, receiver: Receiver[T]) -> None:
        self.members[receiver] = None
        if receiver.stopped:
            self.members.pop(receiver, None)
        elif self.end is not None:
            self.tell(self.end, receiver)

    def tell(self, end: End, receiver: Receiver[T]) -> None:
        """The end, once: to be told by the thread that takes it out."""
        if self.members.pop(receiver, _ABSENT) is _ABSENT:
            return
        down = receiver.let_go()
        try:
            if end.error is None:
                down.on_complete()
            else:
                down.on_error(end.error)
        except Exception as error:
            _hooks.dropped(error, self.origin)


class Broadcast(Op[T]):
    """The Op behind ``publish()``. Its source is subscribed by :meth:`connect`; while there is no subscriber it waits.

    ``lossy``: the source cannot be asked to wait, so that items that come while there is no subscriber are lost. ``hurries``: an
    error of the source overtakes items that wait.
    """

    __slots__ = ("granted", "hurries", "input", "lossy", "receivers")

    receivers: Receivers[T]
    #: What all wanted at the last look. The token carries what is left of it.
    granted: int
    input: BroadcastInput[T]
    lossy: bool
    hurries: bool

    def __init__(self, window: int, lossy: bool, origin: object, hurries: bool = False) -> None:
        receivers: Receivers[T] = Receivers(origin)
        super().__init__(receivers, origin)  # type: ignore[arg-type]  # it is never given a Subscription
        self.receivers = receivers
        self.granted = 0
        self.lossy = lossy
        self.hurries = hurries
        self.input = BroadcastInput(self, window)
        self.token.append(0)

    def connect(self, source: Any) -> None:
        """Subscribe to ``source``, once."""
        self.input.open(source)

    def subscribe(self, down: Subscriber[T], /) -> None:
        receiver = Receiver(self, down, UNBOUNDED if self.lossy else 0)
        down.on_subscribe(receiver)
        self.receivers.add(receiver)
        self.drain()

    def leave(self, receiver: Receiver[T]) -> None:
        self.receivers.members.pop(receiver, None)
        self.drain()  # it may have been the slowest

    # -- the holder of the token ----------------------------------------

    def look(self, demand: int) -> int:
        receivers = self.receivers
        sent = self.granted - demand
        if sent:
            for receiver in receivers.now:
                if receiver.demand is not UNBOUNDED:
                    receiver.demand -= sent
        self.granted = 0
        if self.stopped:
            self.close()
            receivers.drop()
            return 0
        receivers.now = now = (*list(receivers.members),)  # copied in one step
        wanted = UNBOUNDED if now or self.lossy else 0
        for receiver in now:
            error = receiver.collect()
            if error is not None:
                receivers.tell(End(error), receiver)
                self.dirty = True
                wanted = 0
            elif receiver.demand < wanted:
                wanted = receiver.demand
        self.granted = wanted
        return self.step(wanted)

    def step(self, demand: int) -> int:
        source = self.input
        while not self.stopped:
            done = source.done  # before the queue: what came before the end is in it
            overtaken = self.hurries and done and source.error is not None and self.receivers.now
            if source.queue and not overtaken:
                if not demand or self.dirty:
                    break
                item = source.queue.popleft()
                source.took()
                if demand is not UNBOUNDED:
                    demand -= 1
                self.emit(item)
            elif done:
                self.granted = 0
                return self.finish(source.error)
            else:
                break
        return demand

    def listening(self) -> Iterable[Listening]:
        return (self.input,)

    def close(self) -> None:
        self.input.close()
        self.receivers.now = ()


class BroadcastInput(MergedInput[T]):
    """The source of a broadcast: straight to all subscribers when all of them want the item, else through the queue."""

    __slots__ = ()

    def on_next(self, item: T, /) -> None:  # as a merge's, with the loop over the subscribers inside: a call less for each item
        op = self.op
        token = op.token
        if not token:
            self.wait(item)
            return
        try:
            demand = token.pop()
        except IndexError:
            self.wait(item)
            return
        if not demand or self.queue or op.dirty:  # when it is closed nothing is wanted any more
            if demand or op.dirty:
                token.append(demand)
                self.wait(item)
                return
            self.keep(item)  # as MergedInput.on_next
            token.append(0)
            if op.dirty:
                op.drain()
            return
        for receiver in op.receivers.now:
            emit = receiver.emit_unguarded
            try:
                emit(item)
            except BaseException as error:
                try:
                    receiver.unguarded_raised(error)
                except BaseException:
                    op.abandon_token()
                    raise
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

    def keep(self, item: T) -> None:
        if not self.closed:
            self.put(item)

    def on_error(self, error: Exception, /) -> None:
        Input.on_error(self, error)

    def on_complete(self) -> None:
        Input.on_complete(self)

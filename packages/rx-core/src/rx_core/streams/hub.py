"""Hub: the subscribers of a hot source, which signals serially and waits for none of them (processors and subjects).

A hub is told what to signal; each subscriber has an Op of its own, and with it its own gate and account of demand. So a slow
subscriber holds up no other one, and an item that is sent from inside an ``on_next`` comes after it and not inside it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from operator import length_hint
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rx_core import _hooks
from rx_core._demand import UNBOUNDED
from rx_core._errors import EXHAUSTION, MissingBackpressureError, ProtocolViolationError, none_argument
from rx_core.gate import LOOK_FIRST
from rx_core.streams.op import Op

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber, Subscription

T = TypeVar("T")


class End:
    """What comes behind the last item."""

    __slots__ = ("error",)

    error: Exception | None

    def __init__(self, error: Exception | None) -> None:
        self.error = error


class HubSubscription(Op[T]):
    """One subscriber of a hub. It leaves the hub as soon as it cancels, whatever thread signals to it just then."""

    __slots__ = ("hub",)
    waits_for = "an item to be sent to it"

    hub: Any

    def __init__(self, hub: Hub[T], down: Subscriber[T]) -> None:
        super().__init__(down, hub)
        self.hub = hub
        if not hub.asked:
            self.requests.append(UNBOUNDED)  # an observer takes what comes

    def open(self) -> None:
        """The subscriber joins the hub behind those that came while it was given its Subscription, as in RxJava."""
        hub = self.hub
        hub.join(self)  # publish first, look afterwards: cancel() does the same
        if self.stopped:
            hub.leave(self)

    @property
    def has_room(self) -> bool:
        """Whether an item that comes now can be delivered at once. False while one is on its way to the subscriber."""
        held = self.token[-1:]  # in one step
        return bool(held) and held[0] > 0

    def unrequested(self) -> int:
        """An item came that the subscriber had not requested."""
        return self.finish(MissingBackpressureError(f"{self.hub!r} sent an item that a subscriber had not requested"))

    def cancel(self) -> None:
        self.stopped = True
        self.hub.leave(self)
        self.drain()

    def close(self) -> None:
        self.hub.leave(self)


class Hub(Generic[T]):
    """The subscribers of a hot source, and its end. ``asked``: whether they request, as those of an Observable do not."""

    __slots__ = ("asked", "end", "name", "source", "subscribers")

    name: str
    asked: bool
    #: In order of arrival. Any: what is done to it is one step each.
    subscribers: Any
    end: End | None
    #: The Subscription of the stream that feeds it, at key 0, where one does.
    source: dict[int, Subscription]

    def __init__(self, name: str, *, asked: bool) -> None:
        self.name = name
        self.asked = asked
        self.subscribers = {}
        self.end = None
        self.source = {}

    def subscribe(self, down: Subscriber[T], /) -> None:
        raise NotImplementedError

    def join(self, subscription: HubSubscription[T]) -> None:
        self.subscribers[subscription] = None

    def leave(self, subscription: HubSubscription[T]) -> None:
        self.subscribers.pop(subscription, None)

    @property
    def has_subscribers(self) -> bool:
        return bool(self.subscribers)

    # -- the party that feeds it, serially (RS 1.3) ----------------------------------------

    def on_subscribe(self, subscription: Subscription, /) -> None:
        """Take everything from ``subscription``; after the end, or when there is one, cancel it (RS 2.5, 2.12)."""
        if self.is_over:
            subscription.cancel()
        elif self.source.setdefault(0, subscription) is subscription:
            subscription.request(UNBOUNDED)
        else:
            subscription.cancel()
            _hooks.dropped(ProtocolViolationError("RS 2.12: on_subscribe was called a second time for one subscriber"), self)

    def on_next(self, item: T, /) -> None:
        raise NotImplementedError

    def offer(self, item: T) -> bool:
        """Send ``item`` if all subscribers can take it now."""
        if not all(subscription.has_room for subscription in list(self.subscribers)):
            return False
        self.on_next(item)
        return True

    def on_error(self, error: Exception, /) -> None:
        if self.end is not None:
            _hooks.dropped(error, self)
            return
        self.finish(End(error))

    def on_complete(self) -> None:
        if self.end is None:
            self.finish(End(None))

    def refused(self, error: TypeError) -> TypeError:
        """For a None (RS 2.13): a party that feeds it by hand sees ``error`` and may go on; a stream that feeds it is over."""
        if self.stop_source():
            self.on_error(error)
        return error

    def stop_source(self) -> bool:
        """Cancel the stream that feeds it. False: there is none that runs."""
        source = self.source.get(0)
        if source is None or self.is_over:
            return False
        source.cancel()
        return True

    def finish(self, end: End) -> None:
        self.end = end
        self.source.clear()
        tell_each(self.settle, iter(list(self.subscribers)))

    def settle(self, subscription: HubSubscription[T]) -> None:
        """Have a subscriber look at what was published. What it raises is not for the party that feeds the hub (RS 2.13)."""
        try:
            subscription.drain()
        except Exception as error:
            _hooks.dropped(error, self)

    def raised(self, subscription: HubSubscription[T], error: Exception) -> None:
        """A subscriber raised ``error`` for an item: it has cancelled (RS 2.13), and that is nothing to the others and to the
        party that feeds the hub. One whose stack or memory was used up has not: it is told now, see ``Op.exhausted``."""
        if isinstance(error, EXHAUSTION):
            self.settle(subscription)
        else:
            _hooks.dropped(error, self)

    @property
    def is_over(self) -> bool:
        """Whether what it is fed reaches no subscriber, now or later."""
        return self.end is not None

    def __repr__(self) -> str:
        return f"{self.name}()"


def tell_each(tell: Callable[[Any], object], subscribers: Iterator[Any]) -> None:
    """Tell all of them, also where one raises what is no Exception (Ctrl-C), which goes on to the caller afterwards."""
    try:
        for subscriber in subscribers:
            tell(subscriber)
    except BaseException:
        tell_each(tell, subscribers)
        raise


class PublishSubscription(HubSubscription[T]):
    """A subscriber that gets items as they come, or an error for one that it has not requested."""

    __slots__ = ("waiting",)

    #: Items, and perhaps the end behind them, that came while it was busy: sent from inside its own ``on_next``, or while
    #: another thread held the token.
    waiting: deque[Any]

    def __init__(self, hub: PublishHub[T], down: Subscriber[T]) -> None:
        super().__init__(hub, down)
        self.waiting = deque()

    def open(self) -> None:
        super().open()
        if self.hub.end is not None:  # look afterwards: the end publishes first, too
            self.put(self.hub.end)

    @property
    def has_room(self) -> bool:
        return not self.waiting and super().has_room

    def deliver(self, item: Any) -> None:
        """An item has come: deliver it at once if it is wanted and none waits. :meth:`PublishHub.on_next` does the same."""
        token = self.token
        if token or not LOOK_FIRST:
            try:
                demand = token.pop()
            except IndexError:
                pass
            else:
                if demand and not self.dirty:  # then nothing waits
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
                        return
                    token.append(demand if demand is UNBOUNDED else demand - 1)
                    if self.dirty:
                        self.drain()  # type: ignore[unreachable]  # set meanwhile
                    return
                token.append(demand)
        self.put(item)
        self.drain()

    def put(self, item: Any) -> None:
        """Let an item, or the End, wait for its turn."""
        if not self.stopped:
            self.waiting.append(item)
            self.dirty = True

    def step(self, demand: int) -> int:
        waiting = self.waiting
        while waiting and not self.stopped:
            item = waiting[0]
            if type(item) is End:
                return self.finish(item.error)
            if not demand:
                if self.requests:
                    return 0  # and back: the party that requested raises dirty
                return self.unrequested()
            waiting.popleft()
            if demand is not UNBOUNDED:
                demand -= 1
            self.emit(item)
        return 0 if self.stopped else demand

    def close(self) -> None:
        super().close()
        self.waiting.clear()


class PublishHub(Hub[T]):
    """Keeps nothing: an item goes to the subscribers that are there. With one, the usual case, it takes one call on its way."""

    __slots__ = ("item", "now", "only", "rest", "stale")

    #: The only subscriber, as long as it is the only one and there is no end.
    only: PublishSubscription[T] | None
    #: The subscribers as the feeding party saw them last, and whether one has come or gone since.
    now: tuple[PublishSubscription[T], ...]
    stale: bool
    #: The subscribers that still have to get the item that is being sent to several, and that item.
    rest: Iterator[PublishSubscription[T]]
    item: Any

    def __init__(self, name: str, *, asked: bool) -> None:
        super().__init__(name, asked=asked)
        self.only = None
        self.now = ()
        self.stale = False
        self.rest = iter(())
        self.item = None

    def subscribe(self, down: Subscriber[T], /) -> None:
        """Start ``down`` with the next item, or the end."""
        PublishSubscription(self, down).start()

    def join(self, subscription: HubSubscription[T]) -> None:
        super().join(subscription)
        self.changed()

    def leave(self, subscription: HubSubscription[T]) -> None:
        super().leave(subscription)
        self.changed()

    def changed(self) -> None:
        self.now = ()
        self.stale = True
        self.only = None  # last: on_next looks at this alone, and `look` writes it before it looks at the flag

    def look(self) -> tuple[PublishSubscription[T], ...]:
        while True:
            self.stale = False
            self.now = now = (*list(self.subscribers),)  # copied in one step
            self.only = now[0] if len(now) == 1 else None
            if not self.stale:  # else what `changed` wrote meanwhile may be overwritten
                return now

    # -- the party that feeds it ----------------------------------------

    def on_next(self, item: T, /) -> None:
        if item is None:
            raise self.refused(none_argument("on_next(None)", "item"))
        only = self.only
        if only is None:
            self.send(item)
            return
        # As PublishSubscription.deliver, written out: calls are what most of the way to a subscriber is made of.
        token = only.token
        try:
            demand = token.pop()
        except IndexError:  # sent from inside its on_next, or another thread is at work
            self.send(item)
            return
        if not demand or only.dirty:
            token.append(demand)
            self.send(item)
            return
        emit: Callable[[Any], object] = only.emit_unguarded
        try:
            emit(item)
        except BaseException as error:
            try:
                told = only.unguarded_raised(error)
            finally:
                token += (0,)
            if told:
                self.settle(only)
            elif isinstance(error, Exception):
                self.raised(only, error)
            else:
                raise
            return
        token.append(demand if demand is UNBOUNDED else demand - 1)
        if only.dirty:
            self.settle(only)  # type: ignore[unreachable]  # set meanwhile

    def send(self, item: T) -> None:
        """Send ``item`` to all that are there now."""
        if self.end is not None:
            return
        if self.item is not None:
            self.catch_up()
        now = self.now
        if self.stale or not now:  # in this order: another thread may be about to raise it
            now = self.look()
        rest = self.rest = iter(now)
        self.item = item
        try:
            for subscription in rest:
                try:
                    subscription.deliver(item)
                except Exception as error:
                    self.raised(subscription, error)
        except BaseException:
            for subscription in rest:
                subscription.put(item)
            raise
        finally:
            self.item = None

    def catch_up(self) -> None:
        """What is signalled from inside an on_next comes, for each of the others, after the item that is being sent."""
        for subscription in self.rest:
            subscription.put(self.item)  # and no more: theirs may be the next on_next that sends something

    def offer(self, item: T) -> bool:
        return not length_hint(self.rest) and super().offer(item)  # some may still have to get another item

    def finish(self, end: End) -> None:
        self.catch_up()
        self.end = end  # published before the subscribers are looked at: see subscribe
        self.only = None
        for subscription in list(self.subscribers):
            subscription.put(end)
        self.now = ()
        super().finish(end)

"""Between a publisher that pushes and a subscriber, without stages: signals passed on, those of a foreign one checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rx_core import SettlesDemand, after_answer, dropped_late, none_produced, request_all
from rx_core.queue_fusion import NONE, ask
from rx_core.streams import LOOK_FIRST, NULL_SUBSCRIBER, Border, NullSubscriber, ignore

if TYPE_CHECKING:
    from collections.abc import Callable

    from rx_core import Subscriber, Subscription

T = TypeVar("T")


class Relay(SettlesDemand, Generic[T]):
    """The wall that ``hide()`` puts behind a source of ours. That keeps to the protocol, and answers a wrong request itself."""

    __slots__ = ("done", "down", "origin", "up")

    def __init__(self, down: Subscriber[T], origin: object) -> None:
        self.down: Any = down
        self.up: Any = None
        self.done = False
        self.origin = origin

    def on_subscribe(self, subscription: Subscription, /) -> None:
        if self.up is not None:
            subscription.cancel()  # RS 2.5
            return
        self.up = subscription
        self.down.on_subscribe(self)

    def on_next(self, item: T, /) -> None:
        if self.done:
            return
        try:
            self.down.on_next(item)
        except BaseException:
            self.cancel()  # RS 2.13: who raises is gone, also for a publisher that goes on
            raise

    def on_error(self, error: Exception, /) -> None:
        if self.done:
            dropped_late(error, self.origin)
            return
        self.done = True
        self.let_go().on_error(error)

    def on_complete(self) -> None:
        if not self.done:
            self.done = True
            self.let_go().on_complete()

    def let_go(self) -> Any:
        """The subscriber, for its end. It refers to this as well, and each of many rounds would leave such a circle."""
        down, self.down = self.down, NULL_SUBSCRIBER
        return down

    def request(self, n: int, /) -> None:
        if not self.done:
            self.up.request(n)

    def request_all(self) -> None:
        if not self.done:
            request_all(self.up)

    def after_answer(self, then: Callable[[], object], /) -> None:
        after_answer(self.up, then)

    def cancel(self) -> None:
        done = self.done
        self.done = True
        self.down = NULL_SUBSCRIBER  # RS 3.13
        if not done and self.up is not None:
            self.up.cancel()


class Checked(Border[T]):
    """The same behind a foreign source. That may send what its subscriber has not requested: the operator behind says what
    becomes of it.

    A None raises TypeError at who signals it, and is the error of the stream as well (RS 2.13).
    """

    __slots__ = ()

    #: A mode was granted: None says that there is something to poll.
    polled: bool = False
    #: What becomes of an item that comes when nothing is taken any more, see do_on_discard.
    late_item: Callable[[Any], object] = staticmethod(ignore)

    def on_next(self, item: T, /) -> None:
        if item is None and not self.polled:
            raise self.refuse(none_produced(repr(self.origin)))
        before = self.busy
        self.busy = True
        if not LOOK_FIRST:
            self.fence()
        if self.done:
            self.late_item(item)
            self.leave(before)
            return
        try:
            self.down.on_next(item)
        except BaseException:
            self.cancel()  # as above
            self.busy = before
            raise
        self.busy = before
        if self.wrong is not None and not before:
            self.answer()


class Thrown(NullSubscriber):
    """Takes the place of a subscriber that has left, in front of ``do_on_discard``."""

    __slots__ = ("discard",)

    def __init__(self, discard: Callable[[Any], object]) -> None:
        self.discard = discard

    def on_next(self, item: Any, /) -> None:
        self.discard(item)


class Kept(Checked[T]):
    """The same in front of ``do_on_discard``."""

    __slots__ = ("gone", "late_item")

    def __init__(self, down: Subscriber[T], origin: object, discard: Callable[[Any], object]) -> None:
        self.gone = Thrown(discard)  # type: ignore[misc]  # a slot in place of what the class has
        self.late_item = discard
        super().__init__(down, origin)


class Link(Checked[T]):
    """The same without a wall: a source that can be polled can be polled through it. Nothing of ours runs in a poll, so threads
    are the source's business."""

    __slots__ = ("polled",)

    def __init__(self, down: Subscriber[T], origin: object) -> None:
        super().__init__(down, origin)
        self.polled = False

    def rx_serves(self, consumer: object, /) -> bool:
        return consumer is self.down

    def request_fusion(self, mode: int, /) -> int:
        if self.polled:
            return NONE
        granted = ask(self.up, self, mode)
        self.polled = granted != NONE
        return granted

    def poll(self) -> Any:
        return self.up.poll()

    def poll_many(self, n: int, /) -> list[Any]:
        batch: list[Any] = self.up.poll_many(n)
        return batch

    def is_empty(self) -> bool:
        return bool(self.up.is_empty())

    def clear(self) -> None:
        self.up.clear()

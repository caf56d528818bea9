"""What looks on between two parties of the protocol: a subscription, requests, a cancel, an item that was taken.

Written by hand: a run does not see how much is requested of it, nor the moment in which its subscriber returns from ``on_next``.
So each of these is a wall, and what stands before and behind it meets through the protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

from rx_core import (
    Disposable,
    FlowableBase,
    ObservableBase,
    ObservableSource,
    Observer,
    Publisher,
    Subscriber,
    Subscription,
    dropped,
    name_of,
    user_call,
)

T = TypeVar("T")


class Beside(FlowableBase[T], Generic[T]):
    """``source`` with a listener of the kind ``listens`` at each subscription."""

    __slots__ = ("_action", "_listens", "_source")

    def __init__(self, source: Publisher[T], listens: type[Listener[T]], action: Callable[..., object]) -> None:
        self._source, self._listens, self._action = source, listens, action

    def subscribe_actual(self, subscriber: Subscriber[T], /) -> None:
        self._source.subscribe(self._listens(subscriber, self._action))


class BesideObservable(ObservableBase[T], Generic[T]):
    """The same for an observable."""

    __slots__ = ("_action", "_listens", "_source")

    def __init__(self, source: ObservableSource[T], listens: type[Listener[T]], action: Callable[..., object]) -> None:
        self._source, self._listens, self._action = source, listens, action

    def subscribe_actual(self, observer: Observer[T], /) -> None:
        self._source.subscribe(self._listens(observer, self._action))


def beside(source: Any, listens: type[Listener[Any]], action: Callable[..., object]) -> Any:
    """``source`` with a listener, as what it is."""
    return (BesideObservable if isinstance(source, ObservableBase) else Beside)(source, listens, action)


class Listener(Generic[T]):
    """Hands everything on, in both directions."""

    __slots__ = ("_action", "_down", "_over", "_up")

    #: The operator, for notes and reports.
    name: ClassVar[str]

    def __init__(self, down: Subscriber[T] | Observer[T], action: Callable[..., object]) -> None:
        down_: Any = down
        self._down, self._action = down_, action
        #: Nothing may be signalled any more.
        self._over = False
        self._up: Any

    def on_subscribe(self, subscription: Subscription | Disposable, /) -> None:
        self._up = subscription
        self._down.on_subscribe(self)

    def on_next(self, item: T, /) -> None:
        self._down.on_next(item)

    def on_error(self, error: Exception, /) -> None:
        if self._over:
            dropped(error, self)
            return
        self._over = True
        self._down.on_error(error)

    def on_complete(self) -> None:
        if not self._over:
            self._over = True
            self._down.on_complete()

    def request(self, n: int, /) -> None:
        request: Callable[[int], object] | None = getattr(self._up, "request", None)
        if request is not None:  # nothing is requested of an observable, whoever stands behind
            request(n)

    def cancel(self) -> None:
        """Of a subscriber."""
        self._leave()

    def dispose(self) -> None:
        """Of an observer, which means the same."""
        self.cancel()

    @property
    def is_disposed(self) -> bool:
        return bool(self._up.is_disposed)

    def _leave(self) -> None:
        up = self._up
        up.cancel() if hasattr(up, "cancel") else up.dispose()

    def __repr__(self) -> str:
        return f"{self.name}({name_of(self._action)})"


class OnSubscribe(Listener[T]):
    """Calls the action with the subscription, before downstream has it."""

    __slots__ = ()
    name = "do_on_subscribe"

    def on_subscribe(self, subscription: Subscription | Disposable, /) -> None:
        self._up = subscription
        try:
            user_call(self.name, self._action, subscription)
        except Exception as error:
            self._leave()  # before downstream can request anything
            self._down.on_subscribe(self)  # RS 1.9: before any other signal
            self.on_error(error)
        else:
            self._down.on_subscribe(self)


class OnRequest(Listener[T]):
    """Calls the action with each number that is requested, before upstream has it."""

    __slots__ = ()
    name = "do_on_request"

    def request(self, n: int, /) -> None:
        try:
            user_call(self.name, self._action, n)
        except Exception as error:  # RS 3.16: request must not raise, and the stream is not what failed
            dropped(error, self)
        self._up.request(n)


class OnCancel(Listener[T]):
    """Calls the action before the cancel goes upstream: once, and not when the stream is over."""

    __slots__ = ("_first",)
    name = "do_on_cancel"

    def __init__(self, down: Subscriber[T] | Observer[T], action: Callable[..., object]) -> None:
        super().__init__(down, action)
        self._first = [True]

    def cancel(self) -> None:
        try:
            self._first.pop()  # atomic: exactly one of several that cancel at the same time
        except IndexError:
            return
        if not self._over:
            try:
                user_call(self.name, self._action)
            except Exception as error:  # RS 3.15: cancel must not raise
                dropped(error, self)
        self._leave()


class OnDispose(OnCancel[T]):
    """The same under the name that it has for an observable."""

    __slots__ = ()
    name = "do_on_dispose"


class AfterNext(Listener[T]):
    """Calls the action with each item when downstream has returned from it."""

    __slots__ = ("_left",)
    name = "do_after_next"

    def __init__(self, down: Subscriber[T] | Observer[T], action: Callable[..., object]) -> None:
        super().__init__(down, action)
        #: Downstream has cancelled: it is told nothing any more.
        self._left = False

    def on_next(self, item: T, /) -> None:
        if self._over:
            return
        self._down.on_next(item)
        try:
            user_call(self.name, self._action, item)
        except Exception as error:
            self._leave()
            if self._left:
                self._over = True
            self.on_error(error)

    def cancel(self) -> None:
        self._left = True
        self._leave()

"""Between two parties of the protocol: a subscription, requests, a cancel, an item that was taken, what is kept after the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rx_core import UNBOUNDED, dropped, dropped_late, user_call
from rx_core.streams import NO_SOURCE, PassThrough, Transparent
from rx_fusion import op
from rx_ops.operators._mapping import as_error

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription

T = TypeVar("T")


class _Listening(Transparent[T]):
    __slots__ = ("action",)

    #: The operator, for notes.
    name: ClassVar[str]

    def __init__(self, down: Subscriber[T], source: Publisher[T], action: Callable[..., object]) -> None:
        super().__init__(down, source)
        self.action = action


@op("do_on_subscribe")
class DoOnSubscribe(_Listening[T]):
    """Calls ``action`` with the subscription, before downstream has it."""

    __slots__ = ()
    name = "do_on_subscribe"

    def on_subscribe(self, up: Subscription, /) -> None:
        if self.up is not None:
            up.cancel()  # RS 2.5
            return
        self.up = up
        down = self.down
        try:
            user_call(self.name, self.action, self)
        except Exception as failure:
            self.cancel()  # before downstream can request anything
            down.on_subscribe(self)  # RS 1.9: before any other signal
            down.on_error(as_error(failure))
            return
        down.on_subscribe(self)


@op("do_on_request")
class DoOnRequest(_Listening[T]):
    """Calls ``action`` with each number that is requested, before upstream has it."""

    __slots__ = ()
    name = "do_on_request"

    def request(self, n: int, /) -> None:
        self.tell(n)
        super().request(n)

    def request_all(self) -> None:
        self.tell(UNBOUNDED)
        super().request_all()

    def tell(self, n: int) -> None:
        try:
            user_call(self.name, self.action, n)
        except Exception as failure:  # RS 3.16: request must not raise, and the stream is not what failed
            dropped(as_error(failure), self.origin)


@op("do_on_cancel")
class DoOnCancel(_Listening[T]):
    """Calls ``action`` before the cancel goes upstream: once, and not when the stream is over."""

    __slots__ = ("first",)
    name = "do_on_cancel"

    #: Holds one entry until a cancel takes it out.
    first: Any

    def __init__(self, down: Subscriber[T], source: Publisher[T], action: Callable[[], object]) -> None:
        super().__init__(down, source, action)
        self.first = [True]

    def cancel(self) -> None:
        if self.done:
            return
        try:
            self.first.pop()  # atomic: exactly one of several that cancel at the same time
        except IndexError:
            return
        try:
            user_call(self.name, self.action)
        except Exception as failure:  # RS 3.15: cancel must not raise
            dropped(as_error(failure), self.origin)
        super().cancel()


@op("do_on_dispose")
class DoOnDispose(DoOnCancel[T]):
    """The same under the name that it has for an observable."""

    __slots__ = ()
    name = "do_on_dispose"


@op("do_after_next")
class DoAfterNext(PassThrough[T]):
    """Calls ``action`` with each item when downstream has returned from it."""

    __slots__ = ("action",)

    def __init__(self, down: Subscriber[T], source: Publisher[T], action: Callable[[T], object]) -> None:
        super().__init__(down, source)
        self.action = action

    def on_next(self, item: T, /) -> None:
        if self.done:
            self.discard(item)
            return
        super().on_next(item)
        try:
            user_call("do_after_next", self.action, item)
        except Exception as failure:
            self.fail(as_error(failure))

    def fail(self, error: Exception) -> None:
        if self.done:  # downstream has left meanwhile
            dropped_late(error, self.origin)
            return
        down = self.down
        self.cancel()
        down.on_error(error)


class _Detached:
    """Takes the place of a source's Subscription."""

    __slots__ = ()

    def request(self, _n: int, /) -> None:
        pass

    def cancel(self) -> None:
        pass


_DETACHED: Final[Any] = _Detached()


@op("on_terminate_detach")
class OnTerminateDetach(Transparent[T]):
    """Keeps neither its subscriber nor its source from the end or a cancel on, whichever of them is kept elsewhere."""

    __slots__ = ()

    def let_go(self) -> Any:
        self.up = _DETACHED  # and not None: another thread may be about to request
        self.source = NO_SOURCE
        self.origin = None  # the pipeline has the source as well
        return super().let_go()

    def cancel(self) -> None:
        if not self.done:
            up = self.up
            super().cancel()
            if up is not None:
                up.cancel()

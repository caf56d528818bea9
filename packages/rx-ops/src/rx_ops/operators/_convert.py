"""From and to other reactive types: foreign ones, only the end, items that cannot be requested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import invalid_request
from rx_core.streams import OneAtATime, PassThrough, Transparent
from rx_fusion import op
from rx_ops.operators._loops import item_loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from rx_core import Publisher, Subscriber, Subscription

T = TypeVar("T")


@op("ignore_elements")
class IgnoreElements(PassThrough[T]):
    """Only the end of its source, which needs no demand: everything is asked for at once."""

    __slots__ = ()

    def __init__(self, down: Subscriber[T], source: Publisher[T]) -> None:
        super().__init__(down, source)

    def on_subscribe(self, up: Subscription, /) -> None:
        first = self.up is None
        super().on_subscribe(up)
        if first:
            super().request_all()

    def on_next(self, item: T, /) -> None:
        pass

    def request(self, n: int, /) -> None:
        if type(n) is not int or n < 1:
            super().request(n)  # the source answers it (RS 3.9)

    def request_all(self) -> None:
        pass

    def after_answer(self, then: Callable[[], object], /) -> None:
        then()  # it asks by itself


@op("to_flowable")
class ToFlowableMissing(Transparent[T]):
    """Items of an observable as they come, requested or not: for an operator that says what becomes of them."""

    __slots__ = ()

    def on_subscribe(self, up: Subscription, /) -> None:
        first = self.up is None
        super().on_subscribe(up)
        if first:
            super().request_all()

    def request(self, n: int, /) -> None:
        """It changes nothing; a wrong one ends the stream (RS 3.9)."""
        if not self.done and (type(n) is not int or n < 1):
            down = self.down
            self.cancel()
            down.on_error(invalid_request(n))

    def request_all(self) -> None:
        pass


@op("to_flowable", loop=item_loop)
class ToFlowableOne(OneAtATime[T]):
    """A Single or Maybe, of which nothing is requested: it is computed when it is subscribed, and its item waits."""

    __slots__ = ("source",)

    discards: ClassVar[bool] = True
    source: Any

    def __init__(self, down: Subscriber[T], source: Any) -> None:
        super().__init__(down)
        self.source = source

    def open(self) -> None:
        self.switch_to(self.source, 0)

    def source_ended(self, error: Exception | None, _demand: int) -> int:
        return self.finish(error)


@op("wrap")
class Wrap(Transparent[T]):
    """Nothing but its source, which may be foreign and of any type."""

    __slots__ = ()


@op("hide")
class Hide(Transparent[T]):
    """A wall: nothing but what the protocol says gets through."""

    __slots__ = ()

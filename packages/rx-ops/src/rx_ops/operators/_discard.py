"""What is thrown away: do_on_discard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import CallbackObserver
from rx_core.streams import PassThrough
from rx_fusion import Discarding, op
from rx_ops.operators._part import part_of

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber

T = TypeVar("T")


class Discarded(Discarding):
    """Of a group or a window that is thrown away before it was subscribed, its items."""

    __slots__ = ()

    def __call__(self, item: Any) -> None:
        part = part_of(item)
        if part is None:
            super().__call__(item)
        else:
            part.give_up()


@op("do_on_discard")
class DoOnDiscard(PassThrough[T]):
    """The end of what is covered. What comes when its subscriber has left was not delivered.

    Callbacks are called from here: an item is theirs, or it comes after they were disposed.
    """

    __slots__ = ("observer",)

    observer: CallbackObserver[T] | None

    def __init__(self, down: Subscriber[T], source: Publisher[T], discard: Discarded) -> None:
        super().__init__(down, source)
        self.discard = discard
        observer: Any = down
        self.observer = observer if type(observer) is CallbackObserver and observer.function is not None else None

    def on_next(self, item: T, /) -> None:
        observer = self.observer
        if observer is None:
            super().on_next(item)
        elif self.done or observer.is_disposed:
            self.discard(item)
        else:
            assert observer.function is not None
            try:
                observer.function(item)
            except BaseException as error:
                observer.callback_failed(error)

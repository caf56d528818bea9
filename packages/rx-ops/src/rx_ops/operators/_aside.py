"""What happens beside a stream at its end: do_on_error, do_finally."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import composite, dropped, user_call
from rx_core.streams import Transparent
from rx_fusion import op
from rx_ops.operators._mapping import as_error

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber

T = TypeVar("T")


@op("do_on_error")
class DoOnError(Transparent[T]):
    """Calls ``action`` with the error before it goes on."""

    __slots__ = ("action",)

    def __init__(self, down: Subscriber[T], source: Publisher[T], action: Callable[[Exception], object]) -> None:
        super().__init__(down, source)
        self.action = action

    def on_error(self, error: Exception, /) -> None:
        if not self.done:
            try:
                user_call("do_on_error", self.action, error)
            except Exception as second:
                error = composite([error, as_error(second)])
        super().on_error(error)


def _call(action: Callable[[], object]) -> None:
    user_call("do_finally", action)


@op("do_finally", unstarted=_call)
class DoFinally(Transparent[T]):
    """Calls ``action`` once, when the end was signalled or the cancel has gone upstream.

    So at the end the last of several comes first, and at a cancel the first.
    """

    __slots__ = ("actions",)

    #: Holds the action until it is called.
    actions: Any

    def __init__(self, down: Subscriber[T], source: Publisher[T], action: Callable[[], object]) -> None:
        super().__init__(down, source)
        self.actions = [action]

    def on_error(self, error: Exception, /) -> None:
        try:
            super().on_error(error)
        finally:
            self.act()

    def on_complete(self) -> None:
        try:
            super().on_complete()
        finally:
            self.act()

    def cancel(self) -> None:
        try:
            super().cancel()
        finally:
            self.act()

    def act(self) -> None:
        try:
            action = self.actions.pop()  # atomic: an end and a cancel may come at the same time
        except IndexError:
            return
        try:
            user_call("do_finally", action)
        except Exception as error:  # the end was signalled
            dropped(as_error(error), self.origin)

"""What happens beside a stream at its signals and behind its end: do_on_error, do_on_terminate, do_on_each, do_finally."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import composite, dropped, dropped_late, user_call
from rx_core.streams import PassThrough, Transparent
from rx_fusion import op
from rx_ops._notification import Notification, OnComplete, OnError, OnNext
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


@op("do_on_terminate")
class DoOnTerminate(Transparent[T]):
    """Calls ``action`` before the end goes on: once, also where it fails. ``of_one``: an item is the end."""

    __slots__ = ("action", "called")

    #: The item of a Single or Maybe has called it.
    called: bool

    def __init__(self, down: Subscriber[T], source: Publisher[T], action: Callable[[], object], of_one: bool = False) -> None:
        super().__init__(down, source)
        self.action = action
        self.called = False
        if of_one:
            self.on_next = self.end_with

    def end_with(self, item: T, /) -> None:
        if self.done:
            return
        try:
            failure = self.act()
        except BaseException:
            self.cancel()
            raise
        if failure is None:
            self.guarded(item)
            return
        if self.done:  # the action has disposed this
            dropped_late(failure, self.origin)  # type: ignore[unreachable]  # set meanwhile
            return
        down = self.down
        self.cancel()
        down.on_error(failure)

    def on_error(self, error: Exception, /) -> None:
        if not self.done:
            failure = self.act()
            if failure is not None:
                error = composite([error, failure])
        super().on_error(error)

    def on_complete(self) -> None:
        failure = None if self.done else self.act()
        if failure is None:
            super().on_complete()
        else:
            super().on_error(failure)

    def act(self) -> Exception | None:
        """What the action failed with."""
        if self.called:
            return None
        self.called = True
        try:
            user_call("do_on_terminate", self.action)
        except Exception as failure:
            return as_error(failure)
        return None


@op("do_after_terminate")
class DoAfterTerminate(Transparent[T]):
    """Calls ``action`` when the end was signalled. A cancel is no end."""

    __slots__ = ("action",)

    def __init__(self, down: Subscriber[T], source: Publisher[T], action: Callable[[], object]) -> None:
        super().__init__(down, source)
        self.action = action

    def on_error(self, error: Exception, /) -> None:
        ended = not self.done
        try:
            super().on_error(error)
        finally:
            if ended:
                self.act()

    def on_complete(self) -> None:
        ended = not self.done
        try:
            super().on_complete()
        finally:
            if ended:
                self.act()

    def act(self) -> None:
        try:
            user_call("do_after_terminate", self.action)
        except Exception as failure:  # the end was signalled
            dropped(as_error(failure), self.origin)


@op("do_after_success")
class DoAfterSuccess(Transparent[T]):
    """Calls ``action`` with the item of a Single or Maybe when it was signalled, which it is with the end."""

    __slots__ = ("action", "items")

    #: The item, until the end.
    items: list[T]

    def __init__(self, down: Subscriber[T], source: Publisher[T], action: Callable[[T], object]) -> None:
        super().__init__(down, source)
        self.action = action
        self.items = []
        self.on_next = self.keep

    def keep(self, item: T, /) -> None:
        if not self.done:
            self.items.append(item)
            self.guarded(item)

    def on_complete(self) -> None:
        ended = not self.done
        try:
            super().on_complete()
        finally:
            if ended and self.items:
                self.act(self.items.pop())

    def act(self, item: T) -> None:
        try:
            user_call("do_after_success", self.action, item)
        except Exception as failure:  # the item was signalled
            dropped(as_error(failure), self.origin)


@op("do_on_each")
class DoOnEach(PassThrough[T]):
    """Calls ``action`` with each signal before it goes on. What it raises is the next signal, so it is told of that as well."""

    __slots__ = ("action",)

    def __init__(self, down: Subscriber[T], source: Publisher[T], action: Callable[[Notification[T]], object]) -> None:
        super().__init__(down, source)
        self.action = action

    def on_next(self, item: T, /) -> None:
        if self.done:
            self.discard(item)
            return
        try:
            failure = self.told(OnNext(item))
        except BaseException:
            self.cancel()
            raise
        if failure is None:
            super().on_next(item)
        else:
            self.discard(item)
            self.up.cancel()
            self.on_error(failure)

    def on_error(self, error: Exception, /) -> None:
        if not self.done:
            failure = self.told(OnError(error))
            if failure is not None:
                error = composite([error, failure])
        super().on_error(error)

    def on_complete(self) -> None:
        failure = None if self.done else self.told(OnComplete())
        if failure is None:
            super().on_complete()
        else:
            self.on_error(failure)

    def told(self, signal: Notification[T]) -> Exception | None:
        """What the action failed with."""
        try:
            user_call("do_on_each", self.action, signal)
        except Exception as failure:
            return as_error(failure)
        return None


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

"""What is around a stream: a resource for each run, and its signals as items."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import composite, dropped, dropped_late, user_call
from rx_core.streams import NO_SOURCE, Failing, RelayedInput, Transparent
from rx_fusion import op
from rx_ops._notification import Notification, OnComplete, OnError, OnNext
from rx_ops.operators._errors import LastItem
from rx_ops.operators._mapping import as_error, not_a_source, not_one

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber

T = TypeVar("T")


@op("using")
class Using(Transparent[T]):
    """The stream that ``factory`` makes of a resource, which is given back once, whatever happens.

    ``eager`` says when: before the end is signalled, or after it; and before the cancel goes upstream, or after that.
    """

    __slots__ = ("cleanup", "cleanups", "eager", "factory", "kind", "supplier")

    #: Holds the call that gives the resource back, while there is one.
    cleanups: Any

    def __init__(
        self,
        down: Subscriber[T],
        supplier: Callable[[], Any],
        factory: Callable[[Any], Publisher[T]],
        cleanup: Callable[[Any], object],
        eager: bool,
        kind: str = "",
    ) -> None:
        super().__init__(down, NO_SOURCE)
        self.supplier = supplier
        self.factory = factory
        self.cleanup = cleanup
        self.eager = eager
        #: "Single" or "Maybe" where ``factory`` has to make one.
        self.kind = kind
        self.cleanups = []

    def start(self) -> bool:
        try:
            self.source = self.made()
        except Exception as raised:
            return Failing(self.down, self.cleaned_after(as_error(raised)), self.origin).start()
        except BaseException:
            self.clean()
            raise
        return super().start()

    def made(self) -> Publisher[T]:
        resource = user_call("using", self.supplier)
        self.cleanups.append((self.cleanup, resource))
        source = user_call("using", self.factory, resource)
        failure = not_a_source("using", self.factory, source) or not_one("using", self.factory, source, self.kind)
        if failure is not None:
            raise failure
        return source

    def on_error(self, error: Exception, /) -> None:
        if self.done:
            dropped_late(error, self.origin)
        elif self.eager:
            super().on_error(self.cleaned_after(error))
        else:
            try:
                super().on_error(error)
            finally:
                self.clean()

    def on_complete(self) -> None:
        if self.done:
            return
        if not self.eager:
            try:
                super().on_complete()
            finally:
                self.clean()
            return
        failure = self.failed_to_clean()
        if failure is None:
            super().on_complete()
        else:
            super().on_error(failure)

    def cancel(self) -> None:
        if self.done:
            return
        try:
            if self.eager:
                self.clean()
        finally:
            try:
                super().cancel()
            finally:
                self.clean()

    def clean(self) -> None:
        """Give the resource back where nothing can be signalled any more."""
        failure = self.failed_to_clean()
        if failure is not None:
            dropped(failure, self.origin)

    def cleaned_after(self, error: Exception) -> Exception:
        """Give the resource back after ``error``. What is to be signalled."""
        failure = self.failed_to_clean()
        return error if failure is None else composite([error, failure])

    def failed_to_clean(self) -> Exception | None:
        """Give the resource back, once. What that failed with."""
        try:
            cleanup, resource = self.cleanups.pop()  # atomic: an end and a cancel may come at the same time
        except IndexError:
            return None
        try:
            user_call("using", cleanup, resource)
        except Exception as raised:
            return as_error(raised)
        return None


class _Materialized(RelayedInput[Any]):
    """Gives each item as a notification."""

    __slots__ = ()

    def on_next(self, item: Any, /) -> None:
        self.count += 1
        try:
            self.emit(OnNext(item))
        except BaseException:
            self.op.cancel()  # RS 2.13
            raise


@op("materialize")
class Materialize(LastItem[Notification[T]]):
    """Each signal as an item, the end included, which waits until it is wanted."""

    __slots__ = ()

    def open(self) -> None:
        self.current = _Materialized(self)
        self.subscribe_later(self.source, self.current)

    def source_ended(self, error: Exception | None, demand: int) -> int:
        self.added = OnComplete() if error is None else OnError(error)
        return demand

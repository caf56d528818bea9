"""About errors: one last item or another source after one, and no call at all after many."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import composite, none_produced, user_call
from rx_core.streams import Failing, OneAtATime, PassThrough, Stream
from rx_fusion import op
from rx_ops._breaker import CircuitOpenError
from rx_ops.operators._mapping import as_error, not_a_source, not_one

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_ops._breaker import CircuitBreaker, Permit

T = TypeVar("T")


class LastItem(OneAtATime[T]):
    """A relayed source, and perhaps one item behind it, which waits until it is wanted; completion follows it at once."""

    __slots__ = ("added", "source")

    discards: ClassVar[bool] = True
    relays: ClassVar[bool] = True
    source: Publisher[Any]
    #: The item behind the last one; None: there is none, or the source goes on.
    added: T | None

    def __init__(self, down: Subscriber[T], source: Publisher[Any]) -> None:
        super().__init__(down)
        self.source = source
        self.added = None

    def open(self) -> None:
        self.switch_to(self.source, 0)

    def after_answer(self, then: Callable[[], object], /) -> None:
        if isinstance(self.source, Stream) and self.source._answers_late is False:
            then()
        else:
            super().after_answer(then)

    def step(self, demand: int) -> int:
        if self.added is None:
            demand = super().step(demand)
        if self.added is None or not demand:
            return demand
        self.emit(self.added)
        return self.finish()


@op("on_error_return")
class OnErrorReturn(LastItem[T]):
    """After an error one item that ``handler`` makes of it."""

    __slots__ = ("handler",)

    def __init__(self, down: Subscriber[T], source: Publisher[T], handler: Callable[[Exception], T]) -> None:
        super().__init__(down, source)
        self.handler = handler

    def source_ended(self, error: Exception | None, demand: int) -> int:
        if error is None:
            return self.finish()
        try:
            value = user_call("on_error_return", self.handler, error)
        except Exception as second:
            return self.finish(composite([error, as_error(second)]))
        if value is None:
            return self.finish(composite([error, none_produced("on_error_return", self.handler)]))
        self.added = value
        return demand


@op("on_error_resume_next")
class OnErrorResumeNext(OneAtATime[T]):
    """After an error the source that ``handler`` makes of it, with the demand that is left."""

    __slots__ = ("handler", "kind", "source")

    discards: ClassVar[bool] = True
    opens_sources: ClassVar[bool] = True

    #: "Single" or "Maybe" where the fallback has to be one.
    kind: str
    #: None once it was called: the fallback's error is the end.
    handler: Callable[[Exception], Publisher[T]] | None

    def __init__(
        self, down: Subscriber[T], source: Publisher[T], handler: Callable[[Exception], Publisher[T]], kind: str = ""
    ) -> None:
        super().__init__(down)
        self.source = source
        self.handler = handler
        self.kind = kind

    def open(self) -> None:
        self.switch_to(self.source, 0)

    def source_ended(self, error: Exception | None, demand: int) -> int:
        handler, self.handler = self.handler, None
        if error is None or handler is None:
            return self.finish(error)
        try:
            fallback = user_call("on_error_resume_next", handler, error)
        except Exception as second:
            return self.finish(composite([error, as_error(second)]))
        failure = not_a_source("on_error_resume_next", handler, fallback)
        failure = failure or not_one("on_error_resume_next", handler, fallback, self.kind)
        if failure is not None:
            return self.finish(composite([error, failure]))
        return self.switch_to(fallback, demand)


@op("on_error_complete")
class OnErrorComplete(OneAtATime[T]):
    """Completes after an error of the source for which ``when`` is true, or any.

    It is an Op, so that the error of a wrong request is its own and goes on (RS 3.9).
    """

    __slots__ = ("source", "when")

    discards: ClassVar[bool] = True
    relays: ClassVar[bool] = True

    def __init__(self, down: Subscriber[T], source: Publisher[T], when: Callable[[Exception], object] | None) -> None:
        super().__init__(down)
        self.source = source
        self.when = when

    def open(self) -> None:
        self.switch_to(self.source, 0)

    def source_ended(self, error: Exception | None, demand: int) -> int:
        if error is None or self.when is None:
            return self.finish()
        try:
            completes = user_call("on_error_complete", self.when, error)
        except Exception as second:
            return self.finish(composite([error, as_error(second)]))
        return self.finish(None if completes else error)


@op("circuit_breaker")
class Guarded(PassThrough[T]):
    """A subscription is a call for which the breaker gives a permit. Its outcome is reported before it is signalled."""

    __slots__ = ("breaker", "came", "permit")

    #: None: the breaker has not been asked.
    permit: Permit | None
    #: An item came, so a cancel is no failure.
    came: bool

    def __init__(self, down: Subscriber[T], source: Publisher[T], breaker: CircuitBreaker) -> None:
        super().__init__(down, source)
        self.breaker = breaker
        self.permit = None
        self.came = False

    def start(self) -> bool:
        try:
            self.permit = self.breaker.acquire()
        except Exception as error:  # it is open, or no scheduler is there
            if isinstance(error, CircuitOpenError):
                error.add_note(f"in {self.origin!r}")
            return Failing(self.down, error, self.origin).start()
        return super().start()

    def on_next(self, item: T, /) -> None:
        self.came = True
        super().on_next(item)

    def on_error(self, error: Exception, /) -> None:
        if not self.done and self.permit is not None:
            try:
                self.permit.failed(error)
            except Exception as second:  # the breaker's when()
                error = composite([error, as_error(second)])
        super().on_error(error)

    def on_complete(self) -> None:
        if not self.done and self.permit is not None:
            self.permit.succeeded()
        super().on_complete()

    def cancel(self) -> None:
        left = not self.done
        super().cancel()
        if left and self.permit is not None:
            if self.came:
                self.permit.succeeded()
            else:
                self.permit.released()

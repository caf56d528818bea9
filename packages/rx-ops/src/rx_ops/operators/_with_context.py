"""Context variables that what is upstream sees: with_context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar, copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from rx_core import SharedContext, after_answer, request_all, with_values
from rx_core.streams import PassThrough, subscribe
from rx_fusion import op

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription

T = TypeVar("T")


class ContextSettings(NamedTuple):
    """What is set: values by context variable, and those that have names."""

    variables: Mapping[ContextVar[Any], object]
    values: Mapping[str, object]

    @property
    def text(self) -> str:
        """As it was written, with the names alone: a value may be a secret."""
        return f"with_context({', '.join([*(variable.name for variable in self.variables), *self.values])})"


def context_settings(variables: object, values: Mapping[str, object]) -> ContextSettings:
    """Raises TypeError for what are no context variables, and where there is nothing to set."""
    if variables is None and not values:
        raise TypeError("with_context() sets nothing.\n  Right:  .with_context(tenant='acme')")
    if variables is None:
        return ContextSettings({}, values)
    if not isinstance(variables, Mapping) or not all(isinstance(each, ContextVar) for each in variables):
        raise TypeError(
            f"with_context() expected values by context variable, got {variables!r}.\n"
            f"  Right:  .with_context({{contextvars.ContextVar('tenant'): 'acme'}})\n"
            f"  Or:     .with_context(tenant='acme')   # for rx_core.context_value('tenant')"
        )
    return ContextSettings(dict(variables), values)


@op("with_context")
class WithContext(PassThrough[T]):
    """Whatever goes up runs in a context in which the values are set, whatever comes down in that of the subscriber, which knows
    nothing of them: a source that answers on this very thread calls the one inside of the other."""

    __slots__ = ("above", "below")

    above: SharedContext
    below: SharedContext

    def __init__(self, down: Subscriber[T], source: Publisher[T], settings: ContextSettings) -> None:
        super().__init__(down, source)
        self.below = SharedContext(copy_context())
        context = copy_context()
        for variable, value in settings.variables.items():
            context.run(variable.set, value)
        if settings.values:
            context.run(with_values, settings.values)
        self.above = SharedContext(context)
        self.emit = partial(self.below.run, down.on_next)

    def start(self) -> bool:
        try:
            self.above.run(subscribe, self.source, self)
        except BaseException:
            self.cancel()
            raise
        return True

    # -- down ----------------------------------------

    def on_subscribe(self, up: Subscription, /) -> None:
        self.below.run(super().on_subscribe, up)

    def on_error(self, error: Exception, /) -> None:
        self.below.run(super().on_error, error)

    def on_complete(self) -> None:
        self.below.run(super().on_complete)

    # -- up ----------------------------------------

    def request(self, n: int, /) -> None:
        self.above.run(super().request, n)

    def request_all(self) -> None:
        if not self.done:
            try:
                self.above.run(request_all, self.up)
            except BaseException:
                self.cancel()
                raise

    def after_answer(self, then: Callable[[], object], /) -> None:
        after_answer(self.up, partial(self.below.run, then))

    def cancel(self) -> None:
        self.above.run(super().cancel)

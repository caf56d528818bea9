"""Context variables that what is in front of an operator sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from rx_ops import operators
from rx_ops._faces._core import FlowableCore

if TYPE_CHECKING:
    from contextvars import ContextVar

    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableWithContext(FlowableCore[T_co]):
    """Context variables that what is in front of an operator sees."""

    __slots__ = ()

    def with_context(self, variables: Mapping[ContextVar[Any], object] | None = None, /, **values: object) -> Flowable[T_co]:
        """Sets context variables for what is in front of it, and for nothing else; the items stay as they are.

        ``variables`` are values by context variable. ``values`` have names, and functions upstream read them with
        ``rx_core.context_value("name")``. Both are there in functions of stages and operators, in sources, on every thread and
        in every inner stream in front of this, from the subscription on. What is behind it, and who subscribes, does not see
        them. Of several in a row the one nearest to the reader counts.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.
        Errors:  pass through; TypeError at assembly for what are no context variables, and without anything to set.
        Memory:  two contexts, which share what they have.   Thread: the source's.
        Fusion:  coordinating; items go on without a queue, each with a change of context.
        Source:  Reactor ``contextWrite``; its ``deferContextual`` is ``defer`` with ``context_value`` inside.
        """
        settings = operators.context_settings(variables, values)
        return self._coordinate(operators.WithContext, settings, shown=settings.text)

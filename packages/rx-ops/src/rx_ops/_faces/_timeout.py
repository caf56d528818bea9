"""Items that have to come in time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import Publisher, Scheduler, name_of
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_callable, check_seconds, check_source, default_scheduler

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableTimeout(FlowableCore[T_co]):
    """Items that have to come in time."""

    __slots__ = ()

    @overload
    def timeout(self, seconds: float, *, fallback: None = ..., scheduler: Scheduler | None = ...) -> Flowable[T_co]: ...
    @overload
    def timeout(
        self, seconds: float, *, fallback: Publisher[R] | None, scheduler: Scheduler | None = ...
    ) -> Flowable[T_co | R]: ...
    @overload
    def timeout(
        self,
        *,
        selector: Callable[[T_co], Publisher[object]],
        first: Publisher[object] | None = ...,
        fallback: None = ...,
    ) -> Flowable[T_co]: ...
    @overload
    def timeout(
        self,
        *,
        selector: Callable[[T_co], Publisher[object]],
        first: Publisher[object] | None = ...,
        fallback: Publisher[R] | None,
    ) -> Flowable[T_co | R]: ...
    def timeout(
        self: Any,
        seconds: float | None = None,
        *,
        selector: Callable[[Any], Publisher[object]] | None = None,
        first: Publisher[object] | None = None,
        fallback: Publisher[Any] | None = None,
        scheduler: Scheduler | None = None,
    ) -> Any:
        """TimeoutError, or ``fallback``, when no item comes for ``seconds`` after the subscription or after the last item.

        Or when the source that ``selector`` made of the last item gives an item or completes before the next item comes;
        ``first``, if given, does so for the first item.

        ::  --1--------2|  -->  --1----#

        Demand:  passes through; what is left goes on to ``fallback``.
        Errors:  TimeoutError; those of ``first``, of ``selector`` and its sources. ValueError or TypeError at assembly for a bad
                 duration.
        Memory:  none.
        Thread:  that of the source; the timeout on a worker of ``scheduler`` (default: the running loop's, or computation), or
                 on the other source's.
        Fusion:  coordinating; its source pushes, and items pass on without a queue. What a synchronous source computes for one
                 item is not interrupted.
        Source:  RxJava ``timeout``.
        """
        if fallback is not None:
            check_source("timeout", fallback, "fallback")
        if selector is not None:
            if seconds is not None or scheduler is not None:
                raise TypeError("timeout() takes seconds or selector=..., not both")
            check_callable("timeout", "selector", selector)
            if first is not None:
                check_source("timeout", first, "first")
            shown = f"timeout({name_of(selector)})"
            return self._coordinate(operators.TimeoutBy, first, selector, fallback, shown=shown)
        if first is not None:
            raise TypeError("timeout() takes first=... only with selector=...")
        check_seconds("timeout", seconds)
        args = (float(seconds or 0), default_scheduler(scheduler, "timeout"), fallback)
        return self._coordinate(operators.Timeout, *args, shown=f"timeout({seconds})")

"""Operators for failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rx_core import FlowableBase, Publisher
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_callable, check_count

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class FlowableErrors(FlowableCore[T_co]):
    """Operators for failures."""

    __slots__ = ()

    def on_error_return(self: FlowableBase[T], handler: Callable[[Exception], T], /) -> Flowable[T]:
        """After an error one last item, made of it by ``handler``, and completion.

        ::  --1--2--#  -->  --1--2--x|

        Demand:  passes through; the last item takes one of it.
        Errors:  when ``handler`` raises or returns None, both errors as a CompositeException.
        Memory:  none.   Thread: that of the source.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``onErrorReturn``.
        """
        check_callable("on_error_return", "handler", handler)
        return self._coordinate(operators.OnErrorReturn, handler)  # type: ignore[attr-defined,no-any-return]  # self names the base

    def on_error_resume_next(self: FlowableBase[T], handler: Callable[[Exception], Publisher[T]], /) -> Flowable[T]:
        """After an error the source that ``handler`` makes of it, with the demand that is left.

        ::  --1--2--#  -->  --1--2----3--4|

        Demand:  what is left goes on to the fallback.
        Errors:  the fallback's own; when ``handler`` raises or returns no source, both errors as a CompositeException.
        Memory:  none.   Thread: that of the running source.   Fusion: coordinating; passive sources are iterated.
        Source:  RxJava ``onErrorResumeNext``.
        """
        check_callable("on_error_resume_next", "handler", handler)
        return self._coordinate(operators.OnErrorResumeNext, handler)  # type: ignore[attr-defined,no-any-return]  # self names the base

    def retry(self, times: int | None = None, /, *, when: Callable[[Exception], object] | None = None) -> Flowable[T_co]:
        """Subscribes again after an error: for ever, ``times`` times, and only while ``when(error)`` is true.

        ::  --1--#  -->  --1----1----1--#      (times=2)

        Demand:  what is left goes on to the next attempt; items given before the error are given again.
        Errors:  the last one, when no attempt is left; what ``when`` raises, together with the error it was asked about.
        Memory:  none, and no stack: a million retries are a loop.
        Thread:  that of the source.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``retry(times, predicate)``.
        """
        if times is not None:
            check_count("retry", times, 0, "times")
        if when is not None:
            check_callable("retry", "when", when)
        return self._coordinate(operators.Retry, times, when)

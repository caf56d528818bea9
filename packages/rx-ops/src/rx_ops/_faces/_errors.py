"""Operators for failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import Publisher, name_of
from rx_ops import operators, stages
from rx_ops._breaker import CircuitBreaker
from rx_ops._continued import Continued, covered, kept_function, opened_streams
from rx_ops._faces._core import FlowableCore, check_callable

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableErrors(FlowableCore[T_co]):
    """Operators for failures."""

    __slots__ = ()

    def on_error_return(self, handler: Callable[[Exception], R]) -> Flowable[T_co | R]:
        """After an error one last item, made of it by ``handler``, and completion.

        ::  --1--2--#  -->  --1--2--x|

        Demand:  passes through; the last item takes one of it.
        Errors:  when ``handler`` raises or returns None, both errors as a CompositeException.
        Memory:  none.   Thread: that of the source.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``onErrorReturn``.
        """
        check_callable("on_error_return", "handler", handler)
        return self._coordinate(operators.OnErrorReturn, handler)

    def on_error_resume_next(self, handler: Callable[[Exception], Publisher[R]]) -> Flowable[T_co | R]:
        """After an error the source that ``handler`` makes of it, with the demand that is left.

        ::  --1--2--#  -->  --1--2----3--4|

        Demand:  what is left goes on to the fallback.
        Errors:  the fallback's own; when ``handler`` raises or returns no source, both errors as a CompositeException.
        Memory:  none.   Thread: that of the running source.   Fusion: coordinating; passive sources are iterated.
        Source:  RxJava ``onErrorResumeNext``.
        """
        check_callable("on_error_resume_next", "handler", handler)
        return self._coordinate(operators.OnErrorResumeNext, handler)

    def on_error_complete(self, when: Callable[[Exception], object] | None = None) -> Flowable[T_co]:
        """Completes after an error; with ``when`` only after one for which that is true.

        ::  --1--2--#  -->  --1--2--|

        Demand:  passes through.
        Errors:  those for which ``when`` is false; when it raises, both errors as a CompositeException.
        Memory:  none.   Thread: that of the error.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``onErrorComplete``. Nothing else is told of such an error: log it in ``when``, or use ``do_on_error``.
        """
        if when is not None:
            check_callable("on_error_complete", "when", when)
        shown = f"on_error_complete({'' if when is None else name_of(when)})"
        return self._coordinate(operators.OnErrorComplete, when, shown=shown)

    def on_error_continue(
        self, handler: Callable[[Exception, object], object], *, when: Callable[[Exception], object] | None = None
    ) -> Flowable[T_co]:
        """Goes on after errors of the operators directly in front of it: leaves the item out, tells ``handler(error, item)``.

        It covers ``map``, ``filter``, ``map_optional``, ``do_on_next`` and others that handle one item after the other and keep
        nothing, back to the first operator that is not of these; ``item`` is the one that came into the first of them. What it
        covers is shown by ``explain()``. With ``when`` it goes on only after errors for which that is true.

        An error of anything else ends the stream as ever: of the source, of ``flat_map`` and other operators over several
        streams, of what is behind this. Their sound spelling is ``flat_map(lambda x: fetch(x).on_error_complete())``. What would
        look covered and is not is refused: an operator in between that keeps something and calls a function (``scan``,
        ``take_while``), and ``flat_map`` and its kind in front of what is covered. ``hide()`` behind it says that its errors are
        to end the stream.

        ::  --1--x--3|  -->  --1-----3|

        Demand:  passes through; one more is asked for each item left out.
        Errors:  those for which ``when`` is false; when ``handler`` or ``when`` raises, both errors as a CompositeException.
                 TypeError at assembly where nothing in front of this can go on.
        Memory:  none.   Thread: the one that requests.
        Fusion:  stage, drops; what it covers is called for each item.
        Source:  Reactor ``onErrorContinue``, which reaches all operators upstream that happen to support it.
        """
        check_callable("on_error_continue", "handler", handler)
        if when is not None:
            check_callable("on_error_continue", "when", when)
        before, made = continued(self, handler, when)
        going_on: Flowable[T_co] = before._then(stages.on_error_continue, made, handler)
        return going_on

    def circuit_breaker(self, breaker: CircuitBreaker) -> Flowable[T_co]:
        """This stream while ``breaker`` lets calls through; while it is open, an error at once and no subscription to the source.

        A subscription is a call. It succeeds when the stream completes, or when downstream leaves after an item; it fails with
        the stream's error. The breaker is shared: make one for each service, see :class:`CircuitBreaker`. A slow service fails
        no call: put :meth:`timeout` in front of this, and :meth:`retry_backoff` behind it.

        ::  --1--2--#  -->  --1--2--#

        Demand:  passes through.
        Errors:  CircuitOpenError while the breaker is open; the stream's, and with it as a CompositeException what the breaker's
                 ``when`` raises.
        Memory:  none.   Thread: that of the source.   Fusion: none; what comes before and behind meets by the protocol.
        Source:  resilience4j ``CircuitBreakerOperator``.
        """
        check_breaker(breaker)
        return self._coordinate(operators.Guarded, breaker, shown=f"circuit_breaker({breaker!r})")


def check_breaker(breaker: object) -> None:
    """Raise at assembly for what is no breaker. It has to be made where it can be shared."""
    if not isinstance(breaker, CircuitBreaker):
        raise TypeError(
            f"circuit_breaker() expected a CircuitBreaker, got {breaker!r}.\n"
            f"  Right:  .circuit_breaker(CircuitBreaker(5, 10))   # one for all that call the service"
        )


def continued(pipeline: Any, handler: Any, when: Any) -> tuple[Any, Continued]:
    """What is in front of the stages that ``on_error_continue`` covers, and these as one function. TypeError for none."""
    shape = pipeline._shape
    at = covered(shape)
    before, before_args, covering, args = shape.split(pipeline._args, at)
    if not covering:
        raise TypeError(
            f"on_error_continue(): what is directly in front of it, {pipeline!r}, cannot go on after an error.\n"
            f"  It covers operators of one item after the other:  .map(f).on_error_continue(handler)\n"
            f"  Behind an operator over streams go on inside:     .flat_map(lambda x: fetch(x).on_error_complete())"
        )
    keeping = kept_function(before, before_args)
    if keeping:
        raise TypeError(
            f"on_error_continue(): {keeping} keeps something from one item to the next, so it cannot go on after an error.\n"
            f"  To have its errors end the stream:  .{keeping}.hide(), with what is to go on behind it\n"
            f"  To go on after errors in front of it:  .on_error_continue(handler).{keeping}"
        )
    opening = opened_streams(pipeline._head)
    if opening:
        raise TypeError(
            f"on_error_continue(): it does not cover {opening}, whose errors end the stream.\n"
            f"  To go on after errors of inner streams:  .flat_map(lambda x: fetch(x).on_error_complete())\n"
            f"  To have its errors end the stream:       .{opening}.hide(), with what is to go on behind it"
        )
    origin = type(pipeline)(pipeline._head, before, before_args)
    return origin, Continued(origin, covering, args, handler, when)

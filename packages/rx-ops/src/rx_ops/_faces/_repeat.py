"""Operators that subscribe again."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import Publisher, Scheduler, name_of
from rx_ops import operators
from rx_ops._budget import RetryBudget
from rx_ops._faces._core import FlowableCore, check_callable, check_count, check_seconds, default_scheduler

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableRepeat(FlowableCore[T_co]):
    """Operators that subscribe again."""

    __slots__ = ()

    def repeat(self, times: int | None = None) -> Flowable[T_co]:
        """This stream ``times`` times, one after the other; without a number for ever.

        ::  --1--2|  -->  --1--2----1--2|      (times=2)

        Demand:  what is left goes on to the next round.
        Errors:  end the stream. At assembly ValueError for a negative number; 0 makes an empty stream.
        Memory:  none, and no stack: a million rounds are a loop.
        Thread:  that of the source.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``repeat``, itertools ``repeat`` and ``cycle``.
        """
        if times is not None:
            check_count("repeat", times, 0, "times")
        return self._coordinate(operators.Repeat, times)

    def repeat_until(self, stop: Callable[[], object]) -> Flowable[T_co]:
        """This stream again and again, until ``stop()`` is true after a completion; so it runs at least once.

        ::  --1--2|  -->  --1--2----1--2|

        Demand:  what is left goes on to the next round.
        Errors:  end the stream; so does what ``stop`` raises.
        Memory:  none, and no stack: a million rounds are a loop.
        Thread:  that of the source.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``repeatUntil``.
        """
        check_callable("repeat_until", "stop", stop)
        return self._coordinate(operators.RepeatUntil, stop)

    def repeat_when(self, handler: Callable[[Flowable[int]], Publisher[object]]) -> Flowable[T_co]:
        """This stream again each time the stream that ``handler`` makes gives an item; its end is the end.

        ``handler`` gets the completions of this stream, numbered from 1, once per subscription.

        ::  --1--2|  -->  --1--2------1--2|      (with a delay of each completion, take(1))

        Demand:  what is left goes on to the next round; the handler's stream is asked for one item per completion.
        Errors:  of this stream, and of the handler's, end the stream; TypeError when ``handler`` returns no stream.
        Memory:  one completion.   Thread: that of the source, then the one on which the handler's stream signals.
        Fusion:  coordinating; items go on without a queue.
        Source:  RxJava ``repeatWhen``. The end of the handler's stream counts at once, also for a round that has just begun.
        """
        check_callable("repeat_when", "handler", handler)
        shown = f"repeat_when({name_of(handler)})"
        return self._coordinate(operators.RepeatWhen, handler, self._from, shown=shown)

    def retry(
        self,
        times: int | None = None,
        *,
        when: Callable[[Exception], object] | None = None,
        budget: RetryBudget | None = None,
    ) -> Flowable[T_co]:
        """Subscribes again after an error: for ever, ``times`` times, and only while ``when(error)`` is true.

        ``budget`` is shared with others that call the same service, and bounds what all of them try again together. Here it is
        spent without a pause: that suits a failure that another attempt does not meet, as one of several servers.

        ::  --1--#  -->  --1----1----1--#      (times=2)

        Demand:  what is left goes on to the next attempt; items given before the error are given again.
        Errors:  the last one, when no attempt is left, or, with a note, nothing of ``budget``; what ``when`` raises, together
                 with the error it was asked about.
        Memory:  none, and no stack: a million retries are a loop.
        Thread:  that of the source.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``retry(times, predicate)``.
        """
        if times is not None:
            check_count("retry", times, 0, "times")
        if when is not None:
            check_callable("retry", "when", when)
        check_budget("retry(3, ", budget)
        return self._coordinate(operators.Retry, times, when, budget, shown=2)

    def retry_until(self, stop: Callable[[], object]) -> Flowable[T_co]:
        """After an error this stream again, until ``stop()`` is true after an error; that one ends the stream.

        ::  --1--#  -->  --1----1----1--#

        Demand:  what is left goes on to the next attempt; items given before the error are given again.
        Errors:  the last one; what ``stop`` raises, together with the error before it.
        Memory:  none, and no stack: a million retries are a loop.
        Thread:  that of the source.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``retryUntil``.
        """
        check_callable("retry_until", "stop", stop)
        return self._coordinate(operators.RetryUntil, stop)

    def retry_when(self, handler: Callable[[Flowable[Exception]], Publisher[object]]) -> Flowable[T_co]:
        """After an error this stream again when the stream that ``handler`` makes gives an item; its end is the end.

        ``handler`` gets the errors of this stream, once per subscription.

        ::  --1--#  -->  --1------1--2|      (with a delay of each error)

        Demand:  what is left goes on to the next attempt; the handler's stream is asked for one item per error.
        Errors:  of the handler's stream end the stream, its completion completes it; TypeError when ``handler`` returns no
                 stream. To give up with the error itself, flat_map errors to ``Flowable.error``.
        Memory:  one error.   Thread: that of the source, then the one on which the handler's stream signals.
        Fusion:  coordinating; items go on without a queue.
        Source:  RxJava ``retryWhen``.
        """
        check_callable("retry_when", "handler", handler)
        shown = f"retry_when({name_of(handler)})"
        return self._coordinate(operators.RetryWhen, handler, self._from, shown=shown)

    def retry_backoff(
        self,
        times: int | None,
        first: float,
        *,
        longest: float = 60.0,
        factor: float = 2.0,
        jitter: float = 0.5,
        when: Callable[[Exception], object] | None = None,
        budget: RetryBudget | None = None,
        scheduler: Scheduler | None = None,
    ) -> Flowable[T_co]:
        """After an error again, up to ``times`` times (None: for ever), after pauses that grow.

        The first pause is ``first`` seconds, each further one ``factor`` times as long, up to ``longest``. ``jitter`` spreads
        them, so that many who fail together do not come back together: 0.5 is from half to one and a half of the pause.
        ``budget`` is shared with others that call the same service, and bounds what all of them try again together.

        ::  --1--#  -->  --1----1-----1--#      (times=2)

        Demand:  what is left goes on to the next attempt; items given before the error are given again.
        Errors:  the last one, when no attempt is left or ``when(error)`` is false, or, with a note, when nothing is left of
                 ``budget``; what ``when`` raises, together with the error.
        Memory:  none.   Thread: that of the source, then the ``scheduler``'s (computation) worker.
        Fusion:  coordinating; items go on without a queue.
        Source:  Reactor ``Retry.backoff``, Finagle ``RetryBudget``.
        """
        check_backoff(times, first, longest, factor, jitter, when, budget)
        return self._coordinate(
            operators.RetryBackoff,
            times,
            first,
            longest,
            factor,
            jitter,
            when,
            default_scheduler(scheduler, "retry_backoff"),
            budget,
            shown=f"retry_backoff({times}, {first})",
        )


def check_backoff(times: Any, first: Any, longest: Any, factor: Any, jitter: Any, when: Any, budget: Any) -> None:
    """Raise at assembly what cannot be a schedule of retries."""
    if times is not None:
        check_count("retry_backoff", times, 0, "times")
    check_seconds("retry_backoff", first, "first")
    check_seconds("retry_backoff", longest, "longest")
    if first == inf:
        raise ValueError("retry_backoff(first=inf): a pause has to end, for example .retry_backoff(3, 0.5)")
    if longest < first:
        raise ValueError(f"retry_backoff(first={first}, longest={longest}): the first pause is longer than the longest")
    for name, number in (("factor", factor), ("jitter", jitter)):
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise TypeError(
                f"retry_backoff({name}={number!r}): a number is needed, for example .retry_backoff(3, 0.5, {name}=1.0)"
            )
    if not factor >= 1:
        raise ValueError(f"retry_backoff(factor={factor}): at least 1 is needed, for example .retry_backoff(3, 0.5, factor=2.0)")
    if not 0 <= jitter <= 1:
        raise ValueError(
            f"retry_backoff(jitter={jitter}): a share between 0 and 1 is needed, for example .retry_backoff(3, 0.5, jitter=0.5)"
        )
    if when is not None:
        check_callable("retry_backoff", "when", when)
    check_budget("retry_backoff(3, 0.5, ", budget)


def check_budget(call: str, budget: object) -> None:
    """Raise at assembly what is no budget. ``call`` is the beginning of a right call."""
    if budget is not None and not isinstance(budget, RetryBudget):
        raise TypeError(
            f"{call.partition('(')[0]}(budget={budget!r}): a RetryBudget is needed.\n"
            f"  Right:  .{call}budget=RetryBudget(0.2))   # one for all that call the service"
        )

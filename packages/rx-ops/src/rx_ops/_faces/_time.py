"""When items came, and when to subscribe."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import Publisher, Scheduler
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_seconds, check_source, default_scheduler, right_call
from rx_ops.operators import Timed

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableTime(FlowableCore[T_co]):
    """When items came, and when to subscribe."""

    __slots__ = ()

    @overload
    def delay_subscription(self, seconds: float, *, scheduler: Scheduler | None = None) -> Flowable[T_co]: ...
    @overload
    def delay_subscription(self, *, until: Publisher[object]) -> Flowable[T_co]: ...
    def delay_subscription(
        self, seconds: float | None = None, *, until: Publisher[object] | None = None, scheduler: Scheduler | None = None
    ) -> Flowable[T_co]:
        """Subscribes to this stream ``seconds`` later, or when ``until`` gives an item or completes.

        ::  --1--2|  -->  -------1--2|

        Demand:  passes through; ``until`` is asked for everything and cancelled after its first item.
        Errors:  pass through; an error of ``until`` is the end. TypeError or ValueError at assembly for a bad duration or source.
        Memory:  none.
        Thread:  subscribes on a worker of ``scheduler`` (default: the running loop's, or computation), or on that of ``until``.
        Fusion:  coordinating; items of the source pass on without a queue.
        Source:  RxJava ``delaySubscription``.
        """
        if until is not None:
            if seconds is not None or scheduler is not None:
                raise TypeError("delay_subscription() takes seconds or until=..., not both")
            check_source("delay_subscription", until, "until")
            return self._coordinate(
                operators.DelaySubscriptionUntil, until, shown=naming("delay_subscription(until={!r})", until)
            )
        check_seconds("delay_subscription", seconds)
        args = (seconds, default_scheduler(scheduler, "delay_subscription"))
        return self._coordinate(operators.DelaySubscription, *args, shown=f"delay_subscription({seconds})")

    def timestamp(self, *, scheduler: Scheduler | None = None) -> Flowable[Timed[T_co]]:
        """Each item with the time at which it came, as ``Timed(value, seconds)`` on the clock of ``scheduler``.

        ::  -a---b-|  -->  -x---y-|      (x = Timed(a, 1.0), y = Timed(b, 5.0))

        Demand:  passes through.   Errors: pass through.
        Memory:  none.   Thread: that of the source.
        Fusion:  coordinating; its source pushes, because the clock is looked at when an item comes. Default scheduler:
                 computation, of which only the clock is used.
        Source:  RxJava ``timestamp``.
        """
        return self._coordinate(operators.Timestamp, default_scheduler(scheduler, "timestamp"), shown="timestamp()")

    def time_interval(self, *, scheduler: Scheduler | None = None) -> Flowable[Timed[T_co]]:
        """Each item with the seconds since the one before, or since the subscription, as ``Timed(value, seconds)``.

        ::  -a---b-|  -->  -x---y-|      (x = Timed(a, 1.0), y = Timed(b, 4.0))

        Demand:  passes through.   Errors: pass through.
        Memory:  none.   Thread: that of the source.
        Fusion:  coordinating; its source pushes, because the clock is looked at when an item comes. Default scheduler:
                 computation, of which only the clock is used.
        Source:  RxJava ``timeInterval``, Reactor ``timed``.
        """
        return self._coordinate(operators.TimeInterval, default_scheduler(scheduler, "time_interval"), shown="time_interval()")


def check_period(operator: str, seconds: Any, name: str = "seconds") -> None:
    """Raise at assembly when the length of a period is not a positive number of seconds."""
    check_seconds(operator, seconds, name)
    if seconds == 0:
        raise ValueError(f"{operator}({name}=0): a period has to last, for example {right_call(operator, name, '0.5')}")


def naming(call: str, source: object) -> Callable[[], str]:
    """A call with a source in it, written when it is asked for."""
    return partial(call.format, source)

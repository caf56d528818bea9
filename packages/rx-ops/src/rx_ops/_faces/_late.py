"""Items at their time: timers and delays. No hidden thread: each works on a worker of the scheduler it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, overload

from rx_core import Publisher, Scheduler, name_of
from rx_fusion import OperatorHead
from rx_ops import operators, stages
from rx_ops._faces._core import (
    FlowableCore,
    check_callable,
    check_count,
    check_scheduler,
    check_seconds,
    check_source,
    default_scheduler,
)

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableLate(FlowableCore[T_co]):
    """Items at their time."""

    __slots__ = ()

    @overload
    def delay(self, seconds: float, *, scheduler: Scheduler | None = None, delay_error: bool = False) -> Flowable[T_co]: ...
    @overload
    def delay(
        self, *, selector: Callable[[T_co], Publisher[object]], subscription: Publisher[object] | None = None
    ) -> Flowable[T_co]: ...
    def delay(
        self,
        seconds: float | None = None,
        *,
        selector: Callable[[T_co], Publisher[object]] | None = None,
        subscription: Publisher[object] | None = None,
        scheduler: Scheduler | None = None,
        delay_error: bool = False,
    ) -> Flowable[T_co]:
        """Items and completion ``seconds`` later; an error at once, unless ``delay_error``.

        Or each item once the source that ``selector`` makes of it gives an item or completes: one may overtake the other. Then
        ``subscription``, if given, says in the same way when to subscribe.

        ::  --1--2--3|  -->  -----1--2--3|

        Demand:  passes through; with ``selector`` 128 items are taken ahead.
        Errors:  as said; those of ``selector`` and of its sources at once. ValueError or TypeError at assembly for a bad
                 duration.
        Memory:  what arrives within ``seconds``, or 128 items.
        Thread:  a worker of ``scheduler`` (default: the running loop's, or computation), or that of the source that was waited
                 for.
        Fusion:  coordinating; its source pushes, and every item is scheduled when it comes.
        Source:  RxJava ``delay``.
        """
        if selector is not None:
            if seconds is not None or scheduler is not None or delay_error:
                raise TypeError("delay() takes seconds or selector=..., not both")
            check_callable("delay", "selector", selector)
            if subscription is not None:
                check_source("delay", subscription, "subscription")
            source = self if subscription is None else self.delay_subscription(until=subscription)  # type: ignore[attr-defined]  # of another family
            shown = f"delay({name_of(selector)})"
            return self._from(OperatorHead(operators.DelayBy, (source,), (selector, 128), window=128, shown=shown))
        if subscription is not None:
            raise TypeError("delay() takes subscription=... only with selector=....\n  Right:  .delay_subscription(until=...)")
        check_seconds("delay", seconds)
        args = (float(seconds or 0), delay_error, default_scheduler(scheduler, "delay"))
        return self._coordinate(operators.Delay, *args, shown=f"delay({seconds})")

    @classmethod
    def interval(cls, seconds: float, *, initial: float | None = None, scheduler: Scheduler | None = None) -> Flowable[int]:
        """0, 1, 2, ... every ``seconds``, the first after ``initial`` seconds (default: ``seconds``), for ever.

        ::  --0--1--2--3-

        Demand:  MissingBackpressureError when a tick comes that the subscriber has not requested; put ``on_backpressure_drop``
                 after it.
        Errors:  as said; ValueError or TypeError at assembly for a bad duration.
        Memory:  ticks that wait for a busy consumer.
        Thread:  a worker of ``scheduler`` (default: the running loop's, or computation).
        Fusion:  source that pushes.
        Source:  RxJava ``interval``. The rate is fixed: a late tick does not delay the next.
        """
        check_seconds("interval", seconds)
        if initial is not None:
            check_seconds("interval", initial, "initial")
        first = float(seconds if initial is None else initial)
        return cls._from(
            OperatorHead(
                operators.Interval,
                (),
                (first, float(seconds), default_scheduler(scheduler, "interval")),
                shown=f"interval({seconds})",
            )
        )

    @classmethod
    def interval_range(
        cls, start: int, count: int, seconds: float, *, initial: float | None = None, scheduler: Scheduler | None = None
    ) -> Flowable[int]:
        """``count`` numbers from ``start`` on, one every ``seconds``, the first after ``initial`` seconds (default: ``seconds``).

        ::  --5--6--7|      (start=5, count=3)

        Demand:  MissingBackpressureError when a number is due that the subscriber has not requested.
        Errors:  as said; ValueError or TypeError at assembly for a bad duration or a bad number.
        Memory:  ticks that wait for a busy consumer.
        Thread:  a worker of ``scheduler`` (default: the running loop's, or computation).
        Fusion:  source that pushes.
        Source:  RxJava ``intervalRange``. Without numbers it completes when the first would be due.
        """
        if type(start) is not int:
            raise TypeError(
                f"interval_range(start={start!r}): a whole number is needed, for example Flowable.interval_range(0, 10, 0.5)"
            )
        check_count("interval_range", count)
        check_seconds("interval_range", seconds)
        if scheduler is not None:
            check_scheduler("interval_range", scheduler)
        if initial is not None:
            check_seconds("interval_range", initial, "initial")
        if not count:
            first = seconds if initial is None else initial
            return cls.timer(first, scheduler=scheduler)._then(stages.filter_, _never)
        ticks = cls.interval(seconds, initial=initial, scheduler=scheduler)._counting(stages.take, count)
        return ticks._then(stages.map_, start.__add__) if start else ticks

    @classmethod
    def timer(cls, seconds: float, *, scheduler: Scheduler | None = None) -> Flowable[int]:
        """0 after ``seconds``, then completion.

        ::  -----0|

        Demand:  MissingBackpressureError when it was not requested by then.
        Errors:  as said; ValueError or TypeError at assembly for a bad duration.
        Memory:  none.   Thread: a worker of ``scheduler`` (default: the running loop's, or computation).
        Fusion:  source that pushes.
        Source:  RxJava ``timer``.
        """
        check_seconds("timer", seconds)
        args = (float(seconds), default_scheduler(scheduler, "timer"))
        return cls._from(OperatorHead(operators.Timer, (), args, shown=f"timer({seconds})"))


def _never(_tick: int) -> bool:
    return False

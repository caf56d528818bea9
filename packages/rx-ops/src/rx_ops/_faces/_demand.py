"""How much a source is asked for, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rx_core import Scheduler, check_prefetch
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_count, default_scheduler
from rx_ops._faces._time import check_period

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableDemand(FlowableCore[T_co]):
    """How much a source is asked for, and when."""

    __slots__ = ()

    def rebatch_requests(self, count: int, *, refill: int | None = None) -> Flowable[T_co]:
        """The same items, asked for in batches: ``count`` at first, then ``refill`` each time so many of them were taken.

        For a source that gains by being asked for many, or must not be asked for more, whatever is requested of this.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  a source that pushes is asked for ``count`` items and replenished by ``refill``, 75 % of ``count`` when none is
                 given; a synchronous one gives what is requested.
        Errors:  an error comes behind the items that wait. ValueError at assembly for a ``refill`` greater than ``count``.
        Memory:  ``count`` items.   Thread: the source's, or the one that requests.
        Fusion:  a queue; an item that is wanted goes on without it.
        Source:  RxJava ``rebatchRequests``, Reactor ``limitRate``.
        """
        check_prefetch("rebatch_requests", count, "count")
        if refill is not None:
            check_prefetch("rebatch_requests", refill, "refill")
            if refill > count:
                raise ValueError(
                    f"rebatch_requests({count}, refill={refill}): no more than {count} can have been taken.\n"
                    f"  Right:  .rebatch_requests({refill}, refill={count})"
                )
        shown = f"rebatch_requests({count})" if refill is None else f"rebatch_requests({count}, refill={refill})"
        return self._coordinate(operators.RebatchRequests, count, refill, shown=shown, said=(f"queue: {count} items",))

    def rate_limit(self, count: int, seconds: float, *, scheduler: Scheduler | None = None) -> Flowable[T_co]:
        """The same items, at most ``count`` of them in any ``seconds``; what would be too much comes later, and none is lost.

        ::  -1234|  -->  -12-34|      (2 items in 2 seconds)

        Demand:  asks for no more than may be given by now, so a source that can be asked is not ahead.
        Errors:  pass through, behind items that wait. ValueError or TypeError at assembly for a bad number or duration.
        Memory:  the instants of ``count`` items; what a source that cannot be asked is ahead.
        Thread:  the source's, or a worker of ``scheduler`` (default: the running loop's, or computation).
        Fusion:  coordinating; subscribes on its own.
        Source:  none in RxJava, Reactor and RxPY. What drops items is :meth:`throttle_first`.
        """
        check_count("rate_limit", count, 1)
        check_period("rate_limit", seconds)
        args = (count, float(seconds), default_scheduler(scheduler, "rate_limit"))
        return self._coordinate(operators.RateLimit, *args, shown=2)

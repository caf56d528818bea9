"""Where sources are subscribed and cancelled. No hidden thread: the operator works on a worker that it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rx_core import Scheduler
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_scheduler

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableSubscribeOn(FlowableCore[T_co]):
    """Where sources are subscribed and cancelled."""

    __slots__ = ()

    def subscribe_on(self, scheduler: Scheduler) -> Flowable[T_co]:
        """Subscribes to this stream, and requests from it, on a worker of ``scheduler``.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through, on the worker.   Errors: pass through; RuntimeError when the scheduler was shut down.
        Memory:  none.   Thread: a synchronous source emits on the worker, any other on its own thread.
        Fusion:  a wall; what is before it fuses, what is after it fuses.
        Source:  RxJava ``subscribeOn``.
        """
        check_scheduler("subscribe_on", scheduler)
        return self._from(operators.subscribe_on_head(self, scheduler))

    def unsubscribe_on(self, scheduler: Scheduler) -> Flowable[T_co]:
        """Cancels this stream on a worker of ``scheduler``, for a source whose cancel blocks or belongs to a thread.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: pass through; when the scheduler was shut down, the thread that cancels does it.
        Memory:  none.   Thread: a cancel goes on on a worker; items pass on the thread of the source.
        Fusion:  none; what comes before and behind meets by the protocol.
        Source:  RxJava ``unsubscribeOn``. Nothing more is signalled from the cancel on, whenever the worker gets to it.
        """
        check_scheduler("unsubscribe_on", scheduler)
        said = (f"thread: cancels on a worker of {scheduler!r}",)
        return self._coordinate(operators.UnsubscribeOn, scheduler, shown=f"unsubscribe_on({scheduler!r})", said=said)

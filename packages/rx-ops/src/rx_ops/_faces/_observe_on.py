"""Where signals come. No hidden thread: the operator works on a worker that it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rx_core import GROWING_PREFETCH, Scheduler, check_prefetch
from rx_fusion import OperatorHead
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_scheduler

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableObserveOn(FlowableCore[T_co]):
    """Where signals come."""

    __slots__ = ()

    def observe_on(
        self, scheduler: Scheduler, *, prefetch: int = GROWING_PREFETCH, delay_error: bool = False, latest: bool = False
    ) -> Flowable[T_co]:
        """Signals, and everything after this operator, on a worker of ``scheduler``.

        With ``latest`` the worker finds the newest item: what came before it and was not taken yet is dropped.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  a source that pushes is asked for ``prefetch`` items and replenished at 75 %; a synchronous one gives what is
                 requested. With ``latest`` any source is asked for everything.
        Errors:  an error overtakes the items that wait, unless ``delay_error``; that of a synchronous source comes behind them.
                 RuntimeError when the scheduler is shut down.
        Memory:  ``prefetch`` items; when none is given 128, and step by step up to 4096 while a source on another thread has sent
                 all it may each time the worker runs dry, within a millisecond. A synchronous source is polled by the worker
                 and needs no queue. With ``latest`` one item.
        Thread:  the worker; a synchronous source is computed there, any other is subscribed on the thread that subscribes.
        Fusion:  coordinating; the worker iterates a synchronous source, and polls a foreign one that lets itself be polled.
        Source:  RxJava ``observeOn``, Reactor ``publishOn``.
        """
        check_scheduler("observe_on", scheduler)
        check_prefetch("observe_on", prefetch)
        if latest:
            return self._from(newest_on(self, scheduler, delay_error))
        return self._from(observed_on(self, scheduler, prefetch, delay_error))


def observed_on(source: object, scheduler: Scheduler, prefetch: int, delay_error: bool = False) -> OperatorHead:
    """``source``, of any type, behind observe_on."""
    args = (scheduler, prefetch, delay_error)
    shown = f"observe_on({scheduler!r})"
    return OperatorHead(operators.ObserveOn, (source,), args, window=prefetch, scheduler=scheduler, shown=shown)


def newest_on(source: object, scheduler: Scheduler, delay_error: bool) -> OperatorHead:
    """``source`` behind observe_on that drops what is not the newest."""
    args = (scheduler, delay_error)
    shown = f"observe_on({scheduler!r}, latest=True)"
    return OperatorHead(operators.ObserveLatest, (source,), args, window=1, scheduler=scheduler, shown=shown)

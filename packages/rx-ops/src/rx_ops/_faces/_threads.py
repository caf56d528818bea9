"""Operators for threads and time. No hidden thread: each works on a worker of the scheduler it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rx_core import DEFAULT_PREFETCH, FlowableBase, Publisher, Scheduler, check_prefetch
from rx_fusion import OperatorHead, PublisherHead
from rx_ops import coordination
from rx_ops._faces._core import FlowableCore, check_seconds, check_source, default_scheduler

if TYPE_CHECKING:
    from rx_ops._faces import Flowable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class FlowableThreads(FlowableCore[T_co]):
    """Operators for threads and time."""

    __slots__ = ()

    def subscribe_on(self, scheduler: Scheduler, /) -> Flowable[T_co]:
        """Subscribes to this stream, and requests from it, on a worker of ``scheduler``.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through, on the worker.   Errors: pass through; RuntimeError when the scheduler was shut down.
        Memory:  none.   Thread: a synchronous source emits on the worker, any other on its own thread.
        Fusion:  a wall; what is before it fuses, what is after it fuses.
        Source:  RxJava ``subscribeOn``.
        """
        source: Publisher[T_co] = self
        publisher = coordination.SubscribeOn(source, scheduler)
        said = (f"thread: subscribes and requests on a worker of {scheduler!r}",)
        return self._from(PublisherHead(f"subscribe_on({scheduler!r})", publisher, publisher.__repr__, (self,), said))

    def observe_on(
        self, scheduler: Scheduler, /, *, prefetch: int = DEFAULT_PREFETCH, delay_error: bool = False
    ) -> Flowable[T_co]:
        """Signals, and everything after this operator, on a worker of ``scheduler``.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  a foreign source is asked for ``prefetch`` elements and replenished at 75 %.
        Errors:  an error overtakes the items that wait, unless ``delay_error``.
        Memory:  ``prefetch`` items; a synchronous source is polled by the worker and needs no queue.
        Thread:  the worker, for requesting too: what is upstream of a synchronous source's pipeline runs there.
        Fusion:  coordinating; polls a synchronous source directly, and what follows runs in its loop.
        Source:  RxJava ``observeOn``, Reactor ``publishOn``.
        """
        check_prefetch("observe_on", prefetch)
        return self._coordinate(
            coordination.observe_on,
            window=prefetch,
            scheduler=scheduler,
            eager_error=not delay_error,
            shown=f"observe_on({scheduler!r})",
        )

    def delay(self, seconds: float, /, *, scheduler: Scheduler | None = None, delay_error: bool = False) -> Flowable[T_co]:
        """Items and completion ``seconds`` later; an error at once, unless ``delay_error``.

        ::  --1--2--3|  -->  -----1--2--3|

        Demand:  passes through.   Errors: as said; ValueError or TypeError at assembly for a bad duration.
        Memory:  what arrives within ``seconds``.   Thread: a worker of ``scheduler`` (default: computation).
        Fusion:  coordinating; what follows runs in its loop.
        Source:  RxJava ``delay``.
        """
        check_seconds("delay", seconds)
        return self._coordinate(
            coordination.delay, float(seconds), delay_error, scheduler=default_scheduler(scheduler), shown=f"delay({seconds})"
        )

    def timeout(
        self: FlowableBase[T],
        seconds: float,
        /,
        *,
        fallback: Publisher[T] | None = None,
        scheduler: Scheduler | None = None,
    ) -> Flowable[T]:
        """TimeoutError, or ``fallback``, when no item comes for ``seconds`` after the subscription or after the last item.

        ::  --1--------2|  -->  --1----#

        Demand:  passes through; what is left goes on to ``fallback``.
        Errors:  TimeoutError; ValueError or TypeError at assembly for a bad duration.
        Memory:  none.   Thread: that of the source; the timeout on a worker of ``scheduler`` (default: computation).
        Fusion:  coordinating; our source runs inside. A synchronous source cannot be interrupted between two items.
        Source:  RxJava ``timeout``.
        """
        check_seconds("timeout", seconds)
        if fallback is not None:
            check_source("timeout", fallback)
        return self._coordinate(  # type: ignore[attr-defined,no-any-return]  # self names the base
            coordination.timeout, float(seconds), default_scheduler(scheduler), fallback, shown=f"timeout({seconds})"
        )

    @classmethod
    def interval(cls, seconds: float, /, *, initial: float | None = None, scheduler: Scheduler | None = None) -> Flowable[int]:
        """0, 1, 2, ... every ``seconds``, the first after ``initial`` seconds (default: ``seconds``), for ever.

        ::  --0--1--2--3-

        Demand:  MissingBackpressureError when a tick comes that nobody requested; put ``on_backpressure_drop`` after it.
        Errors:  as said; ValueError or TypeError at assembly for a bad duration.
        Memory:  ticks that wait for a busy consumer.   Thread: a worker of ``scheduler`` (default: computation).
        Fusion:  source of a coordinating kind.
        Source:  RxJava ``interval``. The rate is fixed: a late tick does not delay the next.
        """
        check_seconds("interval", seconds)
        if initial is not None:
            check_seconds("interval", initial, "initial")
        first = float(seconds if initial is None else initial)
        return cls._from(
            OperatorHead(
                coordination.interval,
                (),
                (first, float(seconds), default_scheduler(scheduler)),
                shown=f"interval({seconds})",
            )
        )

    @classmethod
    def timer(cls, seconds: float, /, *, scheduler: Scheduler | None = None) -> Flowable[int]:
        """0 after ``seconds``, then completion.

        ::  -----0|

        Demand:  MissingBackpressureError when nobody has requested it by then.
        Errors:  as said; ValueError or TypeError at assembly for a bad duration.
        Memory:  none.   Thread: a worker of ``scheduler`` (default: computation).
        Fusion:  source of a coordinating kind.
        Source:  RxJava ``timer``.
        """
        check_seconds("timer", seconds)
        args = (float(seconds), default_scheduler(scheduler))
        return cls._from(OperatorHead(coordination.timer, (), args, shown=f"timer({seconds})"))

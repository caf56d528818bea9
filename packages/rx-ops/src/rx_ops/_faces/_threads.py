"""Operators for threads and time. No hidden thread: each works on a worker of the scheduler it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import GROWING_PREFETCH, FlowableBase, Publisher, Scheduler, check_prefetch, name_of
from rx_fusion import OperatorHead, PublisherHead
from rx_ops import coordination
from rx_ops._faces._core import FlowableCore, check_callable, check_scheduler, check_seconds, check_source, default_scheduler

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
        check_scheduler("subscribe_on", scheduler)
        source: Publisher[T_co] = self
        publisher = coordination.SubscribeOn(source, scheduler)
        said = (f"thread: subscribes and requests on a worker of {scheduler!r}",)
        return self._from(PublisherHead(f"subscribe_on({scheduler!r})", publisher, publisher.__repr__, (self,), said))

    def observe_on(
        self, scheduler: Scheduler, /, *, prefetch: int = GROWING_PREFETCH, delay_error: bool = False
    ) -> Flowable[T_co]:
        """Signals, and everything after this operator, on a worker of ``scheduler``.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  a foreign source is asked for ``prefetch`` elements and replenished at 75 %.
        Errors:  an error overtakes the items that wait, unless ``delay_error``.
        Memory:  ``prefetch`` items; when none is given 128, and step by step up to 1024 while a source on another thread has sent
            all it may each time the worker runs dry. A synchronous source is polled by the worker and needs no queue.
        Thread:  the worker, for requesting too: what is upstream of a synchronous source's pipeline runs there.
        Fusion:  coordinating; polls a synchronous source directly, and what follows runs in its loop.
        Source:  RxJava ``observeOn``, Reactor ``publishOn``.
        """
        check_scheduler("observe_on", scheduler)
        check_prefetch("observe_on", prefetch)
        return self._coordinate(
            coordination.observe_on,
            window=prefetch,
            scheduler=scheduler,
            eager_error=not delay_error,
            shown=f"observe_on({scheduler!r})",
        )

    @overload
    def delay(self, seconds: float, /, *, scheduler: Scheduler | None = None, delay_error: bool = False) -> Flowable[T_co]: ...
    @overload
    def delay(
        self, /, *, selector: Callable[[T_co], Publisher[object]], subscription: Publisher[object] | None = None
    ) -> Flowable[T_co]: ...
    def delay(
        self,
        seconds: float | None = None,
        /,
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
        Thread:  a worker of ``scheduler`` (default: computation), or that of the source that was waited for.
        Fusion:  coordinating; what follows runs in its loop.
        Source:  RxJava ``delay``.
        """
        if selector is not None:
            if seconds is not None or scheduler is not None or delay_error:
                raise TypeError("delay() takes seconds or selector=..., not both")
            check_callable("delay", "selector", selector)
            if subscription is not None:
                check_source("delay", subscription)
            source = self if subscription is None else self.delay_subscription(until=subscription)  # type: ignore[attr-defined]  # of another family
            shown = f"delay({name_of(selector)})"
            return self._from(OperatorHead(coordination.delay_by, (source,), (selector, 128), window=128, shown=shown))
        if subscription is not None:
            raise TypeError("delay() takes subscription=... only with selector=....\n  Right:  .delay_subscription(until=...)")
        check_seconds("delay", seconds)
        args, clock = (float(seconds or 0), delay_error), default_scheduler(scheduler, "delay")
        return self._coordinate(coordination.delay, *args, scheduler=clock, shown=f"delay({seconds})")

    @overload
    def timeout(
        self: FlowableBase[T],
        seconds: float,
        /,
        *,
        fallback: Publisher[T] | None = None,
        scheduler: Scheduler | None = None,
    ) -> Flowable[T]: ...
    @overload
    def timeout(
        self: FlowableBase[T],
        /,
        *,
        selector: Callable[[T], Publisher[object]],
        first: Publisher[object] | None = None,
        fallback: Publisher[T] | None = None,
    ) -> Flowable[T]: ...
    def timeout(
        self: Any,
        seconds: float | None = None,
        /,
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
        Thread:  that of the source; the timeout on a worker of ``scheduler`` (default: computation), or on the other source's.
        Fusion:  coordinating; our source runs inside. A synchronous source cannot be interrupted between two items.
        Source:  RxJava ``timeout``.
        """
        if fallback is not None:
            check_source("timeout", fallback)
        if selector is not None:
            if seconds is not None or scheduler is not None:
                raise TypeError("timeout() takes seconds or selector=..., not both")
            check_callable("timeout", "selector", selector)
            if first is not None:
                check_source("timeout", first)
            shown = f"timeout({name_of(selector)})"
            return self._coordinate(coordination.timeout_by, first, selector, fallback, shown=shown)
        if first is not None:
            raise TypeError("timeout() takes first=... only with selector=...")
        check_seconds("timeout", seconds)
        args = (float(seconds or 0), default_scheduler(scheduler, "timeout"), fallback)
        return self._coordinate(coordination.timeout, *args, shown=f"timeout({seconds})")

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
                (first, float(seconds), default_scheduler(scheduler, "interval")),
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
        args = (float(seconds), default_scheduler(scheduler, "timer"))
        return cls._from(OperatorHead(coordination.timer, (), args, shown=f"timer({seconds})"))

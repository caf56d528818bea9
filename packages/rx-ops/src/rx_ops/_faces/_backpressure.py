"""Operators between a source that cannot be asked and a slower consumer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import UNBOUNDED, FlowableBase, Scheduler, check_prefetch, name_of
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_callable, check_seconds, default_scheduler
from rx_ops.operators import OverflowStrategy

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableBackpressure(FlowableCore[T_co]):
    """Operators between a source that cannot be asked and a slower consumer."""

    __slots__ = ()

    def on_backpressure_buffer(
        self,
        capacity: int | None = None,
        *,
        on_drop: Callable[[T_co], object] | None = None,
        overflow: OverflowStrategy = OverflowStrategy.ERROR,
        delay_error: bool = False,
    ) -> Flowable[T_co]:
        """Lets items wait until they are requested, at most ``capacity`` of them.

        ::  --1-2-3|  -->  --1---2---3|

        Demand:  asks the source for everything.
        Errors:  MissingBackpressureError when the buffer is full, unless ``overflow`` says what to drop. An error overtakes the
                 items that wait, and they are lost; with ``delay_error`` it waits behind them.
        Memory:  ``capacity`` items; without it whatever the source is ahead.
        Thread:  the source's, or the one that requests.   Fusion: a queue; what follows runs behind it.
        Source:  RxJava ``onBackpressureBuffer``. ``on_drop`` is called with each item given up. Of "the latest" there are two:
                 ``DROP_LATEST`` drops the one that waited last, as in RxJava, and ``DROP_INCOMING`` the one that came, as in
                 Reactor.
        """
        if capacity is not None:
            check_prefetch("on_backpressure_buffer", capacity, "capacity")
        if on_drop is not None:
            check_callable("on_backpressure_buffer", "on_drop", on_drop)
        if not isinstance(overflow, OverflowStrategy):
            raise TypeError(
                f"on_backpressure_buffer() needs an OverflowStrategy, got {overflow!r}.\n"
                f"  Right:  .on_backpressure_buffer(128, overflow=OverflowStrategy.DROP_OLDEST)"
            )
        bound = UNBOUNDED if capacity is None else capacity
        return self._coordinate(
            operators.OnBackpressureBuffer,
            bound,
            on_drop,
            overflow,
            delay_error,
            shown=f"on_backpressure_buffer({'' if capacity is None else capacity})",
            said=(f"queue: {'without bound' if capacity is None else f'{capacity} items'}",),
        )

    def on_backpressure_drop(self, on_drop: Callable[[T_co], object] | None = None) -> Flowable[T_co]:
        """Drops items that come without having been requested.

        ::  --1-2-3|  -->  --1-----|

        Demand:  asks the source for everything.   Errors: pass through; what ``on_drop`` raises ends the stream.
        Memory:  what is requested and not yet taken.   Thread: the source's.   Fusion: a queue; what follows runs behind it.
        Source:  RxJava ``onBackpressureDrop``.
        """
        if on_drop is not None:
            check_callable("on_backpressure_drop", "on_drop", on_drop)
        said = ("queue: what is requested; the rest is dropped",)
        return self._coordinate(operators.OnBackpressureDrop, on_drop, said=said)

    def on_backpressure_latest(self, on_drop: Callable[[T_co], object] | None = None) -> Flowable[T_co]:
        """Keeps only the newest of the items that were not requested.

        ::  --1-2-3|  -->  --1-----3|

        Demand:  asks the source for everything.   Errors: pass through; what ``on_drop`` raises ends the stream.
        Memory:  one item besides what is requested.   Thread: the source's, or the one that requests.
        Fusion:  a queue; what follows runs behind it.
        Source:  RxJava ``onBackpressureLatest``.
        """
        if on_drop is not None:
            check_callable("on_backpressure_latest", "on_drop", on_drop)
        said = ("queue: what is requested, and one more",)
        return self._coordinate(operators.OnBackpressureLatest, on_drop, said=said)

    @overload
    def on_backpressure_reduce(self: FlowableBase[T], reducer: Callable[[T, T], T]) -> Flowable[T]: ...
    @overload
    def on_backpressure_reduce(self, reducer: Callable[[R, T_co], R], *, supplier: Callable[[], R]) -> Flowable[R]: ...
    def on_backpressure_reduce(self: Any, reducer: Any, *, supplier: Any = None) -> Any:
        """Makes one item of those that were not requested: ``reducer(total, item)`` takes up another one.

        With a ``supplier`` each total starts with what it returns, and all that is given went through ``reducer``, also an item
        that was requested when it came.

        ::  --1-2-3|  -->  --1-----5|      (2 and 3 were added up)

        Demand:  asks the source for everything.
        Errors:  overtake the item that waits; what ``reducer`` and ``supplier`` raise ends the stream, TypeError when one returns
                 None.
        Memory:  one item besides what is requested.   Thread: the source's, or the one that requests.
        Fusion:  a queue; what follows runs behind it.
        Source:  RxJava ``onBackpressureReduce``.
        """
        check_callable("on_backpressure_reduce", "reducer", reducer)
        said = ("queue: what is requested, and one total",)
        if supplier is None:
            return self._coordinate(operators.OnBackpressureReduce, reducer, said=said)
        check_callable("on_backpressure_reduce", "supplier", supplier)
        shown = f"on_backpressure_reduce({name_of(reducer)}, supplier={name_of(supplier)})"
        return self._coordinate(operators.OnBackpressureReduceWith, supplier, reducer, shown=shown, said=said)

    def on_backpressure_timeout(
        self,
        seconds: float,
        *,
        capacity: int | None = None,
        on_drop: Callable[[T_co], object] | None = None,
        scheduler: Scheduler | None = None,
    ) -> Flowable[T_co]:
        """Lets items wait until they are requested, each for ``seconds`` at most; then it is dropped.

        Of more than ``capacity`` items that wait the oldest is dropped.

        ::  -1-2---3|  -->  -1-----3|      (2 waited too long)

        Demand:  asks the source for everything.
        Errors:  wait behind the items that wait; what ``on_drop`` raises ends the stream at once. ValueError or TypeError at
                 assembly for a bad duration.
        Memory:  ``capacity`` items; without it what came in ``seconds``.
        Thread:  the source's, or the one that requests; ``on_drop`` and the end also on a worker of ``scheduler`` (default:
                 computation).
        Fusion:  a queue; what follows runs behind it.
        Source:  Reactor ``onBackpressureBuffer(ttl, maxSize, onEvict)``. ``on_drop`` is called with each item given up.
        """
        check_seconds("on_backpressure_timeout", seconds)
        if capacity is not None:
            check_prefetch("on_backpressure_timeout", capacity, "capacity")
        if on_drop is not None:
            check_callable("on_backpressure_timeout", "on_drop", on_drop)
        bound = UNBOUNDED if capacity is None else capacity
        args = (float(seconds), bound, default_scheduler(scheduler, "on_backpressure_timeout"), on_drop)
        said = (f"queue: what came in {seconds} s" + ("" if capacity is None else f", at most {capacity} items"),)
        return self._coordinate(operators.OnBackpressureTimeout, *args, shown=1, said=said)

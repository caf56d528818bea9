"""Operators between a source that cannot be asked and a slower consumer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rx_core import UNBOUNDED, check_prefetch
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_callable
from rx_ops.operators import OverflowStrategy

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableBackpressure(FlowableCore[T_co]):
    """Operators between a source that cannot be asked and a slower consumer."""

    __slots__ = ()

    def on_backpressure_buffer(
        self,
        capacity: int | None = None,
        /,
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
        Source:  RxJava ``onBackpressureBuffer``. ``on_drop`` is called with each item given up.
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

    def on_backpressure_drop(self, on_drop: Callable[[T_co], object] | None = None, /) -> Flowable[T_co]:
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

    def on_backpressure_latest(self, on_drop: Callable[[T_co], object] | None = None, /) -> Flowable[T_co]:
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

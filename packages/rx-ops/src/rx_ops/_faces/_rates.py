"""Items that come too fast: which of them count."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, overload

from rx_core import Publisher, Scheduler
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_callable, check_seconds, check_source, default_scheduler
from rx_ops._faces._time import check_period, naming

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableRates(FlowableCore[T_co]):
    """Items that come too fast."""

    __slots__ = ()

    @overload
    def debounce(
        self, seconds: float, *, scheduler: Scheduler | None = None, on_drop: Callable[[T_co], object] | None = None
    ) -> Flowable[T_co]: ...
    @overload
    def debounce(
        self, *, selector: Callable[[T_co], Publisher[object]], on_drop: Callable[[T_co], object] | None = None
    ) -> Flowable[T_co]: ...
    def debounce(
        self,
        seconds: float | None = None,
        *,
        selector: Callable[[T_co], Publisher[object]] | None = None,
        scheduler: Scheduler | None = None,
        on_drop: Callable[[T_co], object] | None = None,
    ) -> Flowable[T_co]:
        """An item once nothing has come for ``seconds`` after it, or once the source that ``selector`` made of it signals.

        ::  -1-2----3--|  -->  ------2----3|

        Demand:  everything is taken from upstream; MissingBackpressureError when an item is due that was not requested.
        Errors:  pass at once and drop the item that waits; what ``selector`` raises and what its source fails with; TypeError or
                 ValueError at assembly for a bad duration.
        Memory:  one item.
        Thread:  a worker of ``scheduler`` (default: the running loop's, or computation), or that of the selected source.
        Fusion:  coordinating; subscribes on its own, so that an item counts from the moment it comes.
        Source:  RxJava ``debounce``, Reactor ``sampleTimeout``. The last item is given at completion. ``on_drop`` is
                 called with each item that another one replaced.
        """
        check_drop("debounce", on_drop)
        if selector is not None:
            if seconds is not None or scheduler is not None:
                raise TypeError("debounce() takes seconds or selector=..., not both")
            check_callable("debounce", "selector", selector)
            return self._coordinate(operators.DebounceBy, selector, on_drop, shown=1)
        check_seconds("debounce", seconds)
        args = (seconds, default_scheduler(scheduler, "debounce"), on_drop)
        return self._coordinate(operators.Debounce, *args, shown=f"debounce({seconds})")

    @overload
    def sample(
        self,
        seconds: float,
        *,
        emit_last: bool = False,
        scheduler: Scheduler | None = None,
        on_drop: Callable[[T_co], object] | None = None,
    ) -> Flowable[T_co]: ...
    @overload
    def sample(
        self, *, sampler: Publisher[object], emit_last: bool = False, on_drop: Callable[[T_co], object] | None = None
    ) -> Flowable[T_co]: ...
    def sample(
        self,
        seconds: float | None = None,
        *,
        sampler: Publisher[object] | None = None,
        emit_last: bool = False,
        scheduler: Scheduler | None = None,
        on_drop: Callable[[T_co], object] | None = None,
    ) -> Flowable[T_co]:
        """The newest item every ``seconds``, or whenever ``sampler`` gives something; nothing when none came meanwhile.

        ::  -1-2-----3-|  -->  -----2-----|      (every 5)

        Demand:  everything is taken from upstream; MissingBackpressureError when an item is due that was not requested.
        Errors:  pass at once, those of ``sampler`` too; TypeError or ValueError at assembly for a bad duration or source.
        Memory:  one item, and the samples that a late worker has not taken.
        Thread:  a worker of ``scheduler`` (default: the running loop's, or computation), or that of ``sampler``.
        Fusion:  coordinating; subscribes on its own, so that an item counts from the moment it comes.
        Source:  RxJava ``sample``. With ``emit_last`` the item that waits at completion is given too. The end of ``sampler`` is
                 the end. ``on_drop`` is called with each item that another one replaced.
        """
        check_drop("sample", on_drop)
        if sampler is not None:
            if seconds is not None or scheduler is not None:
                raise TypeError("sample() takes seconds or sampler=..., not both")
            check_source("sample", sampler, "sampler")
            return self._coordinate(
                operators.SampleBy, sampler, emit_last, on_drop, shown=naming("sample(sampler={!r})", sampler)
            )
        check_period("sample", seconds)
        args = (seconds, default_scheduler(scheduler, "sample"), emit_last, on_drop)
        return self._coordinate(operators.Sample, *args, shown=f"sample({seconds})")

    def throttle_first(
        self, seconds: float, *, scheduler: Scheduler | None = None, on_drop: Callable[[T_co], object] | None = None
    ) -> Flowable[T_co]:
        """An item, then none for ``seconds``, then the next that comes.

        ::  -1-2-----3-4|  -->  -1-------3--|

        Demand:  everything is taken from upstream; MissingBackpressureError when an item passes that was not requested.
        Errors:  pass behind the items; TypeError or ValueError at assembly for a bad duration.
        Memory:  items that wait for a busy consumer.   Thread: that of the source.
        Fusion:  coordinating; subscribes on its own. The clock is that of ``scheduler`` (default: the running loop's, or
                 computation), nothing rings.
        Source:  RxJava ``throttleFirst``. ``on_drop`` is called with each item left out.
        """
        check_seconds("throttle_first", seconds)
        check_drop("throttle_first", on_drop)
        args = (seconds, default_scheduler(scheduler, "throttle_first"), on_drop)
        return self._coordinate(operators.ThrottleFirst, *args, shown=f"throttle_first({seconds})")

    def throttle_latest(
        self,
        seconds: float,
        *,
        emit_last: bool = False,
        scheduler: Scheduler | None = None,
        on_drop: Callable[[T_co], object] | None = None,
    ) -> Flowable[T_co]:
        """An item at once, then every ``seconds`` the newest of those that came meanwhile; when none came, the next at once.

        ::  -1-2-3-------4|  -->  -1---3-------4|

        Demand:  everything is taken from upstream; MissingBackpressureError when an item is due that was not requested.
        Errors:  pass at once and drop the one that waits; TypeError or ValueError at assembly for a bad duration.
        Memory:  one item, and those that wait for a busy consumer.
        Thread:  that of the source, or a worker of ``scheduler`` (default: the running loop's, or computation) at the end of a
                 period.
        Fusion:  coordinating; subscribes on its own, so that an item counts from the moment it comes.
        Source:  RxJava ``throttleLatest``. With ``emit_last`` the item that waits at completion is given too. ``on_drop`` is
                 called with each item that another one replaced.
        """
        check_period("throttle_latest", seconds)
        check_drop("throttle_latest", on_drop)
        args = (seconds, default_scheduler(scheduler, "throttle_latest"), emit_last, on_drop)
        return self._coordinate(operators.ThrottleLatest, *args, shown=f"throttle_latest({seconds})")


def check_drop(operator: str, on_drop: object) -> None:
    """Raise at assembly when what is to be called with dropped items is no function."""
    if on_drop is not None:
        check_callable(operator, "on_drop", on_drop)

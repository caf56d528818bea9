"""Operators that look at the clock: when items came, and which of them count."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import Publisher, Scheduler
from rx_ops import coordination
from rx_ops._faces._core import FlowableCore, check_callable, check_seconds, check_source, default_scheduler
from rx_ops.coordination import Timed

if TYPE_CHECKING:
    from rx_ops._faces import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableTime(FlowableCore[T_co]):
    """Operators that look at the clock."""

    __slots__ = ()

    @overload
    def debounce(
        self, seconds: float, /, *, scheduler: Scheduler | None = None, on_drop: Callable[[T_co], object] | None = None
    ) -> Flowable[T_co]: ...
    @overload
    def debounce(
        self, /, *, selector: Callable[[T_co], Publisher[object]], on_drop: Callable[[T_co], object] | None = None
    ) -> Flowable[T_co]: ...
    def debounce(
        self,
        seconds: float | None = None,
        /,
        *,
        selector: Callable[[T_co], Publisher[object]] | None = None,
        scheduler: Scheduler | None = None,
        on_drop: Callable[[T_co], object] | None = None,
    ) -> Flowable[T_co]:
        """An item once nothing has come for ``seconds`` after it, or once the source that ``selector`` made of it signals.

        ::  -1-2----3--|  -->  ------2----3|

        Demand:  everything is taken from upstream; MissingBackpressureError when an item is due and nobody has requested it.
        Errors:  pass at once and drop the item that waits; what ``selector`` raises and what its source fails with; TypeError or
                 ValueError at assembly for a bad duration.
        Memory:  one item.   Thread: a worker of ``scheduler`` (default: computation), or that of the selected source.
        Fusion:  coordinating; subscribes on its own, so that an item counts from the moment it comes.
        Source:  RxJava ``debounce``, Reactor ``sampleTimeout``. The last item is given at completion. ``on_drop`` is
                 called with each item that another one replaced.
        """
        check_drop("debounce", on_drop)
        if selector is not None:
            if seconds is not None or scheduler is not None:
                raise TypeError("debounce() takes seconds or selector=..., not both")
            check_callable("debounce", "selector", selector)
            return self._coordinate(coordination.debounce_by, selector, on_drop)
        check_seconds("debounce", seconds)
        args = (seconds, default_scheduler(scheduler, "debounce"), on_drop)
        return self._coordinate(coordination.debounce, *args, shown=f"debounce({seconds})")

    @overload
    def sample(
        self,
        seconds: float,
        /,
        *,
        emit_last: bool = False,
        scheduler: Scheduler | None = None,
        on_drop: Callable[[T_co], object] | None = None,
    ) -> Flowable[T_co]: ...
    @overload
    def sample(
        self, /, *, sampler: Publisher[object], emit_last: bool = False, on_drop: Callable[[T_co], object] | None = None
    ) -> Flowable[T_co]: ...
    def sample(
        self,
        seconds: float | None = None,
        /,
        *,
        sampler: Publisher[object] | None = None,
        emit_last: bool = False,
        scheduler: Scheduler | None = None,
        on_drop: Callable[[T_co], object] | None = None,
    ) -> Flowable[T_co]:
        """The newest item every ``seconds``, or whenever ``sampler`` gives something; nothing when none came meanwhile.

        ::  -1-2-----3-|  -->  -----2-----|      (every 5)

        Demand:  everything is taken from upstream; MissingBackpressureError when an item is due and nobody has requested it.
        Errors:  pass at once, those of ``sampler`` too; TypeError or ValueError at assembly for a bad duration or source.
        Memory:  one item, and the samples that a late worker has not taken.
        Thread:  a worker of ``scheduler`` (default: computation), or that of ``sampler``.
        Fusion:  coordinating; subscribes on its own, so that an item counts from the moment it comes.
        Source:  RxJava ``sample``. With ``emit_last`` the item that waits at completion is given too. The end of ``sampler`` is
                 the end. ``on_drop`` is called with each item that another one replaced.
        """
        check_drop("sample", on_drop)
        if sampler is not None:
            if seconds is not None or scheduler is not None:
                raise TypeError("sample() takes seconds or sampler=..., not both")
            check_source("sample", sampler)
            return self._coordinate(
                coordination.sample_by, sampler, emit_last, on_drop, shown=naming("sample(sampler={!r})", sampler)
            )
        check_period("sample", seconds)
        args = (seconds, default_scheduler(scheduler, "sample"), emit_last, on_drop)
        return self._coordinate(coordination.sample, *args, shown=f"sample({seconds})")

    def throttle_first(
        self, seconds: float, /, *, scheduler: Scheduler | None = None, on_drop: Callable[[T_co], object] | None = None
    ) -> Flowable[T_co]:
        """An item, then none for ``seconds``, then the next that comes.

        ::  -1-2-----3-4|  -->  -1-------3--|

        Demand:  everything is taken from upstream; MissingBackpressureError when an item passes and nobody has requested it.
        Errors:  pass behind the items; TypeError or ValueError at assembly for a bad duration.
        Memory:  items that wait for a busy consumer.   Thread: that of the source.
        Fusion:  coordinating; subscribes on its own. The clock is that of ``scheduler`` (default: computation), nothing rings.
        Source:  RxJava ``throttleFirst``. ``on_drop`` is called with each item left out.
        """
        check_seconds("throttle_first", seconds)
        check_drop("throttle_first", on_drop)
        args = (seconds, default_scheduler(scheduler, "throttle_first"), on_drop)
        return self._coordinate(coordination.throttle_first, *args, shown=f"throttle_first({seconds})")

    def throttle_latest(
        self,
        seconds: float,
        /,
        *,
        emit_last: bool = False,
        scheduler: Scheduler | None = None,
        on_drop: Callable[[T_co], object] | None = None,
    ) -> Flowable[T_co]:
        """An item at once, then every ``seconds`` the newest of those that came meanwhile; when none came, the next at once.

        ::  -1-2-3-------4|  -->  -1---3-------4|

        Demand:  everything is taken from upstream; MissingBackpressureError when an item is due and nobody has requested it.
        Errors:  pass behind the items and drop the one that waits; TypeError or ValueError at assembly for a bad duration.
        Memory:  one item, and those that wait for a busy consumer.
        Thread:  that of the source, or a worker of ``scheduler`` (default: computation) at the end of a period.
        Fusion:  coordinating; subscribes on its own, so that an item counts from the moment it comes.
        Source:  RxJava ``throttleLatest``. With ``emit_last`` the item that waits at completion is given too. ``on_drop`` is
                 called with each item that another one replaced.
        """
        check_period("throttle_latest", seconds)
        check_drop("throttle_latest", on_drop)
        args = (seconds, default_scheduler(scheduler, "throttle_latest"), emit_last, on_drop)
        return self._coordinate(coordination.throttle_latest, *args, shown=f"throttle_latest({seconds})")

    @overload
    def delay_subscription(self, seconds: float, /, *, scheduler: Scheduler | None = None) -> Flowable[T_co]: ...
    @overload
    def delay_subscription(self, /, *, until: Publisher[object]) -> Flowable[T_co]: ...
    def delay_subscription(
        self, seconds: float | None = None, /, *, until: Publisher[object] | None = None, scheduler: Scheduler | None = None
    ) -> Flowable[T_co]:
        """Subscribes to this stream ``seconds`` later, or when ``until`` gives an item or completes.

        ::  --1--2|  -->  -------1--2|

        Demand:  passes through; ``until`` is asked for everything and cancelled after its first item.
        Errors:  pass through; an error of ``until`` is the end. TypeError or ValueError at assembly for a bad duration or source.
        Memory:  none.   Thread: subscribes on a worker of ``scheduler`` (default: computation), or on that of ``until``.
        Fusion:  coordinating; our source runs inside.
        Source:  RxJava ``delaySubscription``.
        """
        if until is not None:
            if seconds is not None or scheduler is not None:
                raise TypeError("delay_subscription() takes seconds or until=..., not both")
            check_source("delay_subscription", until)
            return self._coordinate(
                coordination.delay_subscription_until, until, shown=naming("delay_subscription(until={!r})", until)
            )
        check_seconds("delay_subscription", seconds)
        args = (seconds, default_scheduler(scheduler, "delay_subscription"))
        return self._coordinate(coordination.delay_subscription, *args, shown=f"delay_subscription({seconds})")

    def timestamp(self, *, scheduler: Scheduler | None = None) -> Flowable[Timed[T_co]]:
        """Each item with the time at which it came, as ``Timed(value, seconds)`` on the clock of ``scheduler``.

        ::  -a---b-|  -->  -x---y-|      (x = Timed(a, 1.0), y = Timed(b, 5.0))

        Demand:  passes through.   Errors: pass through.
        Memory:  none.   Thread: the one that requests.
        Fusion:  coordinating; our source runs inside. Default scheduler: computation, of which only the clock is used.
        Source:  RxJava ``timestamp``.
        """
        return self._coordinate(coordination.timestamp, default_scheduler(scheduler, "timestamp"), shown="timestamp()")

    def time_interval(self, *, scheduler: Scheduler | None = None) -> Flowable[Timed[T_co]]:
        """Each item with the seconds since the one before, or since the subscription, as ``Timed(value, seconds)``.

        ::  -a---b-|  -->  -x---y-|      (x = Timed(a, 1.0), y = Timed(b, 4.0))

        Demand:  passes through.   Errors: pass through.
        Memory:  none.   Thread: the one that requests.
        Fusion:  coordinating; our source runs inside. Default scheduler: computation, of which only the clock is used.
        Source:  RxJava ``timeInterval``, Reactor ``timed``.
        """
        return self._coordinate(
            coordination.time_interval, default_scheduler(scheduler, "time_interval"), shown="time_interval()"
        )


def check_drop(operator: str, on_drop: object) -> None:
    """Raise at assembly when what is to be called with dropped items is no function."""
    if on_drop is not None:
        check_callable(operator, "on_drop", on_drop)


def check_period(operator: str, seconds: Any, name: str = "seconds") -> None:
    """Raise at assembly when the length of a period is not a positive number of seconds."""
    check_seconds(operator, seconds, name)
    if seconds == 0:
        raise ValueError(f"{operator}({name}=0): a period has to last, for example {operator}(0.5)")


def naming(call: str, source: object) -> Callable[[], str]:
    """A call with a source in it, written when somebody asks for it."""
    return partial(call.format, source)

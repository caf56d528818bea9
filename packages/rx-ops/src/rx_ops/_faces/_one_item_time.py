"""Single, Maybe and Completable: operators that look at the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import CompletableBase, MaybeBase, Publisher, Scheduler, SingleBase
from rx_fusion import OperatorHead
from rx_ops import operators
from rx_ops._faces._core import check_seconds, check_source, default_scheduler
from rx_ops._faces._time import naming
from rx_ops.operators import Timed

if TYPE_CHECKING:
    from rx_fusion import Head
    from rx_ops._faces._results import Completable, Maybe, Single

T_co = TypeVar("T_co", covariant=True)


def _later(source: Any, seconds: float | None, until: Publisher[object] | None, scheduler: Scheduler | None) -> OperatorHead:
    if until is not None:
        if seconds is not None or scheduler is not None:
            raise TypeError("delay_subscription() takes seconds or until=..., not both")
        check_source("delay_subscription", until)
        shown = naming("delay_subscription(until={!r})", until)
        return OperatorHead(operators.DelaySubscriptionUntil, (source,), (until,), shown=shown)
    check_seconds("delay_subscription", seconds)
    args = (seconds, default_scheduler(scheduler, "delay_subscription"))
    return OperatorHead(operators.DelaySubscription, (source,), args, shown=f"delay_subscription({seconds})")


def _timestamp(source: Any, scheduler: Scheduler | None) -> OperatorHead:
    return OperatorHead(operators.Timestamp, (source,), (default_scheduler(scheduler, "timestamp"),), shown="timestamp()")


def _time_interval(source: Any, scheduler: Scheduler | None) -> OperatorHead:
    return OperatorHead(
        operators.TimeInterval, (source,), (default_scheduler(scheduler, "time_interval"),), shown="time_interval()"
    )


class SingleTime(SingleBase[T_co]):
    """Operators of Single that look at the clock."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: Head) -> Single[Any]: ...

    @overload
    def delay_subscription(self, seconds: float, /, *, scheduler: Scheduler | None = None) -> Single[T_co]: ...
    @overload
    def delay_subscription(self, /, *, until: Publisher[object]) -> Single[T_co]: ...
    def delay_subscription(
        self, seconds: float | None = None, /, *, until: Publisher[object] | None = None, scheduler: Scheduler | None = None
    ) -> Single[T_co]:
        """Subscribes ``seconds`` later, or when ``until`` gives an item or completes; an error of ``until`` is the end."""
        return self._from(_later(self, seconds, until, scheduler))

    def timestamp(self, *, scheduler: Scheduler | None = None) -> Single[Timed[T_co]]:
        """The item with the time at which it came, as ``Timed(value, seconds)``."""
        return self._from(_timestamp(self, scheduler))

    def time_interval(self, *, scheduler: Scheduler | None = None) -> Single[Timed[T_co]]:
        """The item with the seconds since the subscription, as ``Timed(value, seconds)``."""
        return self._from(_time_interval(self, scheduler))


class MaybeTime(MaybeBase[T_co]):
    """Operators of Maybe that look at the clock."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: Head) -> Maybe[Any]: ...

    @overload
    def delay_subscription(self, seconds: float, /, *, scheduler: Scheduler | None = None) -> Maybe[T_co]: ...
    @overload
    def delay_subscription(self, /, *, until: Publisher[object]) -> Maybe[T_co]: ...
    def delay_subscription(
        self, seconds: float | None = None, /, *, until: Publisher[object] | None = None, scheduler: Scheduler | None = None
    ) -> Maybe[T_co]:
        """Subscribes ``seconds`` later, or when ``until`` gives an item or completes; an error of ``until`` is the end."""
        return self._from(_later(self, seconds, until, scheduler))

    def timestamp(self, *, scheduler: Scheduler | None = None) -> Maybe[Timed[T_co]]:
        """The item, if there is one, with the time at which it came, as ``Timed(value, seconds)``."""
        return self._from(_timestamp(self, scheduler))

    def time_interval(self, *, scheduler: Scheduler | None = None) -> Maybe[Timed[T_co]]:
        """The item, if there is one, with the seconds since the subscription, as ``Timed(value, seconds)``."""
        return self._from(_time_interval(self, scheduler))


class CompletableTime(CompletableBase):
    """Operators of Completable that look at the clock."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: Head) -> Completable: ...

    @overload
    def delay_subscription(self, seconds: float, /, *, scheduler: Scheduler | None = None) -> Completable: ...
    @overload
    def delay_subscription(self, /, *, until: Publisher[object]) -> Completable: ...
    def delay_subscription(
        self, seconds: float | None = None, /, *, until: Publisher[object] | None = None, scheduler: Scheduler | None = None
    ) -> Completable:
        """Subscribes ``seconds`` later, or when ``until`` gives an item or completes; an error of ``until`` is the end."""
        return self._from(_later(self, seconds, until, scheduler))

"""Single, Maybe and Completable: giving what they have later, and not waiting for it for ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import CompletableBase, MaybeBase, Scheduler, SingleBase, name_of
from rx_fusion import OperatorHead
from rx_ops import operators
from rx_ops._faces._core import check_callable, check_seconds, check_source, default_scheduler
from rx_ops._faces._one_item_around import AnySource, only_end

if TYPE_CHECKING:
    from rx_fusion import Head
    from rx_ops._faces._results import Completable, Maybe, Single

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


def _delayed(source: Any, seconds: float | None, scheduler: Scheduler | None, delay_error: bool) -> OperatorHead:
    check_seconds("delay", seconds)
    args = (float(seconds or 0), delay_error, default_scheduler(scheduler, "delay"))
    return OperatorHead(operators.Delay, (source,), args, shown=f"delay({seconds})")


def _delayed_by(source: Any, seconds: float | None, selector: Callable[[Any], AnySource], *others: object) -> OperatorHead:
    if seconds is not None or any(others):
        raise TypeError("delay() takes seconds or selector=..., not both")
    check_callable("delay", "selector", selector)
    return OperatorHead(operators.DelayBy, (source,), (selector, 1), shown=f"delay({name_of(selector)})")


def _limited(
    source: Any, seconds: float | None, until: AnySource | None, fallback: object | None, scheduler: Scheduler | None
) -> OperatorHead:
    if fallback is not None:
        check_source("timeout", fallback)
    if until is not None:
        if seconds is not None or scheduler is not None:
            raise TypeError("timeout() takes seconds or first=..., not both")
        check_source("timeout", until)
        return OperatorHead(operators.TimeoutBy, (source,), (until, None, fallback), shown="timeout(first)")
    check_seconds("timeout", seconds)
    args = (float(seconds or 0), default_scheduler(scheduler, "timeout"), fallback)
    return OperatorHead(operators.Timeout, (source,), args, shown=f"timeout({seconds})")


class SingleLate(SingleBase[T_co]):
    """Delays and time-outs of a Single."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: Head) -> Single[Any]: ...

    @overload
    def delay(self, seconds: float, /, *, scheduler: Scheduler | None = None, delay_error: bool = False) -> Single[T_co]: ...
    @overload
    def delay(self, /, *, selector: Callable[[T_co], AnySource]) -> Single[T_co]: ...
    def delay(
        self,
        seconds: float | None = None,
        /,
        *,
        selector: Callable[[T_co], AnySource] | None = None,
        scheduler: Scheduler | None = None,
        delay_error: bool = False,
    ) -> Single[T_co]:
        """The item ``seconds`` later, or the item once the source that ``selector`` makes of it signals.

        An error comes at once, unless ``delay_error``.
        """
        if selector is not None:
            return self._from(_delayed_by(self, seconds, selector, scheduler, delay_error))
        return self._from(_delayed(self, seconds, scheduler, delay_error))

    @overload
    def timeout(
        self: SingleBase[T], seconds: float, /, *, fallback: SingleBase[T] | None = None, scheduler: Scheduler | None = None
    ) -> Single[T]: ...
    @overload
    def timeout(self: SingleBase[T], /, *, first: AnySource, fallback: SingleBase[T] | None = None) -> Single[T]: ...
    def timeout(
        self: Any,
        seconds: float | None = None,
        /,
        *,
        first: AnySource | None = None,
        fallback: Any = None,
        scheduler: Scheduler | None = None,
    ) -> Any:
        """TimeoutError, or ``fallback``, when there is no item after ``seconds``, or when ``first`` signals an item or ends."""
        return self._from(_limited(self, seconds, first, fallback, scheduler))


class MaybeLate(MaybeBase[T_co]):
    """Delays and time-outs of a Maybe."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: Head) -> Maybe[Any]: ...

    @overload
    def delay(self, seconds: float, /, *, scheduler: Scheduler | None = None, delay_error: bool = False) -> Maybe[T_co]: ...
    @overload
    def delay(self, /, *, selector: Callable[[T_co], AnySource]) -> Maybe[T_co]: ...
    def delay(
        self,
        seconds: float | None = None,
        /,
        *,
        selector: Callable[[T_co], AnySource] | None = None,
        scheduler: Scheduler | None = None,
        delay_error: bool = False,
    ) -> Maybe[T_co]:
        """The item, or the end without one, ``seconds`` later, or the item once the source that ``selector`` makes of it signals.

        An error comes at once, unless ``delay_error``.
        """
        if selector is not None:
            return self._from(_delayed_by(self, seconds, selector, scheduler, delay_error))
        return self._from(_delayed(self, seconds, scheduler, delay_error))

    @overload
    def timeout(
        self: MaybeBase[T], seconds: float, /, *, fallback: MaybeBase[T] | None = None, scheduler: Scheduler | None = None
    ) -> Maybe[T]: ...
    @overload
    def timeout(self: MaybeBase[T], /, *, first: AnySource, fallback: MaybeBase[T] | None = None) -> Maybe[T]: ...
    def timeout(
        self: Any,
        seconds: float | None = None,
        /,
        *,
        first: AnySource | None = None,
        fallback: Any = None,
        scheduler: Scheduler | None = None,
    ) -> Any:
        """TimeoutError, or ``fallback``, when this has not ended after ``seconds``, or when ``first`` signals an item or ends."""
        return self._from(_limited(self, seconds, first, fallback, scheduler))


class CompletableLate(CompletableBase):
    """Delays and time-outs of a Completable."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: Head) -> Completable: ...

    def delay(self, seconds: float, /, *, scheduler: Scheduler | None = None, delay_error: bool = False) -> Completable:
        """The end ``seconds`` later; an error at once, unless ``delay_error``."""
        return self._from(_delayed(self._from(only_end(self)), seconds, scheduler, delay_error))

    @overload
    def timeout(
        self, seconds: float, /, *, fallback: CompletableBase | None = None, scheduler: Scheduler | None = None
    ) -> Completable: ...
    @overload
    def timeout(self, /, *, first: AnySource, fallback: CompletableBase | None = None) -> Completable: ...
    def timeout(
        self,
        seconds: float | None = None,
        /,
        *,
        first: AnySource | None = None,
        fallback: CompletableBase | None = None,
        scheduler: Scheduler | None = None,
    ) -> Completable:
        """TimeoutError, or ``fallback``, when this has not ended after ``seconds``, or when ``first`` signals an item or ends."""
        return self._from(_limited(self._from(only_end(self)), seconds, first, fallback, scheduler))

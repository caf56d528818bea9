"""Single, Maybe and Completable: subscribing again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import CompletableBase, MaybeBase, Publisher, SingleBase, name_of
from rx_fusion import OperatorHead
from rx_ops import operators, stages
from rx_ops._faces import _results
from rx_ops._faces._core import check_callable, check_count, default_scheduler
from rx_ops._faces._repeat import check_backoff

if TYPE_CHECKING:
    from rx_core import Scheduler
    from rx_ops._faces._results import Completable, Flowable, Maybe, Single

T_co = TypeVar("T_co", covariant=True)

Handler = Callable[["Flowable[Exception]"], Publisher[object]]


def _repeated(source: Any, times: int | None) -> OperatorHead:
    if times is not None:
        check_count("repeat", times, 0, "times")
    return OperatorHead(operators.Repeat, (source,), (times,))


def _repeated_until(source: Any, stop: Callable[[], object]) -> OperatorHead:
    check_callable("repeat_until", "stop", stop)
    return OperatorHead(operators.RepeatUntil, (source,), (stop,))


def _retried_until(source: Any, stop: Callable[[], object]) -> OperatorHead:
    check_callable("retry_until", "stop", stop)
    return OperatorHead(operators.RetryUntil, (source,), (stop,))


def _repeated_when(source: Any, handler: Callable[[Flowable[int]], Publisher[object]]) -> OperatorHead:
    return _handled("repeat_when", operators.RepeatWhen, source, handler)


def _handled(name: str, function: Callable[..., Any], source: Any, handler: Any) -> OperatorHead:
    check_callable(name, "handler", handler)
    return OperatorHead(function, (source,), (handler, _results.Flowable._from), shown=f"{name}({name_of(handler)})")


def _retried(source: Any, times: int | None, when: Callable[[Exception], object] | None) -> OperatorHead:
    if times is not None:
        check_count("retry", times, 0, "times")
    if when is not None:
        check_callable("retry", "when", when)
    return OperatorHead(operators.Retry, (source,), (times, when))


def _backed_off(
    source: Any,
    times: int | None,
    first: float,
    longest: float,
    factor: float,
    jitter: float,
    when: Callable[[Exception], object] | None,
    scheduler: Scheduler | None,
) -> OperatorHead:
    check_backoff(times, first, longest, factor, jitter, when)
    args = (times, first, longest, factor, jitter, when, default_scheduler(scheduler, "retry_backoff"))
    return OperatorHead(operators.RetryBackoff, (source,), args, shown=f"retry_backoff({times}, {first})")


class SingleRepeat(SingleBase[T_co]):
    """Subscribing to a Single again."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: OperatorHead) -> Single[Any]: ...

    def repeat(self, times: int | None = None, /) -> Flowable[T_co]:
        """The items of ``times`` subscriptions, one after the other; without a number for ever."""
        return _results.Flowable._from(_repeated(self, times))

    def repeat_until(self, stop: Callable[[], object], /) -> Flowable[T_co]:
        """The items of one subscription after the other, until ``stop()`` is true."""
        return _results.Flowable._from(_repeated_until(self, stop))

    def repeat_when(self, handler: Callable[[Flowable[int]], Publisher[object]], /) -> Flowable[T_co]:
        """One more item each time the stream that ``handler`` makes of the ends gives one; as :meth:`Flowable.repeat_when`."""
        return _results.Flowable._from(_repeated_when(self, handler))

    def retry(self, times: int | None = None, /, *, when: Callable[[Exception], object] | None = None) -> Single[T_co]:
        """Subscribes again after an error, as :meth:`Flowable.retry`."""
        return self._from(_retried(self, times, when))

    def retry_until(self, stop: Callable[[], object], /) -> Single[T_co]:
        """Subscribes again after an error, until ``stop()`` is true; as :meth:`Flowable.retry_until`."""
        return self._from(_retried_until(self, stop))

    def retry_when(self, handler: Handler, /) -> Single[T_co]:
        """Subscribes again when the stream that ``handler`` makes of the errors gives an item; as :meth:`Flowable.retry_when`.

        When that stream completes, there is no item: EmptyStreamError.
        """
        made = self._from(_handled("retry_when", operators.RetryWhen, self, handler))
        return made._then(stages.not_empty, "retry_when")

    def retry_backoff(
        self,
        times: int | None,
        first: float,
        /,
        *,
        longest: float = 60.0,
        factor: float = 2.0,
        jitter: float = 0.5,
        when: Callable[[Exception], object] | None = None,
        scheduler: Scheduler | None = None,
    ) -> Single[T_co]:
        """Subscribes again after pauses that grow, as :meth:`Flowable.retry_backoff`."""
        return self._from(_backed_off(self, times, first, longest, factor, jitter, when, scheduler))


class MaybeRepeat(MaybeBase[T_co]):
    """Subscribing to a Maybe again."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: OperatorHead) -> Maybe[Any]: ...

    def repeat(self, times: int | None = None, /) -> Flowable[T_co]:
        """The items of ``times`` subscriptions, one after the other; without a number for ever."""
        return _results.Flowable._from(_repeated(self, times))

    def repeat_until(self, stop: Callable[[], object], /) -> Flowable[T_co]:
        """The items of one subscription after the other, until ``stop()`` is true."""
        return _results.Flowable._from(_repeated_until(self, stop))

    def repeat_when(self, handler: Callable[[Flowable[int]], Publisher[object]], /) -> Flowable[T_co]:
        """Once more each time the stream that ``handler`` makes of the ends gives an item; as :meth:`Flowable.repeat_when`."""
        return _results.Flowable._from(_repeated_when(self, handler))

    def retry(self, times: int | None = None, /, *, when: Callable[[Exception], object] | None = None) -> Maybe[T_co]:
        """Subscribes again after an error, as :meth:`Flowable.retry`."""
        return self._from(_retried(self, times, when))

    def retry_until(self, stop: Callable[[], object], /) -> Maybe[T_co]:
        """Subscribes again after an error, until ``stop()`` is true; as :meth:`Flowable.retry_until`."""
        return self._from(_retried_until(self, stop))

    def retry_when(self, handler: Handler, /) -> Maybe[T_co]:
        """Subscribes again when the stream that ``handler`` makes of the errors gives an item; as :meth:`Flowable.retry_when`."""
        return self._from(_handled("retry_when", operators.RetryWhen, self, handler))

    def retry_backoff(
        self,
        times: int | None,
        first: float,
        /,
        *,
        longest: float = 60.0,
        factor: float = 2.0,
        jitter: float = 0.5,
        when: Callable[[Exception], object] | None = None,
        scheduler: Scheduler | None = None,
    ) -> Maybe[T_co]:
        """Subscribes again after pauses that grow, as :meth:`Flowable.retry_backoff`."""
        return self._from(_backed_off(self, times, first, longest, factor, jitter, when, scheduler))


class CompletableRepeat(CompletableBase):
    """Subscribing to a Completable again."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: OperatorHead) -> Completable: ...

    def repeat(self, times: int | None = None, /) -> Completable:
        """``times`` subscriptions, one after the other; without a number for ever, or until one fails."""
        return self._from(_repeated(self, times))

    def repeat_until(self, stop: Callable[[], object], /) -> Completable:
        """One subscription after the other, until ``stop()`` is true."""
        return self._from(_repeated_until(self, stop))

    def repeat_when(self, handler: Callable[[Flowable[int]], Publisher[object]], /) -> Completable:
        """Once more each time the stream that ``handler`` makes of the ends gives an item; as :meth:`Flowable.repeat_when`."""
        return self._from(_repeated_when(self, handler))

    def retry(self, times: int | None = None, /, *, when: Callable[[Exception], object] | None = None) -> Completable:
        """Subscribes again after an error, as :meth:`Flowable.retry`."""
        return self._from(_retried(self, times, when))

    def retry_until(self, stop: Callable[[], object], /) -> Completable:
        """Subscribes again after an error, until ``stop()`` is true; as :meth:`Flowable.retry_until`."""
        return self._from(_retried_until(self, stop))

    def retry_when(self, handler: Handler, /) -> Completable:
        """Subscribes again when the stream that ``handler`` makes of the errors gives an item; as :meth:`Flowable.retry_when`."""
        return self._from(_handled("retry_when", operators.RetryWhen, self, handler))

    def retry_backoff(
        self,
        times: int | None,
        first: float,
        /,
        *,
        longest: float = 60.0,
        factor: float = 2.0,
        jitter: float = 0.5,
        when: Callable[[Exception], object] | None = None,
        scheduler: Scheduler | None = None,
    ) -> Completable:
        """Subscribes again after pauses that grow, as :meth:`Flowable.retry_backoff`."""
        return self._from(_backed_off(self, times, first, longest, factor, jitter, when, scheduler))

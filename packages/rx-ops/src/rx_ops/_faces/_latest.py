"""The newest items of several streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import DEFAULT_PREFETCH, FlowableBase, Publisher, check_prefetch
from rx_fusion import OperatorHead
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_callable, check_source

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")
T4 = TypeVar("T4")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableLatest(FlowableCore[T_co]):
    """The newest items of several streams."""

    __slots__ = ()

    @overload
    @classmethod
    def combine_latest(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        /,
        *,
        combiner: Callable[[T1, T2], R],
        prefetch: int = ...,
        delay_error: bool = ...,
    ) -> Flowable[R]: ...
    @overload
    @classmethod
    def combine_latest(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        s3: Publisher[T3],
        /,
        *,
        combiner: Callable[[T1, T2, T3], R],
        prefetch: int = ...,
        delay_error: bool = ...,
    ) -> Flowable[R]: ...
    @overload
    @classmethod
    def combine_latest(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        s3: Publisher[T3],
        s4: Publisher[T4],
        /,
        *,
        combiner: Callable[[T1, T2, T3, T4], R],
        prefetch: int = ...,
        delay_error: bool = ...,
    ) -> Flowable[R]: ...
    @overload
    @classmethod
    def combine_latest(
        cls, s1: Publisher[T1], s2: Publisher[T2], /, *, prefetch: int = ..., delay_error: bool = ...
    ) -> Flowable[tuple[T1, T2]]: ...
    @overload
    @classmethod
    def combine_latest(
        cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], /, *, prefetch: int = ..., delay_error: bool = ...
    ) -> Flowable[tuple[T1, T2, T3]]: ...
    @overload
    @classmethod
    def combine_latest(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        s3: Publisher[T3],
        s4: Publisher[T4],
        /,
        *,
        prefetch: int = ...,
        delay_error: bool = ...,
    ) -> Flowable[tuple[T1, T2, T3, T4]]: ...
    @classmethod
    def combine_latest(
        cls, *sources: Publisher[Any], combiner: Any = None, prefetch: int = DEFAULT_PREFETCH, delay_error: bool = False
    ) -> Flowable[Any]:
        """Once each source has an item, a tuple of the newest ones for each new item, or what ``combiner`` makes of them.

        ::  --1-----2--|  ----a--b----|  -->  ----x--y-z--|

        Demand:  passes through row by row; each source is asked for ``prefetch`` items and replenished at 75 %. Items before
                 the first row need none, so a synchronous source is at its end before the next one is subscribed.
        Errors:  the first ends the stream and cancels the others; with ``delay_error`` all run to their end and several errors
                 arrive as one CompositeException. What ``combiner`` raises, TypeError when it returns None.
        Memory:  ``prefetch`` items for each source, and one row.   Thread: that of the source that completes a row.
        Fusion:  coordinating; an item goes straight into its row while no other one waits.
        Source:  RxJava ``combineLatest``. A source that completes without an item completes the stream.
        """
        check_prefetch("combine_latest", prefetch)
        for source in sources:
            check_source("combine_latest", source)
        if combiner is None:
            combiner = operators.row_of
        else:
            check_callable("combine_latest", "combiner", combiner)
        args = (combiner, prefetch, delay_error)
        return cls._from(OperatorHead(operators.CombineLatest, sources, args, many=True, shown="combine_latest()"))

    @overload
    def with_latest_from(self: FlowableBase[T], o1: Publisher[T1], /, *, combiner: Callable[[T, T1], R]) -> Flowable[R]: ...
    @overload
    def with_latest_from(
        self: FlowableBase[T], o1: Publisher[T1], o2: Publisher[T2], /, *, combiner: Callable[[T, T1, T2], R]
    ) -> Flowable[R]: ...
    @overload
    def with_latest_from(
        self: FlowableBase[T],
        o1: Publisher[T1],
        o2: Publisher[T2],
        o3: Publisher[T3],
        /,
        *,
        combiner: Callable[[T, T1, T2, T3], R],
    ) -> Flowable[R]: ...
    @overload
    def with_latest_from(self: FlowableBase[T], o1: Publisher[T1], /) -> Flowable[tuple[T, T1]]: ...
    @overload
    def with_latest_from(self: FlowableBase[T], o1: Publisher[T1], o2: Publisher[T2], /) -> Flowable[tuple[T, T1, T2]]: ...
    @overload
    def with_latest_from(
        self: FlowableBase[T], o1: Publisher[T1], o2: Publisher[T2], o3: Publisher[T3], /
    ) -> Flowable[tuple[T, T1, T2, T3]]: ...
    def with_latest_from(self: Any, *others: Publisher[Any], combiner: Any = None) -> Any:
        """Each item together with the newest ones of ``others``, as a tuple or as what ``combiner`` makes of them.

        Items that come before each of the others has one are left out.

        ::  --1----2-3--|  ---a----b---|  -->  -------x-y--|

        Demand:  passes through; one more is asked for each item left out. The others are asked for everything.
        Errors:  of all of them end the stream, at once. What ``combiner`` raises, TypeError when it returns None.
        Memory:  one item for each of the others.   Thread: that of this stream.
        Fusion:  coordinating; items go straight into their rows.
        Source:  RxJava ``withLatestFrom``. With several others, one that completes without an item completes the stream.
        """
        if not others:
            raise TypeError("with_latest_from() needs another source, for example .with_latest_from(ticks)")
        for other in others:
            check_source("with_latest_from", other)
        if combiner is None:
            combiner = operators.row_of
        else:
            check_callable("with_latest_from", "combiner", combiner)
        sources = (self, *others)
        return self._from(OperatorHead(operators.WithLatestFrom, sources, (combiner,), many=True, shown="with_latest_from()"))

"""Many inner sources at the same time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import DEFAULT_PREFETCH, CompletableBase, MaybeBase, Publisher, SingleBase, check_prefetch, name_of
from rx_fusion import ONE_FUNCTION, OperatorHead, operator_head
from rx_ops import operators
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable, check_source

if TYPE_CHECKING:
    from rx_ops._faces._results import Completable, Flowable

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")
T4 = TypeVar("T4")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableFlatMap(FlowableCore[T_co]):
    """Many inner sources at the same time."""

    __slots__ = ()

    def flat_map(
        self,
        mapper: Callable[[T_co], Publisher[R] | SingleBase[R] | MaybeBase[R]],
        *,
        max_concurrency: int = 128,
        prefetch: int = DEFAULT_PREFETCH,
        delay_error: bool = False,
    ) -> Flowable[R]:
        """The sources that ``mapper`` makes of the items, at most ``max_concurrency`` at a time, their items as they come.

        ::  --a-----b---|  -->  --a-a---b-b-|

        Demand:  of downstream over all: the first request is what subscribes to inner sources, so a hot one may be missed before
                 it. A foreign inner source is asked for ``prefetch`` items and replenished at 75 %.
        Errors:  the first ends the stream and cancels the others; with ``delay_error`` all run to their end and several errors
                 arrive as one CompositeException. TypeError when ``mapper`` returns no source.
        Memory:  ``max_concurrency`` sources of ``prefetch`` items; ours that are synchronous need no queue.
        Thread:  items come on the thread of the source that has one; ``mapper`` runs where the stream is polled.
        Fusion:  coordinating; passive inner sources are iterated, without a queue.
        Source:  RxJava ``flatMap``.
        """
        check_callable("flat_map", "mapper", mapper)
        check_prefetch("flat_map", max_concurrency, "max_concurrency")
        check_prefetch("flat_map", prefetch)
        args = (mapper, max_concurrency, prefetch, delay_error)
        return self._from(operator_head(OperatorHead, operators.FLAT_MAP, (self,), args, max_concurrency, ONE_FUNCTION))

    def flat_map_completable(
        self, mapper: Callable[[T_co], CompletableBase], *, max_concurrency: int = 128, delay_error: bool = False
    ) -> Completable:
        """Complete when this stream and all Completables that ``mapper`` makes of its items are, many at a time.

        ::  --a--b|  -->  --------|

        Demand:  items are asked for as long as fewer than ``max_concurrency`` Completables run.
        Errors:  the first ends it and cancels the others; with ``delay_error`` all run to their end and several errors arrive as
                 one CompositeException. TypeError when ``mapper`` returns no source.
        Memory:  ``max_concurrency`` Completables.   Thread: that of the last end; ``mapper`` runs where the stream is polled.
        Fusion:  coordinating; passive inner sources are iterated, without a queue.
        Source:  RxJava ``flatMapCompletable``.
        """
        check_callable("flat_map_completable", "mapper", mapper)
        check_prefetch("flat_map_completable", max_concurrency, "max_concurrency")
        args = (operators.Named("flat_map_completable", mapper), max_concurrency, 1, delay_error)
        shown = f"flat_map_completable({name_of(mapper)})"
        return self._coordinate(operators.FlatMap, *args, window=max_concurrency, shown=shown)._as(_results.Completable)

    @overload
    @classmethod
    def merge(
        cls, s1: Publisher[T1], s2: Publisher[T2], /, *, prefetch: int = ..., delay_error: bool = ...
    ) -> Flowable[T1 | T2]: ...
    @overload
    @classmethod
    def merge(
        cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], /, *, prefetch: int = ..., delay_error: bool = ...
    ) -> Flowable[T1 | T2 | T3]: ...
    @overload
    @classmethod
    def merge(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        s3: Publisher[T3],
        s4: Publisher[T4],
        /,
        *,
        prefetch: int = ...,
        delay_error: bool = ...,
    ) -> Flowable[T1 | T2 | T3 | T4]: ...
    @overload
    @classmethod
    def merge(cls, *sources: Publisher[T], prefetch: int = ..., delay_error: bool = ...) -> Flowable[T]: ...
    @classmethod
    def merge(cls, *sources: Publisher[Any], prefetch: int = DEFAULT_PREFETCH, delay_error: bool = False) -> Flowable[Any]:
        """All sources at the same time, their items as they come; synchronous sources one after the other. One alone is as it is.

        ::  --1---2|  ---3-4-|  -->  --13-42|

        Demand:  of downstream over all; a foreign source is asked for ``prefetch`` items and replenished at 75 %.
        Errors:  the first ends the stream and cancels the others; with ``delay_error`` all run to their end and several errors
                 arrive as one CompositeException. TypeError at assembly for something that is no source.
        Memory:  ``prefetch`` items for each foreign source.   Thread: that of the source.
        Fusion:  coordinating; passive sources are iterated, without a queue.
        Source:  RxJava ``merge``.
        """
        check_prefetch("merge", prefetch)
        for source in sources:
            check_source("merge", source)
        if len(sources) == 1 and type(sources[0]) is cls:
            return sources[0]  # type: ignore[return-value]  # it is the Flowable
        return cls._from(
            OperatorHead(operators.Merge, sources, (prefetch, delay_error), window=prefetch, many=True, shown="merge()")
        )

    def merge_with(self, other: Publisher[R]) -> Flowable[T_co | R]:
        """This stream and ``other`` at the same time.

        ::  --1---2|  ---3-4-|  -->  --13-42|

        Demand:  of downstream over both.   Errors: the first ends the stream and cancels the other.
        Memory:  128 items for each foreign source.   Thread: that of the source.   Fusion: as :meth:`merge`.
        Source:  RxJava ``mergeWith``.
        """
        check_source("merge_with", other)
        return self.merge(self, other)

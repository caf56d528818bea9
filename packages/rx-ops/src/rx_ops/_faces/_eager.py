"""Sources subscribed at once, their items in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import DEFAULT_PREFETCH, MaybeBase, Publisher, SingleBase, check_prefetch
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


class FlowableEager(FlowableCore[T_co]):
    """Sources subscribed at once, their items in order."""

    __slots__ = ()

    def concat_map_eager(
        self,
        mapper: Callable[[T_co], Publisher[R] | SingleBase[R] | MaybeBase[R]],
        *,
        max_concurrency: int = 128,
        prefetch: int = DEFAULT_PREFETCH,
        delay_error: bool = False,
        till_the_end: bool = True,
    ) -> Flowable[R]:
        """The sources that ``mapper`` makes of the items, one after the other, but subscribed at once: what comes early waits.

        At most ``max_concurrency`` sources run. A synchronous one of many items runs when its turn has come, since its items
        cannot be late; one item that has to be computed (``from_callable``, a reduction) is computed at once.

        ::  --a-b-----|  -->  -----a-ab-b-|

        Demand:  of downstream for the source whose turn it is; a foreign inner source is asked for ``prefetch`` items and
                 replenished at 75 % when its turn has come. An item of this stream is asked for when a source is over.
        Errors:  the first ends the stream at once, of a source that waits too, and what waits is dropped. With ``delay_error``
                 all run to their end, and several errors arrive as one CompositeException; without ``till_the_end`` only the
                 source whose turn it is when an error comes. TypeError when ``mapper`` returns no source.
        Memory:  ``max_concurrency`` sources of ``prefetch`` items; ours that are synchronous need no queue.
        Thread:  that of the source whose turn it is, or the one on which the source before it ended; ``mapper`` runs where this
                 stream is polled.
        Fusion:  coordinating; passive inner sources are iterated, without a queue.
        Source:  RxJava ``concatMapEager``, ``concatMapEagerDelayError``; Reactor ``flatMapSequential``.
        """
        check_callable("concat_map_eager", "mapper", mapper)
        check_prefetch("concat_map_eager", max_concurrency, "max_concurrency")
        check_prefetch("concat_map_eager", prefetch)
        args = (mapper, delay_error, till_the_end, max_concurrency, prefetch)
        return self._coordinate(operators.ConcatMapEager, *args, window=max_concurrency, shown=1)

    @overload
    @classmethod
    def concat_eager(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        /,
        *,
        max_concurrency: int = ...,
        prefetch: int = ...,
        delay_error: bool = ...,
        till_the_end: bool = ...,
    ) -> Flowable[T1 | T2]: ...
    @overload
    @classmethod
    def concat_eager(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        s3: Publisher[T3],
        /,
        *,
        max_concurrency: int = ...,
        prefetch: int = ...,
        delay_error: bool = ...,
        till_the_end: bool = ...,
    ) -> Flowable[T1 | T2 | T3]: ...
    @overload
    @classmethod
    def concat_eager(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        s3: Publisher[T3],
        s4: Publisher[T4],
        /,
        *,
        max_concurrency: int = ...,
        prefetch: int = ...,
        delay_error: bool = ...,
        till_the_end: bool = ...,
    ) -> Flowable[T1 | T2 | T3 | T4]: ...
    @overload
    @classmethod
    def concat_eager(
        cls,
        *sources: Publisher[T],
        max_concurrency: int = ...,
        prefetch: int = ...,
        delay_error: bool = ...,
        till_the_end: bool = ...,
    ) -> Flowable[T]: ...
    @classmethod
    def concat_eager(
        cls,
        *sources: Publisher[Any],
        max_concurrency: int = 128,
        prefetch: int = DEFAULT_PREFETCH,
        delay_error: bool = False,
        till_the_end: bool = True,
    ) -> Flowable[Any]:
        """One source after the other, but subscribed at once: what comes early waits. At most ``max_concurrency`` run.

        ::  --1---2|  ---3-4-|  -->  --1---23-4|

        Demand:  of downstream for the source whose turn it is; a foreign one is asked for ``prefetch`` items and replenished at
                 75 % when its turn has come.
        Errors:  the first ends the stream at once, of a source that waits too, and what waits is dropped. With ``delay_error``
                 all run to their end, and several errors arrive as one CompositeException; without ``till_the_end`` only the
                 source whose turn it is when an error comes. TypeError at assembly for something that is no source.
        Memory:  ``prefetch`` items for each foreign source.   Thread: that of the source whose turn it is, or the one on which
                 the source before it ended.
        Fusion:  coordinating; passive sources are iterated when their turn has come, without a queue.
        Source:  RxJava ``concatArrayEager``, ``concatEager``; Reactor ``mergeSequential``.
        """
        check_prefetch("concat_eager", max_concurrency, "max_concurrency")
        check_prefetch("concat_eager", prefetch)
        for source in sources:
            check_source("concat_eager", source)
        return cls._from(eager_head(sources, delay_error, till_the_end, max_concurrency, prefetch))


def eager_head(
    sources: tuple[object, ...], delay_error: bool, till_the_end: bool, max_concurrency: int, prefetch: int
) -> OperatorHead:
    """``concat_eager`` of any sources."""
    args = (delay_error, till_the_end, max_concurrency, prefetch)
    return OperatorHead(operators.ConcatEager, sources, args, window=prefetch, many=True, shown="concat_eager()")

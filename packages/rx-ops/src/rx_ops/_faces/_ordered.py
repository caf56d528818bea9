"""Several streams by the order of their items."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import DEFAULT_PREFETCH, Publisher, check_prefetch
from rx_fusion import OperatorHead
from rx_ops import operators
from rx_ops._faces._aggregate import Comparable
from rx_ops._faces._core import FlowableCore, check_callable, check_source

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
ComparableT = TypeVar("ComparableT", bound=Comparable)
T_co = TypeVar("T_co", covariant=True)


class FlowableOrdered(FlowableCore[T_co]):
    """Several streams by the order of their items."""

    __slots__ = ()

    @overload
    @classmethod
    def merge_ordered(
        cls, *sources: Publisher[ComparableT], reverse: bool = ..., prefetch: int = ..., delay_error: bool = ...
    ) -> Flowable[ComparableT]: ...
    @overload
    @classmethod
    def merge_ordered(
        cls,
        *sources: Publisher[T],
        key: Callable[[T], Comparable],
        reverse: bool = ...,
        prefetch: int = ...,
        delay_error: bool = ...,
    ) -> Flowable[T]: ...
    @classmethod
    def merge_ordered(
        cls,
        *sources: Publisher[Any],
        key: Any = None,
        reverse: bool = False,
        prefetch: int = DEFAULT_PREFETCH,
        delay_error: bool = False,
    ) -> Flowable[Any]:
        """The items of sources that are sorted, as one sorted stream.

        Sorted by the items themselves or by ``key``; with ``reverse`` the largest first. An item goes out when each source that
        is not over has one to compare it with; of equal ones that of the earlier source is first.

        ::  --1---4|  ---2-3-|  -->  ---1-23-4|

        Demand:  of downstream over all; a source that pushes is asked for ``prefetch`` items and replenished at 75 %, a passive
                 one for its next item when one is wanted.
        Errors:  the first ends the stream at once and cancels the others; with ``delay_error`` all run to their end and several
                 errors arrive as one CompositeException. What ``key`` and comparing raise, with a note. TypeError at assembly for
                 something that is no source.
        Memory:  ``prefetch`` items for each source that pushes.   Thread: that of the source whose item completes the comparison.
        Fusion:  coordinating; passive sources are iterated, without a queue.
        Source:  ``heapq.merge``, RxJavaExtensions ``orderedMerge``, Reactor ``mergeComparing``.
        """
        return cls._from(_ordered(operators.MergeOrdered, "merge_ordered", sources, key, reverse, prefetch, delay_error))

    @overload
    @classmethod
    def merge_priority(
        cls, *sources: Publisher[ComparableT], reverse: bool = ..., prefetch: int = ..., delay_error: bool = ...
    ) -> Flowable[ComparableT]: ...
    @overload
    @classmethod
    def merge_priority(
        cls,
        *sources: Publisher[T],
        key: Callable[[T], Comparable],
        reverse: bool = ...,
        prefetch: int = ...,
        delay_error: bool = ...,
    ) -> Flowable[T]: ...
    @classmethod
    def merge_priority(
        cls,
        *sources: Publisher[Any],
        key: Any = None,
        reverse: bool = False,
        prefetch: int = DEFAULT_PREFETCH,
        delay_error: bool = False,
    ) -> Flowable[Any]:
        """As :meth:`merge`, but of the items that wait, each the first of its source, the smallest goes out first.

        Nothing waits for a source that has no item: while everything is wanted this is a merge. By the items themselves or by
        ``key``; with ``reverse`` the largest first.

        ::  --3-----1|  ---2------|  -->  --32----1-|

        Demand:  of downstream over all; a source that pushes is asked for ``prefetch`` items and replenished at 75 %, a passive
                 one for its next item when one is wanted.
        Errors:  as :meth:`merge_ordered`.
        Memory:  ``prefetch`` items for each source that pushes.   Thread: that of the source, or the one that requests.
        Fusion:  coordinating; passive sources are iterated, without a queue.
        Source:  Reactor ``mergePriority``.
        """
        return cls._from(_ordered(operators.MergePriority, "merge_priority", sources, key, reverse, prefetch, delay_error))


def _ordered(
    function: Callable[..., Any],
    name: str,
    sources: tuple[object, ...],
    key: object,
    reverse: bool,
    prefetch: int,
    delay_error: bool,
) -> OperatorHead:
    check_prefetch(name, prefetch)
    for source in sources:
        check_source(name, source)
    if key is not None:
        check_callable(name, "key", key)
    args = (key, bool(reverse), prefetch, delay_error)
    return OperatorHead(function, sources, args, window=prefetch, many=True, shown=f"{name}()")

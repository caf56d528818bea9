"""Groups that end before their stream does."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import DEFAULT_PREFETCH, FlowableBase, MaybeBase, Publisher, SingleBase, check_prefetch
from rx_ops import operators
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable, GroupedFlowable

T = TypeVar("T")
V = TypeVar("V")
K = TypeVar("K", bound=Hashable)
T_co = TypeVar("T_co", covariant=True)


class FlowableGroupUntil(FlowableCore[T_co]):
    """Groups that end before their stream does."""

    __slots__ = ()

    @overload
    def group_by_until(
        self: FlowableBase[T],
        key: Callable[[T], K],
        until: Callable[[K], Publisher[object] | SingleBase[object] | MaybeBase[object]],
        *,
        buffer_size: int = DEFAULT_PREFETCH,
    ) -> Flowable[GroupedFlowable[K, T]]: ...
    @overload
    def group_by_until(
        self,
        key: Callable[[T_co], K],
        until: Callable[[K], Publisher[object] | SingleBase[object] | MaybeBase[object]],
        value: Callable[[T_co], V],
        *,
        buffer_size: int = DEFAULT_PREFETCH,
    ) -> Flowable[GroupedFlowable[K, V]]: ...
    def group_by_until(
        self, key: Any, until: Callable[[Any], Any], value: Any = None, *, buffer_size: int = DEFAULT_PREFETCH
    ) -> Any:
        """One stream per key, which ends when the source that ``until`` makes of the key gives an item or completes.

        The next item of that key begins a new group.

        ::  --1-3-2--3|  -->  --a---b--c|      (odd and even; a ended before the second 3 came)

        Demand:  of the groups and of their items; the source is asked for ``buffer_size`` items ahead in all.
        Errors:  go to the stream of groups and to every group, past the items that wait there; what the functions raise and what
                 the source of a group fails with; MissingBackpressureError as soon as a new group comes and none is requested.
        Memory:  at most ``buffer_size`` items wait in all groups together. A group that is not subscribed while it is emitted is
                 abandoned, as in :meth:`group_by`.
        Thread:  that of the source; an item that had to wait in its group comes on the one that requests.
        Fusion:  coordinating; a queue for each group, empty where its subscriber keeps up.
        Source:  RxPY ``group_by_until``, where the function is given the group, here its key.
        """
        check_callable("group_by_until", "key", key)
        check_callable("group_by_until", "until", until)
        if value is not None:
            check_callable("group_by_until", "value", value)
        check_prefetch("group_by_until", buffer_size, "buffer_size")
        args = (key, until, value, buffer_size, _results.GroupedFlowable)
        return self._coordinate(operators.GroupByUntil, *args, shown=2, said=operators.group_notes(buffer_size))

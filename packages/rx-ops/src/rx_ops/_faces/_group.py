"""Groups of items that share a key."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import DEFAULT_PREFETCH, FlowableBase, check_prefetch
from rx_fusion.symbols import without_symbols
from rx_ops import operators
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable, GroupedFlowable

T = TypeVar("T")
V = TypeVar("V")
K = TypeVar("K", bound=Hashable)
T_co = TypeVar("T_co", covariant=True)


class FlowableGroup(FlowableCore[T_co]):
    """Groups of items that share a key."""

    __slots__ = ()

    @overload
    def group_by(
        self: FlowableBase[T], key: Callable[[T], K], *, buffer_size: int = DEFAULT_PREFETCH
    ) -> Flowable[GroupedFlowable[K, T]]: ...
    @overload
    def group_by(
        self, key: Callable[[T_co], K], value: Callable[[T_co], V], *, buffer_size: int = DEFAULT_PREFETCH
    ) -> Flowable[GroupedFlowable[K, V]]: ...
    def group_by(self, key: Any, value: Any = None, *, buffer_size: int = DEFAULT_PREFETCH) -> Any:
        """One stream per key, each given when its first item comes.

        ::  --1-2-3-|  -->  --a-b---|      (odd and even)

        Demand:  of the groups and of their items; the source is asked for ``buffer_size`` items ahead in all.
        Errors:  go to the stream of groups and to every group, past the items that wait there; MissingBackpressureError as soon
                 as a new group comes and none is requested.
        Memory:  at most ``buffer_size`` items wait in all groups together. A group that is not subscribed while it is emitted is
                 abandoned: it keeps its first item, completes, and its key comes again as a new group. One that waits for its
                 turn in :meth:`concat_map` counts as subscribed; in any other queue, behind :meth:`observe_on` say, it does not.
        Thread:  that of the source; an item that had to wait in its group comes on the one that requests.
        Fusion:  coordinating; a queue for each group, empty where its subscriber keeps up.
        Source:  RxJava ``groupBy``. To fold each group use :meth:`group_reduce`, which cannot run full.
        """
        check_callable("group_by", "key", key)
        if value is not None:
            check_callable("group_by", "value", value)
        check_prefetch("group_by", buffer_size, "buffer_size")
        functions = without_symbols((key, value))
        said = operators.group_notes(buffer_size)
        return self._coordinate(operators.GroupBy, *functions, buffer_size, _results.GroupedFlowable, shown=1, said=said)

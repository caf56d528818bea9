"""All items in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import FlowableBase
from rx_ops import stages
from rx_ops._faces._aggregate import Comparable
from rx_ops._faces._core import FlowableCore, check_callable
from rx_ops.stages._sorted import Reverse

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

ComparableT = TypeVar("ComparableT", bound=Comparable)
T_co = TypeVar("T_co", covariant=True)


class FlowableSorted(FlowableCore[T_co]):
    """All items in order."""

    __slots__ = ()

    @overload
    def sorted(self: FlowableBase[ComparableT], *, reverse: bool = False) -> Flowable[ComparableT]: ...
    @overload
    def sorted(self, key: Callable[[T_co], Comparable], *, reverse: bool = False) -> Flowable[T_co]: ...
    def sorted(self: Any, key: Any = None, *, reverse: bool = False) -> Any:
        """All items in order, by themselves or by ``key``, equal ones in the order they came; with ``reverse`` the largest first.

        ::  --2--3--1|  -->  --------1-2-3|

        Demand:  everything when it is subscribed, of a source that computes its items at the first request; the items
                 are given as requested.
        Errors:  what ``key`` raises when an item comes, and what comparing raises at the end, with a note.
        Memory:  all items and their keys.   Thread: the one that requests.
        Fusion:  stage, everything at the end; with ``take(n)`` behind it only the first n are put in order.
        Source:  builtin ``sorted``, RxJava ``sorted``.
        """
        if key is None:
            return self._then(stages.sorted_, Reverse(bool(reverse)))
        check_callable("sorted", "key", key)
        return self._then(stages.sorted_by, key, Reverse(bool(reverse)))

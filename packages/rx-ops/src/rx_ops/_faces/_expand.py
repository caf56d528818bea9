"""Items of items."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rx_core import FlowableBase, MaybeBase, Publisher, SingleBase, name_of
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_callable

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class FlowableExpand(FlowableCore[T_co]):
    """Items of items."""

    __slots__ = ()

    def expand(
        self: FlowableBase[T],
        expander: Callable[[T], Publisher[T] | SingleBase[T] | MaybeBase[T]],
        *,
        depth_first: bool = False,
    ) -> Flowable[T]:
        """The items, then the items of the sources that ``expander`` makes of them, and so on: a tree, level by level.

        With ``depth_first`` each item is followed by all that is below it, before the next one beside it.

        ::  --1|  -->  --1-2-3-4-5-6-7|      (n to 2n and 2n + 1, below 8; depth first: 1 2 4 5 3 6 7)

        Demand:  a source gets what is still wanted. An item is expanded when all sources before its own are complete. Depth first
                 it is expanded as soon as it is given, and a source that pushes is asked for one item at a time.
        Errors:  the first ends the stream. TypeError when ``expander`` returns no source.
        Memory:  the items that were emitted and not expanded yet: a level of the tree. Depth first a source, and an item of it,
                 for each level.
        Thread:  that of the running source; ``expander`` runs where the stream is polled.
        Fusion:  coordinating; passive inner sources are iterated, without a queue.
        Source:  Reactor ``expand``, ``expandDeep``. One source at a time: breadth first is an order.
        """
        check_callable("expand", "expander", expander)
        if depth_first:
            shown = f"expand({name_of(expander)}, depth_first=True)"
            made: Flowable[T] = self._coordinate(operators.ExpandDeep, expander, shown=shown)  # type: ignore[attr-defined]  # self names the base
            return made
        return self._coordinate(operators.Expand, expander)  # type: ignore[attr-defined,no-any-return]  # self names the base

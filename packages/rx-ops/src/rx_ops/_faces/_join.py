"""Two streams whose items live for a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import FlowableBase, Publisher
from rx_ops import operators
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable, check_source

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
T2 = TypeVar("T2")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableJoin(FlowableCore[T_co]):
    """Two streams whose items live for a time."""

    __slots__ = ()

    @overload
    def join(
        self: FlowableBase[T],
        other: Publisher[T2],
        left: Callable[[T], Publisher[object]],
        right: Callable[[T2], Publisher[object]],
    ) -> Flowable[tuple[T, T2]]: ...
    @overload
    def join(
        self: FlowableBase[T],
        other: Publisher[T2],
        left: Callable[[T], Publisher[object]],
        right: Callable[[T2], Publisher[object]],
        combiner: Callable[[T, T2], R],
    ) -> Flowable[R]: ...
    def join(
        self: Any,
        other: Publisher[Any],
        left: Callable[[Any], Publisher[object]],
        right: Callable[[Any], Publisher[object]],
        combiner: Callable[[Any, Any], Any] | None = None,
    ) -> Any:
        """Each item of this stream with each item of ``other`` that is alive at the same time, in pairs or through ``combiner``.

        An item is alive until the source that ``left`` or ``right`` makes of it gives an item or completes. The stream ends when
        both are complete.

        ::  --1-----2---|  ---a--b-----|  -->  ---x--y-z---|      (1 and a, 1 and b, 2 and b: each lives ------|)

        Demand:  everything of all sources.
        Errors:  of all sources end the stream, at once; what ``left``, ``right`` and ``combiner`` raise, TypeError when they give
                 no source or no item; MissingBackpressureError when a row comes that was not requested.
        Memory:  the items that are alive.   Thread: that of the source whose item comes.
        Fusion:  coordinating.
        Source:  RxJava ``join``.
        """
        return self._coordinate(operators.Join, *_checked("join", other, left, right, combiner), shown="join()")

    def group_join(
        self: FlowableBase[T],
        other: Publisher[T2],
        left: Callable[[T], Publisher[object]],
        right: Callable[[T2], Publisher[object]],
        combiner: Callable[[T, Flowable[T2]], R],
    ) -> Flowable[R]:
        """What ``combiner`` makes of each item and its window: the items of ``other`` that are alive at the same time.

        An item is alive until the source that ``left`` or ``right`` makes of it gives an item or completes; then the window of an
        item of this stream completes. A window allows one subscriber, also a late one. The stream ends when both are complete.

        ::  --1-----2---|  ---a--b-----|  -->  --x-----y---|      (x has a and b, y has b: each lives ------|)

        Demand:  everything of all sources.
        Errors:  of all sources end the stream and its windows, at once; what ``left``, ``right`` and ``combiner`` raise,
                 TypeError when they give no source or no item; MissingBackpressureError when a row comes that was not requested.
        Memory:  the items that are alive, and what waits in windows.   Thread: that of the source whose item comes.
        Fusion:  coordinating.
        Source:  RxJava ``groupJoin``.
        """
        check_callable("group_join", "combiner", combiner)
        args = _checked("group_join", other, left, right, combiner)
        made = self._coordinate(operators.GroupJoin, *args, _results.Flowable, shown="group_join()")  # type: ignore[attr-defined]  # self names the base
        return made  # type: ignore[no-any-return]  # as above


def _checked(name: str, other: object, left: Any, right: Any, combiner: Any) -> tuple[Any, ...]:
    """The arguments of the operator."""
    check_source(name, other)
    check_callable(name, "left", left)
    check_callable(name, "right", right)
    if combiner is None:
        combiner = operators.row_of
    else:
        check_callable(name, "combiner", combiner)
    return other, left, right, combiner

"""The last item of a stream, and the only one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import FlowableBase
from rx_ops import stages
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore

if TYPE_CHECKING:
    from rx_ops._faces._results import Maybe, Single

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class FlowableLast(FlowableCore[T_co]):
    """The last item of a stream, and the only one."""

    __slots__ = ()

    @overload
    def last(self) -> Single[T_co]: ...
    @overload
    def last(self: FlowableBase[T], default: T) -> Single[T]: ...
    def last(self: Any, default: Any = None) -> Any:
        """The last item, or ``default`` when there is none.

        ::  --1--2--3|  -->  --------3|

        Demand:  everything.
        Errors:  EmptyStreamError when there is no item and no default; others pass through.
        Memory:  one item.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxJava ``last`` and ``lastOrError``.
        """
        if default is None:
            return self._into(_results.Single, stages.last_or_error)
        return self._into(_results.Single, stages.last_or, default)

    def last_element(self) -> Maybe[T_co]:
        """The last item, or nothing when there is none.

        ::  --1--2--3|  -->  --------3|

        Demand:  everything.
        Errors:  pass through.
        Memory:  one item.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxJava ``lastElement``.
        """
        return self._into(_results.Maybe, stages.last_element)

    @overload
    def single(self) -> Single[T_co]: ...
    @overload
    def single(self: FlowableBase[T], default: T) -> Single[T]: ...
    def single(self: Any, default: Any = None) -> Any:
        """The only item, or ``default`` when there is none; a second one is an error.

        ::  --1---|  -->  ------1|

        Demand:  everything; a second item cancels the source.
        Errors:  ValueError when there are several, EmptyStreamError when there is no item and no default; others pass through.
        Memory:  one item.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxJava ``single`` and ``singleOrError``, ``(item,) = items``.
        """
        if default is None:
            return self._into(_results.Single, stages.single_or_error)
        return self._into(_results.Single, stages.single_or, default)

    def single_element(self) -> Maybe[T_co]:
        """The only item, or nothing when there is none; a second one is an error.

        ::  --1---|  -->  ------1|

        Demand:  everything; a second item cancels the source.
        Errors:  ValueError when there are several; others pass through.
        Memory:  one item.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxJava ``singleElement``.
        """
        return self._into(_results.Maybe, stages.single_element)

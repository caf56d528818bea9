"""Single and Maybe: what their item becomes when it is made into another type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import CompletableBase, MaybeBase, ObservableSource, SingleBase, name_of
from rx_fusion import OperatorHead
from rx_ops import operators
from rx_ops._faces import _results
from rx_ops._faces._core import check_callable

if TYPE_CHECKING:
    from rx_fusion import Head
    from rx_ops._faces._results import Completable, Maybe, Observable, Single

R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


def _mapped(name: str, source: Any, mapper: Callable[[Any], Any]) -> OperatorHead:
    check_callable(name, "mapper", mapper)
    return OperatorHead(operators.ConcatMap, (source,), (operators.Named(name, mapper),), shown=f"{name}({name_of(mapper)})")


def _completed(source: Any, mapper: Callable[[Any], Any]) -> Completable:
    return _results.Completable._from(_mapped("flat_map_completable", source, mapper))


def _observed(source: Any, mapper: Callable[[Any], Any]) -> Observable[Any]:
    return _results.Observable._from(_mapped("flat_map_observable", source, mapper))


class SingleInner(SingleBase[T_co]):
    """Making another source of a Single's item."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: Head) -> Single[Any]: ...

    def flat_map_completable(self, mapper: Callable[[T_co], CompletableBase], /) -> Completable:
        """The end of the Completable that ``mapper`` makes of the item."""
        return _completed(self, mapper)

    def flat_map_observable(self, mapper: Callable[[T_co], ObservableSource[R]], /) -> Observable[R]:
        """The items of the Observable that ``mapper`` makes of the item."""
        return _observed(self, mapper)

    def flat_map_maybe(self, mapper: Callable[[T_co], MaybeBase[R]], /) -> Maybe[R]:
        """The item, if any, of the Maybe that ``mapper`` makes of this one's."""
        return _results.Maybe._from(_mapped("flat_map_maybe", self, mapper))


class MaybeInner(MaybeBase[T_co]):
    """Making another source of a Maybe's item."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: Head) -> Maybe[Any]: ...

    def flat_map_completable(self, mapper: Callable[[T_co], CompletableBase], /) -> Completable:
        """The end of the Completable that ``mapper`` makes of the item; without an item the end."""
        return _completed(self, mapper)

    def flat_map_observable(self, mapper: Callable[[T_co], ObservableSource[R]], /) -> Observable[R]:
        """The items of the Observable that ``mapper`` makes of the item; none without an item."""
        return _observed(self, mapper)

    def flat_map_single(self, mapper: Callable[[T_co], SingleBase[R]], /) -> Maybe[R]:
        """The item of the Single that ``mapper`` makes of this one's; nothing without one."""
        return self._from(_mapped("flat_map_single", self, mapper))

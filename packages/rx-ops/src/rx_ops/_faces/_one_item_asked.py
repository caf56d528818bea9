"""Single, Maybe and Completable: questions about the item, and about several of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import CompletableBase, MaybeBase, SingleBase
from rx_ops import stages
from rx_ops._faces import _results
from rx_ops._faces._conditional import asked_for, equal_head
from rx_ops._faces._core import check_source
from rx_ops._faces._one_item_around import only_end

if TYPE_CHECKING:
    from rx_fusion import Head
    from rx_ops._faces._results import Completable, Single

T = TypeVar("T")
V = TypeVar("V")
T_co = TypeVar("T_co", covariant=True)


def _alike(sources: tuple[object, ...], comparer: Callable[[Any, Any], object] | None = None) -> Single[bool]:
    return _results.Single._from(equal_head(sources, comparer))


class SingleAsked(SingleBase[T_co]):
    """Questions about the item of a Single."""

    __slots__ = ()

    def contains(self, value: V, comparer: Callable[[T_co, V], object] | None = None, /) -> Single[bool]:
        """Whether the item is equal to ``value``, or ``comparer(item, value)`` is true."""
        return asked_for(self, value, comparer)

    @classmethod
    def sequence_equal(
        cls,
        first: SingleBase[T],
        second: SingleBase[T],
        /,
        *more: SingleBase[T],
        comparer: Callable[[T, T], object] | None = None,
    ) -> Single[bool]:
        """Whether the items of all are equal, or ``comparer`` finds those of the others equal to that of the first."""
        return _alike((first, second, *more), comparer)


class MaybeAsked(MaybeBase[T_co]):
    """Questions about the item of a Maybe."""

    __slots__ = ()

    def contains(self, value: V, comparer: Callable[[T_co, V], object] | None = None, /) -> Single[bool]:
        """Whether there is an item, and it is equal to ``value`` or ``comparer(item, value)`` is true."""
        return asked_for(self, value, comparer)

    def is_empty(self) -> Single[bool]:
        """Whether there is no item."""
        made: Any = self
        return made._into(_results.Single, stages.is_empty)  # type: ignore[no-any-return]  # self names the base

    def count(self) -> Single[int]:
        """1 if there is an item, else 0."""
        made: Any = self
        return made._into(_results.Single, stages.count)  # type: ignore[no-any-return]  # self names the base

    @classmethod
    def sequence_equal(
        cls,
        first: MaybeBase[T],
        second: MaybeBase[T],
        /,
        *more: MaybeBase[T],
        comparer: Callable[[T, T], object] | None = None,
    ) -> Single[bool]:
        """Whether all have equal items, or none has one; ``comparer`` as for a Single."""
        return _alike((first, second, *more), comparer)


class CompletableAsked(CompletableBase):
    """Questions about the ends of several Completables."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: Head) -> Completable: ...

    @classmethod
    def sequence_equal(cls, first: CompletableBase, second: CompletableBase, /, *more: CompletableBase) -> Single[bool]:
        """True when all are complete; the first error ends it and cancels the others."""
        sources = (first, second, *more)
        for source in sources:
            check_source("sequence_equal", source)
        return _alike(tuple([cls._from(only_end(source)) for source in sources]))

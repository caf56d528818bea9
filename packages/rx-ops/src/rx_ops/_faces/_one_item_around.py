"""Single, Maybe and Completable: races, ends that another source brings, resources, and signals as items."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import CompletableBase, MaybeBase, Publisher, SingleBase
from rx_fusion import Head, OperatorHead
from rx_ops import operators, stages
from rx_ops._faces import _results
from rx_ops._faces._around import using_head
from rx_ops._faces._core import check_callable, check_source
from rx_ops._notification import Notification

if TYPE_CHECKING:
    from rx_ops._faces._results import Completable, Maybe, Single

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)

AnySource = Publisher[object] | SingleBase[object] | MaybeBase[object] | CompletableBase


def _raced(*sources: object, operator: str = "amb") -> OperatorHead:
    for source in sources:
        check_source(operator, source)
    return OperatorHead(operators.Amb, sources, many=True)


def _ended(source: object, other: object, lost: Callable[[], Exception] | None = None) -> OperatorHead:
    check_source("take_until", other)
    return OperatorHead(operators.TakeUntil, (source, other), (lost,), shown=f"take_until({other!r})")


def _cancelled() -> Exception:
    from concurrent.futures import CancelledError

    return CancelledError("take_until(): the other source signalled before there was an item")


def _used(supplier: Any, factory: Any, cleanup: Any, eager: bool) -> OperatorHead:
    for name, function in (("supplier", supplier), ("factory", factory), ("cleanup", cleanup)):
        check_callable("using", name, function)
    return using_head(supplier, factory, cleanup, eager)


def _told(source: object) -> Single[Any]:
    made: Any = _results.Single._from(OperatorHead(operators.Materialize, (source,)))
    first: Single[Any] = made._then(stages.first_or_error)
    return first


class SingleAround(SingleBase[T_co]):
    """Races, ends, resources and notifications of a Single."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: Head) -> Single[Any]: ...

    @classmethod
    def amb(cls, *sources: SingleBase[T]) -> Single[T]:
        """The one of ``sources`` that signals first; the others are cancelled. EmptyStreamError when there are none."""
        made = cls._from(_raced(*sources))
        return made if sources else made._then(stages.not_empty, "amb")

    def amb_with(self: SingleBase[T], other: SingleBase[T], /) -> Single[T]:
        """This or ``other``, whichever signals first."""
        made: Any = self
        return made._from(_raced(self, other, operator="amb_with"))  # type: ignore[no-any-return]  # self names the base

    @classmethod
    def using(
        cls,
        supplier: Callable[[], R],
        factory: Callable[[R], SingleBase[T]],
        cleanup: Callable[[R], object],
        /,
        *,
        eager: bool = True,
    ) -> Single[T]:
        """The Single that ``factory`` makes of a resource, as :meth:`Flowable.using`."""
        return cls._from(_used(supplier, factory, cleanup, eager))

    def take_until(self, other: AnySource, /) -> Single[T_co]:
        """The item, if it comes before ``other`` gives an item or completes; else ``concurrent.futures.CancelledError``."""
        return self._from(_ended(self, other, _cancelled))

    def materialize(self) -> Single[Notification[T_co]]:
        """OnNext with the item, or OnError."""
        return _told(self)

    def dematerialize(self: SingleBase[Notification[T]]) -> Maybe[T]:
        """What the notification stands for: an item, an error, or nothing."""
        made: Any = self
        return made._into(_results.Maybe, stages.dematerialize, None)  # type: ignore[no-any-return]  # self names the base


class MaybeAround(MaybeBase[T_co]):
    """Races, ends, resources and notifications of a Maybe."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: Head) -> Maybe[Any]: ...

    @classmethod
    def amb(cls, *sources: MaybeBase[T]) -> Maybe[T]:
        """The one of ``sources`` that signals first; the others are cancelled. Nothing when there are none."""
        return cls._from(_raced(*sources))

    def amb_with(self: MaybeBase[T], other: MaybeBase[T], /) -> Maybe[T]:
        """This or ``other``, whichever signals first."""
        made: Any = self
        return made._from(_raced(self, other, operator="amb_with"))  # type: ignore[no-any-return]  # self names the base

    @classmethod
    def using(
        cls,
        supplier: Callable[[], R],
        factory: Callable[[R], MaybeBase[T]],
        cleanup: Callable[[R], object],
        /,
        *,
        eager: bool = True,
    ) -> Maybe[T]:
        """The Maybe that ``factory`` makes of a resource, as :meth:`Flowable.using`."""
        return cls._from(_used(supplier, factory, cleanup, eager))

    def take_until(self, other: AnySource, /) -> Maybe[T_co]:
        """The item, if it comes before ``other`` gives an item or completes; else nothing."""
        return self._from(_ended(self, other))

    def switch_if_empty(self: MaybeBase[T], other: MaybeBase[T] | SingleBase[T], /) -> Maybe[T]:
        """``other`` instead, when there is no item."""
        check_source("switch_if_empty", other)
        made: Any = self
        head = OperatorHead(operators.SwitchIfEmpty, (self, other), shown=f"switch_if_empty({other!r})")
        return made._from(head)  # type: ignore[no-any-return]  # self names the base

    def materialize(self) -> Single[Notification[T_co]]:
        """OnNext with the item, OnComplete when there is none, or OnError."""
        return _told(self)

    def dematerialize(self: MaybeBase[Notification[T]]) -> Maybe[T]:
        """What the notification stands for: an item, an error, or nothing."""
        made: Any = self
        return made._then(stages.dematerialize, None)  # type: ignore[no-any-return]  # self names the base


class CompletableAround(CompletableBase):
    """Races, ends, resources and notifications of a Completable."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: Head) -> Completable: ...

    @classmethod
    def amb(cls, *sources: CompletableBase) -> Completable:
        """The one of ``sources`` that ends first, whichever way; the others are cancelled. Completes when there are none."""
        for source in sources:
            check_source("amb", source)
        return cls._from(_raced(*(cls._from(only_end(source)) for source in sources)))

    def amb_with(self, other: CompletableBase, /) -> Completable:
        """This or ``other``, whichever ends first."""
        check_source("amb_with", other)
        return self.amb(self, other)

    @classmethod
    def using(
        cls,
        supplier: Callable[[], R],
        factory: Callable[[R], CompletableBase],
        cleanup: Callable[[R], object],
        /,
        *,
        eager: bool = True,
    ) -> Completable:
        """The Completable that ``factory`` makes of a resource, as :meth:`Flowable.using`."""
        return cls._from(_used(supplier, factory, cleanup, eager))

    def take_until(self, other: AnySource, /) -> Completable:
        """Completes with this, or when ``other`` gives an item or completes."""
        return self._from(_ended(self, other))

    def materialize(self) -> Single[Notification[Any]]:
        """OnComplete, or OnError."""
        return _told(self._from(only_end(self)))


def only_end(source: object) -> OperatorHead:
    """A Completable may be a stream of which nobody looks at the items: without them."""
    return OperatorHead(operators.IgnoreElements, (source,), shown="ignore_elements()")

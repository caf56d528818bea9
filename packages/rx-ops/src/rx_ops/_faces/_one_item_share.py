"""Single, Maybe and Completable: one run for many subscribers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import CompletableBase, MaybeBase, SingleBase
from rx_fusion import PlainFlow, SourceHead
from rx_ops._faces._core import default_scheduler
from rx_ops.operators import cached

if TYPE_CHECKING:
    from rx_ops._faces._results import Completable, Maybe, Single

T_co = TypeVar("T_co", covariant=True)


def _cached(source: Any) -> SourceHead:
    text = f"{source!r}.cache()"
    return SourceHead(
        "cache",
        cached(source._as(PlainFlow), default_scheduler(None), text),
        text,
        (source,),
        ("one run for all, its result kept",),
    )


class SingleShare(SingleBase[T_co]):
    """One run of a Single for many."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: SourceHead) -> Single[Any]: ...

    def cache(self) -> Single[T_co]:
        """The result of the first subscription for all who subscribe, an error too. Who leaves does not stop the run."""
        return self._from(_cached(self))


class MaybeShare(MaybeBase[T_co]):
    """One run of a Maybe for many."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: SourceHead) -> Maybe[Any]: ...

    def cache(self) -> Maybe[T_co]:
        """The result of the first subscription for all who subscribe, an error too. Who leaves does not stop the run."""
        return self._from(_cached(self))


class CompletableShare(CompletableBase):
    """One run of a Completable for many."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: SourceHead) -> Completable: ...

    def cache(self) -> Completable:
        """The end of the first subscription for all who subscribe, an error too. Who leaves does not stop the run."""
        return self._from(_cached(self))

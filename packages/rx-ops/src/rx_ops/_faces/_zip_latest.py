"""Rows of the newest items of several streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import Publisher
from rx_fusion import OperatorHead
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_callable, check_source

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")
T4 = TypeVar("T4")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableZipLatest(FlowableCore[T_co]):
    """Rows of the newest items of several streams."""

    __slots__ = ()

    @overload
    @classmethod
    def zip_latest(cls, s1: Publisher[T1], s2: Publisher[T2], /, *, combiner: Callable[[T1, T2], R]) -> Flowable[R]: ...
    @overload
    @classmethod
    def zip_latest(
        cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], /, *, combiner: Callable[[T1, T2, T3], R]
    ) -> Flowable[R]: ...
    @overload
    @classmethod
    def zip_latest(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        s3: Publisher[T3],
        s4: Publisher[T4],
        /,
        *,
        combiner: Callable[[T1, T2, T3, T4], R],
    ) -> Flowable[R]: ...
    @overload
    @classmethod
    def zip_latest(cls, s1: Publisher[T1], s2: Publisher[T2], /) -> Flowable[tuple[T1, T2]]: ...
    @overload
    @classmethod
    def zip_latest(cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], /) -> Flowable[tuple[T1, T2, T3]]: ...
    @overload
    @classmethod
    def zip_latest(
        cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], s4: Publisher[T4], /
    ) -> Flowable[tuple[T1, T2, T3, T4]]: ...
    @classmethod
    def zip_latest(cls, *sources: Publisher[Any], combiner: Any = None) -> Flowable[Any]:
        """As :meth:`zip`, of the newest items: once each source has a new one, a tuple, or what ``combiner`` makes of them.

        An item that did not go out before its source has a newer one is dropped. Ends when a source is over and its last item has
        gone out.

        ::  --1-2-----3---|  ------a-b----c|  -->  ------x---y---|      (x is 2 and a, y is 3 and b)

        Demand:  passes through row by row; everything of the sources.
        Errors:  the first ends the stream at once and cancels the others. What ``combiner`` raises, TypeError when it
                 returns None.
        Memory:  one item for each source.   Thread: that of the source that completes a row, or the one that requests.
        Fusion:  coordinating.
        Source:  RxJavaExtensions ``zipLatest``, RxPY ``zip_latest``.
        """
        for source in sources:
            check_source("zip_latest", source)
        if combiner is None:
            combiner = operators.row_of
        else:
            check_callable("zip_latest", "combiner", combiner)
        return cls._from(OperatorHead(operators.ZipLatest, sources, (combiner,), many=True, shown="zip_latest()"))

"""Several streams as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import DEFAULT_PREFETCH, FlowableBase, Publisher, check_prefetch
from rx_fusion import OperatorHead
from rx_ops import operators
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable, check_source

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable, Maybe

T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")
T4 = TypeVar("T4")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableCombine(FlowableCore[T_co]):
    """Several streams as one."""

    __slots__ = ()

    @overload
    @classmethod
    def zip(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        /,
        *,
        combiner: Callable[[T1, T2], R],
        prefetch: int = ...,
        delay_error: bool = ...,
    ) -> Flowable[R]: ...
    @overload
    @classmethod
    def zip(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        s3: Publisher[T3],
        /,
        *,
        combiner: Callable[[T1, T2, T3], R],
        prefetch: int = ...,
        delay_error: bool = ...,
    ) -> Flowable[R]: ...
    @overload
    @classmethod
    def zip(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        s3: Publisher[T3],
        s4: Publisher[T4],
        /,
        *,
        combiner: Callable[[T1, T2, T3, T4], R],
        prefetch: int = ...,
        delay_error: bool = ...,
    ) -> Flowable[R]: ...
    @overload
    @classmethod
    def zip(
        cls, s1: Publisher[T1], s2: Publisher[T2], /, *, prefetch: int = ..., delay_error: bool = ...
    ) -> Flowable[tuple[T1, T2]]: ...
    @overload
    @classmethod
    def zip(
        cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], /, *, prefetch: int = ..., delay_error: bool = ...
    ) -> Flowable[tuple[T1, T2, T3]]: ...
    @overload
    @classmethod
    def zip(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        s3: Publisher[T3],
        s4: Publisher[T4],
        /,
        *,
        prefetch: int = ...,
        delay_error: bool = ...,
    ) -> Flowable[tuple[T1, T2, T3, T4]]: ...
    @classmethod
    def zip(
        cls, *sources: Publisher[Any], combiner: Any = None, prefetch: int = DEFAULT_PREFETCH, delay_error: bool = False
    ) -> Flowable[Any]:
        """One item of each source makes a tuple, or what ``combiner`` makes of them; ends with the shortest source.

        ::  --1-2-3|  --a---b|  -->  --x---y|

        Demand:  a source that pushes is asked for ``prefetch`` items and replenished at 75 %; a passive one for the item of
                 the next row, once that row is wanted.
        Errors:  the first ends the stream at once and cancels the others; with ``delay_error`` it ends its source like a
                 completion, so that what came before makes rows, and several errors arrive as one CompositeException. What
                 ``combiner`` raises, TypeError when it returns None.
        Memory:  ``prefetch`` items for each source that pushes.   Thread: that of the source that completes a row.
        Fusion:  coordinating; passive sources are iterated, without a queue.
        Source:  RxJava ``zip``, builtin ``zip``.
        """
        check_prefetch("zip", prefetch)
        for source in sources:
            check_source("zip", source)
        if combiner is None:
            combiner = operators.row_of
        else:
            check_callable("zip", "combiner", combiner)
        args = (combiner, prefetch, delay_error)
        return cls._from(OperatorHead(operators.Zip, sources, args, many=True, shown="zip()"))

    @overload
    def zip_with(self: FlowableBase[T1], other: Publisher[T2], *, delay_error: bool = ...) -> Flowable[tuple[T1, T2]]: ...
    @overload
    def zip_with(
        self: FlowableBase[T1], other: Publisher[T2], combiner: Callable[[T1, T2], R], *, delay_error: bool = ...
    ) -> Flowable[R]: ...
    def zip_with(self: Any, other: Publisher[Any], combiner: Any = None, *, delay_error: bool = False) -> Any:
        """Items of this stream and of ``other`` in pairs.

        ::  --1-2-3|  --a---b|  -->  --x---y|

        Demand:  passes through row by row.   Errors: the first ends the stream and cancels the other; ``delay_error`` as
                 :meth:`zip`.
        Memory:  128 items for each source that pushes.   Thread: that of the source that completes a pair.
        Fusion:  as :meth:`zip`.
        Source:  RxJava ``zipWith``.
        """
        check_source("zip_with", other)
        if combiner is None:
            return self.zip(self, other, delay_error=delay_error)
        check_callable("zip_with", "combiner", combiner)
        return self.zip(self, other, combiner=combiner, delay_error=delay_error)

    @overload
    @classmethod
    def fork_join(cls, s1: Publisher[T1], s2: Publisher[T2], /, *, combiner: Callable[[T1, T2], R]) -> Maybe[R]: ...
    @overload
    @classmethod
    def fork_join(
        cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], /, *, combiner: Callable[[T1, T2, T3], R]
    ) -> Maybe[R]: ...
    @overload
    @classmethod
    def fork_join(
        cls,
        s1: Publisher[T1],
        s2: Publisher[T2],
        s3: Publisher[T3],
        s4: Publisher[T4],
        /,
        *,
        combiner: Callable[[T1, T2, T3, T4], R],
    ) -> Maybe[R]: ...
    @overload
    @classmethod
    def fork_join(cls, s1: Publisher[T1], s2: Publisher[T2], /) -> Maybe[tuple[T1, T2]]: ...
    @overload
    @classmethod
    def fork_join(cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], /) -> Maybe[tuple[T1, T2, T3]]: ...
    @overload
    @classmethod
    def fork_join(
        cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], s4: Publisher[T4], /
    ) -> Maybe[tuple[T1, T2, T3, T4]]: ...
    @classmethod
    def fork_join(cls, *sources: Publisher[Any], combiner: Any = None) -> Maybe[Any]:
        """A tuple of the last items of all sources, or what ``combiner`` makes of them, when all are complete.

        Nothing when one of them has no item: it ends then, and cancels the others.

        ::  --1-2|  --a---b|  -->  -------x|      (x is 2 and b)

        Demand:  everything of all sources.
        Errors:  the first ends it and cancels the others. What ``combiner`` raises, TypeError when it returns None.
        Memory:  one item for each source.   Thread: that of the source that ends last.
        Fusion:  coordinating; passive sources are iterated, without a queue.
        Source:  RxPY ``fork_join``, RxJS ``forkJoin``.
        """
        for source in sources:
            check_source("fork_join", source)
        if combiner is None:
            combiner = operators.row_of
        else:
            check_callable("fork_join", "combiner", combiner)
        last = tuple([cls.wrap(source).last_element() for source in sources])  # type: ignore[attr-defined]  # of the whole face
        head = OperatorHead(operators.ForkJoin, last, (combiner, 1), many=True, shown="fork_join()")
        return _results.Maybe._from(head)

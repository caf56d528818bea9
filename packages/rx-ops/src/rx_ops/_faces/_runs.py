"""Operators that cut a stream where its items say so: lists of neighbours that belong together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rx_ops import stages
from rx_ops._faces._core import FlowableCore, check_callable, itself

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableRuns(FlowableCore[T_co]):
    """Operators that cut a stream where its items say so."""

    __slots__ = ()

    def buffer_until(self, predicate: Callable[[T_co], object], /, *, cut_before: bool = False) -> Flowable[list[T_co]]:
        """Lists that end with an item for which ``predicate`` is true; with ``cut_before`` they begin with it.

        ::  --1-2-3-4|  -->  ----a---b|      (even: a=[1, 2], b=[3, 4])

        Demand:  as much is asked for as the list needs that is wanted.
        Errors:  what ``predicate`` raises, with a note; an error drops the list that is not complete.
        Memory:  one list, however long it gets.   Thread: the one that requests.   Fusion: stage with an end.
        Source:  Reactor ``bufferUntil``. The last list need not end with such an item.
        """
        check_callable("buffer_until", "predicate", predicate)
        return self._then(stages.buffer_before if cut_before else stages.buffer_until, predicate)

    def chunk_by_weight(self, limit: float, weight: Callable[[T_co], float], /) -> Flowable[list[T_co]]:
        """Lists of neighbours that ``weight`` gives ``limit`` together at most; an item that is heavier is a list by itself.

        ::  --1-2-3-4|  -->  ----a-b-c|      (limit=4: a=[1, 2], b=[3], c=[4])

        Demand:  as much is asked for as the list needs that is wanted.
        Errors:  what ``weight`` raises, with a note; an error drops the list that is not complete. TypeError at assembly when
                 ``limit`` is no number, ValueError when it is not above 0.
        Memory:  one list of ``limit`` together.   Thread: the one that requests.   Fusion: stage, expands, with an end.
        Source:  none in RxJava, Reactor and RxPY. A list that is full is given at once, and not with the next item.
        """
        if isinstance(limit, bool) or not isinstance(limit, (int, float)):
            raise TypeError(f"chunk_by_weight({limit!r}): a number is needed, for example chunk_by_weight(1_000, len)")
        if not limit > 0:
            raise ValueError(f"chunk_by_weight({limit}): the limit has to be above 0, for example chunk_by_weight(1_000, len)")
        check_callable("chunk_by_weight", "weight", weight)
        return self._then(stages.chunk_by_weight, limit, weight)

    def buffer_while(self, predicate: Callable[[T_co], object], /) -> Flowable[list[T_co]]:
        """Lists of neighbours for which ``predicate`` is true; the items between them are left out.

        ::  --1-3-4-5|  -->  ------a-b|      (odd: a=[1, 3], b=[5])

        Demand:  as much is asked for as the list needs that is wanted.
        Errors:  what ``predicate`` raises, with a note; an error drops the list that is not complete.
        Memory:  one list, however long it gets.   Thread: the one that requests.   Fusion: stage with an end.
        Source:  Reactor ``bufferWhile``.
        """
        check_callable("buffer_while", "predicate", predicate)
        return self._then(stages.buffer_while, predicate)

    def buffer_until_changed(self, key: Callable[[T_co], object] | None = None, /) -> Flowable[list[T_co]]:
        """Lists of neighbours that are equal, by themselves or by ``key``.

        ::  --1-1-2-2|  -->  ------a-b|      (a=[1, 1], b=[2, 2])

        Demand:  as much is asked for as the list needs that is wanted.
        Errors:  what ``key`` or comparing raises, with a note; an error drops the list that is not complete.
        Memory:  one list, however long it gets.   Thread: the one that requests.   Fusion: stage with an end.
        Source:  Reactor ``bufferUntilChanged``, itertools ``groupby``.
        """
        if key is None:
            return self._then(stages.buffer_until_changed, itself)
        check_callable("buffer_until_changed", "key", key)
        return self._then(stages.buffer_until_changed, key)

"""Operators that cut a stream where its items say so: lists of neighbours that belong together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rx_core import DEFAULT_PREFETCH, check_prefetch, name_of
from rx_ops import operators, stages
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable, itself

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableRuns(FlowableCore[T_co]):
    """Operators that cut a stream where its items say so."""

    __slots__ = ()

    def buffer_until(self, predicate: Callable[[T_co], object], *, cut_before: bool = False) -> Flowable[list[T_co]]:
        """Lists that end with an item for which ``predicate`` is true; with ``cut_before`` they begin with it.

        ::  --1-2-3-4|  -->  ----a---b|      (even: a=[1, 2], b=[3, 4])

        Demand:  as much is asked for as the list needs that is wanted.
        Errors:  what ``predicate`` raises, with a note; an error drops the list that is not complete.
        Memory:  one list, however long it gets.   Thread: the one that requests.   Fusion: stage with an end.
        Source:  Reactor ``bufferUntil``. The last list need not end with such an item.
        """
        check_callable("buffer_until", "predicate", predicate)
        return self._then(stages.buffer_before if cut_before else stages.buffer_until, predicate)

    def chunk_by_weight(self, limit: float, weight: Callable[[T_co], float]) -> Flowable[list[T_co]]:
        """Lists of neighbours that ``weight`` gives ``limit`` together at most; an item that is heavier is a list by itself.

        ::  --1-2-3-4|  -->  ----a-b-c|      (limit=4: a=[1, 2], b=[3], c=[4])

        Demand:  as much is asked for as the list needs that is wanted; of a source that pushes 128 items ahead, since one may
                 end two lists. Its error overtakes those that wait.
        Errors:  what ``weight`` raises, with a note; an error drops the list that is not complete. TypeError at assembly when
                 ``limit`` is no number, ValueError when it is not above 0.
        Memory:  one list of ``limit`` together.   Thread: the one that requests.   Fusion: stage, expands, with an end.
        Source:  none in RxJava, Reactor and RxPY. A list that is full is given at once, and not with the next item.
        """
        if isinstance(limit, bool) or not isinstance(limit, (int, float)):
            raise TypeError(f"chunk_by_weight({limit!r}): a number is needed, for example .chunk_by_weight(1_000, len)")
        if not limit > 0:
            raise ValueError(f"chunk_by_weight({limit}): the limit has to be above 0, for example .chunk_by_weight(1_000, len)")
        check_callable("chunk_by_weight", "weight", weight)
        return self._then(stages.chunk_by_weight, limit, weight)

    def buffer_while(self, predicate: Callable[[T_co], object]) -> Flowable[list[T_co]]:
        """Lists of neighbours for which ``predicate`` is true; the items between them are left out.

        ::  --1-3-4-5|  -->  ------a-b|      (odd: a=[1, 3], b=[5])

        Demand:  as much is asked for as the list needs that is wanted.
        Errors:  what ``predicate`` raises, with a note; an error drops the list that is not complete.
        Memory:  one list, however long it gets.   Thread: the one that requests.   Fusion: stage with an end.
        Source:  Reactor ``bufferWhile``.
        """
        check_callable("buffer_while", "predicate", predicate)
        return self._then(stages.buffer_while, predicate)

    def buffer_until_changed(self, key: Callable[[T_co], object] | None = None) -> Flowable[list[T_co]]:
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

    def window_until(
        self, predicate: Callable[[T_co], object], *, cut_before: bool = False, prefetch: int = DEFAULT_PREFETCH
    ) -> Flowable[Flowable[T_co]]:
        """Streams that end with an item for which ``predicate`` is true; with ``cut_before`` they begin with it.

        ::  --1-2-3-4|  -->  --a---b--|      (even: a has 1 and 2, b has 3 and 4)

        Demand:  asks for ``prefetch`` items, and for more as windows give theirs. A window that is not requested waits.
        Errors:  go to the stream of windows and to the open one, and overtake the windows that wait; what ``predicate`` raises,
                 with a note.
        Memory:  ``prefetch`` items in all windows together. A window that is not subscribed while it is emitted is abandoned: it
                 keeps what it has and completes. One that waits for its turn in :meth:`concat_map` counts as subscribed; in any
                 other queue, behind :meth:`observe_on` say, it does not.
        Thread:  that of the source; what had to wait comes on the one that requests.
        Fusion:  coordinating; a queue for each window, empty where its subscriber keeps up.
        Source:  Reactor ``windowUntil``. :meth:`buffer_until` gives lists.
        """
        check_callable("window_until", "predicate", predicate)
        check_prefetch("window_until", prefetch)
        rule = operators.begins_where if cut_before else operators.ends_where
        shown = f"window_until({name_of(predicate)}{', cut_before=True' if cut_before else ''})"
        args = (_results.Flowable, prefetch, rule, predicate)
        return self._coordinate(operators.WindowUntil, *args, shown=shown, said=operators.run_notes(prefetch))

    def window_while(self, predicate: Callable[[T_co], object], *, prefetch: int = DEFAULT_PREFETCH) -> Flowable[Flowable[T_co]]:
        """Streams of neighbours for which ``predicate`` is true; the items between them are left out.

        ::  --1-3-4-5|  -->  --a-----b|      (odd: a has 1 and 3, b has 5)

        Demand:  as :meth:`window_until`.
        Errors:  as :meth:`window_until`; what ``predicate`` raises, with a note.
        Memory:  as :meth:`window_until`.
        Thread:  that of the source; what had to wait comes on the one that requests.
        Fusion:  coordinating; a queue for each window, empty where its subscriber keeps up.
        Source:  Reactor ``windowWhile``. :meth:`buffer_while` gives lists.
        """
        check_callable("window_while", "predicate", predicate)
        check_prefetch("window_while", prefetch)
        shown = f"window_while({name_of(predicate)})"
        args = (_results.Flowable, prefetch, operators.lasts_while, predicate)
        return self._coordinate(operators.WindowWhile, *args, shown=shown, said=operators.run_notes(prefetch))

    def window_until_changed(
        self, key: Callable[[T_co], object] | None = None, *, prefetch: int = DEFAULT_PREFETCH
    ) -> Flowable[Flowable[T_co]]:
        """Streams of neighbours that are equal, by themselves or by ``key``.

        ::  --1-1-2-2|  -->  --a---b--|      (a has 1 and 1, b has 2 and 2)

        Demand:  as :meth:`window_until`.
        Errors:  as :meth:`window_until`; what ``key`` or comparing raises, with a note.
        Memory:  as :meth:`window_until`.
        Thread:  that of the source; what had to wait comes on the one that requests.
        Fusion:  coordinating; a queue for each window, empty where its subscriber keeps up.
        Source:  Reactor ``windowUntilChanged``. :meth:`buffer_until_changed` gives lists.
        """
        if key is not None:
            check_callable("window_until_changed", "key", key)
        check_prefetch("window_until_changed", prefetch)
        shown = "window_until_changed()" if key is None else f"window_until_changed({name_of(key)})"
        args = (_results.Flowable, prefetch, operators.begins_with_change, key or itself)
        return self._coordinate(operators.WindowUntilChanged, *args, shown=shown, said=operators.run_notes(prefetch))

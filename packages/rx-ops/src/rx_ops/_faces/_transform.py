"""Operators that change items."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, overload

from rx_core import DEFAULT_PREFETCH, FlowableBase, MaybeBase, Publisher, SingleBase, check_prefetch
from rx_fusion import ONE_FUNCTION, OperatorHead, PublisherHead, after, operator_head
from rx_fusion.symbols import without_symbols
from rx_ops import operators, stages
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable, check_kind

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable, GroupedFlowable

T = TypeVar("T")
R = TypeVar("R")
V = TypeVar("V")
K = TypeVar("K", bound=Hashable)
T_co = TypeVar("T_co", covariant=True)
Ts = TypeVarTuple("Ts")


class FlowableTransform(FlowableCore[T_co]):
    """Operators that change items."""

    __slots__ = ()

    def map(self, mapper: Callable[[T_co], R], /) -> Flowable[R]:
        """Each item through ``mapper``.

        ::  --1--2--3|  -->  --a--b--c|

        Demand:  passes through.
        Errors:  what ``mapper`` raises, with a note; TypeError when it returns None (RS 2.13).
        Memory:  none.   Thread: the one that requests.   Fusion: stage, one to one.
        Source:  RxJava ``map``.
        """
        return self._calling(stages.map_, mapper)

    def starmap(self: FlowableBase[tuple[*Ts]], mapper: Callable[[*Ts], R], /) -> Flowable[R]:
        """``map`` for tuples: their items are the arguments of ``mapper``.

        ::  --(1,2)--(3,4)|  -->  --3------7|

        Demand:  passes through.
        Errors:  what ``mapper`` raises, with a note; TypeError when it returns None.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, one to one.
        Source:  itertools ``starmap``.
        """
        return self._calling(stages.starmap, mapper)  # type: ignore[attr-defined,no-any-return]  # self names the base

    def flat_map_iterable(self, mapper: Callable[[T_co], Iterable[R]], /) -> Flowable[R]:
        """The items of the iterable that ``mapper`` makes of each item, in order.

        ::  --a-----b---|  -->  --a-a---b-b-|

        Demand:  an iterable is read as far as is requested; the next item is asked for when it is used up.
        Errors:  what ``mapper`` or iterating raises, with a note; TypeError for a None among the items.
        Memory:  one iterator.   Thread: the one that requests.   Fusion: stage, expands.
        Source:  RxJava ``flatMapIterable``, itertools ``chain.from_iterable``.
        """
        return self._calling(stages.flat_map_iterable, mapper)

    @overload
    def scan(self: FlowableBase[T], accumulator: Callable[[T, T], T], /) -> Flowable[T]: ...
    @overload
    def scan(self, accumulator: Callable[[R, T_co], R], seed: R, /) -> Flowable[R]: ...
    def scan(self, accumulator: Callable[[Any, Any], Any], seed: Any = None, /) -> Flowable[Any]:
        """The running total: each item combined with what came before. With ``seed``, that comes first.

        ::  --1--2--3|  -->  --1--3--6|

        Demand:  passes through; the seed takes one of what is requested first.
        Errors:  what ``accumulator`` raises, with a note; TypeError when it returns None.
        Memory:  one item.   Thread: the one that requests.   Fusion: stage; with a seed not pushed.
        Source:  RxJava ``scan``, itertools ``accumulate``.
        """
        check_callable("scan", "accumulator", accumulator)
        if seed is None:
            return self._then(stages.scan, accumulator)
        return self._then(stages.scan_seed, accumulator, seed)

    def scan_with(self, supplier: Callable[[], R], accumulator: Callable[[R, T_co], R], /) -> Flowable[R]:
        """The running total that begins with a fresh ``supplier()`` for each subscription, so that it may be changed in place.

        ::  --1--2--3|  -->  0-1--3--6|

        Demand:  passes through; the seed takes one of what is requested first.
        Errors:  what the functions raise, with a note; TypeError when one returns None.
        Memory:  one item.   Thread: the one that requests.   Fusion: stage; not pushed.
        Source:  RxJava ``scanWith``.
        """
        check_callable("scan_with", "supplier", supplier)
        check_callable("scan_with", "accumulator", accumulator)
        return self._then(stages.scan_with, supplier, accumulator)

    def flat_map(
        self,
        mapper: Callable[[T_co], Publisher[R] | SingleBase[R] | MaybeBase[R]],
        /,
        *,
        max_concurrency: int = 128,
        prefetch: int = DEFAULT_PREFETCH,
        delay_error: bool = False,
    ) -> Flowable[R]:
        """The sources that ``mapper`` makes of the items, at most ``max_concurrency`` at a time, their items as they come.

        ::  --a-----b---|  -->  --a-a---b-b-|

        Demand:  of downstream over all: the first request is what subscribes to inner sources, so a hot one may be missed before
                 it. A foreign inner source is asked for ``prefetch`` elements and replenished at 75 %.
        Errors:  the first ends the stream and cancels the others; with ``delay_error`` all run to their end and several errors
                 arrive as one CompositeException. TypeError when ``mapper`` returns no source.
        Memory:  ``max_concurrency`` sources of ``prefetch`` items; ours that are synchronous need no queue.
        Thread:  items come on the thread of the source that has one; ``mapper`` runs where the stream is polled.
        Fusion:  coordinating; passive inner sources are iterated, without a queue.
        Source:  RxJava ``flatMap``.
        """
        check_callable("flat_map", "mapper", mapper)
        check_prefetch("flat_map", max_concurrency, "max_concurrency")
        check_prefetch("flat_map", prefetch)
        args = (mapper, max_concurrency, prefetch, delay_error)
        return self._from(operator_head(OperatorHead, operators.FLAT_MAP, (self,), args, max_concurrency, ONE_FUNCTION))

    def concat_map(
        self,
        mapper: Callable[[T_co], Publisher[R] | SingleBase[R] | MaybeBase[R]],
        /,
        *,
        prefetch: int = 2,
        delay_error: bool = False,
        till_the_end: bool = True,
    ) -> Flowable[R]:
        """The sources that ``mapper`` makes of the items, one after the other.

        ::  --a---b-----|  -->  --a-a-b-b-|

        Demand:  an inner source gets what is still wanted; a foreign outer one is asked for ``prefetch`` items ahead.
        Errors:  end the stream at once. With ``delay_error`` all inner sources run to their end, and several errors arrive as
                 one CompositeException; without ``till_the_end`` only the one that runs when an error comes. TypeError when
                 ``mapper`` returns no source.
        Memory:  ``prefetch`` outer items where the outer source is not ours.
        Thread:  that of the running inner source.   Fusion: coordinating; passive inner sources are iterated, without a queue.
        Source:  RxJava ``concatMap``, ``concatMapDelayError``.
        """
        check_callable("concat_map", "mapper", mapper)
        check_prefetch("concat_map", prefetch)
        args = (mapper, delay_error, till_the_end, prefetch)
        return self._from(operator_head(OperatorHead, operators.CONCAT_MAP, (self,), args, prefetch, ONE_FUNCTION))

    def expand(self: FlowableBase[T], expander: Callable[[T], Publisher[T] | SingleBase[T] | MaybeBase[T]], /) -> Flowable[T]:
        """The items, then the items of the sources that ``expander`` makes of them, and so on: a tree, level by level.

        ::  --1|  -->  --1-2-3-4-5-6-7|      (n to 2n and 2n + 1, below 8)

        Demand:  a source gets what is still wanted. An item is expanded when all sources before its own are complete.
        Errors:  the first ends the stream. TypeError when ``expander`` returns no source.
        Memory:  the items that were emitted and not expanded yet: a level of the tree.
        Thread:  that of the running source; ``expander`` runs where the stream is polled.
        Fusion:  coordinating; passive inner sources are iterated, without a queue.
        Source:  Reactor ``expand``. One source at a time: breadth first is an order.
        """
        check_callable("expand", "expander", expander)
        return self._coordinate(operators.Expand, expander)  # type: ignore[attr-defined,no-any-return]  # self names the base

    @overload
    def group_by(
        self: FlowableBase[T], key: Callable[[T], K], /, *, buffer_size: int = DEFAULT_PREFETCH
    ) -> Flowable[GroupedFlowable[K, T]]: ...
    @overload
    def group_by(
        self, key: Callable[[T_co], K], value: Callable[[T_co], V], /, *, buffer_size: int = DEFAULT_PREFETCH
    ) -> Flowable[GroupedFlowable[K, V]]: ...
    def group_by(self, key: Any, value: Any = None, /, *, buffer_size: int = DEFAULT_PREFETCH) -> Any:
        """One stream per key, each given when its first item comes.

        ::  --1-2-3-|  -->  --a-b---|      (odd and even)

        Demand:  of the groups and of their items; the source is asked for ``buffer_size`` items ahead, whoever reads them.
        Errors:  go to the stream of groups and to every group, past the items that wait there; MissingBackpressureError as soon
                 as a new group comes and none is requested.
        Memory:  at most ``buffer_size`` items wait in all groups together. A group that is not subscribed while it is emitted is
                 abandoned: it keeps its first item, completes, and its key comes again as a new group. One that waits for its
                 turn in :meth:`concat_map` counts as subscribed; in any other queue, behind :meth:`observe_on` say, it does not.
        Thread:  that of the source; an item that had to wait in its group comes on the one that requests.
        Fusion:  coordinating; a queue for each group, empty where its subscriber keeps up.
        Source:  RxJava ``groupBy``. To fold each group use :meth:`group_reduce`, which cannot run full.
        """
        check_callable("group_by", "key", key)
        if value is not None:
            check_callable("group_by", "value", value)
        check_prefetch("group_by", buffer_size, "buffer_size")
        functions = without_symbols((key, value))
        said = operators.group_notes(buffer_size)
        return self._coordinate(operators.GroupBy, *functions, buffer_size, _results.GroupedFlowable, shown=1, said=said)

    def group_reduce(
        self, key: Callable[[T_co], K], value: Callable[[T_co], V], reducer: Callable[[V, V], V], /
    ) -> Flowable[tuple[K, V]]:
        """``(key, reduced value)`` for each key, in the order the keys first came, when the source is complete.

        ::  --1-2-3-|  -->  --------(a,b)|

        Demand:  the source is read to its end at the first request; the pairs are given as requested.
        Errors:  what the functions raise, with a note.
        Memory:  one value per key.   Thread: the one that requests.   Fusion: stage, everything at the end.
        Source:  Spark ``reduceByKey``; on Spark ``reducer`` has to be associative and commutative.
        """
        for name, function in (("key", key), ("value", value), ("reducer", reducer)):
            check_callable("group_reduce", name, function)
        return self._then(stages.group_reduce, key, value, reducer)

    def cast(self, kind: type[R], /) -> Flowable[R]:
        """The same items, each checked to be a ``kind``.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.
        Errors:  TypeError for an item of another type.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, one to one.
        Source:  RxJava ``cast``.
        """
        check_kind("cast", kind)
        return self._then(stages.cast, kind)

    def hide(self) -> Flowable[T_co]:
        """The same stream behind a wall: nothing fuses across it and nobody sees what is behind it.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: pass through.
        Memory:  none.   Thread: unchanged.   Fusion: none, which is its purpose.
        Source:  RxJava ``hide``.
        """
        return self._from(PublisherHead("hide", self, after(self, "hide()"), (self,)))

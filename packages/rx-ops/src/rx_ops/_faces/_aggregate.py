"""Operators that make one value of a whole stream."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from rx_core import FlowableBase
from rx_ops import stages
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable, check_count, check_seeded
from rx_ops._group_aggregate import group_aggregate_of

if TYPE_CHECKING:
    from rx_fusion.symbols import Symbol
    from rx_ops._faces._inference import NotInferred, Supplier
    from rx_ops._faces._results import Flowable, Maybe, Single
    from rx_ops._row import Row
    from rx_ops.aggregates import Aggregate

T = TypeVar("T")
R = TypeVar("R")
V = TypeVar("V")
Code = TypeVar("Code")
K = TypeVar("K", bound=Hashable)
T_co = TypeVar("T_co", covariant=True)
V_co = TypeVar("V_co", covariant=True)


class Comparable(Protocol):
    """Something with an order."""

    def __lt__(self, other: Any, /) -> bool: ...


class Addable(Protocol[V_co]):
    """Something that can be added up and divided by how many there were."""

    def __add__(self, other: Any, /) -> Any: ...

    def __truediv__(self, number: int, /) -> V_co: ...


class FlowableAggregate(FlowableCore[T_co]):
    """Operators that make one value of a whole stream."""

    __slots__ = ()

    @overload
    def reduce(self: FlowableBase[T], reducer: Callable[[T, T], T]) -> Maybe[T]: ...
    @overload
    def reduce(self, reducer: Callable[[R, T_co], R], seed: R) -> Single[R]: ...
    def reduce(self: Any, reducer: Callable[[Any, Any], Any], seed: Any = None) -> Any:
        """All items combined, from the left. Without ``seed`` an empty stream gives nothing, with it the seed.

        ::  --1--2--3|  -->  --------6|

        Demand:  everything.
        Errors:  what ``reducer`` raises, with a note; TypeError when it returns None.
        Memory:  one value; ``seed`` is shared by all subscriptions, so it must not be changed in place (use :meth:`collect`).
        Thread:  the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxJava ``reduce``, functools ``reduce``.
        """
        if seed is None:
            return self._calling_into(_results.Maybe, stages.reduce, reducer)
        check_seeded("reduce", "reducer", reducer, seed)
        return self._into(_results.Single, stages.reduce_seed, reducer, seed)

    def reduce_with(self, supplier: Supplier[R], reducer: Callable[[R, T_co], R]) -> Single[R]:
        """All items combined, from the left, beginning with a ``supplier()`` of each subscription's own.

        ::  --1--2--3|  -->  --------6|

        Demand:  everything.
        Errors:  what the functions raise, with a note; TypeError when ``supplier``, or at the end ``reducer``, returns None.
        Memory:  one value, which may be changed in place.
        Thread:  the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxJava ``reduceWith``.
        """
        check_callable("reduce_with", "supplier", supplier)
        check_callable("reduce_with", "reducer", reducer)
        return self._into(_results.Single, stages.reduce_with, supplier, reducer)

    @overload
    def collect(self: FlowableBase[T], collector: Callable[[Iterable[T]], R], /) -> Single[R]: ...
    @overload
    def collect(self, supplier: Callable[[], R], collector: Callable[[R, T_co], object]) -> Single[R]: ...
    def collect(self: Any, supplier: Any, collector: Any = None) -> Any:
        """What ``collector`` makes of all items (``collect(set)``), or a fresh ``supplier()`` filled item by item.

        ::  --1--2--3|  -->  --------a|

        Demand:  everything.
        Errors:  what the functions raise, with a note; TypeError when they return None.
        Memory:  all items, or the container.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxJava ``collect``.
        """
        check_callable("collect", "supplier", supplier)
        if collector is None:
            return self._into(_results.Single, stages.collect_into, supplier)
        check_callable("collect", "collector", collector)
        return self._into(_results.Single, stages.collect, supplier, collector)

    def to_list(self) -> Single[list[T_co]]:
        """All items in a list.

        ::  --1--2--3|  -->  --------a|

        Demand:  everything.   Errors: drop what was collected and pass.
        Memory:  all items.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxJava ``toList``.
        """
        return self._into(_results.Single, stages.to_list)

    def sample_reservoir(self, count: int, *, seed: int | None = None) -> Single[list[T_co]]:
        """``count`` items chosen at random, each with the same chance; all items of a stream that has no more.

        ::  --1--2--3--4|  -->  -----------a|      (2 of 4: a=[3, 2])

        Demand:  everything.   Errors: drop what was chosen and pass; ValueError or TypeError at assembly for a bad number.
        Memory:  ``count`` items.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  none in RxJava, Reactor and RxPY. With a ``seed`` each run chooses the same places.
        """
        check_count("sample_reservoir", count, 1)
        return self._into(_results.Single, stages.sample_reservoir, count, seed)

    @overload
    def to_dict(self: FlowableBase[tuple[K, V]]) -> Single[dict[K, V]]: ...
    @overload
    def to_dict(self: FlowableBase[T], key: Callable[[T], K]) -> Single[dict[K, T]]: ...
    @overload
    def to_dict(self, key: Callable[[T_co], K], value: Callable[[T_co], V]) -> Single[dict[K, V]]: ...
    def to_dict(self: Any, key: Any = None, value: Any = None) -> Any:
        """A dict of pairs, or by ``key`` and ``value``; a later item replaces an earlier one with the same key.

        ::  --1--2--3|  -->  --------a|

        Demand:  everything.   Errors: what the functions raise, with a note.
        Memory:  one item per key.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxJava ``toMap``.
        """
        if key is None and value is None:
            return self._into(_results.Single, stages.collect_into, dict)
        check_callable("to_dict", "key", key)
        if value is None:
            return self._into(_results.Single, stages.to_dict, key, _itself)
        check_callable("to_dict", "value", value)
        return self._into(_results.Single, stages.to_dict, key, value)

    @overload
    def to_multimap(self: FlowableBase[T], key: Callable[[T], K]) -> Single[dict[K, list[T]]]: ...
    @overload
    def to_multimap(self, key: Callable[[T_co], K], value: Callable[[T_co], V]) -> Single[dict[K, list[V]]]: ...
    def to_multimap(self: Any, key: Callable[[Any], Any], value: Any = None) -> Any:
        """A dict by ``key`` of lists of ``value``, or of the items themselves, in the order in which they came.

        ::  --1--2--3|  -->  --------a|

        Demand:  everything.   Errors: what the functions raise, with a note.
        Memory:  all items.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxJava ``toMultimap``.
        """
        check_callable("to_multimap", "key", key)
        if value is not None:
            check_callable("to_multimap", "value", value)
        return self._into(_results.Single, stages.to_multimap, key, _itself if value is None else value)

    def count(self) -> Single[int]:
        """How many items there are.

        ::  --1--2--3|  -->  --------3|

        Demand:  everything.   Errors: pass through.
        Memory:  one number.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxJava ``count``.
        """
        return self._into(_results.Single, stages.count)

    @overload
    def sum(self: FlowableBase[int], start: int = 0) -> Single[int]: ...
    @overload
    def sum(self: FlowableBase[float], start: float = 0) -> Single[float]: ...
    @overload
    def sum(self: FlowableBase[complex], start: complex = 0) -> Single[complex]: ...
    def sum(self: Any, start: Any = 0) -> Any:
        """All items added up; ``start`` when there are none.

        ::  --1--2--3|  -->  --------6|

        Demand:  everything.   Errors: what adding raises, with a note.
        Memory:  one number.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  builtin ``sum``.
        """
        return self._into(_results.Single, stages.sum_, start)

    @overload
    def average(self: FlowableBase[float]) -> Single[float]: ...
    @overload
    def average(self, key: Callable[[T_co], float]) -> Single[float]: ...
    @overload
    def average(self: FlowableBase[Addable[V]]) -> Single[V]: ...
    def average(self: Any, key: Any = None) -> Any:
        """The sum of all items, or of what ``key`` makes of them, divided by their number.

        ::  --1--2--3|  -->  --------2|

        Demand:  everything.   Errors: what ``key`` or adding raises, with a note; EmptyStreamError when there are no items.
        Memory:  two numbers.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxPY ``average``. Whatever can be added and divided by a whole number: Fraction, Decimal, timedelta.
        """
        if key is None:
            return self._into(_results.Single, stages.average)
        return self._calling_into(_results.Single, stages.average_by, key)

    @overload
    def min(self: FlowableBase[Comparable]) -> Maybe[T_co]: ...
    @overload
    def min(self, key: Callable[[T_co], Comparable]) -> Maybe[T_co]: ...
    def min(self: Any, key: Any = None) -> Any:
        """The smallest item, by itself or by ``key``, the first of equal ones; nothing when there are none.

        ::  --2--1--3|  -->  --------1|

        Demand:  everything.   Errors: what ``key`` or comparing raises, with a note.
        Memory:  one item.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  builtin ``min``.
        """
        if key is None:
            return self._into(_results.Maybe, stages.min_)
        check_callable("min", "key", key)
        return self._into(_results.Maybe, stages.min_by, key)

    @overload
    def max(self: FlowableBase[Comparable]) -> Maybe[T_co]: ...
    @overload
    def max(self, key: Callable[[T_co], Comparable]) -> Maybe[T_co]: ...
    def max(self: Any, key: Any = None) -> Any:
        """The largest item, by itself or by ``key``, the first of equal ones; nothing when there are none.

        ::  --2--3--1|  -->  --------3|

        Demand:  everything.   Errors: what ``key`` or comparing raises, with a note.
        Memory:  one item.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  builtin ``max``.
        """
        if key is None:
            return self._into(_results.Maybe, stages.max_)
        check_callable("max", "key", key)
        return self._into(_results.Maybe, stages.max_by, key)

    def min_by(self, key: Callable[[T_co], Comparable]) -> Single[list[T_co]]:
        """All items with the smallest ``key``, in the order in which they came; an empty list when there are no items.

        ::  --1--2--3|  -->  --------a|

        Demand:  everything.   Errors: what ``key`` or comparing raises, with a note.
        Memory:  the items that are in the list so far.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxPY ``min_by``. For the first of them alone: :meth:`min`.
        """
        return self._calling_into(_results.Single, stages.minima, key)

    def max_by(self, key: Callable[[T_co], Comparable]) -> Single[list[T_co]]:
        """All items with the largest ``key``, in the order in which they came; an empty list when there are no items.

        ::  --1--2--3|  -->  --------a|

        Demand:  everything.   Errors: what ``key`` or comparing raises, with a note.
        Memory:  the items that are in the list so far.   Thread: the one that subscribes.   Fusion: stage, one item at the end.
        Source:  RxPY ``max_by``. For the first of them alone: :meth:`max`.
        """
        return self._calling_into(_results.Single, stages.maxima, key)

    def group_reduce(
        self, key: Callable[[T_co], K], value: Callable[[T_co], V], reducer: Callable[[V, V], V] | NotInferred[Code]
    ) -> Flowable[tuple[K, V]]:
        """``(key, reduced value)`` for each key, in the order the keys first came, when the source is complete.

        ::  --1-2-3-|  -->  --------(a,b)|

        Demand:  everything when it is subscribed, of a source that computes its items at the first request; the pairs
                 are given as requested.
        Errors:  what the functions raise, with a note.
        Memory:  one value per key.   Thread: the one that requests.   Fusion: stage, everything at the end.
        Source:  Spark ``reduceByKey``; on Spark ``reducer`` has to be associative and commutative.
        """
        for name, function in (("key", key), ("value", value), ("reducer", reducer)):
            check_callable("group_reduce", name, function)
        return self._then(stages.group_reduce, key, value, reducer)

    def group_aggregate(
        self,
        key: Callable[[T_co], Hashable] | tuple[Callable[[T_co], Hashable], ...],
        /,
        **aggregates: Aggregate | Symbol,
    ) -> Flowable[Row]:
        """A :class:`~rx_ops.Row` for each key, with the key and the aggregates by their names, when the source is complete.

        ``group_aggregate(it.city, total=it.amount.sum(), n=count())`` gives rows of ``city``, ``total`` and ``n``, in the order
        in which the keys first came. The field of the key has the name of the attribute or item that the key is; it is called
        ``key`` where that is another expression or a function. ``(it.city, it.year)`` makes a field of each. An aggregate is an
        expression with ``sum()``, ``count()``, ``min()``, ``max()`` or ``average()`` behind it, or one of
        :mod:`rx_ops.aggregates`, which take functions, too.

        ::  --1-2-3-|  -->  --------(a,b)|

        Demand:  everything when it is subscribed, of a source that computes its items at the first request; the rows
                 are given as requested.
        Errors:  what the functions, adding and comparing raise, with a note. At assembly TypeError for what is no aggregate and
                 where there is none, ValueError for two fields of one name.
        Memory:  one row per key.   Thread: the one that requests.   Fusion: stage, everything at the end.
        Source:  Polars ``group_by().agg``. With a function of your own: :meth:`group_reduce`.
        """
        return self._then(stages.group_aggregate, *group_aggregate_of(key, aggregates))


def _itself(item: Any) -> Any:
    return item

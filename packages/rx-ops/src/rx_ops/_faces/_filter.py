"""Operators that let some items through."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import FlowableBase
from rx_ops import _single, stages
from rx_ops._faces._core import FlowableCore, check_callable, check_count

if TYPE_CHECKING:
    from rx_ops._faces import Flowable
    from rx_ops._single import Maybe, Single

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableFilter(FlowableCore[T_co]):
    """Operators that let some items through."""

    __slots__ = ()

    def filter(self, predicate: Callable[[T_co], object], /) -> Flowable[T_co]:
        """The items for which ``predicate`` is true.

        ::  --1--2--3|  -->  --1-----3|

        Demand:  passes through; one more is asked for each item left out.
        Errors:  what ``predicate`` raises, with a note.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, drops.
        Source:  RxJava ``filter``.
        """
        check_callable("filter", "predicate", predicate)
        return self._then(stages.filter_, predicate)

    def of_type(self, kind: type[R], /) -> Flowable[R]:
        """The items that are a ``kind``, and typed as such.

        ::  --1--a--3|  -->  --1-----3|

        Demand:  passes through; one more is asked for each item left out.
        Errors:  pass through.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, drops.
        Source:  RxJava ``ofType``.
        """
        return self._then(stages.of_type, kind)

    def take(self, count: int, /) -> Flowable[T_co]:
        """The first ``count`` items; completes together with the last of them and cancels the source.

        ::  --1--2--3--4|  -->  --1--2|      (count=2)

        Demand:  never more than ``count`` in all.
        Errors:  pass through; ValueError or TypeError at assembly unless ``count`` is an int of at least 0.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, stops.
        Source:  RxJava ``take``, itertools ``islice``.
        """
        check_count("take", count)
        return self._then(stages.take, count)

    def skip(self, count: int, /) -> Flowable[T_co]:
        """All but the first ``count`` items.

        ::  --1--2--3--4|  -->  --------3--4|      (count=2)

        Demand:  the first request asks a foreign source for ``count`` more.
        Errors:  pass through; ValueError or TypeError at assembly unless ``count`` is an int of at least 0.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, drops.
        Source:  RxJava ``skip``, itertools ``islice``.
        """
        check_count("skip", count)
        return self._then(stages.skip, count)

    def take_while(self, predicate: Callable[[T_co], object], /) -> Flowable[T_co]:
        """Items up to the first for which ``predicate`` is false; that one is not given and the source is cancelled.

        ::  --1--2--3--1|  -->  --1--2--|      (less than 3)

        Demand:  passes through.
        Errors:  what ``predicate`` raises, with a note.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, stops.
        Source:  RxJava ``takeWhile``, itertools ``takewhile``.
        """
        check_callable("take_while", "predicate", predicate)
        return self._then(stages.take_while, predicate)

    def skip_while(self, predicate: Callable[[T_co], object], /) -> Flowable[T_co]:
        """Items from the first on for which ``predicate`` is false.

        ::  --1--2--3--1|  -->  --------3--1|      (less than 3)

        Demand:  passes through; one more is asked for each item left out.
        Errors:  what ``predicate`` raises, with a note.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, drops.
        Source:  RxJava ``skipWhile``, itertools ``dropwhile``.
        """
        check_callable("skip_while", "predicate", predicate)
        return self._then(stages.skip_while, predicate)

    def distinct(self, key: Callable[[T_co], object] | None = None, /) -> Flowable[T_co]:
        """Each item once, compared by itself or by ``key``, which must be hashable.

        ::  --1--2--1--3|  -->  --1--2-----3|

        Demand:  passes through; one more is asked for each item left out.
        Errors:  what ``key`` or hashing raises, with a note.
        Memory:  every key seen: unbounded.   Thread: the one that requests.   Fusion: stage, drops.
        Source:  RxJava ``distinct``.
        """
        if key is None:
            return self._then(stages.distinct)
        check_callable("distinct", "key", key)
        return self._then(stages.distinct_by, key)

    def distinct_until_changed(self, key: Callable[[T_co], object] | None = None, /) -> Flowable[T_co]:
        """Items that differ from the one just before, compared by themselves or by ``key``.

        ::  --1--1--2--1|  -->  --1-----2--1|

        Demand:  passes through; one more is asked for each item left out.
        Errors:  what ``key`` or comparing raises, with a note.
        Memory:  one item.   Thread: the one that requests.   Fusion: stage, drops.
        Source:  RxJava ``distinctUntilChanged``, itertools ``groupby`` keys.
        """
        if key is None:
            return self._then(stages.distinct_until_changed)
        check_callable("distinct_until_changed", "key", key)
        return self._then(stages.distinct_until_changed_by, key)

    def element_at(self, index: int, /) -> Maybe[T_co]:
        """The item at ``index``, counted from 0, or nothing when the stream is shorter.

        ::  --1--2--3|  -->  -----2|      (index=1)

        Demand:  ``index + 1`` elements, then cancels.
        Errors:  pass through; ValueError or TypeError at assembly unless ``index`` is an int of at least 0.
        Memory:  none.   Thread: the one that subscribes.   Fusion: stage, stops.
        Source:  RxJava ``elementAt``.
        """
        check_count("element_at", index, 0, "index")
        return self._into(_single.Maybe, stages.element_at, index)

    def first_element(self) -> Maybe[T_co]:
        """The first item, or nothing when there is none.

        ::  --1--2--3|  -->  --1|

        Demand:  one element, then cancels.
        Errors:  pass through.
        Memory:  none.   Thread: the one that subscribes.   Fusion: stage, stops.
        Source:  RxJava ``firstElement``.
        """
        return self._into(_single.Maybe, stages.element_at, 0)

    @overload
    def first(self, /) -> Single[T_co]: ...
    @overload
    def first(self: FlowableBase[T], default: T, /) -> Single[T]: ...
    def first(self: Any, default: Any = None, /) -> Any:
        """The first item, or ``default`` when there is none.

        ::  --1--2--3|  -->  --1|

        Demand:  one element, then cancels.
        Errors:  EmptyStreamError when there is no item and no default; others pass through.
        Memory:  none.   Thread: the one that subscribes.   Fusion: stage, stops.
        Source:  RxJava ``first`` and ``firstOrError``.
        """
        if default is None:
            return self._into(_single.Single, stages.first_or_error)
        return self._into(_single.Single, stages.first_or, default)

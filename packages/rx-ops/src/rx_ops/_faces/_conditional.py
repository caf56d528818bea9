"""Questions about a whole stream, answered as soon as the answer is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import DEFAULT_PREFETCH, Publisher, check_prefetch, none_argument
from rx_fusion import OperatorHead
from rx_ops import operators, stages
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable, check_source

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable, Single

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")
T4 = TypeVar("T4")
R = TypeVar("R")
V = TypeVar("V")
T_co = TypeVar("T_co", covariant=True)


class FlowableConditional(FlowableCore[T_co]):
    """Questions about a whole stream, answered as soon as the answer is known."""

    __slots__ = ()

    def any(self, predicate: Callable[[T_co], object] | None = None) -> Single[bool]:
        """Whether an item is true, or ``predicate`` for one; the first of them ends it and cancels the source.

        ::  --1--2--3|  -->  -----t|      (more than 1)

        Demand:  everything.
        Errors:  what ``predicate`` raises, with a note.
        Memory:  none.   Thread: the one that subscribes.   Fusion: stage, stops.
        Source:  RxJava ``any``, builtin ``any``. False when there are no items.
        """
        if predicate is None:
            return self._into(_results.Single, stages.any_)
        return self._calling_into(_results.Single, stages.any_by, predicate)

    def all(self, predicate: Callable[[T_co], object] | None = None) -> Single[bool]:
        """Whether all items are true, or ``predicate`` for all; the first that is not ends it and cancels the source.

        ::  --1--2--3|  -->  -----f|      (less than 2)

        Demand:  everything.
        Errors:  what ``predicate`` raises, with a note.
        Memory:  none.   Thread: the one that subscribes.   Fusion: stage, stops.
        Source:  RxJava ``all``, builtin ``all``. True when there are no items.
        """
        if predicate is None:
            return self._into(_results.Single, stages.all_)
        return self._calling_into(_results.Single, stages.all_by, predicate)

    def contains(self, value: V, comparer: Callable[[T_co, V], object] | None = None) -> Single[bool]:
        """Whether an item is equal to ``value``, or ``comparer(item, value)`` true; the first of them ends it.

        ::  --1--2--3|  -->  -----t|      (2)

        Demand:  everything.
        Errors:  what comparing raises, with a note; TypeError at assembly for None, which is no item.
        Memory:  none.   Thread: the one that subscribes.   Fusion: stage, stops.
        Source:  RxJava ``contains``, the operator ``in``.
        """
        return asked_for(self, value, comparer)

    def is_empty(self) -> Single[bool]:
        """Whether there are no items; the first one ends it and cancels the source.

        ::  --1--2--3|  -->  --f|

        Demand:  everything.   Errors: pass through.
        Memory:  none.   Thread: the one that subscribes.   Fusion: stage, stops.
        Source:  RxJava ``isEmpty``.
        """
        return self._into(_results.Single, stages.is_empty)

    def find_index(self, predicate: Callable[[T_co], object]) -> Single[int]:
        """The position, counted from 0, of the first item for which ``predicate`` is true; -1 when there is none.

        ::  --1--2--3|  -->  -----1|      (more than 1)

        Demand:  everything; the source is cancelled when it is found.
        Errors:  what ``predicate`` raises, with a note.
        Memory:  one number.   Thread: the one that subscribes.   Fusion: stage, stops.
        Source:  RxPY ``find_index``, ``str.find``.
        """
        return self._calling_into(_results.Single, stages.find_index, predicate)

    @classmethod
    def sequence_equal(
        cls,
        first: Publisher[T],
        second: Publisher[T],
        /,
        *more: Publisher[T],
        comparer: Callable[[T, T], object] | None = None,
        prefetch: int = DEFAULT_PREFETCH,
    ) -> Single[bool]:
        """Whether all sources give equal items in the same order, and equally many; the first difference cancels all of them.

        ::  --1-2-3|  --1-2-4|  -->  ------f|

        Demand:  a source that pushes is asked for ``prefetch`` items and replenished at 75 %; a passive one for one item at a
                 time, once the answer is wanted.
        Errors:  the first ends it at once and cancels the others; what comparing raises.
        Memory:  ``prefetch`` items for each source that pushes.   Thread: that of the source that brings the decision.
        Fusion:  coordinating; passive sources are iterated, without a queue.
        Source:  RxJava ``sequenceEqual``. Items are compared by ``==``, or by ``comparer`` with those of the first source.
        """
        check_prefetch("sequence_equal", prefetch)
        return _results.Single._from(equal_head((first, second, *more), comparer, prefetch, check_source))

    @overload
    @classmethod
    def amb(cls, s1: Publisher[T1], s2: Publisher[T2], /) -> Flowable[T1 | T2]: ...
    @overload
    @classmethod
    def amb(cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], /) -> Flowable[T1 | T2 | T3]: ...
    @overload
    @classmethod
    def amb(
        cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], s4: Publisher[T4], /
    ) -> Flowable[T1 | T2 | T3 | T4]: ...
    @overload
    @classmethod
    def amb(cls, *sources: Publisher[T]) -> Flowable[T]: ...
    @classmethod
    def amb(cls, *sources: Publisher[Any]) -> Flowable[Any]:
        """The one of ``sources`` that is the first to give a signal of any kind; the others are cancelled.

        ::  ----1--2|  --3--4|  -->  --3--4|

        Demand:  passes through: to all until there is a winner, then to it.
        Errors:  of the winner end the stream; a loser's that comes later goes to the error hook. TypeError at assembly for
                 something that is no source.
        Memory:  none.   Thread: that of the winner.
        Fusion:  coordinating; the winner's items go on without a queue.
        Source:  RxJava ``amb``, ``ambArray``; no source at all completes.
        """
        for source in sources:
            check_source("amb", source)
        return cls._from(OperatorHead(operators.Amb, sources, many=True))

    @overload
    @classmethod
    def first_with_value(cls, s1: Publisher[T1], s2: Publisher[T2], /) -> Flowable[T1 | T2]: ...
    @overload
    @classmethod
    def first_with_value(cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], /) -> Flowable[T1 | T2 | T3]: ...
    @overload
    @classmethod
    def first_with_value(
        cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], s4: Publisher[T4], /
    ) -> Flowable[T1 | T2 | T3 | T4]: ...
    @overload
    @classmethod
    def first_with_value(cls, *sources: Publisher[T]) -> Flowable[T]: ...
    @classmethod
    def first_with_value(cls, *sources: Publisher[Any]) -> Flowable[Any]:
        """The one of ``sources`` that is the first to give an item; the others are cancelled.

        A source that ends before its first item is passed over, with an error too: that is the difference to :meth:`amb`. When
        none is left, this ends with the errors, or completes where no source has failed.

        ::  ----1--2|  --#  ------3--4|  -->  ----1--2|

        Demand:  passes through: to all until there is a winner, then to it.
        Errors:  of the winner end the stream; those of sources that are passed over are signalled when none is left, several as
                 one CompositeException; a loser's that comes later goes to the error hook. TypeError at assembly for something
                 that is no source.
        Memory:  an error for each source.   Thread: that of the winner.
        Fusion:  coordinating; the winner's items go on without a queue.
        Source:  Reactor ``firstWithValue``, which fails where all are empty.
        """
        for source in sources:
            check_source("first_with_value", source)
        return cls._from(OperatorHead(operators.FirstWithValue, sources, many=True))

    def amb_with(self, other: Publisher[R]) -> Flowable[T_co | R]:
        """This stream or ``other``, whichever is the first to give a signal.

        ::  ----1--2|  --3--4|  -->  --3--4|

        Demand:  passes through.   Errors: of the winner end the stream.
        Memory:  as :meth:`amb`.   Thread: that of the winner.   Fusion: as :meth:`amb`.
        Source:  RxJava ``ambWith``.
        """
        check_source("amb_with", other)
        return self.amb(self, other)


def equal_head(
    sources: tuple[Any, ...],
    comparer: Callable[[Any, Any], object] | None,
    prefetch: int = DEFAULT_PREFETCH,
    check: Callable[[str, object], None] = check_source,
) -> OperatorHead:
    """Sources of any type, one beside the other."""
    for source in sources:
        check("sequence_equal", source)
    if comparer is not None:
        check_callable("sequence_equal", "comparer", comparer)
    return OperatorHead(operators.SequenceEqual, sources, (comparer, prefetch), many=True, shown="sequence_equal()")


def asked_for(source: Any, value: object, comparer: Callable[[Any, Any], object] | None) -> Single[bool]:
    """``contains`` of any type."""
    if value is None:
        raise none_argument("contains(None)", "value")
    if comparer is None:
        made: Single[bool] = source._into(_results.Single, stages.contains, value)
    else:
        check_callable("contains", "comparer", comparer)
        made = source._into(_results.Single, stages.contains_by, value, comparer)
    return made

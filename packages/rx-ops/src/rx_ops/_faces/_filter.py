"""Operators that let some items through."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import FlowableBase, Scheduler
from rx_fusion import OperatorHead
from rx_ops import operators, stages
from rx_ops._faces import _results
from rx_ops._faces._core import (
    FlowableCore,
    bad_count,
    check_callable,
    check_count,
    check_kind,
    check_seconds,
    default_scheduler,
    itself,
)
from rx_ops._recent_keys import KeyStore

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable, Maybe, Single

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableFilter(FlowableCore[T_co]):
    """Operators that let some items through."""

    __slots__ = ()

    def filter(self, predicate: Callable[[T_co], object]) -> Flowable[T_co]:
        """The items for which ``predicate`` is true.

        ::  --1--2--3|  -->  --1-----3|

        Demand:  passes through; one more is asked for each item left out.
        Errors:  what ``predicate`` raises, with a note.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, drops.
        Source:  RxJava ``filter``.
        """
        return self._calling(stages.filter_, predicate)

    def of_type(self, kind: type[R]) -> Flowable[R]:
        """The items that are a ``kind``, and typed as such.

        ::  --1--a--3|  -->  --1-----3|

        Demand:  passes through; one more is asked for each item left out.
        Errors:  pass through.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, drops.
        Source:  RxJava ``ofType``.
        """
        check_kind("of_type", kind)
        return self._then(stages.of_type, kind)

    @overload
    def take(self, count: int) -> Flowable[T_co]: ...
    @overload
    def take(self, *, seconds: float, scheduler: Scheduler | None = None) -> Flowable[T_co]: ...
    def take(
        self, count: int | None = None, *, seconds: float | None = None, scheduler: Scheduler | None = None
    ) -> Flowable[T_co]:
        """The first ``count`` items, or those of the first ``seconds``.

        Completes together with the last of ``count`` items, or when the time is over, and cancels the source.

        ::  --1--2--3--4|  -->  --1--2|      (count=2)

        Demand:  never more than ``count`` in all; with ``seconds`` it passes through.
        Errors:  pass through; ValueError or TypeError at assembly unless ``count`` is an int of at least 0.
        Memory:  none.
        Thread:  the one that requests; the end by time comes on a worker of ``scheduler`` (default: the running loop's, or
                 computation).
        Fusion:  stage, stops; by time coordinating.
        Source:  RxJava ``take``, itertools ``islice``.
        """
        if seconds is not None:
            timer = self._clock("take", count, seconds, scheduler)
            return self._from(OperatorHead(operators.TakeUntil, (self, timer), (None,), shown=f"take(seconds={seconds})"))
        if type(count) is not int or count < 0:
            raise bad_count("take", count)
        if scheduler is not None:
            raise TypeError("take() needs seconds=... for that.\n  Right:  .take(3)   .take(seconds=5.0)")
        return self._counting(stages.take, count)

    @overload
    def skip(self, count: int) -> Flowable[T_co]: ...
    @overload
    def skip(self, *, seconds: float, scheduler: Scheduler | None = None) -> Flowable[T_co]: ...
    def skip(
        self, count: int | None = None, *, seconds: float | None = None, scheduler: Scheduler | None = None
    ) -> Flowable[T_co]:
        """All but the first ``count`` items, or all but those of the first ``seconds``.

        ::  --1--2--3--4|  -->  --------3--4|      (count=2)

        Demand:  the first request asks a foreign source for ``count`` more; with ``seconds``, one more is asked for each item
                 left out.
        Errors:  pass through; ValueError or TypeError at assembly unless ``count`` is an int of at least 0.
        Memory:  none.
        Thread:  the one that requests; the clock is that of ``scheduler`` (default: the running loop's, or computation).
        Fusion:  stage, drops; by time coordinating.
        Source:  RxJava ``skip``, itertools ``islice``.
        """
        if seconds is not None:
            timer = self._clock("skip", count, seconds, scheduler)
            return self._from(OperatorHead(operators.SkipUntil, (self, timer), shown=f"skip(seconds={seconds})"))
        if type(count) is not int or count < 0:
            raise bad_count("skip", count)
        if scheduler is not None:
            raise TypeError("skip() needs seconds=... for that.\n  Right:  .skip(3)   .skip(seconds=5.0)")
        return self._counting(stages.skip, count)

    @overload
    def take_last(self, count: int) -> Flowable[T_co]: ...
    @overload
    def take_last(
        self,
        count: int | None = None,
        *,
        seconds: float,
        scheduler: Scheduler | None = None,
        delay_error: bool = False,
    ) -> Flowable[T_co]: ...
    def take_last(
        self,
        count: int | None = None,
        *,
        seconds: float | None = None,
        scheduler: Scheduler | None = None,
        delay_error: bool = False,
    ) -> Flowable[T_co]:
        """The last ``count`` items, or those of the last ``seconds`` before the end, when the end is known.

        ::  --1--2--3--4|  -->  ------------(34)|      (count=2)

        Demand:  everything when it is subscribed; with ``count`` alone, of a source that computes its items at the first
                 request. The items are given as requested.
        Errors:  take the place of the items; with ``seconds`` and ``delay_error`` they come behind them. ValueError or TypeError
                 at assembly for a bad number.
        Memory:  ``count`` items, or what comes in ``seconds``.
        Thread:  the one that requests; by time that of the end. The clock is that of ``scheduler`` (default: the running
                 loop's, or computation).
        Fusion:  stage, everything at the end; by time coordinating, subscribes on its own.
        Source:  RxJava ``takeLast``, a ``deque`` with a ``maxlen``.
        """
        if seconds is None:
            if scheduler is not None or delay_error:
                raise TypeError(
                    "take_last() needs seconds=... for that.\n  Right:  .take_last(3)   .take_last(seconds=5.0, count=3)"
                )
            check_count("take_last", count)
            return self._then(stages.take_last, count)
        check_seconds("take_last", seconds)
        if count is not None:
            check_count("take_last", count)
        args = (seconds, count, default_scheduler(scheduler, "take_last"), delay_error)
        return self._coordinate(operators.TakeLastTime, *args, shown=f"take_last(seconds={seconds})")

    @overload
    def skip_last(self, count: int) -> Flowable[T_co]: ...
    @overload
    def skip_last(self, *, seconds: float, scheduler: Scheduler | None = None, delay_error: bool = False) -> Flowable[T_co]: ...
    def skip_last(
        self,
        count: int | None = None,
        *,
        seconds: float | None = None,
        scheduler: Scheduler | None = None,
        delay_error: bool = False,
    ) -> Flowable[T_co]:
        """All but the last ``count`` items, or all but those of the last ``seconds`` before the end.

        ::  --1--2--3--4|  -->  --------1--2|      (count=2)

        Demand:  passes through, one more is asked for each item that is held; with ``seconds`` everything is taken from upstream.
        Errors:  pass at once; with ``seconds`` and ``delay_error`` behind the items that are old enough. ValueError or TypeError
                 at assembly for a bad number.
        Memory:  ``count`` items; with ``seconds`` what came in that time and what waits to be taken.
        Thread:  the one that requests, or that of a later item. The clock is that of ``scheduler`` (default: the running
                 loop's, or computation).
        Fusion:  stage, drops; by time coordinating, subscribes on its own.
        Source:  RxJava ``skipLast``. An item that is old enough is given when something happens, another item or the end
                 say. Nothing rings.
        """
        if seconds is None:
            if scheduler is not None or delay_error:
                raise TypeError("skip_last() needs seconds=... for that.\n  Right:  .skip_last(3)   .skip_last(seconds=5.0)")
            check_count("skip_last", count)
            return self._then(stages.skip_last, count)
        if count is not None:
            raise TypeError("skip_last() takes a number or seconds=....\n  Right:  .skip_last(3)   .skip_last(seconds=5.0)")
        check_seconds("skip_last", seconds)
        args = (seconds, default_scheduler(scheduler, "skip_last"), delay_error)
        return self._coordinate(operators.SkipLastTime, *args, shown=f"skip_last(seconds={seconds})")

    def _clock(self, operator: str, count: object, seconds: float, scheduler: Scheduler | None) -> Flowable[int]:
        """The timer that a number of seconds stands for."""
        if count is not None:
            raise TypeError(f"{operator}() takes a number or seconds=....\n  Right:  .{operator}(3)   .{operator}(seconds=5.0)")
        check_seconds(operator, seconds)
        return self._from(OperatorHead(operators.Timer, (), (float(seconds), default_scheduler(scheduler, operator))))

    def take_while(self, predicate: Callable[[T_co], object]) -> Flowable[T_co]:
        """Items up to the first for which ``predicate`` is false; that one is not given and the source is cancelled.

        ::  --1--2--3--1|  -->  --1--2--|      (less than 3)

        Demand:  passes through.
        Errors:  what ``predicate`` raises, with a note.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, stops.
        Source:  RxJava ``takeWhile``, itertools ``takewhile``.
        """
        return self._calling(stages.take_while, predicate)

    def skip_while(self, predicate: Callable[[T_co], object]) -> Flowable[T_co]:
        """Items from the first on for which ``predicate`` is false.

        ::  --1--2--3--1|  -->  --------3--1|      (less than 3)

        Demand:  passes through; one more is asked for each item left out.
        Errors:  what ``predicate`` raises, with a note.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, drops.
        Source:  RxJava ``skipWhile``, itertools ``dropwhile``.
        """
        return self._calling(stages.skip_while, predicate)

    def distinct(
        self, key: Callable[[T_co], object] | None = None, *, store: Callable[[], KeyStore] | None = None
    ) -> Flowable[T_co]:
        """Each item once, compared by itself or by ``key``, which must be hashable.

        ``store`` makes what keeps the keys of a run: a set, or something that forgets, such as ``rx_ops.RecentKeys``.

        ::  --1--2--1--3|  -->  --1--2-----3|

        Demand:  passes through; one more is asked for each item left out.
        Errors:  what ``key``, ``store`` or hashing raises, with a note.
        Memory:  every key seen: unbounded, unless ``store`` has a bound.   Thread: the one that requests.   Fusion: stage, drops.
        Source:  RxJava ``distinct``.
        """
        if store is not None:
            check_callable("distinct", "store", store)
            if key is not None:
                check_callable("distinct", "key", key)
            return self._then(stages.distinct_in, key or itself, store)
        if key is None:
            return self._then(stages.distinct)
        check_callable("distinct", "key", key)
        return self._then(stages.distinct_by, key)

    def distinct_until_changed(self, key: Callable[[T_co], object] | None = None) -> Flowable[T_co]:
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

    def element_at(self, index: int) -> Maybe[T_co]:
        """The item at ``index``, counted from 0, or nothing when the stream is shorter.

        ::  --1--2--3|  -->  -----2|      (index=1)

        Demand:  ``index + 1`` items, then cancels.
        Errors:  pass through; ValueError or TypeError at assembly unless ``index`` is an int of at least 0.
        Memory:  none.   Thread: the one that subscribes.   Fusion: stage, stops.
        Source:  RxJava ``elementAt``.
        """
        check_count("element_at", index, 0, "index")
        return self._into(_results.Maybe, stages.element_at, index)

    def first_element(self) -> Maybe[T_co]:
        """The first item, or nothing when there is none.

        ::  --1--2--3|  -->  --1|

        Demand:  one item, then cancels.
        Errors:  pass through.
        Memory:  none.   Thread: the one that subscribes.   Fusion: stage, stops.
        Source:  RxJava ``firstElement``.
        """
        return self._into(_results.Maybe, stages.element_at, 0)

    @overload
    def first(self) -> Single[T_co]: ...
    @overload
    def first(self: FlowableBase[T], default: T) -> Single[T]: ...
    def first(self: Any, default: Any = None) -> Any:
        """The first item, or ``default`` when there is none.

        ::  --1--2--3|  -->  --1|

        Demand:  one item, then cancels.
        Errors:  EmptyStreamError when there is no item and no default; others pass through.
        Memory:  none.   Thread: the one that subscribes.   Fusion: stage, stops.
        Source:  RxJava ``first`` and ``firstOrError``.
        """
        if default is None:
            return self._into(_results.Single, stages.first_or_error)
        return self._into(_results.Single, stages.first_or, default)

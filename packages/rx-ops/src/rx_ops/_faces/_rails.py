"""What ``parallel()`` makes: a stream on several rails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from heapq import merge
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, TypeVar, TypeVarTuple, overload

from rx_core import (
    DEFAULT_PREFETCH,
    FlowableBase,
    MaybeBase,
    ProcessPool,
    Publisher,
    Scheduler,
    SingleBase,
    Subscriber,
    Subscription,
    check_prefetch,
)
from rx_fusion import ROOT, OperatorHead, Pipeline
from rx_ops import operators
from rx_ops._faces import _results
from rx_ops._faces._aggregate import Comparable
from rx_ops._faces._core import check_callable, check_scheduler
from rx_ops._generated_names_elsewhere import CALLED

if TYPE_CHECKING:
    from rx_ops._faces._inference import Supplier
    from rx_ops._faces._results import Flowable, Maybe

T = TypeVar("T")
R = TypeVar("R")
Ts = TypeVarTuple("Ts")
P = ParamSpec("P")
ComparableT = TypeVar("ComparableT", bound=Comparable)
T_co = TypeVar("T_co", covariant=True)


class ParallelFlowable(Generic[T_co]):
    """A stream on several rails, each of which runs by itself: made by ``Flowable.parallel``, ended by :meth:`sequential`.

    Operators apply to every rail. Until :meth:`run_on` all rails run where the source does; behind it each has a worker. Like a
    Flowable it is a description, an immutable value. Functions are called for several rails at the same time: each rail is
    serial, but what they share has to bear several threads.
    """

    __slots__ = ("_rail",)

    #: The description of one rail. The source divides what it has at the RailsHead that this begins with.
    _rail: Flowable[T_co]

    def __init__(self, rail: Flowable[T_co], /) -> None:
        given: object = rail
        if not isinstance(given, Pipeline) or operators.rails_begin(given) is None:
            right = ".parallel(2)" if hasattr(rail, "parallel") else "Flowable.wrap(publisher).parallel(2)"
            raise TypeError(f"ParallelFlowable({rail!r}): a ParallelFlowable is made of a Flowable.\n  Right:  {right}")
        self._rail = rail

    @property
    def parallelism(self) -> int:
        """How many rails there are."""
        place = operators.rails_begin(self._rail)
        assert place is not None  # __init__ looked
        return place.parallelism

    # -- operators of each rail ----------------------------------------

    def run_on(self, scheduler: Scheduler | ProcessPool, *, prefetch: int = DEFAULT_PREFETCH) -> ParallelFlowable[T_co]:
        """Each rail, from here on, on a worker of its own of ``scheduler``, or with ``processes(n)`` in another process.

        Of a rail in a process what looks at each item alone runs there (``map``, ``starmap``, ``cast``, ``filter``, ``of_type``,
        ``map_optional``, ``flat_map_iterable``), as far as it stands right behind this. From the first other operator on the rail
        runs here, on a thread of the pool: ``explain()`` says from which. Items and functions are pickled, lists of them at a
        time: about as many as take ten milliseconds.

        ::  --1-----3--|    -->  --1-----3--|     (a worker)
            -----2-----|         -----2-----|     (another worker)

        Demand:  each rail is asked for ``prefetch`` items and replenished at 75 %.
        Errors:  an error overtakes the items that wait. RuntimeError when the scheduler is shut down. Of processes: what a
                 function raised there, with the traceback as a note; ProcessDiedError, with the name of the process and how it
                 ended; TypeError for what cannot be pickled.
        Memory:  ``prefetch`` items for each rail, and what a process made of a quarter of them.
        Thread:  a worker for each rail, taken when the stream is subscribed. A scheduler with fewer threads than rails gives
                 some of them the same one; so do processes. A cancel does not interrupt what a process computes.
        Fusion:  coordinating; what is behind it, up to the next queue, runs as one piece of code on the worker.
        Source:  RxJava ``runOn``.
        """
        check_prefetch("run_on", prefetch)
        rail = self._rail
        if isinstance(scheduler, ProcessPool):
            return self._with(rail._from(operators.elsewhere(rail, scheduler, ROOT, (), prefetch)))
        check_scheduler("run_on", scheduler)
        shown = f"run_on({scheduler!r})"
        args = (scheduler, prefetch)
        return self._with(
            rail._from(OperatorHead(operators.RunOn, (rail,), args, window=prefetch, scheduler=scheduler, shown=shown))
        )

    def map(self, mapper: Callable[[T_co], R]) -> ParallelFlowable[R]:
        """Each item through ``mapper``, on its rail.

        ::  --1-----3--|    -->  --a-----c--|
            -----2-----|         -----b-----|

        Demand:  passes through.   Errors: what ``mapper`` raises, with a note, ends all rails; TypeError when it returns None.
        Memory:  none.   Thread: that of the rail.   Fusion: stage, one to one.
        Source:  RxJava ``map``.
        """
        return self._with(self._rail.map(mapper))

    def filter(self, predicate: Callable[[T_co], object]) -> ParallelFlowable[T_co]:
        """The items for which ``predicate`` is true.

        ::  --1-----3--|    -->  --1--------|
            -----2-----|         -----2-----|

        Demand:  one more is asked for each item left out.   Errors: what ``predicate`` raises, with a note, ends all rails.
        Memory:  none.   Thread: that of the rail.   Fusion: stage, drops.
        Source:  RxJava ``filter``.
        """
        return self._with(self._rail.filter(predicate))

    def starmap(self: ParallelFlowable[tuple[*Ts]], mapper: Callable[[*Ts], R]) -> ParallelFlowable[R]:
        """``mapper(*item)`` for items that are tuples.

        ::  --1-----3--|    -->  --a-----c--|
            -----2-----|         -----b-----|

        Demand, memory, fusion: as :meth:`map`.   Errors: what ``mapper`` raises, with a note, ends all rails; TypeError when it
                 returns None.
        Thread:  that of the rail.   Source: itertools ``starmap``.
        """
        return self._with(self._rail.starmap(mapper))

    def cast(self, kind: type[R]) -> ParallelFlowable[R]:
        """The items as they are, typed as ``kind``; one that is no such instance is an error.

        Demand, memory, fusion: as :meth:`map`.   Errors: TypeError for an item that is no ``kind`` ends all rails.
        Thread:  that of the rail.   Source: that of ``Flowable.cast``.
        """
        return self._with(self._rail.cast(kind))

    def of_type(self, kind: type[R]) -> ParallelFlowable[R]:
        """The items that are instances of ``kind``.

        Demand, memory, fusion: as :meth:`filter`.   Errors: none.
        Thread:  that of the rail.   Source: that of ``Flowable.of_type``.
        """
        return self._with(self._rail.of_type(kind))

    def map_optional(self, mapper: Callable[[T_co], R | None]) -> ParallelFlowable[R]:
        """Each item through ``mapper``; where it returns None the item is left out.

        ::  --1-----3--|    -->  --a--------|
            -----2-----|         -----b-----|

        Demand:  one more is asked for each item left out.   Errors: what ``mapper`` raises, with a note, ends all rails.
        Memory:  none.   Thread: that of the rail.   Fusion: stage, drops.
        Source:  RxJava ``mapOptional``.
        """
        return self._with(self._rail.map_optional(mapper))

    def flat_map_iterable(self, mapper: Callable[[T_co], Iterable[R]]) -> ParallelFlowable[R]:
        """The items of the iterables that ``mapper`` makes of the items, one after the other on each rail.

        ::  --1-----3--|    -->  --a-a---c-c|
            -----2-----|         -----b-b---|

        Demand:  iterables are read as far as is requested.
        Errors:  what ``mapper`` or iterating raises, with a note, ends all rails; TypeError for a None in it.
        Memory:  one iterator for each rail.   Thread: that of the rail.   Fusion: stage, expands.
        Source:  RxJava ``flatMapIterable``.
        """
        return self._with(self._rail.flat_map_iterable(mapper))

    def flat_map(
        self,
        mapper: Callable[[T_co], Publisher[R] | SingleBase[R] | MaybeBase[R]],
        *,
        max_concurrency: int = 128,
        prefetch: int = DEFAULT_PREFETCH,
        delay_error: bool = False,
    ) -> ParallelFlowable[R]:
        """The sources that ``mapper`` makes of the items, on each rail at most ``max_concurrency`` at a time.

        ::  --1-----3--|    -->  --a-a---c-c|
            -----2-----|         -----b-b---|

        Demand:  as ``Flowable.flat_map``, for each rail.
        Errors:  the first ends all rails; with ``delay_error`` the inner sources of its rail run to their end before.
        Memory:  for each rail ``max_concurrency`` sources of ``prefetch`` items; ours that are synchronous need no queue.
        Thread:  that of the source that has an item; ``mapper`` runs on that of the rail.
        Fusion:  coordinating; passive inner sources are iterated, without a queue.
        Source:  RxJava ``flatMap``.
        """
        rail = self._rail.flat_map(mapper, max_concurrency=max_concurrency, prefetch=prefetch, delay_error=delay_error)
        return self._with(rail)

    def concat_map(
        self,
        mapper: Callable[[T_co], Publisher[R] | SingleBase[R] | MaybeBase[R]],
        *,
        prefetch: int = 2,
        delay_error: bool = False,
        till_the_end: bool = True,
    ) -> ParallelFlowable[R]:
        """The sources that ``mapper`` makes of the items, on each rail one after the other.

        ::  --1-----3--|    -->  --a-a---c-c|
            -----2-----|         -----b-b---|

        Demand:  as ``Flowable.concat_map``, for each rail.
        Errors:  the first ends all rails; with ``delay_error`` the inner sources of its rail run to their end before, without
                 ``till_the_end`` only the one that runs then.
        Memory:  ``prefetch`` items for each rail.   Thread: that of the inner source; ``mapper`` runs on that of the rail.
        Fusion:  coordinating; passive inner sources are iterated, without a queue.
        Source:  RxJava ``concatMap``, ``concatMapDelayError``.
        """
        return self._with(self._rail.concat_map(mapper, prefetch=prefetch, delay_error=delay_error, till_the_end=till_the_end))

    # -- looking on ----------------------------------------

    def do_on_next(self, action: Callable[[T_co], object]) -> ParallelFlowable[T_co]:
        """Calls ``action`` with each item before it goes on.

        Demand, memory, fusion: as ``Flowable.do_on_next``.   Errors: what ``action`` raises ends all rails.
        Thread:  that of the rail: ``action`` may be called for several rails at the same time.   Source: RxJava ``doOnNext``.
        """
        return self._with(self._rail.do_on_next(action))

    def do_after_next(self, action: Callable[[T_co], object]) -> ParallelFlowable[T_co]:
        """Calls ``action`` with each item when what is behind has taken it.

        Demand, memory, fusion: as ``Flowable.do_after_next``.   Errors: what ``action`` raises ends all rails.
        Thread:  that of the rail.   Source: RxJava ``doAfterNext``.
        """
        return self._with(self._rail.do_after_next(action))

    def do_on_error(self, action: Callable[[Exception], object]) -> ParallelFlowable[T_co]:
        """Calls ``action`` with an error before it goes on: of the source once for each rail, of a rail once.

        Demand, errors, memory, fusion: as ``Flowable.do_on_error``.   Thread: that of the error.   Source: RxJava ``doOnError``.
        """
        return self._with(self._rail.do_on_error(action))

    def do_on_complete(self, action: Callable[[], object]) -> ParallelFlowable[T_co]:
        """Calls ``action`` once for each rail before its completion goes on.

        Demand, errors, memory, fusion: as ``Flowable.do_on_complete``.   Thread: that of the rail.
        Source: RxJava ``doOnComplete``.
        """
        return self._with(self._rail.do_on_complete(action))

    def do_after_terminate(self, action: Callable[[], object]) -> ParallelFlowable[T_co]:
        """Calls ``action`` once for each rail when its completion or error was signalled, and not after a cancel.

        Demand, errors, memory, fusion: as ``Flowable.do_after_terminate``.   Thread: that of the end.
        Source: RxJava ``doAfterTerminated``.
        """
        return self._with(self._rail.do_after_terminate(action))

    def do_on_subscribe(self, action: Callable[[Subscription], object]) -> ParallelFlowable[T_co]:
        """Calls ``action`` once for each rail with its subscription.

        Demand, errors, memory, fusion: as ``Flowable.do_on_subscribe``.   Thread: the one that subscribes.
        Source: RxJava ``doOnSubscribe``.
        """
        return self._with(self._rail.do_on_subscribe(action))

    def do_on_request(self, action: Callable[[int], object]) -> ParallelFlowable[T_co]:
        """Calls ``action`` with the number of each request of a rail before it goes on.

        Demand, errors, memory, fusion: as ``Flowable.do_on_request``.   Thread: the one that requests.
        Source: RxJava ``doOnRequest``.
        """
        return self._with(self._rail.do_on_request(action))

    def do_on_cancel(self, action: Callable[[], object]) -> ParallelFlowable[T_co]:
        """Calls ``action`` once for each rail that is cancelled before its end.

        Demand, errors, memory, fusion: as ``Flowable.do_on_cancel``.   Thread: the one that cancels.
        Source: RxJava ``doOnCancel``.
        """
        return self._with(self._rail.do_on_cancel(action))

    # -- one value of each rail ----------------------------------------

    @overload
    def reduce(self: ParallelFlowable[T], reducer: Callable[[T, T], T]) -> Maybe[T]: ...
    @overload
    def reduce(self, reducer: Callable[[R, T_co], R], seed: R) -> ParallelFlowable[R]: ...
    def reduce(self: Any, reducer: Callable[[Any, Any], Any], seed: Any = None) -> Any:
        """All items combined, each rail from its left, and then what the rails gave; with ``seed`` one value for each rail.

        ::  --1-----3--|    -->  ----------6|
            -----2-----|

        Demand:  everything.
        Errors:  what ``reducer`` raises, with a note; TypeError when it returns None.
        Memory:  one value for each rail; ``seed`` is shared by all, so it must not be changed in place (use :meth:`collect`).
        Thread:  that of the rail; rails are combined where the last one ends.   Fusion: stage, one item at the end.
        Source:  RxJava ``reduce``. The order in which items are combined hangs on the rails: ``reducer`` has to be associative
                 and commutative.
        """
        if seed is not None:
            return self._with(self._rail.reduce(reducer, seed)._as(_results.Flowable))
        return self._with(self._rail.reduce(reducer)._as(_results.Flowable)).sequential().reduce(reducer)

    def reduce_with(self, supplier: Supplier[R], reducer: Callable[[R, T_co], R]) -> ParallelFlowable[R]:
        """On each rail all items combined, beginning with a ``supplier()`` of its own.

        ::  --1-----3--|    -->  ----------4|
            -----2-----|         ----------2|

        Demand:  everything.   Errors: what the functions raise, with a note; TypeError when they return None.
        Memory:  one value for each rail, which may be changed in place.   Thread: that of the rail.
        Fusion:  stage, one item at the end.   Source: RxJava ``reduce`` with an initial supplier.
        """
        return self._with(self._rail.reduce_with(supplier, reducer)._as(_results.Flowable))

    @overload
    def collect(self: ParallelFlowable[T], collector: Callable[[Iterable[T]], R], /) -> ParallelFlowable[R]: ...
    @overload
    def collect(self, supplier: Callable[[], R], collector: Callable[[R, T_co], object]) -> ParallelFlowable[R]: ...
    def collect(self: Any, supplier: Any, collector: Any = None) -> Any:
        """On each rail what ``collector`` makes of all items (``collect(set)``), or a fresh ``supplier()`` filled item by item.

        ::  --1-----3--|    -->  ----------a|
            -----2-----|         ----------b|

        Demand:  everything.   Errors: what the functions raise, with a note; TypeError when they return None.
        Memory:  all items, or a container for each rail.   Thread: that of the rail.
        Fusion:  stage, one item at the end.   Source: RxJava ``collect``.
        """
        made = self._rail.collect(supplier) if collector is None else self._rail.collect(supplier, collector)
        return self._with(made._as(_results.Flowable))

    # -- one stream again ----------------------------------------

    @overload
    def sorted(self: ParallelFlowable[ComparableT], *, reverse: bool = False) -> Flowable[ComparableT]: ...
    @overload
    def sorted(self, key: Callable[[T_co], Comparable], *, reverse: bool = False) -> Flowable[T_co]: ...
    def sorted(self: Any, key: Any = None, *, reverse: bool = False) -> Any:
        """All items in order, by themselves or by ``key``; each rail sorts what it has, and the results are merged.

        ::  --2-----3--|    -->  ----------1-2-3|
            -----1-----|

        Demand:  the source is read to its end at the first request; the items are given as requested.
        Errors:  what ``key`` and comparing raise, with a note.
        Memory:  all items, and their keys while a rail is sorted.   Thread: rails sort on theirs; the one that requests merges.
        Fusion:  stage, everything at the end.
        Source:  RxJava ``sorted``. Equal items come in the order of the rails.
        """
        rail = self._rail.sorted(reverse=reverse) if key is None else self._rail.sorted(key, reverse=reverse)
        lists = self._with(rail.to_list()._as(_results.Flowable)).sequential().to_list()
        return lists.flat_map_iterable(partial(_merged, key, bool(reverse)))

    def sequential(self, *, prefetch: int = DEFAULT_PREFETCH, delay_error: bool = False, ordered: bool = False) -> Flowable[T_co]:
        """All rails as one stream: their items as they come, or with ``ordered`` in the order of the source.

        ::  --1-----3--|    -->  --1--2--3--|
            -----2-----|

        Demand:  of downstream over all; each rail is asked for ``prefetch`` items and replenished at 75 %.
        Errors:  the first ends the stream at once and cancels all rails; with ``delay_error`` the others run to their end, and
                 several errors arrive as one CompositeException. ValueError at assembly for what ``ordered`` cannot put in
                 order: between ``parallel`` and this there may be what looks at each item alone (map, filter, map_optional,
                 flat_map_iterable, flat_map, concat_map, do_on_...).
        Memory:  ``prefetch`` items for each rail; with ``ordered`` what one item became counts as one (behind ``flat_map`` and
                 ``concat_map`` each of what it became), and a rail that is ahead waits for one that is slow when so many wait.
        Thread:  that of the rail whose item it is, one at a time.
        Fusion:  coordinating; with ``ordered`` operators that leave out or expand items run for one item at a time.
        Source:  RxJava ``sequential``, ``sequentialDelayError``; ordered: Akka and Java's ordered streams.
        """
        check_prefetch("sequential", prefetch)
        rail = self._rail
        args: tuple[Any, ...] = (prefetch, bool(delay_error))
        function: Any = operators.Sequential
        shown = "sequential(ordered=True)" if ordered else "sequential()"
        if ordered:
            function = operators.Ordered
            args = (*operators.in_order(rail), *args)
        return rail._from(OperatorHead(function, (rail,), args, window=prefetch, shown=shown))

    def subscribe(self, *subscribers: Subscriber[T_co]) -> None:
        """Runs with a subscriber for each rail, as many as there are rails.

        Demand:  that of each subscriber for its rail.   Errors: reach all; ValueError for another number of subscribers.
        Memory:  as ``Flowable.parallel``.   Thread: that of the rail; each subscriber is called serially.
        Fusion:  that of the rail.   Source: RxJava ``subscribe``. A rail that is cancelled leaves the items to the others.
        """
        if len(subscribers) != self.parallelism:
            raise ValueError(
                f"subscribe() got {len(subscribers)} subscribers for {self.parallelism} rails: each rail needs one.\n"
                f"  Right:  .sequential().subscribe(subscriber)"
            )
        split, rails = operators.rails_of(self._rail)
        for rail, subscriber in zip(rails, subscribers, strict=True):
            rail.subscribe(subscriber)
        split.connect()

    # -- describing ----------------------------------------

    def pipe(self, operator: Callable[Concatenate[ParallelFlowable[T_co], P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """``operator(self, *args, **kwargs)``: a user's function in a chain, exactly typed.

        Demand, errors, memory, thread and fusion are those of the function.   Source: RxJava ``to`` and ``compose``.
        """
        check_callable("pipe", "operator", operator)
        return operator(self, *args, **kwargs)

    def explain(self) -> str:
        """How each rail will run, as ``Flowable.explain`` says it. Nothing runs."""
        return self._rail.explain()

    def _with(self, rail: FlowableBase[R]) -> ParallelFlowable[R]:
        made: Any = ParallelFlowable(operators.sent_along(rail))  # type: ignore[arg-type]  # it is a Flowable
        return made  # type: ignore[no-any-return]  # as above

    def __repr__(self) -> str:
        return repr(self._rail)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return ParallelFlowable, (self._rail,)

    if not TYPE_CHECKING:  # or every misspelt name would have a type

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"ParallelFlowable has no {name}: it is no operator of a rail by itself.{_right(name)}")


#: What of ParallelFlowable and ParallelFlux is said otherwise here.
_WRITTEN: Final = {
    **dict.fromkeys(("sequential_delay_error", "sequentialDelayError"), ".sequential(delay_error=True)"),
    **dict.fromkeys(("to", "compose", "transform", "transform_group", "transformGroup", "compose_group"), ".pipe(f)"),
    **dict.fromkeys(("to_sorted_list", "toSortedList", "collect_sorted_list", "collectSortedList"), ".sorted().to_list()"),
    **dict.fromkeys(("do_after_terminated", "doAfterTerminated"), ".do_after_terminate(f)"),
    **dict.fromkeys(("do_on_terminate", "doOnTerminate"), ".do_on_complete(f).do_on_error(g)"),
    **dict.fromkeys(("try_map", "tryMap"), ".map_optional(f), where f catches the error and gives None"),
    **dict.fromkeys(("flat_map_stream", "flatMapStream"), ".flat_map_iterable(f)"),
    **dict.fromkeys(("concat_map_delay_error", "concatMapDelayError"), ".concat_map(f, delay_error=True)"),
    "ordered": ".sequential(ordered=True), in the order of the source; in one of their own .sorted(key)",
    "then": ".sequential().ignore_elements()",
    "groups": ".sequential().group_by(key), or a subscriber for each rail: .subscribe(first, second)",
}


def _right(name: str) -> str:
    """A line that says what to write in the place of an operator that rails do not have; "" for none."""
    if name in _WRITTEN:
        return f"\n  Here it is written so:  {_WRITTEN[name]}"
    ours = [each for each in CALLED.get(name, ()) if hasattr(ParallelFlowable, each)]
    if ours:
        return f"\n  Here it is called:  .{min(ours, key=len)}(...)"
    known = not name.startswith("_") and hasattr(_results.Flowable, name)
    return f"\n  Right:  .sequential().{name}(...)   # once the rails are joined" if known else ""


def _merged(key: Callable[[Any], Any] | None, reverse: bool, lists: list[list[Any]]) -> Iterable[Any]:
    return merge(*lists, key=key, reverse=reverse)

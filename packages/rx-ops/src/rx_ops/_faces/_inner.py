"""Completables made of items: only their ends count."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rx_core import CompletableBase, check_prefetch, name_of
from rx_ops import operators
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable

if TYPE_CHECKING:
    from rx_ops._faces._results import Completable

T_co = TypeVar("T_co", covariant=True)


class FlowableInner(FlowableCore[T_co]):
    """Completables made of items."""

    __slots__ = ()

    def flat_map_completable(
        self, mapper: Callable[[T_co], CompletableBase], /, *, max_concurrency: int = 128, delay_error: bool = False
    ) -> Completable:
        """Complete when this stream and all Completables that ``mapper`` makes of its items are, many at a time.

        ::  --a--b|  -->  --------|

        Demand:  items are asked for as long as fewer than ``max_concurrency`` Completables run.
        Errors:  the first ends it and cancels the others; with ``delay_error`` all run to their end and several errors arrive as
                 one CompositeException. TypeError when ``mapper`` returns no source.
        Memory:  ``max_concurrency`` Completables.   Thread: that of the last end; ``mapper`` runs where the stream is polled.
        Fusion:  coordinating; passive inner sources are iterated, without a queue.
        Source:  RxJava ``flatMapCompletable``.
        """
        check_callable("flat_map_completable", "mapper", mapper)
        check_prefetch("flat_map_completable", max_concurrency, "max_concurrency")
        args = (operators.Named("flat_map_completable", mapper), max_concurrency, 1, delay_error)
        shown = f"flat_map_completable({name_of(mapper)})"
        return self._coordinate(operators.FlatMap, *args, window=max_concurrency, shown=shown)._as(_results.Completable)

    def concat_map_completable(
        self,
        mapper: Callable[[T_co], CompletableBase],
        /,
        *,
        prefetch: int = 2,
        delay_error: bool = False,
        till_the_end: bool = True,
    ) -> Completable:
        """Complete when this stream and all Completables that ``mapper`` makes of its items are, one after the other.

        ::  --a--b|  -->  --------|

        Demand:  an item is asked for when the Completable before it is over; of a foreign source, ``prefetch`` items ahead.
        Errors:  as :meth:`concat_map`.
        Memory:  ``prefetch`` outer items where the outer source is not ours.
        Thread:  that of the last end; ``mapper`` runs where the stream is polled.
        Fusion:  coordinating; passive inner sources are iterated, without a queue.
        Source:  RxJava ``concatMapCompletable``.
        """
        check_callable("concat_map_completable", "mapper", mapper)
        check_prefetch("concat_map_completable", prefetch)
        args = (operators.Named("concat_map_completable", mapper), delay_error, till_the_end, prefetch)
        shown = f"concat_map_completable({name_of(mapper)})"
        made = self._coordinate(operators.ConcatMap, *args, window=prefetch, shown=shown)
        return made._as(_results.Completable)

    def switch_map_completable(self, mapper: Callable[[T_co], CompletableBase], /, *, delay_error: bool = False) -> Completable:
        """Complete when this stream is and the Completable that ``mapper`` made of its newest item; those before are cancelled.

        ::  --a--b|  -->  --------|

        Demand:  everything of this stream.
        Errors:  the first ends it; with ``delay_error`` all run to their end and several errors arrive as one
                 CompositeException. TypeError when ``mapper`` returns no source.
        Memory:  the outer items that came and were not looked at yet.
        Thread:  that of the last end; ``mapper`` runs on the one on which the item is looked at.
        Fusion:  coordinating; passive sources are iterated, without a queue.
        Source:  RxJava ``switchMapCompletable``.
        """
        check_callable("switch_map_completable", "mapper", mapper)
        shown = f"switch_map_completable({name_of(mapper)})"
        args = (operators.Named("switch_map_completable", mapper), 1, delay_error)
        made = self._coordinate(operators.SwitchMap, *args, shown=shown)
        return made._as(_results.Completable)

"""One inner source at a time, the newest or the oldest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rx_core import DEFAULT_PREFETCH, CompletableBase, MaybeBase, Publisher, SingleBase, check_prefetch, name_of
from rx_ops import operators
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable

if TYPE_CHECKING:
    from rx_ops._faces._results import Completable, Flowable

R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableSwitchMap(FlowableCore[T_co]):
    """One inner source at a time, the newest or the oldest."""

    __slots__ = ()

    def switch_map(
        self,
        mapper: Callable[[T_co], Publisher[R] | SingleBase[R] | MaybeBase[R]],
        *,
        prefetch: int = DEFAULT_PREFETCH,
        delay_error: bool = False,
    ) -> Flowable[R]:
        """The items of the source that ``mapper`` makes of the newest item; the source before it is cancelled.

        A synchronous source of items waits until an inner source has nothing to give now; what comes from elsewhere switches
        at once, in the middle of an inner source that never pauses too.

        ::  --1-------2--|  -->  ----a--b----a--b|      (each item starts ---a--b--c|)

        Demand:  of downstream for the inner source; everything of this stream, from the first request on.
        Errors:  the first ends the stream; with ``delay_error`` all run to their end and several errors arrive as one
                 CompositeException. What ``mapper`` raises; TypeError when it returns no source.
        Memory:  ``prefetch`` items for each foreign source, and the outer items that came and were not looked at yet.
        Thread:  that of the inner source; ``mapper`` runs on the one on which the outer item is looked at.
        Fusion:  coordinating; passive sources are iterated, without a queue.
        Source:  RxJava ``switchMap``.
        """
        check_callable("switch_map", "mapper", mapper)
        check_prefetch("switch_map", prefetch)
        return self._coordinate(operators.SwitchMap, mapper, prefetch, delay_error, shown=f"switch_map({name_of(mapper)})")

    def switch_map_completable(self, mapper: Callable[[T_co], CompletableBase], *, delay_error: bool = False) -> Completable:
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

    def exhaust_map(
        self,
        mapper: Callable[[T_co], Publisher[R] | SingleBase[R] | MaybeBase[R]],
        *,
        prefetch: int = DEFAULT_PREFETCH,
        delay_error: bool = False,
    ) -> Flowable[R]:
        """The items of the source that ``mapper`` makes of an item; items that come while it runs are dropped.

        ::  --1--2----3---|  -->  ----a--b----a--b|      (each item starts --a--b|)

        Demand:  of downstream for the inner source, which runs until its last item has gone out; everything of this stream.
        Errors:  the first ends the stream; with ``delay_error`` all run to their end and several errors arrive as one
                 CompositeException. What ``mapper`` raises; TypeError when it returns no source.
        Memory:  ``prefetch`` items for each foreign source.
        Thread:  that of the inner source; ``mapper`` runs on that of the item.
        Fusion:  coordinating; items go on without a queue while they are wanted.
        Source:  RxJS ``exhaustMap``, RxPY ``exclusive``.
        """
        check_callable("exhaust_map", "mapper", mapper)
        check_prefetch("exhaust_map", prefetch)
        return self._coordinate(operators.ExhaustMap, mapper, prefetch, delay_error, shown=f"exhaust_map({name_of(mapper)})")

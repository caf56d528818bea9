"""Inner sources one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rx_core import CompletableBase, MaybeBase, Publisher, SingleBase, check_prefetch, name_of
from rx_fusion import ONE_FUNCTION, OperatorHead, operator_head
from rx_ops import operators
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable

if TYPE_CHECKING:
    from rx_ops._faces._results import Completable, Flowable

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableConcatMap(FlowableCore[T_co]):
    """Inner sources one after the other."""

    __slots__ = ()

    def concat_map(
        self,
        mapper: Callable[[T_co], Publisher[R] | SingleBase[R] | MaybeBase[R]],
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

    def filter_when(
        self, predicate: Callable[[T_co], Publisher[object] | SingleBase[object] | MaybeBase[object]]
    ) -> Flowable[T_co]:
        """The items for which the source that ``predicate`` makes of them says so: its first item is true.

        ::  --1---2---3|  -->  ----1-------3|

        Demand:  one more is asked for each item left out; a foreign source for two items ahead. Of what ``predicate`` makes the
                 first item is taken, and it is cancelled then; without an item the answer is no.
        Errors:  the first ends the stream. TypeError when ``predicate`` returns no source.
        Memory:  one item, and two of a foreign source.   Thread: that of the answer.
        Fusion:  coordinating; one item after the other, so that they stay in order.
        Source:  Reactor ``filterWhen``.
        """
        check_callable("filter_when", "predicate", predicate)
        shown = f"filter_when({name_of(predicate)})"
        return self._coordinate(operators.ConcatMap, operators.Deciding(predicate, _results), window=2, shown=shown)

    def concat_map_completable(
        self,
        mapper: Callable[[T_co], CompletableBase],
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

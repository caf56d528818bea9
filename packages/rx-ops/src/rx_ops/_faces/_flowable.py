"""Flowable: the face users import, put together from its families."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from rx_core import FlowableBase, Publisher, Subscriber, name_of
from rx_fusion import Head, PublisherHead, after
from rx_ops._faces._aggregate import FlowableAggregate
from rx_ops._faces._around import FlowableAround
from rx_ops._faces._aside import FlowableAside
from rx_ops._faces._backpressure import FlowableBackpressure
from rx_ops._faces._buffer import FlowableBuffer
from rx_ops._faces._combine import FlowableCombine
from rx_ops._faces._concat import FlowableConcat
from rx_ops._faces._concat_map import FlowableConcatMap
from rx_ops._faces._conditional import FlowableConditional
from rx_ops._faces._convert import FlowableConvert
from rx_ops._faces._create import FlowableCreate
from rx_ops._faces._demand import FlowableDemand
from rx_ops._faces._discard import FlowableDiscard
from rx_ops._faces._eager import FlowableEager
from rx_ops._faces._errors import FlowableErrors
from rx_ops._faces._expand import FlowableExpand
from rx_ops._faces._filter import FlowableFilter
from rx_ops._faces._flat_map import FlowableFlatMap
from rx_ops._faces._group import FlowableGroup
from rx_ops._faces._group_until import FlowableGroupUntil
from rx_ops._faces._indexed import FlowableIndexed
from rx_ops._faces._join import FlowableJoin
from rx_ops._faces._last import FlowableLast
from rx_ops._faces._late import FlowableLate
from rx_ops._faces._latest import FlowableLatest
from rx_ops._faces._lifecycle import FlowableLifecycle
from rx_ops._faces._listen import FlowableListen
from rx_ops._faces._log import FlowableLog
from rx_ops._faces._named import FlowableNamed
from rx_ops._faces._observe_on import FlowableObserveOn
from rx_ops._faces._optional import FlowableOptional
from rx_ops._faces._ordered import FlowableOrdered
from rx_ops._faces._parallel import FlowableParallel
from rx_ops._faces._plugged import FlowablePlugged
from rx_ops._faces._progress import FlowableProgress
from rx_ops._faces._publish import FlowablePublish
from rx_ops._faces._rates import FlowableRates
from rx_ops._faces._repeat import FlowableRepeat
from rx_ops._faces._replay import FlowableReplay
from rx_ops._faces._runs import FlowableRuns
from rx_ops._faces._sorted import FlowableSorted
from rx_ops._faces._subscribe_on import FlowableSubscribeOn
from rx_ops._faces._switch_map import FlowableSwitchMap
from rx_ops._faces._switch_on_first import FlowableSwitchOnFirst
from rx_ops._faces._terminal import FlowableTerminal
from rx_ops._faces._time import FlowableTime
from rx_ops._faces._timeout import FlowableTimeout
from rx_ops._faces._transform import FlowableTransform
from rx_ops._faces._until import FlowableUntil
from rx_ops._faces._using_when import FlowableUsingWhen
from rx_ops._faces._window import FlowableWindow
from rx_ops._faces._with_context import FlowableWithContext
from rx_ops._faces._zip_latest import FlowableZipLatest

T = TypeVar("T")
R = TypeVar("R")
K_co = TypeVar("K_co", bound=Hashable, covariant=True)
T_co = TypeVar("T_co", covariant=True)


class Flowable(
    FlowableCreate[T_co],
    FlowableListen[T_co],
    FlowableTransform[T_co],
    FlowableOptional[T_co],
    FlowableIndexed[T_co],
    FlowableSorted[T_co],
    FlowableFlatMap[T_co],
    FlowableConcatMap[T_co],
    FlowableExpand[T_co],
    FlowableSwitchMap[T_co],
    FlowableSwitchOnFirst[T_co],
    FlowableGroup[T_co],
    FlowableGroupUntil[T_co],
    FlowableBuffer[T_co],
    FlowableWindow[T_co],
    FlowableRuns[T_co],
    FlowableFilter[T_co],
    FlowableLast[T_co],
    FlowableConditional[T_co],
    FlowableAggregate[T_co],
    FlowableConcat[T_co],
    FlowableEager[T_co],
    FlowableCombine[T_co],
    FlowableLatest[T_co],
    FlowableZipLatest[T_co],
    FlowableOrdered[T_co],
    FlowableJoin[T_co],
    FlowableUntil[T_co],
    FlowableAround[T_co],
    FlowableUsingWhen[T_co],
    FlowableErrors[T_co],
    FlowableRepeat[T_co],
    FlowableAside[T_co],
    FlowableDiscard[T_co],
    FlowableLifecycle[T_co],
    FlowableLog[T_co],
    FlowableNamed[T_co],
    FlowableProgress[T_co],
    FlowableWithContext[T_co],
    FlowableSubscribeOn[T_co],
    FlowableObserveOn[T_co],
    FlowableLate[T_co],
    FlowableTimeout[T_co],
    FlowableRates[T_co],
    FlowableTime[T_co],
    FlowablePublish[T_co],
    FlowableReplay[T_co],
    FlowableDemand[T_co],
    FlowableBackpressure[T_co],
    FlowableParallel[T_co],
    FlowableConvert[T_co],
    FlowableTerminal[T_co],
    FlowablePlugged[T_co],
):
    """0..n items with backpressure.

    A Flowable is a description: an immutable value that runs when it is subscribed, iterated or waited for, each time from the
    start. Build one with a classmethod (``of``, ``range``, ``from_iterable``, ``create``, ...) and chain operators.
    """

    __slots__ = ()

    def _lifted(self, operator: Callable[[Subscriber[Any]], Subscriber[T_co]]) -> Flowable[Any]:
        return self._from(PublisherHead("lift", _Lifted(self, operator), after(self, f"lift({name_of(operator)})"), (self,)))


class _Lifted(FlowableBase[R], Generic[T, R]):
    """A user's operator between two subscribers."""

    __slots__ = ("_operator", "_source")

    def __init__(self, source: Publisher[T], operator: Callable[[Subscriber[R]], Subscriber[T]]) -> None:
        self._source = source
        self._operator = operator

    def subscribe_actual(self, subscriber: Subscriber[R], /) -> None:
        self._source.subscribe(self._operator(subscriber))


class GroupedFlowable(Flowable[T_co], Generic[K_co, T_co]):
    """One group of ``group_by``: its items, and the key they share. Allows one subscriber."""

    __slots__ = ("key",)
    _face = Flowable  # an operator applied to a group makes a plain stream: only the group itself has the key

    def __init__(self, key: K_co, head: Head) -> None:
        super().__init__(head)
        #: What ``group_by`` computed for each of the items.
        self.key = key

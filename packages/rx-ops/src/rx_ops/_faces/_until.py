"""Streams that another one starts, ends or replaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, overload

from rx_core import Publisher, name_of, none_argument
from rx_fusion import OperatorHead
from rx_ops import operators, stages
from rx_ops._faces._core import FlowableCore, check_callable, check_source

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableUntil(FlowableCore[T_co]):
    """Streams that another one starts, ends or replaces."""

    __slots__ = ()

    @overload
    def take_until(self, other: Publisher[object]) -> Flowable[T_co]: ...
    @overload
    def take_until(self, *, predicate: Callable[[T_co], object]) -> Flowable[T_co]: ...
    def take_until(
        self, other: Publisher[object] | None = None, *, predicate: Callable[[T_co], object] | None = None
    ) -> Flowable[T_co]:
        """Items until ``other`` gives an item or completes, or up to the first for which ``predicate`` is true, which is given.

        Then this completes and the source is cancelled.

        ::  --1--2--3--4|  -------x|  -->  --1--2-|

        Demand:  passes through; ``other`` is asked for everything and cancelled after its first signal.
        Errors:  of both end the stream, at once; what ``predicate`` raises comes behind the item it was asked about. TypeError at
                 assembly for something that is no source.
        Memory:  none.   Thread: that of the source; the end comes on that of ``other``, if there is one.
        Fusion:  coordinating; items go on without a queue.
        Source:  RxJava ``takeUntil``.
        """
        if predicate is not None:
            if other is not None:
                raise TypeError("take_until() takes another source or predicate=..., not both")
            check_callable("take_until", "predicate", predicate)
            return self._coordinate(operators.TakeUntilTrue, predicate, shown=f"take_until({name_of(predicate)})")
        check_source("take_until", other)
        return self._from(OperatorHead(operators.TakeUntil, (self, other), (None,), shown=f"take_until({other!r})"))

    def skip_until(self, other: Publisher[object]) -> Flowable[T_co]:
        """Leaves items out until ``other`` gives an item or completes.

        ::  --1--2--3--4|  -------x|  -->  --------3--4|

        Demand:  passes through; one more is asked for each item left out. ``other`` is asked for everything.
        Errors:  of this stream end it, and so does one of ``other`` before its first signal. TypeError at assembly for
                 something that is no source.
        Memory:  none.   Thread: that of the source.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``skipUntil``.
        """
        check_source("skip_until", other)
        return self._from(OperatorHead(operators.SkipUntil, (self, other), shown=f"skip_until({other!r})"))

    def switch_if_empty(self, other: Publisher[R]) -> Flowable[T_co | R]:
        """``other`` instead, when this completes without an item.

        ::  -----|  --1--2|  -->  -------1--2|

        Demand:  what is left goes on to ``other``.
        Errors:  end the stream. TypeError at assembly for something that is no source.
        Memory:  none.   Thread: that of the running source.
        Fusion:  coordinating; passive sources are iterated, without a queue.
        Source:  RxJava ``switchIfEmpty``.
        """
        check_source("switch_if_empty", other)
        return self._from(OperatorHead(operators.SwitchIfEmpty, (self, other), shown=f"switch_if_empty({other!r})"))

    def default_if_empty(self, item: R) -> Flowable[T_co | R]:
        """``item``, when this completes without one.

        ::  -----|  -->  -----1|

        Demand:  passes through; ``item`` waits until it is wanted.   Errors: pass through. TypeError at assembly for None.
        Memory:  none.   Thread: that of the end, or the one that requests.   Fusion: stage, has an end.
        Source:  RxJava ``defaultIfEmpty``.
        """
        if item is None:
            raise none_argument("default_if_empty(None)", "item")
        return self._then(stages.default_if_empty, item)

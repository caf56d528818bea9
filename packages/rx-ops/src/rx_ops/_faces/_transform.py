"""Operators that change items."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, overload

from rx_core import FlowableBase
from rx_fusion import PublisherHead, after
from rx_ops import stages
from rx_ops._faces._core import FlowableCore, check_callable, check_kind, check_seeded

if TYPE_CHECKING:
    from rx_ops._faces._inference import Supplier
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)
Ts = TypeVarTuple("Ts")


class FlowableTransform(FlowableCore[T_co]):
    """Operators that change items."""

    __slots__ = ()

    def map(self, mapper: Callable[[T_co], R]) -> Flowable[R]:
        """Each item through ``mapper``.

        ::  --1--2--3|  -->  --a--b--c|

        Demand:  passes through.
        Errors:  what ``mapper`` raises, with a note; TypeError when it returns None (RS 2.13).
        Memory:  none.   Thread: the one that requests.   Fusion: stage, one to one.
        Source:  RxJava ``map``.
        """
        return self._calling(stages.map_, mapper)

    def starmap(self: FlowableBase[tuple[*Ts]], mapper: Callable[[*Ts], R]) -> Flowable[R]:
        """``map`` for tuples: their items are the arguments of ``mapper``.

        ::  --(1,2)--(3,4)|  -->  --3------7|

        Demand:  passes through.
        Errors:  what ``mapper`` raises, with a note; TypeError when it returns None.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, one to one.
        Source:  itertools ``starmap``.
        """
        return self._calling(stages.starmap, mapper)  # type: ignore[attr-defined,no-any-return]  # self names the base

    def flat_map_iterable(self, mapper: Callable[[T_co], Iterable[R]]) -> Flowable[R]:
        """The items of the iterable that ``mapper`` makes of each item, in order.

        ::  --a-----b---|  -->  --a-a---b-b-|

        Demand:  an iterable is read as far as is requested. A source that pushes is asked for 128 items and replenished at 75 %;
                 of a passive one the next item is taken when the iterable is used up.
        Errors:  what ``mapper`` or iterating raises, with a note; TypeError for a None among the items.
        Memory:  one iterator, and what a source that pushes has sent ahead.
        Thread:  the one that requests.   Fusion: stage, expands.
        Source:  RxJava ``flatMapIterable``, itertools ``chain.from_iterable``.
        """
        return self._calling(stages.flat_map_iterable, mapper)

    @overload
    def scan(self: FlowableBase[T], accumulator: Callable[[T, T], T]) -> Flowable[T]: ...
    @overload
    def scan(self, accumulator: Callable[[R, T_co], R], seed: R) -> Flowable[R]: ...
    def scan(self, accumulator: Callable[[Any, Any], Any], seed: Any = None) -> Flowable[Any]:
        """The running total: each item combined with what came before. With ``seed``, that comes first.

        ::  --1--2--3|  -->  --1--3--6|

        Demand:  passes through; the seed takes one of what is requested first. With a seed a source that pushes is asked for 127
                 items, and again at 75 %.
        Errors:  what ``accumulator`` raises, with a note; TypeError when it returns None.
        Memory:  one item; with a seed what such a source has sent ahead.
        Thread:  the one that requests.   Fusion: stage; with a seed not pushed.
        Source:  RxJava ``scan``, itertools ``accumulate``.
        """
        check_seeded("scan", "accumulator", accumulator, seed)
        if seed is None:
            return self._then(stages.scan, accumulator)
        return self._then(stages.scan_seed, accumulator, seed)

    def scan_with(self, supplier: Supplier[R], accumulator: Callable[[R, T_co], R]) -> Flowable[R]:
        """The running total that begins with a fresh ``supplier()`` for each subscription, so that it may be changed in place.

        ::  --1--2--3|  -->  0-1--3--6|

        Demand:  passes through; the seed takes one of what is requested first. A source that pushes is asked for 127 items, and
                 again at 75 %.
        Errors:  what the functions raise, with a note; TypeError when one returns None.
        Memory:  one item, and what such a source has sent ahead.   Thread: the one that requests.   Fusion: stage; not pushed.
        Source:  RxJava ``scanWith``.
        """
        check_callable("scan_with", "supplier", supplier)
        check_callable("scan_with", "accumulator", accumulator)
        return self._then(stages.scan_with, supplier, accumulator)

    def cast(self, kind: type[R]) -> Flowable[R]:
        """The same items, each checked to be a ``kind``.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.
        Errors:  TypeError for an item of another type.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, one to one.
        Source:  RxJava ``cast``.
        """
        check_kind("cast", kind)
        return self._then(stages.cast, kind)

    def hide(self) -> Flowable[T_co]:
        """The same stream behind a wall: nothing fuses across it and no operator sees what is behind it.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: pass through.
        Memory:  none.   Thread: unchanged.   Fusion: none, which is its purpose.
        Source:  RxJava ``hide``.
        """
        return self._from(PublisherHead("hide", self, after(self, "hide()"), (self,)))

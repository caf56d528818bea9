"""Operators that know where an item stands: its index, its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rx_ops import stages
from rx_ops._faces._core import FlowableCore, check_count, right_call

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableIndexed(FlowableCore[T_co]):
    """Operators that know where an item stands."""

    __slots__ = ()

    def enumerate(self, start: int = 0) -> Flowable[tuple[int, T_co]]:
        """Each item behind its index: pairs ``(index, item)``.

        ::  --a--b--c|  -->  --(0,a)--(1,b)--(2,c)|

        Demand:  passes through.   Errors: pass through; TypeError at assembly unless ``start`` is an int.
        Memory:  one number.   Thread: the one that requests.   Fusion: stage, one to one.
        Source:  builtin ``enumerate``.
        """
        _check_place("enumerate", "start", start)
        return self._then(stages.enumerate_, start)

    def map_indexed(self, mapper: Callable[[T_co, int], R]) -> Flowable[R]:
        """``map`` with the index of the item as the second argument, counted from 0 for each subscription.

        ::  --5--5--5|  -->  --5--6--7|

        Demand:  passes through.
        Errors:  what ``mapper`` raises, with a note; TypeError when it returns None.
        Memory:  one number.   Thread: the one that requests.   Fusion: stage, one to one.
        Source:  RxPY ``map_indexed``.
        """
        return self._calling(stages.map_indexed, mapper)

    def filter_indexed(self, predicate: Callable[[T_co, int], object]) -> Flowable[T_co]:
        """``filter`` with the index of the item as the second argument, counted from 0 for each subscription.

        ::  --a--b--c|  -->  --a-----c|

        Demand:  passes through; one more is asked for each item left out.
        Errors:  what ``predicate`` raises, with a note.
        Memory:  one number.   Thread: the one that requests.   Fusion: stage, drops.
        Source:  RxPY ``filter_indexed``.
        """
        return self._calling(stages.filter_indexed, predicate)

    def pairwise(self) -> Flowable[tuple[T_co, T_co]]:
        """Each item together with the one before it; nothing for fewer than two.

        ::  --1--2--3|  -->  -----(1,2)--(2,3)|

        Demand:  passes through; one more is asked for the first item.
        Errors:  pass through.
        Memory:  one item.   Thread: the one that requests.   Fusion: stage, drops the first.
        Source:  itertools ``pairwise``.
        """
        return self._then(stages.pairwise)

    def slice(self, start: int | None, stop: int | None, step: int = 1) -> Flowable[T_co]:
        """The items that ``[start:stop:step]`` gives of a list; negative places count from the end.

        Completes together with its last item and cancels the source, unless a place counts from the end.

        ::  --1--2--3--4--5--6|  -->  -----2-----4|      (1, 5, 2)

        Demand:  a foreign source is asked for the items between as well, and for none behind the last. With a negative ``start``
                 everything when it is subscribed, of a source that computes its items at the first request.
        Errors:  pass through; at assembly TypeError for what is no int, ValueError for a ``step`` below 1.
        Memory:  as many items as a negative place says.   Thread: the one that requests.   Fusion: stage, stops.
        Source:  Python's slices, itertools ``islice``, RxPY ``slice``.
        """
        begin = 0 if start is None else start
        _check_place("slice", "start", begin)
        if stop is not None:
            _check_place("slice", "stop", stop)
        check_count("slice", step, 1, "step")
        if begin < 0 and stop != 0:
            return self._then(stages.slice_last, begin, stop, step)
        if stop is not None and stop < 0:
            return self._then(stages.slice_but_last, begin, stop, step)
        return self._then(stages.slice_, max(begin, 0), stop, step)


def _check_place(operator: str, name: str, place: object) -> None:
    if type(place) is not int:
        raise TypeError(f"{operator}({name}={place!r}): a whole number is needed, for example {right_call(operator, name, '3')}")

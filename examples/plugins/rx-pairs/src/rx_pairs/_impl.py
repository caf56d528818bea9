"""The operators. Each is a function that takes the stream first; its annotations are what type checkers show for the method."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rx_ops import Flowable, Single, stage

T = TypeVar("T")


def pairs(flow: Flowable[T], size: int = 2, *, step: int = 1) -> Flowable[tuple[T, ...]]:
    """Neighbouring items as tuples of ``size``, a new one every ``step`` items; what fills no tuple at the end is dropped.

    ::  --1-2-3-4|  -->  ----a-b-c|      (size=2: a=(1, 2), b=(2, 3), c=(3, 4))

    Demand:  request(n) asks a foreign source for what n tuples need, gaps and overlaps counted.
    Errors:  pass at once; ValueError or TypeError at assembly unless both are positive ints.
    Memory:  ``size`` items.   Thread: the one that requests.   Fusion: stage, drops.
    Source:  itertools ``pairwise``; with ``step=size`` ``batched`` without its short last batch.
    """
    for name, value in (("size", size), ("step", step)):
        if type(value) is not int:
            raise TypeError(f"pairs({name}={value!r}): a whole number is needed, for example pairs(2, step=1)")
        if value < 1:
            raise ValueError(f"pairs({name}={value}): at least 1 is needed, for example pairs(2, step=1)")
    return flow.stage(pairs_, size, step)


def total(flow: Flowable[int]) -> Single[int]:
    """All whole numbers added up; 0 when there are none. Only for streams of ints, which type checkers enforce.

    ::  --1--2--3|  -->  --------6|

    Demand, errors, memory, thread and fusion are those of ``Flowable.sum``.
    """
    return flow.sum()


def _asked(size: int, step: int) -> Callable[[int], int]:
    """The first tuple needs ``size`` items, each later one ``step``."""
    first = True

    def upstream(n: int) -> int:
        nonlocal first
        if first:
            first = False
            return size + (n - 1) * step
        return n * step

    return upstream


@stage(request=_asked)
def pairs_(source: Iterable[T], size: int, step: int) -> Iterator[tuple[T, ...]]:
    window: deque[T] = deque(maxlen=size)
    missing = size
    for item in source:
        window.append(item)
        missing -= 1
        if missing == 0:
            missing = step
            yield tuple(window)

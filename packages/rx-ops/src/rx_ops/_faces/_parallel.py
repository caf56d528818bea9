"""One stream divided among rails."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from rx_core import DEFAULT_PREFETCH, check_prefetch
from rx_ops import operators
from rx_ops._faces import _rails
from rx_ops._faces._core import FlowableCore, check_count

if TYPE_CHECKING:
    from rx_ops._faces._results import ParallelFlowable

T_co = TypeVar("T_co", covariant=True)


class FlowableParallel(FlowableCore[T_co]):
    """One stream divided among rails."""

    __slots__ = ()

    def parallel(self, parallelism: int | None = None, *, prefetch: int = DEFAULT_PREFETCH) -> ParallelFlowable[T_co]:
        """This stream divided among ``parallelism`` rails: each item goes to the next rail that wants one.

        A rail is a stream of its own; ``run_on`` gives each a worker, operators apply to all of them, and ``sequential`` joins
        them. Without a number there are as many as cores that this process may use.

        ::  --1--2--3--4|  -->  --1-----3---|
                                -----2-----4|

        Demand:  what the rails want in all: a source that pushes is asked for ``prefetch`` items and replenished at 75 %, a
                 synchronous one gives what is requested.
        Errors:  of the source reach all rails, and overtake what waits; ValueError or TypeError at assembly for a bad number.
        Memory:  ``prefetch`` items, none of a synchronous source.
        Thread:  of a source that pushes its own; a synchronous one is iterated by whichever rail asks, one at a time.
        Fusion:  the source is iterated without a queue where it is synchronous; the operators of a rail fuse with one another.
        Source:  RxJava ``parallel``, ``ParallelFlowable.from``.
        """
        if parallelism is not None:
            check_count("parallel", parallelism, 1, "parallelism")
        check_prefetch("parallel", prefetch)
        return _rails.ParallelFlowable(self._from(operators.RailsHead(self, parallelism or _cores(), prefetch)))


def _cores() -> int:
    """How many this process may use; 1 where that cannot be told."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""Aggregates of what passes a place in a pipeline, beside the stream."""

from __future__ import annotations

from typing import TypeVar

from rx_fusion.symbols import Symbol
from rx_ops import Flowable
from rx_ops._group_aggregate import aggregates_of
from rx_ops.aggregates import Aggregate
from rx_spark._columns._observed import Observed, Observing
from rx_spark._columns._observed import observe as observe_

T = TypeVar("T")


def observe(flow: Flowable[T], seen: Observed, /, **aggregates: Aggregate | Symbol) -> Flowable[T]:
    """The same items; what the aggregates come to is in ``seen.value`` when the last one has passed.

    ::  --1--2--3|  -->  --1--2--3|      (seen.value: Row(total=6, n=3))

    ``flow.observe(seen, total=it.cents.sum(), n=it.count())`` is for what a job should say besides its result, without a second
    job. Over columns Spark observes, in its own plan; in a pass of Python each task folds what passes it; on the driver, and in a
    pipeline without Spark, the stream does. The value is there before the stream completes, or the writer's result. A task that
    runs again counts once (before Spark 4.3: over columns, a stage that ran again because an executor was lost counts twice).

    A run that is stopped early, by a ``take`` behind it, an error or a cancel, leaves the value of the run before: how far its
    tasks came is chance. So does a DataFrame of :func:`to_dataframe`. Of no items ``count`` and ``sum`` are 0, all others None.

    Demand:  passes through.
    Errors:  what the functions, adding and comparing raise, with a note, as in ``group_aggregate``. TypeError at assembly for
             what is no aggregate or no :class:`Observed`.
    Memory:  one partial result; one per task.   Thread: the one that requests; on Spark the tasks', and the job's own.
    Fusion:  stage; on Spark a step over columns, or a part of a pass.
    Source:  Spark ``Dataset.observe``.
    """
    if not isinstance(seen, Observed):
        raise TypeError(
            f"observe({seen!r}): an Observed is needed, which has the values afterwards.\n"
            f"  Right:  seen = rx_spark.Observed('fares'); flow.observe(seen, n=it.count())"
        )
    if not aggregates:
        raise TypeError("observe(): nothing to compute.\n  Right:  flow.observe(seen, total=it.cents.sum(), n=it.count())")
    made: Flowable[T] = flow._then(observe_, Observing(seen, aggregates_of("observe", aggregates)))
    return made

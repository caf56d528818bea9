"""Ends of pipelines that write no files: a function for each partition, and a DataFrame for the application."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import WorkerInterruptedError, check_callable, hooks, name_of
from rx_fusion import PushHead
from rx_ops import Completable, Flowable
from rx_ops.processors import PublishProcessor
from rx_spark._columns._frames import rebound
from rx_spark._ends._output import columns_of, end_of, written_by
from rx_spark._plans._targets import Effects, Lazy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from rx_core import Subscriber

T = TypeVar("T")


def foreach_partition(flow: Flowable[T], function: Callable[[Iterator[T]], object], /) -> Completable:
    """Call ``function`` with an iterator of the items of each partition, on the executors, for its effects; then complete.

    ::  --1--2--3|  -->  ------|

    For a connection to a database or an API that is to be opened once for many items. It is a Completable, as Spark's
    ``foreachPartition`` gives nothing: what was done with the items only ``function`` knows, which may leave some of them.

    A partition may be empty, and ``function`` is called for it all the same. Of what it does not iterate nothing is computed.
    When Spark loses an executor it runs the partition again: make the effect one that may happen twice. Where the pipeline ends
    on the driver (``explain()`` says so) there is one partition, and ``function`` runs here.

    Demand:  the job starts with the subscription; ``function`` takes items as fast as it wants.
    Errors:  those of ``function`` and of the pipeline, as themselves, when no other partition is at work any more; TypeError at
             assembly for what cannot be called, and for a generator or coroutine function, which would do nothing.
    Memory:  one batch per task.   Thread: a task's; on the driver the one that subscribes.
    Fusion:  the end of what Spark runs.   Source: Spark ``Dataset.foreachPartition``.
    """
    _check_effect(function)
    hooks.ensure_loaded()
    head, why = end_of(flow)
    target = Effects(function)
    made: Completable = Completable._from(
        HereHead(flow, target, why) if head is None else head.into("foreach_partition", target, None, ("function",), (function,))
    )
    return made


def _check_effect(function: Callable[[Iterator[Any]], object]) -> None:
    check_callable("foreach_partition", "function", function)
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise TypeError(
            f"foreach_partition({name_of(function)}): calling it does nothing, because it has a yield or is async.\n"
            f"  Right:  def save(items): ...   with a loop over the items inside"
        )


@dataclass(frozen=True, repr=False, eq=False)
class HereHead(PushHead):
    """``flow`` handed to a function of this process, as its only partition; ``why`` it is not Spark that calls it.

    Demand: the function takes items as it iterates.   Errors: those of the function and of ``flow``.
    Memory: none.   Thread: the one that subscribes.
    """

    flow: Flowable[Any]
    target: Effects
    why: str
    name: ClassVar[str] = "foreach_partition"  # type: ignore[misc]  # fixed for this kind of head

    @property
    def upstream(self) -> Sequence[Any]:  # type: ignore[override]  # known when it is asked for
        return (self.flow,)

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        made = Completable.using(
            partial(_Here, self.flow, self.target.function),
            lambda here: Completable.from_action(here.run),
            lambda here: here.stop(),
        )
        made._subscribe_items(subscriber)

    def notes(self) -> Sequence[str]:
        return (f"driver calls {name_of(self.target.function)}, for one partition: {self.why}",)

    def __repr__(self) -> str:
        return f"{self.flow!r}.{self.target.shown}"


class _Here:
    """The only partition of a pipeline that ends on the driver. After a cancel its iterator raises: it is no end of the items."""

    def __init__(self, flow: Flowable[Any], function: Callable[[Iterator[Any]], object]) -> None:
        self._flow, self._function = flow, function
        self._cancelled: PublishProcessor[Any] = PublishProcessor()
        self._over = False

    def run(self) -> None:
        try:
            self._function(self._items())
        except WorkerInterruptedError:
            if not self._over:
                raise

    def _items(self) -> Iterator[Any]:
        yield from self._flow.take_until(self._cancelled).blocking_iter()
        if self._over:
            raise WorkerInterruptedError("foreach_partition() was cancelled")

    def stop(self) -> None:
        self._over = True
        self._cancelled.on_complete()


def to_dataframe(flow: Flowable[Any], schema: type[Any] | None = None) -> DataFrame:
    """The items as a DataFrame of the application's session, which computes them whenever it runs.

    ::  --Trip(...)--Trip(...)|  -->  DataFrame[city: string, km: double]

    For what only Spark has: joins, windows, its libraries. The columns are those that :func:`write_parquet` would write. Nothing
    runs here but what makes the source known: the session is started, and the items of :func:`from_iterable` are pickled.

    Spark runs the DataFrame, not this library: an error of a function is Spark's ``PythonException``, with the function's
    traceback as text, after as many attempts as Spark makes.

    Demand:  that of Spark: every action on the DataFrame computes it anew.
    Errors:  TypeError where the columns are not known, and for a pipeline that ends on the driver: write that, or collect it.
             SchemaError where ``schema`` has other columns. NotPortableError for a function that cannot travel.
    Memory:  one batch of rows per task.   Thread: the one that calls, until the session is there.
    Fusion:  the end of what Spark runs.   Source: –.
    """
    from rx_spark._jobs._compile import compile_plan
    from rx_spark._session._session import engine

    hooks.ensure_loaded()
    head, why = end_of(flow)
    if head is None:
        raise TypeError(
            f"to_dataframe(): {why}, and a DataFrame's items have to come from Spark.\n"
            f"  To write them:    rx_spark.write_parquet(flow, path, schema=Trip)\n"
            f"  To collect them:  spark.createDataFrame(flow.blocking_list())"
        )
    plan = written_by(head, "to_dataframe", Lazy(), columns_of(flow, "to_dataframe", schema)).plan
    head.check_portable()
    here = engine(head.config)
    return rebound(compile_plan(plan, here, None).frame, here.application)

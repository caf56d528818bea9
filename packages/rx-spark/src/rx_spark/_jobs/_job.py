"""One run of a plan: a Spark job whose items are polled."""

from __future__ import annotations

import atexit
import enum
import itertools
import socket
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rx_spark._columns._arrow import made_rows, unpack_rows
from rx_spark._errors import SparkJobError
from rx_spark._jobs._job_errors import job_error
from rx_spark._jobs._observations import tell_observed
from rx_spark._jobs._progress import tasks_of
from rx_spark._plans._given_up import PLACES
from rx_spark._plans._plan import Plan
from rx_spark._transport._credits import Frame
from rx_spark._transport._sink import CreditSink
from rx_spark._transport._wire import END as END_FRAME
from rx_spark._transport._wire import ERROR, loads, unpack_error
from rx_spark._workers._partials import packed_of

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame

    from rx_spark._columns._rows import RowType
    from rx_spark._jobs._compile import Compiled
    from rx_spark._jobs._progress import RunCounts
    from rx_spark._session._session import Engine, SparkConfig
    from rx_spark._transport._rounds import Remaining
    from rx_spark._workers._partials import Packed


class _End(enum.Enum):
    END = "END"

    def __repr__(self) -> str:
        return "END"


#: What poll() returns after the last item.
END: Final = _End.END

_numbers = itertools.count(1)
_submitted: dict[SparkJob, None] = {}  # jobs that Spark may be running


def _at_exit() -> None:
    """Stop what still runs before Spark's own exit handlers close the connections under it, which it would log."""
    jobs = list(_submitted)
    for job in jobs:
        job.cancel()
    for job in jobs:
        job.close(timeout=5.0)


class SparkJob:
    """Runs ``plan``; :meth:`poll` gives its items. Nothing happens before :meth:`start`.

    Demand: an item is computed when its chunk was asked for; per task at most WINDOW chunks of up to 1,024 items
    are ahead of the consumer. Order: that of the source, until a distinct or a group_by.
    Threads: ``start``, ``cancel`` and ``close`` from any; ``poll`` and ``poll_many`` from one at a time. ``on_ready``
    is called, from any thread, when polling may give something after it gave None; it must not block. ``feed`` gets the
    connections of tasks that want items of the driver.
    Errors: a function's exception comes out of poll as what it was, after the items before it. After an error, END
    or cancel the job is gone; further polls give END.
    Memory: ``max_buffered`` items were held at most, ``spilled`` went to disk (see rx_spark._transport._credits).
    """

    def __init__(
        self,
        config: SparkConfig,
        plan: Plan,
        *,
        on_ready: Callable[[], object],
        feed: Callable[[socket.socket], object] | None = None,
        description: str = "",
    ) -> None:
        from rx_spark._jobs._compile import split_limit

        self._description = description
        self._config, self._plan, self._on_ready, self._feed = config, plan, on_ready, feed
        self._left = split_limit(plan)[1]  # items that the limit still allows, None: all
        self._tag = f"rx-spark-{next(_numbers)}"
        self._chunk: Iterator[Any] = iter(())
        self._chunk_count = 0
        self._ended = False
        self._started = False
        self._cancelled = False
        self._engine: Engine | None = None
        self._failure: Exception | None = None
        self._settling = False  # what was left out is told before the stream completes
        self._row: RowType | None = None  # what tasks send: batches of such rows, or items
        self._given_up: Exception | None = None
        self._sink: CreditSink | None = None
        #: What Spark says of this run, where that is wanted.
        self.counts: RunCounts | None = None
        self._cores = 0  # for which the last round was cut
        self._thread = threading.Thread(target=self._run, name=f"{self._tag}-job", daemon=True)

    # --- the consumer's side ------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin. Returns at once: making the session and reading the source happen on the job's thread."""
        if not self._started:
            self._started = True
            if self._left == 0:
                self._ended = True
                self._counted()
                self._on_ready()
            else:
                self._thread.start()

    def poll(self) -> object | None:
        """The next item, None when there is none now, END at the end. Never blocks; raises the pipeline's error."""
        for item in self._chunk:
            return item  # type: ignore[no-any-return]  # items are the user's
        return next(self._chunk) if self._refill() else (END if self._ended else None)

    def poll_many(self, n: int) -> list[Any]:
        """Up to ``n`` items that are there now; an empty list says: ask :meth:`poll`."""
        items: list[Any] = list(islice(self._chunk, n))
        return items if items or not self._refill() else list(islice(self._chunk, n))

    def cancel(self) -> None:
        """Stop the job. Returns at once; tasks are told within about 0.1 s. Later calls do nothing."""
        self._cancelled = True
        self._ended = True
        if self._plan.target is not None and self in _submitted:
            PLACES.give_up(self._tag)  # before this returns: who writes to the same place next is to wait
        sink = self._sink
        if sink is not None:
            sink.cancel()

    def give_up(self, error: Exception) -> None:
        """Let :meth:`poll` raise ``error`` when Spark has cancelled the job. For a plan that writes; returns at once."""
        self._given_up = error  # published first: the job's thread looks when it has made the sink
        sink = self._sink
        if sink is not None:
            sink.give_up(error)

    def close(self, timeout: float = 10.0) -> bool:
        """Cancel what still runs, wait for the job's threads, forget what was not polled. False: they did not end in
        time.

        Blocks, up to ``timeout`` seconds (a job that is making the session finishes that first). Any thread but the
        job's.
        """
        self.cancel()
        self._chunk = iter(())
        if not self._started or threading.current_thread() in self._threads():
            return True
        if self._thread.ident is not None:
            self._thread.join(timeout)  # first: it may still be making the sink
        if self._sink is not None:
            self._sink.thread.join(timeout)
            self._sink.dispose()
        return not any(thread.is_alive() for thread in self._threads())

    @property
    def tag(self) -> str:
        """The tag of the Spark jobs of this run."""
        return self._tag

    @property
    def max_buffered(self) -> int:
        """The largest number of items that were in the driver's memory at a time."""
        return self._sink.max_buffered if self._sink is not None else 0

    @property
    def spilled(self) -> int:
        """How many items had to wait on disk."""
        return self._sink.spilled if self._sink is not None else 0

    def _threads(self) -> list[threading.Thread]:
        return [self._thread] if self._sink is None else [self._thread, self._sink.thread]

    def _refill(self) -> bool:
        """Open the next chunk. Raises the pipeline's error."""
        sink = self._sink
        if self._ended or sink is None:
            return self._without_sink()
        if self._chunk_count:
            sink.taken(self._chunk_count)
            self._chunk_count = 0
        if self._left == 0:
            self.cancel()  # the limit is reached: the rest is not wanted
            return False
        if self._settling and self._plan.one:
            return False  # with the only item the stream may complete
        try:
            frame = sink.take()
            if frame is None:
                return False
            if frame.kind == ERROR:
                raise unpack_error(frame.payload)
            if frame.kind == END_FRAME:
                if self._settling:
                    return False  # the job's thread calls when it is through
                if self._failure is not None:
                    raise self._failure
                self._ended = True
                sink.dispose()
                return False
            self._open(frame)
        except Exception:
            if self._cancelled:
                return False  # cancelled from another thread meanwhile
            self.cancel()
            raise
        return True

    def _open(self, frame: Frame) -> None:
        count = self._chunk_count = frame.count - frame.skip
        if self._left is not None:
            count = min(count, self._left)
            self._left -= count
        if self._row is None:
            items = loads(frame.payload)[frame.skip : frame.skip + count]
        else:
            items = made_rows(unpack_rows(frame.payload).slice(frame.skip, count), self._row)
        self._chunk = iter(items)

    def _without_sink(self) -> bool:
        failure = None if self._ended else self._failure
        if failure is not None:
            self._ended = True
            raise failure
        return False

    # --- the job's thread ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        failure: Exception | None = None
        try:
            self._submit()
        except Exception as error:
            failure = error
        except BaseException as error:  # this thread has no caller
            failure = SparkJobError(f"{error!r} ended the job's thread")
        finally:
            _submitted.pop(self, None)
            PLACES.forget(self._tag)
            self._counted()
            sink = self._sink
            if sink is None:
                self._failure = failure
                if not self._cancelled:
                    self._on_ready()
            else:
                sink.job_over(failure)
                if self._settling:
                    self._failure, self._settling = failure, False
                    if not self._cancelled:
                        self._on_ready()

    def _submit(self) -> None:
        from rx_spark._jobs._compile import compile_plan
        from rx_spark._session._session import engine, parallelism_of

        self._engine = here = engine(self._config)
        if self._is_cancelled():
            return
        if not _submitted:
            atexit.unregister(_at_exit)
            atexit.register(_at_exit)  # after pyspark has registered its own: the last one registered runs first
        _submitted[self] = None
        writes = self._plan.target is not None
        grows = here.shipment is not None and self._config.parallelism is None  # this machine gets no further cores
        self._sink = sink = CreditSink(
            here.place,
            self._on_ready,
            self._kill,
            holds_errors=writes,
            feed=self._feed,
            tasks=lambda: tasks_of(here.session, self._tag),
            grown=(lambda: parallelism_of(here.session.sparkContext) > self._cores) if grows else None,
        )
        sink.thread.start()
        if self._given_up is not None:
            sink.give_up(self._given_up)
        if self._is_cancelled():  # cancel() may have looked before the sink was there
            sink.cancel()
        self._cores = here.parallelism
        compiled = compile_plan(self._plan, here, sink.address, self._is_cancelled)
        self._settling = bool(compiled.settle or self._plan.observing)
        items = self._run_jobs(compiled, here, sink)
        if sink.lost:
            return  # which its consumer is told
        if not self._is_cancelled():
            for settle in compiled.settle:
                settle()
            tell_observed(self._plan, sink.seen)
        if items is not None:
            sink.deliver(items)
        elif compiled.empty and sink.silent:
            sink.deliver(list(compiled.empty))

    def _counted(self) -> None:
        if self.counts is not None:
            self.counts.end()

    def _run_jobs(self, compiled: Compiled, here: Engine, sink: CreditSink) -> list[Any] | None:
        """One job, and a further one as long as tasks left blocks because others had no slot. Items of the job's own action."""
        context = here.session.sparkContext
        context.setInterruptOnCancel(True)
        context.addJobTag(self._tag)
        context.setLocalProperty("spark.job.description", self._description)  # what Spark's own pages show
        if self.counts is not None:
            self.counts.begin(here.session, self._tag)
        try:
            if compiled.merged is not None:
                left_to_do = self._gathered(compiled.frame, compiled.merged, sink)
                if left_to_do is None or isinstance(left_to_do, list):
                    return left_to_do
                compiled = left_to_do
            while True:
                again = compiled.again
                self._row = compiled.row
                sink.expect(compiled.partitions, compiled.total, rounds=again is not None, in_turn=compiled.in_turn)
                if self._is_cancelled() or compiled.total == 0:
                    return None
                items = self._run_one(compiled)
                left = sink.next_round() if again is not None else None
                if again is None or left is None:
                    return items
                compiled = again(left, self._tasks_for(left, context, sink), sink.address)
        finally:
            context.clearJobTags()
            context.setLocalProperty("spark.job.description", "")
            self._counted()  # before the result is told: its receiver finds the numbers complete

    def _gathered(
        self, frame: DataFrame, merged: Callable[[Packed | None], Compiled | list[Any]], sink: CreditSink
    ) -> Compiled | list[Any] | None:
        """What is left to do when partial results are on the driver: the job of it, or nothing but to tell the items.
        None: nothing at all, as the stream is cancelled or has failed."""
        sink.expect(1, 1)  # tasks that fail tell it meanwhile
        if self._is_cancelled():
            return None
        try:
            packed = packed_of(frame.collect())
        except Exception as error:
            raise job_error(error) from error
        if sink.failed or self._is_cancelled():
            return None  # a task that has failed ends as if it had nothing, and its error has arrived before that
        left_to_do = merged(packed)
        if isinstance(left_to_do, list):
            sink.expect(None, None)  # no task connects any more
        return left_to_do

    def _run_one(self, compiled: Compiled) -> list[Any] | None:
        try:
            if compiled.action is not None:
                return compiled.action(compiled.frame, self._tag)
            compiled.frame.collect()
        except Exception as error:
            raise job_error(error) from error
        return None

    def _tasks_for(self, left: Remaining, context: SparkContext, sink: CreditSink) -> int:
        """As many as there are cores now, unless some of the last round's had no slot."""
        from rx_spark._session._session import parallelism_of

        if self._config.parallelism is None:
            self._cores = parallelism_of(context)
        return min(sink.slots or self._cores, len(left))

    def _is_cancelled(self) -> bool:
        return self._cancelled  # a call, because type checkers believe that attributes stay as they were

    def _kill(self) -> None:
        """Runs on the I/O thread, again and again until the job's thread is through."""
        if self._engine is None:
            return
        try:
            self._engine.session.sparkContext.cancelJobsWithTag(self._tag)
        except Exception:
            pass  # the JVM is gone, and the job with it

"""A stream of the driver, written by one task of Spark: the operator at work for one subscriber."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from rx_core import dropped_late
from rx_core.streams import END, QueuedInput, Stream, without_this_frame
from rx_spark._errors import SparkJobError
from rx_spark._jobs._job import SparkJob
from rx_spark._jobs._op import JobOp, described
from rx_spark._transport._feed import Feed
from rx_spark._transport._wire import CHUNK

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription
    from rx_core.streams import Listening
    from rx_spark._columns._rows import RowType
    from rx_spark._jobs._stats import JobStats
    from rx_spark._plans._plan import Plan
    from rx_spark._session._session import SparkConfig

CHUNKS_AHEAD: Final = 2  #: chunks that a source which pushes is asked for ahead


class FeedOp(JobOp):
    """Subscribes to its source at once, and begins the job when the first items are there: an idle source holds no slot of Spark,
    and one that runs on Spark itself has its slots already. Then the task asks, and the feed has a chunk taken or computed.

    Errors of the source make the task fail, and are signalled when Spark has cleaned up.
    """

    __slots__ = ("begun", "failure", "feed", "main", "source", "unasked")

    source: Publisher[Any]
    main: _Main
    feed: Feed
    #: Its thread was started.
    begun: bool
    #: The source computes what is requested, so it is requested on the feed's thread; and that has not happened yet.
    unasked: bool
    #: Why the job was given up, from here on.
    failure: Exception | None

    def __init__(
        self,
        down: Subscriber[Any],
        source: Publisher[Any],
        config: SparkConfig,
        plan: Plan,
        row: RowType,
        stats: JobStats | None,
        origin: object,
    ) -> None:
        super().__init__(down, config, plan, stats, origin)
        self.source = source
        self.main = _Main(self, CHUNKS_AHEAD * CHUNK)
        self.feed = Feed(self, row)
        self.begun = False
        self.unasked = False
        self.failure = None

    def open(self) -> None:
        source = self.source
        if isinstance(source, Stream):
            self.main.items = source._passive_items(self)
            if self.main.items is not None:
                return
            self.unasked = source._computes
        self.main.open(source)

    # -- the feed's thread, or that of the listener ----------------------------------------------------------------------

    def asked(self) -> None:
        self.arrived()

    def lost(self) -> None:
        self.unsent(
            SparkJobError(
                "the task that writes the driver's items ran again, and what its first attempt had taken cannot be given twice. "
                "Nothing was committed. Spark's log says why the first one failed; a lost executor is the usual reason.\n"
                "  To be safe from lost executors:  begin the pipeline on Spark (rx_spark.parquet, rx_spark.from_iterable, ...)"
            )
        )

    def unsent(self, error: Exception) -> None:
        main = self.main
        main.stop()
        main.error = error
        main.done = True
        self.arrived()

    # -- the holder of the token -----------------------------------------------------------------------------------------

    def step(self, demand: int) -> int:
        main = self.main
        if main.done and main.error is not None and self.failure is None:
            self.give_up(main.error)
        elif self.job is None and not demand:
            return 0
        elif self.feed.wants_chunk and self.failure is None:
            self.answer()
        elif not self.begun:
            self.begun = True
            self.later.append((Feed.start, self.feed))  # without the token, because that thread takes it
        if self.job is None:
            return demand if self.failure is None else self.finish(self.failure)
        return super().step(demand)

    def answer(self) -> None:
        """Give the feed a chunk of what there is. An empty one says that the source is complete."""
        main = self.main
        if self.unasked:
            if main.up is None:
                return
            self.unasked = False
            main.up.request(main.window)
        chunk: list[Any] = []
        size = self.feed.size
        try:
            while len(chunk) < size and not self.stopped:
                item = main.poll()
                if item is None:
                    break
                if item is END:
                    if chunk:
                        break
                    self.feed.give(chunk)
                    self.begin_once()
                    return
                chunk.append(item)
        except Exception as error:
            self.give_up(without_this_frame(error))
            return
        if chunk and not self.stopped:
            self.feed.give(chunk)
            self.begin_once()

    def begin_once(self) -> None:
        if self.job is None:
            self.begin()

    def make_job(self) -> SparkJob:
        return SparkJob(self.config, self.plan, on_ready=self.arrived, feed=self.feed.connect, description=described(self.origin))

    def give_up(self, error: Exception) -> None:
        """Nothing shall be committed. With a job the end is signalled when Spark has cleaned up."""
        self.failure = error
        self.main.close()
        if self.job is not None:
            self.job.give_up(error)  # before the task sees that the feed is closed
        self.feed.stop()

    def finish(self, error: Exception | None = None) -> int:
        failure, self.failure = self.failure, None
        if failure is not None and error is not failure:
            dropped_late(failure, self.origin)  # something else was faster
        return super().finish(error)

    # -- Subscription ----------------------------------------------------------------------------------------------------

    def cancel(self) -> None:
        # At once, whatever the source is computing on the feed's thread, which may hold the token.
        self.stopped = True
        job = self.job
        if job is not None:
            job.cancel()
        self.feed.stop()
        super().cancel()

    def listening(self) -> Iterable[Listening]:
        return (self.main,)

    def close(self) -> None:
        super().close()
        self.main.close()
        self.feed.stop()


class _Main(QueuedInput[Any]):
    """What is fed. A source that pushes is asked for its window when it is subscribed, wherever the job is by then."""

    __slots__ = ()

    op: FeedOp

    def subscribed(self, up: Subscription) -> None:
        if self.op.unasked:
            self.op.drain()
        else:
            up.request(self.window)

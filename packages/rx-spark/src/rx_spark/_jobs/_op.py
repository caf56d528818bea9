"""One job for one subscriber: where the items of Spark enter a stream."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rx_core import UNBOUNDED, WorkerInterruptedError, dropped
from rx_core.build_places import whereabouts
from rx_core.streams import Op, Waiting, is_exhausted, without_this_frame
from rx_fusion import Pipeline, _build_lines
from rx_spark._jobs._job import END, SparkJob
from rx_spark._transport._wire import CHUNK

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_spark._jobs._job import _End
    from rx_spark._jobs._many_rows import ManyRows
    from rx_spark._jobs._stats import JobStats
    from rx_spark._plans._plan import Plan
    from rx_spark._session._session import SparkConfig


class JobOp(Op[Any]):
    """Polls a job, which starts with the first request, and emits its items as they are requested.

    The holder of the token polls: a thread that requests, or the job's own when a chunk has arrived. The next chunk is looked at
    as soon as one is used up, whatever is wanted, so that the end is told without further demand.
    """

    __slots__ = ("chunk", "config", "job", "many", "over", "plan", "received", "stats", "waiting")

    config: SparkConfig
    plan: Plan
    stats: JobStats | None
    #: From the first request to the end.
    job: SparkJob | None
    #: What is left of the chunk that arrived last.
    chunk: Iterator[Any]
    #: How many items came back from Spark.
    received: int
    #: The job has given its last item, so that there is nothing to cancel.
    over: bool
    #: What warns when this many have come back; None where they are what was asked for, and after the warning.
    many: ManyRows | None
    #: The subscriber, where it is a thread that waits and may be given many items at a time.
    waiting: Waiting[Any] | None

    def __init__(
        self,
        down: Subscriber[Any],
        config: SparkConfig,
        plan: Plan,
        stats: JobStats | None,
        origin: object,
        many: ManyRows | None = None,
    ) -> None:
        super().__init__(down, origin)
        self.many = many
        self.config = config
        self.plan = plan
        self.stats = stats
        self.job = None
        self.chunk = iter(())
        self.received = 0
        self.over = False
        self.waiting = down if isinstance(down, Waiting) and down.takes_many else None

    def step(self, demand: int) -> int:
        job = self.job
        try:
            if job is None:
                if not demand:
                    return 0
                job = self.begin()
        except Exception as error:
            return self.finish(without_this_frame(error))
        while True:
            demand, outcome = self.give(self.chunk, demand) if self.waiting is None else self.give_many(self.waiting, demand)
            if outcome is not True or self.dirty:
                return demand
            try:
                chunk = _next_chunk(job)
            except Exception as error:
                return self.finish(without_this_frame(error))
            if chunk is None:
                return demand  # the job calls when there is one
            if chunk is END:
                self.over = True
                return self.finish()
            self.received += len(chunk)
            self.chunk = iter(chunk)
            if self.many is not None and self.received > self.many.most:
                many, self.many = self.many, None
                refused = many.warn(self.origin)
                if refused is not None:
                    return self.finish(refused)

    def give_many(self, waiting: Waiting[Any], demand: int) -> tuple[int, bool]:
        """:meth:`give` for a thread that waits: all at once, which is half of what an item costs here."""
        some = list(islice(self.chunk, demand))
        if some:
            waiting.on_next_of_many(some)
        return demand if demand == UNBOUNDED else demand - len(some), is_exhausted(self.chunk)

    def begin(self) -> SparkJob:
        self.job = job = self.make_job()
        if self.stats is not None:
            self.stats.begin(job)
        job.start()
        return job

    def make_job(self) -> SparkJob:
        return SparkJob(self.config, self.plan, on_ready=self.arrived, description=described(self.origin))

    def arrived(self) -> None:
        """On one of the job's threads, which have no caller that could see what a subscriber raises."""
        try:
            self.drain_on_worker()
        except BaseException as error:  # it would end the thread that talks to Spark
            interrupted = WorkerInterruptedError(f"{type(error).__name__} ended the stream: {error}")
            interrupted.__cause__ = error
            dropped(interrupted, self.origin)

    def close(self) -> None:
        job, self.job = self.job, None
        if job is not None:
            if not self.over:
                job.cancel()
            if self.stats is not None:
                self.stats.end(job, self.received)
        self.chunk = iter(())


#: Of a description Spark's pages show a line.
_SHOWN: Final = 500


def described(origin: object) -> str:
    """A pipeline as it was written, and where: the line of the last operator in it that has one."""
    text = repr(origin)
    place = next(filter(None, _places(origin)), "")
    return (text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...") + place


def _places(origin: object) -> Iterator[str]:
    """Where the operators of a pipeline were built, the last one first; empty where that is not known."""
    head = origin
    if isinstance(origin, Pipeline):
        head = origin._head
        args = origin._args
        at = len(args)
        for stage in reversed(origin._shape.stages):
            at -= len(stage.parameters)
            mine = args[at : at + len(stage.parameters)]
            yield whereabouts(stage.name, mine, _build_lines.place_of(args, at, stage.name), loosely=True)
    for made in reversed(getattr(head, "calls", ())):  # what it absorbed
        yield whereabouts(made.name, made.args, _build_lines.place_of(made.args, 0, made.name), loosely=True)
    for source in getattr(head, "upstream", ()):
        yield from _places(source)


def _next_chunk(job: SparkJob) -> list[Any] | _End | None:
    """What is there now: items, END, or None. Raises the job's error."""
    items = job.poll_many(CHUNK)
    if items:
        return items
    item: Any = job.poll()
    return item if item is None or item is END else [item]

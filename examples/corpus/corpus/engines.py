"""The engines by name: each says where the files come from and where the pipeline runs, nothing else."""

import importlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar, TypeVarTuple

from corpus.answer import Answer
from corpus.job import Engine, Job, Outcome, Progress
from corpus.pipeline import count_entries
from corpus.reference import ReferenceEngine
from corpus.sources import SourceFile
from rx_core import BufferWatch
from rx_ops import Flowable

if TYPE_CHECKING:
    import trio

    from rx_core import Scheduler

R = TypeVar("R")
Ts = TypeVarTuple("Ts")

COMPARED: Final = ("local", "threads", "trio", "spark")
"""What ``--engine all`` runs, in this order."""


class EngineUnavailable(Exception):
    """The engine cannot run here; the message says what to do."""


class _Handed:
    """The files of a job, counted as they are handed out; each iteration walks the directories anew."""

    def __init__(self, job: Job, progress: Progress) -> None:
        self._job = job
        self._progress = progress

    def __iter__(self) -> Iterator[SourceFile]:
        for file in self._job.files():
            yield file
            self._progress.advance(1)  # asked for the next one: this one is read


class _NoProgress:
    def advance(self, files: int, /) -> None:
        pass


_SILENT: Final = _NoProgress()


class LocalEngine:
    """Everything on this thread, in one loop."""

    def prepare(self) -> None:
        pass

    def pipeline_files(self, job: Job, progress: Progress) -> Flowable[SourceFile]:
        return Flowable.from_iterable(_Handed(job, progress))

    def run(self, job: Job, progress: Progress, /) -> Outcome:
        with BufferWatch() as buffers:
            answer = Answer.of(count_entries(self.pipeline_files(job, progress)))
        return Outcome(answer, buffers.peak)

    def explain(self, job: Job, /) -> str:
        return count_entries(self.pipeline_files(job, _SILENT)).explain()


class ThreadsEngine(LocalEngine):
    """Files are found on one thread, read and counted on another, and the answer is taken on this one."""

    def __init__(self, io: "Scheduler", computation: "Scheduler") -> None:
        self._io = io
        self._computation = computation

    def pipeline_files(self, job: Job, progress: Progress) -> Flowable[SourceFile]:
        found = super().pipeline_files(job, progress)
        return found.subscribe_on(self._io).observe_on(self._computation, prefetch=128)


class TrioEngine(LocalEngine):
    """Files come from an async generator and the answer is awaited, inside a trio event loop."""

    def run(self, job: Job, progress: Progress, /) -> Outcome:
        return trio_run(self._run, job, progress)

    def explain(self, job: Job, /) -> str:
        return trio_run(self._explain, job)

    async def _run(self, job: Job, progress: Progress) -> Outcome:
        import trio

        import rx_trio

        with BufferWatch() as buffers:
            async with trio.open_nursery() as nursery:
                pipeline = count_entries(_from_async(job, progress, nursery))
                async with rx_trio.stream(pipeline) as pairs:
                    answer = Answer.of([pair async for pair in pairs])
        return Outcome(answer, buffers.peak)

    async def _explain(self, job: Job) -> str:
        import trio

        async with trio.open_nursery() as nursery:
            return count_entries(_from_async(job, _SILENT, nursery)).explain()


def _from_async(job: Job, progress: Progress, nursery: "trio.Nursery") -> Flowable[SourceFile]:
    import rx_trio

    async def found() -> AsyncIterator[SourceFile]:
        for file in _Handed(job, progress):
            yield file

    return Flowable.wrap(rx_trio.from_async_iterable(found, nursery=nursery))


def trio_run(function: Callable[[*Ts], Awaitable[R]], *args: *Ts) -> R:
    """``trio.run``, imported when it is needed: the program works without trio as long as nobody asks for its engine."""
    import trio

    try:
        return trio.run(function, *args)
    except BaseExceptionGroup as group:
        raise _only(group) from None


def _only(error: BaseException) -> BaseException:
    """A nursery groups whatever leaves it; what failed alone is itself again, and a ctrl-C stays one whatever it brought down."""
    if isinstance(error, BaseExceptionGroup) and error.subgroup(KeyboardInterrupt) is not None:
        return KeyboardInterrupt()
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


class SparkEngine(LocalEngine):
    """Files are read and counted by Spark's Python workers; the merged table streams back."""

    def __init__(self, master: str | None) -> None:
        import rx_spark

        self._stats = rx_spark.JobStats()
        self._config = rx_spark.SparkConfig(master=master)

    def pipeline_files(self, job: Job, progress: Progress) -> Flowable[SourceFile]:
        import rx_spark

        return rx_spark.from_iterable(_Handed(job, progress), config=self._config, stats=self._stats)

    def prepare(self) -> None:
        import rx_spark

        try:
            rx_spark.start(config=self._config)
        except rx_spark.JavaNotFoundError as error:
            raise EngineUnavailable(f"--engine spark: {error}\n  Without it:       --engine local") from error

    def run(self, job: Job, progress: Progress, /) -> Outcome:
        outcome = super().run(job, progress)
        return Outcome(outcome.answer, max(outcome.max_buffered, self._stats.max_buffered))


@contextmanager
def open_engine(name: str, master: str | None, /) -> Iterator[Engine]:
    """Make the engine ready; ``master`` is the URL of a Spark cluster, None for Spark inside this process."""
    if name == "reference":
        yield ReferenceEngine()
    elif name == "local":
        yield LocalEngine()
    elif name == "threads":
        _need("rx_schedulers", "rx-schedulers", name)
        import rx_schedulers

        yield ThreadsEngine(rx_schedulers.io(), rx_schedulers.computation())
    elif name == "trio":
        _need("rx_trio", "rx-trio", name)
        yield TrioEngine()
    else:
        _need("rx_spark", '"rx-spark[java]"', name)
        root = logging.getLogger()
        root.addFilter(_said_by_py4j)
        try:
            yield SparkEngine(master)
        finally:
            root.removeFilter(_said_by_py4j)


def _said_by_py4j(record: logging.LogRecord) -> bool:
    """False for what py4j logs, with a traceback, when Ctrl-C comes while it waits for Java: the error itself goes on to us."""
    return not str(record.msg).endswith("while sending command.")


def _need(module: str, distribution: str, engine: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise EngineUnavailable(
            f"--engine {engine} needs {distribution}, which cannot be imported ({error})\n"
            f"  To get it:        pip install {distribution}\n  Without it:       --engine local"
        ) from error

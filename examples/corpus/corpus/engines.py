"""The engines by name: each says where the files come from and where the pipeline runs, nothing else."""

import importlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from corpus.answer import Answer
from corpus.job import Engine, Job, Outcome, Progress
from corpus.pipeline import count_entries
from corpus.reference import ReferenceEngine
from corpus.sources import SourceFile
from rx_core import BufferWatch
from rx_ops import Flowable

if TYPE_CHECKING:
    from rx_core import Scheduler

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
        return found.subscribe_on(self._io).observe_on(self._computation)


class TrioEngine(LocalEngine):
    """Files come from an async generator and the answer is awaited, inside a trio event loop."""

    def run(self, job: Job, progress: Progress, /) -> Outcome:
        import trio

        return trio.run(self._run, job, progress)

    async def _run(self, job: Job, progress: Progress) -> Outcome:
        import trio

        import rx_trio

        async def found() -> AsyncIterator[SourceFile]:
            for file in _Handed(job, progress):
                yield file

        with BufferWatch() as buffers:
            async with trio.open_nursery() as nursery:
                files = Flowable.wrap(rx_trio.from_async_iterable(found, nursery=nursery))
                async with rx_trio.stream(count_entries(files)) as pairs:
                    answer = Answer.of([pair async for pair in pairs])
        return Outcome(answer, buffers.peak)


class SparkEngine(LocalEngine):
    """Files are read and counted by Spark's Python workers; the merged table streams back."""

    def __init__(self, master: str | None) -> None:
        import rx_spark

        self._stats = rx_spark.JobStats()
        self._config = rx_spark.SparkConfig(master=master)

    def pipeline_files(self, job: Job, progress: Progress) -> Flowable[SourceFile]:
        import rx_spark

        return rx_spark.from_iterable(_Handed(job, progress), config=self._config, stats=self._stats)

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
        yield SparkEngine(master)


def _need(module: str, distribution: str, engine: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise EngineUnavailable(
            f"--engine {engine} needs {distribution}, which cannot be imported ({error})\n"
            f"  To get it:        pip install {distribution}\n  Without it:       --engine local"
        ) from error

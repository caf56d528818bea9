"""What an engine is given and what it gives back: the seam between the program and the library it shows."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from corpus.answer import Answer
from corpus.sources import NEVER_SOURCES, SourceFile, find_sources


@dataclass(frozen=True, slots=True)
class Job:
    """The question: which files to read.  Picklable; every call of ``files`` walks the directories anew."""

    roots: tuple[Path, ...]
    excluded: frozenset[str] = NEVER_SOURCES

    def files(self) -> Iterator[SourceFile]:
        return find_sources(self.roots, self.excluded)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer, and the largest number of elements that ever waited in a buffer between two operators."""

    answer: Answer
    max_buffered: int


class Progress(Protocol):
    """Told how far a run is.  May be called from any thread."""

    def advance(self, files: int, /) -> None:
        """So many more files were read or skipped."""


class Engine(Protocol):
    """One place to run the pipeline."""

    def prepare(self) -> None:
        """Start what takes time to start (a JVM); a plan does not need it."""

    def run(self, job: Job, progress: Progress, /) -> Outcome:
        """Run to the end; errors of the pipeline are raised."""

    def explain(self, job: Job, /) -> str:
        """The plan, without running it: what fused, and where threads and processes take over."""


class OpenEngine(Protocol):
    """Makes an engine ready by name; entering may take seconds (a JVM), leaving gives everything back."""

    def __call__(self, name: str, master: str | None, /) -> AbstractContextManager[Engine]: ...


@dataclass(frozen=True, slots=True)
class Run:
    """One engine's outcome with its times in seconds."""

    engine: str
    setup_seconds: float
    seconds: float
    outcome: Outcome

    @property
    def elements_per_second(self) -> float:
        return self.outcome.answer.elements / self.seconds if self.seconds else 0.0

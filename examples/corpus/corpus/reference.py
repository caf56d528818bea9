"""The same job as a plain loop, without the library: the oracle of the tests and the measure of the overhead."""

from corpus.answer import Answer
from corpus.entries import Key, Value, combine
from corpus.job import Job, Outcome, Progress
from corpus.reading import read_entries


class ReferenceEngine:
    """``--engine reference``."""

    def prepare(self) -> None:
        pass

    def run(self, job: Job, progress: Progress, /) -> Outcome:
        table: dict[Key, Value] = {}
        for file in job.files():
            for key, value in read_entries(file):
                table[key] = combine(table[key], value) if key in table else value
            progress.advance(1)
        return Outcome(Answer.of(table.items()), max_buffered=0)

    def explain(self, job: Job, /) -> str:
        return "a for loop over the files, inside it a for loop over the entries of a file, and one dict"

"""A progress bar where somebody watches, silence elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from corpus.job import Progress


class Silent:
    """The progress of a run that nobody watches."""

    def advance(self, files: int, /) -> None:
        pass


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Progress]:
    """A bar over ``total`` files on stderr, so that stdout stays clean; nothing if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield Silent()
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar
    except ImportError:  # the example's only other requirement; it works without
        yield Silent()
        return
    columns = (TextColumn("{task.description:>9}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)

        class Shown:
            def advance(self, files: int, /) -> None:
                bar.advance(task, files)  # takes rich's own lock

        yield Shown()

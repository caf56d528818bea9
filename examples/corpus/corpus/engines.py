"""The engines by name."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from corpus.job import Engine
from corpus.reference import ReferenceEngine

COMPARED: Final = ("local", "threads", "trio", "spark")
"""What ``--engine all`` runs, in this order."""


class EngineUnavailable(Exception):
    """The engine cannot run here; the message says what to do."""


@contextmanager
def open_engine(name: str, master: str | None, /) -> Iterator[Engine]:
    """Make the engine ready; ``master`` is the URL of a Spark cluster, None for Spark inside this process."""
    if name == "reference":
        yield ReferenceEngine()
    else:
        raise EngineUnavailable(f"the engine {name!r} is not built yet; run with --engine reference")

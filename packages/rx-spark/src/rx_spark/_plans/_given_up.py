"""Writes that were given up: one that begins waits until another one, which was cancelled at the same place, has cleared up.

A cancel returns at once. Spark stops the tasks of the job, the last of them may write once more, and then what the job has left
is deleted. Who writes there again meanwhile would find the folder, or lose files of its own with it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Final

#: Seconds. Longer than a task that is being stopped is waited for; then Spark says what it finds there.
PATIENCE: Final = 30.0
_LOOKS_EVERY: Final = 0.05


class Places:
    """Where jobs of this process are writing, by their tags. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writing: dict[str, dict[str, threading.Event]] = {}
        self._given_up: set[str] = set()

    def give_up(self, tag: str) -> None:
        """The job is cancelled, whether it writes yet or not."""
        with self._lock:
            self._given_up.add(tag)

    def forget(self, tag: str) -> None:
        """The job is over."""
        with self._lock:
            self._given_up.discard(tag)

    @contextmanager
    def writing(self, place: str, tag: str) -> Iterator[None]:
        """For the job with ``tag``: nothing is left there of a job that was given up. Blocks, PATIENCE seconds at most."""
        over = threading.Event()
        deadline = monotonic() + PATIENCE
        while (other := self._enter(place, tag, over, late=monotonic() > deadline)) is not None:
            other.wait(_LOOKS_EVERY)
        try:
            yield
        finally:
            with self._lock:
                there = self._writing[place]
                del there[tag]
                if not there:
                    del self._writing[place]
            over.set()

    def _enter(self, place: str, tag: str, over: threading.Event, *, late: bool) -> threading.Event | None:
        """Write there, unless a job that was given up still does: then this is told when that is over."""
        with self._lock:
            there = self._writing.setdefault(place, {})
            if not late and tag not in self._given_up:
                for other, event in there.items():
                    if other in self._given_up:
                        return event
            there[tag] = over
            return None

    def is_first(self, place: str, tag: str) -> bool:
        """Whether none of those that write there came before it. Those behind it find that they are not."""
        with self._lock:
            return next(iter(self._writing[place])) == tag

    def wait_for(self, there: Callable[[], bool], place: str, tag: str) -> None:
        """Block until ``there()``, or no other job writes there any more."""
        while self.is_shared(place, tag) and not there():
            sleep(_LOOKS_EVERY)

    def is_shared(self, place: str, tag: str) -> bool:
        """Whether another job writes there as well."""
        with self._lock:
            return self._writing.get(place, {}).keys() > {tag}


PLACES: Final = Places()

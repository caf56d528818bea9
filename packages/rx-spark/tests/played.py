"""A credit sink whose tasks are played by the test, without Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from rx_spark._transport import _sink
from rx_spark._transport._credits import Frame
from rx_spark._transport._place import Place
from rx_spark._transport._sink import CreditSink, Tasks
from rx_spark._transport._wire import DATA, END, Link, loads
from rx_spark._workers._passes import _deliver, _Input

PATIENCE = 10.0
LOOPBACK = Place("127.0.0.1", "127.0.0.1")
NO_TASKS = Tasks(0, 0)


class Driver:
    """A sink with a consumer that waits for its turn."""

    def __init__(self, tasks: Tasks = NO_TASKS) -> None:
        self.ready = threading.Event()
        self.killed = threading.Event()
        self.asked: Callable[[], object] = lambda: None
        self.grown = threading.Event()
        self._tasks = tasks
        self.sink = CreditSink(LOOPBACK, self.ready.set, self.killed.set, tasks=self._ask, grown=self.grown.is_set)
        self.sink.thread.start()
        self.tasks: list[threading.Thread] = []
        #: Threads that begin tasks later.
        self.begin: list[threading.Thread] = []

    def _ask(self) -> Tasks:
        self.asked()
        return self._tasks

    def task(self, partition: int, blocks: dict[int, list[Any]], attempt: int = 0, limit: int | None = None) -> threading.Thread:
        """A thread that plays one attempt of a task; it has its connection when this returns."""
        connected = threading.Event()

        def work() -> None:
            try:
                link = Link(self.sink.address, partition, attempt)
            finally:
                connected.set()
            _deliver(iter(blocks.items()), limit, link, _Input(iter(())))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        assert connected.wait(PATIENCE)
        self.tasks.append(thread)
        return thread

    def frame(self) -> Frame:
        while True:
            self.ready.clear()
            frame = self.sink.take()
            if frame is not None:
                return frame
            assert self.ready.wait(PATIENCE), "nothing arrived"

    def items(self, most: int | None = None) -> list[Any]:
        found: list[Any] = []
        while most is None or len(found) < most:
            frame = self.frame()
            if frame.kind == END:
                break
            assert frame.kind == DATA
            found += loads(frame.payload)[frame.skip :]
            self.sink.taken(frame.count - frame.skip)
        return found

    def all_begun(self) -> None:
        """Wait for the tasks that begin later: one that begins when the job is over finds the sink closed."""
        for thread in self.begin:
            thread.join(PATIENCE)
            assert not thread.is_alive()

    def stop(self) -> None:
        self.all_begun()
        self.sink.cancel()
        assert self.killed.wait(PATIENCE)
        self.sink.job_over(None)
        for thread in [*self.tasks, self.sink.thread]:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        self.sink.dispose()


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sink, "STARVED", 0.05)
    monkeypatch.setattr(_sink, "TICK", 0.01)


def striped(count: int, size: int, partitions: int) -> list[dict[int, list[int]]]:
    blocks = {at // size: list(range(at, min(at + size, count))) for at in range(0, count, size)}
    return [{number: blocks[number] for number in blocks if number % partitions == partition} for partition in range(partitions)]

"""Each operator that looks at a clock, on real schedulers: it ends once and without an error, and no error is lost.

The table runs on virtual time, where an action never begins before ``schedule`` has returned. On a thread of its own it may be
over by then, and have disposed its worker. The seconds of the table are a thousandth here. ``RX_STRESS=20`` makes it twenty times
as long.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest

import rx_schedulers
from rx_core import DISPOSED, Disposable, Scheduler, Worker
from rx_ops import Flowable
from rx_testing.racing import rounds
from tests.conformance.harness import Case, Flow, Kit, dropped_errors
from tests.conformance.table import TABLE

pytestmark = pytest.mark.stress

SECONDS: Final = 20.0
#: How long a second of the table takes.
SCALE: Final = 1e-3


class Quick(Scheduler):
    """Another scheduler, on which time runs faster."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def create_worker(self) -> Worker:
        return QuickWorker(self.scheduler.create_worker())

    def now(self) -> float:
        return self.scheduler.now() / SCALE

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        return self.scheduler.shutdown(timeout)


class QuickWorker(Worker):
    def __init__(self, worker: Worker) -> None:
        self.worker = worker

    def schedule(self, action: Callable[[], object], /, delay: float = 0.0) -> Disposable:
        return self.worker.schedule(action, delay * SCALE)

    def now(self) -> float:
        return self.worker.now() / SCALE

    def dispose(self) -> None:
        self.worker.dispose()

    @property
    def is_disposed(self) -> bool:
        return self.worker.is_disposed


class Looked(Kit):
    """Knows whether its clock was looked at."""

    def __init__(self) -> None:
        self.looked = False
        super().__init__()

    def __getattribute__(self, name: str) -> Any:
        if name == "clock":
            self.looked = True
        return super().__getattribute__(name)


def looks_at_a_clock(case: Case) -> bool:
    kit = Looked()
    case.build(Flowable.of(*case.items), kit)
    return kit.looked


TIMED: Final = [case for case in TABLE if looks_at_a_clock(case)]
SOURCES: Final[dict[str, Callable[[Flow], Flow]]] = {
    "passive": lambda flow: flow,
    "pushing": lambda flow: flow.hide(),
    "on another thread": lambda flow: flow.observe_on(rx_schedulers.io()),
}
SCHEDULERS: Final[dict[str, Callable[[], Scheduler]]] = {
    "computation": rx_schedulers.computation,
    "io": rx_schedulers.io,
    "new_thread": rx_schedulers.new_thread,
    "single": rx_schedulers.single,
}


@pytest.fixture(scope="module")
def executor() -> Iterator[Scheduler]:
    with ThreadPoolExecutor(3) as pool:
        yield rx_schedulers.from_executor(pool)


class Prompt(Quick):
    """What is scheduled on another thread is over when ``schedule`` returns."""

    def create_worker(self) -> Worker:
        return PromptWorker(self.scheduler.create_worker())


class PromptWorker(QuickWorker):
    def __init__(self, worker: Worker) -> None:
        super().__init__(worker)
        self.inside = threading.local()

    def schedule(self, action: Callable[[], object], /, delay: float = 0.0) -> Disposable:
        over = threading.Event()

        def act() -> None:
            self.inside.now = True
            try:
                action()
            finally:
                over.set()

        made = super().schedule(act, delay)
        if made is not DISPOSED and not hasattr(self.inside, "now") and delay * SCALE < 0.1:
            over.wait(0.1)  # or it was disposed
        return made


def run(case: Case, flow: Flow, scheduler: Scheduler) -> list[object]:
    """The ends: None, or an error."""
    ends: list[object] = []
    ended = threading.Event()

    def end(error: Exception | None = None) -> None:
        ends.append(error)
        ended.set()

    kit = Kit()
    kit.clock = scheduler  # type: ignore[assignment]  # it is only handed to operators
    running = case.build(flow, kit).subscribe(lambda _item: None, end, end)
    try:
        assert ended.wait(SECONDS), f"{case} over {flow!r} did not end"
    finally:
        running.dispose()
    return ends


def check(case: Case, scheduler: Scheduler) -> None:
    with dropped_errors() as lost:
        for _ in rounds(2):
            for source in SOURCES.values():
                assert run(case, source(Flowable.of(*case.items)), scheduler) == [None]
    assert lost == []


@pytest.mark.parametrize("case", TIMED, ids=str)
@pytest.mark.parametrize("name", SCHEDULERS)
def test_it_ends_once_on_threads(case: Case, name: str) -> None:
    check(case, Quick(SCHEDULERS[name]()))


#: Their timer, when it is over, begins the next one: where each is over when it was scheduled, nothing else happens any more.
RESTARTING: Final = ("buffer restart", "window restart")


@pytest.mark.parametrize("case", [case for case in TIMED if case.name not in RESTARTING], ids=str)
def test_it_ends_once_where_an_action_is_over_first(case: Case) -> None:
    check(case, Prompt(rx_schedulers.new_thread()))


@pytest.mark.parametrize("case", TIMED, ids=str)
def test_it_ends_once_on_an_executor(case: Case, executor: Scheduler) -> None:
    check(case, Quick(executor))


# -- and this catches what it is there for ---------------------------------------------------------------------------------------


class Refusing(Quick):
    """Says of an action that is over and has disposed its worker that it was not taken."""

    def create_worker(self) -> Worker:
        return RefusingWorker(self.scheduler.create_worker())


class RefusingWorker(PromptWorker):
    def schedule(self, action: Callable[[], object], /, delay: float = 0.0) -> Disposable:
        made = super().schedule(action, delay)
        return DISPOSED if self.is_disposed else made


def test_control_an_action_that_is_over_and_said_not_to_be_taken() -> None:
    (case,) = [case for case in TIMED if case.name == "delay_subscription"]
    (error,) = run(case, Flowable.never(), Refusing(rx_schedulers.new_thread()))
    assert "was shut down while a stream was running on it" in str(error)


def test_what_looks_at_a_clock_is_known() -> None:
    assert {"debounce", "delay", "delay_subscription", "observe_on", "observe_on latest", "timeout", "window time"} <= {
        case.name for case in TIMED
    }

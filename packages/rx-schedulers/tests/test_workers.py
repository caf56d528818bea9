"""What every thread worker promises: serial, in order of due time, stoppable; and what it does with exceptions."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from itertools import cycle

import pytest

from rx_core import Scheduler, Worker, WorkerInterruptedError, _hooks
from rx_schedulers import (
    ComputationScheduler,
    IoScheduler,
    NewThreadScheduler,
    SingleScheduler,
    TrampolineScheduler,
    from_executor,
)

SECONDS = 20.0


def executor() -> Scheduler:
    from concurrent.futures import ThreadPoolExecutor

    return from_executor(ThreadPoolExecutor(4, thread_name_prefix="pool"))


MAKERS: dict[str, Callable[[], Scheduler]] = {
    "computation": lambda: ComputationScheduler(2),
    "io": IoScheduler,
    "single": SingleScheduler,
    "new_thread": NewThreadScheduler,
    "executor": executor,
}


@pytest.fixture(params=sorted(MAKERS))
def scheduler(request: pytest.FixtureRequest) -> Iterator[Scheduler]:
    made = MAKERS[request.param]()
    yield made
    assert made.shutdown(SECONDS) is True
    pool = getattr(made, "_executor", None)
    if pool is not None:
        pool.shutdown()


@pytest.fixture
def dropped(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    errors: list[Exception] = []
    monkeypatch.setattr(_hooks, "on_error", lambda error, origin, _late: errors.append(error))
    return errors


def run(worker: Worker, action: Callable[[], object] = lambda: None, delay: float = 0.0) -> str:
    """Schedule, wait until it has run, and tell on which thread."""
    names: list[str] = []
    done = threading.Event()

    def act() -> None:
        names.append(threading.current_thread().name)
        try:
            action()
        finally:
            done.set()

    worker.schedule(act, delay)
    assert done.wait(SECONDS)
    return names[0]


def test_actions_run_in_order_on_another_thread(scheduler: Scheduler) -> None:
    worker = scheduler.create_worker()
    log: list[int] = []
    for i in range(100):
        worker.schedule(lambda i=i: log.append(i))  # type: ignore[misc]  # mypy does not infer the default
    name = run(worker)
    assert log == list(range(100))
    assert name != threading.current_thread().name
    worker.dispose()


def test_delays_order_actions_and_are_kept(scheduler: Scheduler) -> None:
    # Where this thread is held up while it schedules, the delays say nothing about the order: once more, with longer ones.
    for unit in (0.03, 0.1, 0.3, 1.0, 3.0):
        worker = scheduler.create_worker()
        log: list[tuple[str, float]] = []
        start = worker.now()

        def note(
            name: str, log: list[tuple[str, float]] = log, worker: Worker = worker, start: float = start
        ) -> Callable[[], None]:
            return lambda: log.append((name, worker.now() - start))

        worker.schedule(note("c"), 2 * unit)
        worker.schedule(note("b"), unit)
        worker.schedule(note("a"))
        if worker.now() - start < unit:
            break
        worker.dispose()
    run(worker, delay=2 * unit + 0.01)
    assert [name for name, _ in log] == ["a", "b", "c"]
    assert log[1][1] >= unit
    assert log[2][1] >= 2 * unit
    worker.dispose()


def test_a_disposed_action_does_not_run_and_is_forgotten(scheduler: Scheduler) -> None:
    class Action:
        def __call__(self) -> None:
            raise AssertionError("disposed")

    worker = scheduler.create_worker()
    action = Action()
    gone = weakref.ref(action)
    task = worker.schedule(action, 3600.0)
    del action
    before = task.is_disposed
    task.dispose()
    gc.collect()
    assert (before, task.is_disposed, gone()) == (False, True, None)
    run(worker)
    worker.dispose()


def test_what_has_run_is_forgotten_while_the_worker_waits(scheduler: Scheduler) -> None:
    class Action:
        def __call__(self) -> None: ...

    worker = scheduler.create_worker()
    action = Action()
    gone = weakref.ref(action)
    worker.schedule(action)
    del action
    run(worker)
    gc.collect()
    assert gone() is None
    worker.dispose()


def test_disposing_from_another_thread_while_an_action_runs(scheduler: Scheduler) -> None:
    worker = scheduler.create_worker()
    inside, leave, left = threading.Event(), threading.Event(), threading.Event()
    late: list[str] = []

    def block() -> None:
        inside.set()
        assert leave.wait(SECONDS)
        left.set()

    worker.schedule(block)
    worker.schedule(lambda: late.append("queued"))
    worker.schedule(lambda: late.append("timed"), 0.001)
    assert inside.wait(SECONDS)
    worker.dispose()
    worker.dispose()
    assert worker.is_disposed
    assert worker.schedule(lambda: late.append("after")).is_disposed
    leave.set()
    assert left.wait(SECONDS)  # a running action is not interrupted
    run(other := scheduler.create_worker(), delay=0.002)
    assert late == []
    other.dispose()


def test_an_action_that_schedules_runs_it_after_itself(scheduler: Scheduler) -> None:
    worker = scheduler.create_worker()
    log: list[str] = []

    def outer() -> None:
        worker.schedule(lambda: log.append("inner"))
        log.append("outer")

    worker.schedule(outer)
    run(worker)
    run(worker)
    assert log == ["outer", "inner"]
    worker.dispose()


def test_an_exception_is_reported_once_and_the_worker_goes_on(scheduler: Scheduler, dropped: list[Exception]) -> None:
    worker = scheduler.create_worker()
    error = ValueError("broken")

    def broken() -> None:
        raise error

    worker.schedule(broken)
    run(worker)
    assert dropped == [error]
    worker.dispose()


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_a_base_exception_is_reported_and_the_worker_goes_on(
    scheduler: Scheduler, dropped: list[Exception], kind: type[BaseException]
) -> None:
    worker = scheduler.create_worker()

    def leave() -> None:
        raise kind(3)

    worker.schedule(leave)
    run(worker)
    (error,) = dropped
    assert isinstance(error, WorkerInterruptedError)
    assert isinstance(error.__cause__, kind)
    assert kind.__name__ in str(error)
    worker.dispose()


def test_a_hook_that_is_interrupted_does_not_end_the_worker(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def hook(error: Exception, origin: object, late: bool) -> None:
        raise SystemExit(4)

    monkeypatch.setattr(_hooks, "on_error", hook)
    worker = scheduler.create_worker()
    worker.schedule(lambda: 1 / 0)
    run(worker)
    assert "was interrupted" in caplog.text
    worker.dispose()


def test_the_schedule_hook_sees_every_accepted_action(scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def hook(action: Callable[[], object]) -> Callable[[], object]:
        def wrapped() -> None:
            seen.append("before")
            action()

        return wrapped

    worker = scheduler.create_worker()
    monkeypatch.setattr(_hooks, "on_schedule", hook)
    run(worker)
    run(worker, delay=0.001)
    assert seen == ["before"] * 2
    worker.dispose()
    worker.schedule(lambda: None)
    assert seen == ["before"] * 2


def test_a_hook_that_refuses_leaves_the_worker_usable(scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    def hook(action: Callable[[], object]) -> Callable[[], object]:
        raise LookupError("no")

    worker = scheduler.create_worker()
    with monkeypatch.context() as patch:
        patch.setattr(_hooks, "on_schedule", hook)
        with pytest.raises(LookupError):
            worker.schedule(lambda: None)
    run(worker)
    worker.dispose()


def test_schedule_direct_runs_one_action(scheduler: Scheduler) -> None:
    done = threading.Event()
    scheduler.schedule_direct(done.set)
    assert done.wait(SECONDS)


def test_endless_and_undefined_delays_do_no_harm(scheduler: Scheduler) -> None:
    worker = scheduler.create_worker()
    never = worker.schedule(lambda: None, float("inf"))
    run(worker)
    run(worker, delay=float("nan"))  # no number of seconds: at once
    run(worker, delay=-1.0)
    assert not never.is_disposed
    worker.dispose()
    assert never.is_disposed


# Serial under load ----------------------------------------------------------------------------------------------------

PRODUCERS, EACH = 8, 2000


def hammer(schedule: Callable[[Callable[[], None]], object]) -> tuple[list[tuple[int, int]], int]:
    """PRODUCERS threads schedule EACH actions; returns what ran, in order, and how often two of them overlapped."""
    log: list[tuple[int, int]] = []
    overlaps = 0
    inside: dict[int, None] = {}
    everything = threading.Event()
    start = threading.Barrier(PRODUCERS)

    def action(producer: int, i: int) -> Callable[[], None]:
        def act() -> None:
            nonlocal overlaps
            me = threading.get_ident()
            inside[me] = None
            if len(inside) > 1:
                overlaps += 1
            for _ in range(20):  # room for a switch of threads
                pass
            log.append((producer, i))
            inside.pop(me, None)
            if len(log) == PRODUCERS * EACH:
                everything.set()

        return act

    def produce(producer: int) -> None:
        start.wait(SECONDS)
        for i in range(EACH):
            schedule(action(producer, i))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=produce, args=(p,)) for p in range(PRODUCERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        assert everything.wait(SECONDS), f"{len(log)} of {PRODUCERS * EACH} actions ran"
    finally:
        sys.setswitchinterval(interval)
    return log, overlaps


def in_order(log: list[tuple[int, int]]) -> bool:
    return all([i for p, i in log if p == producer] == list(range(EACH)) for producer in range(PRODUCERS))


@pytest.mark.stress
def test_eight_threads_on_one_worker_run_serially_and_in_order(scheduler: Scheduler) -> None:
    worker = scheduler.create_worker()
    log, overlaps = hammer(worker.schedule)
    assert overlaps == 0
    assert in_order(log)
    worker.dispose()


@pytest.mark.stress
def test_eight_threads_on_one_trampoline_worker_run_serially_and_in_order() -> None:
    worker = TrampolineScheduler().create_worker()
    log, overlaps = hammer(worker.schedule)
    assert overlaps == 0
    assert in_order(log)


@pytest.mark.stress
def test_control_the_check_catches_a_worker_on_two_threads() -> None:
    scheduler = NewThreadScheduler()
    workers = cycle((scheduler.create_worker(), scheduler.create_worker()))  # the mistake: two loops behind one worker
    overlapping = disordered = False
    for _ in range(20):
        log, overlaps = hammer(lambda action: next(workers).schedule(action))
        overlapping |= overlaps > 0
        disordered |= not in_order(log)
        if overlapping and disordered:
            break
    assert overlapping
    assert disordered
    assert scheduler.shutdown(SECONDS)

"""Trampoline and immediate: work on the calling thread."""

from __future__ import annotations

import threading
from time import monotonic

import pytest

from rx_core import Scheduler, _hooks
from rx_schedulers import ImmediateScheduler, TrampolineScheduler
from rx_schedulers._wakeup import Wakeup

SECONDS = 20.0


def test_a_trampoline_runs_at_once_and_nested_work_afterwards() -> None:
    worker = TrampolineScheduler().create_worker()
    log: list[str] = []

    def outer() -> None:
        worker.schedule(lambda: log.append("inner"))
        log.append("outer")

    worker.schedule(outer)
    assert log == ["outer", "inner"]


def test_a_trampoline_holds_for_all_workers_of_a_thread() -> None:
    scheduler = TrampolineScheduler()
    one, two = scheduler.create_worker(), scheduler.create_worker()
    log: list[str] = []

    def outer() -> None:
        two.schedule(lambda: log.append("other worker"))
        log.append("outer")

    one.schedule(outer)
    assert log == ["outer", "other worker"]


def test_a_trampoline_turns_recursion_into_a_loop() -> None:
    worker = TrampolineScheduler().create_worker()
    left = 100_000

    def again() -> None:
        nonlocal left
        left -= 1
        if left:
            worker.schedule(again)

    worker.schedule(again)
    assert left == 0


def test_a_trampoline_waits_for_delays_on_the_calling_thread() -> None:
    worker = TrampolineScheduler().create_worker()
    log: list[str] = []

    def outer() -> None:
        worker.schedule(lambda: log.append("late"), 0.02)
        worker.schedule(lambda: log.append("early"), 0.01)

    start = monotonic()
    worker.schedule(outer)
    assert log == ["early", "late"]
    assert monotonic() - start >= 0.02


def test_another_thread_leaves_its_action_to_the_thread_that_runs_the_trampoline() -> None:
    worker = TrampolineScheduler().create_worker()
    inside, scheduled = threading.Event(), threading.Event()
    ran_on: list[str] = []

    def outer() -> None:
        inside.set()
        assert scheduled.wait(SECONDS)

    def other() -> None:
        assert inside.wait(SECONDS)
        worker.schedule(lambda: ran_on.append(threading.current_thread().name))
        scheduled.set()

    thread = threading.Thread(target=other)
    thread.start()
    worker.schedule(outer)
    thread.join(SECONDS)
    assert ran_on == [threading.current_thread().name]


def test_another_thread_wakes_a_trampoline_that_waits_for_a_delay() -> None:
    worker = TrampolineScheduler().create_worker()
    inside = threading.Event()

    def outer() -> None:
        worker.schedule(lambda: pytest.fail("was disposed"), 3600.0)
        worker.schedule(inside.set)

    def other() -> None:
        assert inside.wait(SECONDS)
        worker.schedule(worker.dispose)

    thread = threading.Thread(target=other)
    thread.start()
    worker.schedule(outer)  # returns long before the hour is over
    thread.join(SECONDS)
    assert worker.is_disposed


def test_a_base_exception_reaches_the_caller_and_drops_the_rest() -> None:
    scheduler = TrampolineScheduler()
    worker, other = scheduler.create_worker(), scheduler.create_worker()
    log: list[str] = []

    def outer() -> None:
        worker.schedule(lambda: log.append("dropped"))
        other.schedule(lambda: log.append("dropped too"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        worker.schedule(outer)
    worker.schedule(lambda: log.append("next"))
    other.schedule(lambda: log.append("next too"))
    assert log == ["next", "next too"]


@pytest.mark.parametrize("kind", [TrampolineScheduler, ImmediateScheduler])
def test_an_exception_is_reported(kind: type[TrampolineScheduler | ImmediateScheduler], monkeypatch: pytest.MonkeyPatch) -> None:
    errors: list[Exception] = []
    monkeypatch.setattr(_hooks, "on_error", lambda error, origin, _late: errors.append(error))
    worker = kind().create_worker()
    worker.schedule(lambda: 1 / 0)
    assert [type(error) for error in errors] == [ZeroDivisionError]


def test_immediate_runs_inside_schedule() -> None:
    worker = ImmediateScheduler().create_worker()
    log: list[str] = []

    def outer() -> None:
        worker.schedule(lambda: log.append("inner"))
        log.append("outer")

    assert worker.schedule(outer).is_disposed
    assert log == ["inner", "outer"]


def test_immediate_blocks_for_a_delay_until_disposed() -> None:
    worker = ImmediateScheduler().create_worker()
    start = monotonic()
    done: list[float] = []
    worker.schedule(lambda: done.append(monotonic() - start), 0.01)
    assert done[0] >= 0.01
    entered = threading.Event()

    def wait_for_an_hour() -> None:
        entered.set()
        worker.schedule(lambda: done.append(0), 3600.0)

    thread = threading.Thread(target=wait_for_an_hour)
    thread.start()
    assert entered.wait(SECONDS)
    worker.dispose()
    thread.join(SECONDS)
    assert not thread.is_alive()
    assert len(done) == 1
    assert worker.schedule(lambda: done.append(0)).is_disposed


def test_after_shutdown_there_are_no_more_workers() -> None:
    for scheduler in (TrampolineScheduler(), ImmediateScheduler()):
        worker = scheduler.create_worker()
        assert scheduler.shutdown() is True
        with pytest.raises(RuntimeError, match="shut down"):
            scheduler.create_worker()
        worker.dispose()


# Sleeping with a limit ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [ImmediateScheduler, TrampolineScheduler])
def test_delays_of_microseconds_end(make: type[ImmediateScheduler | TrampolineScheduler]) -> None:
    """SimpleQueue.get() waited for ever when its timeout was over before it began to wait."""
    scheduler: Scheduler = make()
    ended, given_up = threading.Event(), threading.Event()

    def many() -> None:
        for number in range(20_000):
            if given_up.is_set():  # so that the tests that follow do not see its actions
                return
            scheduler.create_worker().schedule(lambda: None, number % 50 * 1e-7)
        ended.set()

    threading.Thread(target=many, daemon=True).start()
    try:
        assert ended.wait(SECONDS)
    finally:
        given_up.set()


def test_a_wake_up_before_the_sleep_is_kept_once() -> None:
    wakeup = Wakeup()
    wakeup.wake()
    wakeup.wake()
    assert wakeup.sleep(SECONDS)
    assert not wakeup.sleep(0.0)
    assert not wakeup.sleep(-1.0)


@pytest.mark.parametrize("seconds", [SECONDS, 1e300, float("inf"), None])
def test_a_wake_up_ends_a_sleep_however_long(seconds: float | None) -> None:
    wakeup = Wakeup()
    woken: list[bool] = []
    sleeper = threading.Thread(target=lambda: woken.append(wakeup.sleep(seconds)), daemon=True)
    sleeper.start()
    wakeup.wake()
    sleeper.join(SECONDS)
    assert woken == [True]

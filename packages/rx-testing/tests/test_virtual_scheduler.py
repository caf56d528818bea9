"""Virtual time: exact instants, exact order, nothing by itself."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import pytest

from rx_core import scheduler
from rx_testing import VirtualScheduler


def note(log: list[str], name: str) -> Callable[[], None]:
    return lambda: log.append(name)


def test_nothing_runs_before_the_clock_moves() -> None:
    clock, log = VirtualScheduler(), list[str]()
    clock.create_worker().schedule(note(log, "now"))
    assert log == []
    assert clock.run_due() == 1
    assert log == ["now"]


def test_actions_run_at_their_instants_in_order_of_due_time_and_then_of_scheduling() -> None:
    clock = VirtualScheduler()
    log: list[tuple[float, str]] = []
    worker = clock.create_worker()
    other = clock.create_worker()

    def at(name: str) -> Callable[[], None]:
        return lambda: log.append((clock.now(), name))

    worker.schedule(at("c"), 0.3)
    worker.schedule(at("a"), 0.1)
    other.schedule(at("b1"), 0.2)
    worker.schedule(at("b2"), 0.2)
    assert clock.next_due == 0.1
    assert clock.advance_by(0.2) == 3
    assert log == [(0.1, "a"), (0.2, "b1"), (0.2, "b2")]
    assert clock.advance_to(0.29) == 0
    assert clock.advance_by(0.01) == 1
    assert log[-1] == (0.3, "c")
    assert clock.now() == 0.3


def test_tenths_of_a_second_add_up_exactly() -> None:
    clock = VirtualScheduler()
    for _ in range(10):
        clock.advance_by(0.1)
    assert clock.now() == 1.0


def test_what_an_action_schedules_runs_in_the_same_advance_when_it_falls_due() -> None:
    clock = VirtualScheduler()
    worker = clock.create_worker()
    instants: list[float] = []

    def tick() -> None:
        instants.append(clock.now())
        worker.schedule(tick, 1.0)

    worker.schedule(tick, 1.0)
    clock.advance_by(3.5)
    assert instants == [1.0, 2.0, 3.0]
    assert clock.pending == 1


def test_run_until_idle_moves_as_far_as_needed_and_refuses_to_run_for_ever() -> None:
    clock, log = VirtualScheduler(), list[str]()
    worker = clock.create_worker()
    worker.schedule(note(log, "late"), 3600.0)
    assert clock.run_until_idle() == 1
    assert clock.now() == 3600.0

    def again() -> None:
        worker.schedule(again, 1.0)

    again()
    with pytest.raises(RuntimeError, match="does something repeat"):
        clock.run_until_idle(max_actions=50)


def test_disposed_actions_do_not_run_and_are_forgotten_at_once() -> None:
    class Big:
        def __call__(self) -> None:
            raise AssertionError("disposed")

    clock = VirtualScheduler()
    worker = clock.create_worker()
    action = Big()
    gone = weakref.ref(action)
    task = worker.schedule(action, 1000.0)
    del action
    before = task.is_disposed
    task.dispose()
    task.dispose()
    gc.collect()
    assert (before, task.is_disposed) == (False, True)
    assert gone() is None
    assert clock.run_until_idle() == 0


def test_a_disposed_worker_drops_its_own_actions_only() -> None:
    clock, log = VirtualScheduler(), list[str]()
    one, two = clock.create_worker(), clock.create_worker()
    one.schedule(note(log, "one"))
    two.schedule(note(log, "two"))
    one.dispose()
    assert one.is_disposed
    assert one.schedule(note(log, "late")).is_disposed
    clock.run_until_idle()
    assert log == ["two"]


def test_an_action_counts_as_disposed_once_it_has_started() -> None:
    clock = VirtualScheduler()
    seen: list[bool] = []
    task = clock.create_worker().schedule(lambda: seen.append(task.is_disposed))
    clock.run_due()
    assert seen == [True]


def test_cancelled_timers_do_not_pile_up() -> None:
    clock = VirtualScheduler()
    worker = clock.create_worker()
    for _ in range(1000):
        worker.schedule(lambda: None, 60.0).dispose()
        clock.run_due()
    assert len(clock._heap) < 100


def test_an_error_comes_out_of_the_advance_and_the_rest_still_waits() -> None:
    clock, log = VirtualScheduler(), list[str]()
    worker = clock.create_worker()

    def broken() -> None:
        raise ZeroDivisionError("broken")

    worker.schedule(broken, 1.0)
    worker.schedule(note(log, "next"), 2.0)
    with pytest.raises(ZeroDivisionError):
        clock.advance_by(5.0)
    assert clock.now() == 1.0
    clock.run_until_idle()
    assert log == ["next"]


def test_the_clock_is_moved_by_one_hand_at_a_time_and_only_forward() -> None:
    clock = VirtualScheduler(start=10.0)
    clock.create_worker().schedule(lambda: clock.advance_by(1.0))
    with pytest.raises(RuntimeError, match="being moved already"):
        clock.run_due()
    with pytest.raises(ValueError, match="only goes forward"):
        clock.advance_to(9.0)
    with pytest.raises(ValueError, match="nan"):
        clock.create_worker().schedule(lambda: None, float("nan"))


def test_schedule_direct_gives_its_worker_back() -> None:
    clock, log = VirtualScheduler(), list[str]()
    clock.schedule_direct(note(log, "direct"), 2.0)
    clock.advance_by(2.0)
    assert log == ["direct"]
    assert clock.pending == 0


def test_a_virtual_clock_stands_in_for_the_schedulers_with_threads(virtual_time: VirtualScheduler) -> None:
    assert scheduler("computation") is scheduler("io") is scheduler("virtual") is virtual_time
    log: list[str] = []
    scheduler("computation").schedule_direct(note(log, "an hour later"), 3600.0)
    virtual_time.advance_by(3600.0)
    assert log == ["an hour later"]
    with VirtualScheduler().installed("mine") as mine:
        assert scheduler("mine") is mine
        assert scheduler("io") is virtual_time
    with pytest.raises(LookupError, match="'mine'"):
        scheduler("mine")


def test_the_plugin_offers_it_by_name() -> None:
    from rx_testing import _plugin

    assert isinstance(_plugin.rx_schedulers()["virtual"](), VirtualScheduler)


def test_after_shutdown_nothing_waits_and_nothing_starts() -> None:
    clock, log = VirtualScheduler(), list[str]()
    worker = clock.create_worker()
    worker.schedule(note(log, "x"), 1.0)
    assert clock.shutdown() is True
    assert worker.schedule(note(log, "y")).is_disposed
    with pytest.raises(RuntimeError, match="shut down"):
        clock.create_worker()
    assert clock.advance_by(5.0) == 0
    assert log == []

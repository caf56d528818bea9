"""Threads: how many, which names, how long, and how they end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from math import inf
from typing import Any

import pytest

import rx_schedulers
from rx_core import DISPOSED, Worker
from rx_schedulers import (
    ComputationScheduler,
    IoScheduler,
    NewThreadScheduler,
    SingleScheduler,
    from_executor,
)
from rx_schedulers._event_loop import EventLoop, EventLoopGroup, LoopWorker, Task
from rx_schedulers._loop_thread import LoopThread

SECONDS = 20.0


def run(worker: Worker) -> threading.Thread:
    """Run something on the worker and tell which thread did."""
    threads: list[threading.Thread] = []
    done = threading.Event()

    def act() -> None:
        threads.append(threading.current_thread())
        done.set()

    worker.schedule(act)
    assert done.wait(SECONDS)
    return threads[0]


def ended(thread: threading.Thread) -> bool:
    thread.join(SECONDS)
    return not thread.is_alive()


class FakeClock:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def test_no_thread_before_the_first_action() -> None:
    before = threading.active_count()
    schedulers = [ComputationScheduler(4), IoScheduler(), SingleScheduler(), NewThreadScheduler()]
    for scheduler in schedulers:
        scheduler.create_worker()
    assert threading.active_count() == before
    assert all(scheduler.shutdown(0.0) for scheduler in schedulers)


def test_computation_has_a_fixed_number_of_threads() -> None:
    scheduler = ComputationScheduler(3)
    names = {run(scheduler.create_worker()).name for _ in range(20)}
    assert names == {"rx-computation-1", "rx-computation-2", "rx-computation-3"}
    assert scheduler.shutdown(SECONDS)
    with pytest.raises(ValueError, match="at least one"):
        ComputationScheduler(0)


def test_single_has_one_thread() -> None:
    scheduler = SingleScheduler()
    assert {run(scheduler.create_worker()).name for _ in range(5)} == {"rx-single-1"}
    assert scheduler.shutdown(SECONDS)


def test_new_thread_has_a_thread_for_each_worker_which_ends_with_it() -> None:
    scheduler = NewThreadScheduler()
    one, two = scheduler.create_worker(), scheduler.create_worker()
    threads = [run(one), run(two), run(one)]
    assert [thread.name for thread in threads] == ["rx-new_thread-1", "rx-new_thread-2", "rx-new_thread-1"]
    one.dispose()
    assert ended(threads[0])
    assert threads[1].is_alive()
    two.dispose()
    assert ended(threads[1])
    assert scheduler.shutdown(0.0)


def test_io_reuses_the_threads_of_disposed_workers() -> None:
    scheduler = IoScheduler()
    returned = threading.Event()
    take_back = scheduler._free.append

    class Free:
        """A free list that tells when an event loop has come back."""

        def append(self, loop: EventLoop) -> None:
            take_back(loop)
            returned.set()

        def pop(self) -> EventLoop:
            return loops.pop()

    loops = scheduler._free
    scheduler._free = Free()  # type: ignore[assignment]  # a fake with what is used of it
    names = []
    for _ in range(10):
        worker = scheduler.create_worker()
        names.append(run(worker).name)
        worker.dispose()
        assert returned.wait(SECONDS)
        returned.clear()
    assert set(names) == {"rx-io-1"}
    one, two = scheduler.create_worker(), scheduler.create_worker()
    assert {run(one).name, run(two).name} == {"rx-io-1", "rx-io-2"}
    assert scheduler.shutdown(SECONDS)


def test_io_does_not_hand_on_a_thread_whose_action_still_runs() -> None:
    scheduler = IoScheduler()
    inside, leave = threading.Event(), threading.Event()

    def block() -> None:
        inside.set()
        leave.wait(SECONDS)

    worker = scheduler.create_worker()
    worker.schedule(block)
    assert inside.wait(SECONDS)
    worker.dispose()
    assert run(scheduler.create_worker()).name == "rx-io-2"
    leave.set()
    assert scheduler.shutdown(SECONDS)


def test_idle_threads_end_and_come_back_when_needed() -> None:
    scheduler = IoScheduler(idle_seconds=0.0)
    worker = scheduler.create_worker()
    first = run(worker)
    assert ended(first)
    second = run(worker)
    assert second is not first
    assert second.name == first.name
    assert ended(second)
    assert scheduler.shutdown(0.0)


def test_a_waiting_timer_keeps_the_thread() -> None:
    scheduler = IoScheduler(idle_seconds=0.0)
    worker = scheduler.create_worker()
    worker.schedule(lambda: None, 3600.0)
    thread = run(worker)
    assert isinstance(thread, LoopThread)
    thread.retire()
    run(worker)
    assert thread.is_alive()
    worker.dispose()
    assert scheduler.shutdown(SECONDS)
    assert not thread.is_alive()


def test_retiring_ends_an_idle_thread_at_once() -> None:
    scheduler = ComputationScheduler(1)
    worker = scheduler.create_worker()
    thread = run(worker)
    assert isinstance(thread, LoopThread)
    thread.retire()
    assert ended(thread)
    again = run(worker)
    assert again is not thread
    assert scheduler.shutdown(SECONDS)


def test_shutdown_ends_all_threads_and_drops_what_waits() -> None:
    scheduler = ComputationScheduler(2)
    late: list[int] = []
    workers = [scheduler.create_worker() for _ in range(4)]
    threads = [run(worker) for worker in workers]
    tasks = [worker.schedule(lambda: late.append(1), 3600.0) for worker in workers]
    assert scheduler.shutdown(SECONDS) is True
    assert scheduler.shutdown(SECONDS) is True
    assert not any(thread.is_alive() for thread in threads)
    assert all(worker.is_disposed and worker.schedule(lambda: late.append(2)).is_disposed for worker in workers)
    assert all(task.is_disposed for task in tasks)
    assert late == []
    with pytest.raises(RuntimeError, match="computation scheduler was shut down"):
        scheduler.create_worker()


def test_shutdown_tells_when_an_action_does_not_return() -> None:
    scheduler = SingleScheduler()
    inside, leave = threading.Event(), threading.Event()

    def block() -> None:
        inside.set()
        leave.wait(SECONDS)

    scheduler.create_worker().schedule(block)
    assert inside.wait(SECONDS)
    assert scheduler.shutdown(0.0) is False
    leave.set()
    assert scheduler.shutdown(SECONDS) is True


def test_shutdown_from_a_thread_of_its_own_does_not_wait_for_itself() -> None:
    scheduler = SingleScheduler()
    answers: list[bool] = []
    done = threading.Event()

    def stop() -> None:
        answers.append(scheduler.shutdown(SECONDS))
        done.set()

    scheduler.create_worker().schedule(stop)
    assert done.wait(SECONDS)
    assert answers == [False]
    assert scheduler.shutdown(SECONDS) is True


def test_workers_that_come_and_go_leave_no_threads() -> None:
    before = {thread for thread in threading.enumerate() if thread.name.startswith("rx-")}
    schedulers = [IoScheduler(), NewThreadScheduler(), ComputationScheduler(2)]
    for scheduler in schedulers:
        for _ in range(50):
            worker = scheduler.create_worker()
            run(worker)
            worker.schedule(lambda: None, 3600.0)
            worker.dispose()
    assert sum(len(scheduler._group.running) for scheduler in schedulers[:1]) <= 50
    assert all(scheduler.shutdown(SECONDS) for scheduler in schedulers)
    assert {thread for thread in threading.enumerate() if thread.name.startswith("rx-")} == before


def test_a_system_without_threads_raises_and_recovers(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = SingleScheduler()
    worker = scheduler.create_worker()

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(LoopThread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            worker.schedule(lambda: pytest.fail("was refused"))
    run(worker)
    assert scheduler.shutdown(SECONDS)


# The loop itself, on a clock that the test moves ----------------------------------------------------------------------


def loop(clock: Callable[[], float]) -> EventLoop:
    return EventLoop(EventLoopGroup("test", 60.0, clock))


def test_equal_instants_run_in_order_of_scheduling_and_all_by_due_time() -> None:
    clock = FakeClock()
    tested = loop(clock)
    worker = LoopWorker(tested)
    log: list[str] = []
    inside, leave = threading.Event(), threading.Event()

    def block() -> None:
        inside.set()
        leave.wait(SECONDS)

    worker.schedule(block)
    assert inside.wait(SECONDS)
    for name, delay in (("d1", 4.0), ("b", 2.0), ("d2", 4.0), ("a", 1.0), ("d3", 4.0)):
        worker.schedule(lambda name=name: log.append(name), delay)  # type: ignore[misc]  # mypy does not infer the default
    clock.time = 3.0
    worker.schedule(lambda: log.append("c"))  # due at 3: after a and b, before the d's
    clock.time = 5.0
    leave.set()
    run(worker)
    assert log == ["a", "b", "c", "d1", "d2", "d3"]
    assert tested.group.shutdown(SECONDS)


def test_a_busy_loop_is_never_woken_and_a_sleeping_one_only_for_what_is_due_before() -> None:
    wakes = 0

    class Counting(EventLoop):
        __slots__ = ()

        def _open(self) -> None:
            nonlocal wakes
            wakes += 1
            super()._open()

    clock = FakeClock()
    tested = Counting(EventLoopGroup("test", None, clock))
    worker = LoopWorker(tested)
    inside, leave = threading.Event(), threading.Event()

    def block() -> None:
        inside.set()
        leave.wait(SECONDS)

    worker.schedule(block)
    assert inside.wait(SECONDS)
    assert wakes == 1  # the start of its thread
    for _ in range(1000):
        worker.schedule(lambda: None)
        worker.schedule(lambda: None, 10.0)
    assert wakes == 1
    leave.set()
    assert tested.group.shutdown(SECONDS)


def test_disposed_timers_leave_the_heap_and_the_inbox_of_a_sleeping_loop() -> None:
    clock = FakeClock()
    tested = loop(clock)
    worker = LoopWorker(tested)
    worker.schedule(lambda: None, 1.0)  # the event loop sleeps until then, so that later timers need not wake it
    run(worker)
    for _ in range(20_000):
        worker.schedule(lambda: None, 3600.0).dispose()
    run(worker)
    assert len(tested._heap) + len(tested._inbox) < 1500
    assert worker._actions == {} or len(worker._actions) == 1
    assert tested.group.shutdown(SECONDS)


def test_a_loop_that_was_closed_takes_nothing() -> None:
    tested = loop(FakeClock())
    tested.close()
    assert tested.submit(Task({}, 0.0, at_once=True)) is False
    assert tested._idle == {}
    assert inf == tested._wake_at


def test_an_action_that_is_over_before_schedule_returns_was_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it has disposed its worker, which closes the loop: DISPOSED would say that it never runs."""
    over = threading.Event()
    opened = EventLoop._open

    def open_and_wait(tested: EventLoop) -> None:
        opened(tested)
        assert over.wait(SECONDS)

    monkeypatch.setattr(EventLoop, "_open", open_and_wait)
    scheduler = NewThreadScheduler()
    worker = scheduler.create_worker()

    def act() -> None:
        worker.dispose()
        over.set()

    assert worker.schedule(act) is not DISPOSED
    assert worker.schedule(act) is DISPOSED
    assert scheduler.shutdown(SECONDS)


def test_an_action_that_a_closed_loop_will_not_run_was_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = EventLoop._open

    def close_and_open(tested: EventLoop) -> None:
        tested.group.shut = True
        opened(tested)

    monkeypatch.setattr(EventLoop, "_open", close_and_open)
    scheduler = NewThreadScheduler()
    assert scheduler.create_worker().schedule(lambda: None) is DISPOSED
    assert scheduler.shutdown(SECONDS)


# Executors ------------------------------------------------------------------------------------------------------------


class AtOnce(Executor):
    """Runs everything in ``submit``."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


def test_an_action_that_an_executor_has_run_before_schedule_returns_was_taken() -> None:
    scheduler = from_executor(AtOnce())
    worker = scheduler.create_worker()
    assert worker.schedule(worker.dispose) is not DISPOSED
    assert worker.schedule(worker.dispose) is DISPOSED
    assert scheduler.shutdown(SECONDS)


def test_an_executor_is_left_alone_by_shutdown() -> None:
    with ThreadPoolExecutor(1, thread_name_prefix="mine") as executor:
        scheduler = from_executor(executor)
        assert run(scheduler.create_worker()).name == "mine_0"
        assert scheduler.shutdown(SECONDS)
        assert executor.submit(lambda: 5).result(SECONDS) == 5
        with pytest.raises(RuntimeError, match="was shut down"):
            scheduler.create_worker()


def test_a_dead_executor_raises_where_one_schedules() -> None:
    executor = ThreadPoolExecutor(1)
    scheduler = from_executor(executor)
    worker = scheduler.create_worker()
    executor.shutdown()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="after shutdown"):
            worker.schedule(lambda: None)
    assert scheduler.shutdown(SECONDS)


def test_an_executor_with_one_thread_serves_two_busy_workers_in_turn() -> None:
    with ThreadPoolExecutor(1) as executor:
        scheduler = from_executor(executor)
        busy, other = scheduler.create_worker(), scheduler.create_worker()
        stop = threading.Event()

        def again() -> None:
            if not stop.is_set():
                busy.schedule(again)

        busy.schedule(again)
        run(other)
        stop.set()
        assert scheduler.shutdown(SECONDS)


def test_executors_that_cannot_work_are_refused() -> None:
    with ProcessPoolExecutor(1) as processes, pytest.raises(TypeError, match="ThreadPoolExecutor"):
        from_executor(processes)
    with pytest.raises(TypeError, match="needs an Executor"):
        from_executor("pool")  # type: ignore[arg-type]  # the mistake


# The process ----------------------------------------------------------------------------------------------------------


def python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, env=os.environ, check=False
    )


def test_a_program_ends_although_something_repeats_for_ever() -> None:
    ran = python(
        "import threading\n"
        "from rx_schedulers import computation, io\n"
        "started = threading.Event()\n"
        "worker = computation().create_worker()\n"
        "def again(): started.set(); worker.schedule(again, 0.0)\n"
        "worker.schedule(again)\n"
        "io().create_worker().schedule(lambda: None, 3600.0)\n"
        "assert started.wait(20)\n"
        "print('end')\n"
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("end\n", "", 0)


def test_the_last_action_may_finish_before_the_program_ends() -> None:
    ran = python(
        "import threading\n"
        "from rx_schedulers import io\n"
        "inside, never = threading.Event(), threading.Event()\n"
        "def act(): inside.set(); never.wait(0.05); print('written')\n"
        "io().create_worker().schedule(act)\n"
        "assert inside.wait(20)\n"
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("written\n", "", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_child_can_use_the_schedulers_of_its_parent() -> None:
    ran = python(
        "import os, threading, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "from rx_schedulers import single\n"
        "def run():\n"
        "    done = threading.Event()\n"
        "    single().create_worker().schedule(done.set)\n"
        "    return done.wait(20)\n"
        "assert run()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if run() else 1)\n"
        "_, status = os.waitpid(child, 0)\n"
        "print(os.waitstatus_to_exitcode(status), run())\n"
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("0 True\n", "", 0)


# The shared ones ------------------------------------------------------------------------------------------------------


def test_the_functions_return_shared_schedulers() -> None:
    for name in ("computation", "io", "single", "new_thread", "trampoline", "immediate"):
        function = getattr(rx_schedulers, name)
        assert function() is function()

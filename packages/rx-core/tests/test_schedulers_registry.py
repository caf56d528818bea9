"""Finding schedulers by name."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import pytest

from rx_core import (
    DISPOSED,
    Disposable,
    Scheduler,
    SchedulerNotFoundError,
    SchedulerRegistry,
    Worker,
    _hooks,
    on_schedule,
)
from rx_core._schedulers import Action


class InlineWorker(Worker):
    def __init__(self) -> None:
        self.disposed = False

    def schedule(self, action: Action, /, delay: float = 0.0) -> Disposable:
        on_schedule(action)()
        return DISPOSED

    def now(self) -> float:
        return 0.0

    def dispose(self) -> None:
        self.disposed = True

    @property
    def is_disposed(self) -> bool:
        return self.disposed


class InlineScheduler(Scheduler):
    def __init__(self) -> None:
        self.workers: list[InlineWorker] = []

    def create_worker(self) -> Worker:
        self.workers.append(InlineWorker())
        return self.workers[-1]

    def now(self) -> float:
        return 0.0

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        return True


def test_a_scheduler_is_made_at_its_first_use_and_shared() -> None:
    registry = SchedulerRegistry()
    made: list[InlineScheduler] = []

    def make() -> Scheduler:
        made.append(InlineScheduler())
        return made[-1]

    registry.register("inline", make)
    assert made == []
    assert registry.get("inline") is registry.get("inline")
    assert len(made) == 1
    assert registry.names() == ["inline"]


def test_the_last_registration_wins_and_the_one_before_can_come_back() -> None:
    registry = SchedulerRegistry()
    registry.register("x", InlineScheduler)
    first = registry.get("x")
    registry.register("x", lambda: InlineScheduler())
    assert registry.get("x") is not first
    registry.register("x", InlineScheduler)
    assert registry.get("x") is first
    registry.unregister("x")
    registry.unregister("x")
    registry.register("x", InlineScheduler)
    assert registry.get("x") is not first


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("io", "pip install rx-schedulers"),
        ("trio", "pip install rx-trio"),
        ("asyncio", "pip install rx-asyncio"),
        ("virtual", "pip install rx-testing"),
    ],
)
def test_a_missing_scheduler_names_the_package_to_install(name: str, remedy: str) -> None:
    registry = SchedulerRegistry()
    registry.register("inline", InlineScheduler)
    with pytest.raises(SchedulerNotFoundError, match=remedy) as caught:
        registry.get(name)
    assert "Installed schedulers: inline" in str(caught.value)
    assert "python -m rx_core plugins" in str(caught.value)
    assert isinstance(caught.value, LookupError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_a_missing_scheduler_that_nobody_knows() -> None:
    with pytest.raises(SchedulerNotFoundError, match="no package known to us has it"):
        SchedulerRegistry().get("moon")


def test_two_threads_that_ask_at_once_share_one() -> None:
    registry = SchedulerRegistry()
    both = threading.Barrier(2)

    def make() -> Scheduler:
        both.wait(20)  # both are making one
        return InlineScheduler()

    registry.register("x", make)
    got: list[Scheduler] = []
    threads = [threading.Thread(target=lambda: got.append(registry.get("x"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert got[0] is got[1]


def test_schedule_direct_gives_the_worker_back_even_after_a_failure() -> None:
    scheduler = InlineScheduler()
    with pytest.raises(ZeroDivisionError):
        scheduler.schedule_direct(lambda: 1 / 0)
    assert [worker.is_disposed for worker in scheduler.workers] == [True]


def test_on_schedule_without_a_hook_is_the_action_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def action() -> None: ...

    monkeypatch.setattr(_hooks, "on_schedule", None)
    assert on_schedule(action) is action
    monkeypatch.setattr(_hooks, "on_schedule", lambda action: print)
    assert on_schedule(action) is print


@pytest.mark.parametrize("given", [None, 5])
def test_what_is_no_function_is_refused_as_an_action_and_as_the_answer_of_a_hook(
    given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_hooks, "on_schedule", lambda action: given)
    with pytest.raises(TypeError, match=rf"schedule\(\) expected a function without arguments, got {given}"):
        on_schedule(given)
    with pytest.raises(TypeError, match=f"an rx_on_schedule hook returned {given}"):
        on_schedule(print)

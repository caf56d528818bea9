"""The leak check finds subscriptions, workers and actions that are left behind, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from rx_core import BaseDisposable, Disposable, Scheduler, Worker
from rx_testing import LeakWatch, ManualPublisher, TestSubscriber, VirtualScheduler, cold, hot


def left(watch: LeakWatch) -> list[str]:
    return [repr(each) for each in watch.left()]


def test_a_subscription_that_goes_on() -> None:
    publisher = ManualPublisher[int]()
    subscriber = TestSubscriber[int](request=3)
    with LeakWatch().open() as watch:
        publisher.subscribe(subscriber)
        publisher.next(1)
    assert left(watch) == ["a subscription of a ManualPublisher: requested 3, sent 1, neither cancelled nor ended"]
    subscriber.cancel()
    assert left(watch) == []


@pytest.mark.parametrize("unchecked", [False, True])
@pytest.mark.parametrize("end", ["complete", "error", "cancel"])
def test_a_subscription_that_is_over(end: str, unchecked: bool) -> None:
    publisher = ManualPublisher[int](unchecked=unchecked)
    subscriber = TestSubscriber[int]()
    with LeakWatch().open() as watch:
        publisher.subscribe(subscriber)
        if end == "cancel":
            subscriber.cancel()
        elif end == "error":
            publisher.error(ValueError())
        else:
            publisher.complete()
    assert left(watch) == []


def test_what_happens_before_and_after_is_not_seen() -> None:
    publisher = ManualPublisher[int]()
    publisher.subscribe(TestSubscriber())
    with LeakWatch().open() as watch:
        pass
    publisher.subscribe(TestSubscriber())
    assert left(watch) == []


def test_anybodys_publisher_can_be_watched() -> None:
    class Silent:
        def subscribe(self, subscriber: Any, /) -> None:
            subscriber.on_subscribe(self)

        def request(self, n: int, /) -> None: ...

        def cancel(self) -> None: ...

        def __repr__(self) -> str:
            return "Silent()"

    watch = LeakWatch()
    subscriber = TestSubscriber[Any]()
    watch.publisher(Silent()).subscribe(subscriber)
    assert left(watch) == ["a subscription of Silent(): neither cancelled nor ended"]
    subscriber.cancel()
    assert left(watch) == []


def test_a_watched_publisher_is_the_same_publisher() -> None:
    clock = VirtualScheduler()
    for text in ("-a-b|", "-a#"):
        watch = LeakWatch()
        plain, watched = TestSubscriber[Any](), TestSubscriber[Any]()
        source = cold(clock, text)
        source.subscribe(plain)
        watch.publisher(source).subscribe(watched)
        assert len(left(watch)) == 1
        clock.advance_by(10)
        assert left(watch) == []
        assert (watched.values, len(watched.errors), watched.completions) == (plain.values, len(plain.errors), plain.completions)


def test_subscribing_nobody_is_still_an_error() -> None:
    with pytest.raises(TypeError):
        LeakWatch().publisher(cold(VirtualScheduler(), "|")).subscribe(None)  # type: ignore[arg-type]


def test_a_virtual_worker_with_work() -> None:
    clock = VirtualScheduler()
    with LeakWatch().open() as watch:
        worker = clock.create_worker()
        worker.schedule(list, 1.0)
    assert left(watch) == ["a worker of VirtualScheduler(now=0.0, pending=1): not disposed, 1 actions wait on it"]
    worker.dispose()
    assert left(watch) == []


def test_a_hot_source_is_the_tests_own_affair() -> None:
    clock = VirtualScheduler()
    with LeakWatch().open() as watch:
        source = hot(clock, "-a-b")
        cold(clock, "-a|").subscribe(TestSubscriber())
        clock.advance_by(1)
    assert left(watch) == [f"a worker of {clock!r}: not disposed, 1 actions wait on it"]
    assert repr(source) == "Hot('-a-b')"


def test_a_virtual_scheduler_that_was_shut_down_has_no_workers() -> None:
    clock = VirtualScheduler()
    with LeakWatch().open() as watch:
        clock.create_worker()
    clock.shutdown()
    assert left(watch) == []


class Pending(Scheduler):
    """Keeps what is scheduled."""

    def __init__(self) -> None:
        self.actions: list[Any] = []

    def create_worker(self) -> Worker:
        return PendingWorker(self)

    def now(self) -> float:
        return 7.0

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        return True

    def __repr__(self) -> str:
        return "Pending()"


class PendingWorker(Worker):
    quantum = 5

    def __init__(self, scheduler: Pending) -> None:
        self.scheduler = scheduler
        self.over = False

    def schedule(self, action: Any, /, delay: float = 0.0) -> Disposable:
        self.scheduler.actions.append(action)
        return Flag()

    def now(self) -> float:
        return 7.0

    def dispose(self) -> None:
        self.over = True

    @property
    def is_disposed(self) -> bool:
        return self.over


class Flag(BaseDisposable):
    def __init__(self) -> None:
        self.over = False

    def dispose(self) -> None:
        self.over = True

    @property
    def is_disposed(self) -> bool:
        return self.over


def test_any_scheduler_can_be_watched() -> None:
    inner = Pending()
    watch = LeakWatch()
    scheduler = watch.scheduler(inner)
    worker = scheduler.create_worker()
    assert (scheduler.now(), worker.now(), worker.quantum, repr(scheduler)) == (7.0, 7.0, 5, "Pending()")
    ran: list[int] = []
    first, _ = worker.schedule(lambda: ran.append(1)), worker.schedule(lambda: ran.append(2), 1.0)
    assert left(watch) == ["a worker of Pending(): not disposed, 2 actions wait on it"]
    first.dispose()
    assert first.is_disposed
    assert left(watch) == ["a worker of Pending(): not disposed, 1 actions wait on it"]
    inner.actions[1]()
    assert ran == [2]
    assert left(watch) == ["a worker of Pending(): not disposed, 0 actions wait on it"]
    worker.dispose()
    assert worker.is_disposed
    assert left(watch) == []
    assert scheduler.shutdown()


def test_what_another_thread_is_just_ending_is_waited_for() -> None:
    publisher = ManualPublisher[int]()
    subscriber = TestSubscriber[int]()
    with LeakWatch().open() as watch:
        publisher.subscribe(subscriber)
    threading.Timer(0.01, subscriber.cancel).start()
    assert watch.left(10) == []


def test_the_fixture_fails_a_test_that_leaks(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent("""
            from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

            def test_clean(no_leaks):
                publisher = ManualPublisher()
                publisher.subscribe(TestSubscriber())
                publisher.complete()
                VirtualScheduler().create_worker().dispose()

            def test_leaking(no_leaks):
                ManualPublisher().subscribe(TestSubscriber())
                no_leaks.scheduler(VirtualScheduler()).create_worker()
        """),
        encoding="utf-8",
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    program = "import rx_testing.pytest_plugin as plugin; plugin._PATIENCE_SECONDS = 0; import pytest; pytest.main(['-q', '.'])"
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert "2 passed" in ran.stdout
    assert "1 error" in ran.stdout
    assert "3 left behind" in ran.stdout  # the virtual worker twice: seen by itself, and watched
    assert "a worker of VirtualScheduler(now=0.0, pending=0): not disposed, 0 actions wait on it" in ran.stdout

"""Workers that take no action: a stream that needs one ends with the error, instead of waiting for ever."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import rx_schedulers
from rx_core import DISPOSED, Disposable, Scheduler, Worker
from rx_ops import Flowable, PublishProcessor
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

Flow = Flowable[Any]


class Full(RuntimeError):
    pass


class FullWorker(Worker):
    """Takes ``room`` actions, which run at once; then none. It raises or says so."""

    def __init__(self, room: int, raises: bool) -> None:
        self.room = room
        self.raises = raises

    def schedule(self, action: Callable[[], object], /, delay: float = 0.0) -> Disposable:
        if not self.room:
            if self.raises:
                raise Full("no room")
            return DISPOSED
        self.room -= 1
        return VirtualScheduler().create_worker().schedule(action)  # it will not run

    def now(self) -> float:
        return 0.0

    def dispose(self) -> None:
        pass

    @property
    def is_disposed(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "full"


class FullScheduler(Scheduler):
    def __init__(self, room: int = 0, raises: bool = True) -> None:
        self.room = room
        self.raises = raises

    def create_worker(self) -> Worker:
        return FullWorker(self.room, self.raises)

    def now(self) -> float:
        return 0.0

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        return True


NUMBERS = Flowable.range(3)
PUSHED = NUMBERS.hide()
NEVER: Flow = Flowable.wrap(ManualPublisher())

STREAMS: dict[str, Callable[[Scheduler], Flow]] = {
    "observe_on, passive": NUMBERS.observe_on,
    "observe_on": PUSHED.observe_on,
    "observe_on, silent": NEVER.observe_on,
    "subscribe_on": PUSHED.subscribe_on,
    "parallel": lambda full: NUMBERS.parallel(2).run_on(full).sequential(),
    "timer": lambda full: Flowable.timer(1.0, scheduler=full),
    "interval": lambda full: Flowable.interval(1.0, scheduler=full),
    "delay": lambda full: PUSHED.delay(1.0, scheduler=full),
    "delay of the end": lambda full: Flowable.range(0).hide().delay(1.0, scheduler=full),
    "delay_subscription": lambda full: NUMBERS.delay_subscription(1.0, scheduler=full),
    "timeout": lambda full: NEVER.timeout(1.0, scheduler=full),
    "debounce": lambda full: PUSHED.concat_with(NEVER).debounce(1.0, scheduler=full),
    "sample": lambda full: NEVER.sample(1.0, scheduler=full),
    "throttle_latest": lambda full: PUSHED.concat_with(NEVER).throttle_latest(1.0, scheduler=full),
    "retry_backoff": lambda full: Flowable.error(ValueError).retry_backoff(3, 1.0, scheduler=full),
    "rate_limit": lambda full: NUMBERS.rate_limit(1, 1.0, scheduler=full),
    "buffer": lambda full: NEVER.buffer(seconds=1.0, scheduler=full),
    "buffer, overlapping": lambda full: NEVER.buffer(seconds=2.0, every=1.0, scheduler=full),
    "window": lambda full: NEVER.window(seconds=1.0, scheduler=full),
    "window, restarting": lambda full: NEVER.window(count=3, seconds=1.0, restart=True, scheduler=full),
}


@pytest.mark.parametrize("raises", [True, False], ids=["raises", "says so"])
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_ends_with_the_error_of_a_worker_that_takes_no_action(name: str, raises: bool) -> None:
    subscriber = TestSubscriber[Any]()
    STREAMS[name](FullScheduler(raises=raises)).subscribe(subscriber)
    (error,) = subscriber.errors
    assert isinstance(error, Full) if raises else "full was shut down" in str(error)


@pytest.mark.parametrize("raises", [True, False], ids=["raises", "says so"])
def test_observe_on_ends_when_its_worker_takes_no_further_action(raises: bool) -> None:
    with ThreadPoolExecutor(1) as pool:
        worker = rx_schedulers.from_executor(pool)
        processor = PublishProcessor[int]()
        subscriber = TestSubscriber[int]()
        processor.observe_on(worker).subscribe(subscriber)
        processor.on_next(1)
        subscriber.await_count(1, seconds=10.0)
        if raises:
            pool.shutdown()
        else:
            assert worker.shutdown()
        processor.on_next(2)
    subscriber.await_terminal(seconds=10.0)
    assert subscriber.values == [1]
    assert "shutdown" in str(subscriber.error) if raises else "was shut down" in str(subscriber.error)
    assert not processor.has_subscribers


def test_a_wait_of_ref_count_that_no_worker_takes_is_none() -> None:
    processor = PublishProcessor[int]()
    shared = processor.publish().ref_count(1, 5.0, scheduler=FullScheduler(raises=False))
    shared.subscribe().dispose()
    assert not processor.has_subscribers


def test_an_action_that_runs_at_once_is_not_one_that_is_refused() -> None:
    here = rx_schedulers.immediate()
    assert NUMBERS.rate_limit(1, 0.001, scheduler=here).blocking_list() == [0, 1, 2]
    subscriber = TestSubscriber[int](1)
    NUMBERS.on_backpressure_timeout(0.001, scheduler=here).subscribe(subscriber)
    subscriber.request(5)
    assert not subscriber.errors
    asked = TestSubscriber[int](1)
    Flowable.range(9).subscribe_on(here).subscribe(asked)
    asked.request(100)
    assert asked.values == list(range(9))

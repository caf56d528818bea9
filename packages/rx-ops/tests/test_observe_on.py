"""``observe_on`` behind a source that pushes: what waits for the worker, what overtakes it, and who is cancelled when."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest
from ops_parties import errors_of_the_hook

from rx_core import Disposable, Scheduler, Worker
from rx_ops import Completable, Flowable, Maybe, Observable, PublishProcessor, PublishSubject, Single
from rx_schedulers import immediate, single, trampoline
from rx_testing import ManualPublisher, TestMaybeObserver, TestObserver, TestSubscriber, VirtualScheduler


@pytest.fixture
def clock() -> VirtualScheduler:
    return VirtualScheduler()


class Boom(Exception):
    pass


def over(clock: Scheduler, request: int | None = None, **options: Any) -> tuple[ManualPublisher[Any], TestSubscriber[Any]]:
    source: ManualPublisher[Any] = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber() if request is None else TestSubscriber(request=request)
    Flowable.wrap(source).observe_on(clock, **options).subscribe(got)
    return source, got


# -- order and errors ----------------------------------------


def test_items_wait_for_the_worker_and_come_in_order(clock: VirtualScheduler) -> None:
    source, got = over(clock)
    source.next(1, 2, 3)
    source.complete()
    got.assert_empty()
    clock.run_due()
    got.assert_result(1, 2, 3)


def test_an_error_overtakes_the_items_that_wait(clock: VirtualScheduler) -> None:
    source, got = over(clock)
    source.next(1, 2)
    source.error(Boom())
    clock.run_due()
    got.assert_failure(Boom)


def test_an_error_that_comes_while_the_worker_delivers_overtakes_the_rest(clock: VirtualScheduler) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber(on_value=lambda value: source.error(Boom()) if value == 2 else None)
    Flowable.wrap(source).observe_on(clock).subscribe(got)
    source.next(1, 2, 3, 4)
    clock.run_due()
    got.assert_failure(Boom, 1, 2)


def test_an_error_waits_behind_the_items_if_told_to(clock: VirtualScheduler) -> None:
    source, got = over(clock, request=1, delay_error=True)
    source.next(1, 2)
    source.error(Boom())
    clock.run_due()
    got.assert_values(1).assert_not_terminated()
    got.request(1)
    clock.run_due()
    got.assert_failure(Boom, 1, 2)


class FailsAfterTwo:
    def __iter__(self) -> Iterator[int]:
        yield 1
        yield 2
        raise Boom


WALLS: dict[str, Callable[[Flowable[int]], Flowable[int]]] = {
    "open": lambda flow: flow,
    "wall": lambda flow: flow.hide(),
    "two walls": lambda flow: flow.hide().map(lambda x: x).hide(),
}


@pytest.mark.parametrize("wall", WALLS)
def test_the_error_of_a_synchronous_source_comes_behind_its_items_walls_or_not(wall: str, clock: VirtualScheduler) -> None:
    got: TestSubscriber[int] = TestSubscriber()
    WALLS[wall](Flowable.from_iterable(FailsAfterTwo())).observe_on(clock).subscribe(got)
    clock.run_due()
    got.assert_failure(Boom, 1, 2)


# -- when it subscribes, and when it cancels ----------------------------------------


def test_the_source_is_subscribed_with_the_stream_and_not_at_the_worker_s_first_turn(clock: VirtualScheduler) -> None:
    hot: PublishProcessor[int] = PublishProcessor()
    got: TestSubscriber[int] = TestSubscriber()
    hot.start_with(8).observe_on(clock).subscribe(got)
    hot.on_next(9)
    clock.run_due()
    got.assert_values(8, 9)


def test_a_source_that_pushes_is_cancelled_at_once_and_not_at_the_worker_s_next_turn(clock: VirtualScheduler) -> None:
    source, got = over(clock)
    source.next(1)
    got.cancel()
    assert source.cancelled
    clock.run_due()
    got.assert_no_values()


def test_a_cancel_between_two_turns_leaves_nothing_on_the_worker(clock: VirtualScheduler) -> None:
    source, got = over(clock)
    clock.run_due()
    source.next(1)
    got.cancel()
    assert clock.pending == 0


@pytest.mark.parametrize("wall", WALLS)
def test_the_generator_of_a_synchronous_source_is_closed_on_the_worker_walls_or_not(wall: str, clock: VirtualScheduler) -> None:
    closed: list[str] = []

    def numbers() -> Iterator[int]:
        try:
            yield from iter(int, 1)
        finally:
            closed.append("closed")

    class Anew:
        def __iter__(self) -> Iterator[int]:
            return numbers()

    got: TestSubscriber[int] = TestSubscriber(request=2)
    WALLS[wall](Flowable.from_iterable(Anew())).observe_on(clock).subscribe(got)
    clock.run_due()
    got.cancel()
    assert not closed
    clock.run_due()
    assert closed == ["closed"]


# -- the worker ----------------------------------------


def test_what_the_subscriber_raises_on_the_worker_goes_to_the_error_hook_and_cancels(clock: VirtualScheduler) -> None:
    class Failing(TestSubscriber[Any]):
        def on_next(self, item: Any, /) -> None:
            super().on_next(item)
            raise Boom

    source: ManualPublisher[int] = ManualPublisher()
    flows: list[Flowable[int]] = [Flowable.wrap(source), Flowable.range(5)]
    for flow in flows:
        got = Failing()
        flow.observe_on(clock).subscribe(got)
        if flow is flows[0]:
            source.next(1, 2)
        with errors_of_the_hook() as errors:
            clock.run_due()
        assert [type(error) for error in errors] == [Boom]
        assert len(got.values) == 1
    assert source.cancelled


@pytest.mark.parametrize("scheduler", [immediate(), trampoline()], ids=repr)
def test_a_worker_that_runs_inside_schedule_delivers_at_once(scheduler: Scheduler) -> None:
    source, got = over(scheduler)
    source.next(1)
    got.assert_values(1)
    source.next(2)
    source.complete()
    got.assert_result(1, 2)
    synchronous: TestSubscriber[int] = TestSubscriber(request=1)
    Flowable.range(3).observe_on(scheduler).subscribe(synchronous)
    synchronous.assert_values(0)
    synchronous.request(5)
    synchronous.assert_result(0, 1, 2)


def test_a_scheduler_that_is_shut_down_ends_the_stream_with_an_error(clock: VirtualScheduler) -> None:
    source, got = over(clock)
    clock.run_due()
    clock.shutdown()
    source.next(1)
    got.assert_error(RuntimeError, match="shut down")
    assert source.cancelled


def test_a_scheduler_that_gives_no_worker_is_the_error_of_the_stream(clock: VirtualScheduler) -> None:
    clock.shutdown()
    source, got = over(clock)
    got.assert_error(RuntimeError)
    assert not source.subscriptions


class _Turns(Worker):
    """A cooperative worker: three items, and its turn is over."""

    quantum: ClassVar[int | None] = 3

    def __init__(self, clock: VirtualScheduler) -> None:
        self.worker = clock.create_worker()
        self.turns = 0

    def schedule(self, action: Callable[[], object], /, delay: float = 0.0) -> Disposable:
        def counted() -> None:
            self.turns += 1
            action()

        return self.worker.schedule(counted, delay)

    def now(self) -> float:
        return self.worker.now()

    def dispose(self) -> None:
        self.worker.dispose()

    @property
    def is_disposed(self) -> bool:
        return self.worker.is_disposed


class Cooperative(Scheduler):
    def __init__(self, clock: VirtualScheduler) -> None:
        self.clock = clock
        self.made: list[_Turns] = []

    def create_worker(self) -> Worker:
        self.made.append(_Turns(self.clock))
        return self.made[-1]

    def now(self) -> float:
        return self.clock.now()

    def shutdown(self, timeout: float | None = None) -> bool:
        return True


@pytest.mark.parametrize("demand", [None, 100])
@pytest.mark.parametrize("wall", WALLS)
def test_a_cooperative_worker_has_a_turn_for_every_few_items(demand: int | None, wall: str, clock: VirtualScheduler) -> None:
    cooperative = Cooperative(clock)
    got: TestSubscriber[int] = TestSubscriber() if demand is None else TestSubscriber(request=demand)
    WALLS[wall](Flowable.range(10)).observe_on(cooperative).subscribe(got)
    other = clock.create_worker()
    seen: list[int] = []
    for _ in range(5):
        other.schedule(lambda: other.schedule(lambda: seen.append(len(got.values))))
    clock.run_due()
    other.dispose()
    got.assert_result(*range(10))
    assert cooperative.made[0].turns >= 4
    assert any(0 < count < 10 for count in seen)


@pytest.mark.parametrize("delay_error", [False, True])
def test_a_cooperative_worker_takes_turns_with_what_pushes_too(delay_error: bool, clock: VirtualScheduler) -> None:
    source, got = over(Cooperative(clock), delay_error=delay_error)
    source.next(*range(10))
    source.complete()
    clock.run_due()
    got.assert_result(*range(10))


# -- the other types ----------------------------------------


def test_an_observable_waits_for_the_worker_however_much_it_sends(clock: VirtualScheduler) -> None:
    subject: PublishSubject[int] = PublishSubject()
    got: TestObserver[int] = TestObserver()
    subject.observe_on(clock).subscribe(got)
    for item in range(1000):
        subject.on_next(item)
    got.assert_no_values()
    subject.on_complete()
    clock.run_due()
    got.assert_result(*range(1000))
    assert Observable.range(3).observe_on(single()).blocking_list() == [0, 1, 2]


@pytest.mark.parametrize("kind", [Single, Maybe, Completable])
def test_types_of_at_most_one_item_wait_for_the_worker(kind: Any, clock: VirtualScheduler) -> None:
    got: TestMaybeObserver[Any] = TestMaybeObserver()
    failed: TestMaybeObserver[Any] = TestMaybeObserver()
    (kind.complete() if kind is Completable else kind.just(1)).observe_on(clock).subscribe(got)
    kind.error(Boom()).observe_on(clock).subscribe(failed)
    assert not got.is_terminated
    assert not failed.is_terminated
    clock.run_due()
    got.assert_complete()
    failed.assert_failure(Boom)

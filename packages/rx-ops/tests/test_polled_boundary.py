"""``observe_on`` behind a source that can simply be iterated: its worker does that, in one loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event, get_ident
from typing import Any

import pytest

from rx_core import BufferWatch, ProtocolViolationError
from rx_core.queue_fusion import ANY, ASYNC, BOUNDARY
from rx_ops import Flowable, Maybe, Single
from rx_schedulers import single
from rx_testing import TestSubscriber, VirtualScheduler


def run(flow: Any, request: int | None = None) -> TestSubscriber[Any]:
    got: TestSubscriber[Any] = TestSubscriber() if request is None else TestSubscriber(request=request)
    flow.subscribe(got)
    return got


@pytest.fixture
def clock() -> VirtualScheduler:
    return VirtualScheduler()


def test_stages_on_both_sides_and_nothing_before_the_worker_has_its_turn(clock: VirtualScheduler) -> None:
    calls: list[int] = []

    def noted(item: int) -> int:
        calls.append(item)
        return item

    got = run(Flowable.range(10).map(noted).observe_on(clock).filter(lambda x: x % 2).map(lambda x: x * 10))
    assert not calls
    clock.run_due()
    got.assert_result(10, 30, 50, 70, 90)
    assert calls == [*range(10)]


def test_a_known_end_needs_no_further_demand(clock: VirtualScheduler) -> None:
    bare = run(Flowable.range(3).observe_on(clock), request=3)
    behind = run(Flowable.range(3).observe_on(clock).map(lambda x: x + 1), request=3)
    enough = run(Flowable.range(9).take(3).observe_on(clock), request=3)
    clock.run_due()
    bare.assert_result(0, 1, 2)
    behind.assert_result(1, 2, 3)
    enough.assert_result(0, 1, 2)


def test_no_more_is_computed_than_is_wanted(clock: VirtualScheduler) -> None:
    calls: list[int] = []
    got = run(Flowable.range(100).do_on_next(calls.append).observe_on(clock).map(lambda x: x), request=2)
    clock.run_due()
    got.request(3)
    clock.run_due()
    got.assert_values(0, 1, 2, 3, 4).assert_not_terminated()
    assert len(calls) == 5


@pytest.mark.parametrize("behind", [False, True])
def test_an_error_of_a_function_comes_behind_its_items_with_its_note(behind: bool, clock: VirtualScheduler) -> None:
    flow = Flowable.of(2, 1, 0, 5)
    got = run(
        flow.observe_on(clock).map(lambda x: 10 // x) if behind else flow.map(lambda x: 10 // x).observe_on(clock).filter(bool)
    )
    clock.run_due()
    got.assert_failure(ZeroDivisionError, 5, 10)
    assert any(".map(" in note for note in got.error.__notes__)  # type: ignore[union-attr]


def test_a_none_of_the_source_is_the_source_s_error(clock: VirtualScheduler) -> None:
    got = run(Flowable.from_iterable([1, None, 2]).observe_on(clock).map(lambda x: x))
    clock.run_due()
    got.assert_failure(TypeError, 1)
    assert "from_iterable" in str(got.error)


def test_a_cancel_in_on_next_closes_the_source(clock: VirtualScheduler) -> None:
    seen: list[str] = []

    def endless() -> Iterator[int]:
        try:
            yield from iter(int, 1)
        finally:
            seen.append("closed")

    class Enough(TestSubscriber[int]):
        def on_next(self, item: int, /) -> None:
            super().on_next(item)
            if len(self.values) == 3:
                self.cancel()

    got = Enough()
    Flowable.defer(lambda: Flowable.from_iterable(endless())).observe_on(clock).subscribe(got)
    clock.run_due()
    bare = Enough()
    Flowable.range(10**9).observe_on(clock).subscribe(bare)
    clock.run_due()
    stages = Enough()
    Flowable.from_iterable(endless()).map(str).observe_on(clock).map(len).subscribe(stages)
    clock.run_due()
    for each in (got, bare, stages):
        assert len(each.values) == 3
        each.assert_not_terminated()
    assert seen == ["closed"] * 2


def test_everything_runs_on_the_worker() -> None:
    threads: set[int] = set()
    done = Event()

    def here(item: Any) -> Any:
        threads.add(get_ident())
        return item

    Flowable.range(1000).map(here).observe_on(single()).map(here).subscribe(here, on_complete=done.set)
    assert done.wait(10)
    assert len(threads) == 1
    assert get_ident() not in threads


def test_a_single_and_a_maybe(clock: VirtualScheduler) -> None:
    got: list[Any] = []
    Single.just(1).map(lambda x: x + 1).observe_on(clock).map(lambda x: x * 10).subscribe(got.append)
    Maybe.empty().observe_on(clock).subscribe(got.append, on_complete=lambda: got.append("empty"))
    assert not got
    clock.run_due()
    assert got == [20, "empty"]


def test_a_source_without_stages_in_windows_and_cancelled_in_one(clock: VirtualScheduler) -> None:
    got = run(Flowable.range(10).observe_on(clock), request=4)
    clock.run_due()
    got.assert_values(0, 1, 2, 3)
    got.request(4)
    got.cancel()
    clock.run_due()
    got.assert_values(0, 1, 2, 3).assert_not_terminated()


def test_one_boundary_fills_the_next_as_far_as_that_one_asks(clock: VirtualScheduler) -> None:
    taken: list[int] = []
    with BufferWatch() as watch:
        got = run(Flowable.range(100).do_on_next(taken.append).observe_on(clock).observe_on(clock, prefetch=8), request=5)
        clock.run_due()
        got.assert_values(*range(5))
        assert taken == [*range(8)]
        got.request(95)
        clock.run_due()
        got.assert_result(*range(100))
    assert watch.peaks == [8]


def test_a_boundary_that_fills_another_stops_when_that_one_is_cancelled(clock: VirtualScheduler) -> None:
    taken: list[int] = []
    got = run(Flowable.range(10**6).do_on_next(taken.append).observe_on(clock).observe_on(clock, prefetch=10**6).take(3))
    clock.run_due()
    got.assert_result(0, 1, 2)
    bare = run(Flowable.range(10**9).observe_on(clock).observe_on(clock, prefetch=4).take(3))
    clock.run_due()
    bare.assert_result(0, 1, 2)


# -- sources that break the protocol of polling ----------------------------------------------------------------------------


class Answering:
    """A publisher whose queue gives a fixed answer when it is asked for fusion; it introduces itself when told to."""

    def __init__(self, answer: Callable[[int], Any]) -> None:
        self._answer = answer
        self.cancelled = False

    def subscribe(self, subscriber: Any, /) -> None:
        self._down = subscriber

    def introduce(self) -> None:
        self._down.on_subscribe(self)

    def request_fusion(self, mode: int, /) -> Any:
        return self._answer(mode)

    def poll(self) -> Any:
        return None

    def is_empty(self) -> bool:
        return True

    def clear(self) -> None:
        pass

    def request(self, n: int, /) -> None:
        pass

    def cancel(self) -> None:
        self.cancelled = True


@pytest.mark.parametrize("answer", [ANY, ASYNC | BOUNDARY, 8, -1, "ASYNC"], ids=repr)
def test_a_mode_that_was_not_asked_for_is_a_violation_and_not_a_stream_without_end(
    answer: object, clock: VirtualScheduler
) -> None:
    source = Answering(lambda _mode: answer)
    got = run(Flowable.wrap(source).observe_on(clock))
    source.introduce()  # later: only the stream can be told
    clock.run_due()
    got.assert_error(ProtocolViolationError)
    assert "request_fusion" in str(got.error)
    assert source.cancelled


def test_a_source_that_fails_when_asked_to_be_polled_fails_the_stream(clock: VirtualScheduler) -> None:
    def fail(_mode: int) -> int:
        raise OSError("no")

    source = Answering(fail)
    got = run(Flowable.wrap(source).observe_on(clock))
    source.introduce()
    clock.run_due()
    got.assert_error(OSError)
    assert source.cancelled


def test_a_source_behind_functions_is_not_asked_because_they_would_move(clock: VirtualScheduler) -> None:
    asked: list[int] = []
    source = Answering(lambda mode: asked.append(mode))
    got = run(Flowable.wrap(source).filter(bool).observe_on(clock))
    source.introduce()
    clock.run_due()
    assert not asked
    got.assert_not_terminated()


def test_none_for_a_mode_is_a_refusal(clock: VirtualScheduler) -> None:
    source = Answering(lambda _mode: None)
    got = run(Flowable.wrap(source).observe_on(clock))
    source.introduce()
    clock.run_due()
    got.assert_not_terminated()
    source._down.on_complete()
    clock.run_due()
    got.assert_complete()

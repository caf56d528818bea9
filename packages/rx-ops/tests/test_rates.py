"""Items that come too fast: debounce, sample and throttle, at exact instants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ops_parties import Stage

from rx_core import MissingBackpressureError
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

Source = ManualPublisher[Any]


@pytest.fixture
def clock() -> VirtualScheduler:
    return VirtualScheduler()


# -- debounce ----------------------------------------------------------------------------------------------------------


def test_debounce_gives_an_item_after_a_pause(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.debounce(1.0, scheduler=clock))
    made.play({0.0: 1, 0.5: 2, 1.499: None})
    assert made.came == []
    made.play({1.5: None, 3.0: 3, 4.0: None, 4.5: "|"})
    assert made.came == [(1.5, 2), (4.0, 3)]
    made.got.assert_complete()


def test_debounce_gives_the_last_item_at_completion(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.debounce(1.0, scheduler=clock)).play({0.0: 1, 0.25: "|"})
    assert made.came == [(0.25, 1)]
    made.got.assert_complete()
    assert clock.pending == 0


def test_debounce_drops_the_last_item_at_an_error(clock: VirtualScheduler) -> None:
    error = OSError()
    made = Stage(clock, lambda s: s.debounce(1.0, scheduler=clock)).play({0.0: 1, 0.25: error})
    made.got.assert_failure(error)
    assert clock.pending == 0


def test_debounce_tells_what_it_drops(clock: VirtualScheduler) -> None:
    dropped: list[int] = []
    made = Stage(clock, lambda s: s.debounce(1.0, scheduler=clock, on_drop=dropped.append))
    made.play({0.0: 1, 0.5: 2, 1.5: None, 2.0: 3, 2.1: 4, 5.0: None})
    assert made.came == [(1.5, 2), (3.1, 4)]
    assert dropped == [1, 3]


def test_debounce_without_demand_is_an_error_when_the_item_is_due(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.debounce(1.0, scheduler=clock), request=1)
    made.play({0.0: 1, 1.0: None, 2.0: 2, 2.999: None})
    made.got.assert_not_terminated()
    made.play({3.0: None})
    made.got.assert_failure(MissingBackpressureError, 1)
    assert made.source.cancelled


def test_debounce_asks_for_everything_at_once(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.debounce(1.0, scheduler=clock), request=0)
    assert made.source.requested == 2**63 - 1


def test_debounce_waits_for_the_source_that_its_function_selects(clock: VirtualScheduler) -> None:
    selected: list[Source] = []

    def select(_item: Any) -> Source:
        selected.append(ManualPublisher())
        return selected[-1]

    made = Stage(clock, lambda s: s.debounce(selector=select))
    made.source.next(1)
    made.source.next(2)
    assert [each.cancelled for each in selected] == [True, False]
    made.got.assert_no_values()
    selected[1].next("now")
    made.got.assert_values(2)
    made.source.next(3)
    selected[2].complete()
    made.got.assert_values(2, 3)
    made.source.next(4)
    made.source.complete()
    made.got.assert_result(2, 3, 4)
    assert selected[3].cancelled


def test_an_error_of_the_selected_source_ends_debounce(clock: VirtualScheduler) -> None:
    error = OSError()
    made = Stage(clock, lambda s: s.debounce(selector=lambda _x: Flowable.error(error)))
    made.source.next(1)
    made.got.assert_failure(error)
    assert made.source.cancelled


def test_debounce_of_no_source_is_refused_with_the_call_shown(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.debounce(selector=lambda _x: 5))  # type: ignore[arg-type,return-value]  # the mistake
    made.source.next(1)
    made.got.assert_error(TypeError, match="debounce")
    assert made.source.cancelled


def test_a_cancelled_debounce_cancels_what_it_selected(clock: VirtualScheduler) -> None:
    selected: Source = ManualPublisher()
    made = Stage(clock, lambda s: s.debounce(selector=lambda _x: selected))
    made.source.next(1)
    made.got.cancel()
    assert made.source.cancelled
    assert selected.cancelled


# -- sample ------------------------------------------------------------------------------------------------------------


def test_sample_gives_the_newest_item_of_each_period(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.sample(1.0, scheduler=clock))
    made.play({0.1: 1, 0.9: 2, 1.5: 3, 3.2: 4, 4.5: 5, 4.75: "|"})
    assert made.came == [(1.0, 2), (2.0, 3), (4.0, 4)]
    made.got.assert_complete()
    assert clock.pending == 0


def test_sample_gives_the_last_item_too_if_told_to(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.sample(1.0, emit_last=True, scheduler=clock)).play({0.1: 1, 1.5: 2, 1.75: "|"})
    assert made.came == [(1.0, 1), (1.75, 2)]


def test_sample_follows_its_sampler_and_ends_with_it(clock: VirtualScheduler) -> None:
    sampler: Source = ManualPublisher()
    made = Stage(clock, lambda s: s.sample(sampler=sampler))
    sampler.next("nothing yet")
    made.source.next(1)
    made.source.next(2)
    sampler.next("now")
    sampler.next("nothing new")
    made.got.assert_values(2)
    made.source.next(3)
    sampler.complete()
    made.got.assert_result(2)
    assert made.source.cancelled


def test_sample_by_a_sampler_gives_the_last_item_too_if_told_to(clock: VirtualScheduler) -> None:
    sampler: Source = ManualPublisher()
    made = Stage(clock, lambda s: s.sample(sampler=sampler, emit_last=True))
    made.source.next(1)
    sampler.complete()
    made.got.assert_result(1)


def test_an_error_of_the_sampler_is_the_end(clock: VirtualScheduler) -> None:
    sampler: Source = ManualPublisher()
    made = Stage(clock, lambda s: s.sample(sampler=sampler))
    made.source.next(1)
    error = OSError()
    sampler.error(error)
    made.got.assert_failure(error)
    assert made.source.cancelled


def test_sample_tells_what_it_drops(clock: VirtualScheduler) -> None:
    dropped: list[int] = []
    made = Stage(clock, lambda s: s.sample(1.0, scheduler=clock, on_drop=dropped.append))
    made.play({0.1: 1, 0.2: 2, 1.1: 3, 1.2: 4, 2.0: None})
    assert made.came == [(1.0, 2), (2.0, 4)]
    assert dropped == [1, 3]


def test_sample_without_demand_is_an_error_at_the_end_of_the_period(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.sample(1.0, scheduler=clock), request=0).play({0.5: 1, 0.999: None})
    made.got.assert_not_terminated()
    made.play({1.0: None})
    made.got.assert_failure(MissingBackpressureError)


# -- throttle ----------------------------------------------------------------------------------------------------------


def test_throttle_first_lets_one_item_through_and_then_none_for_a_while(clock: VirtualScheduler) -> None:
    dropped: list[int] = []
    made = Stage(clock, lambda s: s.throttle_first(1.0, scheduler=clock, on_drop=dropped.append))
    made.play({0.25: 1, 0.5: 2, 1.249: 3, 1.25: 4, 1.5: 5, 9.0: 6, 9.5: "|"})
    assert made.came == [(0.25, 1), (1.25, 4), (9.0, 6)]
    assert dropped == [2, 3, 5]
    made.got.assert_complete()


def test_throttle_first_without_demand_is_an_error_for_an_item_that_passes(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.throttle_first(1.0, scheduler=clock), request=1).play({0.0: 1, 0.5: 2})
    made.got.assert_not_terminated()
    made.play({1.0: 3})
    made.got.assert_failure(MissingBackpressureError, 1)


def test_throttle_latest_lets_one_item_through_and_then_the_newest_of_each_period(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.throttle_latest(1.0, scheduler=clock))
    made.play({0.25: 1, 0.5: 2, 0.75: 3, 1.5: 4, 5.0: 5, 5.5: 6, 5.75: "|"})
    assert made.came == [(0.25, 1), (1.25, 3), (2.25, 4), (5.0, 5)]
    made.got.assert_complete()
    assert clock.pending == 0


def test_throttle_latest_gives_the_last_item_too_if_told_to(clock: VirtualScheduler) -> None:
    dropped: list[int] = []
    made = Stage(clock, lambda s: s.throttle_latest(1.0, emit_last=True, scheduler=clock, on_drop=dropped.append))
    made.play({0.0: 1, 0.25: 2, 0.5: 3, 0.75: "|"})
    assert made.came == [(0.0, 1), (0.75, 3)]
    assert dropped == [2]


def test_throttle_latest_without_demand_is_an_error_at_the_end_of_the_period(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.throttle_latest(1.0, scheduler=clock), request=1).play({0.0: 1, 0.5: 2, 0.999: None})
    made.got.assert_not_terminated()
    made.play({1.0: None})
    made.got.assert_failure(MissingBackpressureError, 1)


@pytest.mark.parametrize("name", ["debounce", "sample", "throttle_first", "throttle_latest"])
def test_what_on_drop_raises_is_an_error_that_names_the_operator(name: str, clock: VirtualScheduler) -> None:
    def fail(_item: object) -> None:
        raise StopIteration("mine")

    made = Stage(clock, lambda s: getattr(s, name)(1.0, scheduler=clock, on_drop=fail))
    made.play({0.0: 1, 0.1: 2, 0.2: 3} if name == "throttle_latest" else {0.0: 1, 0.1: 2})
    made.got.assert_error(StopIteration)
    assert any(name in note for note in getattr(made.got.error, "__notes__", ()))
    assert made.source.cancelled


@pytest.mark.parametrize("name", ["debounce", "sample", "throttle_latest"])
def test_what_another_item_replaced_is_not_held(name: str, clock: VirtualScheduler) -> None:
    import gc
    import weakref

    class Big:
        pass

    made = Stage(clock, lambda s: getattr(s, name)(1.0, scheduler=clock))
    made.source.next(Big())
    made.came.clear()
    made.got.values.clear()
    item = Big()
    gone = weakref.ref(item)
    made.source.next(item)
    made.source.next(Big())
    del item
    gc.collect()
    assert gone() is None


# -- a synchronous source, and a consumer on a thread of its own -------------------------------------------------------


@pytest.mark.parametrize("walls", [False, True])
@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda s, c: s.debounce(1.0, scheduler=c), [4]),
        (lambda s, c: s.debounce(selector=Flowable.just), [1, 2, 3, 4]),
        (lambda s, c: s.sample(1.0, emit_last=True, scheduler=c), [4]),
        (lambda s, c: s.throttle_first(1.0, scheduler=c), [1]),
        (lambda s, c: s.throttle_latest(1.0, scheduler=c), [1]),
        (lambda s, c: s.throttle_latest(1.0, emit_last=True, scheduler=c), [1, 4]),
    ],
)
def test_a_consumer_on_a_worker_gets_the_same(
    build: Callable[[Any, VirtualScheduler], Flowable[Any]], expected: list[int], walls: bool, clock: VirtualScheduler
) -> None:
    source = Flowable.of(1, 2, 3, 4).delay_subscription(0.5, scheduler=clock)  # when the worker has requested
    got: TestSubscriber[Any] = TestSubscriber()
    build(source.hide() if walls else source, clock).observe_on(clock).subscribe(got)
    clock.run_until_idle()
    got.assert_result(*expected)

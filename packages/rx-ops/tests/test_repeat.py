"""repeat and retry: rounds, what belongs to one of them, and a million of them."""

from __future__ import annotations

import gc
import threading
import traceback
import tracemalloc
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from rx_core import EmptyStreamError, hooks
from rx_fusion import fusion_off
from rx_ops import Completable, Flowable, Maybe, Observable, Single
from rx_testing import ManualPublisher, TestMaybeObserver, TestSubscriber, VirtualScheduler

MILLION = 1_000_000


OOPS = ValueError("oops")


# -- rounds ----------------------------------------------------------------------------------------------------------------


def test_repeat_gives_what_is_left_of_the_demand_to_the_next_round() -> None:
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[int](request=5)
    Flowable.wrap(source).repeat(2).subscribe(subscriber)
    source.next(1, 2)
    source.complete()
    source.next(3)
    source.complete()
    assert [each.requests for each in source.subscriptions] == [[5], [3]]
    subscriber.assert_result(1, 2, 3)


def test_repeat_subscribes_again_without_demand_and_takes_nothing() -> None:
    taken: list[int] = []
    subscriber = TestSubscriber[int](request=0)
    source = ManualPublisher[int]()
    Flowable.concat(Flowable.wrap(source).ignore_elements().to_flowable(), Flowable.of(1, 2).do_on_next(taken.append)).repeat(
        2
    ).subscribe(subscriber)
    source.complete()
    assert taken == []
    subscriber.request(1)
    assert taken == [1]


def test_repeat_for_ever_ends_with_its_consumer() -> None:
    assert Flowable.of(1, 2).repeat().take(5).blocking_list() == [1, 2, 1, 2, 1]


def test_no_round_is_no_subscription() -> None:
    source = ManualPublisher[int]()
    assert Flowable.wrap(source).repeat(0).blocking_list() == []
    assert not source.subscriptions


@pytest.mark.parametrize("times", [-1, 1.5, "2", True])
def test_a_wrong_number_of_rounds_is_refused_at_assembly(times: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="repeat"):
        Flowable.just(1).repeat(times)
    with pytest.raises((TypeError, ValueError), match="retry"):
        Single.just(1).retry(times)


def test_what_happens_at_the_end_of_a_source_happens_in_each_round() -> None:
    order: list[Any] = []
    flow = Flowable.of(1).do_finally(lambda: order.append("over"))
    flow.repeat(2).do_on_next(order.append).blocking_list()
    assert order == [1, "over", 1, "over"]


def test_the_last_round_is_over_after_the_end_was_signalled() -> None:
    order: list[Any] = []

    def run(flow: Flowable[int]) -> list[Any]:
        order.clear()
        flow.subscribe(order.append, on_error=order.append, on_complete=lambda: order.append("end"))
        return list(order)

    def over() -> None:
        order.append("over")

    assert run(Flowable.of(1).do_finally(over).repeat(2)) == [1, "over", 1, "end", "over"]
    failing = Flowable.of(1).concat_with(Flowable.error(OOPS)).do_finally(over)
    assert run(failing.retry(1)) == [1, "over", 1, OOPS, "over"]


IN_A_ROW: dict[str, Callable[[Flowable[Any], Flowable[Any]], Flowable[Any]]] = {
    "concat": Flowable.concat,
    "concat_map": lambda first, second: Flowable.of(first, second).concat_map(lambda each: each),
    "on_error_resume_next": lambda first, second: first.map(lambda _x: 1 // 0).on_error_resume_next(lambda _error: second),
    "switch_if_empty": lambda first, second: first.ignore_elements().to_flowable().switch_if_empty(second),
}


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("build", IN_A_ROW.values(), ids=list(IN_A_ROW))
def test_one_source_is_over_before_the_next_begins(
    build: Callable[[Flowable[Any], Flowable[Any]], Flowable[Any]], hidden: bool
) -> None:
    order: list[Any] = []
    first = Flowable.of(1).do_finally(lambda: order.append("first over"))
    second = Flowable.of(2).do_on_next(order.append).do_finally(lambda: order.append("second over"))
    flow = build(first.hide(), second.hide()) if hidden else build(first, second)
    flow.subscribe(lambda _item: None, on_complete=lambda: order.append("end"))
    if hidden:  # a stream of its own runs what is after its end by itself
        assert sorted(order, key=str) == sorted(["first over", 2, "end", "second over"], key=str)
        assert order.index("first over") < order.index(2)
    elif build in (IN_A_ROW["concat"], IN_A_ROW["concat_map"]):  # as in RxJava, which looks for a further source first
        assert order == ["first over", 2, "second over", "end"]
    else:
        assert order == ["first over", 2, "end", "second over"]


def test_an_alarm_of_one_round_does_not_go_off_in_the_next() -> None:
    clock = VirtualScheduler()
    source = ManualPublisher[int]()
    Flowable.wrap(source).timeout(1.0, scheduler=clock).retry().subscribe(TestSubscriber[int]())
    for _ in range(100):
        source.error(OOPS)
    assert clock.pending == 1


# -- many rounds -----------------------------------------------------------------------------------------------------------


def _grown(work: Callable[[int], object]) -> int:
    """How much more memory many rounds need at their peak than some."""
    peaks = []
    work(100)  # whatever is made once
    for rounds in (1_000, 10_000):
        gc.collect()
        tracemalloc.start()
        try:
            work(rounds)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return peaks[1] - peaks[0]


def _failing_times(failures: int, make: Callable[[], Exception]) -> Flowable[int]:
    left = iter(range(failures))

    def call() -> int:
        if next(left, None) is not None:
            raise make()
        return 7

    return Flowable.from_callable(call)


@pytest.mark.nightly
def test_a_million_repeats_are_a_loop() -> None:
    assert Flowable.just(1).repeat(MILLION).count().blocking_get() == MILLION


@pytest.mark.nightly
def test_a_million_retries_are_a_loop() -> None:
    assert _failing_times(MILLION, lambda: OOPS).retry().blocking_list() == [7]


ROUNDS: dict[str, Callable[[int], object]] = {
    "repeat": lambda n: Flowable.just(1).repeat(n).count().blocking_get(),
    "repeat one by one": lambda n: Flowable.just(1).repeat(n).subscribe(TestSubscriber(request=1, request_in_on_next=1)),
    "repeat foreign": lambda n: Flowable.just(1).hide().repeat(n).count().blocking_get(),
    "repeat with an end": lambda n: Flowable.just(1).do_finally(list).repeat(n).count().blocking_get(),
    "repeat_when": lambda n: Flowable.just(1).repeat_when(lambda ends: ends.take(n)).count().blocking_get(),
    "retry the same error": lambda n: _failing_times(n, lambda: OOPS).retry().blocking_list(),
    "retry new errors": lambda n: _failing_times(n, lambda: ValueError("new")).retry().blocking_list(),
    "retry alternating errors": lambda n: _alternating(n).retry().blocking_list(),
    "retry_when": lambda n: _failing_times(n, lambda: OOPS).retry_when(lambda errors: errors).blocking_list(),
}


def _alternating(failures: int) -> Flowable[int]:
    errors = [ValueError("one"), KeyError("two")]
    turn = iter(range(failures))
    return _failing_times(failures, lambda: errors[next(turn) % 2])


@pytest.mark.parametrize("mode", ["fused", "hidden", "off"])
@pytest.mark.parametrize("again", ["retry", "retry_when"])
def test_the_traceback_of_an_error_of_many_rounds_stays_short(again: str, mode: str) -> None:
    same = ValueError("the same in each round")

    def call() -> int:
        raise same

    source = Flowable.from_callable(call)
    hidden = source.hide() if mode == "hidden" else source
    flow = hidden.retry(500) if again == "retry" else hidden.retry_when(lambda errors: errors.take(500))
    with fusion_off() if mode == "off" else nullcontext():
        flow.subscribe(lambda _item: None, on_error=lambda _error: None)
    assert len(traceback.extract_tb(same.__traceback__)) < 150


@pytest.mark.parametrize("name", [name for name in ROUNDS if name != "repeat one by one"])
def test_many_rounds_need_no_more_memory_than_some(name: str) -> None:
    assert _grown(ROUNDS[name]) < 20_000  # 9,000 rounds more: two bytes each


def test_rounds_asked_for_one_by_one_do_not_deepen_the_stack() -> None:
    subscriber = TestSubscriber[int](request=1, request_in_on_next=1)
    Flowable.just(1).repeat(20_000).subscribe(subscriber)
    subscriber.assert_complete().assert_value_count(20_000)
    assert subscriber.max_depth <= 3


ENDLESS: dict[str, Callable[[], Flowable[Any]]] = {
    "retry": lambda: Flowable.error(OOPS).retry(),
    "retry when": lambda: Flowable.error(OOPS).retry(when=lambda _error: True),
    "retry foreign": lambda: Flowable.error(OOPS).hide().retry(),
    "repeat": lambda: Flowable.empty().repeat(),
    "repeat_until": lambda: Flowable.empty().repeat_until(lambda: False),
    "repeat_when": lambda: Flowable.empty().repeat_when(lambda ends: ends),
    "retry_when": lambda: Flowable.error(OOPS).retry_when(lambda errors: errors),
    "nested": lambda: Flowable.empty().repeat(10).repeat(),
    "inside": lambda: Flowable.of(1).concat_map(lambda _x: Flowable.error(OOPS).retry()),
}


@pytest.mark.parametrize("request_first", [True, False])
@pytest.mark.parametrize("name", ENDLESS)
def test_rounds_without_end_and_without_items_can_be_cancelled_from_another_thread(name: str, request_first: bool) -> None:
    subscriber = TestSubscriber[Any](request=1 if request_first else 0)
    flow = ENDLESS[name]()
    started = threading.Event()

    def work() -> None:
        started.set()
        flow.subscribe(subscriber)
        subscriber.request(1)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    started.wait(5)
    while not subscriber.is_subscribed:
        pass
    subscriber.cancel()
    thread.join(5)
    assert not thread.is_alive()
    subscriber.assert_empty()


# -- the other types -----------------------------------------------------------------------------------------------------------


def test_an_observable_is_repeated_and_retried() -> None:
    assert Observable.of(1, 2).repeat(2).blocking_list() == [1, 2, 1, 2]
    failing = Observable.of(1).concat_with(Observable.error(OOPS))
    assert failing.retry_when(lambda errors: errors.take(2)).blocking_list() == [1, 1]
    kinds: list[type] = []

    def handler(errors: Observable[Exception]) -> Observable[Exception]:
        kinds.append(type(errors))
        return errors.take(1)

    failing.retry_when(handler).blocking_list()
    assert kinds == [Observable]


def test_a_single_is_repeated_as_a_stream_and_retried_as_a_single() -> None:
    assert Single.just(1).repeat(3).blocking_list() == [1, 1, 1]
    assert Maybe.just(1).repeat_when(lambda ends: ends.take(2)).blocking_list() == [1, 1]
    assert Maybe.empty().repeat_until(lambda: True).blocking_list() == []
    assert _failing_times(3, lambda: OOPS).first().retry(3).blocking_get() == 7
    assert _failing_times(3, lambda: OOPS).first().retry_when(lambda errors: errors).blocking_get() == 7
    with pytest.raises(EmptyStreamError):
        Single.error(OOPS).retry_when(lambda errors: errors.take(1)).blocking_get()
    observer = TestMaybeObserver[int]()
    Maybe.error(OOPS).retry_when(lambda errors: errors.take(1)).subscribe(observer)
    observer.assert_complete()


def test_a_completable_is_repeated() -> None:
    done: list[int] = []
    action = Completable.from_action(lambda: done.append(1))
    action.repeat(3).blocking_await()
    action.repeat_until(lambda: len(done) == 5).blocking_await()
    action.repeat_when(lambda ends: ends.take(2)).blocking_await()
    assert len(done) == 7
    clock = VirtualScheduler()
    subscriber = TestSubscriber[Any]()
    Completable.error(OOPS).retry_backoff(1, 1.0, jitter=0, scheduler=clock).to_flowable().subscribe(subscriber)
    subscriber.assert_not_terminated()
    clock.advance_by(1.0)
    subscriber.assert_failure(OOPS)


def test_nothing_reaches_the_error_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.ensure_loaded()
    lost: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: lost.append(error))
    _failing_times(500, lambda: OOPS).retry().blocking_list()
    Flowable.error(OOPS).retry_when(lambda errors: errors.take(300)).blocking_list()
    assert lost == []

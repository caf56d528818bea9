"""exhaust_map, switch_on_first, zip_latest, fork_join, and errors that zip and concat delay."""

from __future__ import annotations

from typing import Any

import pytest

from rx_core import UNBOUNDED, CompositeException, Subscriber, hooks
from rx_fusion import fusion_enabled
from rx_ops import Flowable, Notification, Observable, OnComplete, OnError, OnNext
from rx_testing import ManualPublisher, TestSubscriber

OOPS = ValueError("oops")

Source = ManualPublisher[Any]


def sources(count: int) -> list[Source]:
    return [ManualPublisher() for _ in range(count)]


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """Errors that reach the error hook."""
    hooks.ensure_loaded()
    errors: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: errors.append(error))
    return errors


# -- exhaust_map ---------------------------------------------------------------------------------------------------------------


def exhausting(request: int = UNBOUNDED, **options: Any) -> tuple[Source, list[Source], TestSubscriber[Any]]:
    outer, *inners = sources(5)
    subscriber: TestSubscriber[Any] = TestSubscriber(request=request)
    Flowable.wrap(outer).exhaust_map(lambda x: inners[x], **options).subscribe(subscriber)
    return outer, inners, subscriber


def test_items_that_come_while_an_inner_source_runs_are_dropped() -> None:
    outer, inners, subscriber = exhausting()
    outer.next(0, 1)
    assert not inners[1].subscriptions
    inners[0].next("a")
    inners[0].complete()
    outer.next(2)
    inners[2].next("c")
    outer.complete()
    subscriber.assert_values("a", "c").assert_not_terminated()
    inners[2].complete()
    subscriber.assert_result("a", "c")


def test_an_inner_source_runs_until_its_last_item_has_gone_out() -> None:
    outer, inners, subscriber = exhausting(request=1)
    outer.next(0)
    inners[0].next("a", "b")
    inners[0].complete()
    outer.next(1)
    assert not inners[1].subscriptions
    subscriber.request(1)
    outer.next(2)
    assert inners[2].subscriptions
    subscriber.assert_values("a", "b")


def test_an_error_of_an_inner_source_ends_exhaust_map_at_once_or_when_all_are_over() -> None:
    outer, inners, subscriber = exhausting()
    outer.next(0)
    inners[0].error(OOPS)
    subscriber.assert_failure(ValueError)
    assert outer.cancelled
    outer, inners, subscriber = exhausting(delay_error=True)
    outer.next(0)
    inners[0].error(OOPS)
    outer.next(1)
    inners[1].next("b")
    inners[1].complete()
    subscriber.assert_values("b").assert_not_terminated()
    outer.complete()
    subscriber.assert_failure(ValueError, "b")


def test_an_item_from_inside_an_item_of_the_inner_source_is_dropped() -> None:
    outer, first = sources(2)
    mapped: list[int] = []

    def inner(x: int) -> Source:
        mapped.append(x)
        return first

    Flowable.wrap(outer).exhaust_map(inner).subscribe(lambda _item: outer.next(7))
    outer.next(1)
    first.next("a")
    assert mapped == [1]


# -- switch_on_first -----------------------------------------------------------------------------------------------------------


def test_the_first_item_chooses_and_is_part_of_the_whole() -> None:
    seen: list[Notification[int]] = []

    def choose(first: Notification[int], whole: Flowable[int]) -> Flowable[str]:
        seen.append(first)
        return whole.map(str)

    assert Flowable.range(1, 4).switch_on_first(choose).blocking_list() == ["1", "2", "3"]
    assert seen == [OnNext(1)]


def test_one_item_is_asked_for_in_advance_and_then_what_is_requested() -> None:
    source: Source = ManualPublisher()
    subscriber: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.wrap(source).switch_on_first(lambda first, whole: whole).subscribe(subscriber)
    requests = source.subscriptions[0].requests
    assert requests == [1]
    source.next("a")
    subscriber.assert_empty()
    subscriber.request(1)
    subscriber.assert_values("a")
    assert requests == [1]
    subscriber.request(2)
    assert requests == [1, 2]
    subscriber.request(UNBOUNDED)
    source.next("b", "c", "d")
    source.complete()
    subscriber.assert_result("a", "b", "c", "d")


@pytest.mark.parametrize("failing", [True, False])
def test_without_an_item_the_end_chooses(failing: bool) -> None:
    seen: list[Notification[int]] = []

    def choose(first: Notification[int], whole: Flowable[int]) -> Flowable[int]:
        seen.append(first)
        return whole.on_error_return(lambda error: -1)

    flow: Flowable[int] = Flowable.error(OOPS) if failing else Flowable.empty()
    assert flow.switch_on_first(choose).blocking_list() == ([-1] if failing else [])
    assert seen == [OnError(OOPS) if failing else OnComplete()]


def test_the_source_is_cancelled_when_what_was_chosen_is_over() -> None:
    source: Source = ManualPublisher()
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(source).switch_on_first(lambda first, whole: Flowable.of("x")).subscribe(subscriber)
    source.next("a")
    subscriber.assert_result("x")
    assert source.cancelled


def test_a_subscriber_of_the_whole_that_leaves_cancels_the_source_and_not_what_was_chosen() -> None:
    source, other = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(source).switch_on_first(lambda first, whole: whole.take(1).concat_with(other)).subscribe(subscriber)
    source.next("a")
    assert source.cancelled
    other.next("b")
    other.complete()
    subscriber.assert_result("a", "b")


def test_a_transformer_that_fails_ends_the_stream_and_cancels_the_source() -> None:
    source: Source = ManualPublisher()
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(source).switch_on_first(lambda first, whole: 1 // 0).subscribe(subscriber)  # type: ignore[arg-type, return-value]
    source.next("a")
    subscriber.assert_failure(ZeroDivisionError)
    assert source.cancelled
    failing: TestSubscriber[Any] = TestSubscriber()
    Flowable.error(OOPS).switch_on_first(lambda first, whole: 1 // 0).subscribe(failing)  # type: ignore[arg-type, return-value]
    failing.assert_error(CompositeException)


def test_what_is_no_source_is_named() -> None:
    with pytest.raises(TypeError, match=r"switch_on_first\(\) expected a function returning a publisher"):
        Flowable.of(1).switch_on_first(lambda first, whole: 3).blocking_list()  # type: ignore[arg-type, return-value]


def test_the_whole_allows_one_subscriber() -> None:
    with pytest.raises(RuntimeError, match="allows one subscriber"):
        Flowable.range(3).switch_on_first(lambda first, whole: whole.concat_with(whole)).blocking_list()


def test_an_error_that_no_subscriber_of_the_whole_could_be_given_reaches_the_error_hook(lost: list[Exception]) -> None:
    source, other = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(source).switch_on_first(lambda first, whole: other).subscribe(subscriber)
    source.next("a")
    source.error(OOPS)
    assert lost == []  # the whole may be subscribed still
    other.complete()
    subscriber.assert_result()
    assert lost == [OOPS]


def test_a_whole_that_is_subscribed_late_has_its_error() -> None:
    source, other = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(source).switch_on_first(lambda first, whole: Flowable.concat(other, whole)).subscribe(subscriber)
    source.next("a")
    source.error(OOPS)
    other.complete()
    subscriber.assert_failure(ValueError, "a")


def test_an_observable_is_not_asked_and_what_comes_early_waits() -> None:
    seen: list[int] = []
    later: ManualPublisher[int] = ManualPublisher()
    first = Flowable.wrap(later).to_observable()
    Observable.range(4).hide().switch_on_first(lambda _first, whole: Observable.concat(first, whole)).subscribe(seen.append)
    assert seen == []
    later.complete()
    assert seen == [0, 1, 2, 3]


# -- zip_latest and fork_join --------------------------------------------------------------------------------------------------


def test_each_item_is_in_one_row_of_zip_latest_at_most() -> None:
    first, second = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.zip_latest(first, second).subscribe(subscriber)
    assert (first.requested, second.requested) == (UNBOUNDED, UNBOUNDED)
    first.next(1, 2)
    second.next("a")
    second.next("b", "c")
    subscriber.assert_values((2, "a"))
    first.next(3)
    subscriber.assert_values((2, "a"), (3, "c"))


def test_a_row_of_zip_latest_waits_for_demand_and_is_of_the_newest_items_then() -> None:
    first, second = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.zip_latest(first, second).subscribe(subscriber)
    first.next(1)
    second.next("a")
    first.next(2)
    subscriber.request(1)
    subscriber.assert_values((2, "a"))


def test_zip_latest_ends_when_the_last_item_of_a_source_that_is_over_has_gone_out() -> None:
    first, second = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.zip_latest(first, second).subscribe(subscriber)
    first.next(1)
    first.complete()
    subscriber.assert_not_terminated()
    second.next("a")
    subscriber.assert_result((1, "a"))
    assert second.cancelled


def test_an_error_ends_zip_latest_at_once() -> None:
    first, second = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.zip_latest(first, second).subscribe(subscriber)
    first.next(1)
    first.error(OOPS)
    subscriber.assert_failure(ValueError)
    assert second.cancelled


def test_fork_join_gives_the_last_items_when_all_are_complete() -> None:
    first, second = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.fork_join(first, second).to_flowable().subscribe(subscriber)
    first.next(1, 2)
    second.next("a")
    first.complete()
    subscriber.assert_empty()
    second.complete()
    subscriber.assert_result((2, "a"))


def test_fork_join_with_an_empty_source_ends_and_leaves_the_others() -> None:
    first, second = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.fork_join(first, second).to_flowable().subscribe(subscriber)
    first.complete()
    subscriber.assert_result()
    assert second.cancelled


@pytest.mark.parametrize("name", ["zip_latest", "fork_join"])
def test_the_combiner_of_rows_is_named_when_it_fails_or_gives_none(name: str) -> None:
    joined = getattr(Flowable, name)

    def values(combiner: Any) -> Any:
        made = joined(Flowable.of(1), Flowable.of(0), combiner=combiner)
        return made.blocking_get() if name == "fork_join" else made.blocking_list()

    with pytest.raises(ZeroDivisionError) as failed:
        values(lambda a, b: a // b)
    assert f"in {name}(" in failed.value.__notes__[0]
    with pytest.raises(TypeError, match=name):
        values(lambda a, b: None)
    with pytest.raises(TypeError, match=name):
        joined(Flowable.of(1), 3)


# -- delayed errors ------------------------------------------------------------------------------------------------------------


def test_zip_that_delays_errors_makes_the_rows_that_it_has_items_for() -> None:
    first, second = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.zip(first, second, delay_error=True).subscribe(subscriber)
    first.next(1, 2)
    first.error(OOPS)
    second.next("a")
    subscriber.assert_values((1, "a")).assert_not_terminated()
    second.next("b")
    subscriber.assert_failure(ValueError, (1, "a"), (2, "b"))
    assert second.cancelled


def test_zip_that_delays_errors_gives_several_in_the_order_in_which_they_came() -> None:
    first, second = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.zip(first, second, delay_error=True).subscribe(subscriber)
    second.next("a", "b")
    second.error(KeyError("second source"))
    subscriber.assert_not_terminated()
    first.next(1)
    first.error(OOPS)
    assert isinstance(subscriber.error, CompositeException)
    assert [type(error) for error in subscriber.error.exceptions] == [KeyError, ValueError]


def test_zip_that_ends_with_a_source_gives_an_error_that_was_delayed() -> None:
    first, second = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.zip(first, second, delay_error=True).subscribe(subscriber)
    first.next(1)
    first.error(OOPS)
    second.complete()
    subscriber.assert_failure(ValueError)


def test_a_combiner_that_fails_comes_behind_an_error_that_was_delayed() -> None:
    first, second = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.zip(first, second, combiner=lambda a, b: a // b, delay_error=True).subscribe(subscriber)
    first.next(1)
    first.error(OOPS)
    second.next(0)
    assert isinstance(subscriber.error, CompositeException)
    assert [type(error) for error in subscriber.error.exceptions] == [ValueError, ZeroDivisionError]


def test_a_source_that_is_iterated_and_fails_ends_zip_after_the_rows_before_it() -> None:
    failing = Flowable.of(1, 0).map(lambda x: 1 // x)
    other: Source = ManualPublisher()
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.zip(failing, other, delay_error=True).subscribe(subscriber)
    other.next("a")
    subscriber.assert_failure(ZeroDivisionError, (1, "a"))
    with pytest.raises(ZeroDivisionError):
        Flowable.zip(failing, Flowable.range(9), delay_error=True).blocking_list()


class AnswersAtOnce:
    """A source of the numbers from 0 on that sends what it is asked for before ``request`` returns, and notes behind each item
    how many of them have not come out yet. Asked meanwhile, it goes on with what it is at."""

    def __init__(self, came_out: list[Any]) -> None:
        self.came_out = came_out
        self.at = self.wanted = 0
        self.left = False
        self.waiting: list[int] = []

    def subscribe(self, subscriber: Subscriber[int], /) -> None:
        self.subscriber = subscriber
        subscriber.on_subscribe(self)

    def request(self, n: int, /) -> None:
        self.wanted += n
        if self.wanted > n:
            return
        while self.wanted and not self.left:
            self.subscriber.on_next(self.at)
            self.at += 1
            self.wanted -= 1
            self.waiting.append(self.at - len(self.came_out))

    def cancel(self) -> None:
        self.left = True


@pytest.mark.skipif(not fusion_enabled(), reason="without fusion both sources push, and one waits for the other")
@pytest.mark.parametrize("first", [True, False])
def test_zip_asks_for_more_when_it_is_free_to_take_the_answer(first: bool) -> None:
    rows: list[Any] = []
    source = AnswersAtOnce(rows)
    numbers = Flowable.wrap(source)
    passive = Flowable.range(500)
    flow = Flowable.zip(numbers, passive) if first else Flowable.zip(passive, numbers)
    flow.subscribe(rows.append)
    assert rows == [(n, n) for n in range(500)]
    sent_early = 128 if first else 0  # before the other source is there
    assert not any(source.waiting[sent_early:])
    assert source.at == 500


def test_zip_with_delays_errors_too() -> None:
    first, second = sources(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(first).zip_with(second, lambda a, b: (b, a), delay_error=True).subscribe(subscriber)
    first.next(1)
    first.error(OOPS)
    second.next("a")
    subscriber.assert_failure(ValueError, ("a", 1))


def test_concat_that_delays_errors_runs_all_sources() -> None:
    first, second, third = sources(3)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.concat(first, second, third, delay_error=True).subscribe(subscriber)
    first.next(1)
    first.error(OOPS)
    second.error(KeyError("second"))
    third.next(3)
    subscriber.assert_values(1, 3).assert_not_terminated()
    third.complete()
    assert isinstance(subscriber.error, CompositeException)
    assert [type(error) for error in subscriber.error.exceptions] == [ValueError, KeyError]


def test_a_concat_that_delays_errors_is_a_source_of_its_own_in_another_concat() -> None:
    late = Flowable.concat(Flowable.error(OOPS), Flowable.of(2), delay_error=True)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.concat(Flowable.of(1), late, Flowable.of(3)).subscribe(subscriber)
    subscriber.assert_failure(ValueError, 1, 2)

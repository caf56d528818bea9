"""The Drain with plain generators: serial, never faster than requested, and what ends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rx_core import DEMAND, UNBOUNDED, Drain, Inbox, Run, blocking_items, has_ended
from rx_testing import ManualPublisher, TestSubscriber


def drained(items: Callable[[Run], Iterator[Any]], got: TestSubscriber[Any]) -> Drain[Any]:
    drain: Drain[Any] = Drain(got)
    drain.start(items)
    return drain


class Source:
    """A generator whose progress can be seen, with Nones where its list has them."""

    def __init__(self, *items: Any) -> None:
        self.items, self.taken = items, 0
        self.generator: Any = None

    def __call__(self, _run: Run) -> Iterator[Any]:
        self.generator = self._run()
        made: Iterator[Any] = self.generator
        return made

    def _run(self) -> Iterator[Any]:
        for item in self.items:
            self.taken += 1
            yield item


def test_nothing_is_pulled_without_demand_and_no_more_than_requested() -> None:
    source = Source(1, 2, 3)
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    drained(source, got)
    assert source.taken == 0
    got.request(2)
    got.assert_values(1, 2).assert_not_terminated()
    assert source.taken == 2


def test_none_means_nothing_now_and_a_wake_looks_again() -> None:
    source = Source(1, None, 2)
    got: TestSubscriber[Any] = TestSubscriber()
    drain = drained(source, got)
    got.assert_values(1)
    drain.wake()
    got.assert_result(1, 2)


def test_a_poke_without_demand_keeps_one_item_for_the_next_request() -> None:
    source = Source(1, 2)
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    drain = drained(source, got)
    drain.poke()
    drain.poke()
    assert source.taken == 1
    got.assert_no_values()
    got.request(1)
    got.assert_values(1)


def test_a_poke_finds_the_end_without_demand() -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    drain = drained(Source(), got)
    got.assert_not_terminated()
    drain.poke()
    got.assert_result()


def test_an_item_marked_as_last_that_waits_is_not_lost() -> None:
    def items(run: Run) -> Iterator[Any]:
        run.last = True
        yield 1

    got: TestSubscriber[Any] = TestSubscriber(request=0)
    drained(items, got).poke()
    got.assert_not_terminated()
    got.request(1)
    got.assert_result(1)


def test_a_last_mark_completes_without_further_demand() -> None:
    def items(run: Run) -> Iterator[Any]:
        run.last = True
        yield 1

    got: TestSubscriber[Any] = TestSubscriber(request=1)
    drained(items, got)
    got.assert_result(1)


@pytest.mark.parametrize("n", [0, -1, 1.0, None, True, "1"])
def test_a_wrong_request_is_signalled_and_closes_the_generator(n: Any) -> None:
    source = Source(1, 2)
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    drained(source, got)
    got.request(n)
    assert "§3.9" in str(got.error)
    got.assert_values(1)
    assert has_ended(source.generator)


def test_cancel_in_on_next_closes_the_generator_when_the_item_was_delivered() -> None:
    source = Source(1, 2, 3)
    got: TestSubscriber[Any] = TestSubscriber(cancel_after=1)
    drained(source, got)
    got.assert_values(1).assert_not_terminated()
    assert has_ended(source.generator)


def test_what_the_subscriber_throws_is_raised_to_who_requested_and_ends_the_run() -> None:
    def throw(_item: Any) -> None:
        raise LookupError

    source = Source(1, 2)
    got: TestSubscriber[Any] = TestSubscriber(request=0, on_value=throw)
    drain = drained(source, got)
    with pytest.raises(LookupError):
        got.request(5)
    got.request(5)
    assert drain.is_disposed
    assert has_ended(source.generator)
    got.assert_values(1).assert_not_terminated()


def test_requests_add_up_and_stop_at_unbounded() -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    drain = drained(Source(*[None] * 9), got)
    got.request(5).request(6)
    assert drain.demand == drain.outstanding == 11
    got.request(UNBOUNDED)
    assert drain.demand == UNBOUNDED


def test_what_is_owned_is_disposed_and_what_comes_after_runs_last_first() -> None:
    events: list[str] = []

    def items(run: Run) -> Iterator[Any]:
        run.after(lambda: events.append("first registered"))
        run.after(lambda: events.append("last registered"))
        yield from ()

    drained(items, TestSubscriber())
    assert events == ["last registered", "first registered"]


def test_later_runs_when_the_drain_is_not_busy() -> None:
    seen: list[int] = []

    def items(run: Run) -> Iterator[Any]:
        run.later(lambda: seen.append(len(got.values)))
        yield 1
        yield 2

    got: TestSubscriber[Any] = TestSubscriber()
    drained(items, got)
    assert seen == [2]


# -- the inbox -----------------------------------------------------------------------------------------------------------


def inbox(window: int) -> tuple[ManualPublisher[Any], TestSubscriber[Any], Inbox[Any]]:
    source: ManualPublisher[Any] = ManualPublisher(unchecked=True)
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    drain: Drain[Any] = Drain(got)
    made: Inbox[Any] = Inbox(drain, window)
    drain.own(made)

    def items(_run: Run) -> Iterator[Any]:
        made.subscribe_to(source)
        return made.stream()

    drain.start(items)
    return source, got, made


def test_a_window_is_asked_for_at_once_and_replenished_at_three_quarters() -> None:
    source, got, made = inbox(8)
    assert source.subscriptions[0].requests == [8]
    source.next(*range(8))
    got.request(5)
    assert source.subscriptions[0].requests == [8]
    got.request(1)
    assert source.subscriptions[0].requests == [8, 6]
    assert made.peak == 8


def test_on_demand_only_what_is_wanted_is_asked_for() -> None:
    source, got, _ = inbox(0)
    assert source.subscriptions[0].requests == []
    got.request(2)
    got.request(3)
    assert source.subscriptions[0].requests == [2, 3]


def test_a_source_that_sends_too_much_is_refused() -> None:
    source, got, _ = inbox(2)
    source.next(1, 2, 3)
    got.request(5)
    assert "RS 1.1" in str(got.error)
    assert source.cancelled


def test_none_is_refused_and_what_came_before_it_is_given() -> None:
    source, got, _ = inbox(8)
    with pytest.raises(TypeError, match="None is not an element"):
        source.next(1, None, 2)
    got.request(5)
    got.assert_failure(TypeError, 1)
    assert source.cancelled


def test_a_large_demand_that_was_asked_for_already_is_waited_for() -> None:
    source, got, _ = inbox(DEMAND)
    got.request(1000)
    source.next(1)
    got.request(1000)
    source.next(2)
    got.assert_values(1, 2)
    assert source.requested == 2000


def test_a_second_subscription_is_cancelled() -> None:
    source, _, made = inbox(8)
    source.subscribe(made)
    assert [each.cancelled for each in source.subscriptions] == [False, True]


def test_completion_waits_behind_the_items_and_needs_no_demand_of_its_own() -> None:
    source, got, _ = inbox(8)
    source.next(1)
    source.complete()
    got.assert_not_terminated()
    got.request(1)
    got.assert_result(1)


def test_blocking_iteration_gives_up_the_source_when_it_is_closed() -> None:
    source: ManualPublisher[int] = ManualPublisher(on_request=lambda subscription, _n: subscription.next(1))
    items: Any = blocking_items(source, 4, 4)
    assert next(items) == 1
    items.close()
    assert source.cancelled

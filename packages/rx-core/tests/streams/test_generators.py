"""Operators as generators: when they are resumed, how their sources are asked, and what a run does for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

import pytest

from rx_core import DEMAND, Items, Run, Source
from rx_core.streams import GeneratorOp
from rx_testing import ManualPublisher, TestSubscriber


class Given:
    """A generator operator without sources, and how much of it was taken."""

    def __init__(self, *items: Any) -> None:
        self.items = items
        self.taken = 0
        self.closed = False

    def __call__(self, run: Run) -> Items[Any]:
        self.run = run
        return self._items()

    def _items(self) -> Iterator[Any]:
        try:
            for item in self.items:
                self.taken += 1
                yield item
        finally:
            self.closed = True


def started(function: Callable[..., Items[Any]], got: TestSubscriber[Any], *sources: Any, **options: Any) -> GeneratorOp:
    op = GeneratorOp(got, function, sources, (), **options)
    op.start()
    return op


def test_nothing_is_taken_without_demand_and_no_more_than_requested() -> None:
    given = Given(1, 2, 3)
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    started(given, got)
    assert given.taken == 0
    got.request(2)
    got.assert_values(1, 2).assert_not_terminated()
    assert given.taken == 2


def test_none_means_nothing_now_and_a_wake_looks_again() -> None:
    given = Given(1, None, 2)
    got: TestSubscriber[Any] = TestSubscriber()
    started(given, got)
    got.assert_values(1)
    given.run.wake()
    got.assert_result(1, 2)


def test_a_poke_without_demand_keeps_one_item_for_the_next_request() -> None:
    given = Given(1, 2)
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    started(given, got)
    given.run.poke()
    given.run.poke()
    assert given.taken == 1
    got.assert_no_values()
    got.request(1)
    got.assert_values(1)


def test_a_poke_finds_the_end_without_demand() -> None:
    given = Given()
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    started(given, got)
    got.assert_not_terminated()
    given.run.poke()
    got.assert_result()


def _last(run: Run) -> Iterator[Any]:
    run.last = True
    yield 1


def test_an_item_marked_as_last_that_waits_is_not_lost() -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    started(_last, got).run.poke()
    got.assert_not_terminated()
    got.request(1)
    got.assert_result(1)


def test_a_last_mark_completes_without_further_demand() -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    started(_last, got)
    got.assert_result(1)


@pytest.mark.parametrize("n", [0, -1, 1.0, None, True, "1"])
def test_a_wrong_request_is_signalled_and_closes_the_generator(n: Any) -> None:
    given = Given(1, 2)
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    started(given, got)
    got.request(n)
    assert "§3.9" in str(got.error)
    got.assert_values(1)
    assert given.closed


def test_cancel_in_on_next_closes_the_generator_when_the_item_was_delivered() -> None:
    given = Given(1, 2, 3)
    got: TestSubscriber[Any] = TestSubscriber(cancel_after=1)
    started(given, got)
    got.assert_values(1).assert_not_terminated()
    assert given.closed


def test_what_the_subscriber_throws_is_raised_to_the_one_that_requested_and_ends_the_run() -> None:
    def throw(_item: Any) -> None:
        raise LookupError

    given = Given(1, 2)
    got: TestSubscriber[Any] = TestSubscriber(request=0, on_value=throw)
    op = started(given, got)
    with pytest.raises(LookupError):
        got.request(5)
    got.request(5)
    assert op.is_disposed
    assert given.closed
    got.assert_values(1).assert_not_terminated()


def test_what_the_generator_raises_is_the_error_of_the_stream() -> None:
    def items(_run: Run) -> Iterator[Any]:
        yield 1
        raise LookupError("found nothing")

    got: TestSubscriber[Any] = TestSubscriber()
    started(items, got)
    got.assert_failure(LookupError, 1)


def test_what_comes_after_runs_last_first_when_the_end_was_signalled() -> None:
    events: list[str] = []
    got: TestSubscriber[Any] = TestSubscriber()

    def items(run: Run) -> Iterator[Any]:
        run.after(lambda: events.append(f"first registered, {got.is_terminated}"))
        run.after(lambda: events.append("last registered"))
        yield from ()

    started(items, got)
    assert events == ["last registered", "first registered, True"]


@pytest.mark.parametrize("cancelled", [False, True])
def test_what_is_owned_is_disposed_with_the_run(cancelled: bool) -> None:
    class Resource:
        is_disposed = False

        def dispose(self) -> None:
            self.is_disposed = True

    kept, given_back = Resource(), Resource()

    def items(run: Run) -> Iterator[Any]:
        run.own(kept)
        run.own(given_back)
        run.disown(given_back)
        yield 1

    started(items, TestSubscriber(cancel_after=1 if cancelled else None))
    assert kept.is_disposed
    assert not given_back.is_disposed


def test_later_runs_when_this_thread_has_left_the_run() -> None:
    seen: list[int] = []
    got: TestSubscriber[Any] = TestSubscriber()

    def items(run: Run) -> Iterator[Any]:
        run.later(lambda: seen.append(len(got.values)))
        yield 1
        yield 2

    started(items, got)
    assert seen == [2]


# -- sources -----------------------------------------------------------------------------------------------------------


def relayed(_run: Run, source: Source[Any]) -> Iterator[Any]:
    yield from source


def relaying(window: int, **options: Any) -> tuple[ManualPublisher[Any], TestSubscriber[Any]]:
    source: ManualPublisher[Any] = ManualPublisher(unchecked=True)
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    started(relayed, got, source, window=window, **options)
    return source, got


def test_a_window_is_asked_for_at_once_and_replenished_at_three_quarters() -> None:
    source, got = relaying(8)
    assert source.subscriptions[0].requests == [8]
    source.next(*range(8))
    got.request(5)
    assert source.subscriptions[0].requests == [8]
    got.request(1)
    assert source.subscriptions[0].requests == [8, 6]
    got.assert_values(*range(6))


def test_on_demand_only_what_is_wanted_is_asked_for() -> None:
    source, got = relaying(DEMAND)
    assert source.subscriptions[0].requests == []
    got.request(2)
    got.request(3)
    assert source.subscriptions[0].requests == [2, 3]


def test_what_a_generator_drops_is_asked_for_again() -> None:
    def odd(_run: Run, source: Source[Any]) -> Iterator[Any]:
        for item in source:
            if item is None or item % 2:
                yield item

    numbers = count()
    source: ManualPublisher[int] = ManualPublisher(on_request=lambda each, n: each.next(*islice(numbers, n)))
    got: TestSubscriber[Any] = TestSubscriber(request=3)
    started(odd, got, source)
    got.assert_values(1, 3, 5)


def test_a_source_that_sends_too_much_is_refused() -> None:
    source, got = relaying(2)
    source.next(1, 2, 3)
    got.request(5)
    assert "had not been asked for" in str(got.error)
    assert source.cancelled


def test_none_is_refused_and_what_came_before_it_is_given() -> None:
    source, got = relaying(8)
    with pytest.raises(TypeError, match="None is not an item"):
        source.next(1, None, 2)
    got.request(5)
    got.assert_failure(TypeError, 1)
    assert source.cancelled


def test_an_error_waits_behind_the_items_unless_it_is_eager() -> None:
    for eager in (False, True):
        source, got = relaying(8, eager_error=eager)
        source.next(1, 2)
        source.error(LookupError())
        got.request(5)
        got.assert_failure(LookupError, *(() if eager else (1, 2)))


def test_completion_waits_behind_the_items_and_needs_no_demand_of_its_own() -> None:
    source, got = relaying(8)
    source.next(1)
    source.complete()
    got.assert_not_terminated()
    got.request(1)
    got.assert_result(1)


def test_an_empty_source_completes_without_demand() -> None:
    source, got = relaying(DEMAND)
    source.complete()
    got.assert_result()


def test_every_loop_over_a_source_subscribes_anew() -> None:
    def twice(_run: Run, source: Source[Any]) -> Iterator[Any]:
        yield from source
        yield from source

    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber()
    started(twice, got, source)
    source.subscriptions[0].next(1)
    source.subscriptions[0].complete()
    source.subscriptions[1].next(2)
    source.subscriptions[1].complete()
    got.assert_result(1, 2)


def test_a_cancel_reaches_the_source_that_is_open_and_one_that_was_never_iterated() -> None:
    def first_only(_run: Run, first: Source[Any], _second: Source[Any]) -> Iterator[Any]:
        yield from first

    sources = [ManualPublisher[int](), ManualPublisher[int]()]
    got: TestSubscriber[Any] = TestSubscriber()
    started(first_only, got, *sources, primed=2)
    assert [len(each.subscriptions) for each in sources] == [1, 1]
    got.cancel()
    assert [each.cancelled for each in sources] == [True, True]


@pytest.mark.parametrize("at_the_end", [False, True])
def test_a_source_that_a_loop_has_left_is_cancelled_with_the_stream(at_the_end: bool) -> None:
    kept: list[Any] = []

    def two(_run: Run, source: Source[Any]) -> Iterator[Any]:
        items = iter(source)
        kept.append(items)  # so that no collector closes it
        for item in items:
            yield item
            if item == 2:
                return

    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber()
    started(two, got, source)
    source.next(1)
    if at_the_end:
        source.next(2)
        got.assert_result(1, 2)
    else:
        got.cancel()
    assert source.cancelled

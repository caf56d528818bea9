"""An inbox gives what waits in batches, and nobody can tell: each test stops, ends or looks in the middle of one."""

from __future__ import annotations

import gc
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from rx_core import DEMAND, Drain, Inbox, PolicyInbox, Run
from rx_testing import ManualPublisher, TestSubscriber

Made = tuple[ManualPublisher[Any], TestSubscriber[Any], Inbox[Any]]


def waiting(count: int, window: int, *, eager_error: bool = False, request: int = 0) -> Made:
    """``count`` items in an inbox of ``window``, of which ``request`` were taken."""
    return started(lambda drain: Inbox(drain, window, eager_error=eager_error), count, request)


def started(make: Callable[[Drain[Any]], Inbox[Any]], count: int, request: int, got: TestSubscriber[Any] | None = None) -> Made:
    source: ManualPublisher[Any] = ManualPublisher(unchecked=True)
    got = TestSubscriber(request=0) if got is None else got
    drain: Drain[Any] = Drain(got)
    made = make(drain)
    drain.own(made)

    def items(_run: Run) -> Iterator[Any]:
        made.subscribe_to(source)
        return made.stream()

    drain.start(items)
    source.next(*range(count))
    if request:
        got.request(request)
        assert len(got.values) == request
    return source, got, made


def test_an_eager_error_overtakes_the_rest_of_a_batch() -> None:
    source, got, _ = waiting(8, 16, eager_error=True, request=2)
    source.error(ValueError("now"))
    got.request(8)
    got.assert_failure(ValueError, 0, 1)


def test_an_eager_error_out_of_on_next_overtakes_the_rest_of_the_batch() -> None:
    class Failing(TestSubscriber[Any]):
        def on_next(self, item: Any, /) -> None:
            super().on_next(item)
            if item == 3:
                source.error(ValueError("now"))

    source, got, _ = started(lambda drain: Inbox(drain, 16, eager_error=True), 8, 0, Failing(request=0))
    got.request(8)
    got.assert_failure(ValueError, 0, 1, 2, 3)


def test_another_error_waits_for_the_batch() -> None:
    source, got, _ = waiting(8, 16, request=2)
    source.error(ValueError("later"))
    got.request(8)
    got.assert_failure(ValueError, *range(8))


def test_more_is_asked_for_with_the_item_that_makes_three_quarters() -> None:
    source, got, _ = waiting(16, 16, request=3)
    seen = []
    for _ in range(13):
        got.request(1)
        seen.append(len(source.subscriptions[0].requests))
    assert seen == [1] * 8 + [2] * 5  # the twelfth item of sixteen
    assert source.subscriptions[0].requests == [16, 12]


def test_the_end_is_known_with_the_last_item_of_a_batch() -> None:
    source, got, _ = waiting(6, 16, request=2)
    source.complete()
    got.request(4)
    got.assert_result(*range(6))


def test_what_comes_while_a_batch_is_taken_follows_it() -> None:
    source, got, _ = waiting(6, 64, request=2)
    source.next(*range(6, 20))
    got.request(100)
    source.next(20)
    got.assert_values(*range(21))


def test_a_source_that_sends_too_much_is_refused_in_the_middle_of_a_batch() -> None:
    source, got, _ = waiting(8, 8, request=2)
    source.next(8, 9)
    assert got.error is None
    source.next(10)
    assert source.cancelled
    got.request(20)
    assert "RS 1.1" in str(got.error)
    assert got.values == [*range(10)]


def test_the_peak_counts_what_of_a_batch_was_not_taken() -> None:
    source, _, made = waiting(8, 16, request=3)
    source.next(*range(8, 14))
    assert made.peak == 11


def test_on_demand_no_item_of_a_batch_is_asked_for_twice() -> None:
    source, got, _ = started(lambda drain: Inbox(drain, DEMAND), 0, 0)
    got.request(10)
    source.next(*range(4))
    got.request(10)
    source.next(*range(4, 20))
    got.request(5)
    assert source.subscriptions[0].requests == [10, 10, 5]
    got.assert_values(*range(20))


def test_a_cancel_in_the_middle_of_a_batch_lets_go_of_the_rest() -> None:
    class Thing:
        pass

    source, got, _ = started(lambda drain: Inbox(drain, 16), 0, 0)
    things = [Thing() for _ in range(8)]
    gone = [weakref.ref(thing) for thing in things[3:]]
    source.next(*things)
    got.request(3)
    got.cancel()
    del things
    gc.collect()
    assert source.cancelled
    assert [each() for each in gone] == [None] * 5
    source.next(Thing())  # it has not noticed yet
    assert len(got.values) == 3


def test_an_item_that_is_taken_back_between_looking_and_taking_is_no_error() -> None:
    class Raced(deque[Any]):
        """Gives its last item away as soon as somebody has seen that there is one."""

        def __bool__(self) -> bool:
            seen = len(self) > 0
            if len(self) == 1:
                self.clear()
            return seen

    class Racing(PolicyInbox[Any]):
        def __init__(self, run: Run) -> None:
            super().__init__(run, PolicyInbox.keep_newest, capacity=1)
            self._queue = Raced()

    source, got, _ = started(Racing, 0, 0)
    got.request(5)
    source.next(1)
    got.assert_values().assert_not_terminated()

"""The gate of an operator: serial, nothing lost between publishing and looking, bounded recursion, demand with the token."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_core.streams import Entry, Failed, Failing, OneAtATime, Op, Pump, QueuedInput, SubscriberFailed
from rx_testing import ManualPublisher, TestSubscriber


class Numbers(Op[int]):
    """Emits what was put into a list, as it is wanted."""

    __slots__ = ("closed", "waiting")

    def __init__(self, down: Any) -> None:
        super().__init__(down)
        self.waiting: deque[int] = deque()
        self.closed = 0

    def put(self, *items: int) -> None:
        self.waiting.extend(items)
        self.drain()

    def step(self, demand: int) -> int:
        while demand and self.waiting:
            self.emit(self.waiting.popleft())
            if demand != UNBOUNDED:
                demand -= 1
            if self.stopped:
                return 0
        return demand

    def close(self) -> None:
        self.closed += 1


def started(request: int = UNBOUNDED) -> tuple[Numbers, TestSubscriber[int]]:
    subscriber = TestSubscriber[int](request=request)
    op = Numbers(subscriber)
    op.start()
    return op, subscriber


def test_nothing_is_emitted_beyond_what_was_requested() -> None:
    op, subscriber = started(2)
    op.put(1, 2, 3)
    subscriber.assert_values(1, 2)
    subscriber.request(1)
    subscriber.assert_values(1, 2, 3)


def test_nothing_is_emitted_before_on_subscribe_has_returned() -> None:
    order: list[str] = []

    class Down(TestSubscriber[int]):
        def on_subscribe(self, subscription: Any, /) -> None:
            subscription.request(5)
            op.put(1)
            order.append("subscribed")
            super().on_subscribe(subscription)

        def on_next(self, item: int, /) -> None:
            order.append("item")
            super().on_next(item)

    op = Numbers(Down())
    op.start()
    assert order == ["subscribed", "item"]


def test_an_item_published_while_one_is_emitted_comes_behind_it_and_not_inside() -> None:
    depth: list[int] = []
    inside = 0

    def again(item: int) -> None:
        nonlocal inside
        inside += 1
        depth.append(inside)
        if item < 50:
            op.put(item + 1)
        inside -= 1

    class Down(TestSubscriber[int]):
        def on_next(self, item: int, /) -> None:
            super().on_next(item)
            again(item)

    down = Down(request=UNBOUNDED)
    op = Numbers(down)
    op.start()
    op.put(1)
    assert down.values == list(range(1, 51))
    assert set(depth) == {1}


@pytest.mark.parametrize("wrong", [0, -1, "1", True])
def test_a_wrong_request_is_signalled(wrong: Any) -> None:
    op, subscriber = started(1)
    op.request(wrong)
    assert isinstance(subscriber.error, (ValueError, TypeError))
    assert "3.9" in str(subscriber.error)
    assert op.closed


def test_demand_adds_up_and_stops_at_unbounded() -> None:
    op, subscriber = started(0)
    subscriber.request(UNBOUNDED - 1)
    subscriber.request(UNBOUNDED - 1)
    assert op.token == [UNBOUNDED]
    op.put(*range(5))
    assert op.token == [UNBOUNDED]
    subscriber.assert_value_count(5)


def test_a_subscriber_that_raises_counts_as_cancelled_and_its_error_reaches_who_signalled() -> None:
    class Down(TestSubscriber[int]):
        def on_next(self, item: int, /) -> None:
            raise LookupError(item)

    op = Numbers(Down(request=UNBOUNDED))
    op.start()
    with pytest.raises(LookupError):
        op.put(1)
    assert op.stopped
    assert op.closed
    op.put(2)  # ignored


def test_a_cancel_inside_an_item_ends_the_loop_and_closes_once_it_is_left() -> None:
    class Down(TestSubscriber[int]):
        def on_next(self, item: int, /) -> None:
            super().on_next(item)
            if item == 2:
                op.cancel()
                assert not op.closed

    down = Down(request=UNBOUNDED)
    op = Numbers(down)
    op.start()
    op.put(1, 2, 3)
    assert down.values == [1, 2]
    assert op.closed


def test_what_is_put_off_runs_without_the_token() -> None:
    class Later(Numbers):
        def step(self, demand: int) -> int:
            if self.waiting:
                self.later.append((seen.append, self.waiting.popleft()))
                self.later.append((lambda _: tokens.append(len(self.token)), None))
            return demand

    seen: list[int] = []
    tokens: list[int] = []
    op = Later(TestSubscriber[int]())
    op.start()
    op.put(7)
    assert seen == [7]
    assert tokens == [1]


# -- passive sources -----------------------------------------------------------------------------------------------------------


def test_a_pump_completes_with_the_last_item_where_the_end_is_known() -> None:
    subscriber = TestSubscriber[int](request=3)
    pump: Pump[int] = Pump(subscriber)
    pump.items = iter(range(3))
    pump.start()
    subscriber.assert_result(0, 1, 2)


def test_a_pump_never_asks_a_users_iterator_for_more_than_is_wanted() -> None:
    asked: list[int] = []

    def items() -> Iterator[int]:
        for at in range(10):
            asked.append(at)
            yield at

    subscriber = TestSubscriber[int](request=2)
    pump: Pump[int] = Pump(subscriber)
    pump.items = items()
    pump.start()
    assert asked == [0, 1]
    subscriber.cancel()
    assert asked == [0, 1]


def test_what_a_source_raises_is_told_from_what_a_subscriber_raises() -> None:
    class Down(TestSubscriber[int]):
        def on_next(self, item: int, /) -> None:
            raise KeyError(item)

    op = Numbers(Down())
    with pytest.raises(SubscriberFailed):
        op.give(iter([1]), UNBOUNDED)

    def failing() -> Iterator[int]:
        yield 1
        raise KeyError("source")

    demand, outcome = Numbers(TestSubscriber[int]()).give(failing(), 5)
    assert demand == 4
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.take(), KeyError)


def test_an_error_needs_no_demand() -> None:
    subscriber = TestSubscriber[int](request=0)
    Failing(subscriber, OSError("at once")).start()
    subscriber.assert_failure(OSError)


# -- inputs ----------------------------------------------------------------------------------------------------------------------


class Buffered(Op[int]):
    """All that its source gives, through a queue."""

    __slots__ = ("entry", "source")

    def __init__(self, down: Any, source: Any, window: int) -> None:
        super().__init__(down)
        self.source = source
        self.entry: QueuedInput[int] = QueuedInput(self, window)

    def open(self) -> None:
        self.entry.open(self.source)

    def step(self, demand: int) -> int:
        while demand:
            item = self.entry.poll()
            if item is None or not isinstance(item, int):
                break
            self.emit(item)
            demand -= 1
        return self.finish(self.entry.error) if self.entry.ended else demand

    def close(self) -> None:
        self.entry.close()


def test_a_window_is_replenished_when_three_quarters_were_taken() -> None:
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[int](request=5)
    Buffered(subscriber, source, 4).start()
    assert source.requested == 4
    source.next(1, 2)
    assert source.requested == 4
    source.next(3)
    assert source.requested == 7


def test_after_its_end_a_source_is_neither_asked_nor_cancelled() -> None:
    calls: list[object] = []

    class Source:
        def subscribe(self, subscriber: Any, /) -> None:
            class Up:
                def request(self, n: int, /) -> None:
                    calls.append(n)

                def cancel(self) -> None:
                    calls.append("cancel")

            subscriber.on_subscribe(Up())
            for at in range(4):
                subscriber.on_next(at)
            subscriber.on_complete()

    subscriber = TestSubscriber[int](request=0)
    Buffered(subscriber, Source(), 4).start()
    subscriber.request(9)
    subscriber.assert_result(0, 1, 2, 3)
    assert calls == [4]  # RS 2.3, 2.4


@pytest.mark.parametrize("signal", ["on_next", "on_error", "on_subscribe"])
def test_a_foreign_source_that_signals_none_is_told_so_and_fails(signal: str) -> None:
    subscriber = TestSubscriber[int](request=9)
    op = Buffered(subscriber, ManualPublisher[int](), 4)
    op.start()
    entry: Entry[int] = Entry(QueuedInput(op, 4), "source")
    with pytest.raises(TypeError, match="None"):
        getattr(entry, signal)(None)


def test_an_item_that_was_not_requested_is_an_error_of_the_stream() -> None:
    source = ManualPublisher[int](unchecked=True)
    subscriber = TestSubscriber[int](request=0)
    Buffered(subscriber, source, 2).start()
    source.next(1, 2, 3)
    subscriber.request(9)
    assert "RS 1.1" in str(subscriber.error)
    assert subscriber.values == [1, 2]


# -- one source after another --------------------------------------------------------------------------------------------


class Again(OneAtATime[int]):
    """The same source a number of times."""

    __slots__ = ("source", "times")

    def __init__(self, down: Any, source: Any, times: int) -> None:
        super().__init__(down)
        self.source = source
        self.times = times

    def open(self) -> None:
        self.switch_to(self.source, 0)

    def source_ended(self, error: Exception | None, demand: int) -> int:
        self.times -= 1
        return self.switch_to(self.source, demand) if self.times else self.finish(error)


class Now:
    """Sends one item for the first request and completes, on the thread that requests."""

    def subscribe(self, subscriber: Any, /) -> None:
        class Up:
            asked = False

            def request(self, _n: int, /) -> None:
                if not self.asked:
                    self.asked = True
                    subscriber.on_next(1)
                    subscriber.on_complete()

            def cancel(self) -> None:
                pass

        subscriber.on_subscribe(Up())


@pytest.mark.parametrize("request_size", [1, UNBOUNDED])
def test_many_synchronous_sources_in_a_row_do_not_deepen_the_stack(request_size: int) -> None:
    subscriber = TestSubscriber[int](request=request_size, request_in_on_next=1)
    Again(subscriber, Now(), 3_000).start()
    subscriber.assert_complete().assert_value_count(3_000)


def test_what_one_source_left_of_the_demand_goes_to_the_next() -> None:
    sources = [ManualPublisher[int](), ManualPublisher[int]()]
    turn: list[Callable[..., Any]] = [source.subscribe for source in sources]

    class Turns:
        def subscribe(self, subscriber: Any, /) -> None:
            turn.pop(0)(subscriber)

    subscriber = TestSubscriber[int](request=5)
    Again(subscriber, Turns(), 2).start()
    sources[0].next(1, 2)
    sources[0].complete()
    assert sources[1].requested == 3

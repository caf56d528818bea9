"""What a stage does after a yield: the item was given before, and an error cannot take it back, in whichever form it runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from rx_core.queue_fusion import SYNC
from rx_fusion import Feed, IterableHead, PlainFlow, PublisherHead, shape_of, stage
from rx_testing import ManualPublisher, TestSubscriber


@stage
def each(source: Iterable[Any], function: Callable[[Any], Any]) -> Iterator[Any]:
    for item in source:
        yield function(item)


def _checks(item: int) -> bool:
    if item == 2:
        raise ZeroDivisionError("of two")
    return False


@stage
def until(source: Iterable[Any], predicate: Callable[[Any], object]) -> Iterator[Any]:
    for item in source:
        yield item
        if predicate(item):
            return


@stage
def afterwards(source: Iterable[Any], action: Callable[[Any], object]) -> Iterator[Any]:
    for item in source:
        yield item
        action(item)


@stage
def until_equal(source: Iterable[Any], end: Any) -> Iterator[Any]:
    for item in source:
        yield item
        if item == end:
            return


@stage
def total_and(source: Iterable[int], action: Callable[[int], object]) -> Iterator[int]:
    total = 0
    for item in source:
        total += item
    yield total
    action(total)


@stage
def ending_and(source: Iterable[int], end: int, action: Callable[[int], object]) -> Iterator[int]:
    for item in source:  # noqa: UP028  # the form of a stage
        yield item
    yield end
    action(end)


class Incomparable(int):
    def __eq__(self, other: object) -> bool:
        if int(self) == 2:
            raise ZeroDivisionError("of two")
        return False

    __hash__ = int.__hash__


#: A stage, its argument, and what it makes of 1, 2, 3: the item goes out first, then the error of what comes after its yield.
LATE = [(until, _checks), (afterwards, _checks), (until_equal, 9)]


@pytest.mark.parametrize(("late", "argument"), LATE)
@pytest.mark.parametrize("behind", [False, True])
def test_an_item_that_was_given_is_not_lost_to_an_error_after_it(late: Any, argument: Any, behind: bool) -> None:
    items = [Incomparable(1), Incomparable(2), Incomparable(3)]
    stages, args = ([late, each], (argument, int)) if behind else ([late], (argument,))

    def check(flow: PlainFlow[Any], send: Callable[[], object] | None = None) -> None:
        got: TestSubscriber[Any] = TestSubscriber()
        flow.subscribe(got)
        if send is not None:
            send()
        assert [int(value) for value in got.values] == [1, 2]
        assert [type(error) for error in got.errors] == [ZeroDivisionError]
        assert len([note for note in got.errors[0].__notes__ if late.__name__ in note]) == 1

    shape = shape_of(stages)
    check(PlainFlow(IterableHead("items", items), shape, args))
    source: ManualPublisher[Any] = ManualPublisher(unchecked=True)
    check(PlainFlow(PublisherHead("wrap", source, "wrap()"), shape, args), lambda: source.next(*items))
    assert source.cancelled
    check(PlainFlow(PublisherHead("wrap", PlainFlow(IterableHead("items", items)), "wrap()"), shape, args))
    hidden = PlainFlow[Any](IterableHead("items", items))
    check(PlainFlow(PublisherHead("hide", hidden, "hide()", (hidden,)), shape, args))  # a wall


def test_the_only_item_is_given_and_then_what_comes_after_it_is_run() -> None:
    seen: list[int] = []
    got: TestSubscriber[int] = TestSubscriber()
    PlainFlow[int](IterableHead("just", (1,), feed=Feed.CLEAN), shape_of([afterwards]), (seen.append,)).subscribe(got)
    got.assert_result(1)
    assert seen == [1]
    failing: TestSubscriber[int] = TestSubscriber()
    PlainFlow[int](IterableHead("just", (2,), feed=Feed.CLEAN), shape_of([afterwards]), (_checks,)).subscribe(failing)
    failing.assert_failure(ZeroDivisionError, 2)


def test_an_item_of_the_end_is_not_lost_to_an_error_after_it() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber(request=1)
    PlainFlow[int](PublisherHead("wrap", source, "wrap()"), shape_of([total_and]), (_checks,)).subscribe(got)
    source.next(2)
    source.complete()
    got.assert_failure(ZeroDivisionError, 2)


@pytest.mark.parametrize("what", ["asks", "cancels", "asks wrongly"])
def test_an_item_of_the_end_and_the_error_after_it_wait_together(what: str, caplog: pytest.LogCaptureFixture) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber(request=1)
    PlainFlow[int](PublisherHead("wrap", source, "wrap()"), shape_of([ending_and]), (2, _checks)).subscribe(got)
    source.next(1)
    with caplog.at_level(logging.DEBUG, logger="rx.core"):
        source.complete()
        got.assert_values(1).assert_not_terminated()
        assert got.subscription is not None
        if what == "asks":
            got.request(1)
            got.assert_failure(ZeroDivisionError, 1, 2)
        elif what == "cancels":
            got.cancel()
            got.assert_values(1).assert_not_terminated()
        else:
            got.subscription.request(0)
            got.assert_values(1)
            assert [str(error)[:4] for error in got.errors] == ["§3.9"]
    reported = [ZeroDivisionError for record in caplog.records if "ZeroDivisionError" in record.getMessage()]
    assert reported == ([] if what == "asks" else [ZeroDivisionError])


def test_an_error_after_an_item_that_made_somebody_cancel_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    source: ManualPublisher[int] = ManualPublisher(unchecked=True)
    got: TestSubscriber[int] = TestSubscriber(on_value=lambda item: got.cancel() if item == 2 else None)
    PlainFlow[int](PublisherHead("wrap", source, "wrap()"), shape_of([until]), (_checks,)).subscribe(got)
    with caplog.at_level(logging.DEBUG, logger="rx.core"):
        source.next(1, 2, 3)
    got.assert_values(1, 2)
    assert got.errors == []
    assert ["ZeroDivisionError" in record.getMessage() for record in caplog.records] == [True]


class Poller:
    """Asks to poll when it is subscribed."""

    def __init__(self) -> None:
        self.granted = -1
        self.queue: Any = None

    def on_subscribe(self, subscription: Any, /) -> None:
        self.queue = subscription
        self.granted = subscription.request_fusion(SYNC)

    def on_next(self, item: Any, /) -> None:
        raise AssertionError("polled")

    on_error = on_next

    def on_complete(self) -> None:
        raise AssertionError("polled")


def test_polled_steps_give_the_item_before_the_error_after_it() -> None:
    for late, argument in LATE:
        items = PlainFlow[Any](IterableHead("items", [Incomparable(1), Incomparable(2), Incomparable(3)]))
        poller = Poller()
        PlainFlow[Any](PublisherHead("wrap", items, "wrap()"), shape_of([late]), (argument,)).subscribe(poller)
        assert poller.granted == SYNC
        assert [int(poller.queue.poll()), int(poller.queue.poll())] == [1, 2]
        assert not poller.queue.is_empty()
        with pytest.raises(ZeroDivisionError):
            poller.queue.poll()
        assert poller.queue.poll() is None


def test_an_error_that_nobody_polls_any_more_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    poller = Poller()
    PlainFlow[Any](
        PublisherHead("wrap", PlainFlow(IterableHead("items", [2, 3])), "wrap()"), shape_of([until]), (_checks,)
    ).subscribe(poller)
    assert poller.queue.poll_many(9) == [2]
    with caplog.at_level(logging.DEBUG, logger="rx.core"):
        poller.queue.cancel()
    assert ["ZeroDivisionError" in record.getMessage() for record in caplog.records] == [True]

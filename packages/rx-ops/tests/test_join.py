"""join and group_join: items of two sources that live at the same time."""

from __future__ import annotations

from typing import Any

import pytest

from rx_core import UNBOUNDED, MissingBackpressureError
from rx_ops import Flowable, Observable
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

OOPS = ValueError("oops")

Source = ManualPublisher[Any]


class Lives:
    """The two sources, and for each item the source that ends its time."""

    def __init__(self) -> None:
        self.left: Source = ManualPublisher()
        self.right: Source = ManualPublisher()
        self.of: dict[Any, Source] = {}

    def begins(self, item: Any) -> Source:
        self.of[item] = ManualPublisher()
        return self.of[item]

    def joined(self, request: int = UNBOUNDED, *combiner: Any) -> TestSubscriber[Any]:
        subscriber: TestSubscriber[Any] = TestSubscriber(request=request)
        Flowable.wrap(self.left).join(self.right, self.begins, self.begins, *combiner).subscribe(subscriber)
        return subscriber

    def grouped(self) -> TestSubscriber[Any]:
        """The items of all windows, each with the item whose window it is."""
        subscriber: TestSubscriber[Any] = TestSubscriber()
        windows = Flowable.wrap(self.left).group_join(
            self.right, self.begins, self.begins, lambda item, window: window.map(lambda other: (item, other))
        )
        windows.flat_map(lambda window: window).subscribe(subscriber)
        return subscriber


def test_an_item_meets_what_is_alive_on_the_other_side() -> None:
    lives = Lives()
    got = lives.joined()
    lives.left.next(1)
    got.assert_empty()
    lives.right.next("a", "b")
    got.assert_values((1, "a"), (1, "b"))
    lives.of[1].complete()
    lives.left.next(2)
    lives.of["a"].next("its time is over")
    assert lives.of["a"].cancelled
    lives.left.next(3)
    got.assert_values((1, "a"), (1, "b"), (2, "a"), (2, "b"), (3, "b"))


def test_the_stream_ends_when_both_sources_are_over() -> None:
    lives = Lives()
    got = lives.joined(UNBOUNDED, lambda left, right: f"{left}{right}")
    lives.left.next(1)
    lives.left.complete()
    lives.right.next("a")
    got.assert_values("1a").assert_not_terminated()
    lives.right.complete()
    got.assert_result("1a")
    assert lives.of[1].cancelled
    assert lives.of["a"].cancelled


@pytest.mark.parametrize("who", ["left", "right", "time"])
def test_an_error_of_any_source_is_the_end_at_once(who: str) -> None:
    lives = Lives()
    got = lives.joined()
    lives.left.next(1)
    failing = {"left": lives.left, "right": lives.right, "time": lives.of[1]}[who]
    failing.error(OOPS)
    got.assert_failure(ValueError)
    for source in (lives.left, lives.right, lives.of[1]):
        assert source.cancelled or source is failing


def test_a_row_that_was_not_requested_is_an_error() -> None:
    lives = Lives()
    got = lives.joined(1)
    lives.left.next(1)
    lives.right.next("a", "b")
    got.assert_failure(MissingBackpressureError, (1, "a"))
    assert lives.left.cancelled


def test_what_is_requested_from_inside_a_row_counts_for_the_next() -> None:
    lives = Lives()
    seen: list[Any] = []

    class OneByOne:
        def on_subscribe(self, subscription: Any, /) -> None:
            self.subscription = subscription
            subscription.request(1)

        def on_next(self, item: Any, /) -> None:
            seen.append(item)
            self.subscription.request(1)

        def on_error(self, error: Exception, /) -> None:
            seen.append(error)

        def on_complete(self) -> None:
            seen.append("complete")

    Flowable.wrap(lives.left).join(lives.right, lives.begins, lives.begins).subscribe(OneByOne())
    lives.left.next(1, 2, 3)
    lives.right.next("a")
    assert seen == [(1, "a"), (2, "a"), (3, "a")]


def test_leaving_cancels_all_sources() -> None:
    lives = Lives()
    got = lives.joined()
    lives.left.next(1)
    lives.right.next("a")
    got.cancel()
    assert all(source.cancelled for source in (lives.left, lives.right, lives.of[1], lives.of["a"]))


def test_an_item_whose_time_is_over_at_once_has_met_what_was_there() -> None:
    pairs = Flowable.of(1, 2).join(Flowable.of("a", "b"), lambda _item: Flowable.never(), lambda _item: Flowable.empty())
    assert pairs.blocking_list() == [(1, "a"), (2, "a"), (1, "b"), (2, "b")]


def test_functions_that_fail_end_the_stream_with_their_name() -> None:
    failing = lambda item: 1 // item  # noqa: E731  # each place gets the same one
    never = lambda _item: Flowable.never()  # noqa: E731  # as above
    two: Any = (Flowable.of(0), Flowable.of(0))
    calls: tuple[Any, ...] = (
        lambda: two[0].join(two[1], failing, never),
        lambda: two[0].join(two[1], never, failing),
        lambda: two[0].join(two[1], never, never, lambda a, b: a // b),
    )
    for call in calls:
        with pytest.raises(ZeroDivisionError) as failed:
            call().blocking_list()
        assert "in join(" in failed.value.__notes__[0]
    with pytest.raises(TypeError, match=r"join\(\) expected a function returning a publisher"):
        two[0].join(two[1], never, lambda _item: 3).blocking_list()
    with pytest.raises(TypeError, match="join"):
        two[0].join(two[1], never, never, lambda a, b: None).blocking_list()
    with pytest.raises(TypeError, match="join"):
        two[0].join(3, never, never)
    with pytest.raises(TypeError, match="left"):
        two[0].join(two[1], 3, never)


def test_times_are_those_of_the_clock() -> None:
    clock = VirtualScheduler()
    second = lambda _item: Flowable.timer(1.0, scheduler=clock)  # noqa: E731  # for both sides
    left = Flowable.interval(2.0, initial=0.5, scheduler=clock).take(3)
    right = Flowable.interval(1.0, initial=1.0, scheduler=clock).take(6)
    seen: list[tuple[int, int]] = []
    left.join(right, second, second).subscribe(seen.append)
    clock.advance_to(20.0)
    assert seen == [(0, 0), (1, 1), (1, 2), (2, 3), (2, 4)]


def test_rows_are_as_many_as_meet_and_no_more_are_looked_at() -> None:
    """Each item meets one other: what is over is not looked at again."""
    looked = 0

    def row(left: int, right: int) -> tuple[int, int]:
        nonlocal looked
        looked += 1
        return left, right

    lives = Lives()
    got = lives.joined(UNBOUNDED, row)
    for number in range(1_000):
        lives.left.next(number)
        lives.right.next(-1 - number)
        lives.of[number].complete()
        lives.of[-1 - number].complete()
    assert looked == len(got.values) == 1_000


# -- group_join ----------------------------------------------------------------------------------------------------------------


def test_a_window_has_what_is_alive_while_its_item_is() -> None:
    lives = Lives()
    got = lives.grouped()
    lives.right.next("z")
    lives.left.next(1)
    lives.right.next("a")
    lives.left.next(2)
    lives.right.next("b")
    lives.of[1].complete()
    lives.right.next("c")
    got.assert_values((1, "z"), (1, "a"), (2, "z"), (2, "a"), (1, "b"), (2, "b"), (2, "c"))


def test_a_window_completes_with_the_time_of_its_item_and_with_the_stream() -> None:
    counts = Flowable.of(1, 2).group_join(
        Flowable.of("a", "b"), lambda item: Flowable.never(), lambda _item: Flowable.never(), lambda item, window: window.count()
    )
    assert counts.flat_map(lambda count: count).blocking_list() == [2, 2]


def test_an_error_reaches_the_windows_and_the_stream_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    from rx_core import hooks

    hooks.ensure_loaded()
    lost: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: lost.append(error))
    lives = Lives()
    got = lives.grouped()
    lives.left.next(1)
    lives.right.error(OOPS)
    got.assert_failure(ValueError)
    assert lost == []
    windows: list[Flowable[Any]] = []
    ended: list[Any] = []
    again = Lives()
    Flowable.wrap(again.left).group_join(again.right, again.begins, again.begins, lambda _item, window: window).subscribe(
        windows.append, on_error=ended.append
    )
    again.left.next(1)
    again.right.next("a")
    again.right.error(OOPS)
    assert ended == [OOPS]
    late: TestSubscriber[Any] = TestSubscriber()
    windows[0].subscribe(late)
    late.assert_failure(ValueError, "a")


def test_a_window_waits_for_its_one_subscriber() -> None:
    lives = Lives()
    windows: list[Flowable[Any]] = []
    Flowable.wrap(lives.left).group_join(lives.right, lives.begins, lives.begins, lambda _item, window: window).subscribe(
        windows.append
    )
    lives.left.next(1)
    lives.right.next("a", "b")
    slow: TestSubscriber[Any] = TestSubscriber(request=1)
    windows[0].subscribe(slow)
    slow.assert_values("a")
    lives.of[1].complete()
    slow.request(1)
    slow.assert_result("a", "b")
    second: TestSubscriber[Any] = TestSubscriber()
    windows[0].subscribe(second)
    second.assert_failure(RuntimeError)


def test_observables_are_joined_as_well() -> None:
    never = lambda _item: Observable.never()  # noqa: E731  # for both sides
    pairs = Observable.of(1, 2).join(Observable.of("a"), never, never)
    assert pairs.blocking_list() == [(1, "a"), (2, "a")]
    windows = Observable.of(1).group_join(Observable.of("a", "b"), never, never, lambda _item, window: window)
    assert windows.flat_map(lambda window: window).blocking_list() == ["a", "b"]

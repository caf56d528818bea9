"""Several Singles, Maybes and Completables as one: zip, merge, concat; and their timers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import CompositeException, EmptyStreamError
from rx_ops import Completable, Flowable, Maybe, Single
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

OOPS = ValueError("oops")

Source = ManualPublisher[Any]


def singles(count: int) -> tuple[list[Source], list[Single[Any]]]:
    sources = [ManualPublisher[Any]() for _ in range(count)]
    return sources, [Flowable.wrap(source).first() for source in sources]


def maybes(count: int) -> tuple[list[Source], list[Maybe[Any]]]:
    sources = [ManualPublisher[Any]() for _ in range(count)]
    return sources, [Flowable.wrap(source).first_element() for source in sources]


def completables(count: int) -> tuple[list[Source], list[Completable]]:
    sources = [ManualPublisher[Any]() for _ in range(count)]
    return sources, [Flowable.wrap(source).ignore_elements() for source in sources]


class Signals:
    """What an observer of one item at most is told."""

    def __init__(self, stream: Any) -> None:
        self.seen: list[Any] = []
        kinds: dict[type, tuple[tuple[Any, ...], dict[str, Any]]] = {
            Single: ((self.seen.append,), {"on_error": self.seen.append}),
            Maybe: ((self.seen.append,), {"on_error": self.seen.append, "on_complete": self.completed}),
            Completable: ((), {"on_error": self.seen.append, "on_complete": self.completed}),
        }
        callbacks, named = kinds[type(stream)]
        stream.subscribe(*callbacks, **named)

    def completed(self) -> None:
        self.seen.append("complete")


# -- zip -----------------------------------------------------------------------------------------------------------------------


def test_a_row_is_there_when_the_last_single_has_its_item() -> None:
    sources, parts = singles(3)
    got = Signals(Single.zip(*parts))
    sources[2].next("c")
    sources[0].next("a")
    assert got.seen == []
    sources[1].next("b")
    assert got.seen == [("a", "b", "c")]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_any_number_of_singles_is_zipped(count: int) -> None:
    items = list(range(count))
    parts: Any = [Single.just(item) for item in items]
    assert Single.zip(*parts).blocking_get() == tuple(items)
    assert Single.zip(*parts, combiner=lambda *row: sum(row)).blocking_get() == sum(items)
    behind: Any = (*parts, lambda *row: sum(row))
    assert Single.zip(*behind).blocking_get() == sum(items)


def test_of_no_singles_there_is_no_row_and_of_no_maybes_nothing() -> None:
    nothing: Any = ()
    with pytest.raises(EmptyStreamError):
        Single.zip(*nothing).blocking_get()
    assert Maybe.zip(*nothing).blocking_get() is None


def test_an_error_cancels_the_other_singles() -> None:
    sources, parts = singles(3)
    got = Signals(Single.zip(*parts))
    sources[1].error(OOPS)
    assert got.seen == [OOPS]
    assert (sources[0].cancelled, sources[2].cancelled) == (True, True)


def test_a_maybe_without_an_item_ends_the_row_and_cancels_the_others() -> None:
    sources, parts = maybes(3)
    got = Signals(Maybe.zip(*parts))
    sources[0].next("a")
    sources[1].complete()
    assert got.seen == ["complete"]
    assert sources[2].cancelled


def test_a_maybe_is_zipped_with_another() -> None:
    assert Maybe.just(2).zip_with(Maybe.just("a")).blocking_get() == (2, "a")
    assert Maybe.just(2).zip_with(Maybe.just("a"), lambda times, text: text * times).blocking_get() == "aa"
    assert Maybe.just(2).zip_with(Maybe.empty()).blocking_get() is None
    assert Single.just(2).zip_with(Single.just("a")).blocking_get() == (2, "a")


def test_singles_that_are_waited_for_give_all_their_errors() -> None:
    sources, parts = singles(3)
    got = Signals(Single.zip(*parts, delay_error=True))
    second = KeyError("second")
    sources[1].error(OOPS)
    sources[2].next("c")
    assert (got.seen, sources[0].cancelled) == ([], False)
    sources[0].error(second)
    (error,) = got.seen
    assert isinstance(error, CompositeException)
    assert error.exceptions == (OOPS, second)


def test_one_error_of_singles_that_are_waited_for_is_itself() -> None:
    sources, parts = singles(2)
    got = Signals(parts[0].zip_with(parts[1], delay_error=True))
    sources[0].error(OOPS)
    assert got.seen == []
    sources[1].next("b")
    assert got.seen == [OOPS]


def test_the_row_of_singles_that_are_waited_for_is_combined() -> None:
    sources, parts = singles(2)
    combined: Any = Single.zip(*parts, combiner=lambda a, b: a + b, delay_error=True)
    got = Signals(combined)
    sources[1].next("b")
    sources[0].next("a")
    assert got.seen == ["ab"]
    behind: Any = (Single.just(7), Single.just(0), lambda a, b: a // b)
    with pytest.raises(ZeroDivisionError):
        Single.zip(*behind, delay_error=True).blocking_get()
    with pytest.raises(TypeError, match="None"):
        Single.just(7).zip_with(Single.just(0), lambda a, b: None, delay_error=True).blocking_get()
    none: Any = ()
    with pytest.raises(EmptyStreamError):
        Single.zip(*none, delay_error=True).blocking_get()


def test_maybes_that_are_waited_for_are_empty_only_without_an_error() -> None:
    sources, parts = maybes(3)
    got = Signals(Maybe.zip(*parts, delay_error=True))
    sources[0].complete()
    assert (got.seen, sources[1].cancelled) == ([], False)
    sources[1].error(OOPS)
    sources[2].next("c")
    assert got.seen == [OOPS]
    assert Maybe.just(2).zip_with(Maybe.empty(), delay_error=True).blocking_get() is None
    assert Maybe.just(2).zip_with(Maybe.just(3), delay_error=True).blocking_get() == (2, 3)


def test_singles_that_are_waited_for_are_cancelled_together() -> None:
    sources, parts = singles(2)
    run = Single.zip(*parts, delay_error=True).subscribe()
    sources[0].next("a")
    run.dispose()
    assert sources[1].cancelled


@pytest.mark.parametrize("kind", [Single, Maybe])
def test_what_cannot_be_zipped_is_refused_where_it_is_written(kind: Any) -> None:
    with pytest.raises(TypeError, match=r"zip\(\)"):
        kind.zip(kind.just(1), 3)
    with pytest.raises(TypeError, match="combiner"):
        kind.zip(kind.just(1), kind.just(2), combiner=3)
    with pytest.raises(TypeError, match="zip_with"):
        kind.just(1).zip_with(3)


# -- merge and concat ----------------------------------------------------------------------------------------------------------


def test_merged_singles_give_their_items_as_they_come_and_are_wanted() -> None:
    sources, parts = singles(3)
    subscriber: TestSubscriber[Any] = TestSubscriber(request=1)
    Single.merge(*parts).subscribe(subscriber)
    sources[2].next("c")
    sources[0].next("a")
    subscriber.assert_values("c")
    subscriber.request(1)
    subscriber.assert_values("c", "a").assert_not_terminated()
    sources[1].next("b")
    subscriber.request(1)
    subscriber.assert_result("c", "a", "b")


def test_singles_in_a_row_are_subscribed_one_after_the_other() -> None:
    sources, parts = singles(2)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Single.concat(*parts).subscribe(subscriber)
    assert not sources[1].subscriptions
    sources[0].next("a")
    sources[1].next("b")
    subscriber.assert_result("a", "b")


@pytest.mark.parametrize("operator", ["concat", "concat_eager", "merge"])
@pytest.mark.parametrize("kind", [Single, Maybe])
def test_errors_of_several_are_the_end_or_wait_until_all_are_over(kind: Any, operator: str) -> None:
    joined = getattr(kind, operator)
    parts = (kind.just(1), kind.error(OOPS), kind.just(2), kind.error(KeyError("second")))
    subscriber: TestSubscriber[Any] = TestSubscriber()
    joined(*parts, delay_error=True).subscribe(subscriber)
    subscriber.assert_values(1, 2).assert_error(CompositeException)
    at_once: TestSubscriber[Any] = TestSubscriber()
    joined(*parts).subscribe(at_once)
    at_once.assert_error(ValueError)
    with pytest.raises(TypeError, match=operator):
        joined(kind.just(1), 3)


def test_maybes_without_items_leave_no_gap() -> None:
    parts = (Maybe.empty(), Maybe.just(1), Maybe.empty(), Maybe.just(2))
    assert Maybe.concat(*parts).blocking_list() == [1, 2]
    assert Maybe.merge(*parts).blocking_list() == [1, 2]
    nothing: TestSubscriber[Any] = TestSubscriber(request=0)
    Maybe.merge(Maybe.empty(), Maybe.empty()).subscribe(nothing)
    nothing.assert_result()


def test_merged_completables_complete_with_the_last_of_them() -> None:
    sources, parts = completables(2)
    got = Signals(Completable.merge(*parts))
    assert all(source.subscriptions for source in sources)
    sources[1].complete()
    assert got.seen == []
    sources[0].complete()
    assert got.seen == ["complete"]


def test_completables_in_a_row_run_one_after_the_other() -> None:
    sources, parts = completables(2)
    got = Signals(Completable.concat(*parts))
    assert not sources[1].subscriptions
    sources[0].complete()
    sources[1].next("an item that does not count")
    assert got.seen == []
    sources[1].complete()
    assert got.seen == ["complete"]


@pytest.mark.parametrize("operator", ["concat", "merge"])
def test_an_error_of_a_completable_is_the_end_or_waits(operator: str) -> None:
    sources, parts = completables(2)
    got = Signals(getattr(Completable, operator)(*parts))
    sources[0].error(OOPS)
    assert got.seen == [OOPS]
    assert sources[1].cancelled if operator == "merge" else not sources[1].subscriptions
    sources, parts = completables(2)
    got = Signals(getattr(Completable, operator)(*parts, delay_error=True))
    sources[0].error(OOPS)
    assert got.seen == []
    sources[1].complete()
    assert got.seen == [OOPS]


def test_no_completables_are_complete() -> None:
    assert Signals(Completable.merge()).seen == ["complete"]
    assert Signals(Completable.concat()).seen == ["complete"]


# -- timers --------------------------------------------------------------------------------------------------------------------

TIMERS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "Single": (Single.timer, [0]),
    "Maybe": (Maybe.timer, [0, "complete"]),
    "Completable": (Completable.timer, ["complete"]),
}


@pytest.mark.parametrize("name", TIMERS)
def test_a_timer_signals_when_the_time_is_there(name: str) -> None:
    timer, expected = TIMERS[name]
    clock = VirtualScheduler()
    got = Signals(timer(2.0, scheduler=clock))
    clock.advance_to(1.9)
    assert got.seen == []
    clock.advance_to(2.0)
    assert got.seen == expected
    with pytest.raises(ValueError, match="timer"):
        timer(-1.0)


def test_the_item_of_a_timer_waits_until_it_is_wanted() -> None:
    clock = VirtualScheduler()
    subscriber: TestSubscriber[Any] = TestSubscriber(request=0)
    Single.merge(Single.timer(1.0, scheduler=clock), Single.timer(2.0, scheduler=clock)).subscribe(subscriber)
    clock.advance_to(3.0)
    subscriber.assert_empty()
    subscriber.request(2)
    subscriber.assert_result(0, 0)


def test_a_timer_that_is_left_holds_nothing_on_its_clock() -> None:
    clock = VirtualScheduler()
    Single.timer(2.0, scheduler=clock).subscribe(print).dispose()
    assert clock.next_due is None

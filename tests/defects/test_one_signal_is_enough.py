"""A source that is there for one signal is left at that signal; and what happens by the clock happens at its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_ops import BehaviorProcessor, Flowable, Observable, PublishProcessor, PublishSubject
from rx_testing import VirtualScheduler
from tests.defects.watching import COMPLETE, ERROR, An, Success, signals, timed, watch

Flow = Flowable[Any]


def signal_and_failure() -> Flow:
    """A source that gives one item and then fails: whoever wants one signal must not hear of the failure."""
    return Flowable.concat(Flowable.just(0), Flowable.error(ERROR))


class Once:
    """A selector whose first source gives an item and fails, and whose later ones do nothing."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> Flow:
        self.calls += 1
        return signal_and_failure() if self.calls == 1 else Flowable.never()


# Selectors


def test_a_buffer_is_closed_by_the_first_signal_of_its_source() -> None:
    buffers = Flowable.empty().buffer(opening=Flowable.range(2), closing=lambda _number: signal_and_failure())
    assert signals(buffers) == [[], [], COMPLETE]


CLOSING: dict[str, tuple[Callable[[Flow], Flow], list[Any]]] = {
    "buffer": (lambda flow: flow.buffer(closing=Once()), [[], [1]]),
    "window": (lambda flow: flow.window(closing=Once()).flat_map(lambda window: window.to_list()), [[], [1]]),
}


@pytest.mark.parametrize("name", CLOSING)
def test_the_next_part_begins_with_the_first_signal_of_a_closing_source(name: str) -> None:
    make, expected = CLOSING[name]
    processor = PublishProcessor[int]()
    log = watch(make(processor))
    processor.on_next(1)
    processor.on_complete()
    assert log.signals == [*expected, COMPLETE]


def test_debounce_hears_the_first_signal_of_a_selected_source() -> None:
    assert signals(Flowable.just(1).debounce(selector=lambda _item: signal_and_failure())) == [1, COMPLETE]


Selecting = Callable[[Flow, Callable[..., Flow]], Flow]


def opened() -> Flow:
    return Flowable.just(0).concat_with(Flowable.never())


def lists(windows: Flow) -> Flow:
    return windows.flat_map(lambda window: window.to_list())


#: What selects a source, and what a stream of one item gives when that source signals.
SELECTING: dict[str, Selecting] = {
    "buffer": lambda flow, select: flow.buffer(closing=lambda: select(0)),
    "window": lambda flow, select: lists(flow.window(closing=lambda: select(0))),
    "buffer opening": lambda flow, select: flow.buffer(opening=opened(), closing=select),
    "window opening": lambda flow, select: lists(flow.window(opening=opened(), closing=select)),
}


@pytest.mark.parametrize("name", SELECTING)
def test_a_selected_source_is_cancelled_at_its_first_signal(name: str) -> None:
    check_that_it_is_cancelled(SELECTING[name], [[1]])


def test_the_selected_source_of_debounce_is_cancelled_at_its_first_signal() -> None:
    check_that_it_is_cancelled(lambda flow, select: flow.debounce(selector=select), [1])


def check_that_it_is_cancelled(make: Selecting, expected: list[Any]) -> None:
    source, selected = PublishProcessor[int](), list[PublishProcessor[str]]()

    def select(_item: object) -> Flow:
        selected.append(PublishProcessor())
        return selected[-1]

    log = watch(make(source, select))
    source.on_next(1)
    selected[0].on_next("due")
    left = selected[0].has_subscribers
    selected[0].on_error(ERROR)
    assert (log.signals, left) == (expected, False)


def test_debounce_of_observables_cancels_a_selected_source_at_its_first_signal() -> None:
    source, selected = PublishSubject[int](), PublishSubject[str]()
    log = watch(source.debounce(selector=lambda _item: selected))
    source.on_next(1)
    selected.on_next("due")
    left = selected.has_subscribers
    selected.on_error(ERROR)
    assert (log.signals, left) == ([1], False)


@pytest.mark.parametrize("due", [Flowable.empty(), Flowable.just(0)], ids=["empty", "just"])
def test_a_timeout_that_is_due_at_once_ends_the_stream(due: Flow) -> None:
    assert signals(Flowable.of(1, 2, 3).timeout(selector=lambda _item: due)) == [1, An(TimeoutError)]


@pytest.mark.parametrize("kind", [PublishProcessor, PublishSubject])
def test_timeout_gives_an_item_although_its_selector_raises_for_it(
    kind: type[PublishProcessor[int] | PublishSubject[int]],
) -> None:
    source = kind()
    never = Flowable.never() if kind is PublishProcessor else Observable.never()

    def select(item: int) -> Any:
        if item == 2:
            raise ERROR
        return never

    log = watch(source.timeout(selector=select))
    source.on_next(1)
    source.on_next(2)
    assert log.signals == [1, 2, ERROR]


def test_take_until_of_a_single_is_over_with_its_item(clock: VirtualScheduler) -> None:
    ticks = Flowable.interval(0.25, scheduler=clock)
    count = Flowable.range(3).count().take_until(ticks)
    later = count.flat_map_maybe(lambda _count: Flowable.timer(0.3, scheduler=clock).first_element())
    assert signals(later, clock) == [Success(0)]


# Rounds


def test_repeat_when_ends_when_its_handler_fails_with_the_signal_it_gives() -> None:
    repeated = Flowable.just(1).repeat_when(lambda rounds: rounds.take(1).concat_with(Flowable.error(ERROR)))
    assert signals(repeated) == [1, ERROR]


def test_repeat_when_ends_when_its_handler_completes_with_the_signal_it_gives(clock: VirtualScheduler) -> None:
    repeated = Flowable.timer(0.5, scheduler=clock).repeat_when(lambda rounds: rounds.take(1).delay(0.25, scheduler=clock))
    assert timed(repeated, clock) == [(0.5, 0), (0.75, COMPLETE)]


def test_repeating_a_behavior_processor_that_is_over_gives_no_item_again(clock: VirtualScheduler) -> None:
    processor = BehaviorProcessor(0)
    clock.create_worker().schedule(processor.on_complete, 1.0)
    assert timed(processor.repeat(2), clock) == [(0.0, 0), (1.0, COMPLETE)]


# Times


def test_delay_in_front_of_windows_counts_from_when_an_item_came(clock: VirtualScheduler) -> None:
    delayed = Flowable.range(3).delay(1.0, scheduler=clock)
    expected = [(1.0, 0), (1.0, 1), (1.0, 2), (1.0, COMPLETE)]
    assert timed(delayed.window(1).flat_map(lambda window: window), clock) == expected


def test_delay_in_front_of_a_count_counts_from_when_an_item_came(clock: VirtualScheduler) -> None:
    delayed = Flowable.just(0).repeat(20).delay(60, scheduler=clock)
    assert timed(delayed.count().to_flowable().concat_map(Flowable.just), clock, seconds=2000) == [(60.0, 20), (60.0, COMPLETE)]


def test_groups_end_in_the_order_in_which_they_began() -> None:
    words = Observable.from_iterable(["alpha", "apple", "beta", "bat", "gamma"])
    counts = words.group_by(lambda word: word[0]).flat_map(lambda group: group.count())
    assert signals(counts) == [2, 2, 1, COMPLETE]
    assert counts.blocking_list() == [2, 2, 1]

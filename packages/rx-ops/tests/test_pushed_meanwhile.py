"""What gives several items for one, behind a source that pushes: what comes meanwhile, from other threads and from inside.

What another thread does is done completely between two instructions of the source's on_next, between each two in turn.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import ops_parties
import pytest
from ops_parties import NeverTaken, Watchful

from rx_core import gate
from rx_core.streams import gated_inputs, inputs, op
from rx_fusion import _expansion, fusion_enabled
from rx_ops import Flowable
from rx_ops.operators import _concat_map
from rx_testing import ManualPublisher, TestSubscriber
from rx_testing.racing import interrupted

WATCHED = (*(str(module.__file__) for module in (_concat_map, _expansion, gate, gated_inputs, inputs, op, ops_parties)), __file__)
WANTED = 5

STAGES: dict[str, Callable[[Flowable[int]], Flowable[int]]] = {
    "flat_map_iterable": lambda flow: flow.flat_map_iterable(lambda item: (10 * item, 10 * item + 1)),
    "scan_with": lambda flow: flow.scan_with(lambda: 0, lambda total, item: total + item),
    "buffer": lambda flow: flow.buffer(2, 1).map(sum),
    "concat_map to one": lambda flow: flow.concat_map(lambda item: Flowable.just(10 * item), prefetch=16),
    "concat_map to several": lambda flow: flow.concat_map(lambda item: Flowable.of(10 * item, 10 * item + 1), prefetch=16),
    "concat_map to what pushes": lambda flow: flow.concat_map(lambda item: Flowable.just(10 * item).hide(), prefetch=16),
}


class Serial(Watchful):
    """The subscriber behind some of the stages, and their source."""

    def __init__(self, name: str) -> None:
        super().__init__(WANTED)
        self.source: ManualPublisher[int] = ManualPublisher()
        STAGES[name](Flowable.wrap(self.source)).subscribe(self)

    def second_item(self, at: int, meanwhile: Callable[[], object]) -> int:
        self.source.next(1)
        return interrupted(partial(self.source.next, 2), (at, meanwhile), watch=WATCHED)


def everywhere(name: str, meanwhile: Callable[[Serial], object]) -> Iterator[Serial]:
    for at in count():
        made = Serial(name)
        instructions = made.second_item(at, partial(meanwhile, made))
        yield made
        if at > instructions:
            return


def given(name: str, *items: int) -> list[int]:
    return STAGES[name](Flowable.of(*items)).blocking_list()


every = pytest.mark.parametrize("name", STAGES)


@every
def test_a_wrong_request_is_answered_once_and_behind_the_item(name: str) -> None:
    whole = given(name, 1, 2)
    for made in everywhere(name, lambda made: made.up.request(0)):
        assert not made.overlaps
        assert made.got[-1] is ValueError
        assert made.got[:-1] == whole[: len(made.got) - 1]


@every
def test_what_is_requested_meanwhile_is_counted(name: str) -> None:
    items = range(1, 9)
    whole = given(name, *items)
    for made in everywhere(name, lambda made: made.up.request(2)):
        made.source.next(*range(3, 9))
        assert made.got == whole[: WANTED + 2]
        made.up.request(100)
        made.source.complete()
        assert made.got == [*whole, "end"]


@every
def test_nothing_comes_behind_a_cancel(name: str) -> None:
    whole = given(name, 1, 2)
    for made in everywhere(name, lambda made: made.up.cancel()):
        assert made.source.cancelled
        assert made.got == whole[: len(made.got)]
        before = len(made.got)
        made.source.next(3)
        assert len(made.got) == before


def take_token(up: Any, held: list[int]) -> None:
    if up.token:
        held.append(up.token.pop())


@pytest.mark.skipif(not fusion_enabled(), reason="what the subscriber asks may be a wall then")
@every
def test_items_that_come_while_another_thread_is_at_work_come_behind_it_in_order(name: str) -> None:
    for at in count():
        made = Serial(name)
        made.up.request(100)
        up: Any = made.up
        held: list[int] = []
        instructions = made.second_item(at, partial(take_token, up, held))
        if held:  # the other thread puts the token back first, and then looks whether something was published
            up.token.append(held[0])
        made.source.next(3)
        if held and up.dirty:
            up.drain()
        made.source.next(4)
        made.source.complete()
        assert made.got == [*given(name, 1, 2, 3, 4), "end"]
        if at > instructions:
            return


def test_control_where_two_hold_the_token_the_answer_comes_inside_of_the_item() -> None:
    for at in count():
        made = Serial("flat_map_iterable")
        made.source.next(1)
        up: Any = made.up
        up.token = NeverTaken(up.token)
        instructions = interrupted(partial(made.source.next, 2), (at, partial(up.request, 0)), watch=WATCHED)
        if made.overlaps:
            return
        assert at <= instructions, "the race was not caught"


@every
def test_an_item_from_inside_of_another_comes_behind_it(name: str) -> None:
    made = Serial(name)
    made.up.request(100)
    made.source.next(1)
    made.within[len(made.got)] = partial(made.source.next, 3)
    made.source.next(2)
    made.source.complete()
    assert not made.overlaps
    assert made.got == [*given(name, 1, 2, 3), "end"]


def test_an_item_that_comes_as_the_stages_end_is_thrown_away_once() -> None:
    for at in count():
        source: ManualPublisher[int] = ManualPublisher()
        thrown: list[int] = []
        got: TestSubscriber[int] = TestSubscriber(1)
        Flowable.wrap(source).flat_map_iterable(lambda item: (item,)).take(2).do_on_discard(thrown.append).subscribe(got)
        source.next(1, 2)
        instructions = interrupted(partial(source.next, 3), (at, partial(got.request, 5)), watch=WATCHED)
        got.assert_result(1, 2)
        assert source.cancelled
        assert thrown == [3]
        if at > instructions:
            return


def failing(error: BaseException) -> Callable[[int], tuple[int, ...]]:
    def several(item: int) -> tuple[int, ...]:
        if item == 2:
            raise error
        return item, item

    return several


def test_what_a_function_raises_ends_the_stream_behind_what_was_given() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.wrap(source).flat_map_iterable(failing(KeyError("no"))).subscribe(got)
    source.next(1, 2)
    assert source.cancelled
    got.assert_failure(KeyError, 1, 1)


def test_an_interrupt_in_a_function_leaves_through_the_source_which_is_cancelled() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.wrap(source).flat_map_iterable(failing(KeyboardInterrupt())).subscribe(got)
    source.next(1)
    with pytest.raises(KeyboardInterrupt):
        source.next(2)
    assert source.cancelled
    got.assert_values(1, 1)


def test_what_a_callback_raises_is_told_and_cancels_the_source() -> None:
    signals: list[Any] = []

    def take(item: int) -> None:
        signals.append(item)
        if item == 2:
            raise KeyError

    source: ManualPublisher[int] = ManualPublisher()
    Flowable.wrap(source).flat_map_iterable(lambda item: (item, item)).subscribe(
        take, on_error=lambda error: signals.append(type(error))
    )
    source.next(1, 2)
    assert source.cancelled
    assert signals == [1, 1, 2, KeyError]


def test_a_subscriber_that_raises_has_left() -> None:
    made = Serial("flat_map_iterable")
    made.source.next(1)

    def fail() -> None:
        made.inside = False
        raise KeyError

    made.within[len(made.got)] = fail
    with pytest.raises(KeyError):
        made.source.next(2)
    assert made.source.cancelled
    assert made.got == [10, 11, 20]


def test_a_stage_that_has_enough_behind_its_last_item_ends_the_stream() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.wrap(source).flat_map_iterable(lambda item: (item, item)).take(3).subscribe(got)
    source.next(1, 2)
    assert source.cancelled
    got.assert_result(1, 1, 2)


@pytest.mark.parametrize("name", ["concat_map to one", "scan_with"])
def test_a_request_for_which_no_stack_is_left_leaves_the_gate_free(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    made = Serial(name)
    made.up.request(100)
    made.source.next(1)

    def no_stack(*_args: object) -> None:
        monkeypatch.undo()
        raise RecursionError

    monkeypatch.setattr(inputs.QueuedInput, "took", no_stack)
    with contextlib.suppress(RecursionError):
        for item in range(2, 32):  # more is requested with one of these
            made.source.next(item)
    made.up.request(1)  # who gets the token next signals it
    assert made.got[-1] is RecursionError

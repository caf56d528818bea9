"""Differences that the property found, each as small as it was shrunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_ops import Flowable, aggregates
from rx_testing import TestSubscriber, VirtualScheduler
from tests.invisible.forms import COLD, HOT, OFF, STACKED, WALLS, Mode, switched

EVERY = pytest.mark.parametrize("mode", [COLD, HOT, STACKED, OFF, WALLS], ids=str)


class Source:
    """An endless iterable that counts what was taken of it."""

    def __init__(self) -> None:
        self.taken = 0

    def __iter__(self) -> Iterator[int]:
        while self.taken < 1_000:
            self.taken += 1
            yield self.taken


CHAINS: dict[str, Callable[[Flowable[int]], Flowable[int]]] = {
    "nothing": lambda flow: flow,
    "map": lambda flow: flow.map(abs),
    "filter": lambda flow: flow.filter(bool),
    "expanding": lambda flow: flow.flat_map_iterable(lambda x: (x,)),
    "two": lambda flow: flow.map(abs).do_on_complete(lambda: None),
}


@EVERY
@pytest.mark.parametrize("chain", CHAINS)
def test_a_users_iterator_is_not_asked_again_after_a_cancel_in_on_next(chain: str, mode: Mode) -> None:
    """With unbounded demand it was asked once more before anybody looked: an element of a shared iterator was lost."""
    if mode is OFF and chain == "expanding":
        return  # apart from its source it has a queue, which asks for what is requested: everything
    source = Source()
    got = TestSubscriber[int](cancel_after=3)
    with switched(mode):
        flow = CHAINS[chain](Flowable.from_iterable(source))
        (flow.hide() if mode is WALLS else flow).subscribe(got)
    got.assert_values(1, 2, 3).assert_not_terminated()
    assert source.taken == 3


@EVERY
def test_a_users_iterator_is_not_asked_again_after_a_failure(mode: Mode) -> None:
    source = Source()
    got = TestSubscriber[int]()
    with switched(mode):
        flow = Flowable.from_iterable(source)
        (flow.hide() if mode is WALLS else flow).map(lambda x: 1 // (3 - x)).subscribe(got)
    got.assert_failure(ZeroDivisionError, 0, 1)
    assert got.requested == UNBOUNDED
    assert source.taken == 3


@EVERY
def test_an_item_that_comes_at_the_end_goes_out_before_a_later_stage_hears_of_the_end(mode: Mode) -> None:
    """Pushed through stages, count gave its item to a do_on_complete that failed, and it was lost."""

    def fail() -> None:
        raise ValueError("at the end")

    got = TestSubscriber[int]()
    with switched(mode):
        Flowable.of(1, 2).hide().count().to_flowable().do_on_complete(fail).subscribe(got)
    got.assert_failure(ValueError, 2)


@EVERY
def test_take_0_completes_although_its_source_cannot_be_made(mode: Mode) -> None:
    """It subscribes, cancels at once and completes; apart, the failure came too late to matter, fused it came first."""

    def fail() -> Flowable[int]:
        raise ValueError("no source")

    got = TestSubscriber[int]()
    with switched(mode):
        Flowable.defer(fail).take(0).concat_with(Flowable.just(7)).subscribe(got)
    got.assert_result(7)


@EVERY
@pytest.mark.parametrize("kind", [ValueError, GeneratorExit])
def test_what_is_raised_before_the_first_item_names_its_operator(kind: type[BaseException], mode: Mode) -> None:
    """Where stages are pushed through, the note was looked for in the frame of the subscriber."""

    def fail() -> list[int]:
        raise kind("broken")

    got = TestSubscriber[list[int]]()
    with switched(mode):
        Flowable.of(1).hide().collect(fail, list.append).to_flowable().subscribe(got)
    error = got.error
    assert isinstance(error, RuntimeError if kind is GeneratorExit else kind)
    assert "in collect(" in "".join(error.__notes__)


@EVERY
def test_a_promise_that_nobody_upstream_can_keep_is_not_translated_twice(mode: Mode) -> None:
    """element_at asks for two elements once. It was told of a request, then asked, and the second time it asked for none."""
    clock = VirtualScheduler()
    got = TestSubscriber[int](request=1)
    with switched(mode):
        flow = Flowable.just(1).hide().hide().element_at(1).to_flowable().hide()
        flow.observe_on(clock, prefetch=4).subscribe(got)
        clock.run_due()
    got.assert_result()


@EVERY
def test_a_source_of_merge_that_iterates_without_being_a_generator_comes_to_its_end(mode: Mode) -> None:
    """Only a generator tells that it is over: repeat(0), which gives a plain empty iterator, got one turn after the other."""
    got = TestSubscriber[int](request=2)
    with switched(mode):
        Flowable.merge(Flowable.empty().repeat(0), Flowable.range(2)).subscribe(got)
        got.request(1)
    got.assert_result(0, 1)


TAILS: dict[str, Callable[[Flowable[int]], Flowable[Any]]] = {
    "buffer": lambda flow: flow.buffer(2, 1),
    "group_reduce": lambda flow: flow.group_reduce(abs, abs, max),
    "group_aggregate": lambda flow: flow.group_aggregate(abs, top=aggregates.max(abs)),
}


@pytest.mark.parametrize("tail", TAILS)
def test_an_end_behind_the_loop_that_is_known_does_not_depend_on_how_often_the_shape_ran(tail: str) -> None:
    """A mark behind the loop was in compiled code only, and nobody took it for a reason to compile."""
    ended = []
    for mode in (COLD, HOT):
        got = TestSubscriber[Any](request=3)
        with switched(mode):
            TAILS[tail](Flowable.of(1, 2, 3)).subscribe(got)
        ended.append(got.is_terminated)
    assert ended == [True, True]


@EVERY
@pytest.mark.parametrize("count", [0, 2])
def test_a_source_that_is_over_keeps_the_worker_for_items_that_wait(count: int, mode: Mode) -> None:
    """The stage had its last item and cancelled subscribe_on, which disposed the worker: nothing came of what was requested."""
    clock = VirtualScheduler()
    got = TestSubscriber[Any](request=0)
    with switched(mode):
        numbers = Flowable.range(count).subscribe_on(clock).default_if_empty(7).take(2)
        numbers.window(1).concat_map(lambda window: window.to_list()).subscribe(got)
    clock.run_due()
    got.request(5)
    clock.run_due()
    got.assert_result(*([n] for n in range(count) or (7,)))

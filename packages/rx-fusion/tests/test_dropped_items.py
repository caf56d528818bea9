"""Items that stages drop are asked for again several at a time, and a source that may send something never waits for that."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import rx_fusion
from rx_fusion._step_subscriber import StepSubscriber
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber
from rx_testing.racing import interrupted

#: Behind a wall of ours the generated function counts, behind a foreign source the subscriber does.
IN_FRONT: dict[str, Callable[[Flowable[int]], Flowable[int]]] = {"ours": lambda flow: flow.hide(), "foreign": lambda flow: flow}
STAGES: dict[str, Callable[[Flowable[int]], Flowable[Any]]] = {
    "filter": lambda flow: flow.filter(bool),
    "two filters": lambda flow: flow.filter(lambda x: x >= 0).filter(bool),
    "before buffer": lambda flow: flow.filter(bool).buffer(2),
    "behind buffer": lambda flow: flow.buffer(2).filter(any),
    "before take": lambda flow: flow.filter(bool).take(1_000),
    "distinct_until_changed": lambda flow: flow.map(bool).distinct_until_changed(),
    "skip": lambda flow: flow.skip(5),
}


class Asking:
    """A source that notes each request."""

    def __init__(self) -> None:
        self.requests: list[int] = []

    def subscribe(self, subscriber: Any, /) -> None:
        self.subscriber = subscriber
        subscriber.on_subscribe(self)

    def request(self, n: int, /) -> None:
        self.requests.append(n)

    def cancel(self) -> None:
        pass


@pytest.mark.parametrize("stages", STAGES.values(), ids=STAGES)
@pytest.mark.parametrize("in_front", IN_FRONT.values(), ids=IN_FRONT)
@pytest.mark.parametrize("seed", range(10))
def test_as_long_as_something_is_wanted_the_source_may_send(
    in_front: Callable[[Flowable[int]], Flowable[int]], stages: Callable[[Flowable[int]], Flowable[Any]], seed: int
) -> None:
    chance = random.Random(seed)
    source, got = Asking(), TestSubscriber[Any](request=0)
    stages(in_front(Flowable.wrap(source))).subscribe(got)
    wanted = 0
    share = chance.random()
    for sent in range(400):
        if len(got.values) == wanted or chance.random() < 0.1:
            more = chance.choice((1, 2, 3, 10, 128))
            got.request(more)
            wanted += more
        assert sum(source.requests) > sent, "all that was asked for has come, and no more is asked for"
        source.subscriber.on_next(int(chance.random() < share))
        assert len(got.values) <= wanted


@pytest.mark.parametrize("in_front", IN_FRONT.values(), ids=IN_FRONT)
def test_a_request_is_made_for_many_dropped_items(in_front: Callable[[Flowable[int]], Flowable[int]]) -> None:
    source, got = Asking(), TestSubscriber[int](request=128)
    in_front(Flowable.wrap(source)).filter(bool).subscribe(got)
    for _ in range(1_280):
        source.subscriber.on_next(0)
    assert source.requests == [128] + [64] * 20
    for _ in range(128):
        source.subscriber.on_next(1)
    assert len(got.values) == 128
    assert sum(source.requests) == 1_280 + 128


@pytest.mark.parametrize("in_front", IN_FRONT.values(), ids=IN_FRONT)
def test_functions_behind_take_are_no_exception(in_front: Callable[[Flowable[int]], Flowable[int]]) -> None:
    """They want everything, and take asks for what it needs of that."""
    source, got = Asking(), list[int]()
    in_front(Flowable.wrap(source)).filter(bool).take(128).subscribe(got.append)
    for _ in range(1_280):
        source.subscriber.on_next(0)
    assert source.requests == [128] + [64] * 20
    for _ in range(128):
        source.subscriber.on_next(1)
    assert len(got) == 128


@pytest.mark.parametrize("in_front", IN_FRONT.values(), ids=IN_FRONT)
def test_who_wants_one_item_has_each_dropped_one_replaced_at_once(in_front: Callable[[Flowable[int]], Flowable[int]]) -> None:
    source, got = Asking(), TestSubscriber[int](request=1)
    in_front(Flowable.wrap(source)).filter(bool).subscribe(got)
    for _ in range(3):
        source.subscriber.on_next(0)
    assert source.requests == [1, 1, 1, 1]


class AnswersInside(Asking):
    """A source that answers a request before it returns, also one made inside of an item."""

    def __init__(self, items: list[int]) -> None:
        super().__init__()
        self.items = items

    def request(self, n: int, /) -> None:
        super().request(n)
        for _ in range(n):
            if self.items:
                self.subscriber.on_next(self.items.pop(0))


@pytest.mark.parametrize("in_front", IN_FRONT.values(), ids=IN_FRONT)
@pytest.mark.parametrize("through", [lambda flow: flow, lambda flow: Flowable.concat(flow, Flowable.never())], ids=["", "concat"])
def test_a_source_that_answers_inside_of_an_item_is_asked_on(
    in_front: Callable[[Flowable[int]], Flowable[int]], through: Callable[[Flowable[int]], Flowable[int]]
) -> None:
    items = [int(n % 7 == 0) for n in range(210)]
    got = TestSubscriber[int](request=30)
    in_front(through(Flowable.wrap(AnswersInside(items)))).filter(bool).subscribe(got)
    assert len(got.values) == 30


class SendsTooEarly(Asking):
    """A source that breaks RS 1.9: an item comes before the Subscription."""

    def subscribe(self, subscriber: Any, /) -> None:
        subscriber.on_next(0)
        super().subscribe(subscriber)


def test_a_source_that_sends_before_it_can_be_asked_is_not_asked_then() -> None:
    source, got = SendsTooEarly(), TestSubscriber[int](request=1)
    Flowable.wrap(source).filter(bool).subscribe(got)
    source.subscriber.on_next(1)
    assert got.values == [1]


def ask_while_items_are_dropped() -> None:
    """Before each instruction of a request two items are dropped, the last ones that were asked for."""
    at, instructions = 0, 1
    while at <= instructions:
        source, got = ManualPublisher[int](), TestSubscriber[int](request=4)
        Flowable.wrap(source).filter(bool).subscribe(got)
        source.next(1, 1)
        both = partial(got.request, 3), (at, partial(source.next, 0, 0))
        instructions = interrupted(*both, watch=[rx_fusion.__path__[0]])
        for sent in range(4, 4 + 3 + 2):
            assert source.requested > sent, "more is wanted, and all that was asked for has come"
            source.next(1)
        assert got.values == [1] * 7
        at += 1
    assert instructions > 5


def test_a_request_beside_dropped_items_is_counted() -> None:
    """Downstream requests on its thread while the source drops on another one: they do not share a counter."""
    ask_while_items_are_dropped()


def test_control_dropped_items_that_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StepSubscriber, "tally", lambda _steps, _came, mark: mark + 1)
    with pytest.raises(AssertionError):
        ask_while_items_are_dropped()

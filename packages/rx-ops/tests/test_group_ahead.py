"""group_by in front of flat_map under demand: one loop that gives what the two operators give, as early as they do."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rx_core.gate
from rx_core import UNBOUNDED
from rx_core.streams import one_at_a_time, op
from rx_fusion import fusion_off
from rx_ops import Flowable, GroupedFlowable, PublishProcessor
from rx_ops.operators import _group_ahead, _read_ahead
from rx_ops.operators._group_ahead import GroupsAhead
from rx_testing import TestSubscriber
from rx_testing.racing import interrupted


class Boom(Exception):
    pass


class Down:
    """Requests as it is told: at once, with its nth item, and from outside."""

    def __init__(self, first: int, more: dict[int, int], leaves: int) -> None:
        self.log: list[Any] = []
        self.first = first
        self.more = more
        self.leaves = leaves
        self.handle: Any = None
        self.count = 0

    def on_subscribe(self, handle: Any, /) -> None:
        self.handle = handle
        if self.first:
            handle.request(self.first)

    def on_next(self, item: Any, /) -> None:
        self.log.append(item)
        self.count += 1
        if self.count == self.leaves:
            self.handle.cancel()
        elif self.count in self.more:
            self.handle.request(self.more[self.count])

    def on_error(self, error: Exception, /) -> None:
        self.log.append(type(error))

    def on_complete(self) -> None:
        self.log.append("|")


Mapper = Callable[[GroupedFlowable[Any, Any]], Any]


def failing_at(limit: int) -> Callable[[int], int]:
    def function(item: int) -> int:
        if item >= limit:
            raise Boom
        return item

    return function


def mappers(rng: random.Random) -> tuple[str, Mapper]:
    limit = rng.randrange(12)
    hot = PublishProcessor[int]()
    made: dict[str, Mapper] = {
        "itself": lambda group: group,
        "map": lambda group: group.map(lambda item: (group.key, item)),
        "map fails": lambda group: group.map(failing_at(limit)),
        "filter": lambda group: group.filter(lambda item: item % 2 == 0),
        "scan": lambda group: group.scan(lambda total, item: total + item),
        "take": lambda group: group.take(2),
        "count": lambda group: group.count(),
        "to_list": lambda group: group.to_list(),
        "several": lambda group: group.flat_map_iterable(lambda item: (item, -item)),
        "once more": lambda group: group.concat_with(Flowable.of("end")),
        "one pushes": lambda group: hot if group.key == 1 else group,
        "one fails": lambda group: Flowable.error(Boom()) if group.key == 2 else group,
        "raises": lambda group: group if group.key != 2 else failing_at(0)(0),
        "no source": lambda group: group if group.key != 2 else None,
        "one is left": lambda group: group if group.key != 0 else Flowable.of("left"),
    }
    name = rng.choice(list(made))
    return name, made[name]


def source_of(rng: random.Random) -> tuple[str, Callable[[], Flowable[int]]]:
    size, limit = rng.choice([0, 1, 3, 9, 40, 100]), rng.randrange(20)

    def items() -> Iterator[int]:
        for item in range(size):
            if item == limit:
                raise Boom
            yield item

    made: dict[str, Callable[[], Flowable[int]]] = {
        "range": lambda: Flowable.range(size),
        "fails": lambda: Flowable.from_iterable(items()),
        "list": lambda: Flowable.from_iterable([(item * 7) % 11 for item in range(size)]),
        "with a stage": lambda: Flowable.range(size).map(failing_at(limit + 9)),
    }
    name = rng.choice(list(made))
    return f"{name} {size} {limit}", made[name]


def one_run(seed: int) -> tuple[str, list[Any]]:
    """What a subscriber got, and between which of its requests."""
    rng = random.Random(seed)
    about, source = source_of(rng)
    name, mapper = mappers(rng)
    keys = rng.choice([1, 2, 3, 7])
    key: Callable[[int], int] = failing_at(9) if rng.random() < 0.15 else lambda item: item % keys
    flow: Flowable[Any] = source().group_by(key).flat_map(mapper)
    if rng.random() < 0.3:
        flow = flow.map(lambda item: (item,))
    first = rng.choice([0, 1, 2, 5, 200, UNBOUNDED])
    more = {rng.randrange(1, 9): rng.choice([1, 3, UNBOUNDED]) for _ in range(rng.randrange(3))}
    down = Down(first, more, rng.choice([0, 0, 0, 4]))
    flow.subscribe_actual(down)
    for _ in range(4):
        down.log.append("asks")
        down.handle.request(rng.choice([1, 2, 100, 0 if rng.random() < 0.1 else 7]))
    down.handle.cancel()
    return f"seed {seed}: {about}, {name}", down.log


def test_it_gives_what_the_two_operators_give_between_the_same_requests() -> None:
    for seed in range(2500):
        about, log = one_run(seed)
        with fusion_off():
            assert (about, log) == one_run(seed)


def test_of_many_that_wait_each_group_has_its_order() -> None:
    got: TestSubscriber[int] = TestSubscriber(request=1)
    Flowable.range(1000).group_by(lambda item: item % 3).flat_map(lambda group: group).subscribe(got)
    for _ in range(9):
        got.request(111)
    got.assert_complete()
    assert [[item for item in got.values if item % 3 == key] for key in range(3)] == [
        list(range(key, 1000, 3)) for key in range(3)
    ]


def test_it_is_made_for_a_subscriber_that_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[GroupsAhead] = []
    start = GroupsAhead.start

    def noted(op: GroupsAhead) -> bool:
        made.append(op)
        return start(op)

    monkeypatch.setattr(GroupsAhead, "start", noted)
    got: TestSubscriber[int] = TestSubscriber(request=2)
    Flowable.range(5).group_by(lambda item: item % 2).flat_map(lambda group: group).subscribe(got)
    assert len(made) == 1
    got.assert_values(0, 1)
    got.request(9)
    got.assert_result(0, 1, 2, 3, 4)
    for flow in (
        Flowable.range(5).hide().group_by(abs).flat_map(lambda group: group),
        Flowable.range(5).group_by(abs, buffer_size=2).flat_map(lambda group: group),
        Flowable.range(5).group_by(abs).flat_map(lambda group: group, prefetch=1),
        Flowable.range(5).group_by(abs).flat_map(lambda group: group, delay_error=True),
    ):
        flow.subscribe(TestSubscriber[int](request=9))
    assert len(made) == 1


def test_functions_are_called_for_a_window_beyond_what_is_requested() -> None:
    calls: list[int] = []

    def key(item: int) -> int:
        calls.append(item)
        return item % 3

    got: TestSubscriber[int] = TestSubscriber(request=10)
    Flowable.range(1000).group_by(key).flat_map(lambda group: group).subscribe(got)
    assert got.values == list(range(10))
    assert len(calls) == 10 + 128
    got.request(1)
    assert len(calls) == 10 + 1 + 128


def test_an_error_goes_ahead_of_items_that_wait() -> None:
    got: TestSubscriber[int] = TestSubscriber(request=1)
    Flowable.range(9).map(failing_at(5)).group_by(lambda item: item % 2).flat_map(lambda group: group).subscribe(got)
    assert got.values == [0]
    assert type(got.error) is Boom


WATCHED = [rx_core.gate.__file__, one_at_a_time.__file__, _group_ahead.__file__, _read_ahead.__file__, op.__file__]


def cancelled_everywhere() -> None:
    at, instructions = 0, 1
    while at <= instructions:
        closed: list[bool] = []
        opened: list[bool] = []

        def items() -> Iterator[int]:
            opened.append(True)  # noqa: B023  # it runs in this turn
            try:
                yield from range(200)
            finally:
                closed.append(True)  # noqa: B023

        down = Down(3, {}, 0)
        flow = Flowable.from_iterable(items()).group_by(lambda item: item % 2).flat_map(lambda group: group)
        state = {"left": 0}

        def leave() -> None:
            if down.handle is not None:  # noqa: B023
                down.handle.cancel()  # noqa: B023
                state["left"] = len(down.log) + 1  # noqa: B023

        def run() -> None:
            flow.subscribe_actual(down)  # noqa: B023
            down.handle.request(2)  # noqa: B023

        instructions = interrupted(run, (at, leave), watch=WATCHED)
        if state["left"]:
            assert closed == opened
            assert len(down.log) <= state["left"]  # one may be on its way
        else:
            down.handle.cancel()
        at += 3
    assert instructions > 300


def test_a_cancel_anywhere_closes_the_source_and_gives_nothing_more() -> None:
    cancelled_everywhere()


def test_the_control_leaves_the_source_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GroupsAhead, "close", lambda _op: None)
    with pytest.raises(AssertionError):
        cancelled_everywhere()

"""Pipelines that are too much for one generated function: loops in loops in loops, and very many statements."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any

import pytest

from rx_fusion import _shapes
from rx_fusion._forms import MAX_STAGES
from rx_ops import Flowable, stage
from rx_testing import TestSubscriber

Flow = Flowable[Any]

DEEP = 30


def again(item: Any) -> list[Any]:
    return [item]


def behind(flow: Flow, step: Callable[[Flow], Flow], times: int = DEEP) -> Flow:
    for _ in range(times):
        flow = step(flow)
    return flow


STEPS: dict[str, Callable[[Flow], Flow]] = {
    "flat_map_iterable": lambda flow: flow.flat_map_iterable(again),
    "concat_map": lambda flow: flow.concat_map(Flowable.just),
    "flat_map": lambda flow: flow.flat_map(Flowable.just),
    "mixed": lambda flow: (
        flow.map(lambda x: x).flat_map_iterable(again).concat_map(Flowable.just).filter(lambda x: x is not None)
    ),
}
SOURCES: dict[str, Callable[[], Flow]] = {
    "iterated": lambda: Flowable.range(5),
    "may have to wait": lambda: Flowable.merge(Flowable.range(3), Flowable.range(3, 5)),
}


@pytest.fixture(autouse=True)
def hot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_shapes, "HOT_RUNS", -1)


@pytest.mark.parametrize("step", STEPS.values(), ids=list(STEPS))
@pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))
def test_they_run_all_the_same(source: Callable[[], Flow], step: Callable[[Flow], Flow]) -> None:
    flow = behind(source(), step)
    assert flow.blocking_list() == [0, 1, 2, 3, 4]
    assert flow.take(2).blocking_list() == [0, 1]
    assert flow.sum().blocking_get() == 10
    got: TestSubscriber[Any] = TestSubscriber(request=2)
    flow.subscribe(got)
    got.assert_values(0, 1)
    got.request(10)
    got.assert_result(0, 1, 2, 3, 4)


@pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))
def test_an_error_says_which_stage(source: Callable[[], Flow]) -> None:
    def broken(item: int) -> int:
        return 6 // (item - 3) // 6 or -1

    flow = behind(behind(source(), STEPS["flat_map_iterable"]).map(broken), STEPS["flat_map_iterable"])
    items: list[Any] = []
    with pytest.raises(ZeroDivisionError) as caught:
        flow.do_on_next(items.append).blocking_list()
    assert items == [-1, -1, -1]
    (note,) = caught.value.__notes__
    assert note.startswith("in map(")
    assert "broken" in note.partition(" of ")[0]


def test_leaving_closes_the_source() -> None:
    closed: list[str] = []
    flow = behind(Flowable.merge(Flowable.range(5), Flowable.never()).do_finally(lambda: closed.append("closed")), STEPS["mixed"])
    for item in flow:
        if item == 2:
            break
    assert closed == ["closed"]


def test_none_between_the_halves_is_an_error() -> None:
    flow = behind(
        behind(SOURCES["may have to wait"](), STEPS["flat_map_iterable"]).map(lambda x: None if x == 1 else x), STEPS["mixed"]
    )
    with pytest.raises(TypeError, match="map"):
        flow.blocking_list()


MANY = 1_000


def increased(flow: Flow, times: int = MANY) -> Flow:
    return behind(flow, lambda flow: flow.map(lambda x: x + 1), times)


@pytest.mark.parametrize("runs", [-1, 8], ids=["compiled", "as often as it is"])
@pytest.mark.parametrize("source", [lambda: Flowable.range(5), lambda: Flowable.range(5).hide()], ids=["iterated", "pushed"])
def test_more_stages_than_python_has_frames_run_all_the_same(
    source: Callable[[], Flow], runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four hundred did eight times over a short source. The ninth failed with a RecursionError, as the first over a long one."""
    monkeypatch.setattr(_shapes, "HOT_RUNS", runs)
    flow = increased(source())
    expected = [*range(MANY, MANY + 5)]
    assert flow.blocking_list() == expected
    assert flow.sum().blocking_get() == sum(expected)
    got: list[Any] = []
    flow.subscribe(got.append, got.append)
    assert got == expected
    asked: TestSubscriber[Any] = TestSubscriber(request=2)
    flow.subscribe(asked)
    asked.assert_values(*expected[:2])
    asked.request(10)
    asked.assert_result(*expected)


class Counted:
    """Can be iterated again and again, and tells of the latest time how many were given and whether it was closed."""

    given = 0
    closed = False

    def __iter__(self) -> Iterator[int]:
        self.closed = False
        try:
            for self.given in count(1):
                yield self.given
        finally:
            self.closed = True


@pytest.mark.parametrize("front", [100, 300, 900])
def test_a_stage_among_many_ends_the_source_wherever_it_stands(front: int) -> None:
    source = Counted()
    flow = increased(increased(Flowable.from_iterable(source), front).take(3), MANY - front)
    for consume in (Flow.blocking_list, into_callbacks, into_subscriber):
        assert consume(flow) == [MANY + 1, MANY + 2, MANY + 3], consume
        assert (source.given, source.closed) == (3, True), consume
    last: TestSubscriber[Any] = TestSubscriber(request=3)
    flow.subscribe(last)
    last.assert_result(MANY + 1, MANY + 2, MANY + 3)  # without a request for more


def test_the_last_item_of_the_first_half_is_not_the_last_where_the_second_makes_several_of_it_or_none() -> None:
    taken = increased(Flowable.range(9), 100).take(2)
    builds: list[tuple[Callable[[Flow], Flow], list[int]]] = [
        (lambda flow: flow.flat_map_iterable(lambda x: [x, x]), [MANY, MANY, MANY + 1, MANY + 1]),
        (lambda flow: flow.concat_with(Flowable.just(7)), [MANY, MANY + 1, 7]),
        (lambda flow: flow.filter(lambda x: x % 2 == 0), [MANY]),
    ]
    for build, expected in builds:
        for request in range(1, 5):
            got: TestSubscriber[Any] = TestSubscriber(request=request)
            build(increased(taken, MANY - 100)).subscribe(got)
            got.assert_values(*expected[:request])
            got.request(9)
            got.assert_result(*expected)


@pytest.mark.parametrize("front", [100, 300, 900])
def test_an_error_among_many_stages_names_the_one_that_raised(front: int) -> None:
    def fails(x: int) -> int:
        raise ValueError(x)

    source = Counted()
    flow = increased(increased(Flowable.from_iterable(source), front).map(fails), MANY - front)
    with pytest.raises(ValueError, match=str(front + 1)) as raised:
        flow.blocking_list()
    assert any("fails" in note for note in raised.value.__notes__)
    assert source.closed


def test_none_given_to_many_stages_is_an_error_of_the_source() -> None:
    with pytest.raises(TypeError, match="from_iterable"):
        increased(Flowable.from_iterable([1, None])).blocking_list()


@stage
def blank(source: Iterable[Any]) -> Iterator[Any]:
    for _ in source:
        yield None


@pytest.mark.parametrize(
    ("source", "front"),
    [(Flowable.range(3), MANY // 2), (Flowable.range(3).hide(), MAX_STAGES - 1)],
    ids=["iterated", "pushed"],
)
def test_none_of_a_stage_is_an_error_of_that_stage_where_the_stages_are_parted_behind_it(source: Flow, front: int) -> None:
    flow = increased(increased(source, front).stage(blank), MANY - front)
    with pytest.raises(TypeError, match="blank"):
        flow.blocking_list()


@pytest.mark.parametrize("source", [lambda: Flowable.range(5), lambda: Flowable.range(5).hide()], ids=["iterated", "pushed"])
def test_where_the_stack_is_too_short_to_write_a_function_the_stages_are_stacked(source: Callable[[], Flow]) -> None:
    """Three frames a stage are not there, one is; and the next run, from elsewhere, writes it."""
    flow = increased(source(), MANY)
    expected = [*range(MANY, MANY + 5)]

    def deep(frames: int) -> list[Any]:
        return deep(frames - 1) if frames else flow.blocking_list()

    assert deep(sys.getrecursionlimit() - 600) == expected
    assert flow.blocking_list() == expected


def test_a_cancel_ends_many_stages() -> None:
    source = Counted()
    got: TestSubscriber[Any] = TestSubscriber(request=2)
    increased(Flowable.from_iterable(source)).subscribe(got)
    got.assert_values(MANY + 1, MANY + 2)
    got.cancel()
    assert (source.given, source.closed) == (2, True)


def into_callbacks(flow: Flow) -> list[Any]:
    got: list[Any] = []
    flow.subscribe(got.append, got.append)
    return got


def into_subscriber(flow: Flow) -> list[Any]:
    got: TestSubscriber[Any] = TestSubscriber(request=7)
    flow.subscribe(got)
    got.assert_complete()
    return list(got.values)

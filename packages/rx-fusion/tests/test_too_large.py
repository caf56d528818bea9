"""Pipelines that are too much for one generated function: loops in loops in loops, and very many statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_fusion import _shapes
from rx_ops import Flowable
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

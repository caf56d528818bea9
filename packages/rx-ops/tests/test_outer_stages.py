"""Stages between a source that pushes and an operator that runs sources of its items: they belong to that source.

So the source is asked for what they need and not for the operator's window, and what they make of its items, and of its error,
is what the operator is told.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from rx_fusion import fusion_off
from rx_ops import BackpressureStrategy, Flowable, Observable
from rx_testing import ManualPublisher, TestSubscriber

OPERATORS: dict[str, Callable[[Any, Callable[[int], Any]], Any]] = {
    "flat_map": lambda flow, inner: flow.flat_map(inner),
    "concat_map": lambda flow, inner: flow.concat_map(inner),
    "concat_map_delay_error": lambda flow, inner: flow.concat_map(inner, delay_error=True),
    "switch_map": lambda flow, inner: flow.switch_map(inner),
    "merge": lambda flow, inner: flow.merge_with(Flowable.empty()).flat_map(inner),
    "concat": lambda flow, inner: flow.concat_with(Flowable.empty()).flat_map(inner),
}

TAKES: dict[str, Callable[[Any], Any]] = {
    "take": lambda flow: flow.take(2),
    "map, take": lambda flow: flow.map(lambda x: x).take(2),
    "take, filter": lambda flow: flow.take(2).filter(lambda _x: True),
    "element_at": lambda flow: flow.element_at(1).to_flowable(),
}


@pytest.fixture(params=["fused", "off"])
def mode(request: pytest.FixtureRequest) -> Any:
    with nullcontext() if request.param == "fused" else fusion_off():
        yield request.param


@pytest.mark.usefixtures("mode")
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("takes", TAKES)
def test_the_source_is_asked_for_no_more_than_the_stages_take(operator: str, takes: str) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber()
    OPERATORS[operator](TAKES[takes](Flowable.wrap(source)), Flowable.just).subscribe(got)
    assert source.requested <= 2
    source.next(1, 2)
    assert source.cancelled
    got.assert_complete()


ENOUGH: dict[str, Callable[[Any], Any]] = {
    "take": lambda flow: flow.take(2),
    "take_while": lambda flow: flow.take_while(lambda x: x < 3),
    "take, map": lambda flow: flow.take(2).map(lambda x: x),
    "take, repeated items": lambda flow: flow.take(2).flat_map_iterable(lambda x: (x,)),
    "distinct, take": lambda flow: flow.distinct().take(2),
}


@pytest.mark.usefixtures("mode")
@pytest.mark.parametrize("face", [Flowable, Observable])
@pytest.mark.parametrize("operator", ["flat_map", "concat_map"])
@pytest.mark.parametrize("enough", ENOUGH)
def test_an_error_behind_the_last_item_that_is_taken_is_no_error(operator: str, enough: str, face: Any) -> None:
    if (operator, enough, face) == ("flat_map", "take, repeated items", Flowable):
        pytest.skip("the queue in front of the stages refuses what it has not asked for (RS 1.1)")
    source: ManualPublisher[int] = ManualPublisher(unchecked=True)
    inners = {n: ManualPublisher[int]() for n in (1, 2)}
    got: TestSubscriber[Any] = TestSubscriber()
    flow: Any = Flowable.wrap(source)
    flow = flow if face is Flowable else flow.to_observable()
    wrap = Flowable.wrap if face is Flowable else lambda inner: Flowable.wrap(inner).to_observable()
    options = {"max_concurrency": 1} if operator == "flat_map" else {}
    made = getattr(ENOUGH[enough](flow), operator)(lambda n: wrap(inners[n]), **options)
    (made if face is Flowable else made.to_flowable(BackpressureStrategy.BUFFER)).subscribe(got)
    source.next(1, 2, 3)
    source.error(OSError("too late"))
    inners[1].next(10)
    inners[1].complete()
    inners[2].next(20)
    inners[2].complete()
    got.assert_result(10, 20)


@pytest.mark.usefixtures("mode")
@pytest.mark.parametrize("operator", ["flat_map", "concat_map"])
def test_an_error_ends_it_before_items_that_wait_and_functions_before_it_have_run(operator: str) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    inner: ManualPublisher[int] = ManualPublisher()
    called: list[int] = []
    got: TestSubscriber[Any] = TestSubscriber()
    options = {"max_concurrency": 1} if operator == "flat_map" else {}
    flow = Flowable.wrap(source).do_on_next(called.append).filter(lambda n: n != 2)
    getattr(flow, operator)(lambda _n: Flowable.wrap(inner), **options).subscribe(got)
    source.next(1)
    sent = [1]
    if operator == "concat_map":  # it asks for two; flat_map for as many as inner sources may run
        source.next(2)
        sent += [2]
    source.error(OSError("early"))
    assert isinstance(got.error, OSError)
    assert called == sent
    assert inner.cancelled

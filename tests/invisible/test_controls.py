"""Controls: operators that are wrong on purpose are caught by the property, or it could not be trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure

from rx_core.streams import Pump
from rx_fusion import Shape, stage
from rx_ops import Flowable
from tests.invisible import building
from tests.invisible.describe import Fn, Op, Pipeline
from tests.invisible.drawing import ITEMS, pipelines, scripts, stage_pipelines
from tests.invisible.forms import COLD, HOT, OFF, Mode, run
from tests.invisible.judging import Judge
from tests.invisible.recording import Script
from tests.invisible.reference import reference
from tests.invisible.trace import items_of


@stage
def take_unmarked(source: Iterable[Any], count: int) -> Iterator[Any]:
    """Right, but for the mark: the test that stops it is not the one behind the yield."""
    taken = 0
    if count == 0:
        return
    for item in source:
        if taken == count:
            return
        taken += 1  # noqa: SIM113  # as take does
        yield item


@stage
def take_of_its_own(source: Iterable[Any], count: int) -> Iterator[Any]:
    """As take: what is made of it was not compiled by another test."""
    taken = 0
    if count == 0:
        return
    for item in source:
        taken += 1  # noqa: SIM113  # as take does
        yield item
        if taken == count:
            return


@stage
def filter_dropping_one_more(source: Iterable[Any], predicate: Callable[[Any], object]) -> Iterator[Any]:
    dropped = False
    for item in source:
        if predicate(item):
            if dropped:
                dropped = False
            else:
                yield item
        else:
            dropped = True


@stage
def map_twice(source: Iterable[Any], mapper: Callable[[Any], Any]) -> Iterator[Any]:
    """The right items, but the function is called once more than it should be."""
    for item in source:
        mapper(item)
        value = mapper(item)
        if value is None:
            raise TypeError("map produced None")
        yield value


@stage
def count_without_its_end(source: Iterable[Any]) -> Iterator[int]:
    total = 0
    for _item in source:
        total += 1
    if total:
        yield total


@stage
def scan_that_falls_over_nothing(source: Iterable[Any], accumulator: Callable[[Any, Any], Any]) -> Iterator[Any]:
    """Takes a falsy total for none at all."""
    total: Any = None
    for item in source:
        if total:
            total = accumulator(total, item)
            if total is None:
                raise TypeError("scan produced None")
        else:
            total = item
        yield total


@stage
def reading_ahead(source: Iterable[Any], action: Callable[[Any], object]) -> Iterator[Any]:
    """do_on_next that keeps one item back, so that it knows its last one: it asks for an item more than is wanted."""
    kept: list[Any] = []
    for item in source:
        action(item)
        kept.append(item)
        if len(kept) > 1:
            first = kept.pop(0)
            yield first
    for item in kept:
        yield item


def _scan(world: Any, flow: Any, fn: Any, *seed: Any) -> Any:
    return flow.scan(world.f(fn), *seed) if seed else flow.stage(scan_that_falls_over_nothing, world.f(fn))


def _map_that_hides_failures(world: Any, flow: Any, fn: Any) -> Any:
    return flow.map(world.f(fn)).on_error_resume_next(lambda _: Flowable.empty())


WRONG: dict[str, tuple[str, Callable[..., Any]]] = {
    "take without the mark": ("take", lambda w, s, n: s.stage(take_unmarked, n)),
    "filter that drops one too many": ("filter", lambda w, s, fn: s.stage(filter_dropping_one_more, w.f(fn))),
    "map that calls twice": ("map", lambda w, s, fn: s.stage(map_twice, w.f(fn))),
    "map that hides failures": ("map", _map_that_hides_failures),
    "count of nothing": ("count", lambda w, s: s.stage(count_without_its_end).take(1)),
    "scan and a falsy total": ("scan", _scan),
    "reading one item ahead": ("do_on_next", lambda w, s, fn: s.stage(reading_ahead, w.f(fn))),
}


def having(name: str) -> st.SearchStrategy[Pipeline]:
    """Pipelines with this operator, so that not many have to be tried."""
    return pipelines(often=name).filter(lambda pipeline: any(op.name == name for op in pipeline.ops))


def taking(items: tuple[int, ...], count: int) -> Pipeline:
    return Pipeline(Op("list", items), (Op("take", (count,)), Op("flat_map_iterable", (Fn("expand", "copies"),))))


def caught(mode: Mode, among: st.SearchStrategy[Pipeline], examples: int = 600) -> bool:
    """Whether the property finds a difference in so many examples, or an assertion of the library fails."""
    differences: list[AssertionError] = []

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],  # one difference is enough, however large
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(among, scripts())
    def search(pipeline: Pipeline, script: Script) -> None:
        try:
            Judge(pipeline, mode).check(run(pipeline, mode, script), script)
        except AssertionError as difference:
            differences.append(difference)
            raise

    try:
        search()
    except (AssertionError, FlakyFailure):  # the latter: it was seen, and not a second time
        pass
    return bool(differences)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_operator_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    operator, build = WRONG[name]
    monkeypatch.setitem(building.OPERATORS, operator, build)
    assert caught(HOT, having(operator))


def test_completion_that_peeks_at_the_source_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a passive source was asked for one more item when nothing is wanted any more."""
    step = Pump.step

    def peeking(pump: Any, demand: int) -> int:
        demand = step(pump, demand)
        if demand or pump.stopped:
            return demand
        try:
            for item in pump.items:
                pump.items = chain((item,), pump.items)
                return demand
        except RuntimeError:  # a function that raises StopIteration, asked for too early
            return demand
        finished: int = pump.finish()
        return finished

    monkeypatch.setattr(Pump, "step", peeking)
    assert caught(COLD, stage_pipelines())


def test_a_run_that_gives_more_than_is_wanted_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    give = Pump.give

    def unspent(run: Any, items: Any, demand: int) -> Any:
        return demand, give(run, items, demand)[1]

    monkeypatch.setattr(Pump, "give", unspent)
    assert caught(COLD, stage_pipelines().filter(lambda pipeline: len(items_of(reference(pipeline))) > 2))


def test_requests_that_are_lost_between_operators_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Apart, a filter that does not ask for another item in the place of one it dropped stands still."""
    from rx_fusion._step_subscriber import StepSubscriber

    build = StepSubscriber.__init__

    def forgetful(subscriber: Any, *args: Any, **kwargs: Any) -> None:
        build(subscriber, *args, **kwargs)
        subscriber.replenish = False

    monkeypatch.setattr(StepSubscriber, "__init__", forgetful)
    assert caught(OFF, having("filter"))


def test_a_last_mark_where_items_can_follow_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from rx_fusion._compiler import _Writer, compile_form

    build = _Writer.__init__

    def hasty(writer: Any, *args: Any, **kwargs: Any) -> None:
        build(writer, *args, **kwargs)
        writer.quiet_after = [True] * len(writer.quiet_after)

    made: dict[Any, Any] = {}  # not the cache of the shapes, which others use

    def fresh(shape: Any, form: Any) -> Any:
        if (shape, form) not in made:
            compilable = all(each.compilable for each in shape.stages)
            made[shape, form] = compile_form(shape.stages, form) if compilable else None
        return made[shape, form]

    monkeypatch.setitem(building.OPERATORS, "take", lambda w, s, n: s.stage(take_of_its_own, n))
    monkeypatch.setattr(_Writer, "__init__", hasty)
    monkeypatch.setattr(Shape, "form", fresh)
    assert caught(HOT, st.builds(taking, ITEMS, st.integers(1, 4)))


@pytest.mark.parametrize("mode", [COLD, HOT, OFF], ids=str)
def test_what_is_not_wrong_is_not_caught(mode: Mode) -> None:
    assert not caught(mode, pipelines(), 100)

"""Every compiled form of every stage against the stage functions stacked around one another, which need no compiler."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from inspect import GEN_CLOSED, getgeneratorstate
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rx_core.streams import END, Handover
from rx_fusion import Feed, Form
from rx_fusion._heads import IterableHead
from rx_fusion._loops import with_state
from rx_fusion._shapes import Shape
from rx_ops import Flowable
from tests.conformance.harness import Case, Kit
from tests.conformance.table import TABLE

ORIGIN = IterableHead("test", (), "test()")


def shape_and_args(case: Case) -> tuple[Shape, tuple[Any, ...]]:
    flow: Any = case.build(Flowable.of(1), Kit())
    return flow._shape, flow._args


def is_of_stages(case: Case) -> bool:
    flow: Any = case.build(Flowable.of(1), Kit())
    return bool(flow._shape) and repr(flow._head) == "of(1)"


STAGES = [case for case in TABLE if is_of_stages(case)]
OF_STAGES = pytest.mark.parametrize("case", STAGES, ids=str)
PULLS = [Form("pull", feed, cancel, mark) for feed in Feed for cancel, mark in ((False, False), (True, False), (True, True))]


def stacked(shape: Shape, args: tuple[Any, ...], items: Sequence[Any]) -> list[Any]:
    made: Any = iter(items)
    at = 0
    for each in shape.stages:
        size = len(each.parameters)
        made = each.function(made, *args[at : at + size])
        at += size
    return list(made)


def fed(generator: Generator[Any, Any, None], items: Sequence[Any]) -> Iterator[Any]:
    """What stages give that are sent these items, and the end behind the last one."""
    sent = iter(items)
    given = next(generator, END)
    while given is not END:
        if given is not None:
            yield given
            given = next(generator, END)
            continue
        try:
            given = generator.send(next(sent, END))
        except StopIteration:
            return


def test_most_lines_are_made_of_stages() -> None:
    assert len(STAGES) > 40


@OF_STAGES
def test_stacked_stages_give_the_expected_items(case: Case) -> None:
    shape, args = shape_and_args(case)
    for size in range(len(case.items) + 1):
        assert stacked(shape, args, case.items[:size]) == case.expected(list(case.items[:size]))


@pytest.mark.parametrize("form", PULLS, ids=str)
@OF_STAGES
def test_the_pull_forms_agree_with_the_stacked_stages(case: Case, form: Form) -> None:
    shape, args = shape_and_args(case)
    function = shape.form(form)
    assert function is not None
    for size in range(len(case.items) + 1):
        items = case.items[:size]
        run = SimpleNamespace(stopped=False, last=False)
        made = function(iter(items), run, ORIGIN, args)
        got, marked = [], []
        for item in fed(made, items) if form.feed is Feed.RUNNING else made:
            got.append(item)
            marked.append(run.last)
        assert got == stacked(shape, args, items)
        assert True not in marked[:-1]  # the mark says: this one is the last


@pytest.mark.parametrize("feed", [Feed.CLEAN, Feed.CHECKED])
@OF_STAGES
def test_the_value_form_gives_the_first_item(case: Case, feed: Feed) -> None:
    shape, args = shape_and_args(case)
    function = shape.form(Form("value", feed))
    assert function is not None
    for size in range(len(case.items) + 1):
        items = case.items[:size]
        first = next(iter(stacked(shape, args, items)), None)
        assert function(iter(items), None, ORIGIN, args) == first


@pytest.mark.parametrize("case", [case for case in STAGES if shape_and_args(case)[0].steps], ids=str)
def test_the_step_form_gives_what_belongs_to_each_item(case: Case) -> None:
    shape, args = shape_and_args(case)
    factory = shape.form(Form("step"))
    assert factory is not None
    for size in range(len(case.items) + 1):
        run = SimpleNamespace(stop=-1, last=False)
        step, finish = factory(run, args, None)
        got = []
        for item in case.items[:size]:
            if run.last:
                break
            got.append(step(item))
        got.append(finish())
        assert [item for item in got if item is not None] == stacked(shape, args, case.items[:size])


class Rest(Exception):
    """What is raised in place of the Handover."""


def go_on(shape: Shape) -> bool:
    return shape.steps and with_state(shape) is not None


@pytest.mark.parametrize("case", [case for case in STAGES if go_on(shape_and_args(case)[0])], ids=str)
def test_stages_that_were_pulled_go_on_as_steps(case: Case) -> None:
    shape, args = shape_and_args(case)
    pull, steps = shape.form(Form("pull", resumes=True)), shape.form(Form("step"))
    assert pull is not None
    assert steps is not None
    for size in range(len(case.items) + 1):
        pulled, rest = case.items[:size], case.items[size:]
        states: list[tuple[Any, ...]] = []

        def source(items: Sequence[Any] = pulled) -> Iterator[Any]:
            yield from items
            raise Handover(None)

        def resumed(_handover: Handover, state: tuple[Any, ...], states: list[tuple[Any, ...]] = states) -> Rest:
            states.append(state)
            return Rest()

        got = []
        with contextlib.suppress(Rest):
            for item in pull(source(), None, ORIGIN, args, resumed):
                got.append(item)  # up to what is raised
        if states:  # else they had enough
            run = SimpleNamespace(stop=-1, last=False, late=None)
            step, finish = steps(run, args, states[0])
            for item in rest:
                if run.last:
                    break
                got.append(step(item))
            got.append(finish())
        assert [item for item in got if item is not None] == stacked(shape, args, case.items)


@OF_STAGES
def test_a_cancelled_pull_gives_nothing_more_and_runs_no_ends(case: Case) -> None:
    shape, args = shape_and_args(case)
    for form in (form for form in PULLS if form.cancel):
        for at in range(1, 4):
            for run_it in (shape.form(form), shape.stacked):
                run = SimpleNamespace(stopped=False, last=False)
                source = (item for item in case.items)
                extra = (form,) if run_it == shape.stacked else ()
                assert run_it is not None
                made: Any = run_it(source, run, ORIGIN, args, *extra)
                if form.feed is Feed.RUNNING and not extra:
                    made = fed(made, case.items)
                got = []
                for item in made:
                    got.append(item)
                    if len(got) == at:
                        run.stopped = True
                assert len(got) <= at
                assert getgeneratorstate(source) == GEN_CLOSED or form.feed is Feed.CLEAN  # closed, where somebody could mind


SAMPLE = """
from rx_fusion import fusion_enabled
from tests.conformance.harness import bench, check_values
from tests.conformance.table import TABLE
assert not fusion_enabled()
for case in TABLE:
    for kind in ("list", "foreign", "manual"):
        got = bench(case, kind).run()
        got.assert_complete()
        check_values(case, got.values, case.expected(list(case.items)))
print("checked", len(TABLE))
"""


@pytest.mark.slow
def test_the_environment_variable_switches_fusion_off() -> None:
    root = Path(__file__).parents[2]
    path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "RX_FUSION": "off", "PYTHONPATH": path, "RX_DISABLE_PLUGINS": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", SAMPLE], capture_output=True, text=True, env=environment, cwd=root, timeout=60, check=False
    )
    assert ran.stdout == f"checked {len(TABLE)}\n", ran.stderr

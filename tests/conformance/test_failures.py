"""What goes wrong: functions that raise or return None, sources with a None among their items."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from rx_core import MissingBackpressureError
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber
from tests.conformance.each import each
from tests.conformance.harness import (
    MAIN_KINDS,
    MAINLY,
    MODES,
    Bench,
    Case,
    Flow,
    Kit,
    bench,
    dropped_errors,
    failing,
    giving_none,
    parts_of,
    text_of,
)
from tests.conformance.sources import Foreign
from tests.conformance.table import TABLE
from tests.conformance.table_functions import OOPS

KIND = each("kind", MAIN_KINDS)
MODE = each("mode", MODES)
PAIR = each(("kind", "mode"), MAINLY)


def _user_functions(case: Case) -> int:
    kit = Kit()
    case.build(Flowable.never(), kit)
    return kit.functions


def _at_runtime(case: Case) -> bool:
    # the functions of these are only made when they are subscribed
    return case.name in ("retry", "repeat_until") or _user_functions(case) > 0


WITH_FUNCTIONS = [case for case in TABLE if _at_runtime(case) and not case.has("quiet")]
NONE_MATTERS = [case for case in TABLE if case.has("none")]

RAISED: dict[str, Callable[[], BaseException]] = {
    "ValueError": lambda: ValueError("mine"),
    "StopIteration": lambda: StopIteration("mine"),
    "StopAsyncIteration": lambda: StopAsyncIteration("mine"),
    "GeneratorExit": lambda: GeneratorExit("mine"),
    "KeyError": lambda: KeyError("mine"),
}

#: compose and pipe add no operator of their own, their lines fail in the map they make; zip_with is another way to write zip.
NAMES = {"compose": "map", "pipe": "map", "zip_with": "zip", "parallel": "map", "stage": "_tagged"}


def _name(case: Case) -> str:
    name = case.name.split()[0]
    return NAMES.get(name, name)


def _same_kind(error: BaseException, raised: BaseException) -> bool:
    """The user's exception itself; GeneratorExit cannot be signalled and comes as the cause of a RuntimeError."""
    if isinstance(raised, GeneratorExit):
        return isinstance(error, RuntimeError) and isinstance(error.__cause__, GeneratorExit)
    return type(error) is type(raised)


def _let_go(made: Bench) -> bool:
    return made.source.active is None or made.source.active() == 0


@each("raised", RAISED.values(), ids=list(RAISED))
@PAIR
@pytest.mark.parametrize("case", WITH_FUNCTIONS, ids=str)
def test_what_a_user_function_raises_ends_the_stream(
    case: Case, mode: str, kind: str, raised: Callable[[], BaseException]
) -> None:
    made = bench(case, kind, mode, wrap=failing(raised, 1))
    with dropped_errors() as dropped:
        got = made.run()
    if case.has("recovers") and not got.errors:
        pytest.skip("the failure is what the operator is about")
    assert len(got.errors) == 1, got
    found = [each for each in parts_of(got.error) if _same_kind(each, raised())]
    assert found, repr(got.error)
    assert re.search(rf"\b{_name(case)}\b", text_of(got.errors[0])), text_of(got.errors[0])
    assert _let_go(made)
    assert not dropped


@each("kind", ["list", "foreign", "manual"])
@MODE
@pytest.mark.parametrize("case", WITH_FUNCTIONS, ids=str)
def test_a_later_failure_comes_after_what_was_made_before_it(case: Case, mode: str, kind: str) -> None:
    made = bench(case, kind, mode, wrap=failing(lambda: OOPS, 3))
    got = made.run()
    if got.completions:
        pytest.skip("its functions are called less often")
    assert OOPS in parts_of(got.error)
    wanted = case.expected(list(case.items))
    if not case.has("unordered"):
        assert got.values == wanted[: len(got.values)]
    assert len(got.values) < max(len(wanted), 1)
    assert _let_go(made)


@each("at", [1, 2])
@PAIR
@pytest.mark.parametrize("case", NONE_MATTERS, ids=str)
def test_none_from_a_user_function_is_an_error_that_names_the_operator(case: Case, mode: str, kind: str, at: int) -> None:
    if case.name.startswith("reduce") and at == 1:
        pytest.skip("None may be an intermediate total")
    made = bench(case, kind, mode, wrap=giving_none(at))
    got = made.run()
    if got.completions and at > 1:
        pytest.skip("its functions are called once")
    assert len(got.errors) == 1, got
    errors = [each for each in parts_of(got.error) if isinstance(each, TypeError)]
    assert errors, repr(got.error)
    assert re.search(rf"\b{_name(case)}\b", text_of(errors[0])), text_of(errors[0])
    assert _let_go(made)


NONE_SOURCES = ["list", "generated", "running", "foreign", "manual", "hidden", "observed", "observed foreign"]


@each("kind", NONE_SOURCES)
@MODE
@pytest.mark.parametrize("case", [case for case in TABLE if not case.has("source")], ids=str)
def test_none_from_the_source_is_an_error(case: Case, mode: str, kind: str) -> None:
    made = bench(case, kind, mode, items=(None, *case.items))
    got = made.run()
    if case.name == "take 0" and got.completions:
        return  # reads nothing
    if case.has("recovers"):
        assert got.is_terminated
        return
    assert [type(error) for error in got.errors] == [TypeError], got
    assert "None is not an item" in text_of(got.errors[0])
    assert _let_go(made)


@each("kind", NONE_SOURCES)
@pytest.mark.parametrize("case", [case for case in TABLE if not (case.has("source") or case.has("hot"))], ids=str)
def test_none_in_the_middle_is_an_error_when_asked_one_by_one(case: Case, kind: str) -> None:
    if case.has("recovers"):
        pytest.skip("its line is about an error")
    made = bench(case, kind, items=(*case.items[:3], None, *case.items[3:]))
    got = made.run(TestSubscriber(request=0))
    made.by_ones(got)
    if case.has("early"):
        assert got.is_terminated
    else:
        got.assert_error(TypeError)


def foreign_with_none() -> Foreign:
    return Foreign([1, None, 2])


def manual_with_none() -> ManualPublisher[int | None]:
    return ManualPublisher(unchecked=True, on_request=lambda subscription, _n: subscription.next(1, None))


INNER: dict[str, Callable[[Any], Flow]] = {
    "flat_map": lambda source: Flowable.of(1).flat_map(lambda _x: source),
    "concat_map": lambda source: Flowable.of(1).concat_map(lambda _x: source),
    "concat": lambda source: Flowable.concat(Flowable.of(5), source),
    "merge": lambda source: Flowable.merge(Flowable.never(), source),
    "zip": lambda source: Flowable.zip(Flowable.range(9), source),
    "concat_eager": lambda source: Flowable.concat_eager(Flowable.of(5), source),
    "concat_map_eager": lambda source: Flowable.of(1).concat_map_eager(lambda _x: source),
    "exhaust_map": lambda source: Flowable.of(1).exhaust_map(lambda _x: source),
    "switch_on_first": lambda source: Flowable.of(1).switch_on_first(lambda _first, _whole: source),
    "zip_latest": lambda source: Flowable.zip_latest(Flowable.never(), source),
    "fork_join": lambda source: Flowable.fork_join(Flowable.range(9), source).to_flowable(),
    "merge_ordered": lambda source: Flowable.merge_ordered(Flowable.never(), source),
    "join": lambda source: Flowable.of(1).join(source, lambda _x: Flowable.never(), lambda _x: Flowable.never()),
    "using_when": lambda source: Flowable.using_when(Flowable.of(1), lambda _r: source, lambda _r: Flowable.empty()),
    "defer": lambda source: Flowable.defer(lambda: source),
    "resume": lambda source: Flowable.error(OOPS).on_error_resume_next(lambda _e: source),
    "create": lambda _source: Flowable.create(lambda emitter: emitter.on_next(None)),
}


@pytest.mark.parametrize("make", [foreign_with_none, manual_with_none])
@pytest.mark.parametrize("build", INNER.values(), ids=list(INNER))
def test_none_from_an_inner_source_is_an_error_and_not_a_hang(build: Callable[[Any], Flow], make: Callable[[], object]) -> None:
    got: TestSubscriber[Any] = TestSubscriber()
    build(make()).subscribe(got)
    got.assert_error(TypeError, match="None is not an item")


def test_what_do_finally_raises_goes_to_the_error_hook_once() -> None:
    case = next(case for case in TABLE if case.name == "do_finally")
    for kind in ("list", "foreign", "running"):
        with dropped_errors() as dropped:
            got = bench(case, kind, wrap=failing(lambda: OOPS, 1)).run()
        got.assert_result(*case.items)
        assert dropped == [OOPS]


@each("kind", MAIN_KINDS)
@pytest.mark.parametrize("case", [case for case in TABLE if case.has("hot") and case.name != "buffer opening"], ids=str)
def test_what_comes_at_its_own_time_and_nobody_wants_is_an_error(case: Case, kind: str) -> None:
    made = bench(case, kind)
    got = made.run(TestSubscriber(request=0))
    assert _let_go(made)
    got.assert_failure(MissingBackpressureError)

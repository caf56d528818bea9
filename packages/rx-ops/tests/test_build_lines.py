"""Notes on failures say where a pipeline was built, while somebody wants to know; in every form in which it can run."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from rx_core import build_places, hookimpl, hooks, manager
from rx_fusion import build_lines, fusion_off
from rx_ops import Flowable, Observable, Single, it
from rx_testing import ManualPublisher, TestSubscriber

HERE = "test_build_lines.py"
#: More than pays for compiling at once.
LONG = 5_000


def line() -> int:
    """Of the caller."""
    return sys._getframe(1).f_lineno


def refuse(item: Any) -> Any:
    raise LookupError(item)


def hook() -> object:
    return hooks.on_assembly


def failure(run: Callable[[], object]) -> BaseException:
    try:
        run()
    except Exception as error:
        return error
    raise AssertionError("nothing failed")


def note(run: Callable[[], object]) -> str:
    """The note on what ``run`` raises; others may say which way it came."""
    found, *others = failure(run).__notes__
    assert all(other.startswith("through ") for other in others)
    return str(found)


def subscribed(flow: Flowable[Any]) -> Callable[[], object]:
    def run() -> None:
        subscriber = TestSubscriber[Any]()
        flow.subscribe(subscriber)
        assert subscriber.error is not None
        raise subscriber.error

    return run


RUNS: dict[str, Callable[[Flowable[Any]], Callable[[], object]]] = {
    "iterated": lambda flow: flow.blocking_list,
    "first": lambda flow: flow.blocking_first,
    "subscribed": subscribed,
}
SOURCES: dict[str, Callable[[], Flowable[int]]] = {
    "stacked": lambda: Flowable.of(3),
    "compiled": lambda: Flowable.range(3, LONG),
    "pushed": lambda: Flowable.of(3).hide(),
    "waiting": lambda: Flowable.merge(Flowable.of(3), Flowable.of(3)),
}


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "alone"])
@pytest.mark.parametrize("run", RUNS.values(), ids=list(RUNS))
@pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))
def test_a_stage_says_which_line_added_it(
    source: Callable[[], Flowable[int]], run: Callable[[Flowable[Any]], Callable[[], object]], fused: bool
) -> None:
    with build_lines():
        flow = source().map(str)
        flow, added = flow.map(refuse), line()
        flow = flow.map(refuse).filter(bool)
    if fused:
        found = note(run(flow))
    else:
        with fusion_off():
            found = note(run(flow))
    assert found.startswith("in map(refuse) of ")
    assert found.endswith(f"{HERE}:{added}"), found
    assert ", built at " in found


def test_a_chain_over_several_lines_says_the_line_of_the_call() -> None:
    with build_lines():
        first = line() + 2
        flow = (
            Flowable.of(1)
            .map(str)
            .map(refuse)
            .filter(bool)
        )  # fmt: skip
    assert note(flow.blocking_list).endswith(f"{HERE}:{first + 2}")


def test_each_branch_of_a_fork_says_its_own_line() -> None:
    with build_lines():
        stem = Flowable.of(1).map(int)
        left, at_left = stem.map(refuse), line()
        right, at_right = stem.map(refuse), line()
    assert note(left.blocking_list).endswith(f"{HERE}:{at_left}")
    assert note(right.blocking_list).endswith(f"{HERE}:{at_right}")


def test_a_stage_without_a_function_says_its_line() -> None:
    mixed: Any = Flowable.of(1, "a")
    with build_lines():
        flow, added = Flowable.wrap(mixed).sum(), line()
    found = note(flow.blocking_get)
    assert found.startswith("in sum(")
    assert found.endswith(f"{HERE}:{added}")


@pytest.mark.parametrize("items", [1, LONG], ids=["stacked", "compiled"])
def test_a_builtin_function_has_a_note_and_a_line(items: int) -> None:
    with build_lines():
        flow, added = Flowable.from_iterable(["x"] * items).map(int), line()
    found = note(flow.blocking_list)
    assert found.startswith("in map(int) of ")
    assert found.endswith(f"{HERE}:{added}")


@pytest.mark.parametrize("items", [1, LONG], ids=["stacked", "compiled"])
def test_a_failing_source_is_not_taken_for_the_first_stage(items: int) -> None:
    class Failing(list[int]):
        def __iter__(self) -> Iterator[int]:
            raise_later = iter([1])
            yield from raise_later
            raise LookupError

    assert not hasattr(failure(Flowable.from_iterable(Failing([1] * items)).map(str).blocking_list), "__notes__")
    assert not hasattr(failure(Flowable.from_iterable(map(int, ["x"] * items)).map(str).blocking_list), "__notes__")


def test_a_symbol_says_its_line() -> None:
    with build_lines():
        flow, added = Flowable.range(LONG).map(1 // it), line()
    assert note(flow.blocking_list).endswith(f"{HERE}:{added}")


COORDINATING: dict[str, Callable[[Flowable[int]], Any]] = {
    "flat_map": lambda flow: flow.flat_map(lambda n: refuse(n)),
    "concat_map": lambda flow: flow.concat_map(lambda n: refuse(n)),
    "switch_map": lambda flow: flow.switch_map(lambda n: refuse(n)),
    "partial": lambda flow: flow.flat_map(partial(refuse)),
    "symbol": lambda flow: flow.flat_map(1 // it),
    "zip": lambda flow: Flowable.zip(flow, flow, combiner=lambda a, b: refuse(a)),
    "group_by": lambda flow: flow.group_by(lambda n: refuse(n)),
    "defer": lambda _flow: Flowable.defer(lambda: refuse(1)),
    "from_callable": lambda _flow: Flowable.from_callable(lambda: refuse(1)),
    "Single.from_callable": lambda _flow: Single.from_callable(lambda: refuse(1)).to_flowable(),
}


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "alone"])
@pytest.mark.parametrize("run", RUNS.values(), ids=list(RUNS))
@pytest.mark.parametrize("build", COORDINATING.values(), ids=list(COORDINATING))
def test_a_coordinating_operator_says_which_line_built_it(
    build: Callable[[Flowable[int]], Any], run: Callable[[Flowable[Any]], Callable[[], object]], fused: bool
) -> None:
    with build_lines():
        flow = build(Flowable.range(LONG))
    built = build.__code__.co_firstlineno
    if fused:
        found = note(run(flow))
    else:
        with fusion_off():
            found = note(run(flow))
    assert found.endswith(f"{HERE}:{built}"), found
    assert ", built at " in found


def test_an_operator_whose_function_was_used_twice_names_both_lines() -> None:
    def load(_item: int) -> Flowable[int]:
        raise LookupError

    with build_lines():
        one, first = Flowable.of(1).flat_map(load), line()
        _, second = Flowable.of(1).flat_map(load), line()
    found = note(one.blocking_list)
    assert found.endswith(f"{HERE}:{second}")
    assert f"{HERE}:{first} or " in found


def test_a_stage_behind_an_operator_over_inner_streams_says_its_line() -> None:
    with build_lines():
        flow = Flowable.range(LONG).concat_map(lambda n: Flowable.of(n)).map(int)
        flow, added = flow.map(refuse), line()
    assert note(flow.blocking_list).endswith(f"{HERE}:{added}")


def test_what_is_added_behind_the_block_leaves_the_lines() -> None:
    with build_lines():
        flow, added = Flowable.of(1).map(str).map(refuse), line()
    later = flow.filter(bool).take(2).buffer(2)
    assert note(later.blocking_list).endswith(f"{HERE}:{added}")
    assert note(subscribed(later)).endswith(f"{HERE}:{added}")


def test_an_observable_and_a_single_say_their_lines() -> None:
    with build_lines():
        observable, first = Observable.of(1).map(refuse), line()
        single, second = Single.just(1).map(refuse), line()
    assert note(observable.blocking_list).endswith(f"{HERE}:{first}")
    assert note(single.blocking_get).endswith(f"{HERE}:{second}")


def test_a_pickled_pipeline_keeps_its_lines() -> None:
    with build_lines():
        flow, added = Flowable.of("x").map(int), line()
    again = pickle.loads(pickle.dumps(flow))
    assert repr(again) == repr(flow)
    assert note(again.blocking_list).endswith(f"{HERE}:{added}")


def test_generated_code_is_not_taken_for_the_place() -> None:
    def inner(item: int) -> Flowable[int]:
        return Flowable.of(item).map(refuse)

    with build_lines():
        found = failure(Flowable.range(LONG).concat_map(inner).blocking_list).__notes__
    assert found[0].endswith(f"{HERE}:{inner.__code__.co_firstlineno + 1}"), found


def test_what_a_pushing_source_sends_says_the_line() -> None:
    source = ManualPublisher[int]()
    with build_lines():
        flow, added = Flowable.wrap(source).map(refuse), line()
    subscriber = TestSubscriber[Any]()
    flow.subscribe(subscriber)
    source.next(1)
    assert subscriber.error is not None
    assert subscriber.error.__notes__[0].endswith(f"{HERE}:{added}")


def test_a_rule_that_rewrites_a_pipeline_leaves_the_line() -> None:
    with build_lines():
        flow, added = Flowable.range(LONG).take(50).map(refuse).take(7).take(3), line()
    assert note(flow.blocking_list).endswith(f"{HERE}:{added}")


# -- the switch ----------------------------------------------------------------------------------------------------------------


def test_nothing_is_remembered_and_nothing_called_unless_somebody_asks() -> None:
    if build_places.remembering:
        pytest.skip("switched on for the process")
    hooks.ensure_loaded()
    assert hook() is None
    flow = Flowable.of(1).map(refuse)
    assert type(flow._args) is tuple
    assert type(flow._args + flow._args) is tuple
    with build_lines():
        assert hook() is not None
    assert hook() is None
    assert note(flow.blocking_list) == "in map(refuse) of of(1).map(refuse)"


def test_a_lambda_says_where_it_is_written_also_when_nothing_is_remembered() -> None:
    flow, written = Flowable.of(1).map(lambda n: refuse(n)), line()
    found = note(flow.blocking_list)
    assert found.endswith(f"{HERE}:{written}")
    assert ", written at " in found
    operator, written = Flowable.of(1).flat_map(lambda n: refuse(n)), line()
    found = note(operator.blocking_list)
    assert ", written at " in found
    assert found.endswith(f"{HERE}:{written}")


def test_blocks_may_overlap() -> None:
    if build_places.remembering:
        pytest.skip("switched on for the process")
    one, other = build_lines(), build_lines()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    flow, added = Flowable.of(1).map(refuse), line()
    other.__exit__(None, None, None)
    assert note(flow.blocking_list).endswith(f"{HERE}:{added}")
    assert hook() is None


class Seen:
    def __init__(self) -> None:
        self.built: list[str] = []

    @hookimpl
    def rx_on_assembly(self, pipeline: object) -> None:
        self.built.append(repr(pipeline))


@contextmanager
def both(order: str, plugin: object) -> Iterator[None]:
    if order == "plugin first":
        with manager().enable(plugin), build_lines():
            yield
    else:
        with build_lines(), manager().enable(plugin):
            yield


@pytest.mark.parametrize("order", ["plugin first", "lines first"])
def test_assembly_hooks_of_plugins_are_called_as_well(order: str) -> None:
    seen = Seen()
    with both(order, seen):
        flow, added = Flowable.of(1).map(refuse), line()
    assert seen.built == ["of(1)", "of(1).map(refuse)"]
    assert note(flow.blocking_list).endswith(f"{HERE}:{added}")
    assert hook() is None


def test_a_plugin_stays_when_the_lines_are_switched_off() -> None:
    seen = Seen()
    with manager().enable(seen):
        with build_lines():
            pass
        Flowable.of(1)
    assert seen.built == ["of(1)"]


def test_what_is_remembered_goes_with_the_function() -> None:
    def build() -> weakref.ref[Any]:
        def mapper(item: int) -> Flowable[int]:
            return Flowable.of(item)

        assert Flowable.range(3).flat_map(mapper).map(lambda n: n).blocking_list() == [0, 1, 2]
        return weakref.ref(mapper)

    gc.collect()
    before = len(build_places._places)
    with build_lines():
        gone = [build() for _ in range(100)]
    gc.collect()
    assert not any(each() for each in gone)
    assert len(build_places._places) <= before + 2


@pytest.mark.parametrize(("said", "told"), [("on", True), ("1", True), ("off", False), ("", False)])
def test_the_environment_switches_it_on_for_the_process(said: str, told: bool) -> None:
    script = (
        "from rx_ops import Flowable\n\n"
        "try:\n"
        "    Flowable.of('x').map(int).blocking_list()\n"
        "except ValueError as error:\n"
        "    print(error.__notes__[0])\n"
    )
    got = _python(script, RX_BUILD_LINES=said)
    assert got.stdout.strip() == "in map(int) of of('x').map(int)" + (", built at <string>:4" if told else "")


@pytest.mark.parametrize("name", ["RX_BUILD_LINES", "RX_FUSION"])
def test_a_switch_that_is_neither_on_nor_off_is_refused_at_import(name: str) -> None:
    got = _python("import rx_ops", **{name: "bogus"})
    assert got.returncode == 1
    assert f"ValueError: the environment variable {name}='bogus' is neither on nor off." in got.stderr
    assert f"{name}=off, 0, no, false" in got.stderr


def _python(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

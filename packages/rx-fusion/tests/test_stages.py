"""What @stage takes and refuses, and what it finds out about a function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rx_fusion import StageError, stage, stage_of
from rx_fusion._stages import stage_by_code

REFUSED = {
    "match": ("for item in source:\n        match item:\n            case 1:\n                yield item", "'match'"),
    "import": ("import math\n    for item in source:\n        yield math.sqrt(item)", "'import'"),
    "class": ("class Inner: pass\n    for item in source:\n        yield item", "a class inside"),
    "continue": ("for item in source:\n        if item:\n            continue\n        yield item", "'continue'"),
    "try": ("for item in source:\n        try:\n            yield item\n        finally:\n            pass", "'try'"),
    "with": ("for item in source:\n        with open(item) as file:\n            yield file", "'with'"),
    "second loop": ("for item in source:\n        yield item\n    for item in source:\n        yield item", "has a second"),
    "no loop": ("yield from source", "has no 'for ... in source:'"),
    "second use": ("for item in source:\n        yield source", "uses 'source' a second time"),
    "value of a yield": ("for item in source:\n        got = yield item", "uses the value of a yield"),
    "yield nothing": ("for item in source:\n        yield", "yields nothing"),
    "nested function": ("def inner():\n        pass\n    for item in source:\n        yield inner", "a function inside"),
    "lambda": ("for item in source:\n        yield lambda: item", "a lambda inside"),
    "break": ("for item in source:\n        if item:\n            break\n        yield item", "'break'"),
    "return value": ("for item in source:\n        yield item\n        return 5", "returns a value"),
    "yield from": ("for item in source:\n        yield from item", "'yield from'"),
    "else": ("for item in source:\n        yield item\n    else:\n        yield 1", "without else"),
    "target": ("for a, b in source:\n        yield a", "for item in source"),
}


def defined(folder: Path, body: str, name: str = "mine", arguments: str = "source") -> Any:
    """A function defined in a module file of its own, so that its source text can be read."""
    path = folder / f"{name}.py"
    path.write_text(f"def {name}({arguments}):\n    {body}\n", encoding="utf-8")
    namespace: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    return namespace[name]


def without_text() -> Any:
    namespace: dict[str, Any] = {}
    exec("def typed(source, n):\n    for item in source:\n        yield item * n\n", namespace)
    return namespace["typed"]


@pytest.mark.parametrize(("body", "why"), REFUSED.values(), ids=list(REFUSED))
def test_what_does_not_fit_the_form_is_refused_with_the_reason_and_the_line(tmp_path: Path, body: str, why: str) -> None:
    function = defined(tmp_path, body)
    with pytest.raises(StageError) as caught:
        stage(function)
    text = str(caught.value)
    assert "stage mine()" in text
    assert why in text
    assert f"{tmp_path / 'mine.py'}:" in text
    assert "writing-operators.md" in text


@pytest.mark.parametrize("thing", [5, len, lambda source: source, type("T", (), {})])
def test_what_is_no_generator_function_is_refused(thing: Any) -> None:
    with pytest.raises(StageError, match="needs a generator function"):
        stage(thing)


@pytest.mark.parametrize("arguments", ["", "source, *, key", "source, *more", "source, **more"])
def test_odd_parameters_are_refused(tmp_path: Path, arguments: str) -> None:
    function = defined(tmp_path, "yield 1", arguments=arguments)
    with pytest.raises(StageError, match="plain positional arguments"):
        stage(function)


def test_the_function_comes_back_unchanged(tmp_path: Path) -> None:
    function = defined(tmp_path, "for item in source:\n        yield item * 2")
    assert stage(function) is function
    assert list(function([1, 2])) == [2, 4]


def test_a_function_that_was_not_registered_is_no_stage() -> None:
    def plain(source: Any) -> Any:
        yield from source

    with pytest.raises(StageError, match="@stage above its definition"):
        stage_of(plain)


FLAG = "empty = True\n    for item in source:\n"
CLEARED = "        empty = False\n"
SHAPES: dict[str, tuple[str, set[str]]] = {
    "one to one": ("for item in source:\n        yield item", set()),
    "drops": ("for item in source:\n        if item:\n            yield item", {"drops"}),
    "two in a row": ("for item in source:\n        yield item\n        yield item", {"expands"}),
    "either or": ("for item in source:\n        if item:\n            yield 1\n        else:\n            yield 2", set()),
    "inner loop": ("for item in source:\n        for x in item:\n            yield x", {"expands", "drops"}),
    "stops": ("for item in source:\n        yield item\n        if item:\n            return", {"stops"}),
    "head": ("yield 0\n    for item in source:\n        yield item", {"head_yields"}),
    "tail": ("for item in source:\n        yield item\n    yield 0", {"tail_yields", "single_tail"}),
    "two tails": ("for item in source:\n        yield item\n    yield 0\n    yield 1", {"tail_yields"}),
    "reduces": (
        "n = 0\n    for item in source:\n        n += 1\n    yield n",
        {"drops", "reduces", "tail_yields", "single_tail"},
    ),
    "fills": (f"{FLAG}{CLEARED}        yield item\n    if empty:\n        yield 0", {"tail_yields", "single_tail", "fills"}),
    "fills behind a filter of its own": (
        f"{FLAG}{CLEARED}        if item:\n            yield item\n    if empty:\n        yield 0",
        {"drops", "tail_yields", "single_tail", "fills"},
    ),
    "fills, unless something was wanted": (
        f"{FLAG}        if item:\n            empty = False\n        yield item\n    if empty:\n        yield 0",
        {"tail_yields", "single_tail"},
    ),
    "fills behind the last item": (
        f"{FLAG}{CLEARED}        empty = item\n        yield item\n    if empty:\n        yield 0",
        {"tail_yields", "single_tail"},
    ),
    "fills in either case": (
        f"{FLAG}{CLEARED}        yield item\n    if empty:\n        yield 0\n    else:\n        yield 1",
        {"tail_yields", "single_tail"},
    ),
    "fills with what is not empty": (
        f"empty = False\n    for item in source:\n{CLEARED}        yield item\n    if empty:\n        yield 0",
        {"tail_yields", "single_tail"},
    ),
    "fills behind a head": (
        f"yield 5\n    {FLAG}{CLEARED}        yield item\n    if empty:\n        yield 0",
        {"head_yields", "tail_yields"},
    ),
    "fills, and doubles": (
        f"{FLAG}{CLEARED}        yield item\n        yield item\n    if empty:\n        yield 0",
        {"expands", "tail_yields"},
    ),
    "fills with two": (f"{FLAG}{CLEARED}        yield item\n    if empty:\n        yield 0\n        yield 1", {"tail_yields"}),
    "fills, and adds": (f"{FLAG}{CLEARED}        yield item\n    if empty:\n        yield 0\n    yield 1", {"tail_yields"}),
}
TRAITS = ("drops", "expands", "stops", "head_yields", "tail_yields", "single_tail", "reduces", "fills")


@pytest.mark.parametrize(("body", "traits"), SHAPES.values(), ids=list(SHAPES))
def test_what_a_stage_is_is_read_from_its_text(tmp_path: Path, body: str, traits: set[str]) -> None:
    found = stage_of(stage(defined(tmp_path, body)))
    assert found.compilable
    assert {trait for trait in TRAITS if getattr(found, trait)} == traits


def test_a_stage_without_source_text_claims_nothing() -> None:
    found = stage_of(stage(without_text()))
    assert not found.compilable
    assert found.expands
    assert found.stops
    assert found.head_yields
    assert found.tail_yields


def test_a_stage_that_closes_over_variables_runs_as_it_is() -> None:
    extra = 5

    @stage
    def closing(source: Any) -> Any:
        for item in source:
            yield item + extra

    assert not stage_of(closing).compilable
    assert list(closing([1])) == [6]


def test_the_name_is_the_functions_or_what_the_decorator_says(tmp_path: Path) -> None:
    body = "for item in source:\n        yield item"
    assert stage_of(stage(defined(tmp_path, body, "take_"))).name == "take"
    assert stage_of(stage(name="other")(defined(tmp_path, body, "take_"))).name == "other"


def test_a_stage_that_is_read_later_is_refused_at_its_first_use() -> None:
    @stage(later=True)
    def twice(source: Iterable[int]) -> Iterator[int]:
        for item in source:
            yield item
        for item in source:
            yield item

    with pytest.raises(StageError, match="has a second"):
        stage_of(twice)


def test_a_stage_that_is_read_later_is_refused_at_once_for_its_arguments() -> None:
    with pytest.raises(StageError, match="takes the source first"):

        @stage(later=True)
        def nothing() -> Iterator[int]:
            yield 1


def test_a_stage_that_is_read_later_is_found_by_its_code_and_read_once() -> None:
    @stage(later=True)
    def same(source: Iterable[int]) -> Iterator[int]:
        for item in source:
            if item:
                yield item

    found = stage_by_code(same.__code__)
    assert found is not None
    assert found.name == "same"
    assert stage_of(same) is found

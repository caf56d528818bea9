"""The table of operators lists the methods of the types, and every other table knows the operators that it has to know."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import pytest

from rx_fusion import operator_of
from rx_fusion._operators import _OPERATORS
from rx_ops import Completable, Flowable, Maybe, Observable, Single
from tests.conformance.operators import BY_NAME, OPERATORS, WITHOUT, Operator
from tests.conformance.table import TABLE
from tests.docs.blocks import ROOT
from tests.invisible import building
from tests.invisible.push import drawing_table
from tests.invisible.push.drawing_table import Drawn
from tests.storm.operators import CASES
from tests.tck.upstream.scan import SCANNED
from tests.tck.upstream.two_sources import TWO_SOURCES

TYPES: Final[dict[str, type]] = {"F": Flowable, "O": Observable, "S": Single, "M": Maybe, "C": Completable}
#: Every type has them, and they are no operators.
OF_ALL: Final = {"explain", "plan", "subscribe", "subscribe_actual"}


def first_words(names: Iterable[object]) -> set[str]:
    """Of lines that are called after their operator: ``buffer time``, ``flat_map, two at a time``."""
    return {re.split(r"\W", str(name), maxsplit=1)[0] for name in names}


def drawn(*tables: dict[str, Drawn]) -> set[str]:
    return {method for table in tables for each in table.values() for method in each.methods}


def pulled() -> set[str]:
    return {building.CALLED.get(name, name) for name in (*building.SOURCES, *building.OPERATORS)}


def documented() -> set[str]:
    text = (ROOT / "docs" / "guides" / "names.md").read_text(encoding="utf-8")
    return set(re.findall(r"`(\w+)", "".join(line for line in text.splitlines() if line.startswith("|"))))


def random_pipelines(kind: str, *more: set[str]) -> set[str]:
    push = drawing_table
    sources = {"flowable": push.SIMPLE_SOURCES | push.COMPOSED_SOURCES} | push.ONE
    return drawn(sources[kind], push.OPERATORS[kind]).union(*more)


#: Each table: the operators it knows, and those it has to know.
KNOWING: Final[dict[str, tuple[Callable[[], set[str]], Callable[[Operator], bool]]]] = {
    "conformance": (lambda: first_words(case.name for case in TABLE), lambda each: "F" in each.types and not each.has("ending")),
    "upstream": (
        lambda: first_words(each.name for each in SCANNED if each.form == "operator"),
        lambda each: "F" in each.types and not each.has("ending") and not each.has("source"),
    ),
    "two sources": (
        lambda: first_words(each.name for each in TWO_SOURCES),
        lambda each: "F" in each.types and each.has("second"),
    ),
    "storms": (lambda: first_words(CASES), lambda each: each.has("threads")),
    "random pipelines of Flowable": (
        lambda: random_pipelines("flowable", pulled()),
        lambda each: "F" in each.types and not each.has("ending"),
    ),
    **{
        f"random pipelines of {kind.__name__}": (
            lambda kind=kind: random_pipelines(kind.__name__.lower()),  # type: ignore[misc]  # it is bound for each of them
            lambda each, letter=letter: letter in each.types and not each.has("ending"),  # type: ignore[misc]  # as above
        )
        for letter, kind in (("S", Single), ("M", Maybe), ("C", Completable))
    },
    "names": (documented, lambda each: True),
}


def methods(face: type) -> set[str]:
    """The public ones, but none of a plugin."""
    return {name for name in dir(face) if not name.startswith("_") and hasattr(face, name)} - OF_ALL


@pytest.mark.parametrize("letter", TYPES)
def test_the_operators_of_a_type_are_its_methods(letter: str) -> None:
    assert {each.name for each in OPERATORS if letter in each.types} == methods(TYPES[letter])


def test_no_operator_is_listed_twice() -> None:
    assert len(BY_NAME) == len(OPERATORS)


@pytest.mark.parametrize("table", KNOWING)
def test_a_table_knows_the_operators_that_it_has_to_know(table: str) -> None:
    known, has_to = KNOWING[table]
    missing = {each.name for each in OPERATORS if has_to(each)} - known()
    assert missing - WITHOUT.get(table, {}).keys() == set(), "they have no line in that table"


@pytest.mark.parametrize("table", WITHOUT)
def test_what_is_left_out_is_still_left_out(table: str) -> None:
    known, has_to = KNOWING[table]
    missing = {each.name for each in OPERATORS if has_to(each)} - known()
    assert WITHOUT[table].keys() - missing == set(), "they have a line in that table, or need none"


@pytest.mark.parametrize("table", ["conformance", "upstream", "two sources"])
def test_a_table_names_operators_only(table: str) -> None:
    known, _ = KNOWING[table]
    assert known() - BY_NAME.keys() == set()


# -- flags ---------------------------------------------------------------------------------------------------------------------


#: Their other arguments go to a function of the user's, or there is any number of them, of any name.
POSITIONAL: Final = {"pipe", "stage", "through", "group_aggregate", "zip", "with_context", "with_latest_from", "sequence_equal"}


@pytest.mark.parametrize("letter", TYPES)
def test_parameters_can_be_given_by_their_names(letter: str) -> None:
    face = TYPES[letter]
    for name in sorted(methods(face) - POSITIONAL):
        for parameter in list(inspect.signature(getattr(face, name)).parameters.values()):
            assert parameter.kind is not parameter.POSITIONAL_ONLY or parameter.name == "self", f"{name}({parameter})"


def flagged(flag: str) -> set[str]:
    return {each.name for each in OPERATORS if each.has(flag)}


def of_any_type(name: str) -> Iterator[Any]:
    return (inspect.getattr_static(TYPES[letter], name) for letter in BY_NAME[name].types)


def test_what_begins_a_stream_is_called_on_the_type() -> None:
    classmethods = {name for name in BY_NAME if all(isinstance(each, classmethod) for each in of_any_type(name))}
    assert flagged("source") == classmethods


def test_what_takes_a_publisher_has_a_second_source() -> None:
    taking = {
        each.name
        for each in OPERATORS
        if "F" in each.types
        for parameter in inspect.signature(getattr(Flowable, each.name)).parameters.values()
        if re.search(r"\bPublisher\b|CompletableBase", str(parameter.annotation))
    }
    instead = {"defer", "using", "wrap"}  # it is their only source
    assert flagged("second") >= taking - instead


def test_every_coordinating_operator_is_flagged_with_who_may_signal() -> None:
    ours = {operator_of(function).name for function in _OPERATORS if function.__module__.startswith("rx_ops.")}
    of_rails = {"run_on", "sequential"}  # methods of ParallelFlowable
    assert ours - {""} - of_rails - flagged("threads") - flagged("alone") == set()  # what has no name is a part of another
    assert flagged("threads") & flagged("alone") == set()

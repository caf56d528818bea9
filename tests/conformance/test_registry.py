"""The table is complete: an operator without a line fails here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import rx_ops.operators
import rx_ops.stages
from rx_core import EmptyStreamError
from rx_fusion import operator_of, stage_of
from rx_fusion._operators import _OPERATORS
from rx_fusion._stages import _STAGES
from rx_ops import Flowable
from tests.conformance.harness import Kit
from tests.conformance.table import TABLE

#: Only Observable, Single, Maybe and Completable use them; packages/rx-ops/tests has their tests.
OF_OTHER_TYPES = {"wrap", "hide", "ignore_elements", "to_flowable", "do_on_dispose", "do_after_success"}


def functions_in(flow: Any) -> Iterator[object]:
    """The stages and coordinating operators a pipeline is made of, sources included."""
    for stage in flow._shape.stages:
        yield stage.function
    head = flow._head
    yield getattr(head, "function", None)
    for source in head.upstream:
        if hasattr(source, "_shape"):
            yield from functions_in(source)


def in_the_table() -> set[object]:
    return {function for case in TABLE for function in functions_in(case.build(Flowable.of(1, 2), Kit()))}


def test_every_stage_has_a_line() -> None:
    ours = {function for function in _STAGES if (function.__module__ or "").startswith(rx_ops.stages.__name__)}
    assert len(ours) > 30
    of_other_types = {"to_single", "not_empty", "do_on_empty"}  # of Single and Maybe: rx-ops tests them
    of_rules = {"smallest", "smallest_by"}  # put in the place of others when a pipeline is subscribed
    assert {function.__name__ for function in ours - in_the_table()} == of_other_types | of_rules


def test_every_coordinating_operator_has_a_line() -> None:
    folders = (rx_ops.operators.__name__,)
    ours = {function for function in _OPERATORS if function.__module__.startswith(folders)}
    assert len(ours) > 60
    built_when_subscribed = {"retry", "repeat_until"}
    missing = {operator_of(function).name for function in ours - in_the_table()}
    assert missing - OF_OTHER_TYPES - {""} == built_when_subscribed, "what has no name is a part of another"


def test_names_are_unique() -> None:
    names = [case.name for case in TABLE]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("function", sorted(_STAGES, key=str), ids=str)
def test_every_stage_of_ours_compiles(function: Any) -> None:
    if function.__module__.startswith("rx_ops"):
        assert stage_of(function).compilable


def test_first_of_nothing_is_an_error_under_every_type() -> None:
    first: Any = Flowable.empty().first()
    plain = first.to_flowable()
    for flow in (plain, plain.hide(), first.flat_map_publisher(Flowable.just), first.map(str).to_flowable()):
        with pytest.raises(EmptyStreamError):
            flow.blocking_list()
    with pytest.raises(EmptyStreamError):
        first.to_maybe().blocking_get()
    with pytest.raises(EmptyStreamError):
        first.ignore_element().blocking_await()

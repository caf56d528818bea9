"""The TCK over every source and every operator with a known number of outputs: fused, hidden, unfused, timed and threaded."""

from __future__ import annotations

import pytest

from rx_testing import VirtualScheduler
from tests.tck import cases
from tests.tck.cases import COORDINATING, SOURCES, SYNCHRONOUS, TIMED, Case, VirtualFor, run


def names(table: tuple[Case, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", table, ids=str)


@pytest.mark.parametrize("mode", ["fused", "hidden", "off"])
@names(SOURCES)
def test_source(case: Case, mode: str) -> None:
    run(case, cases.fused, mode=mode).assert_passed()


@pytest.mark.parametrize(("source", "mode"), [("fused", "fused"), ("hidden", "hidden"), ("foreign", "fused"), ("foreign", "off")])
@names((*SYNCHRONOUS, *COORDINATING))
def test_operator(case: Case, source: str, mode: str) -> None:
    run(case, getattr(cases, source), mode=mode).assert_passed()


@pytest.mark.parametrize("source", ["fused", "foreign"])
@names(TIMED)
def test_on_virtual_time(case: Case, source: str) -> None:
    with VirtualScheduler().installed() as clock:
        VirtualFor.clock = clock
        run(case, getattr(cases, source), clock=clock).assert_passed()

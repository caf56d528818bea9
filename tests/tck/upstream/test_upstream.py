"""No operator and no ending calls a source inside its own end or after it, and each keeps the other rules towards its sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rx_core.queue_fusion import fusion_enabled
from tests.conformance.table import TABLE
from tests.tck.upstream.scan import KEEPING, RESUBSCRIBING, SCANNED, Scanned
from tests.tck.upstream.verdict import FUSED, MODES, UNFUSED, broken_by, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.mark import ParameterSet


def modes_of(scanned: Scanned) -> Iterator[ParameterSet]:
    """With fusion off an operator is the same in front of callbacks as in front of a subscriber: once a night is enough."""
    for mode in MODES:
        nightly = mode == UNFUSED and scanned.form == "into callbacks"
        yield pytest.param(scanned, mode, id=f"{scanned}-{mode}", marks=[pytest.mark.nightly] if nightly else [])


@pytest.mark.slow
@pytest.mark.parametrize(("scanned", "mode"), [each for scanned in SCANNED for each in modes_of(scanned)])
def test_what_is_sent_to_the_sources(scanned: Scanned, mode: str) -> None:
    if mode == FUSED and not fusion_enabled():
        pytest.skip("RX_FUSION=off")
    text = said(scanned, mode, broken_by(scanned, mode))
    assert not text, text


def test_every_line_of_the_table_that_has_a_source_is_scanned_once() -> None:
    scanned = [each.name for each in SCANNED if each.form == "operator"]
    assert sorted(scanned) == sorted(case.name for case in TABLE if not case.has("source"))
    ids = [each.id for each in SCANNED]
    assert len(ids) == len({*ids})


def test_the_lines_with_a_purpose_of_their_own_exist() -> None:
    names = {case.name for case in TABLE}
    assert names >= RESUBSCRIBING | KEEPING

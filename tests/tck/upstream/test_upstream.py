"""No operator and no ending calls a source inside its own end or after it, and each keeps the other rules towards its sources."""

from __future__ import annotations

import pytest

from rx_core.queue_fusion import fusion_enabled
from tests.conformance.table import TABLE
from tests.tck.upstream.scan import KEEPING, RESUBSCRIBING, SCANNED, Scanned
from tests.tck.upstream.verdict import FUSED, MODES, broken_by, said


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scanned", SCANNED, ids=str)
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

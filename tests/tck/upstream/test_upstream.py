"""No operator and no ending calls a source inside its own end or after it, and each keeps the other rules towards its sources.

What breaks one is listed, and the lists may only become shorter: see ``tests/tck/upstream/ratchet.py``.
"""

from __future__ import annotations

import pytest

from rx_core.queue_fusion import fusion_enabled
from tests.conformance.table import TABLE
from tests.tck.upstream.ratchet import FUSED, MODES, broken_by, read, said
from tests.tck.upstream.scan import KEEPING, LEFT_OUT, RESUBSCRIBING, SCANNED, Scanned


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scanned", SCANNED, ids=str)
def test_what_is_sent_to_the_sources(scanned: Scanned, mode: str) -> None:
    if mode == FUSED and not fusion_enabled():
        pytest.skip("RX_FUSION=off")
    text = said(scanned, mode, broken_by(scanned, mode), read(mode).get(scanned.id, ()))
    assert not text, text


def test_every_line_of_the_table_is_scanned_or_left_out_with_a_reason() -> None:
    scanned = {each.name for each in SCANNED if each.form == "operator"}
    assert scanned | LEFT_OUT.keys() == {case.name for case in TABLE if not case.has("source")}
    assert all(len(reason.split()) > 3 for reason in LEFT_OUT.values())


def test_the_lists_name_what_is_scanned_and_each_once() -> None:
    ids = [each.id for each in SCANNED]
    assert len(ids) == len({*ids})
    for mode in MODES:
        assert read(mode).keys() <= {*ids}


def test_the_lines_with_a_purpose_of_their_own_exist() -> None:
    names = {case.name for case in TABLE}
    assert names >= RESUBSCRIBING | KEEPING | LEFT_OUT.keys()

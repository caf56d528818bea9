"""Some twelve thousand random pipelines give what RxJava 3 gave, signal by signal, with fusion and without.

Those that do not are listed, and the lists may only become shorter: see ``tests/recorded/ratchet.py``.
"""

from __future__ import annotations

from typing import Final

import pytest

from rx_core.queue_fusion import fusion_enabled
from rx_fusion import _shapes
from tests.recorded.cases import Trace, traces
from tests.recorded.ratchet import FUSED, MODES, MOST_READ_AHEAD, READ_AHEAD, differing, judge, read
from tests.recorded.running import FAILED

#: The traces are run in parts, so that a failure is seen early; and each part has a time limit of its own.
PART: Final = 2_000
LAST_ID: Final = 28_000


def part_of(first: int) -> list[Trace]:
    return [trace for trace in traces() if first <= trace.id < first + PART]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, LAST_ID, PART), ids="ids from {}".format)
@pytest.mark.parametrize("mode", MODES)
def test_recorded_pipelines_signal_what_rxjava_signalled(mode: str, first: int) -> None:
    if mode == FUSED and not fusion_enabled():
        pytest.skip("RX_FUSION=off")
    part = part_of(first)
    listed = read(mode)
    said = judge(part, differing(part, mode), listed, mode).text(part)
    assert not said, said


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, LAST_ID, PART), ids="ids from {}".format)
def test_callbacks_are_told_the_same(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if not fusion_enabled():
        pytest.skip("RX_FUSION=off")
    monkeypatch.setattr(_shapes, "HOT_RUNS", -1)  # so that each operator that can be pulled for them is
    part = part_of(first)
    said = judge(part, differing(part, FUSED, callbacks=True), read(FUSED), FUSED).text(part)
    assert not said, said


def test_every_trace_is_in_one_part() -> None:
    ids = [trace.id for trace in traces()]
    assert len(ids) == len(set(ids)) == sum(len(part_of(first)) for first in range(0, LAST_ID, PART))
    assert len(ids) == 11_999


def test_no_recorded_answer_can_be_mistaken_for_a_run_that_failed() -> None:
    assert not any(FAILED in trace.expected for trace in traces())


def test_the_lists_name_traces_that_exist() -> None:
    ids = {trace.id for trace in traces()}
    for mode in MODES:
        assert read(mode) <= ids
        assert not read(mode) & READ_AHEAD.keys()
    assert READ_AHEAD.keys() <= ids


def test_few_traces_are_excused_and_each_with_a_reason() -> None:
    assert len(READ_AHEAD) <= MOST_READ_AHEAD
    assert all(len(reason.split()) > 3 for reason in READ_AHEAD.values())

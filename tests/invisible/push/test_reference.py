"""The naive reference is right: it answers the recorded pipelines as RxJava 3 did, and it has nothing from the library."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest

from tests.invisible.push.running import refer
from tests.recorded.cases import traces
from tests.recorded.ratchet import READ_AHEAD

PART: Final = 4_000
LAST_ID: Final = 28_000

#: Modules of this folder that the reference consists of.
REFERENCE: Final = (
    *("streams", "clock", "sources", "hot", "items", "looking_on", "answers", "again", "flattening", "combining", "timing"),
    *("concatenating", "joining"),
    *("timeouts", "buffers", "parts", "windows", "sharing", "lossy", "functions", "reading", "substreams", "source_table"),
    *("operators", "operator_table"),
)  # fmt: skip


@pytest.mark.parametrize("first", range(0, LAST_ID, PART), ids="ids from {}".format)
def test_the_reference_answers_recorded_pipelines_as_rxjava_did(first: int) -> None:
    part = [trace for trace in traces() if first <= trace.id < first + PART and trace.id not in READ_AHEAD]
    assert part
    wrong = [trace for trace in part if refer(trace) != trace.expected]
    assert not wrong, "\n".join(f"{trace}\n  RxJava     {trace.expected}\n  reference  {refer(trace)}" for trace in wrong[:5])


@pytest.mark.parametrize("module", REFERENCE)
def test_the_reference_shares_no_code_with_the_library(module: str) -> None:
    tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    ours = {f"tests.invisible.push.{name}" for name in REFERENCE}
    described = {"tests.recorded.cases", "tests.recorded.functions", "tests.invisible.push"}
    assert not [name for name in imported if name.startswith(("rx_", "tests.")) and name not in ours | described]

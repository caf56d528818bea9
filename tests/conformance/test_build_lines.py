"""While build lines are remembered, every operator with a function says where it was built when that function fails."""

from __future__ import annotations

import re

import pytest

from rx_fusion import build_lines
from tests.conformance.each import each
from tests.conformance.harness import MODES, Case, bench, dropped_errors, failing, text_of
from tests.conformance.test_failures import NAMES, WITH_FUNCTIONS


@each("kind", ["list", "manual"])
@each("mode", MODES)
@pytest.mark.parametrize("case", WITH_FUNCTIONS, ids=str)
def test_a_failure_says_where_its_operator_was_built(case: Case, mode: str, kind: str) -> None:
    with dropped_errors(), build_lines():
        made = bench(case, kind, mode, wrap=failing(lambda: LookupError("mine"), 1))
        got = made.run()
    if case.has("recovers") and not got.errors:
        pytest.skip("the failure is what the operator is about")
    name = case.name.split()[0]
    told = re.findall(r"\bin (\w+)\(.*, built at (\S+):\d+", text_of(got.errors[0]))
    assert any(operator == NAMES.get(name, name) and path.endswith(".py") for operator, path in told), text_of(got.errors[0])

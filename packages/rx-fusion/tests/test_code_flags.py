"""The flags of code objects that were not worth an import are the interpreter's own."""

from __future__ import annotations

import inspect

import pytest

from rx_fusion import _code_flags


@pytest.mark.parametrize("name", [name for name in vars(_code_flags) if name.isupper()])
def test_a_flag_is_that_of_inspect(name: str) -> None:
    assert getattr(_code_flags, name) == getattr(inspect, f"CO_{name}")

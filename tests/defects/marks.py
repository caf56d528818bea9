"""The mark of a test that fails today: it names what goes wrong, and in which modes. It is strict."""

from __future__ import annotations

from typing import Final

import pytest

FUSED: Final = "fused"
UNFUSED: Final = "unfused"
MODES: Final = (FUSED, UNFUSED)


def fails(
    reason: str = "", *, fused: str = "", unfused: str = "", raises: type[BaseException] = AssertionError
) -> pytest.MarkDecorator:
    """Expect the test to fail: in both modes for one ``reason``, or with fusion or without for a reason of its own."""
    reasons = {FUSED: fused or reason, UNFUSED: unfused or reason}
    if not any(reasons.values()):
        raise ValueError("fails() needs a reason")
    return pytest.mark.parametrize("mode", [_param(mode, why, raises) for mode, why in reasons.items()], indirect=True)


def _param(mode: str, reason: str, raises: type[BaseException]) -> object:
    marks = [pytest.mark.xfail(strict=True, reason=reason, raises=raises)] if reason else []
    return pytest.param(mode, marks=marks)

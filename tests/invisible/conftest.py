"""Says at the end which random examples were tried."""

from __future__ import annotations

import pytest

from tests.invisible.nightly import NIGHTLY, SEED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if NIGHTLY:
        terminalreporter.write_line(f"tests/invisible again:  RX_NIGHTLY={NIGHTLY} RX_SEED={SEED}")

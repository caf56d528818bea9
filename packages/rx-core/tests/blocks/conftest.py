"""What the tests of the blocks share."""

from __future__ import annotations

import pytest

from rx_core import hooks


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """The errors that had nowhere to go, in the order they were reported."""
    errors: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, origin, _late: errors.append(error))
    return errors

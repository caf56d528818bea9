"""Every test here runs in each async library."""

from __future__ import annotations

import pytest

from tests.tasks.backends import BACKENDS, Backend


@pytest.fixture(params=BACKENDS, ids=str)
def backend(request: pytest.FixtureRequest) -> Backend:
    found: Backend = request.param
    return found

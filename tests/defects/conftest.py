"""Every test here runs twice, with fusion and without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rx_core.queue_fusion import fusion_enabled
from rx_fusion import fusion_off
from rx_testing import VirtualScheduler
from tests.defects.modes import FUSED, MODES, UNFUSED


@pytest.fixture(autouse=True, params=MODES)
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    """What is subscribed in the test is fused, or it is not."""
    name: str = request.param
    if name == UNFUSED:
        with fusion_off():
            yield name
    elif fusion_enabled():
        yield name
    else:
        pytest.skip(f"RX_FUSION=off: nothing can be {FUSED} in this process")


@pytest.fixture
def clock() -> VirtualScheduler:
    return VirtualScheduler()

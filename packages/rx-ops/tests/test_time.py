"""Time operators at exact instants."""

from __future__ import annotations

from typing import Any

import pytest

from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler


def at(clock: VirtualScheduler, source: ManualPublisher[Any], instant: float, *items: object) -> None:
    """Send ``items`` at ``instant``."""
    clock.advance_to(instant)
    source.next(*items)
    clock.run_due()


@pytest.fixture
def clock() -> VirtualScheduler:
    return VirtualScheduler()


@pytest.fixture
def source() -> ManualPublisher[Any]:
    return ManualPublisher()


def test_an_item_is_delayed_to_an_instant_that_floats_miss(clock: VirtualScheduler, source: ManualPublisher[Any]) -> None:
    got: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(source).delay(0.2, scheduler=clock).subscribe(got)
    at(clock, source, 0.1, 1)  # 0.1 + 0.2 > 0.3
    clock.advance_to(0.3)
    got.assert_values(1)


def test_a_timeout_falls_on_an_instant_that_floats_miss(clock: VirtualScheduler, source: ManualPublisher[Any]) -> None:
    got: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(source).timeout(0.2, scheduler=clock).subscribe(got)
    at(clock, source, 0.1, 1)
    clock.advance_to(0.3)
    got.assert_failure(TimeoutError, 1)

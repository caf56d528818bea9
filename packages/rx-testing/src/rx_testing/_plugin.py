"""What this package offers to rx_core: a scheduler called ``virtual``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rx_core import Scheduler, hookimpl
from rx_testing import VirtualScheduler


@hookimpl
def rx_schedulers() -> Mapping[str, Callable[[], Scheduler]]:
    """One virtual clock for the process; tests that run side by side make their own."""
    return {VirtualScheduler.name: VirtualScheduler}

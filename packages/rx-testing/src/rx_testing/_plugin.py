"""What this package offers to rx_core: a scheduler called ``virtual``.

Loaded with all plugins, also in programs that test nothing, therefore light.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rx_core import Scheduler, hookimpl


@hookimpl
def rx_schedulers() -> Mapping[str, Callable[[], Scheduler]]:
    """One virtual clock for the process; tests that run side by side make their own."""
    return {"virtual": _virtual}


def _virtual() -> Scheduler:
    from rx_testing import VirtualScheduler

    return VirtualScheduler()

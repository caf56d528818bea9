"""What this package offers to rx_core: the scheduler called ``trio``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rx_core import Scheduler, hookimpl
from rx_trio._scheduler import RunningScheduler


@hookimpl
def rx_schedulers() -> Mapping[str, Callable[[], Scheduler]]:
    """``scheduler("trio")`` is made once per process and loops come and go: so it looks for the loop when it is
    used.
    """
    return {"trio": RunningScheduler}

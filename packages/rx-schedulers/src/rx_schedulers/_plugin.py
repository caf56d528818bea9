"""What this package offers to rx_core: its schedulers, by name. Loading it starts no thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rx_core import Scheduler, hookimpl
from rx_schedulers import computation, immediate, io, new_thread, single, trampoline


@hookimpl
def rx_schedulers() -> Mapping[str, Callable[[], Scheduler]]:
    """The shared schedulers: ``scheduler("io")`` is ``rx_schedulers.io()``."""
    return {
        "computation": computation,
        "immediate": immediate,
        "io": io,
        "new_thread": new_thread,
        "single": single,
        "trampoline": trampoline,
    }

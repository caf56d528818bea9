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


@hookimpl
def rx_waiting_refused() -> str | None:
    """On a thread that several workers share: what waits there holds up the others, and itself where it needs one of them."""
    from threading import current_thread

    from rx_schedulers._loop_thread import LoopThread

    thread = current_thread()
    if not isinstance(thread, LoopThread) or not thread.loop.shared:
        return None
    return (
        f"other workers of {thread.loop.kind}() run on it, and the stream may need one of them.\n"
        f"  Right:  let it wait on a thread of its own:  .observe_on(rx_schedulers.io()) in front of the function that waits\n"
        f"  Or:     do not wait:  .flat_map(lambda item: stream) in the place of .map(lambda item: stream.blocking_list())"
    )

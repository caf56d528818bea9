"""Threads that come and go in their frames, and one that looks at what they run, in a process of its own: it may crash.

    python looking.py ours|by_hand seconds

The collector is made to begin anywhere, and what it calls lets other threads go on, as a finalizer may.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from types import FrameType

from rx_core.live._at_work import threads_at_work

ALWAYS_SWITCH = 1e-5


class Caller:
    def calls_itself(self, left: int) -> None:
        kept = also_kept = object()
        if left:
            self.calls_itself(left - 1)
        del kept, also_kept

    def calls_through_c(self) -> None:
        list(map(self.calls_itself, [30]))


def by_hand() -> None:
    """How one would write it, and what CPython 3.11 does not stand."""
    for frame in sys._current_frames().values():
        at: FrameType | None = frame
        while at is not None:
            assert at.f_locals is not None
            at = at.f_back


def ours() -> None:
    threads_at_work({0: None})


def main(look: str, seconds: float) -> None:
    stop = threading.Event()
    here = threading.get_ident()

    def work() -> None:
        caller = Caller()
        while not stop.is_set():
            caller.calls_through_c()
            caller.calls_itself(5)

    def lets_others_go_on(phase: str, _info: object) -> None:
        if phase == "start" and threading.get_ident() == here:
            time.sleep(0.0005)

    gc.callbacks.append(lets_others_go_on)
    gc.set_threshold(7, 10, 10)
    sys.setswitchinterval(ALWAYS_SWITCH)
    threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        {"ours": ours, "by_hand": by_hand}[look]()
    stop.set()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))

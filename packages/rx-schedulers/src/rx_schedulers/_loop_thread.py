"""The threads of event loops, and what becomes of them when the process ends or forks.

The threads are daemons, so that an interval that was never stopped cannot keep a program from ending. Daemons that are left
alone die in the middle of whatever they do when the interpreter takes itself apart, which has crashed more than one
program. So when the main thread and all threads of the program have ended, an atexit function ends the event loops and
waits for their threads (one second for all of them together); only an action that does not return is left to the
daemon's fate.
"""

from __future__ import annotations

import atexit
import os
import threading
from time import monotonic
from typing import Final, Protocol, final

_AT_EXIT_SECONDS: Final = 1.0


class ThreadedLoop(Protocol):
    """What a thread knows of the event loop that it runs."""

    name: str

    #: What its scheduler is called, and whether several workers share it.
    @property
    def kind(self) -> str: ...
    @property
    def shared(self) -> bool: ...

    def run(self) -> None: ...
    def retire(self) -> None: ...
    def waiting(self) -> int: ...
    def shut(self) -> None: ...
    def thread_ended(self, thread: object, /) -> None: ...
    def forget_thread(self) -> None: ...


#: All that have been started and have not ended.
THREADS: Final[dict[LoopThread, None]] = {}


@final
class LoopThread(threading.Thread):
    """The thread of an event loop. ``retire()`` ends it if it is idle: so leak checks tell cached threads from leaked ones."""

    def __init__(self, loop: ThreadedLoop) -> None:
        super().__init__(name=loop.name, daemon=True)
        self.loop = loop
        self._ended = threading.Event()

    def run(self) -> None:
        try:
            self.loop.run()
        finally:
            self.ended()

    def ended(self) -> None:
        self.loop.thread_ended(self)
        THREADS.pop(self, None)
        self._ended.set()

    def finish(self, deadline: float | None) -> None:
        """Wait for the end, up to ``deadline`` on the monotonic clock."""
        if self is threading.current_thread():
            return
        # Not join() alone: that one refuses threads which are about to start.
        if self._ended.wait(None if deadline is None else max(deadline - monotonic(), 0.0)) and self.ident is not None:
            self.join(None if deadline is None else max(deadline - monotonic(), 0.1))

    def retire(self) -> None:
        self.loop.retire()

    def __repr__(self) -> str:
        state = "alive" if self.is_alive() else "ended"
        return f"<thread {self.name!r}, {state}, {self.loop.waiting()} actions wait>"


@atexit.register
def _end_all_loops() -> None:
    threads = list(THREADS)
    for thread in threads:
        thread.loop.shut()
    deadline = monotonic() + _AT_EXIT_SECONDS
    for thread in threads:
        thread.finish(deadline)


def _after_fork_in_child() -> None:
    for thread in list(THREADS):
        if thread is not threading.current_thread():
            thread.loop.thread_ended(thread)
            THREADS.pop(thread, None)
            thread.loop.forget_thread()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)

"""The leak check tells cached threads from leaked ones, and loading the plugin costs next to nothing."""

from __future__ import annotations

import subprocess
import sys
import threading

from rx_core.live.stacks import others_can_be_read
from rx_testing.pytest_plugin import _describe, leaked_threads


class Cached(threading.Thread):
    """A thread that waits for work until it is retired."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.stop = threading.Event()
        self.start()

    def run(self) -> None:
        self.stop.wait(20)

    def retire(self) -> None:
        self.stop.set()


class Stubborn(Cached):
    def retire(self) -> None: ...


def test_cached_threads_are_retired_and_are_no_leak() -> None:
    before = set(threading.enumerate())
    thread = Cached("rx-cached-1")
    assert leaked_threads(before, 10) == []
    assert not thread.is_alive()


def test_a_thread_that_has_work_is_a_leak() -> None:
    before = set(threading.enumerate())
    thread = Stubborn("rx-stubborn-1")
    assert leaked_threads(before, 0) == [thread]
    text = _describe(thread)
    assert "rx-stubborn-1" in text
    assert ("self.stop.wait(20)" if others_can_be_read() else "without the GIL") in text
    thread.stop.set()
    assert leaked_threads(before, 10) == []


def test_threads_of_others_and_threads_from_before_are_no_leak() -> None:
    early, other = Stubborn("rx-early-1"), Stubborn("worker-1")
    assert leaked_threads({*threading.enumerate()} - {other}, 0) == []
    for thread in (early, other):
        thread.stop.set()
        thread.join(10)


def test_a_clean_test_passes(no_leaks: None) -> None:
    Cached("rx-cached-2")


def test_loading_the_plugin_imports_nothing_heavy() -> None:
    program = (
        "import sys, rx_testing.pytest_plugin\n"
        "print([name for name in ('rx_ops', 'rx_fusion', 'trio', 'asyncio', 'pluggy_rx') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == "[]"

"""What holds for all tests."""

from __future__ import annotations

import gc

#: The file of the test that runs.
_file: str | None = None


def pytest_collection_finish() -> None:
    """Leave what pytest and the collected tests hold out of the garbage collector.

    Many tests collect, some for each measurement; looking through tens of thousands of test items took most of their time.
    """
    _leave_out()


def pytest_runtest_logstart(location: tuple[str, int | None, str]) -> None:
    """The same before each file: what pytest keeps of the tests that are over, and the modules that they have imported."""
    global _file
    if location[0] != _file:
        _file = location[0]
        _leave_out()


def pytest_sessionfinish() -> None:
    """Let those who come afterwards and look for referrers find everybody."""
    gc.unfreeze()


def _leave_out() -> None:
    gc.collect()
    gc.freeze()

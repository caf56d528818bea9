"""What holds for all tests."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Leave what pytest and the collected tests hold out of the garbage collector.

    Many tests collect, some for each measurement; looking through tens of thousands of test items took most of their time.
    """
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let those who come afterwards and look for referrers find everybody."""
    gc.unfreeze()

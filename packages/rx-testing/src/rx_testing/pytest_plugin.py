"""The pytest plugin, active once rx-testing is installed.

It is loaded in every pytest run of the environment, so it imports nothing but pytest until a fixture is used.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rx_testing import LeakWatch, VirtualScheduler

_PATIENCE_SECONDS = 2.0


@pytest.fixture
def no_leaks() -> Iterator[LeakWatch]:
    """Fails the test when it leaves something behind.

    * A thread of a scheduler: one called ``rx-...`` that was not there before. Threads that are only cached do not count:
      they are asked to end (``retire()``, where their backend has it) and given two seconds. What remains has work: an action
      that does not return, or that was not disposed.
    * A subscription of a ManualPublisher that was neither cancelled nor ended, and those of ``no_leaks.publisher(source)``.
    * A worker of a VirtualScheduler that was not disposed, with what waits on it, and those of ``no_leaks.scheduler(any_one)``.
    """
    from rx_testing._leaks import LeakWatch

    before = set(threading.enumerate())
    with LeakWatch().open() as watch:
        yield watch
    left = [repr(each) for each in watch.left(_PATIENCE_SECONDS)]
    left += map(_describe, leaked_threads(before))
    if left:
        pytest.fail("\n".join([f"{len(left)} left behind", *left]), pytrace=False)


@pytest.fixture
def virtual_time() -> Iterator[VirtualScheduler]:
    """A VirtualScheduler that stands in for every scheduler with threads: nothing in the test waits in real time."""
    from rx_testing import VirtualScheduler

    with VirtualScheduler().installed() as clock:
        yield clock


def leaked_threads(before: set[threading.Thread], seconds: float = _PATIENCE_SECONDS) -> list[threading.Thread]:
    """The scheduler threads that are not in ``before`` and did not end within ``seconds`` when asked to."""
    ours = [thread for thread in threading.enumerate() if thread not in before and thread.name.startswith("rx-")]
    for thread in ours:
        retire = getattr(thread, "retire", None)
        if retire is not None:
            retire()
    deadline = monotonic() + seconds
    for thread in ours:
        thread.join(max(deadline - monotonic(), 0.0))
    return [thread for thread in ours if thread.is_alive()]


def _describe(thread: threading.Thread) -> str:
    from rx_core.live.stacks import seen_at

    return f"{thread!r}, at\n{seen_at(thread.ident or 0, 4)}"

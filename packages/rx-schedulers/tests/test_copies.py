"""Schedulers are places, not values: the shared ones are the same wherever they are unpickled, one's own cannot be copied."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import rx_schedulers
from rx_core import Scheduler

COPIES: list[Callable[[Any], Any]] = [lambda it: pickle.loads(pickle.dumps(it)), copy.copy, copy.deepcopy]
SHARED: list[Callable[[], Scheduler]] = [
    rx_schedulers.computation,
    rx_schedulers.io,
    rx_schedulers.single,
    rx_schedulers.new_thread,
    rx_schedulers.trampoline,
    rx_schedulers.immediate,
]


@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("copied", COPIES, ids=["pickle", "copy", "deepcopy"])
def test_a_shared_scheduler_stays_the_one_of_the_process(shared: Callable[[], Scheduler], copied: Callable[[Any], Any]) -> None:
    assert copied(shared()) is shared()


@pytest.mark.parametrize("copied", COPIES, ids=["pickle", "copy", "deepcopy"])
def test_a_scheduler_of_ones_own_says_why_it_is_not_copied(copied: Callable[[Any], Any]) -> None:
    with ThreadPoolExecutor() as pool:
        for own in (
            rx_schedulers.ComputationScheduler(1),
            rx_schedulers.IoScheduler(),
            rx_schedulers.SingleScheduler(),
            rx_schedulers.NewThreadScheduler(),
            rx_schedulers.TrampolineScheduler(),
            rx_schedulers.ImmediateScheduler(),
            rx_schedulers.from_executor(pool),
        ):
            with pytest.raises(
                TypeError, match=r"has threads or may have, and cannot be pickled or copied(.|\n)*rx_schedulers\.io\(\)"
            ):
                copied(own)
            own.shutdown()

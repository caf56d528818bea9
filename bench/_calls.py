"""What is called between ``subscribe`` and its return: the guard that subscribing stays a short way through few files."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from threading import Lock
from types import FrameType
from typing import Any, Final

from bench._common import add_one, is_odd
from bench._measure import Case, below
from rx_core import Scheduler
from rx_ops import Flowable
from rx_schedulers import single

NAME: Final = "calls of range.map.filter.observe_on.flat_map.subscribe"

#: The first subscriptions find plugins, import modules and compile shapes; what they call is not counted.
WARM: Final = 20


def call_cases() -> Iterator[Case]:
    """How many functions, and in how many files they are."""
    yield Case(
        NAME,
        1,
        {"rx": lambda: len(calls(_pipeline))},
        [below("rx", 90)],
        unit="calls",
        note="Python functions that the subscribing thread enters until subscribe returns",
    )
    yield Case(
        f"files of the {NAME}",
        1,
        {"rx": lambda: len(files(calls(_pipeline)))},
        [below("rx", 16)],
        unit="files",
    )


def _pipeline(scheduler: Scheduler) -> Flowable[int]:
    return Flowable.range(10).map(add_one).filter(is_odd).observe_on(scheduler).flat_map(Flowable.just)


def _ignore(_item: object) -> None:
    pass


def calls(make: Callable[[Scheduler], Flowable[Any]]) -> list[tuple[str, str]]:
    """The file and the name of each Python function that ``subscribe`` enters on the calling thread, once the program is warm.

    The scheduler's thread waits until subscribe has returned: how far it gets would decide what is left to do here.
    """
    scheduler = single()
    for _ in range(WARM):
        ended = Lock()
        ended.acquire()
        make(scheduler).subscribe(_ignore, on_complete=ended.release)
        _wait(ended)
    busy = Lock()
    busy.acquire()
    worker = scheduler.create_worker()
    worker.schedule(lambda: _wait(busy))
    flow = make(scheduler)
    entered: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            entered.append((frame.f_code.co_filename, frame.f_code.co_name))

    before = sys.getprofile()
    collecting = gc.isenabled()
    gc.disable()  # finalizers of what ran before would be counted
    sys.setprofile(note)
    try:
        disposable = flow.subscribe(_ignore)
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()
        busy.release()
    disposable.dispose()
    worker.dispose()
    return entered


def _wait(lock: Any) -> None:
    assert lock.acquire(timeout=60), "nothing happened for a minute"


def files(entered: list[tuple[str, str]]) -> set[str]:
    """The files in which the functions are; what has no file (``<frozen abc>``) is no file."""
    return {file for file, _ in entered if not file.startswith("<")}

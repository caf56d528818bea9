"""What the races are for, broken on purpose: operators without a token, workers that are not serial. For controls."""

from __future__ import annotations

import gc
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from rx_core import BaseDisposable, Disposable, Scheduler, Worker
from rx_core.streams import Op


class _Unguarded(list[int]):
    """A token that is never taken: every thread that tries for it gets it, with the demand that was put back last."""

    def pop(self, *_: Any) -> int:
        return self[-1]

    def append(self, demand: int, /) -> None:
        self[:] = [demand]


@contextmanager
def without_tokens(monkeypatch: pytest.MonkeyPatch, chosen: Callable[[Op[Any]], bool] = lambda _op: True) -> Iterator[None]:
    """Operators that begin inside the block, those that are ``chosen``, are entered by every thread that publishes something.

    What is raised when two threads are in one of them comes out as AssertionError, whatever it is.
    """
    make = Op.__init__

    def unguarded(op: Op[Any], *args: Any) -> None:
        make(op, *args)
        if chosen(op):
            op.token = _Unguarded()

    with monkeypatch.context() as patch, failing():
        patch.setattr(Op, "__init__", unguarded)
        yield


@contextmanager
def failing() -> Iterator[None]:
    """Two threads are inside of what is made for one: whatever is raised then is a failed check.

    So is what a generator raises when the run that was broken is collected. That has to happen here: later it would be the
    failure of some other test.
    """
    broken: list[str] = []
    before = sys.unraisablehook
    sys.unraisablehook = lambda unraisable: broken.append(repr(unraisable.exc_value))
    try:
        try:
            yield
        except Exception as error:
            broken.append(repr(error))
            traceback.clear_frames(error.__traceback__)
        gc.collect()
    finally:
        sys.unraisablehook = before
    assert not broken, f"not serial: {broken}"


class LooseScheduler(Scheduler):
    """Its workers run each action at once, on another thread: not one after the other."""

    def create_worker(self) -> Worker:
        return LooseWorker()

    def now(self) -> float:
        return 0.0

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        return True


class LooseWorker(Worker, BaseDisposable):
    def schedule(self, action: Callable[[], object], /, delay: float = 0.0) -> Disposable:
        trace = sys.gettrace()  # where the thread that schedules stumbles, its worker does

        def run() -> None:
            sys.settrace(trace)
            with suppress(Exception):  # where the run breaks, its stream does not end as it should
                action()

        threading.Thread(target=run, daemon=True).start()
        return self

    def now(self) -> float:
        return 0.0

    def dispose(self) -> None:
        pass

    @property
    def is_disposed(self) -> bool:
        return False

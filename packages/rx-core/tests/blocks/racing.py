"""Real races: threads that start together, at switch intervals from a microsecond to five milliseconds.

The interval is changed in tests only, and restored. Intervals alone switch at calls and jumps, and rarely in a round of some
hundred steps; so every thread also sleeps now and then, for a moment, between two instructions of the blocks or of the tests,
wherever chance has it. On a free-threaded build the intervals have no effect, and the races are real anyway.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random
from time import sleep
from types import FrameType
from typing import Any

from rx_core import UNBOUNDED, Subscription, blocks

ROUNDS = 100
LONGEST = 3e-4
INTERVALS = (1e-6, 1e-5, 1e-4, 1e-3, 5e-3)

_WATCHED = (str(Path(blocks.__file__).parent), str(Path(__file__).parent))
_races = count()


def rounds(total: int = ROUNDS) -> Iterator[int]:
    """Numbers of rounds, each with another switch interval."""
    before = sys.getswitchinterval()
    try:
        for number in range(total):
            sys.setswitchinterval(INTERVALS[number % len(INTERVALS)])
            yield number
    finally:
        sys.setswitchinterval(before)


def every_round(check: Callable[[int], object]) -> None:
    """Run ``check`` in every round."""
    for number in rounds():
        check(number)


def repeat(times: int, call: Callable[..., object], *arguments: object) -> Callable[[], None]:
    """A worker that makes the same call so many times."""

    def work() -> None:
        for _ in range(times):
            call(*arguments)

    return work


def in_turn(*calls: Callable[[], object]) -> None:
    for call in calls:
        call()


def _stumbling(seed: int, often: float) -> Callable[[FrameType, str, object], Any]:
    """A trace function that sleeps between instructions, in this part of all cases: mostly short, sometimes long.

    Sleeps of one length would make the threads walk in step.
    """
    chance = Random(seed).random

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        if event == "call":
            if not frame.f_code.co_filename.startswith(_WATCHED):
                return None
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
        elif event == "opcode" and chance() < often:
            sleep(LONGEST * chance() ** 6)
        return trace

    return trace


def race(*workers: Callable[[], object], often: float = 0.02, seconds: float = 30.0) -> None:
    """Run every worker on a thread of its own, all at the same time; what one raises is raised.

    Each thread waits, running, until all of them run: threads that have to be woken first come one after the other, and whoever
    is first has finished before the second begins.
    """
    running: list[int] = []
    failures: list[BaseException] = []

    def run(work: Callable[[], object], seed: int) -> None:
        running.append(1)
        try:
            while len(running) < len(workers):
                sleep(0)
            sys.settrace(_stumbling(seed, often))
            work()
        except BaseException as error:
            failures.append(error)
        finally:
            sys.settrace(None)

    seeds = count(next(_races) * 100)
    threads = [threading.Thread(target=run, args=(work, next(seeds)), daemon=True) for work in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    assert not any(thread.is_alive() for thread in threads), "a thread of the race hangs"
    if failures:
        raise failures[0]


def interrupted(call: Callable[[], object], *others: tuple[int, Callable[[], object]]) -> int:
    """Make ``call``, and each of ``others`` completely between two of its instructions, before the one of that number.

    It is what another thread may do that is never interrupted itself, or a finalizer, without a chance involved. Those whose
    number is not reached are made afterwards. Returns how many instructions there were.
    """
    waiting = deque(sorted(others, key=lambda other: other[0]))
    at = 0

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal at
        if event == "call":
            if not frame.f_code.co_filename.startswith(_WATCHED):
                return None
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
        elif event == "opcode":
            while waiting and waiting[0][0] <= at:
                waiting.popleft()[1]()
            at += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    for _, other in waiting:
        other()
    return at


def caught(check: Callable[[int], object], attempts: int = ROUNDS) -> bool:
    """For controls: whether ``check``, run again and again with something broken, fails an assertion at last."""
    for number in rounds(attempts):
        try:
            check(number)
        except AssertionError:
            return True
    return False


class Probe:
    """A subscriber that records, and counts signals that overlap or come when they must not.

    Recording takes a few steps on purpose, so that an overlapping signal has time to come.
    """

    def __init__(self, request: int = UNBOUNDED) -> None:
        self.subscription: Subscription | None = None
        self.values: list[object] = []
        self.errors: list[Exception] = []
        self.completions = 0
        self.overlaps = 0
        self.late = 0
        self._request = request
        self._inside: str | None = None
        self.on_value: Callable[[object], object] | None = None

    def _enter(self, signal: str) -> str | None:
        before, self._inside = self._inside, signal
        if before is not None:
            self.overlaps = len(self.values) + 1
        if self.errors or self.completions:
            self.late = len(self.values) + 1
        for _ in range(3):  # room for somebody else
            pass
        return before

    def on_subscribe(self, subscription: Subscription, /) -> None:
        before = self._enter("on_subscribe")
        self.subscription = subscription
        if self._request:
            subscription.request(self._request)
        self._inside = before

    def on_next(self, item: object, /) -> None:
        before = self._enter("on_next")
        self.values.append(item)
        if self.on_value is not None:
            self.on_value(item)
        self._inside = before

    def on_success(self, item: object, /) -> None:
        before = self._enter("on_success")
        self.values.append(item)
        self.completions = 1
        self._inside = before

    def on_error(self, error: Exception, /) -> None:
        before = self._enter("on_error")
        self.errors.append(error)
        self._inside = before

    def on_complete(self) -> None:
        before = self._enter("on_complete")
        self.completions = self.completions + 1
        self._inside = before

    def assert_serial(self) -> None:
        assert not self.overlaps, f"RS 1.3: signals overlapped, first around element {self.overlaps}"
        assert not self.late, f"RS 1.7: signals after the end, first after element {self.late}"
        assert len(self.errors) + self.completions <= 1, "RS 1.7: several terminal signals"


class Upstream:
    """A Subscription that records; ``answer`` is called in each request."""

    def __init__(self, answer: Callable[[int], object] | None = None) -> None:
        self.requests: list[int] = []
        self.cancels = 0
        self.overlaps = 0
        self.answer = answer
        self._inside = False

    def request(self, n: int, /) -> None:
        if self._inside:
            self.overlaps = len(self.requests) + 1
        self._inside = True
        self.requests.append(n)
        if self.answer is not None:
            self.answer(n)
        self._inside = False

    def cancel(self) -> None:
        self.cancels += 1

    @property
    def total(self) -> int:
        return sum(self.requests)

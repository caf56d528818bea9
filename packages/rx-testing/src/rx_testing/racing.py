"""Races that really happen: threads that start together and stumble between two instructions, wherever chance has it.

Switch intervals alone switch at calls and jumps, and rarely in a round of some hundred steps: most broken serializers survive a
hundred rounds of them. So every thread of a race also sleeps now and then, for a moment, inside the files that are watched.

    from rx_testing.racing import race, rounds

    for number in rounds():
        race(feed(left), feed(right), watch=[my_package.__path__[0]])

Give every race a control: the same check with the serializer taken out has to be :func:`caught`.

``RX_STRESS=10`` in the environment makes all of them ten times as long, for a night.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from random import Random
from time import sleep
from types import FrameType
from typing import Any, Final

#: How many rounds a race takes when nobody says otherwise.
ROUNDS: Final = 100
#: The longest stumble, in seconds.
LONGEST: Final = 3e-4
#: The switch intervals that rounds go through, in seconds.
INTERVALS: Final = (1e-6, 1e-5, 1e-4, 1e-3, 5e-3)

_races = count()


def rounds(total: int = ROUNDS) -> Iterator[int]:
    """Numbers of rounds, each with another switch interval; the one before is restored at the end.

    ``RX_STRESS`` says how many times as many there are. On a free-threaded build the intervals have no effect, and the races are
    real anyway.
    """
    before = sys.getswitchinterval()
    try:
        for number in range(total * int(os.environ.get("RX_STRESS") or 1)):
            sys.setswitchinterval(INTERVALS[number % len(INTERVALS)])
            yield number
    finally:
        sys.setswitchinterval(before)


def race(*workers: Callable[[], object], watch: Sequence[str] = (), often: float = 0.02, seconds: float = 30.0) -> None:
    """Run every worker on a thread of its own, all at the same time; what one raises is raised.

    ``watch`` names the folders or files in whose code the threads stumble (none: they run at full speed, and leave it to the
    switch interval), ``often`` in which part of all instructions. Each
    thread waits, running, until all of them run: threads that have to be woken first come one after the other, and whoever is
    first has finished before the second begins. AssertionError when one still runs after ``seconds``.
    """
    running: list[int] = []
    failures: list[BaseException] = []
    watched = tuple(watch)

    def run(work: Callable[[], object], seed: int) -> None:
        running.append(1)
        try:
            while len(running) < len(workers):
                sleep(0)
            if watched:
                sys.settrace(_stumbling(seed, often, watched))
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


def _stumbling(seed: int, often: float, watched: tuple[str, ...]) -> Callable[[FrameType, str, object], Any]:
    """A trace function that sleeps between instructions, in this part of all cases: mostly short, sometimes long.

    Sleeps of one length would make the threads walk in step.
    """
    chance = Random(seed).random

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        if event == "call":
            if not frame.f_code.co_filename.startswith(watched):
                return None
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
        elif event == "opcode" and chance() < often:
            sleep(LONGEST * chance() ** 6)
        return trace

    return trace


def interrupted(call: Callable[[], object], *others: tuple[int, Callable[[], object]], watch: Sequence[str]) -> int:
    """Make ``call``, and each of ``others`` completely between two of its instructions, before the one of that number.

    It is what another thread may do that is never interrupted itself, or a finalizer, without a chance involved. Those whose
    number is not reached are made afterwards. Returns how many instructions of the watched files there were.
    """
    waiting = deque(sorted(others, key=lambda other: other[0]))
    watched = tuple(watch)
    at = 0

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal at
        if event == "call":
            if not frame.f_code.co_filename.startswith(watched):
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

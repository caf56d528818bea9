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
from contextlib import contextmanager
from itertools import count
from random import Random
from time import sleep
from types import CodeType, FrameType
from typing import Any, Final

#: How many rounds a race takes by default.
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
    thread waits, running, until all of them run: threads that have to be woken first come one after the other, and the
    first one has finished before the second begins. AssertionError when one still runs after ``seconds``.
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
    at = 0

    def before_instruction() -> None:
        nonlocal at
        while waiting and waiting[0][0] <= at:
            waiting.popleft()[1]()
        at += 1

    with _calling(before_instruction, tuple(watch)):
        call()
    for _, other in waiting:
        other()
    return at


def _is_watched(code: CodeType, watched: tuple[str, ...]) -> bool:
    """This file is not, although it may be in a folder that is."""
    return code.co_filename.startswith(watched) and code.co_filename != interrupted.__code__.co_filename


if sys.version_info >= (3, 12):

    @contextmanager
    def _calling(step: Callable[[], object], watched: tuple[str, ...]) -> Iterator[None]:
        """Call ``step`` before each instruction of the watched files that this thread comes to, not while ``step`` runs.

        Not with a trace function: up to CPython 3.13 it sees no instruction of the first call of a function.
        """
        monitoring, events = sys.monitoring, sys.monitoring.events
        thread = threading.get_ident()
        instrumented: dict[CodeType, None] = {}
        stepping = False

        def started(code: CodeType, _offset: int) -> None:
            if code not in instrumented and _is_watched(code, watched) and threading.get_ident() == thread:
                instrumented[code] = None
                monitoring.set_local_events(tool, code, events.INSTRUCTION)

        def instruction(_code: CodeType, _offset: int) -> None:
            nonlocal stepping
            if stepping or threading.get_ident() != thread:
                return
            stepping = True
            try:
                step()
            finally:
                stepping = False

        tool = next(number for number in range(6) if monitoring.get_tool(number) is None)
        monitoring.use_tool_id(tool, __name__)
        try:
            monitoring.register_callback(tool, events.PY_START, started)
            monitoring.register_callback(tool, events.PY_RESUME, started)
            monitoring.register_callback(tool, events.INSTRUCTION, instruction)
            monitoring.set_events(tool, events.PY_START | events.PY_RESUME)
            yield
        finally:
            monitoring.set_events(tool, events.NO_EVENTS)
            for code in instrumented:
                monitoring.set_local_events(tool, code, events.NO_EVENTS)
            for event in (events.PY_START, events.PY_RESUME, events.INSTRUCTION):
                monitoring.register_callback(tool, event, None)
            monitoring.free_tool_id(tool)

else:

    @contextmanager
    def _calling(step: Callable[[], object], watched: tuple[str, ...]) -> Iterator[None]:
        """Call ``step`` before each instruction of the watched files that this thread comes to, not while ``step`` runs."""

        def trace(frame: FrameType, event: str, _argument: object) -> Any:
            if event == "call":
                if not _is_watched(frame.f_code, watched):
                    return None
                frame.f_trace_opcodes = True
                frame.f_trace_lines = False
            elif event == "opcode":
                step()
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(before)


def caught(check: Callable[[int], object], attempts: int = ROUNDS) -> bool:
    """For controls: whether ``check``, run again and again with something broken, fails an assertion at last."""
    for number in rounds(attempts):
        try:
            check(number)
        except AssertionError:
            return True
    return False

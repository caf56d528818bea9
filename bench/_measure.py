"""Measuring on a machine that does other things too.

The ways of one case take turns, in another order each round, so that a slow moment hits all of them; between two turns the heap
is shaken, because where objects happen to lie moves a tight loop by several per cent. What counts is the ratio of medians within
one run; cases that ask for it compare each way's fastest round instead.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from reprlib import repr as shortened
from statistics import median
from time import perf_counter, process_time
from typing import Final

Run = Callable[[], object]

#: Peers that take long run this often at most, whatever the number of rounds.
SLOW_ROUNDS: Final = 3

_SAME: Final = object()


@dataclass(frozen=True, slots=True)
class Way:
    """One way to do a piece of work, where more has to be said than a function.

    A way that is slow may do fewer ``elements`` than its case, or compute something other than the first; then ``expected``
    says what it has to return. ``missing`` says why it cannot run here.
    """

    run: Run
    elements: int | None = None
    expected: object = _SAME
    slow: bool = False
    missing: str | None = None


def absent(package: str) -> Way:
    """A peer that is not installed: it stays in the table and says so."""
    return Way(_never, missing=f"{package} is not installed")


def left_out(reason: str) -> Way:
    """A way that was not asked for."""
    return Way(_never, missing=reason)


def _never() -> object:
    raise AssertionError("a way that is missing does not run")


class Kind(Enum):
    """How a goal reads its figure."""

    AT_MOST = "at most"
    TIMES_FASTER = "times faster"
    ABSOLUTE = "in the case's unit"


@dataclass(frozen=True, slots=True)
class Goal:
    """What a way is meant to reach: see :func:`at_most`, :func:`faster` and :func:`below`, which make them."""

    way: str
    target: float
    stretch: float | None
    against: str | None
    kind: Kind


def at_most(way: str, target: float, stretch: float | None = None, *, of: str | None = None) -> Goal:
    """``way`` takes at most ``target`` times as long as ``of`` (the case's first way)."""
    return Goal(way, target, stretch, of, Kind.AT_MOST)


def faster(way: str, target: float, stretch: float | None = None, *, than: str) -> Goal:
    """``way`` is at least ``target`` times as fast as ``than``."""
    return Goal(way, target, stretch, than, Kind.TIMES_FASTER)


def below(way: str, target: float, stretch: float | None = None) -> Goal:
    """``way`` measures at most ``target`` in the unit of its case."""
    return Goal(way, target, stretch, None, Kind.ABSOLUTE)


@dataclass(frozen=True, slots=True)
class Case:
    """One piece of work in several ways; the first way is what the others are compared with.

    Every way returns its result, and all results must be equal: what computes something else is no peer. With a ``unit`` nothing
    is timed: what a way returns is the figure itself (kilobytes, milliseconds of another process).
    """

    name: str
    elements: int
    ways: Mapping[str, Run | Way]
    goals: Sequence[Goal] = ()
    unit: str | None = None
    #: What the table says below the case, where a figure could be misread.
    note: str = ""
    #: Threads wait for one another here: what counts is the time on the clock. Otherwise it is processor time, all threads of the
    #: process added up, because a long way is interrupted by what else runs on the machine and a short one is not.
    waits: bool = False
    #: Each way counts with its fastest round instead of the median, and slow ways run every round. Short runs are compared like
    #: this: what else the machine does can only make a round longer.
    fastest: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """How long one way took: the median (or the fastest round) in seconds, and the spread between the quartiles relative to it.

    ``ratio`` is that of the times per element. In a case with a unit ``seconds`` holds the figure in that unit.
    """

    case: str
    way: str
    elements: int
    seconds: float
    spread: float
    ratio: float
    missing: str | None = None

    @property
    def nanoseconds_per_element(self) -> float:
        return self.seconds / self.elements * 1e9


@dataclass(frozen=True, slots=True)
class Verdict:
    """A goal and what was measured for it."""

    goal: Goal
    measured: float
    unit: str = field(default="×")

    @property
    def met(self) -> bool:
        return self._reaches(self.goal.target)

    @property
    def stretch_met(self) -> bool:
        return self.goal.stretch is not None and self._reaches(self.goal.stretch)

    @property
    def missed_by(self) -> float:
        """How far off the target, relative to it; 0 when it is met."""
        if self.met:
            return 0.0
        if self.goal.kind is Kind.TIMES_FASTER:
            return self.goal.target / self.measured - 1
        return self.measured / self.goal.target - 1

    def _reaches(self, wanted: float) -> bool:
        return self.measured >= wanted if self.goal.kind is Kind.TIMES_FASTER else self.measured <= wanted


def measure(case: Case, rounds: int, seed: int = 7) -> list[Figure]:
    """Run every way ``rounds`` times, taking turns. Raises AssertionError when two ways disagree."""
    shake = random.Random(seed)
    ways = {name: way if isinstance(way, Way) else Way(way) for name, way in case.ways.items()}
    running = {name: way for name, way in ways.items() if way.missing is None}
    _check(case, running)
    taken: dict[str, list[float]] = {name: [] for name in running}
    clock = perf_counter if case.waits else process_time
    order = list(running)
    for turn in range(rounds):
        shake.shuffle(order)
        for name in order:
            way = running[name]
            if way.slow and turn >= SLOW_ROUNDS and not case.fastest:
                continue
            ballast = [bytearray(shake.randrange(16, 4096)) for _ in range(shake.randrange(50))]
            gc.collect()
            started = clock()
            result = way.run()
            spent = clock() - started
            taken[name].append(spent if case.unit is None else _number(case, name, result))
            del ballast, result
    base = next(iter(running), None)
    figures: list[Figure] = []
    for name, way in ways.items():
        elements = case.elements if way.elements is None else way.elements
        if name not in running or base is None:
            figures.append(Figure(case.name, name, elements, 0.0, 0.0, 0.0, way.missing))
        else:
            first = _typical(case, taken[base]) / (running[base].elements or case.elements)
            figures.append(_figure(case, name, elements, taken[name], first))
    return figures


def _typical(case: Case, taken: Sequence[float]) -> float:
    return min(taken) if case.fastest else median(taken)


def _check(case: Case, running: Mapping[str, Way]) -> None:
    """Every way once: the warm-up, and the proof that all of them do the same."""
    results = {name: way.run() for name, way in running.items()}
    if case.unit is not None:
        return
    first = next((results[name] for name, way in running.items() if way.expected is _SAME), None)
    for name, way in running.items():
        expected = first if way.expected is _SAME else way.expected
        assert results[name] == expected, f"{case.name}: {name} computes {shortened(results[name])}, not {shortened(expected)}"


def _number(case: Case, way: str, result: object) -> float:
    assert isinstance(result, int | float), f"{case.name}: {way} has to return a number of {case.unit}, not {result!r}"
    return float(result)


def _figure(case: Case, way: str, elements: int, taken: Sequence[float], base: float) -> Figure:
    ordered = sorted(taken)
    middle = _typical(case, ordered)
    quarter = len(ordered) // 4
    spread = (ordered[-1 - quarter] - ordered[quarter]) / middle if middle else 0.0
    return Figure(case.name, way, elements, middle, spread, middle / elements / base if base else 0.0)


def judge(case: Case, figures: Sequence[Figure]) -> list[Verdict]:
    """What was measured for the goals of a case; goals against peers that are missing are left out."""
    found = {figure.way: figure for figure in figures if figure.missing is None}
    verdicts: list[Verdict] = []
    for goal in case.goals:
        way = found.get(goal.way)
        other = found.get(next(iter(case.ways)) if goal.against is None else goal.against)
        if way is None:
            continue
        if goal.kind is Kind.ABSOLUTE:
            verdicts.append(Verdict(goal, way.seconds, case.unit or "s"))
        elif other is not None:
            mine, theirs = way.seconds / way.elements, other.seconds / other.elements
            verdicts.append(Verdict(goal, mine / theirs if goal.kind is Kind.AT_MOST else theirs / mine))
    return verdicts

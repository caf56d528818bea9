"""Measuring on a machine that does other things too.

The ways of one case take turns, so that a slow moment hits all of them; between two turns the heap is shaken, because where
objects happen to lie moves a tight loop by several per cent. What counts is the ratio of medians within one run.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Case:
    """One piece of work in several ways; the first way is what the others are compared with.

    Every way returns its result, and all results must be equal: what computes something else is no peer.
    """

    name: str
    elements: int
    ways: Mapping[str, Callable[[], object]]


@dataclass(frozen=True, slots=True)
class Figure:
    """How long one way took: the median in seconds, and the spread between the quartiles relative to it."""

    case: str
    way: str
    elements: int
    seconds: float
    spread: float
    ratio: float

    @property
    def nanoseconds_per_element(self) -> float:
        return self.seconds / self.elements * 1e9


def measure(case: Case, rounds: int, seed: int = 7) -> list[Figure]:
    """Run every way ``rounds`` times, taking turns. Raises AssertionError when two ways disagree."""
    shake = random.Random(seed)
    results = {way: run() for way, run in case.ways.items()}  # warm-up, and the check
    first = next(iter(results.values()))
    for way, result in results.items():
        assert result == first, f"{case.name}: {way} computes {result!r}, not {first!r}"
    times: dict[str, list[float]] = {way: [] for way in case.ways}
    ballast: list[bytearray] = []
    for _ in range(rounds):
        for way, run in case.ways.items():
            ballast = [bytearray(shake.randrange(16, 4096)) for _ in range(shake.randrange(50))]
            gc.collect()
            started = perf_counter()
            run()
            times[way].append(perf_counter() - started)
    del ballast
    base = median(next(iter(times.values())))
    return [_figure(case, way, taken, base) for way, taken in times.items()]


def _figure(case: Case, way: str, taken: Sequence[float], base: float) -> Figure:
    ordered = sorted(taken)
    middle = median(ordered)
    quarter = len(ordered) // 4
    spread = (ordered[-1 - quarter] - ordered[quarter]) / middle
    return Figure(case.name, way, case.elements, middle, spread, middle / base)

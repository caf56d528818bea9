"""Cliffs: combinations that cost far more than their parts do.

Every source is combined with everything in the middle and every ending. What a combination should cost is the sum of its
parts: what the source costs into callbacks, and what the middle and the ending add, each measured alone behind a source of the
same kind, pulled or pushing. An ending behind a coordinating operator counts as behind a source that pushes.

A first pass times every combination in a few rounds. Those that look dear are timed again together with their own parts, all in
turns, since the machine may have been slower when the one was measured than when the other was. Time is processor time of all
threads, here also where they wait for one another: on a machine that does other things a thread is woken when there is room
for it, and what that takes would be taken for a cliff.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Final

from bench._cliff_parts import BASES, CALLBACKS, ENDINGS, MIDDLES, NOTHING, SOURCES, Ending, Items, Kind, Middle, Source, fits

#: A combination is a cliff when it costs more than this many times the sum of its parts,
TIMES: Final = 3.0
#: a part when it is by so many nanoseconds per item dearer behind a source that pushes than behind one that is pulled,
DEARER: Final = 500.0
#: a source when it costs more than this per item into callbacks.
SLOW: Final = 1_000.0

#: From here on a combination is timed again, beside its parts.
SUSPICIOUS: Final = 2.4

#: Shapes are compiled when they have run a few times; this often each combination runs with few items before it is timed.
WARM_UPS: Final = 9
FEW: Final = 20

#: Parts are timed so many times as often as combinations: each of them counts in hundreds of sums.
PARTS_ROUNDS: Final = 3


@dataclass(frozen=True, slots=True)
class Combination:
    source: Source
    middle: Middle
    ending: Ending

    @property
    def name(self) -> str:
        names = (self.source.name, self.middle.name, self.ending.name)
        return " → ".join(name for name in names if name != NOTHING.name)

    @property
    def kind(self) -> Kind:
        """Behind what the ending stands."""
        return Kind.PUSHING if self.middle.pushes else self.source.kind

    @property
    def parts(self) -> list[Combination]:
        """What the sum is made of: the source into callbacks, each other part behind a base, and the bases."""
        base, last = BASES[self.source.kind], BASES[self.kind]
        parts = (
            alone(self.source),
            Combination(base, self.middle, CALLBACKS),
            alone(base),
            Combination(last, NOTHING, self.ending),
            alone(last),
        )
        return list(dict.fromkeys(parts))

    def expected(self, cost: Mapping[Combination, float]) -> float:
        """The sum of the parts, given what each of them costs. A part that makes the base cheaper counts as nothing."""
        base, last = BASES[self.source.kind], BASES[self.kind]
        middle = cost[Combination(base, self.middle, CALLBACKS)] - cost[alone(base)]
        ending = cost[Combination(last, NOTHING, self.ending)] - cost[alone(last)]
        return cost[alone(self.source)] + max(middle, 0.0) + max(ending, 0.0)

    def run(self, size: int) -> Items:
        made = self.source.make(size)
        return self.ending.run(self.middle.apply(made.flow), made.feed)

    def check(self, size: int) -> None:
        """Raise AssertionError when something else arrives than the parts say."""
        got, wanted = self.run(size), self.ending.plain(self.middle.plain(list(range(size))))
        if got != wanted:
            raise AssertionError(f"{len(got)} items arrived instead of {len(wanted)}, or others")


def alone(source: Source) -> Combination:
    return Combination(source, NOTHING, CALLBACKS)


def combinations(
    only: str | None = None,
    *,
    sources: Iterable[Source] = SOURCES,
    middles: Iterable[Middle] = MIDDLES,
    endings: Iterable[Ending] = ENDINGS,
) -> Iterator[Combination]:
    """All that work together, or those whose name contains ``only``."""
    middles, endings = tuple(middles), tuple(endings)
    for source in sources:
        for middle in middles:
            for ending in endings:
                combination = Combination(source, middle, ending)
                if fits(source, middle, ending) and (only is None or only in combination.name):
                    yield combination


@dataclass(frozen=True, slots=True)
class Cost:
    """What a combination costs, and what it should: nanoseconds per item."""

    combination: Combination
    nanoseconds: float
    expected: float

    @property
    def times(self) -> float:
        return self.nanoseconds / self.expected


@dataclass(frozen=True, slots=True)
class Dearer:
    """What a part adds behind a source that is pulled, and behind one that pushes: nanoseconds per item."""

    part: str
    pulled: float
    pushing: float

    @property
    def by(self) -> float:
        return self.pushing - max(self.pulled, 0.0)


@dataclass(frozen=True, slots=True)
class Cliffs:
    """All that was measured; the properties are what has a target, and the target of each is that there is none."""

    size: int
    rounds: int
    costs: Sequence[Cost]
    #: Nanoseconds per item into callbacks.
    sources: Mapping[str, float]
    parts: Sequence[Dearer]
    #: Combinations that gave something else, failed or did not end.
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def over(self) -> list[Cost]:
        return [cost for cost in self.worst if cost.times > TIMES]

    @property
    def worst(self) -> list[Cost]:
        return sorted(self.costs, key=lambda cost: cost.times, reverse=True)

    @property
    def dearer(self) -> list[Dearer]:
        return sorted((part for part in self.parts if part.by > DEARER), key=lambda part: part.by, reverse=True)

    @property
    def slow(self) -> dict[str, float]:
        found = {name: cost for name, cost in self.sources.items() if cost > SLOW}
        return dict(sorted(found.items(), key=lambda each: each[1], reverse=True))


class Measuring:
    """Times combinations and keeps the fastest round of each, and what failed."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.failed: dict[Combination, str] = {}
        self._warm: set[Combination] = set()

    def works(self, combination: Combination) -> bool:
        """Run it until it is warm, and check what arrives; a combination that fails is not run again."""
        if combination not in self._warm and combination not in self.failed:
            try:
                for _ in range(WARM_UPS):
                    combination.check(FEW)
                combination.check(self.size)
                self._warm.add(combination)
            except Exception as error:
                self.failed[combination] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        return combination in self._warm

    def in_turns(self, several: Sequence[Combination], rounds: int) -> dict[Combination, float]:
        """Nanoseconds per item of those that work."""
        working = [each for each in several if self.works(each)]
        best: dict[Combination, float] = dict.fromkeys(working, float("inf"))
        for _ in range(rounds):
            for each in working:
                started = process_time()
                each.run(self.size)
                best[each] = min(best[each], process_time() - started)
        return {each: seconds / self.size * 1e9 for each, seconds in best.items()}


def measure_cliffs(
    chosen: Sequence[Combination], size: int, rounds: int, progress: Callable[[], object] = lambda: None
) -> Cliffs:
    """Time these combinations and their parts. ``progress`` is called a hundred times or less."""
    measuring = Measuring(size)
    gc.collect()
    gc.freeze()  # what was imported is not looked at again: collecting costs little then
    gc.disable()
    try:
        return _measured(measuring, chosen, rounds, progress)
    finally:
        gc.enable()
        gc.unfreeze()


def _measured(measuring: Measuring, chosen: Sequence[Combination], rounds: int, progress: Callable[[], object]) -> Cliffs:
    parts = dict.fromkeys(part for combination in chosen for part in combination.parts)
    pairs = list(_pairs(chosen))
    parts.update(dict.fromkeys(part for pair in pairs for part in (*pair, *(alone(each.source) for each in pair))))
    known = measuring.in_turns(list(parts), rounds * PARTS_ROUNDS)
    costs: dict[Combination, Cost] = {}
    step = -(-len(chosen) // 100)
    for at, combination in enumerate(chosen):
        if at % step == 0:
            gc.collect()
            progress()
        cost = _cost(combination, {**known, **measuring.in_turns([combination], rounds)})
        if cost is not None and cost.times > SUSPICIOUS:
            beside = [combination, *(part for part in combination.parts if part != combination)]
            cost = _cost(combination, measuring.in_turns(beside, rounds * PARTS_ROUNDS))
        if cost is not None:
            costs[combination] = cost
    return Cliffs(
        measuring.size,
        rounds,
        list(costs.values()),
        {each.source.name: cost for each, cost in known.items() if each == alone(each.source)},
        [_dearer(pulled, pushing, known) for pulled, pushing in pairs if pulled in known and pushing in known],
        {each.name: reason for each, reason in measuring.failed.items()},
    )


def _cost(combination: Combination, known: Mapping[Combination, float]) -> Cost | None:
    """None when the combination or a part of it does not work."""
    if combination not in known or any(part not in known for part in combination.parts):
        return None
    return Cost(combination, known[combination], combination.expected(known))


def _pairs(chosen: Sequence[Combination]) -> Iterator[tuple[Combination, Combination]]:
    """Each part of these combinations behind both bases."""
    pulled, pushing = BASES[Kind.PULLED], BASES[Kind.PUSHING]
    for middle in dict.fromkeys(each.middle for each in chosen):
        if middle != NOTHING:
            yield Combination(pulled, middle, CALLBACKS), Combination(pushing, middle, CALLBACKS)
    for ending in dict.fromkeys(each.ending for each in chosen):
        if ending != CALLBACKS:
            yield Combination(pulled, NOTHING, ending), Combination(pushing, NOTHING, ending)


def _dearer(pulled: Combination, pushing: Combination, known: Mapping[Combination, float]) -> Dearer:
    part = f"{pulled.ending.name}, ending" if pulled.middle == NOTHING else f"{pulled.middle.name}, in the middle"
    added = (known[each] - known[alone(each.source)] for each in (pulled, pushing))
    return Dearer(part, *added)

"""How the library stands against reactivex, over all programs that were measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench._programs import BY_HAND, EXCEPTIONS, PREFIX, TIMES
from bench._report import Measured


@dataclass(frozen=True, slots=True)
class Standing:
    """How many times faster than reactivex each program is, and the reasons that some of them name."""

    times: Mapping[str, float]
    reasons: Mapping[str, str]
    #: How many times faster than reactivex a program is that is written by hand, where there is one.
    by_hand: Mapping[str, float]

    @property
    def slower(self) -> list[str]:
        """The programs that are slower than reactivex, the slowest first."""
        return sorted((name for name, times in self.times.items() if times < 1), key=self.times.__getitem__)

    @property
    def below(self) -> list[str]:
        """The programs that are not three times faster, those that are slower included."""
        return sorted((name for name, times in self.times.items() if times < TIMES), key=self.times.__getitem__)

    @property
    def unexplained(self) -> list[str]:
        """Those of :attr:`below` that name no reason."""
        return [name for name in self.below if name not in self.reasons]

    @property
    def out_of_reach(self) -> list[str]:
        """Those of :attr:`below` that are not three times faster written by hand."""
        return [name for name in self.below if self.by_hand.get(name, TIMES) < TIMES]

    @property
    def met(self) -> bool:
        return not self.slower and not self.unexplained and len(self.below) <= EXCEPTIONS


def standing(measured: Sequence[Measured]) -> Standing | None:
    """What the measured programs add up to; None when reactivex is missing or no program was measured."""
    times: dict[str, float] = {}
    reasons: dict[str, str] = {}
    by_hand: dict[str, float] = {}
    for each in measured:
        name = each.case.name.removeprefix(PREFIX)
        found = {figure.way: figure for figure in each.figures if figure.missing is None}
        if name != each.case.name and found.keys() >= {"rx", "reactivex"}:
            times[name] = found["reactivex"].nanoseconds_per_element / found["rx"].nanoseconds_per_element
            if BY_HAND in found:
                by_hand[name] = found["reactivex"].nanoseconds_per_element / found[BY_HAND].nanoseconds_per_element
            if each.case.note:
                reasons[name] = each.case.note
    return Standing(times, reasons, by_hand) if times else None


def standing_text(stands: Standing) -> str:
    programs, below, slower = len(stands.times), len(stands.below), len(stands.slower)
    lines = [
        f"Against reactivex, {programs} programs: {slower} slower than reactivex (target: none), {programs - below} at least"
        f" {TIMES:g} times faster (target: all but {EXCEPTIONS}, each with its reason): {'met' if stands.met else '**missed**'}",
        "",
    ]
    for name in stands.below:
        reason = f": {stands.reasons[name]}" if name in stands.reasons else ""
        hand = f" (by hand {stands.by_hand[name]:.2f})" if name in stands.by_hand else ""
        lines.append(f"- {name}, {stands.times[name]:.2f} times as fast{hand}{reason}")
    if stands.out_of_reach:
        lines += ["", f"Not {TIMES:g} times as fast written by hand either: {len(stands.out_of_reach)}"]
    return "\n".join(lines).rstrip()


def standing_json(stands: Standing) -> dict[str, Any]:
    return {
        "programs": len(stands.times),
        "slower": len(stands.slower),
        "at_least_three_times_faster": len(stands.times) - len(stands.below),
        "met": stands.met,
        "times_faster": dict(stands.times),
        "by_hand": dict(stands.by_hand),
        "reasons": {name: stands.reasons[name] for name in stands.below if name in stands.reasons},
    }

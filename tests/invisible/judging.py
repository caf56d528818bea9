"""Comparing what was seen with what the reference says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from tests.invisible.building import (
    ACTING_AT_THE_END,
    ACTING_BEHIND_AN_ITEM,
    GIVING_AT_THE_END,
    LOOKING_AHEAD,
    SIDE_BY_SIDE,
    STAGES,
    WALLS,
    everything,
    may_poke,
    pushes,
    queues,
)
from tests.invisible.describe import Op, Pipeline, frozen, functions, nested
from tests.invisible.forms import Mode
from tests.invisible.recording import Called, Ended, Entry, Got, Recording, Script
from tests.invisible.reference import possible_calls, reference
from tests.invisible.trace import Call, Emit, End, Trace


class Difference(AssertionError):
    """A form is not what the reference says."""


#: Their first argument is called when somebody subscribes, and not at all in front of take(0).
SUPPLIED: Final = ("defer", "collect", "scan_with", "reduce_with")


class Judge:
    """The reference's view of one pipeline in one mode; ``polled``: by somebody who waits, over a queue where one is needed."""

    def __init__(self, pipeline: Pipeline, mode: Mode, *, polled: bool = False) -> None:
        self.pipeline, self.mode = pipeline, mode
        self.trace: Trace = reference(pipeline)
        #: What is compared step by step, in order: items, the end, and the calls of functions that cannot run ahead.
        loose = set(read_ahead(pipeline, mode.apart, polled))
        loose |= {str(op.args[0].name) for op in everything(pipeline) if op.name in SUPPLIED}
        loose |= {event.fn for event in self.trace if isinstance(event, Call) and event.idle}
        self.loose = loose
        self.strict = [event for event in self.trace if not (isinstance(event, Call) and event.fn in loose)]
        self.wanted: list[Entry] = [as_entry(event) for event in self.strict]
        self.items = sum(isinstance(event, Emit) for event in self.trace)
        self.poked = mode.apart or any(may_poke(each) for each in everything(pipeline))
        self.possible = possible_calls(pipeline)

    def check(self, recording: Recording, script: Script) -> None:
        """Everything there is to say about a subscriber that followed ``script``."""
        self.check_always(recording)
        for step in range(len(recording.marks)):
            cancelled = script.cancel_after is not None and step > script.cancel_after
            self.check_step(recording.until(step), script.wanted(step), cancelled or script.cancel_in is not None)
        self.check_threads(recording, script)

    def check_whole(self, recording: Recording, most: int | None = None) -> None:
        """The same for who takes everything, or leaves after ``most`` items."""
        self.check_always(recording)
        wanted = self.items + 1 if most is None else most
        self.check_step(recording.log.entries, wanted, most is not None, whole=True)

    def check_result(self, recording: Recording) -> None:
        """The same for who gets all items at once, or an error and none of them."""
        self.check_always(recording)
        calls = [anywhere(e) for e in recording.log.entries if isinstance(e, Called) and e.fn not in self.loose]
        if calls != [e for e in self.wanted if isinstance(e, Called)]:
            raise self.differ("other calls", calls)
        result = [e for e in recording.log.entries if not isinstance(e, Called)]
        signals = [e for e in self.wanted if not isinstance(e, Called)]
        if result != (signals[-1:] if isinstance(signals[-1], Ended) and signals[-1].error else signals):
            raise self.differ("another result", result)

    def check_always(self, recording: Recording) -> None:
        for what in (recording.violations, recording.left):
            if what:
                raise Difference(f"{self.mode}: {what}")
        if not self.poked and recording.dropped:
            raise Difference(f"{self.mode}: errors with nowhere to go: {recording.dropped}")
        strangers = {(e.fn, e.args) for e in recording.log.entries if isinstance(e, Called)} - self.possible
        if strangers:
            raise Difference(f"{self.mode}: functions were called for elements that are not theirs: {strangers}")

    def check_step(self, entries: Sequence[Entry], demand: int, may_be_cancelled: bool, whole: bool = False) -> None:
        got = [anywhere(e) for e in entries if not (isinstance(e, Called) and e.fn in self.loose)]
        given = sum(isinstance(e, Got) for e in got)
        if got != self.wanted[: len(got)]:
            raise self.differ("not a beginning of what the reference does", got)
        if given != min(demand, self.items):
            raise self.differ(f"{min(demand, self.items)} items were due, {given} came", got)
        over = bool(got) and isinstance(got[-1], Ended)
        cancelled = may_be_cancelled and given == demand
        ends = bool(self.strict) and isinstance(self.strict[-1], End)
        if not over and ends and demand > self.items and not cancelled:
            raise self.differ("the end is due", got)
        last = self.strict[-1] if self.strict else None
        if (
            not over
            and not cancelled
            and demand == self.items > 0
            and last == End(None, known=True)
            and isinstance(self.trace[-2], Emit)
            and self.mode.marks
            and not whole
        ):
            raise self.differ("the end is known with the last item", got)
        if over and cancelled and given < self.items:
            raise self.differ("an end after cancel", got)
        if given == demand and not self.poked and not over:
            for event in self.strict[self.strict_until(given) : len(got)]:
                if isinstance(event, Call) and not event.free:
                    raise self.differ(f"{event} without demand", got)
        if given == demand and not self.poked and over:
            for event in self.strict[self.strict_until(given) :]:
                if isinstance(event, Call) and not event.free:
                    raise self.differ(f"{event} without demand, to find the end", got)
        self.check_loose(entries, given, over)

    def strict_until(self, items: int) -> int:
        """The place behind this many items."""
        return until(self.strict, items)

    def check_loose(self, entries: Sequence[Entry], given: int, over: bool) -> None:
        """Who reads ahead has done at least what the items need."""
        needed = self.trace if over else self.trace[: until(self.trace, given)]
        done: dict[str, list[Any]] = {fn: [] for fn in self.loose}
        for entry in entries:
            if isinstance(entry, Called) and entry.fn in done:
                done[entry.fn].append(entry.args)
        for fn, args in done.items():
            wanted = [
                event.args
                for event in needed
                # What belongs to subscribing may wait for the first request, and take(0) does without it.
                if isinstance(event, Call) and event.fn == fn and not (event.subscribing or event.idle)
            ]
            if not is_subsequence(wanted, args):
                raise Difference(f"{self.mode}: {fn} was called with {args}, {wanted} are needed for {given} items")

    def check_threads(self, recording: Recording, script: Script) -> None:
        """User functions run on the thread that requests."""
        if any(op.name in ("observe_on", "subscribe_on") for op in everything(self.pipeline)):
            return
        at = recording.marks[0]
        for step, end in zip(script.steps, recording.marks[1:], strict=False):
            name = "elsewhere_0" if step.elsewhere else "MainThread"
            strangers = [e for e in recording.log.entries[at:end] if isinstance(e, Called) and e.thread != name]
            if strangers:
                raise Difference(f"{self.mode}: requested on {name}, but {strangers}")
            at = end

    def differ(self, what: str, got: Sequence[Entry]) -> Difference:
        at = next((i for i, (a, b) in enumerate(zip(got, self.wanted, strict=False)) if a != b), min(len(got), len(self.wanted)))
        return Difference(
            f"{self.mode}: {what}\n  at {at}: {shown(got[at : at + 3])} instead of {shown(self.wanted[at : at + 3])}\n"
            f"  seen:      {shown(got)}\n  reference: {shown(self.wanted)}"
        )


def shown(entries: Sequence[Entry]) -> str:
    names = [f"{e.fn}{e.args}" if isinstance(e, Called) else f"→{e.item!r}" if isinstance(e, Got) else f"|{e.error or ''}"
             for e in entries]  # fmt: skip
    return " ".join(names) or "nothing"


def as_entry(event: Any) -> Entry:
    if isinstance(event, Emit):
        return Got(frozen(event.item))
    if isinstance(event, End):
        return Ended(event.error)
    return Called(event.fn, event.args, "")


def anywhere(entry: Entry) -> Entry:
    return entry._replace(thread="") if isinstance(entry, Called) else entry


def until(trace: Sequence[Any], items: int) -> int:
    if not items:
        return 0
    at = [place for place, event in enumerate(trace, 1) if isinstance(event, Emit)]
    return at[items - 1]


def is_subsequence(part: Sequence[Any], whole: Sequence[Any]) -> bool:
    rest = iter(whole)
    return all(any(each == other for other in rest) for each in part)


def read_ahead(pipeline: Pipeline, apart: bool, polled: bool) -> Iterator[str]:
    """The functions that may be called ahead of demand, because somebody downstream has a window that is filled."""
    parts = (pipeline.source, *pipeline.ops)
    reader = (Op("queue"),) if polled else ()
    given = next((at for at, op in enumerate(parts) if op.name in GIVING_AT_THE_END), len(parts))
    # What is not resumed, see _loops: such a stage, and one that gives something in front of another's end.
    queued_stage = any(op.name in STAGES and (queues(op) or op.name in ACTING_BEHIND_AN_ITEM) for op in parts)
    given_in_front = any(op.name in ACTING_AT_THE_END for op in parts[given + 1 :])
    looped = polled and not queued_stage and not given_in_front
    pushed = any(pushes(part, looped) for part in parts)
    for at, op in enumerate(parts):
        later = (*parts[at + 1 :], *reader)
        walls = [place for place, each in enumerate(later) if each.name in WALLS]
        queued = any(queues(each) for each in later)
        ahead = (
            ((apart or pushed) and queued)
            or any(place < len(later) - 1 for place in walls)
            or (op.name in WALLS and bool(later))
            or any(each.name in LOOKING_AHEAD for each in later)
        )
        observed = any(each.name == "observe_on" for each in parts[:at])
        ahead = ahead or (observed and any(each.name not in STAGES for each in later))  # stays apart, behind a queue
        ahead = ahead or ((apart or pushed) and op.name in ("scan", "scan_with"))  # what they make of an item that came waits
        if pushed or not polled:  # flat_map maps as many items as it may run inner sources
            ahead = ahead or any(each.name == "flat_map" for each in (op, *later))
        ahead = ahead or any(each.name in SIDE_BY_SIDE for each in later)  # which of its sources has something to say first?
        if ahead or apart or op.name in SIDE_BY_SIDE:
            inner = [fn.name for each in nested(op) for part in everything(each) for fn in functions(part)]
            inner += [str(part.args[0]) for each in nested(op) for part in everything(each) if part.name == "logged"]
            inner += [fn.name for each in op.args if isinstance(each, Op) for fn in functions(each)]
            yield from inner
        if ahead:
            yield from (fn.name for fn in functions(op))
            if op.name == "logged":
                yield str(op.args[0])

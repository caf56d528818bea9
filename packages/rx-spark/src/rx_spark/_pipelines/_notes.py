"""What ``explain()`` says of the part of a pipeline that Spark runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rx_spark._columns._frames import FrameSource, scan_notes
from rx_spark._errors import NotPortableError
from rx_spark._plans._plan import TO_ONE, IterableSource, Plan, Source, Take, TextSource, is_ours
from rx_spark._transport._credits import WINDOW
from rx_spark._transport._wire import CHUNK, ROWS
from rx_spark._workers._portable import check_portable

if TYPE_CHECKING:
    from rx_spark._pipelines._calls import Border, Call, Cut
    from rx_spark._session._session import SparkConfig

SHUFFLES: Final = {"distinct": "equal items meet in one task"}
#: What any other shuffle does.
COMBINED: Final = "combined per key on both sides"


def plan_notes(plan: Plan, calls: Sequence[Call], border: Border | None, config: SparkConfig) -> list[str]:
    """One note for each thing that Spark does, the source first; before it what the job would be refused for."""
    notes, order = _notes(plan, calls, border, config)
    if not order:
        return notes
    if plan.target is not None:
        return [*notes, f"{'written by the executors' if plan.output else 'executors'}: {plan.target.shown}"]
    rows = isinstance(plan.source, FrameSource) and plan.source.made_by_driver and all(type(step) is Take for step in plan.steps)
    size = f"{ROWS:,} rows" if rows else f"{CHUNK:,}"
    return [*notes, f"streams back: {order}, as requested; at most {WINDOW} chunks of {size} per task are ahead"]


def part_notes(plan: Plan, calls: Sequence[Call], border: Border | None, config: SparkConfig) -> list[str]:
    """The same for a part whose items become columns for the next one."""
    return _notes(plan, calls, border, config)[0]


def _notes(plan: Plan, calls: Sequence[Call], border: Border | None, config: SparkConfig) -> tuple[list[str], str]:
    """And in which order items come out of it; empty: a single value of columns does."""
    notes = [f"refused: {made}, {refused[0]}" for made in calls if (refused := refusal_of(made)) is not None]
    if isinstance(plan.source, IterableSource):
        notes.append("driver: the iterable is read whole before the job starts")
    notes += _bad_records(plan.source)
    passed: list[Call] = []
    order = "in the order of the source"
    runs, before = "read the source", ""
    columns = [made for made in calls if made.kind == "column"]
    again = [made for made in calls if made.kind == "rows"]
    frames = isinstance(plan.source, FrameSource)
    if frames:
        order, runs = "in any order", "rows of Arrow batches"
        if isinstance(plan.source, FrameSource) and plan.source.ordered:
            order = "in the order of their keys"
    elif isinstance(plan.source, TextSource) and plan.source.by_spark:
        order = "in any order"
    notes += [f"columns again: {made}, whose items are looked at" for made in again]
    if columns:
        notes.append(f"columns: {' → '.join(map(str, columns))}")
    if frames and not again:
        notes += _scans(plan.source, config)
    if isinstance(plan.source, FrameSource) and plan.source.one and not plan.target:
        return notes, ""
    if border is not None:
        notes.append(f"Python from {border}")
    if plan.target is not None and not plan.steps:
        runs = ""
    for made in calls[len(again) + len(columns) :]:
        if made.kind == "write":
            continue
        if made.kind == "pass":
            passed.append(made)
            runs = f"one fused pass: {' → '.join(map(str, passed))}"
            continue
        if runs:
            notes.append(f"executors: {runs}")
        passed, runs = [], ""
        if made.kind == "calls":
            notes.append(f"executors: {made}, several calls at a time in each task, results in order")
        elif made.kind == "limit":
            notes.append(f"limit: {made}, then the job stops")
        elif made.kind == "group":
            before = f"{before}.{made}"
            notes[-1] = f"shuffle: {before}, {COMBINED}"
        elif made.kind == "one":
            notes.append(f"{'shuffle' if plan.counting else 'combine'}: {made}, {to_one(plan)}")
            order = "one value"
        else:
            notes.append(f"shuffle: {made}, {SHUFFLES.get(made.name, COMBINED)}")
            order, before = "in any order", str(made)
    if runs:
        notes.append(f"executors: {runs}")
    return notes, order


def to_one(plan: Plan) -> str:
    """How partial results become one: those of our own reductions, where they are plain values, without a further task. Where
    something is counted it is never the driver: it may give a first run up, whose counts would stay."""
    if plan.counting:
        return "partial results, combined in order in one more task: something is counted on the way, in one run only"
    if any(isinstance(step, TO_ONE) and is_ours(step) for step in plan.steps):  # there is one, where the Spark part ends
        return "partial results, combined in order by the driver; in one more task where they are no numbers or text"
    return "partial results, combined in order in one more task; on a cluster they come to it by way of the driver"


def refusal_of(made: Call) -> tuple[str, str] | None:
    """Why the job would be refused for a function of this operator, which cannot travel, and the remedy."""
    for parameter, argument in zip(made.parameters, made.args, strict=True):
        if argument is not None:  # left at its default
            try:
                check_portable([(made.name, parameter, argument)])
            except NotPortableError as error:
                said, *more = str(error).splitlines()
                remedy = next((line.partition("Instead:")[2].strip() for line in more if "Instead:" in line), "")
                return said.partition(": ")[2].removesuffix("."), remedy
    return None


def cut_notes(cut: Cut | None) -> list[str]:
    """Which operator is the first one on the driver, and what to write instead."""
    if cut is None:
        return []
    return [f"driver from here: {cut}", *([f"instead: {cut.remedy}"] if cut.remedy and not cut.ends else ())]


def _bad_records(source: Source) -> list[str]:
    if isinstance(source, FrameSource) and source.screen is not None:
        return [f"each record is looked at, with all of its columns: a bad one {_BECOMES[source.screen.on_bad]}"]
    if isinstance(source, TextSource) and source.on_bad != "fail":
        return [f"a line that cannot be decoded {_BECOMES[source.on_bad]}"]
    return []


_BECOMES: Final = {
    "fail": "fails the stream",
    "skip": "is left out and counted",
    "collect": "is left out, counted and listed",
}


def _scans(source: Source, config: SparkConfig) -> list[str]:
    """What the scans are told; nothing where they cannot be planned now, which running will say."""
    from rx_spark._session._session import engine

    try:
        return scan_notes(source, engine(config)) if isinstance(source, FrameSource) else []
    except Exception:
        return []

"""Live runs as text, for a person: printed, or written to standard error when a signal arrives."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from rx_core._demand import UNBOUNDED
from rx_core.live._runs import LivePart, LiveRun, runs

if TYPE_CHECKING:
    from types import FrameType
    from typing import TextIO


def print_runs(file: TextIO | None = None) -> None:
    """Write every live run to ``file`` (None: standard output): its pipeline, what it waits for, and its operators with their
    queues. See :func:`runs`."""
    print(text_of(runs()), file=file, flush=True)


def dump_runs_on(signum: int) -> None:
    """Write every live run to standard error whenever the process gets the signal ``signum`` (``signal.SIGUSR1``), and go on.

    From the main thread, as ``signal.signal``; a handler that was there is called afterwards. Python runs it between two
    instructions of the main thread, so a main thread that is stuck in C code prints nothing: there is ``faulthandler`` for that.
    """
    import signal

    before = signal.getsignal(signum)

    def dump(number: int, frame: FrameType | None) -> None:
        print_runs(sys.stderr)
        if callable(before):
            before(number, frame)

    signal.signal(signum, dump)


def text_of(found: list[LiveRun]) -> str:
    many = len(found)
    lines = [f"{many:,} live run{'s' * (many != 1)}{':' if found else ''}"]
    for run in found:
        lines += _lines(run)
    return "\n".join(lines)


def _lines(run: LiveRun) -> Iterator[str]:
    yield f"- {'' if run.name is None else f'{run.name!r}: '}{run.pipeline}"
    if run.age is not None:
        where = "" if run.place is None else f" at {run.place[0]}:{run.place[1]}"
        idle = "none yet" if run.idle is None else f"the newest {run.idle:.1f} s ago"
        yield f"    subscribed {run.age:.1f} s ago by {run.thread}{where}; {run.items:,} items out, {idle}"
    yield f"    {run.waits}"
    for line, times in groupby(f"      {'  ' * part.depth}{part.name}{_numbers(part)}" for part in run.parts):
        many = sum(1 for _ in times)
        yield f"{line} ({many:,} of them)" if many > 1 else line
    if run.more:
        yield f"      and {run.more:,} more"


def _numbers(part: LivePart) -> str:
    said = []
    if part.items is not None:
        said.append(f"{part.items:,} items out of {'all' if part.asked == UNBOUNDED else f'{part.asked:,} asked for'}")
    elif part.demand is not None:
        said.append("everything is wanted" if part.demand >= UNBOUNDED else f"{part.demand:,} wanted")
    if part.queued or part.peak or 0 < part.room < UNBOUNDED:
        room = "" if part.room >= UNBOUNDED else f" of {part.room:,}"
        most = f", {part.peak:,} at most" if part.peak else ""
        said.append(f"queue {part.queued:,}{room}{most}")
    return f": {', '.join(said)}" if said else ""

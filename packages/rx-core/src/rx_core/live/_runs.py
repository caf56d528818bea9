"""What each run waits for, in one sentence, and where its items are."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import Any, Final

from rx_core._demand import UNBOUNDED
from rx_core.live._at_work import Place, threads_at_work
from rx_core.live._counted import Counted
from rx_core.live._graph import ends_of, inputs_of, parts_at_work, sources_of
from rx_core.streams.border import Border
from rx_core.streams.contracts import Stream
from rx_core.streams.inputs import QueuedInput
from rx_core.streams.op import Op
from rx_core.streams.waiting import Waiting

#: A run with a thousand inner sources is told by its first parts.
MOST_PARTS: Final = 50
MOST_REASONS: Final = 3


@dataclass(frozen=True, slots=True)
class LivePart:
    """One operator, or some fused stages, at work in a run."""

    #: How it is called in the pipeline: ``flat_map``, or the repr of a source.
    name: str
    #: How many operators stand between it and the subscriber.
    depth: int
    #: Items that its subscriber has requested and not got, UNBOUNDED for all there is; None while that is not known: a thread is
    #: at work in it, or the demand is passed on and not counted.
    demand: int | None
    #: Items that wait in its queues, how many may, and the most that did, where that is counted; UNBOUNDED: any number.
    queued: int
    room: int
    peak: int
    #: Items that it gave, and that were requested of it, where runs are counted (:func:`watch`).
    items: int | None = None
    asked: int | None = None


@dataclass(frozen=True, slots=True)
class LiveRun:
    """One subscription that is under way."""

    pipeline: str
    #: What :meth:`named` says, of the operator nearest to the subscriber.
    name: str | None
    #: What it waits for, or which thread is at work in it, in one sentence.
    waits: str
    #: From the subscriber to its sources.
    parts: tuple[LivePart, ...]
    #: Parts that are left out of ``parts``.
    more: int
    #: Where runs are counted: seconds since the subscription, the thread and the line of it, the items that came out, seconds
    #: since the newest of them, and when it was subscribed, on time.monotonic's clock, which tells runs of one pipeline apart.
    age: float | None = None
    thread: str | None = None
    place: Place | None = None
    items: int | None = None
    idle: float | None = None
    began: float | None = None


def runs() -> list[LiveRun]:
    """Every run in this process that has begun and is not over, those that began first in front where that is known.

    Reads what other threads write, so that a number may be older than its neighbour. Takes some 100 ms in a process with a
    million objects, in which no other thread runs, and nothing where it is not called. A pipeline that a loop pulls on its own
    thread is no run: it never waits. What was subscribed before a call of ``gc.freeze()`` is not found.
    """
    parts = parts_at_work()
    working = threads_at_work({id(part): part for part in parts})
    found = [run for end in ends_of(parts) if (run := _told(end, working)) is not None]
    return sorted(found, key=lambda run: -(run.age or 0.0))


def _told(end: Any, working: Mapping[int, str]) -> LiveRun | None:
    walked = list(islice(_walk(end), 20 * MOST_PARTS))
    known = next((part for part, _, _ in walked if getattr(part, "origin", None) is not None), None)
    if known is None:
        return None
    counted = next((part for part, _, _ in walked if isinstance(part, Counted)), None)
    parts = [_part(part, depth, over) for part, depth, over in walked if _is_shown(part)]
    run = LiveRun(
        pipeline=getattr(known, "pipeline_text", "") or _text(known.origin),
        name=known.origin._run_name if isinstance(known.origin, Stream) else getattr(known, "run_name", None),
        waits=_reason([part for part, _, _ in walked], end, working),
        parts=tuple(parts[:MOST_PARTS]),
        more=max(0, len(parts) - MOST_PARTS),
    )
    if counted is None:
        return run
    now = monotonic()
    return LiveRun(
        run.pipeline, run.name, run.waits, run.parts, run.more,
        age=now - counted.began, thread=counted.thread, place=counted.place, items=counted.items,
        idle=None if counted.last is None else now - counted.last, began=counted.began,
    )  # fmt: skip


def _walk(end: Any) -> Iterator[tuple[Any, int, Counted | None]]:
    """Each part from ``end`` to the sources, with its depth and what counts its items."""
    left: list[tuple[Any, int, Counted | None]] = [(end, 0, None)]
    seen: set[int] = set()
    while left:
        part, depth, over = left.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part, depth, over
        below = depth + (1 if _is_shown(part) else 0)
        left += [(source, below, part if isinstance(part, Counted) else None) for source in reversed(sources_of(part))]


def _is_shown(part: Any) -> bool:
    """Not what only passes on what an operator of ours does; the border of a foreign source is."""
    if isinstance(part, Op) or bool(getattr(part, "operator_name", "")):
        return True
    return isinstance(part, Border) and not sources_of(part.up) and not isinstance(part.up, Op)


def _part(part: Any, depth: int, over: Counted | None) -> LivePart:
    queues = [entry for entry in inputs_of(part) if isinstance(entry, QueuedInput)]
    rooms = [entry.window for entry in queues]
    own = getattr(part, "queue", None) if isinstance(part, Op) else None  # of a group, a window, a replay
    return LivePart(
        name=_name(part),
        depth=depth,
        demand=_demand(part),
        queued=sum(len(entry.queue) for entry in queues) + (len(own) if isinstance(own, deque) else 0),
        room=min(UNBOUNDED, sum(rooms)),
        peak=max((entry.peak for entry in queues), default=0),
        items=None if over is None else over.items,
        asked=None if over is None else over.asked,
    )


def _demand(part: Any) -> int | None:
    return part.open_demand() if isinstance(part, Op) else None


def _name(part: Any) -> str:
    written: str = getattr(part, "operator_name", "")
    return written or _text(getattr(part, "origin", part))


def _text(value: object) -> str:
    try:
        return repr(value)
    except Exception as failure:  # a user's __repr__
        return f"<{type(value).__name__}, its repr failed: {failure!r}>"


# -- the sentence ------------------------------------------------------------------------------------------------------


def _reason(parts: list[Any], end: Any, working: Mapping[int, str]) -> str:
    for part in parts:
        if id(part) in working and not isinstance(part, Waiting):
            return f"{_name(part)} is at work on {working[id(part)]}"
    reasons = list(dict.fromkeys(_reasons(end)))
    more = len(reasons) - MOST_REASONS
    text = "; ".join(reasons[:MOST_REASONS]) + (f"; and {more} more" if more > 0 else "")
    return f"{working[id(end)]} waits: {text}" if id(end) in working else text


def _reasons(end: Any) -> Iterator[str]:
    """What keeps a run: from the subscriber to the sources, as far as each part waits for what is in front of it."""
    left: list[tuple[Any, Any, Counted | None]] = [(end, None, None)]
    seen: set[int] = set()
    while left:
        part, origin, counted = left.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Op):
            sentence = _of_operator(part, counted)
            if sentence is not None:
                yield sentence
                continue
            sources = [entry.up for entry in missing(part)]
        else:
            sources = sources_of(part)
            if not sources:
                yield _of_source(part, origin)
            if isinstance(part, Counted):
                counted = part
            elif not getattr(part, "one_for_one", True):
                counted = None  # what was asked of it is not what it asks for
        origin = part if isinstance(part, Border) else getattr(part, "origin", origin)
        left += [(source, origin, None if isinstance(part, Op) else counted) for source in reversed(sources)]


def missing(part: Op[Any]) -> list[Any]:
    """The inputs of which an item has yet to come."""
    return [entry for entry in inputs_of(part) if entry.up is not None and not entry.done and not getattr(entry, "queue", None)]


def _of_operator(part: Op[Any], counted: Counted | None) -> str | None:
    """Why nothing comes out of ``part``; None: for want of what its sources send."""
    name = _name(part)
    entries = inputs_of(part)
    queued = sum(len(entry.queue) for entry in entries if isinstance(entry, QueuedInput))
    waiting = f", and {queued:,} item{'s wait' if queued != 1 else ' waits'}" if queued else ""
    if part.open_demand() == 0:
        taken = "has taken all that it asked for"
        if counted is not None:
            taken = f"has asked for {counted.asked:,} and taken {counted.items:,}"
        return f"{name} waits for demand: its subscriber {taken}{waiting}"
    worker = getattr(part, "worker", None)
    if queued and worker is not None:
        return f"{name} waits for its turn on {_text(worker)}{waiting}"
    if missing(part):
        return None
    return f"{name} waits for {part.waits_for}{waiting}"


def _of_source(source: Any, behind: Any) -> str:
    """What is not an operator of ours is to signal; ``behind`` it stands its border, or something is known of the pipeline."""
    if isinstance(behind, Border):
        asked = "everything" if behind.granted >= UNBOUNDED else f"{behind.granted:,} item{'s' * (behind.granted != 1)}"
        return f"{_text(behind.origin)} is to signal; it was asked for {asked}"
    return f"{_text(behind)} is to signal"

"""Which threads are at work in which operators, from the frames that they run."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from rx_core.build_places import Place, is_outside
from rx_core.streams.waiting import Waiting

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["Place", "threads_at_work"]

Parts: TypeAlias = Mapping[int, Any]


def threads_at_work(parts: Parts) -> dict[int, str]:
    """Of each part that a thread is in just now: which thread, and where in the user's code it is; by the part's identity."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    found: dict[int, str] = {}
    for ident, frame in sys._current_frames().items():
        inner: list[FrameType] = []
        at: FrameType | None = frame
        while at is not None:
            inner.append(at)
            if "self" in at.f_code.co_varnames[:1] and id(at.f_locals.get("self")) in parts:
                part = id(at.f_locals["self"])
                waits = isinstance(parts[part], Waiting)  # called by the user's code; all else calls it
                found.setdefault(part, _told(names.get(ident, f"thread {ident}"), _outwards(at) if waits else reversed(inner)))
                break
            at = at.f_back
    return found


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _told(thread: str, frames: Iterable[FrameType]) -> str:
    """``thread``, and the first of the frames that runs a user's code."""
    for frame in frames:
        if is_outside(frame):
            code = frame.f_code
            return f"{thread}, in {code.co_name} ({code.co_filename}:{frame.f_lineno})"
    return thread

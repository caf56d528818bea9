"""Which threads are at work in which operators, from the frames that they run."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from rx_core.build_places import Place, is_outside
from rx_core.live.stacks import Call, others_can_be_read, stack_of, threads
from rx_core.streams.op import Op
from rx_core.streams.waiting import Waiting

__all__ = ["Place", "threads_at_work"]

Parts: TypeAlias = Mapping[int, Any]


def threads_at_work(parts: Parts) -> dict[int, str]:
    """Of each part that a thread is in just now: which thread, and where in the user's code it is; by the part's identity.

    Without the GIL another thread cannot be looked at: that there is one is all that an operator tells.
    """
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    found: dict[int, str] = {}
    for ident in threads():
        calls = stack_of(ident)
        for depth, call in enumerate(calls):
            part = id(call.owner)
            if part in parts:
                waits = isinstance(parts[part], Waiting)  # called by the user's code; all else calls it
                found.setdefault(part, _told(names.get(ident, f"thread {ident}"), calls[depth:] if waits else calls[depth::-1]))
                break
    if not others_can_be_read():
        for ident, part_of_run in parts.items():
            if isinstance(part_of_run, Op) and part_of_run.is_held():
                found.setdefault(ident, "a thread")
    return found


def _told(thread: str, calls: Iterable[Call]) -> str:
    """``thread``, and the first of the calls that runs a user's code."""
    for call in calls:
        if is_outside(call.code, call.names):
            return f"{thread}, in {call.code.co_name} ({call.code.co_filename}:{call.line})"
    return thread

"""Which threads are at work in which operators, from the frames that they run."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate, chain, repeat, starmap, takewhile, tee
from operator import attrgetter, contains, methodcaller
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from rx_core.build_places import Place, is_outside
from rx_core.streams.waiting import Waiting

if TYPE_CHECKING:
    from types import CodeType

__all__ = ["Place", "threads_at_work"]

Parts: TypeAlias = Mapping[int, Any]

_TOLD: Final = attrgetter("f_code", "f_lineno", "f_globals")
_ARGUMENTS: Final = attrgetter("f_code.co_varnames")
#: Where to look for ``self``: among the variables of what has it as an argument, and elsewhere in vain.
_VARIABLES: Final = ("f_builtins", "f_locals").__getitem__
_SELF: Final = methodcaller("get", "self")

_looking: Final = threading.Lock()


class _Call(NamedTuple):
    """What a frame runs, of which the frame itself is not kept."""

    code: CodeType
    line: int
    #: The globals that it runs with.
    names: dict[str, Any]
    #: Whose method it is; None: no method.
    owner: object


def threads_at_work(parts: Parts) -> dict[int, str]:
    """Of each part that a thread is in just now: which thread, and where in the user's code it is; by the part's identity."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    found: dict[int, str] = {}
    for ident in _threads():
        calls = _calls(ident)
        for depth, call in enumerate(calls):
            part = id(call.owner)
            if part in parts:
                waits = isinstance(parts[part], Waiting)  # called by the user's code; all else calls it
                found.setdefault(part, _told(names.get(ident, f"thread {ident}"), calls[depth:] if waits else calls[depth::-1]))
                break
    return found


@contextmanager
def _frames_stay() -> Iterator[None]:
    """Around a call of C code that reads what threads run, and keeps no frame.

    CPython 3.11 crashes when a thread leaves a frame that another one reads, or holds on to. In one call of C code no other
    thread gets the GIL, unless garbage is collected inside of it and a finalizer lets another one go on; so the collector waits.
    """
    with _looking:
        collects = gc.isenabled()
        try:
            gc.disable()
            yield
        finally:
            if collects:
                gc.enable()


def _threads() -> list[int]:
    with _frames_stay():
        return list(chain.from_iterable(starmap(sys._current_frames, [()])))


def _calls(ident: int) -> list[_Call]:
    """What a thread runs, the innermost first."""
    innermost: Iterator[Any] = map(dict.get, starmap(sys._current_frames, [()]), [ident])
    frames = list(tee(takewhile(bool, accumulate(chain(innermost, repeat("f_back")), getattr)), 3))
    variables = map(_VARIABLES, map(contains, map(_ARGUMENTS, frames.pop()), repeat("self")))
    owners = map(_SELF, map(getattr, frames.pop(), variables))
    with _frames_stay():
        read = list(zip(map(_TOLD, frames.pop()), owners, strict=True))
    return [_Call(*told, owner) for told, owner in read]


def _told(thread: str, calls: Iterable[_Call]) -> str:
    """``thread``, and the first of the calls that runs a user's code."""
    for call in calls:
        if is_outside(call.code, call.names):
            return f"{thread}, in {call.code.co_name} ({call.code.co_filename}:{call.line})"
    return thread

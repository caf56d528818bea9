"""What threads run just now, read so that the threads may go on in the meantime."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, chain, repeat, starmap, takewhile, tee
from operator import attrgetter, contains, methodcaller
from traceback import FrameSummary, StackSummary
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from types import CodeType

__all__ = ["Call", "others_can_be_read", "seen_at", "shown", "stack_of", "threads"]

_TOLD: Final = attrgetter("f_code", "f_lineno", "f_globals")
_ARGUMENTS: Final = attrgetter("f_code.co_varnames")
#: Where to look for ``self``: among the variables of what has it as an argument, and elsewhere in vain.
_VARIABLES: Final = ("f_builtins", "f_locals").__getitem__
_SELF: Final = methodcaller("get", "self")

#: Where CPython collects garbage inside of calls of C code; later versions do so between instructions.
_COLLECTS_INSIDE: Final = sys.version_info < (3, 12)

_reading: Final = threading.Lock()


class Call(NamedTuple):
    """What a frame runs, of which the frame itself is not kept."""

    code: CodeType
    line: int
    #: The globals that it runs with.
    names: dict[str, Any]
    #: Whose method it is; None: no method.
    owner: object


def others_can_be_read() -> bool:
    """Whether the frames of other threads can be read: without the GIL these go on meanwhile, and CPython crashes."""
    return getattr(sys, "_is_gil_enabled", _always)()


def _always() -> bool:
    return True


def threads() -> list[int]:
    """The identities of all threads that run Python code and can be looked at."""
    if not others_can_be_read():
        return [threading.get_ident()]
    with _frames_stay():
        return list(chain.from_iterable(starmap(sys._current_frames, [()])))


def stack_of(ident: int) -> list[Call]:
    """The calls that the thread is in, the innermost first; none of a thread that has ended or not begun. Any thread.

    None of another thread where :func:`others_can_be_read` gives False.
    """
    if ident != threading.get_ident() and not others_can_be_read():
        return []
    innermost: Iterator[Any] = map(dict.get, starmap(sys._current_frames, [()]), [ident])
    frames = list(tee(takewhile(bool, accumulate(chain(innermost, repeat("f_back")), getattr)), 3))
    variables = map(_VARIABLES, map(contains, map(_ARGUMENTS, frames.pop()), repeat("self")))
    owners = map(_SELF, map(getattr, frames.pop(), variables))
    with _frames_stay():
        read = list(zip(map(_TOLD, frames.pop()), owners, strict=True))
    return [Call(*told, owner) for told, owner in read]


def shown(calls: Sequence[Call]) -> str:
    """``calls`` as a traceback shows them, with their lines in the source, the innermost last."""
    told = [FrameSummary(call.code.co_filename, call.line, call.code.co_name) for call in reversed(calls)]
    return "".join(StackSummary.from_list(told).format())


def seen_at(ident: int, most: int) -> str:
    """The innermost calls of a thread, at most so many, as :func:`shown`; or why there are none."""
    calls = stack_of(ident)[:most]
    if calls:
        return shown(calls).rstrip()
    return "  (ended meanwhile)" if others_can_be_read() else "  (without the GIL another thread cannot be looked at)"


@contextmanager
def _frames_stay() -> Iterator[None]:
    """Around a call of C code that reads what threads run, and keeps no frame.

    CPython 3.11 crashes when a thread leaves a frame that another one reads, or holds on to. In one call of C code no other
    thread gets the GIL, unless garbage is collected inside of it and a finalizer lets another one go on; so the collector waits
    there. It is the whole process's: another thread that switches it off in the meantime has to do so again.
    """
    if not _COLLECTS_INSIDE:
        yield
        return
    with _reading:
        collects = gc.isenabled()
        try:
            gc.disable()
            yield
        finally:
            if collects:
                gc.enable()

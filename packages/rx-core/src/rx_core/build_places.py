"""Where pipelines are built: remembered when that is switched on, told in the notes on failures.

A traceback shows the function that failed and not the line that put it into a pipeline. To look at the stack at each assembly
step costs as much as the step, so it is done only where it is switched on: by ``RX_BUILD_LINES=on`` in the environment for the
process, by :func:`build_lines` for a block. Switched off it costs nothing: assembly looks at ``hooks.on_assembly`` anyhow.

A run of stages knows exactly where each was added, see rx_fusion. An operator that fails elsewhere knows its function: so the
places are kept by function here, too, for as long as the function lives. See docs/decisions/0019-build-lines.md.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any, Final

from rx_core import _hooks
from rx_core._switches import switch

if TYPE_CHECKING:
    from types import CodeType, FrameType

#: A file and a line.
Place = tuple[str, int]

_OURS: Final = frozenset(
    ("rx_asyncio", "rx_core", "rx_fusion", "rx_metrics", "rx_ops", "rx_schedulers", "rx_spark", "rx_testing", "rx_trio")
)
#: They live as long as their types, and cannot be referred to weakly.
_LASTING: Final = (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)
#: More places than this make a note no better.
_SHOWN: Final = 3

#: Of each function, by its identity: what keeps the entry, and for each operator the places where the two were put together.
_places: Final[dict[int, tuple[object, dict[str, dict[Place, None]]]]] = {}

_usually: Final = switch("RX_BUILD_LINES", default=False)
#: One object for each block of :func:`build_lines`. They may overlap in any way, being of several threads.
_blocks: Final[list[object]] = []
_switching: Final = Lock()
#: Whether assembly remembers. Read it with the module's name in front.
remembering = _usually
_hooks.watch_assembly(_usually)


@contextmanager
def build_lines() -> Iterator[None]:
    """What is built inside the block, in any thread of the process, says in the notes on its failures where that was.

    It says so for as long as it lives, behind the block as well.
    """
    block = object()
    with _switching:
        _blocks.append(block)
        _switch()
    try:
        yield
    finally:
        with _switching:
            _blocks.remove(block)
            _switch()


def _switch() -> None:
    global remembering
    remembering = _usually or bool(_blocks)
    _hooks.watch_assembly(remembering)


def place_outside() -> Place | None:
    """The line that is being run, of the first frame that is not of this library."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_outside(frame.f_code, frame.f_globals):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def is_outside(code: CodeType, names: Mapping[str, object], /) -> bool:
    """Whether ``code`` is not of this library; ``names``: the globals that it runs with."""
    package = str(names.get("__name__", "")).partition(".")[0]
    return package not in _OURS and not code.co_filename.startswith("<rx ")  # a generated loop


def remember_place(function: object, operator: str, place: Place, /) -> None:
    """``function`` was given to ``operator`` at ``place``."""
    key = id(function)
    known = _places.get(key)
    if known is None:
        keeps = _kept(function, key)
        if keeps is None:
            return
        known = _places.setdefault(key, (keeps, {}))
    known[1].setdefault(operator, {})[place] = None


def _kept(function: object, key: int) -> object | None:
    """What an entry is kept with: it goes when the function does."""
    from weakref import ref  # only who remembers needs it

    if isinstance(function, _LASTING):
        return function
    try:
        return ref(function, lambda _gone: _places.pop(key, None))
    except TypeError:
        return None  # a user's class with slots: to keep it would be a leak


def places_of(function: object, operator: str, /, *, loosely: bool = False) -> Sequence[Place]:
    """Where ``function`` was given to ``operator``; several where it was more than once, and all of them may live.

    ``loosely``: or to any operator, when not to one of this name. A method may make an operator that is called otherwise.
    """
    known = _places.get(id(function))
    if known is None:
        return ()
    found: Iterable[Place] | None = known[1].get(operator)
    if found is None:
        found = {place: None for places in known[1].values() for place in places} if loosely else ()
    return tuple(found)


def whereabouts(operator: str, arguments: Sequence[Any], place: Place | None = None, /, *, loosely: bool = False) -> str:
    """What a note on a failure says of lines: where the operator was built, or else where its lambda is written; or nothing.

    ``place`` is where it was built, if that is known exactly; ``loosely`` as for :func:`places_of`.
    """
    if place is not None:
        return f", built at {_shown(place)}"
    if _places:
        for argument in arguments:
            found = places_of(argument, operator, loosely=loosely)
            if found:
                more = " or elsewhere" if len(found) > _SHOWN else ""
                return f", built at {' or '.join(map(_shown, found[:_SHOWN]))}{more}"
    for argument in arguments:
        # an expression that was read from a lambda says which
        function = argument.__dict__.get("wrapped") if isinstance(argument, partial) else argument
        if isinstance(function, FunctionType) and function.__name__ == "<lambda>":
            return f", written at {_shown((function.__code__.co_filename, function.__code__.co_firstlineno))}"
    return ""


def _shown(place: Place) -> str:
    path, line = place
    try:
        below = os.path.relpath(path) if os.path.isabs(path) else path
    except (OSError, ValueError):  # the working directory is gone, or on another drive
        below = path
    return f"{path if below.startswith(os.pardir) else below}:{line}"

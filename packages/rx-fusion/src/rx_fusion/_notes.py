"""Tells a user in which operator their function failed: one note on the exception, its type and traceback untouched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rx_core import add_note, exit_as_error, name_of, note_way
from rx_core.build_places import Place, whereabouts
from rx_fusion._build_lines import place_of
from rx_fusion._stage import Stage
from rx_fusion._stages import stage_by_code

if TYPE_CHECKING:
    from types import TracebackType

#: The stages of each generated function, by its file name: how a traceback finds its way back.
GENERATED: Final[dict[str, tuple[Stage, ...]]] = {}

#: The expressions written into it, as they read there.
EXPRESSIONS: Final[dict[str, tuple[str, ...]]] = {}

_SUFFIX = re.compile(r"[A-Za-z]_(\d+)\b")


def note_failure(error: BaseException, origin: object, args: Sequence[Any]) -> None:
    """Called by generated code in its ``except``: which stage does the failing line belong to?"""
    trace = error.__traceback__
    if trace is None or _left(error, trace):
        return
    path = trace.tb_frame.f_code.co_filename
    stages = GENERATED.get(path, ())
    line = _line(path, trace.tb_lineno)
    if trace.tb_next is None and _raises(line) and not _in_expression(trace):
        return  # raised here by a check of ours, which names the operator itself
    # "item_2 = function_1(item_1)": what stage 1 gives is stage 2's item; the right side is what failed
    right = line.partition(" = ")[2] or line
    found = _SUFFIX.findall(right)
    given = "in source" in line or "(yield)" in line  # by the source
    at = int(found[0]) if found and not given else len(stages)
    if at >= len(stages) or not stages[at].name:  # no function of a stage: the source, an inner one, or what the last stage gives
        _note_way(error, origin)
        return
    skip = sum(len(stage.parameters) for stage in stages[:at])
    mine = args[skip : skip + len(stages[at].parameters)]
    _add(error, stages[at].name, mine, origin, stages, args, place_of(args, skip, stages[at].name))


def _note_way(error: BaseException, origin: object) -> None:
    """It is an error of the source: where that is an operator with inner streams, it came through that."""
    if getattr(origin, "opens_sources", False):
        note_way(error, origin)


def _left(error: BaseException, trace: TracebackType) -> bool:
    """Whether this generator is being closed; a user's own GeneratorExit has a frame below, or comes from an expression."""
    return trace.tb_next is None and isinstance(error, GeneratorExit) and not _in_expression(trace)


def _raises(line: str) -> bool:
    """Whether this line raises itself, so that it was no function and no operator in it without a frame of its own."""
    return not line or line.lstrip().startswith("raise ")


def _add(
    error: BaseException,
    name: str,
    mine: Sequence[Any],
    origin: object,
    stages: Sequence[Stage],
    args: Sequence[Any],
    place: Place | None,
) -> None:
    add_note(error, f"in {call(name, mine)} of {origin!r}{calls(stages, args)}{whereabouts(name, mine, place)}")
    if isinstance(error, GeneratorExit):
        raise exit_as_error(error) from error  # a user's: one that closes this generator has no frame below


def _line(path: str, number: int) -> str:
    from linecache import getline  # brings tokenize: only who compiles or fails needs it

    return getline(path, number)


def _in_expression(trace: TracebackType) -> bool:
    """Whether the failing instruction belongs to a user's expression, which has no frame of its own."""
    code = trace.tb_frame.f_code
    texts = EXPRESSIONS.get(code.co_filename)
    if texts is None or trace.tb_lasti < 0:
        return False
    row, _, start, end = next(islice(code.co_positions(), trace.tb_lasti // 2, None))
    line = _line(code.co_filename, trace.tb_lineno)
    if row is None or start is None or end is None:  # python -X no_debug_ranges
        return not line.lstrip().startswith("raise ") and any(text in line for text in texts)
    failing = line.encode()[start:end].decode()  # columns count bytes
    before = len(line.encode()[:start].decode())
    return any(_covers(line, text, before, len(failing)) for text in texts)


def _covers(line: str, text: str, start: int, size: int) -> bool:
    at = line.find(text)
    while at >= 0:
        if at <= start and start + size <= at + len(text):
            return True
        at = line.find(text, at + 1)
    return False


def note_stacked(error: BaseException, origin: object, stages: Sequence[Stage], args: Sequence[Any]) -> None:
    """The same for stages that ran stacked: their own frames are in the traceback, the last stage's first."""
    if type(error) is RuntimeError and isinstance(error.__cause__, StopIteration):
        error = error.__cause__  # the user's own exception, which only travels inside the other
    trace: TracebackType | None = error.__traceback__
    at = len(stages)
    while trace is not None:
        found = stage_by_code(trace.tb_frame.f_code)
        if found is not None:
            at -= 1
            below = trace.tb_next
            if below is None or stage_by_code(below.tb_frame.f_code) is None:
                break
        trace = trace.tb_next
    if trace is None or found is None or _left(error, trace):
        return
    code = trace.tb_frame.f_code
    line = _line(code.co_filename, trace.tb_lineno).strip()
    if trace.tb_next is None and _raises(line):
        return  # a check of ours
    if not found.name or (line.startswith("for ") and line.endswith(f" in {code.co_varnames[0]}:")):  # the source, or another
        _note_way(error, origin)
        return
    scope = trace.tb_frame.f_locals
    mine = [scope.get(name) for name in found.parameters]
    skip = sum(len(stage.parameters) for stage in stages[:at])
    _add(error, found.name, mine, origin, stages, args, place_of(args, skip, found.name))


def call(name: str, arguments: Sequence[Any]) -> str:
    """``map(str.upper)``: an operator as a user wrote it, as far as it can be told."""
    shown = list(arguments)
    while shown and shown[-1] is None:
        shown.pop()  # left at its default
    return f"{name}({', '.join(name_of(argument) for argument in shown)})"


def calls(stages: Sequence[Any], args: Sequence[Any]) -> str:
    """``.map(str.upper).take(3)`` for a whole shape and its flat arguments."""
    text, at = "", 0
    for stage in stages:
        size = len(stage.parameters)
        if not stage.guard and stage.name:  # else no user wrote it
            text += f".{call(stage.name, args[at : at + size])}"
        at += size
    return text

"""Marble diagrams as text: reading them, writing them, and reading those in docstrings.

============  =====================================================================================
``-``         time passes: one frame
``a`` ``1``   an item; a digit is that number, any other character is itself, ``values`` decides otherwise
``|`` ``#``   on_complete, on_error
``(ab|)``     all of these at the instant of the bracket; the brackets and what is in them take time as usual
``^``         the subscription: time counts from here, what is before happens earlier
``!``         the subscription is cancelled
space         nothing, for columns that align
============  =====================================================================================
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["next", "error", "complete", "subscribe", "cancel"]
Values = Mapping[str, Any] | Callable[[str], Any] | None

_SIGNS: Mapping[str, Kind] = {"|": "complete", "#": "error", "^": "subscribe", "!": "cancel"}
_TERMINAL = ("complete", "error")


@dataclass(frozen=True, slots=True)
class Mark:
    """One signal of a diagram and when it comes, in seconds after the subscription (or after the start)."""

    at: float
    kind: Kind
    value: Any = None

    def __str__(self) -> str:
        name = self.kind if self.kind in ("subscribe", "cancel") else f"on_{self.kind}"
        return f"{self.at:g} s: {name}({'' if self.value is None else repr(self.value)})"


@dataclass(frozen=True, slots=True)
class Marbles:
    """A diagram: its signals in order, and how long it is."""

    marks: tuple[Mark, ...]
    #: From the first column, where time starts, or from the ``^``, to the last column.
    seconds: float
    #: Where the first column is; 0, or negative when there is a ``^``.
    start: float = 0.0

    @property
    def signals(self) -> tuple[Mark, ...]:
        """What a publisher does."""
        return tuple(mark for mark in self.marks if mark.kind not in ("subscribe", "cancel"))

    @property
    def cancelled_at(self) -> float | None:
        """Where the ``!`` is."""
        return next((mark.at for mark in self.marks if mark.kind == "cancel"), None)


def parse_marbles(
    text: str,
    /,
    *,
    values: Values = None,
    error: Exception | type[Exception] | None = None,
    frame: float = 1.0,
) -> Marbles:
    """Read a diagram in which each column lasts ``frame`` seconds. ``error`` is what ``#`` stands for.

    ::  --a-(bc|)

    Raises ValueError, pointing at the column, for a diagram that says something impossible.
    """
    return _Reader(text, values, error, frame).read()


class _Reader:
    def __init__(self, text: str, values: Values, error: object, frame: float, *, tuples: bool = False) -> None:
        self.text, self.values, self.error, self.frame, self.tuples = text, values, error, frame, tuples
        self.found: list[tuple[int, Kind, Any]] = []

    def read(self) -> Marbles:
        column = 0
        zero = 0
        at = 0
        text = self.text
        while at < len(text):
            sign = text[at]
            width = 1
            if sign == " ":
                at += 1
                continue
            if sign in "([":
                width = self.group(at, column)
            elif sign in ")]":
                self.wrong(at, "a bracket is closed that was not opened")
            elif sign != "-":
                if sign == "^":
                    zero = column
                self.add(at, column, sign)
            at += width
            column += width
        marks = tuple(Mark(round((column - zero) * self.frame, 9), kind, value) for column, kind, value in self.found)
        return Marbles(marks, round(max(column - zero - 1, 0) * self.frame, 9), round(-zero * self.frame, 9))

    def group(self, at: int, column: int) -> int:
        """Read what is in brackets at ``at``; returns its width."""
        close = {"(": ")", "[": "]"}[self.text[at]]
        end = self.text.find(close, at)
        if end < 0:
            self.wrong(at, f"there is no {close} for it")
        inside = self.text[at + 1 : end]
        if close == "]" or (self.tuples and "," in inside):
            parts = [self.value(part.strip()) for part in inside.split(",") if part.strip()]
            self.put(at, column, "next", tuple(parts) if close == ")" else parts)
        else:
            for offset, sign in enumerate(inside, at + 1):
                if sign in "-()[]^":
                    self.wrong(offset, "this cannot be in a group")
                if sign != " ":
                    self.add(offset, column, sign)
        return end - at + 1

    def add(self, at: int, column: int, sign: str) -> None:
        kind = _SIGNS.get(sign, "next")
        if kind == "next" and not (
            sign.isalnum() or (self.values is not None and not callable(self.values) and sign in self.values)
        ):
            self.wrong(at, "this means nothing; items are letters and digits, or the keys of values")
        self.put(at, column, kind, self.value(sign) if kind == "next" else self.error if kind == "error" else None)

    def put(self, at: int, column: int, kind: Kind, value: Any) -> None:
        before = [found for _, found, _ in self.found]
        if kind in before and kind != "next":
            self.wrong(at, "this comes twice")
        if kind in ("next", *_TERMINAL) and any(terminal in before for terminal in _TERMINAL):
            self.wrong(at, "nothing comes after | or #")
        self.found.append((column, kind, value))

    def value(self, sign: str) -> Any:
        if callable(self.values):
            return self.values(sign)
        if isinstance(self.values, Mapping) and sign in self.values:
            return self.values[sign]
        return int(sign) if sign.isdigit() else sign

    def wrong(self, at: int, why: str) -> None:
        raise ValueError(f"marbles: {why}\n  {self.text}\n  {' ' * at}^")


def format_marbles(marks: tuple[Mark, ...], /, *, values: Values = None, frame: float = 1.0, seconds: float = 0.0) -> str | None:
    """Draw signals as text, ``seconds`` long at least; None when they do not fit into columns and single characters."""
    names = {repr(value): key for key, value in values.items()} if isinstance(values, Mapping) else {}
    columns: dict[int, list[str]] = {}
    for mark in marks:
        exact = mark.at / frame
        if abs(exact - round(exact)) > 1e-6 or exact < -1e-6:
            return None
        sign = next((sign for sign, kind in _SIGNS.items() if kind == mark.kind), None)
        if sign is None:
            sign = names.get(repr(mark.value), str(mark.value))
            if len(sign) != 1:
                return None
        columns.setdefault(round(exact), []).append(sign)
    text = ""
    for column, signs in sorted(columns.items()):
        if column < len(text):
            return None  # inside the brackets of the one before
        text += "-" * (column - len(text)) + (signs[0] if len(signs) == 1 else f"({''.join(signs)})")
    return text + "-" * (round(seconds / frame) + 1 - len(text))


# -- in docstrings -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DocMarbles:
    """The drawing in an operator's docstring."""

    inputs: tuple[Marbles, ...]
    #: A diagram, or the plain values that a blocking call returns.
    output: Marbles | tuple[Any, ...]
    #: What is in the brackets at the end of the line.
    note: str = ""


def parse_doc_marbles(line: str, /) -> DocMarbles:
    """Read a line such as ``::  --1--2--3|  -->  --a--b--c|      (a note)``.

    Parts are separated by two spaces or more: the sources, an arrow, the result, a note in brackets. A line without an arrow is
    the drawing of a source. In these drawings ``(1,2)`` and ``[1,2]``, with a comma, are one item; ``(ab|)`` is a group. A
    result without ``-``, ``|`` and ``#`` is the values that a blocking call returns. Raises ValueError.
    """
    stripped = line.strip()
    if not stripped.startswith("::"):
        raise ValueError(f"a drawing starts with '::', got {line!r}")
    parts = re.split(r"\s{2,}", stripped[2:].strip())
    note = ""
    if len(parts) > 1 and parts[-1].startswith("(") and parts[-1].endswith(")") and parts[-2] != "-->":
        note = parts.pop()[1:-1]
    if parts.count("-->") > 1 or (len(parts) > 1 and "-->" not in parts):
        raise ValueError(f"a drawing has sources, one arrow '-->' and a result, got {line!r}")
    if "-->" not in parts:
        return DocMarbles((), _drawn(parts[0]), note)
    arrow = parts.index("-->")
    if arrow == 0 or len(parts) != arrow + 2:
        raise ValueError(f"a drawing has sources, one arrow '-->' and one result, got {line!r}")
    result = parts[-1]
    plain = not re.search(r"[-|#]", result)
    return DocMarbles(tuple(_drawn(part) for part in parts[:arrow]), _plain(result) if plain else _drawn(result), note)


def _drawn(text: str) -> Marbles:
    if " " in text:
        raise ValueError(f"a diagram in a drawing has no spaces, got {text!r}")
    return _Reader(text, None, None, 1.0, tuples=True).read()


def _plain(text: str) -> tuple[Any, ...]:
    try:
        return (ast.literal_eval(text),)
    except (ValueError, SyntaxError):
        pass
    try:
        return tuple(ast.literal_eval(part) for part in text.split())
    except (ValueError, SyntaxError):
        raise ValueError(f"neither a diagram nor values: {text!r}; words go into a note, in brackets") from None


def doc_marbles_in(doc: str, /) -> Iterator[str]:
    """The drawings of a docstring."""
    for line in doc.splitlines():
        if re.match(r"\s*::\s+\S", line):
            yield line.strip()

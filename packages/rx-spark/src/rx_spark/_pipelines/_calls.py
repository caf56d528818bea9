"""What a head remembers of the operators behind it: those that it absorbed, and the one where that ended."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from rx_fusion._notes import call


class Call(NamedTuple):
    """An operator that was absorbed.

    ``kind``: a step over columns, part of a pass, calls of an async function, a shuffle, a reduction of the groups before it, one
    to a single value, a limit at the end, a writer there, or where items become rows of columns again.
    """

    name: str
    parameters: tuple[str, ...]
    args: tuple[Any, ...]
    kind: Literal["column", "pass", "calls", "shuffle", "group", "one", "limit", "write", "rows"]

    def __str__(self) -> str:
        return self.name if self.kind == "write" else call(self.name, self.args)


class Border(NamedTuple):
    """The first operator over the rows of a DataFrame that is no column, and why."""

    operator: str
    reason: str

    def __str__(self) -> str:
        return f"{self.operator}: {self.reason}"


class Cut(NamedTuple):
    """The first operator that runs on the driver, and why. The reason is a predicate of it, or a clause with ``because``."""

    operator: str
    reason: str
    #: What would run on Spark instead.
    remedy: str = ""
    #: It gives what was computed to the program, which has asked for it: no fall-back.
    ends: bool = False

    def __str__(self) -> str:
        return f"{self.operator}{', ' if self.reason.startswith('because ') else ' '}{self.reason}"

"""The elements of the stream: ``(key, value)`` pairs, reduced per key with ``combine``.

One pass over the files answers several questions at once, because every kind of finding is a value that can be added:

========================  ===========================  ==========================================
key                       value                        one element per
========================  ===========================  ==========================================
``(package, "loads")``    ``1``                        occurrence of the identifier ``loads``
``(package, LONGEST)``    ``Longest`` of one function  function
``(package, FILES)``      ``1``                        file read to its end
``(package, "#skip ..")`` ``Skipped``                  file given up, its path is part of the key
========================  ===========================  ==========================================

``combine`` is associative and commutative for the values of one key.  So it does not matter how the pairs interleave,
how many partial results there are, and in which order these meet: every engine must arrive at the same table.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

# '#' cannot be part of an identifier, so these never collide with a counted name.
FILES: Final = "#files"
LONGEST: Final = "#longest"
SKIP: Final = "#skip "

LONGEST_KEPT: Final = 100
"""How many functions a ``Longest`` holds at most: the bound of its memory, and of ``--top``."""


class Function(NamedTuple):
    """A function found in the token stream.  ``lines`` from its ``def`` to its last statement, both included."""

    lines: int
    path: str
    first_line: int
    qualified_name: str


def _rank(function: Function) -> tuple[int, str, int, str]:
    # Ties are broken by every field, so that no two engines can disagree about who is in the list.
    return (-function.lines, function.path, function.first_line, function.qualified_name)


@dataclass(frozen=True, slots=True)
class Longest:
    """The longest of ``count`` functions, longest first, at most ``LONGEST_KEPT``."""

    count: int = 0
    functions: tuple[Function, ...] = ()

    def __add__(self, other: "Longest") -> "Longest":
        count = self.count + other.count
        if len(self.functions) == LONGEST_KEPT and (not other.functions or _rank(self.functions[-1]) < _rank(other.functions[0])):
            return Longest(count, self.functions)  # by far the most frequent case: one more short function
        return Longest(count, tuple(sorted(self.functions + other.functions, key=_rank)[:LONGEST_KEPT]))


@dataclass(frozen=True, slots=True, order=True)
class Skipped:
    """A file that was not read to its end.

    ``line`` is where reading stopped, counted from 1; what stands before it is in the counts.  0: nothing was read.
    """

    path: str
    line: int
    reason: str

    def __add__(self, other: "Skipped") -> "Skipped":
        """Only a file that was read twice gets here (a repeated task): keep one of the two, always the same."""
        return min(self, other)


Key: TypeAlias = tuple[str, str]
Value: TypeAlias = int | Longest | Skipped
Entry: TypeAlias = tuple[Key, Value]


def key_of(entry: Entry, /) -> Key:
    """The key to group by."""
    return entry[0]


def value_of(entry: Entry, /) -> Value:
    """The value to reduce."""
    return entry[1]


combine: Callable[[Value, Value], Value] = operator.add
"""The reducer: adds two values of one key.  It is C code because it runs once per element."""


def ends_file(entry: Entry, /) -> bool:
    """True for the one entry that every file ends with, whether it was read or skipped."""
    finding = entry[0][1]
    return finding == FILES or finding.startswith(SKIP)

"""The keys of a join as columns: where a wide operator over two sources of rows will begin.

No operator uses it yet. What it fixes is when two keys are equal: as the keys of a dict are in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rx_spark._columns._column import NotAColumn
from rx_spark._columns._expressions import columns_of
from rx_spark._pipelines._relational import key_column, key_of

if TYPE_CHECKING:
    from rx_spark._columns._column import Column
    from rx_spark._columns._frames import FrameSource


class JoinKey(NamedTuple):
    """A part of the key: what it is on either side. The guards of both columns are to be asked in front of the join."""

    left: Column
    right: Column

    def equal(self, left: str, right: str) -> str:
        """The condition of the join, for what the two columns are called there. None is a key like any other, and equals None."""
        return f"({left} {'<=>' if self.left.optional or self.right.optional else '='} {right})"


def join_keys(left_key: object, left: FrameSource, right_key: object, right: FrameSource) -> tuple[JoinKey, ...]:
    """The parts of a key over the rows of two sources; several for a tuple.

    NotAColumn for what is equal otherwise in Python: floats (NaN equals itself in Spark), keys of two types (1 == True == 1.0 in
    Python, and tuples of different lengths never), and what no column computes.
    """
    lefts, rights = _parts(left_key, left), _parts(right_key, right)
    if len(lefts) != len(rights):
        raise NotAColumn(f"keys of {len(lefts)} and of {len(rights)} parts are compared by Python")
    for one, other in zip(lefts, rights, strict=True):
        if one.python is not other.python:
            raise NotAColumn(f"== of {one.kind} and {other.kind} is evaluated by Python")
    return tuple(map(JoinKey, lefts, rights))


def _parts(key: object, source: FrameSource) -> tuple[Column, ...]:
    several = columns_of(key, source.rows)
    return (key_of(key, source),) if several is None else tuple(map(key_column, several))

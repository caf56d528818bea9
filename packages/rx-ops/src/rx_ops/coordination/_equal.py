"""Several sources side by side, for as long as they give the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, TypeVar

from rx_core import END, OPERATOR_CODES, Items, Run, Side, Source, user_call
from rx_fusion import operator
from rx_ops.coordination._combine import as_it_is

T = TypeVar("T")

#: What comes of comparing an item with that of the first source.
Comparer = Callable[[T, T], object]


class _Column(Side[T]):
    """One of the sources; it may run ahead of the others by its window and no further."""

    __slots__ = ()

    in_step = True


@operator(eager="none")
def sequence_equal(run: Run, sources: Sequence[Source[T]], comparer: Comparer[T] | None) -> Items[bool]:
    """Whether all sources give equal items in the same order, and end together."""
    columns: list[_Column[T]] = [_Column(run) for _ in sources]
    for column, source in zip(columns, sources, strict=True):
        column.start(source)
    together: list[Any] = [as_it_is(column, source) for column, source in zip(columns, sources, strict=True)]
    return _compared(run, columns, comparer, None if None in together else zip_longest(*together, fillvalue=END))


def _compared(
    run: Run, columns: list[_Column[T]], comparer: Comparer[T] | None, together: Iterator[tuple[Any, ...]] | None
) -> Items[bool]:
    others = range(1, len(columns))
    #: An item of each source, END where there is none left, None where it has not come yet.
    row: list[Any] = [None] * len(columns)
    #: Those that are known to be equal to the first one's.
    equal: set[int] = set()
    answer = True
    try:
        while True:
            if run.is_cancelled:
                return
            if together is not None and run.demand and all(item is None for item in row):
                answer = _alike(run, together, comparer)  # nobody has to wait, and nobody is an item ahead
                break
            full = _look(columns, row, run.demand > 0)
            for at in others:
                if row[0] is not None and row[at] is not None and at not in equal:
                    if not _same(row[0], row[at], comparer):
                        answer = False
                        break
                    equal.add(at)
            if not answer or (row[0] is END and full):
                break
            if not full:
                yield None
                continue
            row = [None] * len(columns)
            equal.clear()
    finally:
        for column in columns:
            column.dispose()
    if not run.is_cancelled:  # which may have ended some of them
        run.last = True
        yield answer


def _alike(run: Run, together: Iterator[tuple[Any, ...]], comparer: Comparer[Any] | None) -> bool:
    """The whole of it in one go, of sources that never have to wait."""
    root: Any = run.root
    same: object
    for first, *others in together:
        for item in others:
            if comparer is None and first is not END and item is not END:  # _same without its call
                same = first == item
            else:
                same = _same(first, item, comparer)
            if not same:
                return False
        if getattr(root, "cancelled", False):
            return False
    return True


def _look(columns: list[_Column[T]], row: list[Any], wanted: bool) -> bool:
    """Fill the gaps of a row. While the answer is not wanted only with what needs no demand: an error, most likely.

    Returns whether no gap is left.
    """
    full = True
    for at, column in enumerate(columns):
        if row[at] is None:
            if wanted or column.urgent:
                row[at] = column.poll()
            full = full and row[at] is not None
    return full


def _same(first: Any, item: Any, comparer: Comparer[Any] | None) -> bool:
    if first is END or item is END:
        return first is item
    return bool(first == item if comparer is None else user_call("sequence_equal", comparer, first, item))


OPERATOR_CODES.update((_compared.__code__, _alike.__code__, _look.__code__, _same.__code__))

"""One source after another, however many: a concat of concats is one concat with more sources.

``flow = flow.concat_with(x)`` in a loop would nest a source in a source in a source, and each level would cost stack when the
pipeline is subscribed, described or pickled. So the sources are kept side by side, in a :class:`Row`. See
docs/decisions/0012-macro-fusion.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar, final, overload

from rx_core import DEMAND, END, Items, Run, Side, Source, Waiting
from rx_fusion import (
    MANY_SOURCES,
    ROOT,
    Feed,
    Freely,
    Looped,
    OperatorHead,
    Pipeline,
    at_once,
    opened,
    operator,
    operator_head,
    operator_of,
)
from rx_ops.coordination._in_the_loop import one_after_another

T = TypeVar("T")

#: Up to so many sources are simply copied into one tuple.
_SHORT: Final = 16


def _freely(head: OperatorHead, waiting: Waiting) -> Looped:
    def inner(source: Any) -> Iterable[Any]:
        items = at_once(source, waiting) if isinstance(source, Pipeline) else None
        return opened(source, waiting) if items is None else items

    row: Any = head.upstream
    sources = row.flat() if type(row) is Row else row  # a tuple, where somebody made the head from one
    return (head, sources, Feed.CLEAN, ROOT, ()), one_after_another, (inner,)


@operator(eager="none", freely=Freely(None, _freely))
def concat(run: Run, sources: Iterable[Source[T]]) -> Items[T]:
    """The next source is subscribed when the one before is complete and given back, with the demand that is left."""
    side: Side[T] = Side(run)
    rest = iter(sources)
    for first in rest:
        side.start(first)
        break
    return _in_a_row(run, side, rest)


def _in_a_row(run: Run, side: Side[T], rest: Iterator[Source[T]]) -> Items[T]:
    following = next(rest, None)
    try:
        while following is not None:
            yield from side.items
            side.close()
            side.start(following)
            following = next(rest, None)
        yield from _announced(run, side)
    finally:
        side.dispose()


def _announced(run: Run, side: Side[T]) -> Items[T]:
    """The items of the last source. When it says how many they are, the end comes with the last one."""
    items, left = side.items, side.left
    if left:
        while (first := next(items, END)) is None:
            yield None  # it was opened while nothing was wanted
        if first is END:
            return
        if left > 1:
            yield first
            yield from islice(items, left - 2)
            first = next(items, END)
            if first is END:  # some were left out
                return
        run.poke()
        yield first
    yield from items


class _Joined(NamedTuple):
    left: Row
    right: Row


@final
class Row(Sequence[Any]):
    """An immutable sequence that is put together without copying.

    Joining two rows costs the same however long they are, and the rows joined stay what they were: ``a.concat_with(x)`` and
    ``a.concat_with(y)`` share what ``a`` holds. Whoever reads a row first lays it out flat, without recursion, once.
    """

    __slots__ = ("_parts", "_size")

    def __init__(self, items: Iterable[Any] = ()) -> None:
        # One attribute for both states, so that replacing one by the other is one step for other threads.
        self._parts: tuple[Any, ...] | _Joined = tuple(items)
        self._size = len(self._parts)

    def join(self, other: Row, /) -> Row:
        """This row and then ``other``."""
        size = self._size + other._size
        if size == self._size:
            return self
        if size == other._size:
            return other
        if size <= _SHORT:
            return Row((*self.flat(), *other.flat()))
        made = Row()
        made._parts = _Joined(self, other)
        made._size = size
        return made

    def flat(self) -> tuple[Any, ...]:
        """What it holds, side by side."""
        parts = self._parts
        if type(parts) is not _Joined:
            return parts
        found: list[Any] = []
        todo = [parts.right, parts.left]
        while todo:
            inner = todo.pop()._parts
            if type(inner) is _Joined:
                todo += (inner.right, inner.left)
            else:
                found += inner
        self._parts = flat = tuple(found)
        return flat

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.flat())

    @overload
    def __getitem__(self, at: int, /) -> Any: ...
    @overload
    def __getitem__(self, at: slice, /) -> tuple[Any, ...]: ...
    def __getitem__(self, at: int | slice, /) -> Any:
        return self.flat()[at]

    def __repr__(self) -> str:
        return f"<Row of {self._size}>"

    def __reduce__(self) -> tuple[type[Row], tuple[tuple[Any, ...]]]:
        return Row, (self.flat(),)  # flat: pickle recurses into what it writes


@final
class ConcatHead(OperatorHead):
    """``concat`` with its sources in a row."""

    __slots__ = ()

    @property
    def on_worker(self) -> bool:
        # One after the other: the next begins where the one before has ended.
        return getattr(next(iter(self.upstream), None), "_rx_on_worker", False)

    def open(self, run: Run, window: int, /) -> Items[Any]:
        # A Source is made when its turn comes: of very many most are often never reached.
        return concat(run, (Source(run, publisher, window) for publisher in self.upstream))


_CONCAT: Final = operator_of(concat)


def concat_head(sources: Row) -> ConcatHead:
    """The head of ``concat`` of these sources."""
    return operator_head(ConcatHead, _CONCAT, sources, (), DEMAND, MANY_SOURCES)


def in_a_row(face: Callable[..., Any], sources: Sequence[Any]) -> Row:
    """``sources`` of a concat of type ``face``; a concat among them by its own."""
    for source in sources:
        if type(source) is face and type(source._head) is ConcatHead:
            return _unfolded(face, sources)
    return Row(sources)


def _unfolded(face: Callable[..., Any], sources: Sequence[Any]) -> Row:
    rows: list[Row] = []
    plain: list[Any] = []
    for source in sources:
        found = _sources_of(source, face)
        if found:
            rows += (Row(plain), found)
            plain = []
        else:
            plain.append(source)
    return reduce(Row.join, (*rows, Row(plain)))


def _sources_of(source: Any, face: Callable[..., Any]) -> Row | None:
    # Of the same type only: an Observable among Flowables is asked in another way than its sources would be. And a concat of
    # nothing stays a source: what comes after it is subscribed when something is requested, and not at once.
    if isinstance(source, Pipeline) and type(source) is face and type(source._head) is ConcatHead and not source._shape:
        return source._head.upstream  # type: ignore[return-value]  # a ConcatHead's is a Row
    return None

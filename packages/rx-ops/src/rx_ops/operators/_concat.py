"""One source after another, however many: a concat of concats is one concat with more sources.

``flow = flow.concat_with(x)`` in a loop would nest a source in a source in a source, and each level would cost stack when the
pipeline is subscribed, described or pickled. So the sources are kept side by side, in a :class:`Row`. See
docs/decisions/0012-macro-fusion.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeVar, final, overload

from rx_core import DEMAND
from rx_fusion import MANY_SOURCES, OperatorHead, Pipeline, op, operator_head, operator_of
from rx_ops.operators._concat_map import ConcatMap
from rx_ops.operators._loops import concat_loop

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber

T = TypeVar("T")

#: Up to so many sources are simply copied into one tuple.
_SHORT: Final = 16


class _Joined(NamedTuple):
    left: Row
    right: Row


@final
class Row(Sequence[Any]):
    """An immutable sequence that is put together without copying.

    Joining two rows costs the same however long they are, and the rows joined stay what they were: ``a.concat_with(x)`` and
    ``a.concat_with(y)`` share what ``a`` holds. The first reader of a row lays it out flat, without recursion, once.
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


def itself(source: Any) -> Any:
    return source


@op("concat", loop=concat_loop)
class Concat(ConcatMap[T]):
    """The next source is subscribed when the one before is complete, with the demand that is left."""

    __slots__ = ()

    opens_sources: ClassVar[bool] = False
    operator: ClassVar[str] = "concat"

    def __init__(
        self, down: Subscriber[T], sources: Sequence[Publisher[T]], delay_error: bool = False, till_the_end: bool = True
    ) -> None:
        super().__init__(down, None, itself, delay_error, till_the_end)  # type: ignore[arg-type]  # it is not subscribed
        self.outer.items = iter(sources)

    def open(self) -> None:
        pass


@final
class ConcatHead(OperatorHead):
    """``concat`` with its sources in a row."""

    __slots__ = ()


_CONCAT: Final = operator_of(Concat)


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

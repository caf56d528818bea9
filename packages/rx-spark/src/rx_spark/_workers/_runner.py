"""What a pipeline sends to the executors besides its users' functions. Imported there, therefore light.

Stages travel as the functions they are, by reference; the worker writes them into one loop itself, once per shape.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from rx_core import OPERATOR_CODES, none_produced
from rx_fusion import Feed, Form, Shape, constants_are_numbers, shape_reading
from rx_spark._workers._accesses import over_values

if TYPE_CHECKING:
    from types import CodeType, TracebackType

    from rx_spark._workers._accesses import Accesses
    from rx_spark._workers._shuffle import Blocks, Merger, Row, Writer

#: Sources and shuffles let no None through, so the loop need not look.
FORM: Final = Form("pull", Feed.CLEAN)
#: The same over a range, with functions whose constants are numbers: what they compute needs no look whether it is None.
_NUMBERS: Final = FORM._replace(numbers=True)
_WORKERS: Final = os.path.dirname(__file__)
_SHUFFLES: Final = frozenset(os.path.join(_WORKERS, name) for name in ("_shuffle.py", "_groups.py", "_to_one.py"))
_PACKAGE: Final = os.path.join(os.path.dirname(_WORKERS), "")


@dataclass(frozen=True, repr=False)
class FusedRunner:
    """Per-item stages as one generated loop over the items of a block; stacked where there is no source text.

    Functions that only compute with their item are written into the loop (decision 0052). Errors: those of the user's
    functions, with a note that names the operator. ``text`` is the pipeline before them.
    """

    functions: tuple[Callable[..., Iterator[Any]], ...]
    args: tuple[Any, ...]
    text: str
    #: Where items are tuples of the values that the first ``over`` functions take of their rows: what these values are.
    accesses: Accesses = ()
    over: int = 0

    @cached_property
    def _read(self) -> tuple[Shape, tuple[Any, ...]]:
        """Once for all blocks of a task."""
        taking = [over_values(each, self.accesses) for each in self.args[: self.over]]
        return shape_reading(self.functions, (*taking, *self.args[self.over :]))

    @cached_property
    def _counts(self) -> bool:
        return constants_are_numbers(self._read[1])

    def __call__(self, items: Iterable[Any]) -> Iterator[Any]:
        shape, args = self._read
        fused = shape.form(_NUMBERS if type(items) is range and self._counts else FORM)
        if fused is None:
            return shape.stacked(iter(items), None, self, args, FORM)
        made: Iterator[Any] = fused(items, None, self, args)
        return made

    def __repr__(self) -> str:
        return self.text


# --- errors of what is not a stage ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NotedWriter:
    """A shuffle's map side, whose errors say which operator they come from."""

    inner: Writer
    note: str

    def rows(self, blocks: Blocks) -> Iterator[Row]:
        try:
            yield from self.inner.rows(blocks)
        except Exception as error:
            _add_note(error, self.note)
            raise


@dataclass(frozen=True)
class NotedMerger:
    """The same for its other side."""

    inner: Merger
    note: str

    def merge(self, chunks: Iterator[list[Any]]) -> Iterator[Any]:
        try:
            yield from self.inner.merge(chunks)
        except Exception as error:
            _add_note(error, self.note)
            raise


def _add_note(error: Exception, note: str) -> None:
    """Unless it came from what the shuffle reads: there the pass has said so, or the source names itself."""
    cause = error.__cause__
    if type(error) is RuntimeError and isinstance(cause, StopIteration):
        error = cause  # PEP 479 put the user's exception into another one
    trace: TracebackType | None = error.__traceback__
    below: TracebackType | None = None  # the frame that the shuffle called last
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in _SHUFFLES:
            below = trace.tb_next
        trace = trace.tb_next
    if below is None or not _is_ours(below.tb_frame.f_code):
        error.add_note(note)


def _is_ours(code: CodeType) -> bool:
    return code in OPERATOR_CODES or code.co_filename.startswith(_PACKAGE)


# --- functions for reductions that Spark has as group and reduce ------------------------------------------------------


def itself(item: Any) -> Any:
    return item


@dataclass(frozen=True)
class Kept:
    """A filter on the way to a value."""

    predicate: Callable[[Any], Any]


@dataclass(frozen=True)
class Composed:
    """Functions one after the other; ``dropped`` where a filter between them (:class:`Kept`) does not let the item through."""

    functions: tuple[Callable[[Any], Any] | Kept, ...]
    dropped: Any = ...

    def __call__(self, item: Any) -> Any:
        for function in self.functions:
            if type(function) is Kept:
                if not function.predicate(item):
                    return self.dropped
            else:
                item = function(item)  # type: ignore[operator]  # not a Kept
                if item is None:
                    raise none_produced("map", function)
        return item


def composed(functions: Sequence[Callable[[Any], Any] | Kept], dropped: Any = ...) -> Callable[[Any], Any]:
    """The functions as one."""
    if not functions:
        return itself
    only = functions[0]
    return only if len(functions) == 1 and not isinstance(only, Kept) else Composed(tuple(functions), dropped)


@dataclass(frozen=True)
class Ones:
    """1 for each item, 0 for one that a filter drops; ``value`` is still called, because it may raise."""

    value: Callable[[Any], Any] | None

    def __call__(self, item: Any) -> int:
        if self.value is None:
            return 1
        value = self.value(item)
        if value is None:
            raise none_produced("group_by", self.value)
        return 0 if value is ... else 1


def smaller(first: Any, second: Any) -> Any:
    return second if second < first else first


def larger(first: Any, second: Any) -> Any:
    return second if second > first else first

"""Several sources that are watched together: the first one with a signal (amb) or an item (first_with_value), equal items
(sequence_equal)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import UNBOUNDED, composite, dropped_late, user_call
from rx_core.streams import END, Op, QueuedInput, RelayedInput, Stream, without_demand, without_this_frame
from rx_fusion import op
from rx_ops.operators._mapping import as_error

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_core.streams import Listening

T = TypeVar("T")

#: What comes of comparing an item with that of the first source.
Comparer = Callable[[T, T], object]


# -- amb ---------------------------------------------------------------------------------------------------------------------


class _Rival(RelayedInput[T]):
    """One of the sources that race. Its first signal wins or loses; once it has won it is the sole signaller."""

    __slots__ = ("won",)

    #: Written and read by the source's thread.
    won: bool

    def __init__(self, op: Amb[T]) -> None:
        super().__init__(op)
        self.won = False

    def on_next(self, item: T, /) -> None:
        if self.won or self.wins():
            super().on_next(item)
        else:
            self.op.discard(item)

    def on_error(self, error: Exception, /) -> None:
        if self.won or self.wins():
            super().on_error(error)
        else:
            dropped_late(error, self.op.origin)

    def on_complete(self) -> None:
        if self.won or self.wins():
            super().on_complete()

    def wins(self) -> bool:
        """Take the prize. The losers are cancelled before anything is emitted."""
        op = self.op
        if self.closed:
            return False
        try:
            op.prize.pop()
        except IndexError:
            self.stop()
            return False
        self.won = True
        op.winner = self
        for rival in op.rivals:
            if rival is not self:
                rival.stop()
        if op.refused is not None:
            op.drain()
        return True

    def ask(self, demand: int) -> None:
        more = demand - self.asked
        if more and self.up is not None and not self.done and not self.closed:
            self.asked = demand
            self.op.later.append((self.request, UNBOUNDED if demand == UNBOUNDED else more))

    def request(self, n: int) -> None:
        """Without the token: a rival asked before may have won meanwhile."""
        if not self.closed and not self.done:
            self.up.request(n)


@op("amb")
class Amb(Op[T]):
    """The first source with a signal of any kind; the others are cancelled. All are asked for what downstream wants.

    One that signals while it is subscribed has won before the next would be subscribed.
    """

    __slots__ = ("prize", "refused", "rivals", "sources", "winner")

    discards: ClassVar[bool] = True
    #: What it listens to each source with.
    rival: ClassVar[type[_Rival[Any]]] = _Rival
    rivals: list[_Rival[T]]
    #: The source that pops its only item has won. Any: a list, whose pop is atomic.
    prize: Any
    winner: _Rival[T] | None
    #: A wrong request: the winner's source answers it serially with its other signals (RS 3.9).
    refused: Exception | None

    def __init__(self, down: Subscriber[T], sources: Sequence[Publisher[T]]) -> None:
        super().__init__(down)
        self.sources = sources
        self.prize = [None]
        self.winner = None
        self.refused = None
        self.rivals = [self.rival(self) for _ in sources]

    def open(self) -> None:
        for rival, source in zip(self.rivals, self.sources, strict=True):
            if self.stopped or not self.prize:
                return
            rival.open(source)

    def step(self, demand: int) -> int:
        winner = self.winner
        if winner is None:
            if not self.rivals:
                return self.finish()
            if self.refused is not None:
                try:
                    self.prize.pop()
                except IndexError:  # there is a winner just now: it looks for this
                    return demand
                return self.finish(self.refused)
            for rival in self.rivals:
                rival.ask(demand)
            return demand
        if winner.done:
            return self.finish(winner.error if self.refused is None else self.refused)
        if self.refused is not None:
            self.later.append((winner.up.request, 0))
        else:
            winner.ask(demand)
        return demand

    def refuse_request(self, error: Exception) -> None:
        self.refused = error

    def listening(self) -> Iterable[Listening]:
        return self.rivals

    def close(self) -> None:
        for rival in self.rivals:
            rival.close()
        self.winner = None


# -- first_with_value --------------------------------------------------------------------------------------------------------


class _Candidate(_Rival[T]):
    """One of the sources that race for an item. An end before its first item is no win."""

    __slots__ = ()

    def on_error(self, error: Exception, /) -> None:
        if self.won or self.closed:
            super().on_error(error)
            return
        self.op.errors.append(error)
        self.done = True
        self.op.drain()

    def on_complete(self) -> None:
        if self.won or self.closed:
            super().on_complete()
            return
        self.done = True
        self.op.drain()


@op("first_with_value")
class FirstWithValue(Amb[T]):
    """The first source with an item; the others are cancelled. The end is that of the winner, or comes when no source is left."""

    __slots__ = ("errors",)

    rival = _Candidate
    #: Of sources that are out, as they came. A list, whose append is atomic: each source may be on a thread of its own.
    errors: list[Exception]

    def __init__(self, down: Subscriber[T], sources: Sequence[Publisher[T]]) -> None:
        super().__init__(down, sources)
        self.errors = []

    def step(self, demand: int) -> int:
        if self.winner is None and self.refused is None and self.rivals and all(rival.done for rival in self.rivals):
            errors, self.errors = self.errors, []  # not kept: the frames in their tracebacks may hold this
            return self.finish(composite(errors) if errors else None)
        return super().step(demand)

    def close(self) -> None:
        super().close()
        self.errors = []


# -- sequence_equal ------------------------------------------------------------------------------------------------------------


@op("sequence_equal")
class SequenceEqual(Op[bool]):
    """Whether all sources give equal items in the same order, and end together. Nothing is requested of a Single: what lets its
    answer wait asks for it at once.

    A source that pushes may run ahead of the others by its window. A passive one is asked when its item is needed, but for a
    Single and its like: what cannot be asked is computed when it is subscribed, in the order of the sources.
    """

    __slots__ = ("all_open", "columns", "comparer", "equal", "row", "sources")

    #: The last source is being subscribed; nothing is compared before, so that an error of the others is heard.
    all_open: bool
    columns: list[QueuedInput[Any]]
    #: An item of each source, END where there is none left, None where it has not come yet.
    row: list[Any]
    #: Those that are known to be equal to the first one's.
    equal: set[int]

    def __init__(
        self, down: Subscriber[bool], sources: Sequence[Publisher[Any]], comparer: Comparer[Any] | None, prefetch: int
    ) -> None:
        super().__init__(down)
        self.sources = sources
        self.comparer = comparer
        self.all_open = False
        self.columns = [QueuedInput(self, prefetch) for _ in sources]
        self.row = [None] * len(sources)
        self.equal = set()

    def open(self) -> None:
        source: Any
        for column, source in zip(self.columns, self.sources, strict=True):
            if isinstance(source, Stream) and not without_demand(source):
                column.items = source._passive_items(self)
        for column, source in zip(self.columns, self.sources, strict=True):
            if self.stopped:
                return
            self.all_open = column is self.columns[-1]
            if column.items is None:
                column.open(source)

    def step(self, demand: int) -> int:
        columns = self.columns
        for column in columns:
            if column.error is not None:
                return self.finish(column.error)
        if not demand or not self.all_open:
            return demand
        try:
            passive = [column.items for column in columns if column.items is not None]
            answer = self.alike(passive) if len(passive) == len(columns) else self.compare()
        except (Exception, GeneratorExit) as error:
            return self.finish(as_error(without_this_frame(error)))
        if answer is None or self.stopped:
            return demand
        self.close()  # before the answer goes on
        self.emit(answer)
        return self.finish()

    def compare(self) -> bool | None:
        """The answer, as soon as it is known. None also when something new was published."""
        columns, row, equal = self.columns, self.row, self.equal
        while not (self.dirty or self.stopped):
            full = True
            for at, column in enumerate(columns):
                if row[at] is None:
                    row[at] = column.poll()
                    if row[at] is None:
                        full = False
            first = row[0]
            if first is not None:
                for at in range(1, len(row)):
                    if row[at] is not None and at not in equal:
                        if not self.same(first, row[at]):
                            return False
                        equal.add(at)
            if not full:
                return None
            if first is END:
                return True
            for at in range(len(row)):
                row[at] = None
            equal.clear()
        return None

    def alike(self, sources: Sequence[Iterable[Any]]) -> bool | None:
        """The answer for sources that are all passive, in one go. None when it is not wanted any more."""
        rows: Iterator[tuple[Any, ...]] = zip_longest(*sources, fillvalue=END)
        comparer = self.comparer
        for first, *others in rows:
            for item in others:
                if comparer is None and first is not END and item is not END:  # same() without its call
                    same = bool(first == item)
                else:
                    same = self.same(first, item)
                if not same:
                    return False
            if self.stopped:
                return None
        return True

    def same(self, first: Any, item: Any) -> bool:
        if first is END or item is END:
            return first is item
        if self.comparer is None:
            return bool(first == item)
        return bool(user_call("sequence_equal", self.comparer, first, item))

    def listening(self) -> Iterable[Listening]:
        return self.columns

    def close(self) -> None:
        for column in self.columns:
            column.close()

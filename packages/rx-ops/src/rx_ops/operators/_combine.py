"""Several sources row by row: zip, fork_join. One after another is in ``_concat``, side by side in ``_flat_map``."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rx_core import UNBOUNDED, composite, none_produced
from rx_core.streams import (
    CLOSABLE,
    END,
    LOOK_FIRST,
    Failed,
    Op,
    QueuedInput,
    close,
    ignore,
    is_exhausted,
    tell_interrupted,
    without_this_frame,
)
from rx_fusion import IterableHead, Pipeline, op
from rx_ops.operators._mapping import mapper_failure
from rx_ops.operators._zip_loop import passive_items, row_of, rows_of, zip_loop

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_core.streams import Listening

R = TypeVar("R")


_popleft: Final = deque.popleft


class _Column(QueuedInput[Any]):
    """A source of zip. The item that completes a row goes on without a queue, with what waits of the others."""

    __slots__ = ("counted", "in_turn", "leads", "others", "partner")

    #: What is exhausted when the items of a passive source are.
    counted: Any
    #: All columns without this one. Set before the first source is subscribed.
    others: Sequence[_Column]
    #: An error comes behind the items that wait, as it does where the source is iterated.
    in_turn: bool
    #: Of two columns: the queue of the other one, and whether this is the first.
    partner: deque[Any] | None
    leads: bool

    def __init__(self, op: Zip[Any], window: int) -> None:
        super().__init__(op, window)
        self.queue = deque()
        self.counted = None
        self.others = ()
        self.in_turn = False
        self.partner = None
        self.leads = False

    def on_next(self, item: Any, /) -> None:
        op = self.op  # first: close() marks the input as closed, then replaces it
        if self.closed:
            op.discard(item)
            return
        queue = self.queue
        if not queue:  # and only this method appends: no row is made meanwhile, so what the others have stays there
            for other in self.others:
                if not other.queue:
                    break
            else:
                if self.completed(op, item):
                    return
        queue.append(item)
        if len(queue) > self.window and not self.done:
            self.overrun()
        if LOOK_FIRST:
            for other in self.others:  # publish first, look afterwards: of two that come at the same time one sees both
                if not (other.queue or other.done):
                    if op.dirty:  # published while completed() held the token
                        op.drain()
                    return
        op.drain()

    def completed(self, op: Any, item: Any) -> bool:
        """``item`` completes a row. Emit that, where the gate is free and it is wanted."""
        token = op.token
        try:
            demand = token.pop()
        except IndexError:
            return False
        if not demand or op.dirty or self.closed:
            token.append(demand)
            return False
        combiner = op.combiner
        partner = self.partner
        row: tuple[Any, ...]
        try:
            if partner is None:
                self.queue.append(item)
                row = (*map(_popleft, op.queues),)
            else:
                row = (item, partner.popleft()) if self.leads else (partner.popleft(), item)
            value = row if combiner is row_of else combiner(*row)
            if value is None:
                op.failure = none_produced(op.operator, combiner)
        except (Exception, GeneratorExit) as error:
            value = None
            op.failure = mapper_failure(op.operator, combiner, error)
        except BaseException as error:
            down = op.down
            op.abandon_token()
            tell_interrupted(down, error)
            raise
        if value is None:
            token.append(demand)
            op.drain()
            return True
        emit = op.emit_unguarded
        try:
            emit(value)
        except BaseException as error:
            try:
                told = op.unguarded_raised(error)
            finally:
                token += (0,)
            if not told:
                raise
            op.drain()
            return True
        if demand is not UNBOUNDED:
            demand -= 1
        look = False
        if op.passive and not op.dirty:
            try:
                look = not op.refilled() if demand else op.is_over()
            except BaseException as error:
                down = op.down
                op.abandon_token()
                tell_interrupted(down, error)
                raise
        token.append(demand)
        left = op.left - 1  # no other row is made before this on_next returns: only this thread counts
        if left:
            op.left = left
        else:
            op.left = op.limit
            op.ask(op.limit)
        if look or op.dirty or op.ending:
            op.drain()
        return True

    def on_error(self, error: Exception, /) -> None:
        self.op.ending = True  # first: a row that is made meanwhile has itself looked at
        if self.op.delay_error and not self.closed:
            self.op.errors.append(error)
        super().on_error(error)

    def on_complete(self) -> None:
        self.op.ending = True
        super().on_complete()


@op("zip", loop=zip_loop)
class Zip(Op[R]):
    """One item of each source makes a row; the end of any of them is the end, and an error is one at once, or, with
    ``delay_error``, when the rows are made for which there are items.

    What pushes waits in its queue. What is passive is asked for the item of the next row as soon as a row is wanted.
    """

    __slots__ = (
        *("columns", "combiner", "delay_error", "ending", "errors", "failure", "left", "limit", "live"),
        *("passive", "pushing", "queues", "rows", "sources"),
    )

    discards: ClassVar[bool] = True
    operator: ClassVar[str] = "zip"

    columns: list[_Column]
    #: Their queues, for good.
    queues: list[deque[Any]]
    #: Those whose source was subscribed, in order. Only the thread that subscribes appends.
    live: list[_Column]
    #: How many rows there are until each source that pushes is asked for ``limit`` more.
    left: int
    limit: int
    #: A source that pushes has ended.
    ending: bool
    #: With ``delay_error``, of sources that push, as they came.
    errors: list[Exception]
    #: Those that are iterated, with one item in their queue at most; and the others.
    passive: list[_Column]
    pushing: list[_Column]
    #: Where all sources are passive: the rows.
    rows: Iterator[Any] | None
    #: What the combiner raised for a row that ``step`` did not make.
    failure: Exception | None

    def __init__(
        self,
        down: Subscriber[R],
        sources: Sequence[Publisher[Any]],
        combiner: Callable[..., R],
        prefetch: int,
        delay_error: bool = False,
    ) -> None:
        super().__init__(down)
        self.delay_error = delay_error
        self.errors = []
        self.sources = sources
        self.combiner = combiner
        self.columns = [_Column(self, prefetch) for _ in sources]
        self.queues = [column.queue for column in self.columns]
        self.live = []
        self.pushing = self.columns
        self.passive = []
        self.rows = None
        self.failure = None
        self.left = self.limit = self.columns[0].limit if sources else UNBOUNDED
        self.ending = False

    def open(self) -> None:
        columns = self.columns
        # No source may signal before it is known how each of the others is asked.
        for column, source, (items, counted) in zip(columns, self.sources, passive_items(self.sources, self), strict=True):
            column.items = items
            column.counted = counted
            column.in_turn = self.delay_error or (isinstance(source, Pipeline) and type(source._head) is IterableHead)
            column.others = tuple([other for other in columns if other is not column])
            if len(columns) == 2:
                column.partner = column.others[0].queue
                column.leads = column is columns[0]
        self.passive = [column for column in columns if column.items is not None]
        self.pushing = [column for column in columns if column.items is None]
        if not self.pushing and self.discard is ignore:  # half a row would be lost
            self.beneath = (*(column.items for column in columns if type(column.items) in CLOSABLE),)
            self.rows = rows_of([column.items for column in columns if column.items is not None], self.combiner, self.operator)
            return
        for column, source in zip(columns, self.sources, strict=True):
            if self.stopped:
                return
            self.live.append(column)
            if column.items is None:
                column.open(source)
            else:
                self.drain()  # its end may be known before the next is subscribed

    def step(self, demand: int) -> int:
        if self.failure is not None:
            return self.fail()
        if self.rows is not None:
            return self.step_rows(self.rows, demand)
        while True:
            many = self.complete_rows(demand)
            if many < 0:
                return 0
            if not many:
                return demand
            count = self.take_rows(many)
            if count < 0:
                return 0
            if demand is not UNBOUNDED:
                demand -= count
            self.left -= count
            if not self.left:
                self.left = self.limit
                self.later.append((self.ask, self.limit))
            if self.dirty:
                return demand

    def complete_rows(self, demand: int) -> int:
        """How many rows are there and wanted; -1 after the end. Asks passive sources for the item of the next row."""
        live = self.live
        for column in live:
            if column.error is not None and not (column.in_turn and column.queue):
                return self.ended(column.error)
        many = demand if len(live) == len(self.columns) else 0
        for column in live:
            waiting = len(column.queue)
            if not waiting and column.items is not None:
                if column.done or is_exhausted(column.counted):
                    return self.ended(None)
                if not demand:
                    continue
                try:
                    item = column.poll()
                except (Exception, GeneratorExit) as error:
                    return self.ended(without_this_frame(error))
                if item is END:
                    return self.ended(None)
                column.put(item)
                if self.stopped:
                    return self.ended(None)
                continue
            if column.items is not None:
                continue  # and the items of later rows are there when they are wanted
            if not waiting:
                if column.done and not column.queue:  # again: the end is published last
                    return self.ended(column.error)
                many = 0
            elif many > waiting:
                many = waiting
        return min(many, self.left)

    def ask(self, count: int) -> None:
        """All sources that push are asked for more at the same time: an item of each is in each row. Without the token, so that
        what they answer with at once needs no queue."""
        for column in self.pushing:
            if not column.done and not column.closed and column.window != UNBOUNDED:
                column.up.request(count)

    def refilled(self) -> bool:
        """Ask the passive sources for the items of the next row. False: one of them has none, which ``step`` is to see."""
        for column in self.passive:
            items = column.items
            queue = column.queue
            if items is None or queue:
                return False
            try:
                item = next(items, END)
            except (Exception, GeneratorExit) as error:
                column.error = without_this_frame(error)
                column.done = True
                return False
            if item is END:
                column.done = True
                return False
            queue.append(item)
        return True

    def is_over(self) -> bool:
        """Whether a passive source is known to have no further item: that needs no demand."""
        return any(is_exhausted(column.counted) for column in self.passive)

    def ended(self, error: Exception | None) -> int:
        self.finish(error if not self.errors else self.gathered(error))
        return -1

    def gathered(self, last: Exception | None) -> Exception:
        """All errors, ``last`` behind the others. They are not kept: the frames in their tracebacks may hold this."""
        errors, self.errors = self.errors, []
        if last is not None and not any(last is error for error in errors):
            errors.append(last)
        return composite(errors)

    def take_rows(self, many: int) -> int:
        """Emit so many rows, or less where something new was published or a passive source has no item. How many; -1 after the
        end or a cancel."""
        queues, combiner, emit = self.queues, self.combiner, self.emit
        passive = self.passive
        first, second = queues if len(queues) == 2 else (queues[0], None)
        for count in range(1, many + 1):
            row: tuple[Any, ...] = (first.popleft(), second.popleft()) if second is not None else (*map(_popleft, queues),)
            value: Any
            try:
                value = row if combiner is row_of else combiner(*row)
            except (Exception, GeneratorExit) as error:
                return self.ended(mapper_failure(self.operator, combiner, error))
            if value is None:
                return self.ended(none_produced(self.operator, combiner))
            emit(value)
            if self.stopped:
                return -1
            if self.dirty or (passive and count < many and not self.refilled()):
                return count
        return many

    def step_rows(self, rows: Iterator[Any], demand: int) -> int:
        demand, outcome = self.give(rows, demand)
        if self.stopped:
            return 0
        if isinstance(outcome, Failed):
            self.failure = outcome.take()
            return self.fail()
        if outcome is True:
            return self.fail()
        for column in self.passive:
            if is_exhausted(column.counted):
                return self.finish()
        return demand if self.passive else self.finish()

    def fail(self) -> int:
        """The end, with ``failure`` if there is one. It is not kept: the frames in its traceback may hold this."""
        failure, self.failure = self.failure, None
        return self.finish(failure if not self.errors else self.gathered(failure))

    def listening(self) -> Iterable[Listening]:
        return self.columns

    def close(self) -> None:
        rows = self.rows
        if rows is not None:
            self.rows = iter(())
            close(rows)
        for column in self.columns:
            column.close()
            column.others = ()


@op("fork_join", loop=zip_loop)
class ForkJoin(Zip[R]):
    """The one row of sources of at most one item each."""

    __slots__ = ()

    operator: ClassVar[str] = "fork_join"


class _Late(QueuedInput[Any]):
    """One of the sources. Its item waits until all sources have ended."""

    __slots__ = ()

    def on_error(self, error: Exception, /) -> None:
        if not self.closed:
            self.op.errors.append(error)
        super().on_error(error)


@op("zip")
class ZipLate(Op[R]):
    """The row of sources of at most one item each, once all of them have ended: what failed keeps none from running to its end.

    Errors come before emptiness: of a source that failed and one that has no item, the error is signalled.
    """

    __slots__ = ("combiner", "errors", "inputs", "sources")

    inputs: list[_Late]
    #: As they came. A list, whose append is atomic: each source may be on a thread of its own.
    errors: list[Exception]

    def __init__(self, down: Subscriber[R], sources: Sequence[Publisher[Any]], combiner: Callable[..., R]) -> None:
        super().__init__(down)
        self.sources = sources
        self.combiner = combiner
        self.errors = []
        self.inputs = [_Late(self, UNBOUNDED) for _ in sources]

    def open(self) -> None:
        for entry, source in zip(self.inputs, self.sources, strict=True):
            if self.stopped:
                return
            entry.open(source)

    def step(self, demand: int) -> int:
        inputs = self.inputs
        for entry in inputs:
            if not entry.done:
                return demand
        if self.errors:
            errors, self.errors = self.errors, []  # not kept: the frames in their tracebacks may hold this
            return self.finish(composite(errors))
        if not inputs or not all(entry.queue for entry in inputs):
            return self.finish()
        if not demand:
            return 0
        row = [entry.queue[0] for entry in inputs]
        try:
            value = self.combiner(*row)
        except (Exception, GeneratorExit) as error:
            return self.finish(mapper_failure("zip", self.combiner, error))
        if value is None:
            return self.finish(none_produced("zip", self.combiner))
        self.emit(value)
        return self.finish()

    def listening(self) -> Iterable[Listening]:
        return self.inputs

    def close(self) -> None:
        for entry in self.inputs:
            entry.close()

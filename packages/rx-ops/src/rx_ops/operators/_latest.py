"""The newest items of several sources together: combine_latest, with_latest_from."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import UNBOUNDED, composite, dropped_late, none_produced
from rx_core.streams import GatedInput, Input, Op, QueuedInput, ignore, left_behind, tell_interrupted
from rx_fusion import op
from rx_ops.operators._mapping import mapper_failure
from rx_ops.operators._zip_loop import row_of

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription
    from rx_core.streams import Listening

T = TypeVar("T")
R = TypeVar("R")


# -- combine_latest ----------------------------------------------------------------------------------------------------------


class _Newest(QueuedInput[Any]):
    """A source of combine_latest. What cannot be a row at once lines up behind the items of all the others."""

    __slots__ = ("at",)

    def __init__(self, op: CombineLatest[Any], window: int, at: int) -> None:
        super().__init__(op, window)
        self.at = at

    def on_next(self, item: Any, /) -> None:
        op = self.op
        token = op.token
        try:
            demand = token.pop()
        except IndexError:
            self.line_up(item)
            return
        if op.dirty or op.signals or (not demand and (op.stopped or not op.no_row_yet(self))):
            token.append(demand)
            self.line_up(item)
            return
        row = op.row
        missing = op.missing
        if missing:
            missing = op.begin_row(self.at, item)
        else:
            row[self.at] = item
        if not missing:
            combiner = op.combiner
            try:
                value = tuple(row) if combiner is row_of else combiner(*row)
                if value is None:
                    op.failure = none_produced("combine_latest", combiner)
            except (Exception, GeneratorExit) as error:
                value = None
                op.failure = mapper_failure("combine_latest", combiner, error)
            except BaseException as error:
                down = op.down
                op.abandon_token()
                tell_interrupted(down, error)
                raise
            if value is None:
                token.append(demand)
                op.drain()
                return
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
                return
            if demand is not UNBOUNDED:
                demand -= 1
        token.append(demand)
        # Only this thread counts while nothing of this source waits in line.
        left = self.left - 1
        if left:
            self.left = left
        else:
            self.left = limit = self.limit
            if not self.closed:
                self.up.request(limit)
        if op.dirty:
            op.drain()

    def line_up(self, item: Any) -> None:
        op = self.op
        if self.closed:
            op.discard(item)
        else:
            op.signals.append((self, item))
        op.drain()  # also when closed: a thread that found the token taken here relies on this one to look

    def on_error(self, error: Exception, /) -> None:
        if self.closed:
            dropped_late(error, self.op.origin)
            return
        self.error = error
        self.on_complete()

    def on_complete(self) -> None:
        self.done = True
        self.op.ended.append(self)
        self.op.drain()


@op("combine_latest")
class CombineLatest(Op[R]):
    """A row of the newest items for each item, in the order in which they come, once each source has given one.

    Items before the first row need no demand. An error ends the stream at once; with ``delay_error`` when all sources are over.
    """

    __slots__ = (
        *("combiner", "delay_error", "ended", "errors", "failure"),
        *("inputs", "missing", "over", "row", "signals", "sources"),
    )

    discards: ClassVar[bool] = True
    inputs: list[_Newest]
    #: The items that wait, in order, with the input that they came by.
    signals: deque[tuple[_Newest, Any]]
    #: Inputs whose source has ended and that were not looked at; and those that were.
    ended: deque[_Newest]
    over: list[_Newest]
    errors: list[Exception]
    #: The newest item of each source, and of how many there is none yet.
    row: list[Any]
    missing: int
    #: What the combiner raised for a row past ``step``.
    failure: Exception | None

    def __init__(
        self,
        down: Subscriber[R],
        sources: Sequence[Publisher[Any]],
        combiner: Callable[..., R],
        prefetch: int,
        delay_error: bool,
    ) -> None:
        super().__init__(down)
        self.sources = sources
        self.combiner = combiner
        self.delay_error = delay_error
        self.inputs = [_Newest(self, prefetch, at) for at in range(len(sources))]
        self.signals = deque()
        self.ended = deque()
        self.over = []
        self.errors = []
        self.row = [None] * len(sources)
        self.missing = len(sources)
        self.failure = None

    def open(self) -> None:
        for each, source in zip(self.inputs, self.sources, strict=True):
            if self.stopped:
                return
            each.open(source)

    def step(self, demand: int) -> int:
        if self.failure is not None:
            return self.fail(self.failure)
        ended = self.ended
        while ended:  # before the items: what came before an end is looked at now
            entry = ended.popleft()
            self.over.append(entry)
            if entry.error is not None:
                self.errors.append(entry.error)
                if not self.delay_error:
                    return self.finish(entry.error)
        signals, row, combiner, emit = self.signals, self.row, self.combiner, self.emit
        while signals and (demand or self.no_row_yet(signals[0][0])):
            entry, item = signals.popleft()
            entry.took()
            at = entry.at
            if self.missing:
                self.begin_row(at, item)
            else:
                row[at] = item
            if not self.missing:
                try:
                    value = combiner(*row)
                except (Exception, GeneratorExit) as error:
                    return self.fail(mapper_failure("combine_latest", combiner, error))
                if value is None:
                    return self.fail(none_produced("combine_latest", combiner))
                emit(value)
                if demand is not UNBOUNDED:
                    demand -= 1
            if self.stopped:
                return 0
            if self.dirty:
                return demand
        if signals:
            return demand
        over = self.over
        if len(over) == len(row) or any(row[each.at] is None for each in over):  # there is no further row, or never one
            return self.finish(self.gathered())
        return demand

    def begin_row(self, at: int, item: Any) -> int:
        """``item`` comes before there was a row. One that it replaces is in none. Of how many sources there is still no item."""
        before = self.row[at]
        self.row[at] = item
        if before is None:
            self.missing -= 1
        else:
            self.discard(before)
        return self.missing

    def no_row_yet(self, source: _Newest) -> bool:
        """Whether there is still no row with the next item of ``source``, so that it need not be wanted."""
        missing = self.missing
        return missing > 1 or (missing == 1 and self.row[source.at] is not None)

    def fail(self, error: Exception) -> int:
        """The combiner failed, which is not delayed."""
        self.failure = None
        self.errors.append(error)
        return self.finish(self.gathered())

    def gathered(self) -> Exception | None:
        errors = self.errors
        self.errors = []
        return composite(errors) if errors else None

    def listening(self) -> Iterable[Listening]:
        return self.inputs

    def close(self) -> None:
        for each in self.inputs:
            each.close()
        while self.signals:
            self.discard(self.signals.popleft()[1])
        if self.missing and self.discard is not ignore:
            row, self.row = self.row, [None] * len(self.row)
            for item in row:
                left_behind(self, item)
        self.ended.clear()
        self.over.clear()


# -- with_latest_from --------------------------------------------------------------------------------------------------------


class _Beside(Input[Any]):
    """A source of which only the newest item is kept, however fast it sends."""

    __slots__ = ("item",)

    #: Written by its own thread, read by that of the main source.
    item: Any

    def __init__(self, op: Op[Any]) -> None:
        super().__init__(op)
        self.item = None

    def subscribed(self, up: Subscription) -> None:
        up.request(UNBOUNDED)

    def on_next(self, item: Any, /) -> None:
        if not self.closed:
            self.item = item

    def close(self) -> None:
        self.item = None
        super().close()


class _Main(GatedInput[Any]):
    """The source whose items make rows. One that cannot is asked for again at once, as a filter does."""

    __slots__ = ("combiner", "others")

    def __init__(self, op: WithLatestFrom[Any], combiner: Callable[..., Any], others: Sequence[_Beside]) -> None:
        super().__init__(op)
        self.combiner = combiner
        self.others = others

    def on_next(self, item: Any, /) -> None:
        if self.closed:
            return
        row = [item]
        for other in self.others:
            newest = other.item
            if newest is None:
                self.ask_again()
                return
            row.append(newest)
        combiner = self.combiner
        try:
            value = tuple(row) if combiner is row_of else combiner(*row)
        except (Exception, GeneratorExit) as error:
            self.fail(mapper_failure("with_latest_from", combiner, error))
            return
        except BaseException as error:
            self.interrupted(error)
            raise
        if value is None:
            self.fail(none_produced("with_latest_from", combiner))
        else:
            GatedInput.on_next(self, value)


@op("with_latest_from")
class WithLatestFrom(Op[R]):
    """Each item of the first source together with the newest ones of the others, which are subscribed before it.

    An error of any source is the end at once. The completion of one of several others that gave nothing is the end as well.
    """

    __slots__ = ("main", "others", "sources")

    main: _Main
    others: list[_Beside]

    def __init__(self, down: Subscriber[R], sources: Sequence[Publisher[Any]], combiner: Callable[..., R]) -> None:
        super().__init__(down)
        self.sources = sources
        self.others = [_Beside(self) for _ in sources[1:]]
        self.main = _Main(self, combiner, self.others)

    def open(self) -> None:
        for other, source in zip(self.others, self.sources[1:], strict=True):
            other.open(source)
            if self.stopped:
                return
        self.main.open(self.sources[0])

    def step(self, demand: int) -> int:
        main, others = self.main, self.others
        done = main.done  # before taking: what came before the end is taken now
        for other in others:
            if other.done:
                if other.error is not None:
                    return self.finish(other.error)
                if other.item is None and len(others) > 1:
                    return self.finish()
        demand = main.take(demand)
        if self.stopped:
            return 0
        if done:
            return self.finish(main.error)
        main.ask(demand)
        return demand

    def listening(self) -> Iterable[Listening]:
        return (self.main, *self.others)

    def close(self) -> None:
        self.main.close()
        for other in self.others:
            other.close()

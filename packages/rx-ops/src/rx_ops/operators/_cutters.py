"""Cutters: what says where a piece of a stream begins and where it ends.

A cutter belongs to one run of ``buffer`` or ``window``. What it hears, on whatever thread, it cues; so the operator calls it only
while it holds its token, in line with the items.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from rx_core import UNBOUNDED, after_answer, dropped_late, name_of, unwrap_stop, user_call, worker_of
from rx_core.streams import Input, takes_requests
from rx_ops.operators._clock import Periodic, scheduled
from rx_ops.operators._pieces import Cutter

if TYPE_CHECKING:
    from rx_core import Disposable, Publisher, Scheduler, Subscription
    from rx_ops.operators._pieces import CutInput, Pieces


# -- by the clock --------------------------------------------------------------------------------------------------------------


class TimedCutter(Cutter):
    """A cut every so many seconds, and when a piece is full."""

    __slots__ = ("seconds", "worker")

    def __init__(self, op: Pieces, seconds: float, scheduler: Scheduler) -> None:
        super().__init__(op)
        self.seconds = seconds
        self.worker = worker_of(scheduler)

    def subscribed(self) -> None:
        self.op.cue(self.next_piece)
        Periodic(self.op, self.worker, self.seconds, self.seconds, self.tick)

    def tick(self) -> None:
        self.op.cue(self.next_piece)

    def full(self) -> None:
        self.next_piece()

    def next_piece(self, _cause: object = None) -> Any:
        piece = super().next_piece()
        if piece is None:
            self.worker.dispose()
        return piece

    def close(self) -> None:
        self.worker.dispose()


class Restarting(Cutter):
    """One piece after the other; each has its whole time, also after one that was full before its time."""

    __slots__ = ("alarm", "seconds", "worker")

    alarm: Disposable | None

    def __init__(self, op: Pieces, seconds: float, scheduler: Scheduler) -> None:
        super().__init__(op)
        self.seconds = seconds
        self.worker = worker_of(scheduler)
        self.alarm = None

    def subscribed(self) -> None:
        self.op.cue(self.next_piece)

    def next_piece(self, _cause: object = None) -> Any:
        piece = super().next_piece()
        if piece is None:
            self.worker.dispose()
        else:
            self.alarm = scheduled(self.op, self.worker, partial(self.op.cue, self.ring, piece), self.seconds)
        return piece

    def ring(self, piece: Any) -> None:
        if self.op.is_live(piece):  # else it was full just before
            self.next_piece()

    def full(self) -> None:
        if self.alarm is not None:
            self.alarm.dispose()
        self.next_piece()

    def close(self) -> None:
        self.worker.dispose()


class Overlapping(Cutter):
    """A piece begins every so often and lasts for some time, which may be longer or shorter."""

    __slots__ = ("every", "seconds", "worker")

    overlaps: ClassVar[bool] = True

    def __init__(self, op: Pieces, seconds: float, every: float, scheduler: Scheduler) -> None:
        super().__init__(op)
        self.seconds = seconds
        self.every = every
        self.worker = worker_of(scheduler)

    def subscribed(self) -> None:
        self.op.cue(self.begin)
        Periodic(self.op, self.worker, self.every, self.every, self.tick)

    def tick(self) -> None:
        self.op.cue(self.begin)

    def begin(self, _cause: object) -> None:
        op = self.op
        piece = op.begin()
        if piece is not None:
            scheduled(op, self.worker, partial(op.cue, op.end, piece), self.seconds)

    def close(self) -> None:
        self.worker.dispose()


# -- by other sources ----------------------------------------------------------------------------------------------------------


class CueInput(Input[Any]):
    """A source that a cutter listens to, asked for everything. Its items and its end are cued."""

    __slots__ = ("on_end", "on_item")

    op: Pieces
    on_item: Callable[[Any], object]
    on_end: Callable[[Exception | None], object]

    def __init__(self, op: Pieces, on_item: Callable[[Any], object], on_end: Callable[[Exception | None], object]) -> None:
        super().__init__(op)
        self.on_item = on_item
        self.on_end = on_end

    def subscribed(self, up: Subscription) -> None:
        up.request(UNBOUNDED)

    def on_next(self, item: Any, /) -> None:
        op = self.op  # first, then look: close() does it the other way round
        if not self.closed:
            op.cue(self.on_item, item)

    def on_error(self, error: Exception, /) -> None:
        op = self.op
        if self.closed:
            dropped_late(error, op.origin)
            return
        self.done = True
        op.cue(self.on_end, error)

    def on_complete(self) -> None:
        op = self.op
        if not self.closed:
            self.done = True
            op.cue(self.on_end)


class ClosingInput(Input[Any]):
    """The source whose first signal ends one piece; its error ends everything. Cancelled at that signal."""

    __slots__ = ("ended", "piece")

    op: Pieces
    ended: Callable[[ClosingInput], object]

    def __init__(self, op: Pieces, piece: Any, ended: Callable[[ClosingInput], object]) -> None:
        super().__init__(op)
        self.piece = piece
        self.ended = ended

    def subscribed(self, up: Subscription) -> None:
        up.request(UNBOUNDED)

    def on_next(self, _item: object, /) -> None:
        op = self.op
        if not self.closed:
            self.stop()
            op.cue(self.ended, self)

    def on_error(self, error: Exception, /) -> None:
        op = self.op
        if self.closed:
            dropped_late(error, op.origin)
            return
        self.done = True
        op.cue(op.source_ended, error)

    def on_complete(self) -> None:
        op = self.op
        if not self.closed:
            self.done = True
            op.cue(self.ended, self)


class Boundary(Cutter):
    """A cut with each item of another source, which is subscribed when the first was asked for everything; its end is the end.

    RxJava's sources that compute what is requested have sent all of it by then. An Observable cannot be asked, so it sends later.
    """

    __slots__ = ("boundary", "source")

    def __init__(self, op: Pieces, boundary: Publisher[Any]) -> None:
        super().__init__(op)
        self.source = boundary
        self.boundary = CueInput(op, self.next_piece, op.source_ended)

    def subscribed(self) -> None:
        self.op.cue(self.next_piece)

    def asked(self) -> None:
        op = self.op
        if takes_requests(op.source):
            after_answer(op.main.up, self.begin)
        else:
            self.begin()

    def begin(self) -> None:
        if not self.op.over:
            self.boundary.open(self.source)

    def left(self) -> None:
        self.boundary.close()

    def close(self) -> None:
        self.boundary.close()


class BoundaryFirst(Boundary):
    """The same, where the boundary is subscribed before the source is: RxJava does so for window, not for buffer."""

    __slots__ = ()

    def open(self, main: CutInput, source: Publisher[Any]) -> None:
        op = self.op
        op.cue(self.next_piece)
        if not op.over:
            self.boundary.open(self.source)
        if not op.over:
            main.open(source)

    def subscribed(self) -> None:
        pass

    def asked(self) -> None:
        pass


class Closing(Cutter):
    """One piece after the other; each lasts until the source that was made for it signals."""

    __slots__ = ("closing", "current", "operator")

    current: ClosingInput | None

    def __init__(self, op: Pieces, operator: str, closing: Callable[[], Any]) -> None:
        super().__init__(op)
        self.operator = operator
        self.closing = closing
        self.current = None

    def subscribed(self) -> None:
        self.op.cue(self.next_piece)

    def next_piece(self, _cause: object = None) -> Any:
        op = self.op
        piece = super().next_piece()
        if piece is None:
            return None
        self.close()
        source = closing_source(op, self.operator, self.closing)
        if source is not None:
            self.current = ClosingInput(op, piece, self.next_piece)
            self.current.open(source)
        return piece

    def close(self) -> None:
        current, self.current = self.current, None
        if current is not None:
            current.close()


class Opening(Cutter):
    """A piece begins with each item of one source, and lasts until the source that was made of that item signals. It is the end
    when no piece is open and none can begin."""

    __slots__ = ("closing", "closings", "opening", "operator", "source")

    overlaps: ClassVar[bool] = True
    #: The sources that end the open pieces.
    closings: list[ClosingInput]

    def __init__(self, op: Pieces, operator: str, opening: Publisher[Any], closing: Callable[[Any], Any]) -> None:
        super().__init__(op)
        self.operator = operator
        self.source = opening
        self.closing = closing
        self.closings = []
        self.opening = CueInput(op, self.begin, self.opening_ended)

    def subscribed(self) -> None:
        self.opening.open(self.source)

    def begin(self, item: Any) -> None:
        op = self.op
        if not op.may_begin():
            return
        source = closing_source(op, self.operator, self.closing, item)
        piece = None if source is None else op.begin()
        if piece is None:
            return
        if not op.is_open(piece):  # a window that was abandoned
            op.end(piece)
            return
        ending = ClosingInput(op, piece, self.end)
        self.closings.append(ending)
        ending.open(source)

    def end(self, ending: ClosingInput) -> None:
        self.closings.remove(ending)
        ending.close()
        self.op.end(ending.piece)
        self.opening_ended(None)

    def opening_ended(self, error: Exception | None) -> None:
        op = self.op
        if error is not None or (self.opening.done and not self.closings and not op.over):
            op.source_ended(error)

    def left(self) -> None:
        self.opening.close()

    def close(self) -> None:
        self.opening.close()
        for ending in self.closings:
            ending.close()


def closing_source(op: Pieces, operator: str, function: Callable[..., Any], *args: Any) -> Any:
    """The source that a user's function makes to end a piece; None, and everything has ended, where it makes none."""
    try:
        source = user_call(operator, function, *args)
    except Exception as error:
        failure: Exception = error
    else:
        if hasattr(source, "subscribe"):
            return source
        failure = TypeError(
            f"{operator}() expected a function returning a source, but {name_of(function)} returned {source!r}.\n"
            f"  For example:  .{operator}(closing=lambda: Flowable.timer(1.0))"
        )
    original = unwrap_stop(failure)
    op.source_ended(original if isinstance(original, Exception) else failure)
    return None

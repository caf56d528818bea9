"""Streams of items: windows by count, a new one every so many items, and windows between two cuts, by time or other sources."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from rx_core import UNBOUNDED, MissingBackpressureError, dropped_late
from rx_core.streams import Input, Op
from rx_fusion import op
from rx_ops.operators._part import Holders, Part, PartHead
from rx_ops.operators._pieces import Pieces

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription
    from rx_core.streams import Listening
    from rx_fusion import Head
    from rx_ops.operators._pieces import Cutter


class Window(Part):
    """One window."""

    __slots__ = ("number",)

    def __init__(self, holders: Holders, origin: object, number: int) -> None:
        super().__init__(holders, origin)
        self.number = number

    def shown(self) -> str:
        return f"window({self.number})"


class WindowHead(PartHead):
    """The head of a window."""

    __slots__ = ()
    name = "window"


@op("window")
class WindowByCount(Op[Any]):
    """Windows of ``size`` items, a new one with every ``skip`` items.

    The source is asked for the items of the windows that are wanted. Windows that do not overlap begin with an item that was
    requested for them, and the source's thread is their sole signaller, so they pass by the gate. Of windows that overlap some
    begin before they were requested; they wait for it. The source is left when the stream of windows *and* all windows are.
    """

    __slots__ = ("asked", "face", "held", "holders", "left", "main", "new", "overlap", "refused", "size", "skip", "source")

    @staticmethod
    def discards(size: int, skip: int, *_args: object) -> bool:
        return skip >= size

    overlap: bool
    #: The source was asked for the first window.
    asked: bool
    #: For how much of the demand the source was asked already.
    left: int
    #: Windows that overlap and were not emitted yet; the source's thread appends.
    new: deque[Window]
    holders: Holders
    #: Whether the stream of windows holds the source; for the holder of the token.
    held: bool
    #: A wrong request: it was handed to the source, which answers it serially with its other signals (RS 3.9).
    refused: Exception | None

    def __init__(self, down: Subscriber[Any], source: Publisher[Any], size: int, skip: int, face: Callable[[Head], Any]) -> None:
        super().__init__(down)
        self.source = source
        self.size = size
        self.skip = skip
        self.face = face
        self.overlap = skip < size
        self.asked = False
        self.left = 0
        self.new = deque()
        self.main = CountedInput(self)
        self.holders = Holders(self.leave_source)
        self.held = True
        self.refused = None

    def open_inputs(self) -> Iterable[Listening]:
        return (self.main,)

    def open(self) -> None:
        self.main.open(self.source)

    def refuse_request(self, error: Exception) -> None:
        main = self.main
        if self.overlap or main.up is None or main.done or main.closed:
            self.finish(error)
            for window in list(main.windows):
                window.end(error)
        else:
            self.refused = error
            self.later.append((main.up.request, 0))

    def step(self, demand: int) -> int:
        main = self.main
        done = main.done  # before the queue: what came before the end is in it
        if main.up is not None and not done and demand != self.left:
            self.ask(UNBOUNDED if demand == UNBOUNDED else demand - self.left)
            if not self.overlap:
                return 0  # the source has all of it
        new = self.new
        while new and demand:
            if demand is not UNBOUNDED:
                demand -= 1
            window = new.popleft()
            self.emit(self.face(WindowHead(window)))
            window.try_abandon()
            if self.stopped:
                return 0
        if done and (not new or main.error is not None):
            return self.finish(main.error if self.refused is None else self.refused)
        self.left = demand if main.up is not None else 0
        return demand

    def ask(self, windows: int) -> None:
        """Ask for the items of so many more windows."""
        items = UNBOUNDED if windows == UNBOUNDED else self.skip * windows
        if not self.asked:
            self.asked = True
            items += self.size - self.skip
        self.later.append((self.main.up.request, min(items, UNBOUNDED)))

    def close(self) -> None:
        new = self.new
        while new:
            new.popleft().end()  # it was never emitted
        if self.held:
            self.held = False
            self.holders.release()
        if self.main.done or self.main.closed:
            self.main.close()

    def leave_source(self) -> None:
        """The stream of windows and all windows are left. Any thread."""
        self.main.stop()
        self.drain()


class CountedInput(Input[Any]):
    """The source of windows that are counted. What is here belongs to the source's thread."""

    __slots__ = ("at", "count", "filled", "windows")

    op: WindowByCount
    #: Open windows, the oldest first.
    windows: deque[Window]
    #: How many items came since the newest window began, and since the oldest one did.
    at: int
    filled: int
    #: How many windows there were.
    count: int

    def __init__(self, op: WindowByCount) -> None:
        super().__init__(op)
        self.windows = deque()
        self.at = 0
        self.filled = 0
        self.count = 0

    def subscribed(self, up: Subscription) -> None:
        self.op.drain()

    def on_next(self, item: Any, /) -> None:
        op = self.op  # first, then look: close() does it the other way round
        if self.closed:
            op.discard(item)
            return
        windows = self.windows
        at = self.at
        new = None if at else self.begin(op)
        if not windows:
            op.discard(item)
        for window in windows:
            try:
                window.push(item)
            except Exception as error:  # its subscriber's. The source takes that for a cancel (RS 2.13)
                self.stop()
                self.end_windows(op, error)
                raise
        if new is not None and op.overlap:
            op.new.append(new)
            op.drain()
        self.filled += 1
        if self.filled == op.size:
            self.filled -= op.skip
            if windows:
                windows.popleft().end()
        at += 1
        self.at = 0 if at == op.skip else at
        if new is not None and not op.overlap:
            new.try_abandon()

    def begin(self, op: WindowByCount) -> Window | None:
        """Open a window, and emit it if it need not wait. None when no further ones are wanted."""
        new = Window(op.holders, op.origin, self.count)  # it holds the source now; then look: a cancel lets go afterwards
        new.discard = op.discard
        if op.stopped:
            new.release()
            return None
        self.count += 1
        self.windows.append(new)
        if not op.overlap:
            try:
                op.emit(op.face(WindowHead(new)))
            except BaseException:
                op.cancel()  # RS 2.13
                self.windows.pop().end()
                raise
        return new

    def on_error(self, error: Exception, /) -> None:
        op = self.op
        if self.closed:
            dropped_late(error, op.origin)
            return
        self.end_windows(op, error)

    def on_complete(self) -> None:
        op = self.op
        if not self.closed:
            self.end_windows(op, None)

    def end_windows(self, op: WindowByCount, error: Exception | None) -> None:
        """End the open windows, then the stream of windows."""
        self.error = error
        self.done = True
        windows = self.windows
        while windows:
            windows.popleft().end(error)
        op.drain()


def window_notes(size: int | None) -> tuple[str]:
    """What a plan says of a window operator."""
    return ("queue: what comes between two cuts" if size is None else f"queue: at most {size} items in each window",)


@op("window")
class WindowCut(Pieces):
    """A window is emitted when it begins; that is an error where nothing is requested.

    The source is left when the stream of windows *and* all windows are. So ``stopped`` is not the end here: open windows go on.
    What a subscriber of a window raises goes on to the source, which takes it for a cancel (RS 2.13), or to a worker; nothing
    would come for the others any more, so they end with that error.
    """

    __slots__ = ("all_left", "count", "face", "held", "holders", "number")

    @staticmethod
    def discards(_face: object, _size: int | None, cutter: type[Cutter], *_args: object) -> bool:
        return not cutter.overlaps

    #: How many items the open window got, where its size has a bound.
    count: int
    #: How many windows there were.
    number: int
    holders: Holders
    #: Holds one entry while the stream of windows holds the source.
    held: Any
    #: The stream of windows and all windows are left. Set by any thread.
    all_left: bool

    def __init__(
        self,
        down: Subscriber[Any],
        source: Publisher[Any],
        face: Callable[[Head], Any],
        size: int | None,
        cutter: Callable[..., Cutter],
        *args: Any,
    ) -> None:
        self.face = face
        self.count = 0
        self.number = 0
        self.holders = Holders(self.let_go)
        self.held = [True]
        self.all_left = False
        super().__init__(down, source, size, cutter, *args)

    def put(self, item: Any) -> None:
        if not self.live:
            self.discard(item)
        for window in self.live:
            try:
                window.push(item)
            except Exception as error:
                self.source_ended(error)
                raise
        if self.size is not None:
            self.count += 1
            if self.count == self.size:
                self.cutter.full()

    def may_begin(self) -> bool:
        if self.stopped:
            return False
        if not self.has_demand():
            self.source_ended(MissingBackpressureError("window() has a new window and it was not requested"))
            return False
        return True

    def begin(self) -> Window | None:
        self.count = 0
        if not self.may_begin():
            return None
        if self.wanted != UNBOUNDED:
            self.wanted -= 1
        window = Window(self.holders, self.origin, self.number)
        window.discard = self.discard
        self.number += 1
        self.live.append(window)
        try:
            self.emit(self.face(WindowHead(window)))
        except BaseException:
            self.end(window)
            raise
        window.try_abandon()
        return window

    def is_open(self, piece: Any) -> bool:
        return not piece.done

    def end(self, piece: Any) -> None:
        for at, each in enumerate(self.live):
            if each is piece:
                del self.live[at]
                try:
                    piece.end()
                except Exception as error:
                    self.source_ended(error)
                    raise
                return

    def source_ended(self, error: Exception | None) -> None:
        if self.over:
            return
        self.stop()
        windows = self.live[:]
        self.live.clear()
        for window in windows:
            window.end(error)
        if not self.stopped:
            self.wanted = self.finish(error)

    def refuse_request(self, error: Exception) -> None:
        self.source_ended(error)

    def cancel(self) -> None:
        self.stopped = True  # first: no window begins any more
        self.release()  # now, as ``Op.cancel`` stops inputs
        super().cancel()

    def release(self) -> None:
        """The stream of windows lets go of the source, once."""
        try:
            self.held.pop()
        except IndexError:
            return
        self.holders.release()

    def let_go(self) -> None:
        self.all_left = True
        self.main.stop()  # now: a window that ends lets go before it signals its end, and what that starts finds the source free
        self.drain()

    def look(self, demand: int) -> int:
        demand = super().look(demand)
        if self.stopped:
            self.deal()
        return demand

    def close(self) -> None:
        self.cutter.left()
        self.release()
        if self.all_left and not self.over:
            self.stop()
            self.live.clear()

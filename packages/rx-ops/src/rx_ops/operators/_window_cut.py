"""window by time and by other sources: a stream of what comes between two cuts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rx_core import UNBOUNDED, MissingBackpressureError
from rx_fusion import op
from rx_ops.operators._part import Holders
from rx_ops.operators._pieces import Pieces
from rx_ops.operators._window import Window, WindowHead

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_fusion import Head
    from rx_ops.operators._pieces import Cutter


@op("window")
class WindowCut(Pieces):
    """A window is emitted when it begins; that is an error where nothing is requested.

    The source is left when the stream of windows *and* all windows are. So ``stopped`` is not the end here: open windows go on.
    What a subscriber of a window raises goes on to the source, which takes it for a cancel (RS 2.13), or to a worker; nothing
    would come for the others any more, so they end with that error.
    """

    __slots__ = ("all_left", "count", "face", "held", "holders", "number")

    #: How many items the open window got, where its size has a bound.
    count: int
    #: How many windows there were.
    number: int
    holders: Holders
    #: Whether the stream of windows holds the source.
    held: bool
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
        self.held = True
        self.all_left = False
        super().__init__(down, source, size, cutter, *args)

    def put(self, item: Any) -> None:
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

    def begin(self) -> Window | None:
        self.count = 0
        if self.stopped:
            return None
        if not self.wanted:
            self.source_ended(MissingBackpressureError("window() has a new window and it was not requested"))
            return None
        if self.wanted != UNBOUNDED:
            self.wanted -= 1
        window = Window(self.holders, self.origin, self.number)
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

    def let_go(self) -> None:
        self.all_left = True
        self.drain()

    def look(self, demand: int) -> int:
        demand = super().look(demand)
        if self.stopped:
            self.deal()
        return demand

    def close(self) -> None:
        if self.held:
            self.held = False
            self.cutter.left()
            self.holders.release()
        if self.all_left and not self.over:
            self.stop()
            self.live.clear()

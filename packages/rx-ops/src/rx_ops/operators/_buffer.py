"""buffer by time and by other sources: lists of what came between two cuts."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar

from rx_core import UNBOUNDED, MissingBackpressureError
from rx_core.streams import ignore
from rx_fusion import op
from rx_ops.operators._pieces import Pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rx_core import Publisher, Subscriber
    from rx_core.streams import Listening
    from rx_ops.operators._pieces import Cutter


@op("buffer")
class BufferCut(Pieces):
    """A list is given when it ends; that is an error where nothing is requested."""

    __slots__ = ()

    @staticmethod
    def discards(_size: int | None, cutter: type[Cutter], *_args: object) -> bool:
        return not cutter.overlaps

    def put(self, item: Any) -> None:
        live = self.live
        for piece in live:
            piece.append(item)
        if not live:
            self.discard(item)
        if self.size is not None and live and len(live[0]) == self.size:
            self.cutter.full()

    def begin(self) -> list[Any]:
        piece: list[Any] = []
        self.live.append(piece)
        return piece

    def end(self, piece: Any) -> None:
        for at, each in enumerate(self.live):
            if each is piece:
                del self.live[at]
                self.emit_list(piece)
                return

    def emit_list(self, piece: list[Any]) -> None:
        if not self.has_demand():
            self.give_up(piece)
            self.source_ended(MissingBackpressureError("buffer() had a list to give and it was not requested"))
            return
        if self.wanted != UNBOUNDED:
            self.wanted -= 1
        self.emit(piece)

    def source_ended(self, error: Exception | None) -> None:
        if error is None:
            pieces = self.live[:]
            self.live.clear()
            for piece in pieces:
                if not (self.over or self.stopped):
                    self.emit_list(piece)
                else:
                    self.give_up(piece)
        if not self.over:
            self.over = True
            self.wanted = self.finish(error)

    def listening(self) -> Iterable[Listening]:
        return (self.main,)

    def close(self) -> None:
        self.stop()
        pieces, self.live = self.live, []
        for piece in pieces:
            self.give_up(piece)
        self.forget_events()

    def give_up(self, piece: list[Any]) -> None:
        if self.discard is not ignore:
            for item in piece:
                self.discard(item)


@op("buffer")
class BufferToggle(BufferCut):
    """The same for lists that begin with the items of one source and end with another one: those that end wait until they are
    requested, as in RxJava."""

    __slots__ = ("ended", "ready")

    opens_sources: ClassVar[bool] = True

    @staticmethod
    def discards(_size: int | None, _cutter: type[Cutter], *_args: object) -> bool:
        return False  # an item may be in several lists

    #: Lists that have ended.
    ready: deque[list[Any]]
    #: No further lists come.
    ended: bool

    def __init__(
        self, down: Subscriber[Any], source: Publisher[Any], size: int | None, cutter: Callable[..., Cutter], *args: Any
    ) -> None:
        super().__init__(down, source, size, cutter, *args)
        self.ready = deque()
        self.ended = False

    def step(self, demand: int) -> int:
        self.wanted = demand
        self.flush()
        self.deal()
        return self.wanted

    def emit_list(self, piece: list[Any]) -> None:
        self.ready.append(piece)
        self.flush()

    def flush(self) -> None:
        """Emit what is ready and wanted, then the end."""
        ready = self.ready
        while ready and self.wanted and not self.stopped:
            if self.wanted != UNBOUNDED:
                self.wanted -= 1
            self.emit(ready.popleft())
        if self.ended and not ready and not self.stopped:
            self.wanted = self.finish()

    def source_ended(self, error: Exception | None) -> None:
        if error is not None:
            super().source_ended(error)
            return
        self.ready.extend(self.live)
        self.live.clear()
        self.stop()
        self.ended = True
        self.flush()

    def close(self) -> None:
        super().close()
        self.ready.clear()

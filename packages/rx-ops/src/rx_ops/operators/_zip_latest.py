"""Rows of newest items, each item in one row at most: zip_latest."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import UNBOUNDED, none_produced
from rx_core.streams import Input, Op
from rx_fusion import op
from rx_ops.operators._mapping import mapper_failure

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription
    from rx_core.streams import Listening

R = TypeVar("R")


class _Newest(Input[Any]):
    """A source of which only the newest item waits, however fast it sends."""

    __slots__ = ("newest",)

    #: One item at most. Its own thread puts in, the holder of the token takes out, and an item that is replaced is lost.
    newest: deque[Any]

    def __init__(self, op: Op[Any]) -> None:
        super().__init__(op)
        self.newest = deque(maxlen=1)

    def subscribed(self, up: Subscription) -> None:
        up.request(UNBOUNDED)

    def on_next(self, item: Any, /) -> None:
        if not self.closed:
            self.newest.append(item)
            self.op.drain()

    def close(self) -> None:
        super().close()
        self.newest.clear()


@op("zip_latest")
class ZipLatest(Op[R]):
    """A row as soon as each source has a new item, and one is wanted. An item waits until a newer one takes its place.

    An error is one at once; a source that is over is the end when its last item has gone out.
    """

    __slots__ = ("columns", "combiner", "sources")

    columns: list[_Newest]

    def __init__(self, down: Subscriber[R], sources: Sequence[Publisher[Any]], combiner: Callable[..., R]) -> None:
        super().__init__(down)
        self.sources = sources
        self.combiner = combiner
        self.columns = [_Newest(self) for _ in sources]

    def open(self) -> None:
        for column, source in zip(self.columns, self.sources, strict=True):
            if self.stopped:
                return
            column.open(source)

    def step(self, demand: int) -> int:
        columns, combiner = self.columns, self.combiner
        if not columns:
            return self.finish()
        while True:
            whole = True
            for column in columns:
                if column.done and column.error is not None:
                    return self.finish(column.error)
            for column in columns:
                done = column.done  # before its item: what came before the end is taken now
                if not column.newest:
                    if done:
                        return self.finish()
                    whole = False
            if not whole or not demand:
                return demand
            row = [column.newest.popleft() for column in columns]
            try:
                value = combiner(*row)
            except (Exception, GeneratorExit) as error:
                return self.finish(mapper_failure("zip_latest", combiner, error))
            if value is None:
                return self.finish(none_produced("zip_latest", combiner))
            self.emit(value)
            if self.stopped:
                return 0
            if demand is not UNBOUNDED:
                demand -= 1

    def listening(self) -> Iterable[Listening]:
        return self.columns

    def close(self) -> None:
        for column in self.columns:
            column.close()

"""One inner source at a time, the newest or the oldest: switch_map, exhaust_map."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import UNBOUNDED, composite, dropped_late
from rx_core.streams import MergedInput, Op
from rx_fusion import op
from rx_ops.operators._mapping import mapper_failure, not_a_source
from rx_ops.operators._outer import OuterInput
from rx_ops.operators._part import give_up

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription
    from rx_core.streams import Listening

T = TypeVar("T")
R = TypeVar("R")


class _Outer(OuterInput):
    """The source of sources, asked for everything. Each item closes the running inner source, on the thread of the item; or,
    where that ``stays``, the item is dropped."""

    __slots__ = ()

    def subscribed(self, up: Subscription) -> None:
        up.request(UNBOUNDED)

    def on_next(self, item: Any, /) -> None:
        op = self.op
        if op.stopped or self.closed or self.done:
            op.discard(item)
            return
        running = op.current
        if running is not None:
            if not op.stays:
                running.stop()
            elif not running.done or running.queue:
                op.discard(item)
                return
        mapper = op.mapper
        try:
            source = mapper(item)
        except (Exception, GeneratorExit) as error:
            self.fail(mapper_failure(op.operator, mapper, error))
            return
        except BaseException as error:
            self.interrupted(error)
            raise
        refused = not_a_source(op.operator, mapper, source)
        if refused is not None:
            self.fail(refused)
            return
        made: MergedInput[Any] = MergedInput(op, op.prefetch)
        op.current = made
        if op.stopped:  # publish first, look afterwards: close() does the same
            made.stop()
            give_up(op, source)
        else:
            made.open(source)


@op("switch_map")
class SwitchMap(Op[R]):
    """The inner source of the newest item; the one before it is cancelled, and what waits of it dropped."""

    __slots__ = ("current", "delay_error", "ended", "errors", "mapper", "outer", "prefetch", "ready", "source")

    discards: ClassVar[bool] = True
    opens_sources: ClassVar[bool] = True

    operator: ClassVar[str] = "switch_map"
    #: Whether the running inner source goes on when a new item comes, which is dropped then.
    stays: ClassVar[bool] = False

    #: The running inner source; only the outer source's thread writes it.
    current: MergedInput[R] | None
    outer: _Outer
    ready: deque[MergedInput[R]]
    ended: deque[Any]
    errors: list[Exception]

    def __init__(
        self, down: Subscriber[R], source: Publisher[T], mapper: Callable[[T], Any], prefetch: int, delay_error: bool
    ) -> None:
        super().__init__(down)
        self.source = source
        self.mapper = mapper
        self.prefetch = prefetch
        self.delay_error = delay_error
        self.current = None
        self.outer = _Outer(self)
        self.ready = deque()
        self.ended = deque()
        self.errors = []

    def open(self) -> None:
        self.outer.open(self.source)

    def step(self, demand: int) -> int:
        ended, ready, outer = self.ended, self.ready, self.outer
        while ended:
            entry = ended.popleft()
            if entry.error is None:
                continue
            if entry.closed and entry is not outer:
                dropped_late(entry.error, self.origin)  # its place was taken meanwhile
            else:
                self.errors.append(entry.error)
                if not self.delay_error:
                    return self.finish(self.failure())
        while ready and ready[0].closed:
            ready.popleft().close()  # its place was taken: what waits of it is dropped, wanted or not
        while ready and demand:
            entry = ready.popleft()
            if entry.closed:
                entry.close()
            elif entry.queue:
                item = entry.queue.popleft()
                entry.took()
                self.emit(item)
                if demand is not UNBOUNDED:
                    demand -= 1
                if self.stopped or self.dirty:
                    return demand
        done = outer.done
        current = self.current
        if done and (current is None or current.closed or (current.done and not current.queue)):
            return self.finish(self.failure())
        return demand

    def failure(self) -> Exception | None:
        """What the stream ends with. It is not kept: the frames in its traceback may hold this."""
        errors = self.errors
        self.errors = []
        return composite(errors) if errors else None

    def listening(self) -> Iterable[Listening]:
        current = self.current
        return (self.outer,) if current is None else (self.outer, current)

    def close(self) -> None:
        self.outer.close()
        current = self.current
        if current is not None:
            current.close()
        while self.ready:
            self.ready.popleft().close()


@op("exhaust_map")
class ExhaustMap(SwitchMap[R]):
    """The inner source of an item runs to its end, and items that come meanwhile are dropped."""

    __slots__ = ()

    operator: ClassVar[str] = "exhaust_map"
    stays: ClassVar[bool] = True

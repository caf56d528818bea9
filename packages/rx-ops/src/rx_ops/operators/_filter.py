"""The last items of a stream by the clock: only those, or all but those."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, TypeVar

from rx_core import UNBOUNDED, worker_of
from rx_core.streams import ROUNDING, Input, Op
from rx_fusion import op

if TYPE_CHECKING:
    from collections.abc import Callable

    from rx_core import Publisher, Scheduler, Subscriber, Subscription, Worker
    from rx_core.streams import Listening

T = TypeVar("T")


class _Dated(Input[T]):
    """A source that is asked for everything. Its items wait with the time at which they came."""

    __slots__ = ("items", "now", "over", "seconds")

    #: (when it came, item). The source's thread appends.
    items: deque[tuple[float, T]]
    now: Callable[[], float]
    #: They are not taken any more.
    over: bool

    def __init__(self, op: _Dating[T], size: int | None) -> None:
        super().__init__(op)
        self.items = deque(maxlen=size)
        self.now = op.worker.now
        self.seconds = op.seconds
        self.over = False

    def subscribed(self, up: Subscription) -> None:
        up.request(UNBOUNDED)

    def keep(self, instant: float, item: T) -> None:
        """Of more than may wait the oldest goes."""
        items = self.items
        if len(items) == items.maxlen:
            if not items:
                self.op.discard(item)
                return
            self.drop_oldest()
        items.append((instant, item))
        if self.over:  # published first, looked at afterwards: give_up() finds the item, or this finds that it ran
            self.give_up()

    def drop_oldest(self) -> bool:
        """Any thread: each item is taken out by one of them. False: there is none."""
        try:
            item = self.items.popleft()[1]
        except IndexError:
            return False
        self.op.discard(item)
        return True

    def give_up(self) -> None:
        """Holds the token, the first time."""
        self.over = True
        while self.drop_oldest():
            pass


class _Dating(Op[T]):
    __slots__ = ("delay_error", "main", "seconds", "source", "worker")

    discards: ClassVar[bool] = True
    source: Publisher[T]
    main: _Dated[T]
    #: Only its clock is used.
    worker: Worker

    def __init__(
        self, down: Subscriber[T], source: Publisher[T], seconds: float, scheduler: Scheduler, delay_error: bool
    ) -> None:
        super().__init__(down)
        self.source = source
        self.seconds = seconds
        self.delay_error = delay_error
        self.worker = worker_of(scheduler)

    def open(self) -> None:
        self.main.open(self.source)

    def listening(self) -> Iterable[Listening]:
        return (self.main,)

    def close(self) -> None:
        self.main.close()
        self.main.give_up()
        self.worker.dispose()


# -- take_last -------------------------------------------------------------------------------------------------------------------


@op("take_last")
class TakeLastTime(_Dating[T]):
    """What came within ``seconds`` before the end, at most ``size`` items, given as they are requested."""

    __slots__ = ()

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        seconds: float,
        size: int | None,
        scheduler: Scheduler,
        delay_error: bool,
    ) -> None:
        super().__init__(down, source, seconds, scheduler, delay_error)
        self.main = _Last(self, size)

    def step(self, demand: int) -> int:
        main = self.main
        if not main.done:
            return demand
        if main.error is not None and not self.delay_error:
            return self.finish(main.error)
        items = main.items  # the holder's alone from the end on
        while items and demand:
            self.emit(items.popleft()[1])
            if self.stopped:
                return 0
            if demand is not UNBOUNDED:
                demand -= 1
        return demand if items else self.finish(main.error)


class _Last(_Dated[T]):
    """Forgets what is too old with each item, or an endless source would fill the memory, and once more at the end."""

    __slots__ = ()

    def on_next(self, item: T, /) -> None:
        if self.closed:
            self.op.discard(item)
            return
        instant = self.now()
        self.keep(instant, item)
        self.forget(instant)

    def on_error(self, error: Exception, /) -> None:
        self.forget(self.now())
        super().on_error(error)

    def on_complete(self) -> None:
        self.forget(self.now())
        super().on_complete()

    def forget(self, instant: float) -> None:
        items = self.items
        oldest = instant - self.seconds - ROUNDING
        try:
            while items and items[0][0] < oldest:
                self.drop_oldest()
        except IndexError:  # cleared by close() at this moment
            pass


# -- skip_last -------------------------------------------------------------------------------------------------------------------


@op("skip_last")
class SkipLastTime(_Dating[T]):
    """Each item once it is ``seconds`` old and something happens: another item, the end, a request."""

    __slots__ = ()

    main: _NotLast[T]

    def __init__(
        self, down: Subscriber[T], source: Publisher[T], seconds: float, scheduler: Scheduler, delay_error: bool
    ) -> None:
        super().__init__(down, source, seconds, scheduler, delay_error)
        self.main = _NotLast(self, None)

    def step(self, demand: int) -> int:
        main = self.main
        done = main.done  # before looking: what came before the end is there
        if done and main.error is not None and not self.delay_error:
            return self.finish(main.error)
        items = main.items
        # What is not old enough at the end never will be.
        youngest = (main.ended if done else self.worker.now()) - self.seconds + ROUNDING
        while items and items[0][0] <= youngest:
            if not demand:
                return 0
            self.emit(items.popleft()[1])
            if self.stopped:
                return 0
            if demand is not UNBOUNDED:
                demand -= 1
        return self.finish(main.error) if done else demand


class _NotLast(_Dated[T]):
    __slots__ = ("ended",)

    #: When the end came.
    ended: float

    def on_next(self, item: T, /) -> None:
        if self.closed:
            self.op.discard(item)
            return
        self.keep(self.now(), item)
        self.op.drain()

    def on_error(self, error: Exception, /) -> None:
        self.ended = self.now()
        super().on_error(error)

    def on_complete(self) -> None:
        self.ended = self.now()
        super().on_complete()

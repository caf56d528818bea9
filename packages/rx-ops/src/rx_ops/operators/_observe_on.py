"""Signals on a worker: observe_on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from threading import get_ident
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import DISPOSED, OPERATOR_CODES, UNBOUNDED, Growth, as_signal, dropped, dropped_late, worker_of
from rx_core.queue_fusion import ANY, ASYNC, BOUNDARY, SYNC, ask
from rx_core.streams import LOOK_FIRST, Entry, Op, Pump, QueuedInput, Stream, ignore
from rx_fusion import op
from rx_ops.operators._clock import shut_down

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rx_core import Publisher, Scheduler, Subscriber, Subscription, Worker
    from rx_core.streams import Listening

T = TypeVar("T")


@op("observe_on")
class ObserveOn(Pump[T]):
    """The gate works on a worker: the thread that publishes hands the token over, and all that came meanwhile goes out at once.

    A passive source is iterated by the worker. Any other is asked for a window; what it sends waits in a queue, or with it, where
    it lets itself be polled (micro-fusion).
    """

    __slots__ = (
        "computed",
        "delay_error",
        "halted",
        "handed",
        "main",
        "pulled",
        "quantum",
        "ran_dry",
        "refused",
        "source",
        "suspended",
        "turn_left",
        "unasked",
        "worker",
    )

    discards: ClassVar[bool] = True
    on_worker: ClassVar[bool] = True
    source: Publisher[T]
    main: _Boundary[T]
    worker: Worker
    delay_error: bool
    #: Holds the token while an action of the worker was told to take it.
    handed: Any
    #: The items come from ``items`` and not from a queue.
    pulled: bool
    #: The source computes what is requested, behind walls, so it is requested on the worker; and that has not happened yet.
    computed: bool
    unasked: bool
    #: The loop has to stop at once: cancelled, or an error overtakes the items that wait.
    halted: bool
    #: After so many items the worker's turn is over: how many, those that are left of it, and whether it is.
    quantum: int
    turn_left: int
    suspended: bool
    #: The worker took all there was, in its last turn; where the window may grow.
    ran_dry: bool
    #: The worker takes no action.
    refused: Exception | None

    def __init__(
        self, down: Subscriber[T], source: Publisher[T], scheduler: Scheduler, prefetch: int, delay_error: bool = False
    ) -> None:
        super().__init__(down)
        self.source = source
        self.delay_error = delay_error
        self.handed = []
        self.pulled = False
        self.computed = False
        self.unasked = False
        self.halted = False
        self.ran_dry = False
        self.refused = None
        self.suspended = False
        self.main = _Boundary(self, prefetch)
        self.worker = worker_of(scheduler)
        quantum = self.worker.quantum
        self.quantum = self.turn_left = UNBOUNDED if quantum is None else quantum

    def start(self) -> bool:
        return Op.start(self)  # as an operator that subscribes: the token is free while the source may answer already

    def after_answer(self, then: Callable[[], object], /) -> None:
        then()  # the worker answers

    def open(self) -> None:
        source = self.source
        if isinstance(source, Stream):
            if source._passive_into(self):
                self.pulled = True
                return
            if source._computes:
                # Walls hide that the worker could iterate it: it is asked there, and what it computes comes in order.
                self.computed = self.unasked = self.delay_error = True
        if self.requests:
            self.drain()  # first, as in RxJava: the worker has this turn before what the source schedules there
        self.main.open(source)

    def pull_from(self, queue: Any) -> None:
        """The source lets itself be polled and computes then (SYNC): it is as good as passive."""
        self.items = _polls(queue, self.main)
        self.hint = lambda: 0 if queue.is_empty() else 1
        self.pulled = True

    # -- the gate ----------------------------------------

    def drain(self) -> None:
        self.dirty = True
        token = self.token
        if LOOK_FIRST and not token:
            return
        try:
            demand = token.pop()
        except IndexError:
            return
        self.handed.append(demand)
        try:
            if self.worker.schedule(self.turn) is not DISPOSED:
                return
            refused = None
        except Exception as error:
            refused = error
        self.take_back(refused)

    def is_held(self) -> bool:
        return not self.token and not self.handed

    def take_back(self, refused: Exception | None) -> None:
        """The worker did not take the action, if it has not run by now: the operator is over, or the scheduler was shut down."""
        try:
            demand = self.handed.pop()
        except IndexError:
            return
        if not self.stopped:
            self.refused = refused or shut_down(self.worker)
        self.work([demand])

    def turn(self) -> None:
        """On the worker."""
        try:
            demand = self.handed.pop()
        except IndexError:  # a cancel was faster
            return
        self.turn_left = self.quantum
        if self.ran_dry:
            self.ran_dry = False
            self.main.consider_growth()
        try:
            self.work([demand])
        except Exception as error:  # what the subscriber raised has no caller here (RS 2.13)
            dropped(error, self.origin)
        if self.dirty or self.suspended:
            self.suspended = False
            self.drain()

    def cancel(self) -> None:
        self.stopped = True
        self.halted = True
        if self.pulled or self.computed or self.main.polled:
            self.drain()  # iterators are closed, and queues left, by the thread that uses them
            return
        self.main.stop()
        self.dirty = True
        for holder in (self.token, self.handed):
            if self.work(holder):
                return

    # -- the holder of the token, on the worker ----------------------------------------

    def step(self, demand: int) -> int:
        if self.refused is not None:
            return self.finish(self.refused)
        if self.suspended:
            return demand
        if self.pulled:
            return self.step_pulled(demand)
        if self.unasked:
            if self.main.up is None:
                return demand
            self.unasked = False
            self.main.up.request(self.main.window)
        return self.step_polled(demand) if self.main.polled else self.step_queued(demand)

    def step_pulled(self, demand: int) -> int:
        wanted = min(demand, self.turn_left)
        left = super().step(wanted)
        if self.stopped or wanted == UNBOUNDED:
            return left
        given = wanted - left
        self.spend(given)
        return demand if demand == UNBOUNDED else demand - given

    def spend(self, given: int) -> None:
        if self.quantum != UNBOUNDED:
            self.turn_left -= given
            self.suspended = not self.turn_left

    def step_queued(self, demand: int) -> int:
        main = self.main
        emit = self.emit
        while True:
            done = main.done  # before looking into the queue: what came before the end is there
            queue = main.queue
            if done and (not queue or not (main.error is None or self.delay_error)):
                return self.finish(main.error)
            waiting = len(queue)
            if waiting > main.peak:
                main.peak = waiting
            many = min(waiting, demand, main.left, self.turn_left)
            if not many:
                self.ran_dry = not waiting and main.growth is not None
                return demand
            take = queue.popleft
            given = 0
            for given in range(1, many + 1):  # noqa: B007  # how far it came
                emit(take())
                if self.halted:
                    break
            if self.stopped:
                return 0
            if demand is not UNBOUNDED:
                demand -= given
            self.spend(given)
            main.took_many(given)

    def step_polled(self, demand: int) -> int:
        main = self.main
        poll = main.queue_of_source.poll
        while True:
            done = main.done
            if done and main.error is not None and not self.delay_error:
                return self.finish(main.error)
            if not demand or not self.turn_left:
                return self.finish(main.error) if done and main.queue_of_source.is_empty() else demand
            try:
                item = poll()
            except (Exception, GeneratorExit) as error:
                return self.finish(as_signal(error))
            if item is None:
                return self.finish(main.error) if done else demand
            self.emit(item)
            if self.stopped:
                return 0
            if demand is not UNBOUNDED:
                demand -= 1
            self.spend(1)
            main.took()

    def listening(self) -> Iterable[Listening]:
        return (self.main,)

    def close(self) -> None:
        super().close()
        self.main.close()
        self.worker.dispose()


@op("observe_on")
class ObserveLatest(ObserveOn[T]):
    """The same with room for one item: one that comes while another one waits takes its place."""

    __slots__ = ()

    discards: ClassVar[bool] = False  # one that is replaced goes in the step in which the other one comes

    def __init__(self, down: Subscriber[T], source: Publisher[T], scheduler: Scheduler, delay_error: bool) -> None:
        super().__init__(down, source, scheduler, UNBOUNDED, delay_error)
        self.main = _Newest(self)

    def open(self) -> None:
        if self.requests:
            self.drain()  # first, as above
        self.main.open(self.source)

    def step_queued(self, demand: int) -> int:
        main = self.main
        queue = main.queue
        while True:
            done = main.done  # as above
            if done and (not queue or not (main.error is None or self.delay_error)):
                return self.finish(main.error)
            if not (queue and demand and self.turn_left):
                return demand
            main.peak = 1
            # One, whatever len() says: while an item takes the place of another one, that is two for a moment without the GIL.
            self.emit(queue.popleft())
            if self.stopped:
                return 0
            if demand is not UNBOUNDED:
                demand -= 1
            self.spend(1)


def _polls(queue: Any, main: _Boundary[T]) -> Iterator[T]:
    poll = queue.poll
    while (item := poll()) is not None:
        yield item
    main.done = True  # there is nothing to cancel


OPERATOR_CODES.add(_polls.__code__)  # it raises what the source's functions raised, a StopIteration included


class _Boundary(QueuedInput[T]):
    """The source of :class:`ObserveOn`, unless that is passive."""

    __slots__ = ("accept", "growth", "polled", "prefetch", "queue_of_source")

    prefetch: int
    #: None where the window was given.
    growth: Growth | None
    #: ASYNC was granted: ``queue_of_source`` is polled, and ``on_next`` only says that there is something.
    polled: bool
    queue_of_source: Any
    #: What becomes of an item.
    accept: Callable[[T], object]

    def __init__(self, op: ObserveOn[T], prefetch: int) -> None:
        super().__init__(op, int(prefetch))
        self.prefetch = prefetch
        self.growth = None
        self.polled = False
        self.queue_of_source = None
        self.queue = deque()
        self.accept = self.queue.append

    def open(self, source: Any) -> None:
        if not self.op.computed:
            self.growth = Growth.of(self.prefetch)
        super().open(source)

    def on_subscribe(self, up: Subscription, /) -> None:
        if self.up is None and not self.closed:
            try:
                self.negotiate(up)
            except Exception as error:  # of the source: it ends the stream, and the caller of on_subscribe is not told (RS 2.13)
                self.up = up
                op = self.op
                self.stop()
                self.error = error
                self.done = True
                op.drain()
                return
        super().on_subscribe(up)

    def negotiate(self, up: Any) -> None:
        """Ask to poll the source instead: one queue less."""
        mode = ANY | BOUNDARY
        granted, queue = (up.ask_to_poll(mode), up.queue) if type(up) is Entry else (ask(up, self, mode), up)
        if granted == SYNC:
            self.queue_of_source = queue
            self.op.pull_from(queue)
        elif granted == ASYNC:
            self.queue_of_source = queue
            self.accept = ignore
            self.polled = True

    def subscribed(self, up: Subscription) -> None:
        op = self.op
        if op.pulled or op.unasked:
            op.drain()
        else:
            up.request(self.window)

    def on_next(self, item: T, /) -> None:
        self.accept(item)
        op = self.op
        op.dirty = True
        if not LOOK_FIRST or op.token:
            growth = self.growth
            if growth is not None:
                growth.feeder = get_ident()
            op.drain()

    def on_error(self, error: Exception, /) -> None:
        op = self.op
        if op.stopped:
            dropped_late(error, op.origin)
            return
        self.error = error
        self.done = True
        if not op.delay_error:
            op.halted = True
        op.drain()

    def consider_growth(self) -> None:
        """At the beginning of a turn, after one in which the worker took all there was."""
        growth, window = self.growth, self.window
        if growth is None or self.done:
            return
        more = growth.more(window, len(self.queue) >= window - (self.limit - self.left))
        if not more:
            return
        self.window = larger = window + more
        taken = self.limit - self.left
        self.limit = larger - (larger >> 2)
        self.left = self.limit - taken
        self.up.request(more)

    def close(self) -> None:
        if not self.polled:
            self.accept = self.op.discard
        self.growth = None
        super().close()
        if self.queue_of_source is not None:
            try:
                self.queue_of_source.clear()
            except Exception as error:  # RS 3.15
                dropped(error, self.op.origin)
            self.queue_of_source = None


class _Newest(_Boundary[T]):
    """The source of :class:`ObserveLatest`, asked for everything."""

    __slots__ = ()

    def __init__(self, op: ObserveOn[T]) -> None:
        super().__init__(op, UNBOUNDED)
        self.queue = deque(maxlen=1)  # to drop the older item and keep the newer one is one step so
        self.accept = self.queue.append

    def negotiate(self, up: Any) -> None:
        """What the source is ahead is to be dropped, so it is not polled."""

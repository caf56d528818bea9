"""Operators that look at a scheduler's clock. Durations are seconds; each run has one worker and no thread of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar

from rx_core import (
    END,
    Disposable,
    Items,
    MissingBackpressureError,
    PolicyInbox,
    Publisher,
    Run,
    Scheduler,
    Side,
    Source,
    Worker,
    close,
)
from rx_fusion import operator
from rx_ops.coordination._arrivals import Beat, Bell, admitted, giving_back, own_worker

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_END: Any = object()

#: Seconds by which sums of floats may miss the instant a scheduler rang at (0.1 + 0.2 is more than 0.3).
_ROUNDING = 1e-9


class Timed(NamedTuple, Generic[T_co]):
    """An item with a time: when it came (``timestamp``), or how long after the one before (``time_interval``)."""

    value: T_co
    seconds: float


@operator
def interval(run: Run, initial: float, period: float, scheduler: Scheduler) -> Items[int]:
    arrived: deque[int] = deque()
    ticks = count()

    def tick() -> None:
        arrived.append(next(ticks))
        run.poke()  # a tick that nobody wants has to be dealt with too

    worker = own_worker(run, scheduler)
    Beat(worker, initial, period, tick)
    return giving_back(run, worker, _ticking(run, arrived, None))


@operator
def timer(run: Run, seconds: float, scheduler: Scheduler) -> Items[int]:
    arrived: deque[int] = deque()

    def tick() -> None:
        arrived.append(0)
        run.poke()

    worker = own_worker(run, scheduler)
    worker.schedule(tick, seconds)
    return giving_back(run, worker, _ticking(run, arrived, 1))


def _ticking(run: Run, arrived: deque[int], limit: int | None) -> Items[int]:
    left = limit
    while left is None or left:
        if not arrived:
            yield None
            continue
        if not run.demand:
            raise MissingBackpressureError(f"tick {arrived[0]} of a timer came and nobody had requested it")
        tick = arrived.popleft()
        if left is not None:
            left -= 1
            run.poke()  # the end follows and needs no demand
        yield tick


@operator(eager="none")
def delay(run: Run, source: Source[T], seconds: float, delay_error: bool) -> Items[T]:
    """Runs on its worker. What arrived waits with its due time; the end waits behind it."""
    side: Side[T] = Side(run)
    side.start(source)
    return _delayed(run, side, seconds, delay_error)


def _delayed(run: Run, side: Side[T], seconds: float, delay_error: bool) -> Items[T]:
    worker = run.worker
    assert worker is not None  # made with scheduler=...
    waiting: deque[tuple[float, Any]] = deque()
    failure: Exception | None = None
    reading = True
    try:
        while True:
            moved = False
            if reading and (not waiting or len(waiting) < run.demand or side.urgent):
                try:
                    item = side.poll()
                except Exception as error:
                    if not delay_error:
                        raise
                    failure, item = error, END
                if item is not None:
                    moved = True
                    reading = item is not END
                    waiting.append((worker.now() + seconds, item))
                    if seconds > 0:
                        worker.schedule(run.poke, seconds)
            if waiting and waiting[0][0] <= worker.now() + _ROUNDING:
                if waiting[0][1] is END:
                    if failure is not None:
                        raise failure
                    return
                if run.demand:
                    item = waiting.popleft()[1]
                    if waiting and waiting[0][1] is END:
                        run.poke()  # its alarm may have rung already
                    yield item
                    continue
            if not moved:
                yield None
    finally:
        side.dispose()


@operator
def timeout(run: Run, source: Source[T], seconds: float, scheduler: Scheduler, fallback: Publisher[T] | None) -> Items[T]:
    """The clock starts with the subscription, whether or not something is requested, and again with each item."""
    worker = own_worker(run, scheduler)
    deadline = worker.now() + seconds
    return _timed(run, iter(source), seconds, worker, deadline, worker.schedule(run.poke, seconds), fallback)


def _timed(
    run: Run,
    items: Items[T],
    seconds: float,
    worker: Worker,
    deadline: float,
    alarm: Disposable,
    fallback: Publisher[T] | None,
) -> Items[T]:
    wake: Callable[[], object] = run.poke
    try:
        while True:
            item = next(items, _END)
            if item is _END:
                return
            if item is not None:
                alarm.dispose()
                deadline = worker.now() + seconds
                alarm = worker.schedule(wake, seconds)
                yield item
            elif worker.now() + _ROUNDING < deadline:
                yield None
            else:
                break
    finally:
        run.disown(worker)
        worker.dispose()
        close(items)
    if fallback is None:
        raise TimeoutError(f"timeout({seconds}): no element came within {seconds} seconds")
    yield from run.open(fallback)


@operator(eager="none")
def delay_subscription(run: Run, source: Source[T], seconds: float, scheduler: Scheduler) -> Items[T]:
    bell = Bell(run)
    worker = own_worker(run, scheduler)
    worker.schedule(bell.ring, seconds)
    return _once_rung(giving_back(run, worker, _silence(bell)), source)


def _silence(bell: Bell) -> Items[Any]:
    while not bell:
        yield None


@operator(eager="none")
def delay_subscription_until(run: Run, source: Source[T], other: Publisher[Any]) -> Items[T]:
    bell = Bell(run)
    inbox: PolicyInbox[Any] = PolicyInbox(run, lambda _inbox, _item: bell.ring())
    signals = admitted(run, inbox, other)
    return _once_rung(giving_back(run, inbox, _silence_of(signals, bell)), source)


def _silence_of(signals: Items[Any], bell: Bell) -> Items[Any]:
    """Until its end, or until it rang: what comes after that does not matter."""
    while not bell and next(signals, _END) is None:
        yield None


def _once_rung(silence: Items[Any], source: Source[T]) -> Items[T]:
    yield from silence
    yield from source


@operator
def timestamp(run: Run, source: Source[T], scheduler: Scheduler) -> Items[Timed[T]]:
    """The clock is looked up once per run."""
    worker = own_worker(run, scheduler)
    return giving_back(run, worker, _stamped(iter(source), worker.now))


def _stamped(items: Items[T], now: Callable[[], float]) -> Items[Timed[T]]:
    try:
        for item in items:
            yield None if item is None else Timed(item, now())
    finally:
        close(items)


@operator
def time_interval(run: Run, source: Source[T], scheduler: Scheduler) -> Items[Timed[T]]:
    """The first interval begins with the subscription."""
    worker = own_worker(run, scheduler)
    return giving_back(run, worker, _measured(iter(source), worker.now, worker.now()))


def _measured(items: Items[T], now: Callable[[], float], last: float) -> Items[Timed[T]]:
    try:
        for item in items:
            if item is None:
                yield None
            else:
                before, last = last, now()
                yield Timed(item, last - before)
    finally:
        close(items)

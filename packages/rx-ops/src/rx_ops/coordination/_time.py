"""Operators that look at a scheduler's clock. Durations are seconds; each run has one worker and no thread of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from rx_core import Disposable, Items, MissingBackpressureError, Publisher, Run, Scheduler, Source, Worker, close
from rx_fusion import operator

T = TypeVar("T")

_END: Any = object()

#: Seconds by which sums of floats may miss the instant a scheduler rang at (0.1 + 0.2 is more than 0.3).
_ROUNDING = 1e-9


class _Ticks:
    """Counts on a worker, at a fixed rate: a late tick does not delay the next."""

    __slots__ = ("_next", "_period", "_run", "_start", "_worker", "arrived")

    def __init__(self, run: Run, worker: Worker, initial: float, period: float | None) -> None:
        self._run, self._worker, self._period = run, worker, period
        self.arrived: deque[int] = deque()
        self._next = 0
        self._start = worker.now() + initial
        worker.schedule(self.tick, initial)

    def tick(self) -> None:
        self.arrived.append(self._next)
        self._next += 1
        if self._period is not None:
            due = self._start + self._next * self._period
            self._worker.schedule(self.tick, max(0.0, due - self._worker.now()))
        self._run.poke()  # a tick that nobody wants has to be dealt with too


@operator
def interval(run: Run, initial: float, period: float, scheduler: Scheduler) -> Items[int]:
    return _ticking(run, _Ticks(run, _own_worker(run, scheduler), initial, period), None)


@operator
def timer(run: Run, seconds: float, scheduler: Scheduler) -> Items[int]:
    return _ticking(run, _Ticks(run, _own_worker(run, scheduler), seconds, None), 1)


def _ticking(run: Run, ticks: _Ticks, count: int | None) -> Items[int]:
    arrived = ticks.arrived
    left = count
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


def _own_worker(run: Run, scheduler: Scheduler) -> Worker:
    worker = scheduler.create_worker()
    run.own(worker)
    return worker


@operator
def delay(run: Run, source: Source[T], seconds: float, delay_error: bool) -> Items[T]:
    """Runs on its worker. What arrived waits with its due time; the end waits behind it."""
    worker = run.worker
    assert worker is not None  # made with scheduler=...
    items = iter(source)
    waiting: deque[tuple[float, Any]] = deque()
    failure: Exception | None = None
    reading = True
    try:
        while True:
            moved = False
            if reading and (not waiting or len(waiting) < run.demand):
                try:
                    item = next(items, _END)
                except Exception as error:
                    if not delay_error:
                        raise
                    failure, item = error, _END
                if item is not None:
                    moved = True
                    reading = item is not _END
                    waiting.append((worker.now() + seconds, item))
                    if seconds > 0:
                        worker.schedule(run.poke, seconds)
            if waiting and waiting[0][0] <= worker.now() + _ROUNDING:
                if waiting[0][1] is _END:
                    if failure is not None:
                        raise failure
                    return
                if run.demand:
                    yield waiting.popleft()[1]
                    continue
            if not moved:
                yield None
    finally:
        close(items)


@operator
def timeout(run: Run, source: Source[T], seconds: float, scheduler: Scheduler, fallback: Publisher[T] | None) -> Items[T]:
    """The clock starts with the subscription, whether or not something is requested, and again with each item."""
    worker = _own_worker(run, scheduler)
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
        alarm.dispose()
        close(items)
    if fallback is None:
        raise TimeoutError(f"timeout({seconds}): no element came within {seconds} seconds")
    yield from run.open(fallback)

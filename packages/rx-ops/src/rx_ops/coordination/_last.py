"""The last items of a stream by the clock: only those, or all but those."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from rx_core import Items, Run, Scheduler, Source, close
from rx_fusion import operator
from rx_ops.coordination._arrivals import arrivals, giving_back, own_worker
from rx_ops.coordination._errors import user_error

T = TypeVar("T")

_END: Any = object()

#: Seconds by which differences of floats may miss the length of the time that counts.
_ROUNDING = 1e-9


@operator(eager="none")
def take_last_time(
    run: Run, source: Source[T], seconds: float, size: int | None, scheduler: Scheduler, delay_error: bool
) -> Items[T]:
    """What came within ``seconds`` before the end, at most ``size`` items, given as they are requested."""
    worker = own_worker(run, scheduler)
    held: deque[tuple[float, Any]] = deque(maxlen=size)

    def arrived(item: T) -> None:
        instant = worker.now()
        held.append((instant, item))
        _forget(held, instant - seconds)  # or an endless source would fill the memory

    signals = arrivals(run, source.publisher, arrived)
    return giving_back(run, worker, _the_last(run, signals, held, seconds, worker.now, delay_error))


def _forget(held: deque[tuple[float, Any]], before: float) -> None:
    while held and held[0][0] < before - _ROUNDING:
        held.popleft()


def _the_last(
    run: Run,
    signals: Items[Any],
    held: deque[tuple[float, Any]],
    seconds: float,
    now: Callable[[], float],
    delay_error: bool,
) -> Items[T]:
    failure: Exception | None = None
    try:
        try:
            yield from signals
        except Exception as raised:
            if not delay_error:
                raise
            failure = user_error(raised)
        _forget(held, now() - seconds)
        while held:
            _instant, item = held.popleft()
            if not held:
                run.poke()  # the end follows and needs no demand
            yield item
        if failure is not None:
            raise failure
    finally:
        close(signals)


@operator(eager="none")
def skip_last_time(run: Run, source: Source[T], seconds: float, scheduler: Scheduler, delay_error: bool) -> Items[T]:
    """Each item once it is ``seconds`` old and something happens: another item, the end, a request."""
    worker = own_worker(run, scheduler)
    held: deque[tuple[float, Any]] = deque()
    signals = arrivals(run, source.publisher, lambda item: held.append((worker.now(), item)))
    return giving_back(run, worker, _not_the_last(run, signals, held, seconds, worker.now, delay_error))


def _not_the_last(
    run: Run,
    signals: Items[Any],
    held: deque[tuple[float, Any]],
    seconds: float,
    now: Callable[[], float],
    delay_error: bool,
) -> Items[T]:
    failure: Exception | None = None
    youngest: float | None = None  # of those that are given, once the end is known
    try:
        while True:
            if youngest is None:
                try:
                    ended = next(signals, _END) is _END
                except Exception as raised:
                    if not delay_error:
                        raise
                    failure, ended = user_error(raised), True
                if ended:  # what is not old enough now never will be
                    youngest = now() - seconds
            if held and held[0][0] <= (now() - seconds if youngest is None else youngest) + _ROUNDING:
                if run.demand:
                    yield held.popleft()[1]
                    continue
            elif youngest is not None:
                break
            yield None
        if failure is not None:
            raise failure
    finally:
        close(signals)

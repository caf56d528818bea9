"""buffer by time and by another source: lists of what came between two cuts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from rx_core import Items, Publisher, Run, Scheduler, Source, close
from rx_fusion import operator
from rx_ops.coordination._arrivals import Beat, arrivals, giving_back, own_worker, wanted

T = TypeVar("T")

_END: Any = object()
_CUT: Any = object()


@operator(eager="none")
def buffer_time(run: Run, source: Source[T], seconds: float, size: int | None, scheduler: Scheduler) -> Items[list[T]]:
    events: deque[Any] = deque()  # items and cuts in the order in which they came
    worker = own_worker(run, scheduler)
    Beat(worker, seconds, seconds, _cutting(run, events))
    signals = arrivals(run, source.publisher, _filling(run, events, size))
    lists = _lists(run, signals, None, events, size)
    return giving_back(run, worker, lists)


@operator(eager="none")
def buffer_boundary(run: Run, source: Source[T], boundary: Publisher[Any]) -> Items[list[T]]:
    events: deque[Any] = deque()
    cut = _cutting(run, events)
    cuts = arrivals(run, boundary, lambda _item: cut())  # first: it may cut what the source sends while it is subscribed
    return _lists(run, arrivals(run, source.publisher, events.append), cuts, events, None)


def _cutting(run: Run, events: deque[Any]) -> Callable[[], None]:
    def cut() -> None:
        events.append(_CUT)
        run.poke()

    return cut


def _filling(run: Run, events: deque[Any], size: int | None) -> Callable[[Any], None]:
    if size is None:
        return events.append

    def fill(item: Any) -> None:
        events.append(item)
        run.poke()  # it may be the one that fills a list

    return fill


def _lists(run: Run, signals: Items[Any], cuts: Items[Any] | None, events: deque[Any], size: int | None) -> Items[list[Any]]:
    batch: list[Any] = []
    try:
        while True:
            failure: Exception | None = None
            try:
                ended = next(signals, _END) is _END or (cuts is not None and next(cuts, _END) is _END)
            except Exception as error:
                failure = error
            while events and not run.is_cancelled:
                event = events.popleft()
                if event is not _CUT:
                    batch.append(event)
                if event is _CUT or len(batch) == size:
                    full, batch = batch, []
                    yield wanted(run, "buffer", full)
            if failure is not None:
                raise failure
            if ended:
                break
            yield None
        run.poke()  # the end follows and needs no demand
        yield wanted(run, "buffer", batch)
    finally:
        close(signals)
        close(cuts)

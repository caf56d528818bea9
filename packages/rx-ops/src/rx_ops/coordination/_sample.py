"""sample: the newest item, whenever a clock or another source says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rx_core import Items, Publisher, Run, Scheduler, Source, close
from rx_fusion import operator
from rx_ops.coordination._arrivals import Beat, Bell, Newest, arrivals, giving_back, own_worker, wanted

T = TypeVar("T")

_END: Any = object()


@operator(eager="none")
def sample(
    run: Run, source: Source[T], seconds: float, scheduler: Scheduler, emit_last: bool, on_drop: Callable[[T], object] | None
) -> Items[T]:
    bell = Bell(run)
    worker = own_worker(run, scheduler)
    Beat(worker, seconds, seconds, bell.ring)
    newest = Newest("sample", on_drop)
    signals = arrivals(run, source.publisher, newest.put)
    made = _sampled(run, signals, None, newest, bell, emit_last)
    return giving_back(run, worker, made)


@operator(eager="none")
def sample_by(
    run: Run, source: Source[T], sampler: Publisher[Any], emit_last: bool, on_drop: Callable[[T], object] | None
) -> Items[T]:
    bell = Bell(run)
    newest = Newest("sample", on_drop)
    beats = arrivals(run, sampler, bell.ring)  # first: what the source sends while it is subscribed may be sampled
    return _sampled(run, arrivals(run, source.publisher, newest.put), beats, newest, bell, emit_last)


def _sampled(run: Run, signals: Items[Any], beats: Items[Any] | None, newest: Newest[T], bell: Bell, emit_last: bool) -> Items[T]:
    try:
        while next(signals, _END) is None and (beats is None or next(beats, _END) is None):
            item = newest.take() if bell.answer() else None
            if item is None:
                yield None
            else:
                yield wanted(run, "sample", item)
        last = newest.take() if emit_last or bell else None
        if last is not None:
            run.poke()  # the end follows and needs no demand
            yield wanted(run, "sample", last)
    finally:
        close(signals)
        close(beats)

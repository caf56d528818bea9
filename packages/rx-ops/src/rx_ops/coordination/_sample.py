"""sample: the newest item, whenever a clock or another source says so."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from rx_core import Items, Publisher, Run, Scheduler, Source, close
from rx_fusion import operator
from rx_ops.coordination._arrivals import Beat, Newest, arrivals, giving_back, own_worker, wanted

T = TypeVar("T")

_END: Any = object()


class _Samples(Generic[T]):
    """What was newest each time it was asked for: taken there and then, given away when the run gets to it."""

    __slots__ = ("_run", "due", "newest")

    def __init__(self, run: Run, on_drop: Callable[[T], object] | None) -> None:
        self._run = run
        self.newest: Newest[T] = Newest("sample", on_drop)
        self.due: deque[T] = deque()

    def take(self, _beat: object = None, /) -> None:
        """On the thread of the clock, or of the sampler."""
        item = self.newest.take()
        if item is not None:
            self.due.append(item)
            self._run.poke()  # one that nobody wants has to be dealt with too

    def give(self, the_last: bool = False) -> T:
        item = self.due.popleft()
        if self.due or the_last:
            self._run.poke()  # the next one needs no demand, if nobody wants it, nor does the end
        return wanted(self._run, "sample", item)


@operator(eager="none")
def sample(
    run: Run, source: Source[T], seconds: float, scheduler: Scheduler, emit_last: bool, on_drop: Callable[[T], object] | None
) -> Items[T]:
    samples: _Samples[T] = _Samples(run, on_drop)
    worker = own_worker(run, scheduler)
    Beat(worker, seconds, seconds, samples.take)
    signals = arrivals(run, source.publisher, samples.newest.put)
    made = _sampled(signals, None, samples, emit_last)
    return giving_back(run, worker, made)


@operator(eager="none")
def sample_by(
    run: Run, source: Source[T], sampler: Publisher[Any], emit_last: bool, on_drop: Callable[[T], object] | None
) -> Items[T]:
    samples: _Samples[T] = _Samples(run, on_drop)
    beats = arrivals(run, sampler, samples.take)  # first: what the source sends while it is subscribed may be sampled
    return _sampled(arrivals(run, source.publisher, samples.newest.put), beats, samples, emit_last)


def _sampled(signals: Items[Any], beats: Items[Any] | None, samples: _Samples[T], emit_last: bool) -> Items[T]:
    due = samples.due
    try:
        while next(signals, _END) is None and (beats is None or next(beats, _END) is None):
            if due:
                yield samples.give()
            else:
                yield None
        if emit_last:
            samples.take()
        while due:
            yield samples.give(the_last=True)
    finally:
        close(signals)
        close(beats)

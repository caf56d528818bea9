"""The text that Prometheus reads (exposition format 0.0.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Final

from rx_metrics._measuring import metrics, queued
from rx_metrics._meter import Histogram, StreamMetrics

_COUNTERS: Final[tuple[tuple[str, str, Callable[[StreamMetrics], int]], ...]] = (
    ("rx_runs_total", "Subscriptions.", lambda stream: stream.runs),
    ("rx_items_total", "Items that passed.", lambda stream: stream.items),
    ("rx_requested_items_total", "Items that subscribers requested, without those that want everything.", lambda s: s.requested),
    ("rx_unbounded_requests_total", "Requests for everything.", lambda stream: stream.unbounded),
)
_TIMES: Final[tuple[tuple[str, str, Callable[[StreamMetrics], Histogram]], ...]] = (
    ("rx_run_duration_seconds", "From a subscription to its end.", lambda stream: stream.duration),
    ("rx_first_item_seconds", "To the first item of a run.", lambda stream: stream.first_item),
    ("rx_item_interval_seconds", "From one item to the next.", lambda stream: stream.interval),
)


def prometheus_text() -> str:
    """All metrics in Prometheus' text format, to be returned by an endpoint as ``text/plain; version=0.0.4``."""
    read = list(metrics().values())
    return "".join(f"{line}\n" for line in _lines(read))


def _lines(read: list[StreamMetrics]) -> Iterator[str]:
    for name, said, count_of in _COUNTERS:
        yield from _head(name, said, "counter")
        for stream in read:
            yield f"{name}{_labels(stream)} {count_of(stream)}"
    yield from _head("rx_ended_runs_total", "Runs that have ended, by how.", "counter")
    for stream in read:
        yield f"rx_ended_runs_total{_labels(stream, outcome='completed')} {stream.completed}"
        yield f"rx_ended_runs_total{_labels(stream, outcome='cancelled')} {stream.cancelled}"
        for error, times in sorted(stream.failed.items()):
            yield f"rx_ended_runs_total{_labels(stream, outcome='failed', error=error)} {times}"
    yield from _head("rx_live_runs", "Runs that have not ended.", "gauge")
    for stream in read:
        yield f"rx_live_runs{_labels(stream)} {stream.live}"
    yield from _head("rx_queued_items", "Items that wait in queues of live runs.", "gauge")
    for stream, waiting in zip(read, map(queued().get, (stream.name for stream in read)), strict=True):
        yield f"rx_queued_items{_labels(stream)} {waiting or 0}"
    for name, said, times_of in _TIMES:
        yield from _head(name, said, "histogram")
        for stream in read:
            taken = times_of(stream)
            for bound, below in zip((*map(repr, taken.bounds), "+Inf"), accumulate(taken.counts), strict=True):
                yield f"{name}_bucket{_labels(stream, le=bound)} {below}"
            yield f"{name}_sum{_labels(stream)} {taken.total!r}"
            yield f"{name}_count{_labels(stream)} {taken.count}"


def _head(name: str, said: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} {said}"
    yield f"# TYPE {name} {kind}"


def _labels(stream: StreamMetrics, **more: str) -> str:
    labels = {"stream": stream.name, **more}
    return "{" + ",".join(f'{label}="{_escaped(value)}"' for label, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')

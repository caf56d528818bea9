"""The same numbers as instruments of OpenTelemetry, which calls back when it collects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from rx_metrics._measuring import metrics, queued, told_of_ends

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Meter, Observation

    from rx_metrics._meter import Histogram, StreamMetrics


def export_to(meter: Meter, /) -> None:
    """Make instruments of ``meter``: counters of runs, ended runs, items and requests, gauges of live runs and queued items, a
    histogram of durations, counts and sums of the other times. Each has the attribute ``stream``. Once in a process: they stay.

    Raises ImportError without ``opentelemetry-api`` (``pip install rx-metrics[opentelemetry]``).
    """
    from opentelemetry.metrics import Observation as Observed

    def each(number: Callable[[StreamMetrics], float]) -> Callable[[CallbackOptions], Iterable[Observation]]:
        return lambda _options: [Observed(number(read), {"stream": name}) for name, read in metrics().items()]

    def ended(_options: CallbackOptions) -> Iterable[Observation]:
        for name, read in metrics().items():
            yield Observed(read.completed, {"stream": name, "outcome": "completed"})
            yield Observed(read.cancelled, {"stream": name, "outcome": "cancelled"})
            for error, times in read.failed.items():
                yield Observed(times, {"stream": name, "outcome": "failed", "error.type": error})

    def waiting(_options: CallbackOptions) -> Iterable[Observation]:
        return [Observed(items, {"stream": name}) for name, items in queued().items()]

    meter.create_observable_counter("rx.runs", [each(lambda read: read.runs)], "{run}", "Subscriptions.")
    meter.create_observable_counter("rx.runs.ended", [ended], "{run}", "Runs that have ended, by how.")
    meter.create_observable_counter("rx.items", [each(lambda read: read.items)], "{item}", "Items that passed.")
    meter.create_observable_counter(
        "rx.items.requested", [each(lambda read: read.requested)], "{item}", "Items requested, without requests for everything."
    )
    meter.create_observable_gauge("rx.runs.live", [each(lambda read: read.live)], "{run}", "Runs that have not ended.")
    meter.create_observable_gauge("rx.items.queued", [waiting], "{item}", "Items that wait in queues of live runs.")
    for name, said, times in _TIMES:
        meter.create_observable_counter(f"{name}.count", [each(_count_of(times))], "1", f"{said}: how often.")
        meter.create_observable_counter(f"{name}.sum", [each(_sum_of(times))], "s", f"{said}: all of it.")
    durations = meter.create_histogram("rx.run.duration", "s", "From a subscription to its end.")
    told_of_ends.append(lambda name, outcome, seconds: durations.record(seconds, {"stream": name, "outcome": outcome}))


_TIMES: Final[tuple[tuple[str, str, Callable[[StreamMetrics], Histogram]], ...]] = (
    ("rx.item.first", "To the first item of a run", lambda read: read.first_item),
    ("rx.item.interval", "From one item to the next", lambda read: read.interval),
)


def _count_of(times: Callable[[StreamMetrics], Histogram]) -> Callable[[StreamMetrics], float]:
    return lambda read: times(read).count


def _sum_of(times: Callable[[StreamMetrics], Histogram]) -> Callable[[StreamMetrics], float]:
    return lambda read: times(read).total

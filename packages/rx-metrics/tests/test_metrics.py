"""What is measured of named streams, and how it is handed on."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

import rx_metrics
from rx_core import UNBOUNDED
from rx_metrics import Histogram, StreamMetrics
from rx_metrics._meter import BOUNDS, Items, Meter
from rx_ops import Completable, Flowable, Maybe, Observable, PublishProcessor, Single
from rx_testing import TestSubscriber


@pytest.fixture(autouse=True)
def measuring() -> Iterator[None]:
    rx_metrics.start()
    yield
    rx_metrics.stop()


def read(name: str) -> StreamMetrics:
    return rx_metrics.metrics()[name]


def outcomes(name: str) -> tuple[int, int, int, dict[str, int], int]:
    found = read(name)
    return found.runs, found.completed, found.cancelled, found.failed, found.items


def test_items_and_ends_of_a_pushed_and_a_pulled_run_are_counted() -> None:
    stream = Flowable.range(200).filter(lambda n: n % 2 == 0).named("pushed and pulled")
    stream.subscribe(lambda _: None)
    assert len(list(stream)) == 100
    assert len(stream.to_list().blocking_get()) == 100
    assert outcomes("pushed and pulled") == (3, 3, 0, {}, 300)


def test_a_failure_is_counted_by_its_type() -> None:
    stream = Flowable.of(1, 0).map(lambda n: 1 // n).named("failing")
    stream.subscribe(lambda _: None, lambda _: None)
    with pytest.raises(ZeroDivisionError):
        list(stream)
    assert outcomes("failing") == (2, 0, 0, {"ZeroDivisionError": 2}, 2)


def test_a_run_may_be_collected_while_its_numbers_are_read() -> None:
    """The garbage collector runs in the middle of anything, and runs finalizers: one that took the lock of the meter would wait
    for its own thread."""
    meter = Meter("collected")
    items: list[Items] = [meter.passing()]
    items[0].left = 0
    items[0].look()
    items[0].left = 1  # one more item came, of which the meter was not told

    def let_go() -> None:
        with meter._lock:
            items.clear()

    thread = threading.Thread(target=let_go, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert meter.read().items == 2
    assert meter.read().items == 2


def test_a_cancel_is_counted_as_one() -> None:
    subject = PublishProcessor[int]()
    handle = subject.named("cancelled").subscribe(lambda _: None)
    subject.on_next(1)
    assert read("cancelled").live == 1
    handle.dispose()
    handle.dispose()
    assert outcomes("cancelled") == (1, 0, 1, {}, 1)
    for _ in Flowable.range(1000).named("left"):
        break
    assert outcomes("left")[:4] == (1, 0, 1, {})


@pytest.mark.parametrize(
    ("name", "run", "items"),
    [
        ("observable", lambda name: Observable.range(3).named(name).subscribe(lambda _: None), 3),
        ("single", lambda name: Single.just(1).named(name).blocking_get(), 1),
        ("single pushed", lambda name: Single.just(1).named(name).subscribe(lambda _: None), 1),
        ("hidden single", lambda name: Single.just(1).hide().named(name).blocking_get(), 1),
        ("maybe", lambda name: Maybe.just(1).named(name).blocking_get(), 1),
        ("empty", lambda name: Maybe.empty().named(name).blocking_get(), 0),
        ("completable", lambda name: Completable.complete().named(name).blocking_await(), 0),
    ],
)
def test_the_other_types_complete(name: str, run: Callable[[str], object], items: int) -> None:
    run(name)
    assert outcomes(name) == (1, 1, 0, {}, items)


def test_requests_are_summed_and_those_for_everything_are_counted() -> None:
    subscriber = TestSubscriber[int](request=3)
    stream = Flowable.range(10).hide().named("asked")
    stream.subscribe(subscriber)
    subscriber.request(4)
    stream.subscribe(lambda _: None)
    assert (read("asked").requested, read("asked").unbounded, read("asked").items) == (7, 1, 17)
    subscriber.request(UNBOUNDED)
    assert read("asked").unbounded == 2


def test_the_items_of_a_run_under_way_are_counted() -> None:
    subject = PublishProcessor[int]()
    handle = subject.named("under way").subscribe(lambda _: None)
    for item in range(1000):
        subject.on_next(item)
        assert read("under way").items == item + 1
    handle.dispose()
    assert read("under way").items == 1000


def test_an_operator_without_a_name_is_left_alone() -> None:
    stream = Flowable.range(3).map(str)
    assert repr(stream) == "range(3).map(str)"


def test_streams_of_one_name_are_counted_together_and_of_two_names_apart() -> None:
    inner = Flowable.range(4).flat_map(lambda n: Flowable.range(n).named("inner")).named("outer")
    inner.subscribe(lambda _: None)
    assert (read("inner").runs, read("inner").items) == (4, 6)
    assert (read("outer").runs, read("outer").items) == (1, 6)


def test_what_is_assembled_when_it_is_stopped_is_not_measured() -> None:
    rx_metrics.stop()
    rx_metrics.stop()
    list(Flowable.range(3).named("stopped"))
    assert "stopped" not in rx_metrics.metrics()


def test_every_item_of_threads_is_counted() -> None:
    stream = Flowable.range(1000).named("threads")
    threads = [threading.Thread(target=lambda: stream.subscribe(lambda _: None)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert outcomes("threads") == (4, 4, 0, {}, 4000)


def test_items_that_wait_are_found_by_name() -> None:
    subject = PublishProcessor[int]()
    subscriber = TestSubscriber[int](request=1)
    subject.on_backpressure_buffer().named("waiting").subscribe(subscriber)
    for item in range(5):
        subject.on_next(item)
    assert rx_metrics.queued()["waiting"] == 4
    subscriber.cancel()
    assert rx_metrics.queued()["waiting"] == 0


def test_an_error_keeps_its_type_and_says_where_it_came_from() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        list(Flowable.of(0).map(lambda n: 1 // n).named("noted"))
    assert any("map(<lambda" in note for note in caught.value.__notes__)


# -- times ---------------------------------------------------------------------------------------------------------------


def test_a_histogram_counts_up_to_each_bound() -> None:
    histogram = Histogram()
    for seconds in (0.0, 1e-6, 0.3, 100.0):
        histogram.add(seconds)
    histogram.add(0.3, 2)
    assert histogram.counts[0] == 2
    assert histogram.counts[BOUNDS.index(0.5)] == 3
    assert histogram.counts[-1] == 1
    assert histogram.count == 6
    assert histogram.mean == pytest.approx(100.9 / 6, rel=1e-6)
    assert Histogram().mean is None


def test_items_of_a_slow_stream_are_timed_one_by_one_and_of_a_quick_one_together(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("rx_metrics._meter.perf_counter", lambda: now)

    def pass_items(meter: Meter, count: int, seconds: float) -> None:
        nonlocal now
        items = meter.passing()
        for _ in range(count):
            now += seconds
            items.left -= 1
            if not items.left:
                items.look()

    slow, quick = Meter("slow"), Meter("quick")
    pass_items(slow, 10, 0.02)
    pass_items(quick, 200, 1e-5)
    assert (slow.read().items, slow.read().first_item.count, slow.read().interval.count) == (10, 1, 9)
    assert slow.read().interval.mean == pytest.approx(0.02)
    assert quick.read().items == 200
    assert quick.read().interval.mean == pytest.approx(1e-5)
    assert quick.read().interval.count < 200


def test_the_rate_is_of_two_readings_of_one_stream() -> None:
    earlier = Meter("rate").read()
    meter = Meter("rate")
    meter.rest(30)
    later = meter.read()
    assert later.rate_since(earlier) == pytest.approx(30 / (later.at - earlier.at))
    with pytest.raises(ValueError, match="a reading of 'rate' from before is needed, got one of 'other'"):
        later.rate_since(Meter("other").read())


# -- handed on -----------------------------------------------------------------------------------------------------------


def test_prometheus_reads_counters_gauges_and_histograms() -> None:
    Flowable.of(1, 0).map(lambda n: 1 // n).named('with "quotes"').subscribe(lambda _: None, lambda _: None)
    lines = rx_metrics.prometheus_text().splitlines()
    stream = 'stream="with \\"quotes\\""'
    assert "# TYPE rx_items_total counter" in lines
    assert f"rx_items_total{{{stream}}} 1" in lines
    assert f'rx_ended_runs_total{{{stream},outcome="failed",error="ZeroDivisionError"}} 1' in lines
    assert f"rx_live_runs{{{stream}}} 0" in lines
    assert f'rx_run_duration_seconds_bucket{{{stream},le="+Inf"}} 1' in lines
    assert f"rx_run_duration_seconds_count{{{stream}}} 1" in lines
    assert rx_metrics.prometheus_text().endswith("\n")


def test_opentelemetry_collects_the_same_numbers() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    rx_metrics.export_to(provider.get_meter("tests"))
    Flowable.range(7).named("exported").subscribe(lambda _: None)
    Flowable.error(OSError()).named("exported").subscribe(lambda _: None, lambda _: None)
    found: dict[tuple[Any, ...], Any] = {}
    data = reader.get_metrics_data()
    assert data is not None
    for metric in data.resource_metrics[0].scope_metrics[0].metrics:
        for point in metric.data.data_points:
            attributes = dict(point.attributes or {})
            if attributes.pop("stream") == "exported":
                found[(metric.name, *sorted(attributes.items()))] = point
    provider.shutdown()
    assert found["rx.runs",].value == 2
    assert found["rx.items",].value == 7
    assert found["rx.runs.live",].value == 0
    assert found["rx.runs.ended", ("error.type", "OSError"), ("outcome", "failed")].value == 1
    assert found["rx.run.duration", ("outcome", "completed")].count == 1
    assert found["rx.item.first.count",].value == 1
    assert found["rx.items.queued",].value == 0


@pytest.mark.parametrize(("said", "measured"), [("on", "['here']"), ("off", "[]")])
def test_the_environment_starts_it(said: str, measured: str) -> None:
    program = (
        "import rx_core, rx_metrics\nfrom rx_ops import Flowable\nrx_core.manager().load_entry_points()\n"
        "list(Flowable.range(3).named('here'))\nprint(list(rx_metrics.metrics()))"
    )
    environment = {**os.environ, "RX_METRICS": said}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == measured

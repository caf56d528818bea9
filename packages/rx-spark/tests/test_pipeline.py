"""Pipelines over Spark sources, against the same pipelines over local ones."""

from __future__ import annotations

import operator
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from standalone import eventually

import rx_spark
from rx_core import WorkerInterruptedError
from rx_fusion import fusion_enabled, fusion_off
from rx_ops import Flowable
from rx_spark._jobs import _inputs
from rx_spark._session._session import engine
from rx_spark._transport._credits import WINDOW
from rx_spark._transport._wire import CHUNK
from rx_testing import TestSubscriber

if TYPE_CHECKING:
    from holding import Held
    from spark_sources import Sources

pytestmark = pytest.mark.spark
needs_fusion = pytest.mark.skipif(not fusion_enabled(), reason="without fusion functions run on the driver")

PATIENCE = 30.0
PARTITIONS = 2
#: What one job may have in the driver's memory: each task's window, and the chunk that is being consumed.
BOUND = (PARTITIONS * WINDOW + 1) * CHUNK

Flow = Flowable[Any]


def double(number: int) -> int:
    return number * 2


def odd(number: int) -> bool:
    return number % 2 == 1


def shown(result: Any) -> list[Any]:
    """What a pipeline gives, whatever its type."""
    if isinstance(result, Flowable):
        return result.blocking_list()
    try:
        found = result.blocking_get()
    except LookupError:
        return []
    return [] if found is None else [found]


SAME_ORDER: list[Callable[[Flow], Any]] = [
    lambda flow: flow,
    lambda flow: flow.filter(odd).map(double),
    lambda flow: flow.map(lambda n: (n, 1)).starmap(operator.sub).filter(bool),
    lambda flow: flow.flat_map_iterable(lambda n: [n] * (n % 3)).map(str),
    lambda flow: flow.map(lambda n: n if n % 2 else str(n)).of_type(str),
    lambda flow: flow.cast(int).map(double),
    lambda flow: flow.filter(odd).count(),
    lambda flow: flow.map(double).sum(),
    lambda flow: flow.sum(0.5),
    lambda flow: flow.map(str).reduce(operator.add).map(len),
    lambda flow: flow.map(lambda n: n * 37 % 101).min(),
    lambda flow: flow.map(lambda n: n * 37 % 101).max(),
    lambda flow: flow.map(lambda n: (n % 5, n)).min(operator.itemgetter(0)),
    lambda flow: flow.map(lambda n: (n % 5, n)).max(operator.itemgetter(0)).map(str),
    lambda flow: flow.map(double).take(7),
    lambda flow: flow.take(0),
    lambda flow: flow.filter(odd).first(-1),
    lambda flow: flow.element_at(2),
    lambda flow: flow.map(double).to_list(),
    lambda flow: flow.to_dict(str),
    lambda flow: flow.map(double).scan(operator.add).filter(lambda n: n % 3 == 0).map(str),
    lambda flow: flow.reduce(lambda total, n: total + n, 100),
    lambda flow: flow.map(double).take_while(lambda n: n < 50).map(str),
    lambda flow: flow.take(20).skip(3).buffer(4).map(sum),
    lambda flow: flow.map(lambda n: n % 4).distinct(lambda n: n > 1),
    lambda flow: flow.map(lambda n: n % 4).distinct().count(),
    lambda flow: flow.hide().map(double),
    lambda flow: flow.map(double).to_observable().map(str).to_list(),
]
ANY_ORDER: list[Callable[[Flow], Any]] = [
    lambda flow: flow.map(lambda n: n % 11).distinct(),
    lambda flow: flow.map(lambda n: n % 11).distinct().map(double).filter(lambda n: n > 4),
    lambda flow: flow.group_reduce(lambda n: f"r{n % 7}", double, operator.add),
    lambda flow: flow.group_reduce(odd, str, max).starmap(lambda key, value: value if key else -1),
    lambda flow: flow.map(lambda n: n % 11).distinct().group_reduce(odd, lambda n: 1, operator.add),
]


@pytest.mark.parametrize("build", SAME_ORDER)
def test_the_answer_is_the_local_one(spark: Sources, build: Callable[[Flow], Any]) -> None:
    assert shown(build(spark.range(1500))) == shown(build(Flowable.range(1500)))


@pytest.mark.parametrize("build", ANY_ORDER)
def test_after_a_shuffle_the_answer_is_the_local_one_in_any_order(spark: Sources, build: Callable[[Flow], Any]) -> None:
    assert Counter(shown(build(spark.range(1500)))) == Counter(shown(build(Flowable.range(1500))))


def test_no_elements_give_what_they_give_locally(spark: Sources) -> None:
    nothing: list[Callable[[Flow], Any]] = [
        lambda flow: flow.map(double),
        lambda flow: flow.count(),
        lambda flow: flow.sum(0.5),
        lambda flow: flow.reduce(max),
        lambda flow: flow.min(double),
        lambda flow: flow.first(-1),
        lambda flow: flow.distinct(),
        lambda flow: flow.group_reduce(odd, double, max),
    ]
    for build in nothing:
        assert shown(build(spark.range(0))) == shown(build(Flowable.range(0)))


@needs_fusion
@pytest.mark.parametrize("build", [SAME_ORDER[1], SAME_ORDER[6], ANY_ORDER[2]])
def test_without_fusion_everything_behind_the_source_runs_on_the_driver(spark: Sources, build: Callable[[Flow], Any]) -> None:
    here = os.getpid()
    pipeline = build(spark.range(300).filter(lambda n: os.getpid() == here))
    assert Counter(shown(pipeline)) != Counter(shown(build(Flowable.range(300))))
    with fusion_off():
        assert Counter(shown(pipeline)) == Counter(shown(build(Flowable.range(300))))


@needs_fusion
def test_a_pass_is_one_generated_loop_on_the_executor(spark: Sources) -> None:
    def who(_item: int) -> tuple[int, str]:
        return os.getpid(), sys._getframe(1).f_code.co_filename

    (process, code), *_ = spark.range(5).filter(lambda n: n > 1).map(who).blocking_list()
    assert process != os.getpid()
    assert code.startswith("<rx filter·map (pull clean)")


def test_elements_of_an_iterable_and_lines_of_files(spark: Sources, tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("one two\nthree\n" * 50)
    words = ["one", "two", "three"] * 50
    assert spark.text(path).flat_map_iterable(str.split).blocking_list() == words
    assert spark.from_iterable(words).map(str.upper).count().blocking_get() == 150
    assert sorted(spark.text(path, path).flat_map_iterable(str.split).group_reduce(str, len, operator.add)) == [
        ("one", 300),
        ("three", 500),
        ("two", 300),
    ]


def test_each_subscription_is_a_job_of_its_own(spark: Sources) -> None:
    pipeline = spark.from_iterable([1, 2]).map(double)
    assert pipeline.blocking_list() == pipeline.blocking_list() == [2, 4]
    assert spark.stats.jobs == 2
    assert spark.stats.elements == 4


def test_an_iterator_can_be_read_once(spark: Sources) -> None:
    pipeline = spark.from_iterable(iter([1, 2]))
    assert pipeline.blocking_list() == [1, 2]
    with pytest.raises(RuntimeError, match=r"from_iterable\(list\(items\)\)"):
        pipeline.blocking_list()


# --- errors -----------------------------------------------------------------------------------------------------------


class Odd(Exception):
    def __init__(self, number: int) -> None:
        super().__init__(f"{number} is odd")
        self.number = number


def no_odd(number: int) -> int:
    if number % 2:
        raise Odd(number)
    return number


@needs_fusion
@pytest.mark.parametrize(
    ("build", "note"),
    [
        (lambda flow: flow.map(no_odd).map(str), "in map(no_odd) of rx_spark.range(1, 9).map(no_odd).map(str)"),
        (
            lambda flow: flow.distinct().flat_map_iterable(lambda n: [no_odd(n)]),
            "in flat_map_iterable(<lambda",
        ),
        (lambda flow: flow.group_reduce(no_odd, str, operator.add), "in group_reduce(no_odd, str, add) of rx_spark.range(1, 9)."),
        (lambda flow: flow.reduce(lambda a, b: no_odd(b)), "in reduce(<lambda"),
        (lambda flow: flow.min(no_odd), "in min(no_odd) of"),
        (lambda flow: flow.group_by(no_odd).flat_map(lambda g: g.count()), "in group_by(no_odd).count() of"),
        (lambda flow: flow.scan(lambda a, b: no_odd(b)), "in scan(<lambda"),
    ],
)
def test_an_exception_keeps_its_type_and_names_its_operator(spark: Sources, build: Callable[[Flow], Any], note: str) -> None:
    with pytest.raises(Odd) as caught:
        shown(build(spark.range(1, 9)))
    assert caught.value.number % 2
    notes = caught.value.__notes__
    assert sum(each.startswith("in ") for each in notes) == 1
    assert notes[0].startswith(note)


@needs_fusion
def test_an_error_behind_a_shuffle_is_not_blamed_on_the_shuffle(spark: Sources) -> None:
    with pytest.raises(Odd) as caught:
        spark.range(9).map(no_odd).count().blocking_get()
    assert [note for note in caught.value.__notes__ if note.startswith("in ")] == [
        "in map(no_odd) of rx_spark.range(9).map(no_odd).count()"
    ]


@needs_fusion
def test_elements_before_an_error_arrive_and_then_the_error_without_further_demand(spark: Sources) -> None:
    subscriber = TestSubscriber[int](request=3)
    spark.range(0, 5).map(lambda n: n if n < 3 else no_odd(3)).subscribe(subscriber)
    subscriber.await_terminal(PATIENCE).assert_values(0, 1, 2).assert_error(Odd)


def raises_stop(number: int) -> int:
    raise StopIteration(number)


@pytest.mark.parametrize("build", [lambda flow: flow.map(raises_stop), lambda flow: flow.reduce(lambda a, b: raises_stop(b))])
def test_stop_iteration_is_an_error(spark: Sources, build: Callable[[Flow], Any]) -> None:
    flow = build(spark.range(4))
    subscriber = TestSubscriber[int]()
    (flow if isinstance(flow, Flowable) else flow.to_flowable()).subscribe(subscriber)
    subscriber.await_terminal(PATIENCE).assert_no_values().assert_error(StopIteration)
    local = build(Flowable.range(4))
    with pytest.raises((StopIteration, RuntimeError)) as expected:
        shown(local)
    with pytest.raises(expected.type):
        shown(flow)


@needs_fusion
@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda spark: spark.from_iterable([1, None]), "from_iterable produced None"),
        (lambda spark: spark.range(3).map(lambda n: None), "map(<lambda"),
        (lambda spark: spark.range(3).flat_map_iterable(lambda n: [None]), "flat_map_iterable(<lambda"),
        (lambda spark: spark.range(3).group_reduce(str, lambda n: None, max), "group_by(<lambda"),
        (lambda spark: spark.range(3).reduce(lambda a, b: None), "reduce(<lambda"),
    ],
)
def test_none_is_refused(spark: Sources, build: Callable[[Any], Any], text: str) -> None:
    with pytest.raises(TypeError, match=r"RS 2\.13") as caught:
        shown(build(spark))
    assert text in str(caught.value)


@needs_fusion
def test_what_cannot_travel_is_refused_by_subscribing(spark: Sources) -> None:
    guard = threading.Lock()

    def guarded(number: int) -> int:
        with guard:
            return number

    flow = spark.range(3).map(double).filter(guarded).map(str)
    subscriber = TestSubscriber[str](request=0)
    flow.subscribe(subscriber)
    subscriber.assert_error(rx_spark.NotPortableError, match=r"filter\(predicate=.*closure variable 'guard'")
    with pytest.raises(rx_spark.NotPortableError):
        rx_spark.check_portable(Flowable.merge(Flowable.range(2), flow))
    rx_spark.check_portable(spark.range(3).hide().filter(guarded))
    assert spark.range(3).map(double).hide().filter(lambda n: guarded(n) >= 0).blocking_list() == [0, 2, 4]
    assert spark.stats.jobs == 1


def test_a_missing_file_is_named(spark: Sources, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        spark.text(tmp_path / "nowhere.txt").count().blocking_get()


def test_an_iterable_without_end_is_refused(spark: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_inputs, "MOST_BYTES", 200_000)
    with pytest.raises(ValueError, match=r"rx_spark\.text"):
        spark.from_iterable(number for number in count()).blocking_list()


# --- demand -----------------------------------------------------------------------------------------------------------


def test_nothing_happens_before_the_first_request(spark: Sources) -> None:
    subscriber = TestSubscriber[int](request=0)
    spark.range(10).subscribe(subscriber)
    assert spark.stats.jobs == 0
    subscriber.request(10).await_terminal(PATIENCE).assert_value_sequence(range(10)).assert_complete()


def test_one_by_one(spark: Sources) -> None:
    subscriber = TestSubscriber[int](request=1, request_in_on_next=1)
    spark.range(3000).map(double).subscribe(subscriber)
    subscriber.await_terminal(PATIENCE).assert_value_sequence(range(0, 6000, 2)).assert_complete()


def test_an_item_is_here_while_its_task_makes_the_next_one(spark: Sources, held: Callable[[int], Held]) -> None:
    """A chunk begins with one item: the first one does not wait for others."""
    hold = held(1)
    subscriber = TestSubscriber[int]()
    spark.range(3000).map(hold).subscribe(subscriber)
    assert eventually(lambda: bool(hold.reached()), PATIENCE)
    subscriber.await_count(1, PATIENCE).assert_values(0)
    hold.go()
    subscriber.await_terminal(PATIENCE).assert_value_sequence(range(3000)).assert_complete()


def test_demand_decides_how_far_spark_runs(spark: Sources, tmp_path: Path) -> None:
    counter = tmp_path / "computed"

    def counted(number: int) -> int:
        with open(counter, "ab", buffering=0) as file:
            file.write(b".")
        return number

    subscriber = TestSubscriber[int](request=5)
    spark.range(10_000_000).map(counted).subscribe(subscriber)
    subscriber.await_count(5, PATIENCE).assert_values(*range(5))
    settled = -1
    while settled != (settled := counter.stat().st_size):
        threading.Event().wait(0.3)
    assert settled <= BOUND
    subscriber.request(100).await_count(105, PATIENCE).cancel()
    subscriber.assert_value_sequence(range(105)).assert_not_terminated()
    assert spark.stats.max_buffered <= BOUND


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("count", [2_000_000, pytest.param(20_000_000, marks=pytest.mark.nightly)])
def test_millions_of_elements_and_a_slow_consumer_in_flat_memory(spark: Sources, count: int) -> None:
    seen = 0
    sizes = []
    for number in spark.range(count).map(double):
        assert number == seen * 2
        seen += 1
        if seen % (count // 10) == 0:
            sizes.append(resident())
            threading.Event().wait(0.1)  # Spark has time to run ahead as far as it is allowed to
    assert seen == count
    assert spark.stats.max_buffered <= BOUND
    assert spark.stats.spilled == 0
    assert max(sizes) - sizes[0] < 20_000_000


# --- cancelling -------------------------------------------------------------------------------------------------------


def test_leaving_a_loop_cancels_the_job(spark: Sources) -> None:
    for number in spark.range(10_000_000):
        if number == 3:
            break
    deadline = monotonic() + PATIENCE  # leaving returns at once (RS 3.5): a thread of the job that delivers just then closes it
    while spark.stats.running and monotonic() < deadline:
        threading.Event().wait(0.01)
    assert spark.stats.running == 0


@pytest.mark.parametrize("requested", [0, 1, 5000])
def test_cancel_from_another_thread(spark: Sources, requested: int) -> None:
    subscriber = TestSubscriber[int](request=requested)
    spark.range(10_000_000).filter(odd).subscribe(subscriber)
    if requested:
        subscriber.await_count(1, PATIENCE)
    canceller = threading.Thread(target=subscriber.cancel)
    canceller.start()
    canceller.join(1)
    assert not canceller.is_alive()
    subscriber.assert_not_terminated()


@needs_fusion
def test_cancel_while_a_task_computes(spark: Sources, tmp_path: Path) -> None:
    started = tmp_path / "started"

    def slow(number: int) -> int:
        started.touch()
        deadline = monotonic() + 60
        while monotonic() < deadline:
            pass
        return number

    subscriber = TestSubscriber[int]()
    spark.range(10).map(slow).subscribe(subscriber)
    deadline = monotonic() + PATIENCE
    while not started.exists():
        assert monotonic() < deadline
        threading.Event().wait(0.01)
    subscriber.cancel()


def test_cancel_while_the_iterable_is_read(spark: Sources) -> None:
    reading = threading.Event()

    def for_ever() -> Iterator[int]:
        for number in count():
            reading.set()
            threading.Event().wait(0.001)
            yield number

    subscriber = TestSubscriber[int]()
    spark.from_iterable(for_ever()).subscribe(subscriber)
    assert reading.wait(PATIENCE)
    subscriber.cancel()


# --- among other operators --------------------------------------------------------------------------------------------


def test_inside_other_operators(spark: Sources) -> None:
    three = spark.range(3).map(double)
    assert Flowable.concat(three, Flowable.range(2), three).blocking_list() == [0, 2, 4, 0, 1, 0, 2, 4]
    assert sorted(Flowable.merge(three, Flowable.range(2), three)) == [0, 0, 0, 1, 2, 2, 4, 4]
    assert Flowable.zip(three, spark.range(10, 1000), Flowable.range(5)).blocking_list() == [(0, 10, 0), (2, 11, 1), (4, 12, 2)]
    assert sorted(Flowable.range(3).flat_map(lambda n: spark.range(n).map(lambda k: n * 10 + k))) == [10, 20, 21]
    assert three.concat_map(lambda n: Flowable.of(n, n)).take(3).blocking_list() == [0, 0, 2]
    assert three.retry(1).on_error_return(lambda error: -1).blocking_list() == [0, 2, 4]


def test_retry_starts_a_new_job(spark: Sources, tmp_path: Path) -> None:
    flag = tmp_path / "second"

    def once(number: int) -> int:
        if number == 4 and not flag.exists():
            flag.touch()
            raise Odd(number)
        return number

    assert spark.range(6).map(once).retry(1).blocking_list()[-6:] == list(range(6))
    assert spark.stats.jobs == 2


def test_an_exit_in_a_function_on_a_thread_of_the_job_ends_the_stream_and_is_told(
    spark: Sources, caplog: pytest.LogCaptureFixture
) -> None:
    def leave(_item: int) -> int:
        raise SystemExit(3)

    subscriber = TestSubscriber[int]()
    spark.range(10_000_000).scan(operator.add).map(leave).subscribe(subscriber)
    subscriber.await_terminal(PATIENCE).assert_no_values().assert_error(WorkerInterruptedError)
    deadline = monotonic() + PATIENCE
    while "SystemExit ended the stream: 3" not in caplog.text:  # the hook hears of it after the subscriber
        assert monotonic() < deadline
        threading.Event().wait(0.01)


def test_a_consumer_that_raises_ends_the_job(spark: Sources, caplog: pytest.LogCaptureFixture) -> None:
    told = threading.Event()

    def refuse(_item: int) -> None:
        told.set()
        raise Odd(1)

    spark.range(10_000_000).subscribe(refuse)
    assert told.wait(PATIENCE)
    deadline = monotonic() + PATIENCE
    while spark.stats.running and monotonic() < deadline:
        threading.Event().wait(0.01)
    assert any("Odd" in (record.exc_text or str(record.exc_info)) for record in caplog.records)


def test_spark_shows_a_job_as_the_pipeline_that_was_written(spark: Sources) -> None:
    flow = spark.range(10).map(lambda n: n + 1)
    assert flow.to_list().blocking_get() == list(range(1, 11))
    context: Any = engine(spark.config).session.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty()
    store = context._jsc.sc().statusStore()
    jobs = store.jobsList(None)
    shown = [jobs.apply(at).description() for at in range(min(jobs.size(), 20))]
    texts = [each.get() for each in shown if each.isDefined()]
    assert any("rx_spark.range(10).map(<lambda line" in text and "test_pipeline.py:" in text for text in texts), texts

"""Plans on a real, embedded Spark."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import add, itemgetter
from pathlib import Path
from typing import Any

import pytest
from standalone import eventually

from rx_spark._errors import WorkerError
from rx_spark._jobs._job import END
from rx_spark._plans._plan import (
    Count,
    Distinct,
    GroupReduce,
    IterableSource,
    Max,
    Min,
    Pass,
    Plan,
    RangeSource,
    Reduce,
    Source,
    Step,
    Sum,
    Take,
    TextSource,
)
from rx_spark._session._session import engine

pytestmark = pytest.mark.spark

Run = Callable[[Plan], list[Any]]
Start = Callable[[Plan], Any]


def mapped(source: Iterable[Any], mapper: Callable[[Any], Any]) -> Iterator[Any]:
    for item in source:
        yield mapper(item)


def filtered(source: Iterable[Any], predicate: Callable[[Any], object]) -> Iterator[Any]:
    for item in source:
        if predicate(item):
            yield item


def flattened(source: Iterable[Any], mapper: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    for item in source:
        yield from mapper(item)


def map_(mapper: Callable[[Any], Any]) -> Pass:
    return Pass(((mapped, (mapper,)),))


def filter_(predicate: Callable[[Any], object]) -> Pass:
    return Pass(((filtered, (predicate,)),))


def flat_map(mapper: Callable[[Any], Iterable[Any]]) -> Pass:
    return Pass(((flattened, (mapper,)),))


def by_hand(source: Iterable[Any], steps: tuple[Step, ...]) -> list[Any]:
    """The oracle: plain Python."""
    items: Iterable[Any] = source
    for step in steps:
        match step:
            case Pass():
                items = step.to_runner()(items)
            case Distinct():
                items = dict.fromkeys(items)
            case GroupReduce(key, value, reducer):
                groups: dict[Any, Any] = {}
                for item in items:
                    at, new = key(item), value(item)
                    groups[at] = reducer(groups[at], new) if at in groups else new
                items = groups.items()
            case Count():
                items = [len(list(items))]
            case Sum():
                items = [sum(items)]
            case Take(n):
                items = list(items)[:n]
            case Min(key):
                items = [min(every, key=key)] if (every := list(items)) else []
            case Max(key):
                items = [max(every, key=key)] if (every := list(items)) else []
            case Reduce(reducer):
                found: list[Any] = []
                for item in items:
                    found = [reducer(found[0], item)] if found else [item]
                items = found
    return list(items)


DOUBLE_ODD = Pass(((filtered, (lambda item: item % 2,)), (mapped, (lambda item: item * 2,))))
REMAINDERS = GroupReduce(lambda item: f"r{item % 7}", lambda item: item, add)


@pytest.mark.parametrize("count", [0, 1, 3000])
@pytest.mark.parametrize(
    "steps",
    [
        (),
        (DOUBLE_ODD,),
        (map_(str), flat_map(list)),
        (Count(),),
        (DOUBLE_ODD, Sum(), map_(lambda total: -total)),
        (map_(lambda item: (item * 37) % 101), Min()),
        (map_(lambda item: (item % 5, item)), Max(itemgetter(0))),
        (map_(str), Reduce(add)),
        (Take(700),),
        (filter_(lambda item: item % 3), Take(900), map_(lambda item: -item), Take(800)),
    ],
    ids=lambda steps: "-".join(type(step).__name__ for step in steps) or "source",
)
def test_ordered_plans_agree_with_plain_python(run: Run, steps: tuple[Step, ...], count: int) -> None:
    assert run(Plan(RangeSource(0, count), steps)) == by_hand(range(count), steps)


@pytest.mark.parametrize(
    "steps",
    [
        (map_(lambda item: f"word {item % 50}"), Distinct()),
        (REMAINDERS,),
        (REMAINDERS, map_(itemgetter(1)), filter_(lambda total: total % 2), Count()),
        (map_(lambda item: item % 100), Distinct(), map_(lambda item: item % 10), Distinct(), Sum()),
        (map_(lambda item: (None, item % 3)), Distinct()),
    ],
    ids=lambda steps: "-".join(type(step).__name__ for step in steps),
)
def test_shuffled_plans_agree_with_plain_python_but_for_order(run: Run, steps: tuple[Step, ...]) -> None:
    assert Counter(run(Plan(RangeSource(0, 3000), steps))) == Counter(by_hand(range(3000), steps))


def test_elements_of_the_driver_come_back_in_order(run: Run) -> None:
    items = [f"item {number}" for number in range(40_000)]  # more than one round of chunks
    assert run(Plan(IterableSource(items))) == items
    assert run(Plan(IterableSource(iter(items[:5])), (map_(str.upper),))) == [item.upper() for item in items[:5]]
    assert run(Plan(IterableSource(()))) == []


def test_text_files_are_read_in_order(run: Run, tmp_path: Path) -> None:
    paths = []
    for number in range(3):
        path = tmp_path / f"{number}.txt"
        path.write_text("".join(f"{number} ä {line}\n" for line in range(4000)), encoding="utf-8")
        paths.append(str(path))
    expected = [line for path in paths for line in Path(path).read_text(encoding="utf-8").splitlines()]
    assert run(Plan(TextSource(tuple(paths)))) == expected


@dataclass(frozen=True)
class Point:
    """Lives in a test module, which workers may be unable to import."""

    x: int


def test_classes_and_functions_of_test_modules_travel_both_ways(run: Run) -> None:
    points = run(Plan(IterableSource([Point(1), Point(2)]), (map_(lambda point: Point(point.x + offset())), Distinct())))
    assert sorted(points, key=lambda point: point.x) == [Point(11), Point(12)]
    assert all(type(point) is Point for point in points)


def offset() -> int:
    return 10


# --- demand -----------------------------------------------------------------------------------------------------------


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="asks Linux for the memory in use")
def test_ten_million_elements_behind_a_slow_consumer_stay_bounded(start: Start, tmp_path: Path) -> None:
    folder = str(tmp_path)

    def noted(item: int) -> int:
        if item % 1024 == 0:
            Path(folder, str(item)).touch()
        return item

    probe = start(Plan(RangeSource(0, 10_000_000), (map_(noted),)))
    assert probe.take(1) == [0]
    before = resident()
    assert probe.take(20_000) == list(range(1, 20_001))
    assert resident() - before < 20_000_000
    assert probe.job.max_buffered <= 5 * 1024  # two chunks for each of two tasks, and the one being consumed
    probe.job.cancel()
    assert probe.job.close()
    furthest = max(int(name) for name in os.listdir(folder))
    assert furthest < 20_000 + 4 * 8192 + 8 * 1024, "executors ran far ahead of demand"
    assert probe.job.spilled == 0


def test_nothing_is_computed_before_start_and_little_for_one_element(start: Start, tmp_path: Path) -> None:
    folder = str(tmp_path)

    def noted(item: int) -> int:
        Path(folder, str(item)).touch()
        return item

    probe = start(Plan(RangeSource(0, 1_000_000), (map_(noted),)))
    assert probe.take(1) == [0]
    assert probe.job.close()
    assert len(os.listdir(folder)) < 100


def test_poll_many_gives_what_is_there(start: Start) -> None:
    probe = start(Plan(RangeSource(0, 5000)))
    items = [probe.next()]
    while (item := probe.next()) is not END:
        items.append(item)
        items += probe.job.poll_many(100)
    assert items == list(range(5000))
    assert probe.job.poll_many(10) == []
    assert probe.job.poll() is END


def test_two_streams_can_be_read_in_turn(start: Start) -> None:
    """A zip of two jobs on two cores: each holds its tasks while it waits for the other."""
    one, two, three = (start(Plan(RangeSource(0, 30_000))) for _ in range(3))
    for expected in range(30_000):
        assert one.next() == two.next() == three.next() == expected
    assert one.next() is two.next() is three.next() is END


def test_take_stops_the_job(start: Start, spark_config: Any) -> None:
    began = time.monotonic()
    probe = start(Plan(RangeSource(0, 10**12), (Take(5),)))
    assert probe.rest() == [0, 1, 2, 3, 4]
    assert probe.job.close()
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("steps", [(), (map_(lambda item: item % 3000), Distinct())], ids=["ordered", "shuffled"])
def test_a_worker_that_dies_is_replaced_and_nothing_is_lost_or_doubled(
    start: Start, tmp_path: Path, steps: tuple[Step, ...]
) -> None:
    folder = str(tmp_path)

    def deadly(item: int) -> int:
        if item % 10 == 7:
            try:
                os.mkdir(os.path.join(folder, str(item % 3)))  # three times in all
            except FileExistsError:
                pass
            else:
                os._exit(1)
        return item

    items = start(Plan(RangeSource(0, 50_000), (*steps, map_(deadly)))).rest()
    assert len(os.listdir(folder)) == 3
    assert sorted(items) == (list(range(3000)) if steps else list(range(50_000)))
    assert steps or items == list(range(50_000))


# --- cancel -----------------------------------------------------------------------------------------------------------


def test_cancel_stops_a_job_that_waits_for_demand(start: Start, spark_config: Any) -> None:
    probe = start(Plan(RangeSource(0, 10**9)))
    assert probe.take(3) == [0, 1, 2]
    tracker = engine(spark_config).session.sparkContext.statusTracker()
    assert len(tracker.getActiveJobsIds()) == 1
    began = time.monotonic()
    probe.job.cancel()
    assert time.monotonic() - began < 0.2, "cancel must not wait"
    assert probe.job.close()
    assert time.monotonic() - began < 3
    assert eventually(lambda: not tracker.getActiveJobsIds(), 5.0)
    assert probe.job.poll_many(1) == []
    assert probe.job.poll() is END


def test_cancel_stops_a_job_that_is_computing(start: Start, spark_config: Any, tmp_path: Path) -> None:
    flag = str(tmp_path / "running")

    def endless(item: int) -> int:
        open(flag, "w").close()
        while True:
            item += 1

    for step in (map_(endless), GroupReduce(endless, abs, add)):
        probe = start(Plan(RangeSource(0, 10), (step,)))
        deadline = time.monotonic() + 40
        while not os.path.exists(flag) and time.monotonic() < deadline:
            threading.Event().wait(0.01)  # another process's doing: there is nothing to wait for but the file
        os.remove(flag)
        began = time.monotonic()
        assert probe.job.close()
        assert time.monotonic() - began < 3
        assert engine(spark_config).session.sparkContext.statusTracker().getActiveJobsIds() == []


def test_cancel_before_anything_happened(start: Start) -> None:
    probe = start(Plan(RangeSource(0, 100)))
    probe.job.cancel()
    assert probe.job.close()
    assert probe.job.poll() is END


# --- errors -----------------------------------------------------------------------------------------------------------


class Odd(Exception):
    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def test_a_workers_exception_arrives_as_itself_after_the_elements_before_it(start: Start) -> None:
    def mapper(item: int) -> int:
        if item == 2500:
            raise Odd(item)
        return item

    items, error = start(Plan(RangeSource(0, 10_000), (map_(mapper),))).until_error()
    assert items == list(range(2500))
    assert isinstance(error, Odd)
    assert error.number == 2500
    assert "raise Odd(item)" in error.__notes__[0]


@pytest.mark.parametrize("step", [Count(), Distinct(), GroupReduce(str, abs, add), Reduce(add), Take(50)])
def test_errors_before_a_shuffle_arrive_as_themselves(start: Start, step: Step) -> None:
    def mapper(item: int) -> int:
        return item // (item - 7)

    items, error = start(Plan(RangeSource(0, 100), (map_(mapper), step, map_(str)))).until_error()
    assert items == []
    assert isinstance(error, ZeroDivisionError)


def test_errors_after_a_shuffle_arrive_as_themselves(start: Start) -> None:
    plan = Plan(RangeSource(0, 100), (GroupReduce(lambda item: item % 3, abs, add), map_(lambda pair: pair[2])))
    items, error = start(plan).until_error()
    assert items == []
    assert isinstance(error, IndexError)


@pytest.mark.parametrize("kind", [StopIteration, GeneratorExit, SystemExit])
@pytest.mark.parametrize("steps", [(), (Count(),)], ids=["streamed", "shuffled"])
def test_exceptions_that_mean_something_to_python_are_neither_lost_nor_obeyed(
    start: Start, kind: type[BaseException], steps: tuple[Step, ...]
) -> None:
    def mapper(item: int) -> int:
        if item == 5:
            raise kind("odd")
        return item

    items, error = start(Plan(RangeSource(0, 10), (map_(mapper), *steps))).until_error()
    assert items == ([] if steps else [0, 1, 2, 3, 4])
    if kind is StopIteration:
        assert isinstance(error, StopIteration)
        assert error.value == "odd"
    else:
        assert f"{kind.__name__}('odd')" in str(error)


def test_an_exception_that_cannot_be_pickled_is_described(start: Start) -> None:
    def mapper(item: int) -> int:
        raise ValueError(threading.Lock())

    _, error = start(Plan(RangeSource(0, 3), (map_(mapper),))).until_error()
    assert isinstance(error, WorkerError)
    assert error.type_name == "ValueError"


@pytest.mark.parametrize("step", [map_(lambda item: None), Reduce(lambda a, b: None)])
def test_none_is_refused(start: Start, step: Step) -> None:
    items, error = start(Plan(RangeSource(0, 3), (step,))).until_error()
    assert items == []
    assert isinstance(error, TypeError)
    assert "RS 2.13" in str(error)


def test_none_in_the_users_iterable_is_refused(start: Start) -> None:
    _, error = start(Plan(IterableSource([1, None]))).until_error()
    assert "from_iterable produced None" in str(error)


def failing_source() -> Iterator[int]:
    yield 1
    raise Odd(1)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (IterableSource(failing_source()), Odd),
        (TextSource(("/there/is/no/such/file",)), FileNotFoundError),
    ],
)
def test_errors_of_the_source_on_the_driver_arrive_as_themselves(start: Start, source: Source, kind: type[Exception]) -> None:
    items, error = start(Plan(source)).until_error()
    assert items == []
    assert isinstance(error, kind)


def test_bytes_that_are_no_text_name_their_file(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "broken.txt"
    path.write_bytes(b"good\nbad \xff\n")
    items, error = start(Plan(TextSource((str(path),)))).until_error()
    assert items == ["good"]
    assert isinstance(error, UnicodeDecodeError)
    assert "broken.txt" in str(error)


def test_a_session_with_another_master_is_refused(spark_config: Any) -> None:
    from rx_spark._session._session import SparkConfig

    with pytest.raises(RuntimeError, match="Spark allows one per process"):
        engine(SparkConfig("spark://elsewhere:7077"))
    assert engine(SparkConfig()).session is engine(spark_config).session

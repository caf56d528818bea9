"""group_by and a reduction of each group, as a shuffle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from operator import add
from typing import TYPE_CHECKING, Any

import pytest

from rx_fusion import fusion_enabled
from rx_fusion.symbols import it
from rx_ops import Flowable, GroupedFlowable, aggregates
from rx_testing import TestSubscriber

if TYPE_CHECKING:
    from spark_sources import Sources

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not fusion_enabled(), reason="without fusion nothing is moved to Spark"),
]

Group = GroupedFlowable[Any, Any]
Flow = Flowable[Any]


def remainder(number: int) -> int:
    return number % 7


def unhashable(number: int) -> Any:
    return [number]


def pair(key: int, value: object) -> tuple[int, object]:
    return key, value


REDUCED: dict[str, Callable[[Group], Any]] = {
    "reduce": lambda group: group.reduce(lambda a, b: a + b).map(lambda total: (group.key, total)),
    "reduce with what was made inside": lambda group: group.reduce(partial(max)).map(partial(pair, group.key)),
    "count": lambda group: group.count().map(lambda n: (group.key, n)),
    "sum": lambda group: group.sum(),
    "sum from a start": lambda group: group.sum(100).map(partial(pair, group.key)),
    "min": lambda group: group.min(),
    "max": lambda group: group.max().map(str).filter(lambda text: "9" in text),
    "several stages": lambda group: group.count().map(lambda n: n * 2).to_flowable().flat_map_iterable(range),
}
LEFT: dict[str, tuple[Callable[[Group], Any], str]] = {
    "looks at the key": (lambda group: group.count() if group.key == 3 else group.sum(), "looks at the key itself"),
    "prints the key": (lambda group: group.count().map(f"{group.key}:{{}}".format), "looks at the key itself"),
    "hides that it looked": (lambda group: group.max() if hash_of(group.key) else group.count(), "looks at the key or the items"),
    "keeps all": (lambda group: group.to_list().map(sorted).map(str), "to_list(), which is no shuffle"),
    "needs order": (lambda group: group.min(lambda n: n % 2), "begins with min(<lambda line"),
    "has a seed": (lambda group: group.reduce(add, 5), "begins with reduce(add, 5), which"),
    "reduces later": (lambda group: group.skip(1).reduce(max), "skip(1), which is"),
    "uses the group twice": (
        lambda group: Flowable.zip(group.count().to_flowable(), Flowable.just(0).map(partial(pair, group.key))),
        "does not begin with a reduction",
    ),
    "is no pipeline": (lambda group: Flowable.just(1), "does not begin with a reduction"),
}


def hash_of(key: object) -> int:
    try:
        return hash(key)
    except Exception:
        return -1


@pytest.mark.parametrize("mapper", REDUCED.values(), ids=REDUCED.keys())
def test_a_reduction_of_each_group_is_a_shuffle(spark: Sources, mapper: Callable[[Group], Any]) -> None:
    def build(flow: Flow) -> Flow:
        return flow.map(lambda n: n * 3).group_by(remainder).flat_map(mapper)

    expected = Counter(build(Flowable.range(900)))
    assert "shuffle: group_by(remainder)." in build(spark.range(900)).explain()
    assert Counter(build(spark.range(900))) == expected
    assert spark.stats.elements == 7


@pytest.mark.parametrize(("mapper", "why"), LEFT.values(), ids=LEFT.keys())
def test_any_other_mapper_is_left_alone(spark: Sources, mapper: Callable[[Group], Any], why: str) -> None:
    def build(flow: Flow) -> Flow:
        return flow.filter(bool).group_by(remainder).flat_map(mapper)

    plan = build(spark.range(90)).explain()
    assert why in plan
    assert "driver from here: group_by(remainder), because flat_map(" in plan
    assert Counter(map(str, build(spark.range(90)))) == Counter(map(str, build(Flowable.range(90))))


def test_concat_map_and_no_groups(spark: Sources) -> None:
    flow = spark.range(70).group_by(remainder)
    assert Counter(flow.concat_map(lambda g: g.count().map(partial(pair, g.key)))) == Counter((key, 10) for key in range(7))
    assert spark.range(0).group_by(remainder).flat_map(lambda g: g.sum()).blocking_list() == []


def test_groups_with_values(spark: Sources) -> None:
    def build(flow: Flow, mapper: Callable[[Group], Any]) -> Counter[Any]:
        return Counter(flow.group_by(remainder, str).flat_map(mapper))

    for mapper in (lambda g: g.count(), lambda g: g.reduce(max), lambda g: g.min()):
        assert build(spark.range(100), mapper) == build(Flowable.range(100), mapper)


def test_more_groups_than_run_at_a_time(spark: Sources) -> None:
    counted = spark.range(3000).group_by(lambda n: n % 1000).flat_map(lambda g: g.count(), max_concurrency=4)
    assert counted.blocking_list() == [3] * 1000


def test_stages_between_and_behind(spark: Sources) -> None:
    between = spark.range(50).group_by(remainder).filter(lambda g: g.key > 4).flat_map(lambda g: g.count())
    assert "has operators before the groups are mapped" in between.explain()
    assert sorted(between) == [7, 7]

    def behind(flow: Flow) -> Counter[Any]:
        return Counter(flow.group_by(remainder).flat_map(lambda g: g.sum()).filter(lambda n: n % 2 == 0))

    assert behind(spark.range(50)) == behind(Flowable.range(50))
    again = spark.range(50).group_by(remainder).flat_map(lambda g: g.count()).group_by(str).flat_map(lambda g: g.count())
    assert sorted(again) == [1, 6]


def test_the_mapper_is_called_for_the_plan_and_for_each_group(spark: Sources) -> None:
    calls = []

    def mapper(group: Group) -> Any:
        calls.append(group)
        return group.count()

    flow = spark.range(50).group_by(remainder).flat_map(mapper)
    assert len(flow.blocking_list()) == 7
    assert len(calls) == 1 + 7
    calls.clear()
    subscriber = TestSubscriber[int]()
    flow.subscribe(subscriber)
    subscriber.await_terminal(30).assert_complete().assert_value_count(7)
    assert len(calls) == 7  # the plan is kept with the pipeline


def test_a_mapper_that_changes_its_mind_is_told(spark: Sources) -> None:
    turns = iter([True, *[False] * 100])
    flow = spark.range(50).group_by(remainder).flat_map(lambda g: g.count() if next(turns) else g.sum())
    with pytest.raises(RuntimeError, match=r"\.hide\(\)\.group_by\(remainder\)"):
        flow.blocking_list()


def test_keys_that_cannot_be_keys_are_refused(spark: Sources) -> None:
    with pytest.raises(TypeError, match="unhashable"):
        spark.range(5).group_by(unhashable).flat_map(lambda g: g.count()).blocking_list()


@pytest.mark.parametrize(
    "mapper",
    [
        lambda group: group.map(lambda n: n * 2).sum().map(lambda total: (group.key, total)),
        lambda group: group.filter(lambda n: n > 50).count().map(lambda count: (group.key, count)),
        lambda group: group.map(lambda n: n % 7).filter(lambda n: n > 3).map(lambda n: n + 1).sum().map(lambda s: (group.key, s)),
        lambda group: group.map(str).reduce(max).map(lambda longest: (group.key, longest)),
        lambda group: group.map(it % 5).max().map(lambda largest: (group.key, largest)),
        lambda group: group.filter(lambda n: n > 1000).sum().map(lambda total: (group.key, total)),
    ],
    ids=["map, sum", "filter, count", "map, filter, map, sum", "map, reduce", "map, max", "nothing left"],
)
def test_what_a_group_makes_of_its_items_before_it_reduces_them_runs_on_executors(mapper: Any, spark: Sources) -> None:
    local = sorted(Flowable.range(0, 100).group_by(lambda n: n % 3).flat_map(mapper).to_list().blocking_get())
    flow = spark.range(100).group_by(lambda n: n % 3).flat_map(mapper)
    assert "shuffle: group_by(" in flow.explain()
    assert sorted(flow.to_list().blocking_get()) == local


def test_a_filter_before_a_reduction_that_may_have_nothing_stays_on_the_driver(spark: Sources) -> None:
    flow = spark.range(10).group_by(lambda n: n % 3).flat_map(lambda group: group.filter(lambda n: n > 5).reduce(max))
    assert "which is no shuffle behind a filter" in flow.explain()
    assert sorted(flow.to_list().blocking_get()) == [7, 8, 9]


def test_an_error_before_the_reduction_says_where_it_was(spark: Sources) -> None:
    flow = spark.range(10).group_by(lambda n: n % 3).flat_map(lambda group: group.map(lambda n: 1 // (n - 7)).sum())
    with pytest.raises(ZeroDivisionError) as caught:
        flow.to_list().blocking_get()
    assert any("group_by(" in note and "map(" in note for note in caught.value.__notes__)


AGGREGATES: dict[str, Any] = {
    "total": it.sum(),
    "n": it.count(),
    "least": aggregates.min(lambda n: n * 2),
    "mean": aggregates.average(it),
}


def test_aggregates_of_groups_are_a_shuffle(spark: Sources) -> None:
    local = Flowable.range(0, 100).group_aggregate(lambda n: n % 3, **AGGREGATES).to_list().blocking_get()
    flow = spark.range(100).group_aggregate(lambda n: n % 3, **AGGREGATES)
    assert "shuffle: group_aggregate(" in flow.explain()
    assert sorted(flow.to_list().blocking_get()) == sorted(local)


@pytest.mark.parametrize("keys", [3, 70_000], ids=["one hot key among few", "more keys than a task holds"])
def test_groups_are_combined_whatever_the_number_of_keys(keys: int, spark: Sources) -> None:
    def key(n: int) -> int:
        return n % keys if n % 10 else 0

    found = spark.range(80_000).group_aggregate(key, n=aggregates.count()).to_list().blocking_get()
    assert {row.key: row.n for row in found} == Counter(map(key, range(80_000)))

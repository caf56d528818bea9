"""What check() and strict() say of pipelines. Nothing here runs on Spark, and no session is made."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from operator import add
from typing import Any

import pytest
from described import described_rows
from frames import Fare, to_fare
from refused import LOCKED

import rx_spark
from rx_fusion import build_lines, fusion_enabled, fusion_off, stage_of
from rx_fusion.symbols import it
from rx_ops import Flowable, GroupedFlowable, Maybe, stages
from rx_spark import StrictError, check, strict
from rx_spark._pipelines import _absorb, _reasons, _steps

pytestmark = pytest.mark.skipif(not fusion_enabled(), reason="without fusion nothing is moved to Spark")


def odd(number: int) -> bool:
    return number % 2 == 1


def numbered(number: int) -> Fare:
    return Fare("Ulm", number)


def total(group: GroupedFlowable[bool, int]) -> Maybe[tuple[bool, int]]:
    return group.reduce(add).map(lambda n: (group.key, n))


def wheres(flow: Any, **options: Any) -> list[tuple[str, str]]:
    return [(step.operator, step.where) for step in check(flow, **options).steps]


RANGE = ("rx_spark.range(9)", "pass")


@pytest.mark.parametrize(
    ("flow", "expected"),
    [
        (
            rx_spark.range(9).map(str).distinct().filter(bool).scan(add),
            [RANGE, ("map(str)", "pass"), ("distinct()", "shuffle"), ("filter(bool)", "pass"), ("scan(add)", "driver")],
        ),
        (
            described_rows().filter(it.id > 3).map(to_fare).group_reduce(it.city, it.cents, add),
            [
                ("rx_spark.parquet('trips')", "column"),
                ("filter(it.id > 3)", "column"),
                ("map(to_fare)", "pass"),
                ("group_reduce(it.city, it.cents, add)", "shuffle"),
            ],
        ),
        (rx_spark.range(9).hide().map(str), [RANGE, ("hide()", "driver"), ("map(str)", "driver")]),
        (rx_spark.range(9).map(LOCKED).count(), [RANGE, ("map(locked)", "refused"), ("count()", "shuffle")]),
        (
            Flowable.concat(rx_spark.range(9), rx_spark.range(9).map(str)),
            [RANGE, RANGE, ("map(str)", "pass"), ("concat()", "driver")],
        ),
        (
            rx_spark.range(9).group_by(odd).flat_map(total),
            [RANGE, ("group_by(odd)", "shuffle"), ("reduce(add)", "shuffle"), ("flat_map(total)", "driver")],
        ),
        (Flowable.of(1).map(str), [("of(1)", "driver"), ("map(str)", "driver")]),
        (
            rx_spark.range(9).map(str).foreach_partition(print),
            [RANGE, ("map(str)", "pass"), ("foreach_partition(print)", "pass")],
        ),
        (
            described_rows().filter(it.id > 3).write_parquet("out"),
            [("rx_spark.parquet('trips')", "column"), ("filter(it.id > 3)", "column"), ("write_parquet('out')", "column")],
        ),
        (
            described_rows().map(to_fare).write_parquet("out"),
            [("rx_spark.parquet('trips')", "column"), ("map(to_fare)", "pass"), ("write_parquet('out')", "pass")],
        ),
        (
            rx_spark.range(9).map(numbered).skip(1).write_parquet("out", schema=Fare),
            [RANGE, ("map(numbered)", "pass"), ("skip(1)", "driver"), ("write_parquet('out')", "driver")],
        ),
        (
            rx_spark.range(9).skip(1).foreach_partition(print),
            [RANGE, ("skip(1)", "driver"), ("foreach_partition(print)", "driver")],
        ),
    ],
    ids=lambda each: repr(each)[:60] if not isinstance(each, list) else "",
)
def test_each_operator_is_somewhere(flow: Any, expected: list[tuple[str, str]]) -> None:
    assert wheres(flow) == expected


def step(flow: Any, operator: str) -> rx_spark.Step:
    (found,) = (each for each in check(flow).steps if each.operator.startswith(operator))
    return found


def test_a_step_says_why_and_what_to_write_instead() -> None:
    flow = rx_spark.range(9).scan(add).map(str)
    cut = step(flow, "scan")
    assert cut.reason == "needs its items in order, one after another"
    assert ".group_aggregate(" in cut.remedy
    behind = step(flow, "map")
    assert behind.reason == "is behind scan(add), which runs there"
    assert behind.remedy == "put it in front of scan(add), where that means the same"
    lost = step(rx_spark.range(9).map(LOCKED), "map")
    assert lost.reason == "closure variable 'lock' is a _thread.lock, and that cannot be pickled"
    assert "create one inside the function" in lost.remedy


def test_the_first_operator_in_python_says_why_it_is_no_column() -> None:
    flow = described_rows().filter(it.id > 3).map(to_fare).map(it.cents)
    first, second = check(flow).steps[2:]
    assert first.reason.startswith("it is a Python function; ")
    assert "spark-columns.md" in first.remedy
    assert second.remedy == ""


def test_where_a_step_was_built_is_told_when_that_is_remembered() -> None:
    with build_lines():
        flow = rx_spark.range(9).map(odd).scan(add)
    assert [each.place.partition("test_check.py:")[0][:9] for each in check(flow).steps] == ["", "built at ", "built at "]
    assert "written at" in step(rx_spark.range(9).map(lambda n: n), "map").place


@pytest.mark.parametrize(
    "end",
    [
        lambda flow: flow.to_list(),
        lambda flow: flow.to_dict(str),
        lambda flow: flow.first(),
        lambda flow: flow.count().map(str),
        lambda flow: flow.sum().to_flowable().flat_map(Flowable.range),
        lambda flow: flow.to_list().map(sorted),
        lambda flow: flow.take(3).map(str).is_empty(),
        lambda flow: flow.take(100_000).to_list(),
        lambda flow: flow,
    ],
)
def test_what_gives_the_result_is_no_fall_back(end: Callable[[Flowable[int]], Any]) -> None:
    flow = end(rx_spark.range(9).map(abs))
    assert check(flow).ok
    assert strict(flow) is flow


def test_strict_names_each_operator_of_the_driver_with_its_reason_and_remedy() -> None:
    with pytest.raises(StrictError) as caught:
        strict(rx_spark.range(9).map(str).scan(add).share())
    text = str(caught.value)
    assert "2 of the 4 steps of rx_spark.range(9).map(str).scan(add).share() are not on Spark" in text
    assert "scan(add) runs on the driver: it needs its items in order" in text
    assert "Instead:  reduce first" in text
    assert [each.operator for each in caught.value.steps] == ["scan(add)", "share()"]


def test_strict_refuses_what_cannot_travel_and_groups_that_come_back() -> None:
    with pytest.raises(StrictError, match=r"map\(locked\): closure variable 'lock' is a _thread.lock"):
        strict(rx_spark.range(9).map(LOCKED))
    with pytest.raises(StrictError, match=r"group_by\(odd\) runs on the driver, because flat_map\(.* begins with to_list\(\)"):
        strict(rx_spark.range(9).group_by(odd).flat_map(lambda group: group.to_list()))
    with pytest.raises(StrictError, match=r"once for each key"):
        strict(rx_spark.range(9).group_by(odd).flat_map(total))


def test_strict_refuses_what_is_behind_a_large_take() -> None:
    with pytest.raises(StrictError, match=r"because take\(100000\) is the end .*\n    Instead:  put it in front of take"):
        strict(rx_spark.range(9).take(100_000).map(str))


def test_strict_may_ask_for_columns_alone() -> None:
    flow = described_rows().filter(it.id > 3).map(it.city).distinct()
    assert strict(flow, columns=True) is flow
    with pytest.raises(StrictError, match=r"map\(to_fare\): it is a Python function.*\n    Instead:  an expression of it"):
        strict(described_rows().map(to_fare), columns=True)


def test_without_fusion_all_but_the_source_is_on_the_driver() -> None:
    flow = rx_spark.range(9).map(str).hide().filter(bool).to_list()
    with fusion_off():
        assert wheres(flow) == [RANGE, *((name, "driver") for name in ("map(str)", "hide()", "filter(bool)", "to_list()"))]
        with pytest.raises(StrictError, match="because fusion is switched off"):
            strict(flow)


# --- clusters ---------------------------------------------------------------------------------------------------------


def test_a_cluster_sees_its_own_disks() -> None:
    text = rx_spark.text("a.txt").map(str.strip)
    assert "same path" not in check(text, master="local[2]").steps[0].reason
    assert "each executor opens it under the same path" in check(text, master="spark://here:7077").steps[0].reason
    assert "same path" not in check(rx_spark.text("s3a://bucket/a.txt"), master="yarn").steps[0].reason
    files = described_rows("trips").map(to_fare).write_parquet("out")
    there = check(files, master="yarn").steps
    assert "without a scheme" in there[0].reason
    assert "without a scheme" in there[-1].reason
    assert "s3a://" in there[-1].remedy
    distant = check(described_rows("s3a://bucket/trips").map(to_fare).write_parquet("s3a://bucket/out"), master="yarn").steps
    assert not any("without a scheme" in each.reason for each in distant)


def test_a_cluster_gets_the_modules_that_functions_are_in() -> None:
    mapped = check(described_rows().map(to_fare), master="spark://here:7077").steps[-1]
    assert "travels with it: frames" in mapped.reason or "travel with it: frames" in mapped.reason
    sent = check(rx_spark.from_iterable([1]).map(str), master="k8s://https://here:6443").steps
    assert "at most 1 GiB" in sent[0].reason
    assert "travel" not in sent[1].reason


def test_connect_is_refused() -> None:
    report = check(rx_spark.range(9).map(str).scan(add), master="sc://here:15002")
    assert [each.where for each in report.steps] == ["refused", "refused", "driver"]
    assert not report.ok
    assert "SparkContext" in report.steps[0].reason
    assert "spark://host:7077" in report.steps[0].remedy


def test_a_master_that_spark_does_not_know_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"check\(master='mesos'\)"):
        check(rx_spark.range(9), master="mesos")
    with pytest.raises(TypeError, match=r"a pipeline is needed"):
        check(rx_spark.range)  # type: ignore[arg-type]  # on purpose


# --- the report -------------------------------------------------------------------------------------------------------

TABLE = """
rx_spark.range(9).map(abs).map(locked).scan(add).to_list()
  pass     rx_spark.range(9)  the tasks make the numbers
  pass     map(abs)           runs in one pass with its neighbours
  refused  map(locked)        closure variable 'lock' is a _thread.lock, and that cannot be pickled
                              instead: locks have no meaning across processes; create one inside the function, or do without
  driver   scan(add)          needs its items in order, one after another
                              instead: reduce first, so that few items come here:  .group_aggregate(key, total=it.x.sum())
  driver   to_list()          collects on the driver
                              instead: .write_parquet(path) and the like leave the items on the cluster
  2 pass, 1 refused, 2 driver
"""


def test_a_report_is_a_table() -> None:
    report = check(rx_spark.range(9).map(abs).map(LOCKED).scan(add).to_list())
    assert str(report) == TABLE.strip("\n")
    assert [each.operator for each in report.fall_backs] == ["scan(add)"]
    assert [each.operator for each in report.refused] == ["map(locked)"]


def test_explain_marks_what_is_refused_and_which_operator_is_the_first_on_the_driver() -> None:
    assert "· refused: map(locked), closure variable 'lock' is a _thread.lock" in rx_spark.range(9).map(LOCKED).explain()
    merged = Flowable.merge(rx_spark.range(9), rx_spark.range(5)).explain()
    assert merged.count("· driver from here: merge() has several sources, and a plan of Spark has one") == 2
    assert "driver from here: share()" in rx_spark.range(9).share().explain()
    one = rx_spark.range(9).count().to_flowable().flat_map(Flowable.range).explain()
    assert "because count() is the end of the Spark part" in one
    assert "instead" not in one


def test_asking_starts_no_java() -> None:
    program = (
        "import sys, rx_spark; report = rx_spark.check(rx_spark.range(9).map(str).distinct(), master='yarn');"
        "assert report.ok; print('pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False\n"


# --- the tables behind it ---------------------------------------------------------------------------------------------


def test_every_stage_that_spark_does_not_run_has_a_reason_and_a_remedy() -> None:
    known = _absorb.PER_ITEM | _absorb.STEPS.keys() | _reasons.REASONS.keys()
    missing = [name for name in stages.__all__ if name != "GroupAggregate" and getattr(stages, name) not in known]
    assert missing == []
    assert [why for why in _reasons.REASONS.values() if not (why.remedy or why.ends)] == []
    # a stage in both tables is one that depends on its arguments
    assert {stage_of(each).name for each in _absorb.STEPS.keys() & _reasons.REASONS.keys()} == {"sum"}


def test_the_table_of_versions_says_what_this_version_has(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import DataFrame

    assert hasattr(DataFrame, "repartitionById") == (_steps.spark_version() >= (4, 1))
    flow = rx_spark.range(9).distinct()
    monkeypatch.setattr(_steps, "spark_version", lambda: (4, 0))
    assert step(flow, "distinct").reason.startswith(
        "equal items meet in one task; in pyspark 4.0 keys go to tasks by a second hash"
    )
    monkeypatch.setattr(_steps, "spark_version", lambda: (4, 1))
    assert step(flow, "distinct").reason == "equal items meet in one task"

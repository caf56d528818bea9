"""Plans and arguments: nothing here runs on Spark."""

from __future__ import annotations

import itertools
import pickle
import subprocess
import sys
from collections.abc import Callable
from operator import add
from typing import Any

import pytest

import rx_spark
from rx_fusion import fusion_enabled, fusion_off, rules
from rx_ops import Flowable, GroupedFlowable, Maybe, Single

pytestmark = pytest.mark.skipif(not fusion_enabled(), reason="without fusion nothing is moved to Spark")

Flow = Flowable[Any]


def double(number: int) -> int:
    return number * 2


def odd(number: int) -> bool:
    return number % 2 == 1


def total(group: GroupedFlowable[bool, int]) -> Maybe[tuple[bool, int]]:
    return group.reduce(add).map(lambda n: (group.key, n))


def listed(group: GroupedFlowable[bool, int]) -> Single[list[int]]:
    return group.to_list()


AHEAD = "as requested; at most 2 chunks of 1,024 per task are ahead"
PLANS: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: rx_spark.range(10),
        f"""
rx_spark.range(10)
   · executors: read the source
   · streams back: in the order of the source, {AHEAD}
""",
    ),
    (
        lambda: rx_spark.text("a.txt").map(str.strip).filter(bool).count(),
        f"""
rx_spark.text('a.txt').map(str.strip).filter(bool).count()
   · executors: one fused pass: map(str.strip) → filter(bool)
   · combine: count(), partial results, combined in order by the driver; in one more task where they are no numbers or text
   · streams back: one value, {AHEAD}
""",
    ),
    (
        lambda: rx_spark.from_iterable([1, 2]).map(double).distinct().filter(odd).scan(add).map(str),
        f"""
scan(add) → map(str)
│  · fused: 2 stages in one call per item, pushed through, no queue
└─ rx_spark.from_iterable([1, 2]).map(double).distinct().filter(odd)
      · driver: the iterable is read whole before the job starts
      · executors: one fused pass: map(double)
      · shuffle: distinct(), equal items meet in one task
      · executors: one fused pass: filter(odd)
      · streams back: in any order, {AHEAD}
      · driver from here: scan(add) needs its items in order, one after another
      · instead: reduce first, so that few items come here:  .group_aggregate(key, total=it.x.sum())
""",
    ),
    (
        lambda: rx_spark.range(2, 9).map(double).take(3).map(str),
        f"""
map(str)
│  · fused: 1 stage in one call per item, pushed through, no queue
└─ rx_spark.range(2, 9).map(double).take(3)
      · executors: one fused pass: map(double)
      · limit: take(3), then the job stops
      · streams back: in the order of the source, {AHEAD}
      · driver from here: map(str), because take(3) is the end of the Spark part
""",
    ),
    (
        lambda: rx_spark.range(10).group_by(odd).flat_map(total).to_list(),
        f"""
to_list()
│  · fused: 1 stage in one call per item, pushed through, no queue
└─ flat_map(total)
   │  · rewritten: reduced_groups
   │  · queue: 128 items, for each source that pushes
   └─ rx_spark.range(10).group_by(odd).reduce(add)
         · executors: read the source
         · shuffle: group_by(odd).reduce(add), combined per key on both sides
         · streams back: in any order, {AHEAD}
         · driver from here: flat_map(total) runs here once for each key, over what its group was reduced to
         · instead: .group_aggregate(key, total=it.x.sum()) gives both
""",
    ),
    (
        lambda: rx_spark.range(10).map(double).group_by(odd).flat_map(listed),
        f"""
flat_map(listed)
│  · rewritten: reduced_groups
│  · queue: 128 items, for each source that pushes
└─ group_by(odd)
   │  · queue: what downstream requests, for each source that pushes
   │  · queue: 128 items in all groups together
   └─ rx_spark.range(10).map(double)
         · executors: one fused pass: map(double)
         · streams back: in the order of the source, {AHEAD}
         · driver from here: group_by(odd), because flat_map(listed) begins with to_list(), which is no shuffle
         · instead: .group_aggregate(key, total=it.x.sum(), n=it.count())
""",
    ),
]


@pytest.mark.parametrize(("build", "plan"), PLANS)
def test_the_plan_shows_the_cut(build: Callable[[], Any], plan: str) -> None:
    assert build().explain() == plan.strip("\n")


def test_without_fusion_the_plan_shows_no_pass() -> None:
    with fusion_off():
        assert "pass" not in rx_spark.range(10).map(double).explain()


def test_a_pipeline_shows_what_the_user_wrote() -> None:
    assert repr(rx_spark.range(10).map(double).count()) == "rx_spark.range(10).map(double).count()"
    assert repr(rx_spark.text(["a", "b"])) == "rx_spark.text(2 paths)"
    assert repr(rx_spark.from_iterable({}.keys())) == "rx_spark.from_iterable(<dict_keys>)"


def test_pipelines_can_be_pickled() -> None:
    flow = rx_spark.range(10, stats=rx_spark.JobStats()).map(double).count()
    assert pickle.loads(pickle.dumps(flow)).explain() == flow.explain()


def test_a_program_without_a_spark_source_is_not_asked_about_rules_of_spark() -> None:
    program = "import rx_spark, rx_ops, rx_fusion; print([rule.name for rule in rx_fusion.rules()].count('reduced_groups'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout == "0\n"


def test_local_pipelines_are_left_alone() -> None:
    assert any(rule.name == "reduced_groups" for rule in rules())
    counted = Flowable.range(10).group_by(odd).flat_map(lambda group: group.count())
    assert "executors" not in counted.explain()
    assert counted.blocking_list() == [5, 5]


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: rx_spark.range(1.5), TypeError, "float"),  # type: ignore[arg-type]  # the test
        (lambda: rx_spark.range(0, 3, 0), ValueError, "zero"),
        (lambda: rx_spark.from_iterable(5), TypeError, r"from_iterable\(\[5\]\)"),  # type: ignore[arg-type]  # the test
        (lambda: rx_spark.from_iterable(itertools.count()), ValueError, "islice"),
        (lambda: rx_spark.from_iterable(itertools.repeat("a, b")), ValueError, "islice"),
        (lambda: rx_spark.text(b"a"), TypeError, r"text\('a'\)"),  # type: ignore[arg-type]  # the test
        (lambda: rx_spark.text(None), TypeError, "None"),  # type: ignore[arg-type]  # the test
        (lambda: rx_spark.text("a", on_bad="collect"), TypeError, r"text\(on_bad='collect'\): where are they to be collected"),
        (lambda: rx_spark.text("a", encoding="utf-16"), ValueError, "utf-16"),
        (lambda: rx_spark.range(5, parallelism=0), ValueError, "at least 1"),
        (lambda: rx_spark.range(5, stats=[]), TypeError, r"stats = JobStats\(\)"),  # type: ignore[arg-type]  # the test
        (lambda: rx_spark.range(5, config=rx_spark.SparkConfig("local"), master="spark://x"), ValueError, "one of the two"),
    ],
)
def test_bad_arguments_are_refused_at_assembly(call: Callable[[], object], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


def test_repeat_with_a_count_is_fine() -> None:
    rx_spark.from_iterable(itertools.repeat(1, 5))
    assert rx_spark.range(5, parallelism=3).explain()


def test_the_package_is_light() -> None:
    heavy = "pyspark", "pyarrow", "pandas", "cloudpickle", "rx_ops"
    program = f"import sys, rx_spark; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'spam'"):
        rx_spark.spam  # type: ignore[attr-defined]  # noqa: B018  # the test

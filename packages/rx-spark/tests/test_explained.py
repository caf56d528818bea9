"""What explain() says of a dozen pipelines, as they are, behind hide() and without fusion: a file that is compared.

    RX_SNAPSHOTS=write python3 tools/dev.py pytest packages/rx-spark/tests/test_explained.py

writes it anew. Look at the difference before it is committed: each line of it is what users see. The answers are compared, too,
in all three forms, with those of the same pipeline over local items.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from operator import add
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from frames import Fare, Trip, to_fare, trips, write_trips
from refused import LOCKED

import rx_spark
from rx_fusion import fusion_enabled, fusion_off
from rx_fusion.symbols import it
from rx_ops import Flowable, GroupedFlowable, Maybe, Single
from rx_spark import SparkConfig

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not fusion_enabled(), reason="it switches fusion off itself"),
]

SNAPSHOTS: Final = Path(__file__).with_name("explained.txt")
COMMAND: Final = "RX_SNAPSHOTS=write python3 tools/dev.py pytest packages/rx-spark/tests/test_explained.py"
Mode = Literal["fused", "hidden", "off"]
MODES: Final[tuple[Mode, ...]] = ("fused", "hidden", "off")
LINES: Final = ("one two", "two three", "three three")


def double(number: int) -> int:
    return number * 2


def odd(number: int) -> bool:
    return number % 2 == 1


def words(line: str) -> list[str]:
    return line.split()


def total(group: GroupedFlowable[str, Trip]) -> Single[int]:
    return group.map(it.id).sum()


def named(group: GroupedFlowable[bool, int]) -> Maybe[tuple[bool, int]]:
    return group.reduce(add).map(lambda n: (group.key, n))


def listed(group: GroupedFlowable[bool, int]) -> Single[list[int]]:
    return group.to_list()


@dataclass(frozen=True)
class Sources:
    """Where pipelines begin: on Spark, or the same items here."""

    numbers: Flowable[int]
    lines: Flowable[str]
    rows: Flowable[Trip]


Build = Callable[[Sources], Any]

#: Pipelines whose answers are compared as well.
PIPELINES: Final[dict[str, Build]] = {
    "one pass": lambda on: on.numbers.map(double).filter(odd),
    "a pass, a shuffle, a pass": lambda on: on.lines.flat_map_iterable(words).distinct().map(str.upper),
    "a single value": lambda on: on.numbers.map(double).sum().to_flowable(),
    "columns": lambda on: on.rows.filter(it.id > 100).map(it.city).distinct(),
    "columns to a single value": lambda on: on.rows.filter(it.id > 100).count().to_flowable(),
    "columns, then Python": lambda on: on.rows.filter(it.id > 5).map(to_fare).group_reduce(it.city, it.cents, add),
    "groups by columns": lambda on: on.rows.group_by(it.city).flat_map(total),
    "aggregates, then the driver": lambda on: on.rows.group_aggregate(it.city, n=it.count()).map(it.n).scan(add),
    "groups by functions": lambda on: on.numbers.group_by(odd).flat_map(named),
    "groups that come back": lambda on: on.numbers.map(double).group_by(odd).flat_map(listed),
    "in order": lambda on: on.numbers.map(double).scan(add).map(str),
    "rows in order": lambda on: on.rows.map(it.id).sorted().take(3),
    "columns again": lambda on: rx_spark.as_rows(on.rows.filter(it.id > 100).map(to_fare), Fare).group_aggregate(
        it.city, n=it.count()
    ),
    "the first few": lambda on: on.numbers.map(double).take(3).map(str),
    "two sources": lambda on: Flowable.merge(on.numbers, on.rows.map(it.id)).map(double),
}

#: Those that write, or would be refused.
OTHERS: Final[dict[str, Build]] = {
    "columns into files": lambda on: on.rows.filter(it.id > 100).write_parquet("out", schema=Trip),
    "rows of functions into files": lambda on: on.rows.map(to_fare).write_parquet("out", partition_by="city", schema=Fare),
    "into files from the driver": lambda on: on.rows.map(to_fare).skip(1).write_parquet("out", schema=Fare),
    "effects": lambda on: on.numbers.map(double).foreach_partition(print),
    "refused": lambda on: on.numbers.map(LOCKED).count(),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("explained")
    (made / "lines.txt").write_text("\n".join(LINES), encoding="utf-8")
    write_trips(made / "trips")
    return made


@pytest.fixture
def on_spark(folder: Path, spark_config: SparkConfig) -> Sources:
    return Sources(
        rx_spark.range(10, config=spark_config),
        rx_spark.text(folder / "lines.txt", config=spark_config),
        rx_spark.parquet(folder / "trips", schema=Trip, config=spark_config),
    )


def hidden(on: Sources) -> Sources:
    return Sources(on.numbers.hide(), on.lines.hide(), on.rows.hide())


@contextmanager
def switched(mode: Mode) -> Iterator[None]:
    with fusion_off() if mode == "off" else nullcontext():
        yield


def form(build: Build, on: Sources, mode: Mode) -> Any:
    return build(hidden(on) if mode == "hidden" else on)


def explained(build: Build, on: Sources, mode: Mode) -> str:
    with switched(mode):
        return str(form(build, on, mode).explain())


def sections(on: Sources, folder: Path) -> Iterator[str]:
    for name, build in (PIPELINES | OTHERS).items():
        for mode in MODES:
            yield f"## {name}: {mode}\n\n{explained(build, on, mode).replace(str(folder), '')}\n"


def test_what_explain_says_is_what_the_file_says(on_spark: Sources, folder: Path) -> None:
    made = list(sections(on_spark, folder))
    text = "\n".join(made)
    if os.environ.get("RX_SNAPSHOTS") == "write":
        SNAPSHOTS.write_text(text, encoding="utf-8")
    there = SNAPSHOTS.read_text(encoding="utf-8")
    changed = [each for each in made if each not in there]
    assert not changed, "\n".join(["this is not in the file:", *changed, f"to write it:  {COMMAND}"])
    assert there == text, f"the file has more than there is; to write it:  {COMMAND}"


def test_a_plan_that_changes_is_seen(on_spark: Sources, folder: Path) -> None:
    there = SNAPSHOTS.read_text(encoding="utf-8")
    other = explained(lambda on: on.numbers.map(double).filter(odd).map(double), on_spark, "fused")
    assert other not in there


@pytest.mark.parametrize("name", PIPELINES)
def test_the_answers_are_the_same_in_each_form(name: str, on_spark: Sources) -> None:
    build = PIPELINES[name]
    here = Sources(Flowable.range(10), Flowable.from_iterable(LINES), Flowable.from_iterable(trips()))
    local = answers(name, build(here))
    for mode in MODES:
        with switched(mode):
            assert answers(name, form(build, on_spark, mode)) == local, mode


def answers(name: str, flow: Flowable[Any]) -> list[Any]:
    found = flow.blocking_list()
    if name == "aggregates, then the driver":
        return found[-1:]  # groups come in any order
    return sorted(found, key=repr)

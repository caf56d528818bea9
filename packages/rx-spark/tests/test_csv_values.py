"""Values of CSV: quotes as RFC 4180 has them, spaces, empty text, and times that are times."""

from __future__ import annotations

import csv
import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import rx_spark
from rx_spark import BadRecords, SparkConfig

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

TEXTS = ['say "hi"', '"', "a,b", " x ", "", "a\\", "\\", '\\"', "a\\nb", "'", "#", "ü"]


@dataclass(frozen=True)
class Text:
    id: int
    s: str


@dataclass(frozen=True)
class Maybe:
    id: int | None
    s: str | None


@dataclass(frozen=True)
class Stamp:
    id: int
    at: datetime.datetime | None


@dataclass(frozen=True)
class Day:
    id: int
    day: datetime.date | None


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL], ids=["minimal", "all"])
def test_what_python_writes_is_read_as_python_reads_it(quoting: Any, tmp_path: Path, spark_config: SparkConfig) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, quoting=quoting).writerows([["id", "s"], *enumerate(TEXTS)])
    flow = rx_spark.csv(path, schema=Text, config=spark_config)
    assert sorted(flow.to_list().blocking_get(), key=lambda text: text.id) == [Text(*each) for each in enumerate(TEXTS)]


def test_what_this_library_writes_is_read_as_it_was(tmp_path: Path, spark_config: SparkConfig) -> None:
    items = [Text(*each) for each in enumerate(TEXTS)]
    rx_spark.from_iterable(items, config=spark_config).write_csv(tmp_path / "out", schema=Text).blocking_get()
    flow = rx_spark.csv(tmp_path / "out", schema=Text, config=spark_config)
    assert sorted(flow.to_list().blocking_get(), key=lambda text: text.id) == items


def test_the_class_tells_an_empty_text_from_none(tmp_path: Path, spark_config: SparkConfig) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,s\n1,\n2,""\n"",x\n')
    flow = rx_spark.csv(path, schema=Maybe, config=spark_config)
    assert sorted(flow.to_list().blocking_get(), key=repr) == [Maybe(1, None), Maybe(2, None), Maybe(None, "x")]
    bad = BadRecords()
    texts = rx_spark.csv(path, schema=Text, on_bad="collect", bad=bad, config=spark_config)
    assert sorted(texts.to_list().blocking_get(), key=repr) == [Text(1, ""), Text(2, "")]
    assert [record.reason for record in bad.records] == ["it gives no int for id"]


def test_files_with_backslashes_in_front_of_quotes_are_read_when_asked_for(tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a.csv").write_text('id,s\n1,"say \\"hi\\""\n')
    flow = rx_spark.csv(tmp_path / "a.csv", schema=Text, options={"escape": "\\"}, config=spark_config)
    assert flow.to_list().blocking_get() == [Text(1, 'say "hi"')]


def test_another_quote_is_doubled_too(tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a.csv").write_text("id,s\n1,'it''s'\n")
    flow = rx_spark.csv(tmp_path / "a.csv", schema=Text, options={"quote": "'"}, config=spark_config)
    assert flow.to_list().blocking_get() == [Text(1, "it's")]


GOOD_TIMES = [
    "2020-01-01T12:30:00",
    "2020-01-01 12:30:00.123456",
    "2020-01-01T12:30:00.5Z",
    "2020-01-01T12:30:00.123+01:00",
    "2020-01-01 12:30",
    "2020-01-01",
]
BAD_TIMES = ["12:30", "2020", "2020-01", "2020-13-01", "2020-02-30", "20200101", "2020-01-01T", "now", "today"]


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_only_a_day_and_a_time_are_a_datetime(kind: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    path, times = tmp_path / f"a.{kind}", [*GOOD_TIMES, *BAD_TIMES]
    row = "{},{}\n" if kind == "csv" else '{{"id": {}, "at": "{}"}}\n'
    path.write_text(("id,at\n" if kind == "csv" else "") + "".join(row.format(*each) for each in enumerate(times)))
    bad = BadRecords()
    flow = getattr(rx_spark, kind)(path, schema=Stamp, on_bad="collect", bad=bad, config=spark_config)
    utc = datetime.UTC
    expected = [datetime.datetime.fromisoformat(f"{each}0" if each.endswith(".5") else each) for each in GOOD_TIMES]
    made = sorted(flow.to_list().blocking_get(), key=lambda stamp: stamp.id)
    assert [stamp.at for stamp in made] == [each if each.tzinfo else each.replace(tzinfo=utc) for each in expected]
    assert [record.reason for record in bad.records] == ["it gives no datetime for at"] * len(BAD_TIMES)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_only_a_day_is_a_date(kind: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    path = tmp_path / f"a.{kind}"
    row = "{},{}\n" if kind == "csv" else '{{"id": {}, "day": "{}"}}\n'
    days = ["2020-02-29", "2020", "2020-02-30", "2020-02-01T00:00:00", "12:30"]
    path.write_text(("id,day\n" if kind == "csv" else "") + "".join(row.format(*each) for each in enumerate(days)))
    bad = BadRecords()
    flow = getattr(rx_spark, kind)(path, schema=Day, on_bad="collect", bad=bad, config=spark_config)
    assert flow.to_list().blocking_get() == [Day(0, datetime.date(2020, 2, 29))]
    assert bad.count == 4
    (tmp_path / "b.csv").write_text("id,day\n1,31.01.2020\n")
    german = rx_spark.csv(tmp_path / "b.csv", schema=Day, options={"dateFormat": "dd.MM.yyyy"}, config=spark_config)
    assert german.to_list().blocking_get() == [Day(1, datetime.date(2020, 1, 31))]


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_time_keeps_its_microseconds(kind: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    items = [Stamp(at, datetime.datetime(2026, 1, 31, 23, 59, 58, part, datetime.UTC)) for at, part in enumerate((0, 1, 999_999))]
    flow = rx_spark.from_iterable(items, config=spark_config)
    written: Any = getattr(rx_spark, f"write_{kind}")(flow, tmp_path / "out", schema=Stamp)
    assert written.blocking_get().rows == len(items)
    back: Any = getattr(rx_spark, kind)(tmp_path / "out", schema=Stamp, config=spark_config)
    assert sorted(back.to_list().blocking_get(), key=lambda stamp: stamp.id) == items


def test_what_a_writer_is_told_goes_before_what_it_does_by_itself(tmp_path: Path, spark_config: SparkConfig) -> None:
    flow = rx_spark.from_iterable([Text(1, 'say "hi"')], config=spark_config)
    rx_spark.write_csv(flow, tmp_path / "out", schema=Text, options={"ESCAPE": "\\"}).blocking_get()
    text = "".join(path.read_text() for path in (tmp_path / "out").glob("*.csv"))
    assert 'say \\"hi\\"' in text

"""Columns that are names of folders come back as they were written, as the row class says."""

from __future__ import annotations

import datetime
import decimal
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import rx_spark
from rx_fusion.symbols import it
from rx_ops import Row
from rx_spark import SchemaError, SparkConfig
from rx_spark._session._session import engine

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

FORMATS = ["parquet", "csv", "json"]


@dataclass(frozen=True)
class Town:
    zip: str
    people: int


@dataclass(frozen=True)
class Flag:
    up: bool
    n: int


@dataclass(frozen=True)
class Stamp:
    at: datetime.datetime
    n: int


@dataclass(frozen=True)
class Kinds:
    whole: int
    part: float
    text: str | None
    day: datetime.date
    raw: bytes
    exact: decimal.Decimal
    n: int


def rows_of(flow: Any) -> list[Any]:
    return sorted(flow.to_list().blocking_get(), key=repr)


def written(items: list[Any], path: Path, kind: str, by: Any, config: SparkConfig) -> Path:
    source = rx_spark.from_iterable(items, config=config)
    getattr(source, f"write_{kind}")(path, schema=type(items[0]), partition_by=by).blocking_get()
    return path


def read(kind: str, path: Path, schema: type[Any] | None, config: SparkConfig) -> Any:
    return getattr(rx_spark, kind)(path, schema=schema, config=config)


@pytest.mark.parametrize("kind", FORMATS)
def test_text_in_names_of_folders_stays_text(kind: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    towns = [Town("", 3), Town("01067", 1), Town("10115", 2), Town("a/b=c %41", 4)]
    path = written(towns, tmp_path / "out", kind, "zip", spark_config)
    flow = read(kind, path, Town, spark_config)
    assert rows_of(flow) == towns
    for town in towns:
        assert rows_of(flow.filter(it.zip == town.zip)) == [town]
    assert rows_of(flow.map(lambda town: town.zip)) == sorted(town.zip for town in towns)


@pytest.mark.parametrize("kind", FORMATS)
def test_without_a_class_only_what_is_written_as_a_number_is_one(kind: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    path = written([Town("01067", 1), Town("10115", 2)], tmp_path / "text", kind, "zip", spark_config)
    assert sorted(row.zip for row in read(kind, path, None, spark_config).to_list().blocking_get()) == ["01067", "10115"]
    path = written([Town("7", 1), Town("10115", 2)], tmp_path / "numbers", kind, "zip", spark_config)
    assert sorted(row.zip for row in read(kind, path, None, spark_config).to_list().blocking_get()) == [7, 10115]
    path = written([Flag(True, 1)], tmp_path / "flag", kind, "up", spark_config)
    assert read(kind, path, None, spark_config).map(it.up).to_list().blocking_get() == ["true"]


@pytest.mark.parametrize("kind", FORMATS)
def test_the_class_says_the_type_of_a_folder(kind: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    flags = [Flag(False, 2), Flag(True, 1)]
    assert rows_of(read(kind, written(flags, tmp_path / "flags", kind, "up", spark_config), Flag, spark_config)) == flags
    day, exact = datetime.date(2026, 1, 1), decimal.Decimal("1.500000000000000000")
    items = [Kinds(1, 0.5, "x", day, b"a/b", exact, 1), Kinds(-7, 1e300, None, day, b"", exact, 2)]
    for column in ("whole", "part", "text", "day", "exact", *(("raw",) if kind == "parquet" else ())):
        if kind == "csv":
            continue  # it has no bytes
        path = written(items, tmp_path / column, kind, column, spark_config)
        assert sorted(rows_of(read(kind, path, Kinds, spark_config)), key=repr) == sorted(items, key=repr)


@pytest.mark.parametrize("kind", FORMATS)
def test_times_in_names_of_folders_are_in_utc_whatever_the_session_says(
    kind: str, tmp_path: Path, spark_config: SparkConfig
) -> None:
    stamps = [
        Stamp(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), 1),
        Stamp(datetime.datetime(2026, 7, 1, 12, 30, 1, 250, tzinfo=datetime.UTC), 2),
    ]
    path = written(stamps, tmp_path / "out", kind, "at", spark_config)
    session = engine(spark_config).application
    before = session.conf.get("spark.sql.session.timeZone")
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        flow = read(kind, path, Stamp, spark_config)
        assert rows_of(flow) == stamps
        plain = written(stamps[:1], tmp_path / "plain", kind, "at", spark_config)
        assert rows_of(read(kind, plain, None, spark_config).map(it.at)) == [stamps[0].at]
    finally:
        session.conf.set("spark.sql.session.timeZone", before or "UTC")
    (path / "at=noon").mkdir()
    next(path.glob("at=2026-01*/part-*")).rename(path / "at=noon" / f"part-0.{kind}")
    with pytest.raises(SchemaError, match=r"the folder '?at=noon'? gives no datetime for column 'at'"):
        rows_of(read(kind, path, Stamp, spark_config))


@pytest.mark.parametrize("kind", FORMATS)
def test_a_folder_whose_name_is_no_such_value_is_told_at_assembly(kind: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    path = written([Town("x7", 1)], tmp_path / "out", kind, "zip", spark_config)
    with pytest.raises(SchemaError, match=rf"{kind}\('.*'\): the folder 'zip=x7' gives no int for column 'zip'"):
        read(kind, path, Number, spark_config)


@dataclass(frozen=True)
class Number:
    zip: int
    people: int


def test_an_empty_text_and_none_are_one_folder_and_the_class_tells_which(tmp_path: Path, spark_config: SparkConfig) -> None:
    path = written([Town("", 1)], tmp_path / "out", "parquet", "zip", spark_config)
    assert rows_of(read("parquet", path, Town, spark_config)) == [Town("", 1)]
    assert rows_of(read("parquet", path, Maybe, spark_config)) == [Maybe(None, 1)]
    assert rows_of(read("parquet", path, None, spark_config).map(lambda row: (row.people, row.zip))) == [(1, None)]


@dataclass(frozen=True)
class Maybe:
    zip: str | None
    people: int


def test_a_filter_on_a_folder_still_spares_the_others(tmp_path: Path, spark_config: SparkConfig) -> None:
    path = written([Town("01067", 1), Town("", 2)], tmp_path / "out", "parquet", "zip", spark_config)
    flow = rx_spark.parquet(path, schema=Town, config=spark_config).filter(it.zip == "01067")
    made: Any = rx_spark.to_dataframe(flow)
    (filters,) = re.findall(r"PartitionFilters: \[(.*?)\], ", made._jdf.queryExecution().executedPlan().toString())
    assert "= 01067" in filters


def test_a_row_of_a_folder_is_a_row(tmp_path: Path, spark_config: SparkConfig) -> None:
    path = written([Town("1", 1)], tmp_path / "out", "json", "zip", spark_config)
    (row,) = rx_spark.json(path, config=spark_config).to_list().blocking_get()
    assert isinstance(row, Row)
    assert (row.people, row.zip) == (1, 1)

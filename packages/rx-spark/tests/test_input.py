"""Input as it comes: what is damaged, missing or of another schema is an error that names it and says what to do."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frames import CITIES, Trip, TripTuple, trips, write_trips

import rx_spark
from rx_fusion.symbols import it
from rx_ops import Flowable
from rx_spark import BadFileError, SchemaError, SparkConfig, SparkJobError

pytestmark = [pytest.mark.cluster, pytest.mark.spark]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_trips(tmp_path_factory.mktemp("input") / "trips")


def notes(error: BaseException) -> str:
    return "\n".join(getattr(error, "__notes__", ()))


# --- files that cannot be read ----------------------------------------------------------------------------------------


def cut(source: Path, target: Path, left_out: int) -> Path:
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(source.read_bytes()[:-left_out])
    return target


def test_a_truncated_parquet_file_is_named_at_assembly(folder: Path, tmp_path: Path, spark_config: SparkConfig) -> None:
    damaged = cut(folder / "part-0.parquet", tmp_path / "a b" / "part-0.parquet", 20)  # a path that is another as a URL
    with pytest.raises(BadFileError, match=r"a b/part-0\.parquet cannot be read: .*\n.*cut off, damaged") as caught:
        rx_spark.parquet(damaged.parent, schema=Trip, config=spark_config)
    assert caught.value.path == str(damaged)


@pytest.mark.parametrize(
    "make",
    [
        lambda flow: flow,
        lambda flow: flow.map(it.id).sum().to_flowable(),
        lambda flow: flow.map(lambda trip: trip.id),
    ],
    ids=["rows", "columns", "lambda"],
)
def test_one_truncated_parquet_file_of_many_is_named_by_the_job(
    make: Callable[[Flowable[Trip]], Flowable[Any]], folder: Path, tmp_path: Path, spark_config: SparkConfig
) -> None:
    files = tmp_path / "trips"
    files.mkdir()
    (files / "a.parquet").write_bytes((folder / "part-0.parquet").read_bytes())
    damaged = cut(folder / "part-1.parquet", files / "b.parquet", 20)
    flow = rx_spark.parquet(files, schema=Trip, config=spark_config)
    with pytest.raises(BadFileError, match=r"b\.parquet cannot be read: .*not a Parquet file.*\n  It is cut off") as caught:
        make(flow).to_list().blocking_get()
    assert caught.value.path == str(damaged)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_truncated_gzip_file_is_named(kind: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    line = '{"id": %d, "city": "Ulm"}\n' if kind == "json" else "%d,Ulm\n"
    text = ("" if kind == "json" else "id,city\n") + "".join(line % number for number in range(20_000))
    path = tmp_path / f"trips.{kind}.gz"
    path.write_bytes(gzip.compress(text.encode())[:-200])
    flow: Flowable[Any] = getattr(rx_spark, kind)(path, schema=TripTuple, config=spark_config)
    with pytest.raises(BadFileError, match=rf"trips\.{kind}\.gz cannot be read: Unexpected end of input stream") as caught:
        flow.count().blocking_get()
    assert caught.value.path == str(path)


def test_a_file_that_goes_away_before_it_is_read_is_named(tmp_path: Path, spark_config: SparkConfig) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,city\n1,Ulm\n")
    flow = rx_spark.csv(path, schema=TripTuple, config=spark_config)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"csv\('.*a\.csv'\): \[PATH_NOT_FOUND\]"):
        flow.to_list().blocking_get()


# --- files that say something else ------------------------------------------------------------------------------------


def test_files_of_different_schemas_are_told_apart_by_name(tmp_path: Path, spark_config: SparkConfig) -> None:
    pq.write_table(pa.table({"id": [1, 2], "city": ["Ulm", "Bonn"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": ["x", "y"], "city": ["Ulm", "Bonn"]}), tmp_path / "b.parquet")
    flow = rx_spark.parquet(tmp_path, schema=TripTuple, config=spark_config)
    with pytest.raises(
        SchemaError, match=r"b\.parquet has another schema .*: column 'id' is BINARY in it, and bigint was expected"
    ):
        flow.to_list().blocking_get()


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("id,town", r"'town' where 'city' was expected \(id, town; expected id, city\)"),
        ("id,city,km", "it has 3 columns, and 2 were expected"),
    ],
)
def test_another_header_is_told_with_its_file(header: str, said: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a.csv").write_text("id,city\n1,Ulm\n")
    (tmp_path / "b.csv").write_text(f"{header}\n1,Ulm,2\n")
    flow = rx_spark.csv(tmp_path, schema=TripTuple, config=spark_config)
    with pytest.raises(SchemaError, match=rf"b\.csv has another header: .*{said}.*\n.*header=False"):
        flow.to_list().blocking_get()


# --- paths ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
@pytest.mark.parametrize("schema", [TripTuple, None], ids=["class", "no class"])
def test_an_empty_folder_is_an_error_that_names_it(kind: str, schema: Any, tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "day=1").mkdir()
    (tmp_path / ".hidden").write_text("x")
    with pytest.raises(FileNotFoundError, match=rf"{kind}\('{tmp_path}'\): there is no data file.*\n  Does the job that writes"):
        getattr(rx_spark, kind)(tmp_path, schema=schema, config=spark_config)


def test_a_folder_in_which_a_job_wrote_no_row_has_none(tmp_path: Path, spark_config: SparkConfig) -> None:
    none = rx_spark.from_iterable([TripTuple(1, "Ulm")], config=spark_config).filter(lambda trip: trip.id > 1)
    rx_spark.write_csv(none, tmp_path / "out", schema=TripTuple, partition_by="city").blocking_get()
    assert not any(name.endswith(".csv") for name in os.listdir(tmp_path / "out"))
    assert rx_spark.csv(tmp_path / "out", schema=TripTuple, config=spark_config).to_list().blocking_get() == []


def test_a_url_of_a_file_system_that_spark_does_not_have_says_what_is_missing(spark_config: SparkConfig) -> None:
    with pytest.raises(SparkJobError, match=r"S3AFileSystem' is not among its jars.*\n.*\n.*spark\.jars\.packages.*hadoop-aws"):
        rx_spark.parquet("s3a://bucket/trips", config=spark_config)
    with pytest.raises(SparkJobError, match=r"'foo' is not among"):
        rx_spark.csv("foo://bucket/trips", config=spark_config)


# --- fields and keys --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plain:
    id: int
    city: str


@pytest.mark.parametrize(
    "make",
    [
        lambda flow: flow.map(it.town),
        lambda flow: flow.filter(it.town == "Ulm"),
        lambda flow: flow.map(lambda trip: trip.town),
        lambda flow: flow.group_aggregate(it.town, n=it.count()),
        lambda flow: flow.group_reduce(it.town, it.id, max),
    ],
    ids=["map", "filter", "lambda", "group_aggregate", "group_reduce"],
)
@pytest.mark.parametrize("schema", [Plain, TripTuple, None], ids=["dataclass", "NamedTuple", "Row"])
def test_a_missing_column_is_told_with_those_there_are(
    make: Callable[[Flowable[Any]], Flowable[Any]], schema: Any, folder: Path, spark_config: SparkConfig
) -> None:
    flow: Flowable[Any] = rx_spark.parquet(folder, schema=schema, config=spark_config)
    with pytest.raises(AttributeError, match="has no attribute 'town'") as caught:
        make(flow).to_list().blocking_get()
    assert "has the fields" in notes(caught.value)
    assert "id, city" in notes(caught.value)


def test_a_misspelt_column_is_told_with_the_one_that_is_meant(folder: Path, spark_config: SparkConfig) -> None:
    with pytest.raises(AttributeError) as caught:
        rx_spark.parquet(folder, schema=Plain, config=spark_config).map(it.cit).to_list().blocking_get()
    assert "Plain has the fields id, city.  Did you mean 'city'?" in notes(caught.value)
    assert "in map(it.cit) of rx_spark.parquet(" in notes(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda flow: flow.map(lambda trip: [trip.city]).distinct(),
        lambda flow: flow.group_reduce(lambda trip: [trip.city], it.id, max),
        lambda flow: flow.group_by(lambda trip: [trip.city]).flat_map(lambda group: group.count()),
        lambda flow: flow.group_aggregate(lambda trip: [trip.city], n=it.count()),
    ],
    ids=["distinct", "group_reduce", "group_by", "group_aggregate"],
)
def test_a_key_without_a_hash_is_shown_with_its_operator(
    make: Callable[[Flowable[Any]], Flowable[Any]], request: pytest.FixtureRequest, spark_config: SparkConfig
) -> None:
    flow = rx_spark.from_iterable(trips(), config=spark_config)
    with pytest.raises(TypeError, match="unhashable type: 'list'") as caught:
        make(flow).to_list().blocking_get()
    said = notes(caught.value)
    assert any(f"and ['{city}'] has none.\n  Right:  a tuple instead of a list" in said for city in CITIES)
    name = request.node.callspec.id
    assert f"in {name}(" in said


def test_an_error_of_a_function_says_nothing_of_keys(spark_config: SparkConfig) -> None:
    flow = rx_spark.from_iterable(trips(), config=spark_config)
    with pytest.raises(TypeError) as caught:
        flow.group_reduce(it.city, lambda trip: trip.city, lambda first, second: first - second).to_list().blocking_get()  # type: ignore[operator]  # what is tested
    assert "found by their hash" not in notes(caught.value)


# --- databases --------------------------------------------------------------------------------------------------------


@pytest.mark.engine("embedded")
def test_a_table_of_a_database_that_is_not_there_is_named_without_frames_of_java(
    tmp_path: Path, spark_config: SparkConfig
) -> None:
    with pytest.raises(LookupError, match="NOPE") as raised:
        rx_spark.jdbc(f"jdbc:derby:{tmp_path}/db;create=true", "NOPE", config=spark_config)
    assert "\tat " not in str(raised.value)


@pytest.mark.engine("embedded")
def test_a_database_without_a_driver_says_how_spark_gets_one(spark_config: SparkConfig) -> None:
    with pytest.raises(LookupError, match=r"spark\.jars\.packages"):
        rx_spark.jdbc("jdbc:postgresql://127.0.0.1:1/db", "trips", config=spark_config)

"""Files that Spark passes over in silence are told: those of no bytes, and Parquet files without a column."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rx_spark
from rx_fusion.symbols import it
from rx_spark import BadFileError, BadRecords, SchemaError, SparkConfig
from rx_spark._jobs import _file_checks

pytestmark = [pytest.mark.cluster, pytest.mark.spark]


@dataclass(frozen=True)
class Pair:
    k: str
    v: int


@dataclass(frozen=True)
class Open:
    k: str
    v: int | None


@dataclass(frozen=True)
class Stop:
    city: str
    n: int | None


@dataclass(frozen=True)
class Tour:
    k: str
    stops: list[Stop]


def table(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


# --- no bytes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("schema", [Pair, None], ids=["class", "no class"])
def test_a_parquet_file_of_no_bytes_is_named(at: int, schema: Any, tmp_path: Path, spark_config: SparkConfig) -> None:
    for number in range(3):
        table(tmp_path / f"{number}.parquet", k=["a"], v=[number])
    (tmp_path / f"{at}.parquet").write_bytes(b"")
    with pytest.raises(BadFileError, match=rf"{at}\.parquet cannot be read: it has no bytes") as caught:
        rx_spark.parquet(tmp_path, schema=schema, config=spark_config)
    assert caught.value.path == str(tmp_path / f"{at}.parquet")


def test_the_only_file_of_no_bytes_is_named(tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a.parquet").touch()
    for path in (tmp_path, tmp_path / "a.parquet"):
        with pytest.raises(BadFileError, match=r"a\.parquet cannot be read: it has no bytes"):
            rx_spark.parquet(path, config=spark_config)


def test_a_file_that_is_emptied_before_the_job_begins_is_named(tmp_path: Path, spark_config: SparkConfig) -> None:
    for number in range(2):
        table(tmp_path / f"{number}.parquet", k=["a"], v=[number])
    flow = rx_spark.parquet(tmp_path, schema=Pair, config=spark_config)
    assert flow.count().blocking_get() == 2
    (tmp_path / "1.parquet").write_bytes(b"")
    for made in (flow.count(), flow.map(lambda pair: pair.k).to_list(), flow.write_parquet(tmp_path / "out")):
        with pytest.raises(BadFileError, match=r"1\.parquet cannot be read: it has no bytes"):
            made.blocking_get()


@pytest.mark.parametrize("kind", ["csv", "json"])
@pytest.mark.parametrize("packed", [".gz", ".bz2"])
def test_a_packed_file_of_no_bytes_is_named_whatever_on_bad_says(
    kind: str, packed: str, tmp_path: Path, spark_config: SparkConfig
) -> None:
    (tmp_path / f"a.{kind}.gz").write_bytes(gzip.compress(b'{"k": "a", "v": 1}\n' if kind == "json" else b"k,v\na,1\n"))
    (tmp_path / f"b.{kind}{packed}").touch()
    with pytest.raises(BadFileError, match=rf"b\.{kind}\{packed} cannot be read: it has no bytes"):
        getattr(rx_spark, kind)(tmp_path, schema=Pair, on_bad="collect", bad=BadRecords(), config=spark_config)


@pytest.mark.parametrize("packed", [".gz", ".bz2", ".zst"])
def test_a_packed_file_of_lines_of_no_bytes_is_named(packed: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    path = tmp_path / f"a.txt{packed}"
    path.touch()
    for given in (str(path), f"file://{path}"):
        with pytest.raises(BadFileError, match="cannot be read: it has no bytes") as caught:
            rx_spark.text(given, on_bad="skip", bad=BadRecords(), config=spark_config).to_list().blocking_get()
        assert caught.value.path == str(path)


def test_plain_text_of_no_bytes_has_no_lines_and_hidden_files_do_not_count(tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "a.csv").touch()
    (tmp_path / "a" / "a.txt").touch()
    assert rx_spark.csv(tmp_path / "a", schema=Pair, config=spark_config).to_list().blocking_get() == []
    assert rx_spark.json(tmp_path / "a", schema=Pair, config=spark_config).to_list().blocking_get() == []
    assert rx_spark.text(tmp_path / "a", config=spark_config).to_list().blocking_get() == []
    table(tmp_path / "b" / "a.parquet", k=["a"], v=[1])
    for hidden in ("_SUCCESS", ".b.parquet.crc", "_b.parquet", ".c.gz"):
        (tmp_path / "b" / hidden).touch()
    assert rx_spark.parquet(tmp_path / "b", schema=Pair, config=spark_config).to_list().blocking_get() == [Pair("a", 1)]


# --- other columns ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("schema", "kind"), [(Pair, "int"), (Open, r"int \| None")])
def test_a_parquet_file_without_a_column_is_named(schema: Any, kind: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    table(tmp_path / "a b%.parquet", k=["a"], v=[1])
    table(tmp_path / "b c%.parquet", k=["b"], w=[2])
    with pytest.raises(SchemaError) as caught:
        rx_spark.parquet(tmp_path, schema=schema, config=spark_config)
    said = str(caught.value)
    assert said.startswith(f"{tmp_path}/b c%.parquet has another schema than the other files: it has no column 'v', expected ")
    assert "found k, w." in said
    assert "old.map(anew).merge_with(new)" in said


@pytest.mark.parametrize("name", ["b%20c", "b, c", "b\nc", "b[c]", "b=ü"])
def test_a_file_with_signs_in_its_name_is_looked_at(name: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    table(tmp_path / "a.parquet", k=["a"], v=[1])
    table(tmp_path / f"{name}.parquet", k=["b"])
    with pytest.raises(SchemaError) as caught:
        rx_spark.parquet(tmp_path, schema=Open, config=spark_config)
    assert str(caught.value).startswith(f"{tmp_path / name}.parquet has another schema than the other files")


def test_a_field_that_is_missing_inside_a_row_is_named(tmp_path: Path, spark_config: SparkConfig) -> None:
    table(tmp_path / "a.parquet", k=["a"], stops=[[{"city": "Ulm", "n": 1}]])
    assert rx_spark.parquet(tmp_path, schema=Tour, config=spark_config).count().blocking_get() == 1
    table(tmp_path / "b.parquet", k=["a"], stops=[[{"city": "Ulm"}]])
    with pytest.raises(SchemaError, match=r"b\.parquet .*: it has no column 'stops\.n'"):
        rx_spark.parquet(tmp_path, schema=Tour, config=spark_config)


@pytest.mark.parametrize("more", ["a", "b"])
def test_without_a_class_all_files_have_the_same_columns(more: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    for name in ("a", "b"):
        table(tmp_path / f"{name}.parquet", k=["a"], **({"w": [1]} if name == more else {}))
    with pytest.raises(SchemaError, match=r"\.parquet has another schema than the other files: it has (no|the) column 'w'"):
        rx_spark.parquet(tmp_path, config=spark_config)


def test_more_columns_than_the_class_has_are_left_out_and_folders_are_columns(tmp_path: Path, spark_config: SparkConfig) -> None:
    table(tmp_path / "k=a" / "a.parquet", v=[1])
    table(tmp_path / "k=b" / "b.parquet", V=[2], w=["x"])
    flow = rx_spark.parquet(tmp_path, schema=Pair, config=spark_config)
    assert sorted(flow.map(it.v).to_list().blocking_get()) == [1, 2]


def test_a_file_that_comes_before_the_job_begins_is_looked_at(tmp_path: Path, spark_config: SparkConfig) -> None:
    table(tmp_path / "a.parquet", k=["a"], v=[1])
    flow = rx_spark.parquet(tmp_path, schema=Open, config=spark_config)
    assert flow.to_list().blocking_get() == [Open("a", 1)]
    table(tmp_path / "b.parquet", k=["b"])
    with pytest.raises(SchemaError, match=r"b\.parquet has another schema .*no column 'v', expected int \| None; found k"):
        flow.filter(it.v > 5).to_list().blocking_get()


def test_an_application_that_merges_schemas_gets_none(tmp_path: Path, spark_config: SparkConfig) -> None:
    table(tmp_path / "a.parquet", k=["a"], v=[1])
    table(tmp_path / "b.parquet", k=["b"])
    flow = _with_merging(
        lambda: rx_spark.parquet(tmp_path, schema=Open, config=spark_config).to_list().blocking_get(), spark_config
    )
    assert sorted(flow, key=repr) == [Open("a", 1), Open("b", None)]


def _with_merging(make: Callable[[], Any], config: SparkConfig) -> Any:
    session = _file_checks_session(config)
    session.conf.set("spark.sql.parquet.mergeSchema", "true")
    try:
        return make()
    finally:
        session.conf.unset("spark.sql.parquet.mergeSchema")


def _file_checks_session(config: SparkConfig) -> Any:
    from rx_spark._session._session import engine

    return engine(config).application


def test_of_more_files_than_a_look_pays_for_spark_gives_none(
    tmp_path: Path, spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(tmp_path / "a.parquet", k=["a"], v=[1])
    flow = rx_spark.parquet(tmp_path, schema=Open, config=spark_config)
    table(tmp_path / "b.parquet", k=["b"])
    monkeypatch.setattr(_file_checks, "MOST_FILES", 1)
    assert sorted(flow.to_list().blocking_get(), key=repr) == [Open("a", 1), Open("b", None)]

"""Overwriting a table: the old one stays until the new one is committed, and takes its name then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from frames import CITIES, ROWS, Fare, Trip, refused, to_fare, write_trips

import rx_spark
from rx_fusion.symbols import it
from rx_ops import Flowable
from rx_spark import SparkConfig, SparkJobError
from rx_spark._plans._tables import TableReplacement
from rx_spark._session._session import engine

pytestmark = pytest.mark.spark

NAME = "rx_fares"
OLD = [("Köln", 1), ("Ulm", 2)]


@pytest.fixture
def source(tmp_path: Path, spark_config: SparkConfig) -> Flowable[Trip]:
    return rx_spark.parquet(write_trips(tmp_path / "trips"), schema=Trip, config=spark_config)


@pytest.fixture
def session(spark_config: SparkConfig) -> Iterator[Any]:
    """The application's session, without a table; in the end there is no other one, and no files of another one."""
    application = engine(spark_config).application
    application.sql(f"DROP TABLE IF EXISTS {NAME}")
    yield application
    tables = {table.name for table in application.catalog.listTables() if table.name.startswith(NAME)}
    folder = Path((application.catalog.getDatabase("default").locationUri or "").removeprefix("file:"))
    files = {each.name for each in folder.glob(f"{NAME}*")}
    application.sql(f"DROP TABLE IF EXISTS {NAME}")
    assert tables <= {NAME}
    assert files <= {NAME}


def write(rows: list[tuple[str, int]], **more: Any) -> None:
    fares = rx_spark.from_iterable([Fare(*row) for row in rows])
    rx_spark.write_table(fares, NAME, schema=Fare, **more).blocking_get()


def read(session: Any) -> list[tuple[str, int]]:
    return sorted((row["city"], row["cents"]) for row in session.table(NAME).collect())


@pytest.mark.parametrize("by", ["city", ()], ids=["partitions", "one folder"])
def test_a_function_that_fails_leaves_the_old_table(by: Any, source: Flowable[Trip], session: Any) -> None:
    write(OLD, partition_by=by)
    with pytest.raises(ValueError, match="has no fare"):
        rx_spark.write_table(source.map(refused), NAME, mode="overwrite", partition_by=by).blocking_get()
    assert read(session) == OLD


@pytest.mark.parametrize("by", ["city", ()], ids=["partitions", "one folder"])
def test_all_of_a_table_is_replaced(by: Any, source: Flowable[Trip], session: Any) -> None:
    write(OLD, partition_by="city")
    assert read(session) == OLD  # which the session remembers
    written = rx_spark.write_table(source.map(to_fare), NAME, mode="overwrite", partition_by=by).blocking_get()
    assert written.rows == ROWS
    assert written.files >= (len(CITIES) if by else 1)
    assert len(read(session)) == ROWS
    assert {city for city, _ in read(session)} == set(CITIES)


@pytest.mark.nightly
def test_a_table_that_is_read_can_be_overwritten(session: Any) -> None:
    write(OLD, partition_by="city")
    there = rx_spark.table(NAME, schema=Fare)
    ulm = rx_spark.write_table(there.filter(it.city == "Ulm"), NAME, mode="overwrite", partition_by="city")
    assert ulm.blocking_get().rows == 1
    assert read(session) == [("Ulm", 2)]
    assert there.to_list().blocking_get() == [Fare("Ulm", 2)]


@pytest.mark.nightly
@pytest.mark.parametrize("at", ["ALTER", "MSCK"])
def test_an_error_between_the_two_renames_gives_the_old_table_its_name_again(
    at: str, session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(OLD, partition_by="city")
    sql = type(session).sql

    def broken(self: Any, text: str) -> Any:
        if text.startswith("ALTER" if at == "ALTER" else "MSCK") and "__rx_" in text and _is_second(text, at):
            raise OSError("the metastore is away")
        return sql(self, text)

    monkeypatch.setattr(type(session), "sql", broken)
    with pytest.raises(SparkJobError, match=f"could not take the place of table default.{NAME}: the metastore is away"):
        write([("Bonn", 3)], mode="overwrite", partition_by="city")
    assert read(session) == OLD


def _is_second(text: str, at: str) -> bool:
    """Whether it is about the new table on its way to the name, or the old one moved aside."""
    return "__rx_new_" in text.split(" RENAME ")[0] if at == "ALTER" else "__rx_old_" in text


@pytest.mark.nightly
def test_a_table_with_files_elsewhere_becomes_one_of_the_catalog(session: Any, tmp_path: Path) -> None:
    """As with Spark alone; the files that are elsewhere stay."""
    session.sql(f"CREATE TABLE {NAME} USING parquet LOCATION '{tmp_path}/there' AS SELECT 'Ulm' AS city, 1L AS cents")
    write([("Bonn", 3)], mode="overwrite")
    assert read(session) == [("Bonn", 3)]
    assert list((tmp_path / "there").glob("*.parquet"))


@pytest.mark.nightly
def test_a_table_that_is_not_there_is_made(session: Any) -> None:
    write(OLD, mode="overwrite")
    assert read(session) == OLD


def test_what_is_no_table_of_sparks_own_catalog_is_left_to_spark(session: Any) -> None:
    session.sql("CREATE OR REPLACE TEMPORARY VIEW rx_one AS SELECT 1 AS x")
    assert TableReplacement.of(session, "rx_one") is None
    assert TableReplacement.of(session, "rx_fares_nowhere") is None
    assert TableReplacement.of(session, "other.default.rx_fares") is None
    theirs: Any = SimpleNamespace(conf={"spark.sql.catalog.spark_catalog": "org.example.TheirCatalog"})
    assert TableReplacement.of(theirs, NAME) is None


# --- which table, and who sees it -------------------------------------------------------------------------------------


@pytest.fixture
def other(session: Any) -> Iterator[str]:
    """A database that is the current one."""
    session.sql("CREATE DATABASE IF NOT EXISTS rx_other")
    before = session.catalog.currentDatabase()
    session.catalog.setCurrentDatabase("rx_other")
    yield "rx_other"
    session.catalog.setCurrentDatabase(before)
    session.sql("DROP DATABASE rx_other CASCADE")


@pytest.mark.parametrize("mode", ["error", "append", "overwrite"])
def test_a_name_means_the_table_of_the_current_database(mode: Any, session: Any, other: str) -> None:
    precious = [("Bonn", 9)]
    session.createDataFrame(precious, "city string, cents bigint").write.saveAsTable(f"default.{NAME}")
    if mode == "overwrite":
        session.createDataFrame([("Ulm", 5)], "city string, cents bigint").write.saveAsTable(NAME)
    write(OLD, mode=mode)
    assert read(session) == OLD
    assert [tuple(row) for row in session.table(f"default.{NAME}").collect()] == precious
    assert rx_spark.table(NAME, schema=Fare).count().blocking_get() == len(OLD)


def test_a_name_with_a_database_means_that_one(session: Any, other: str) -> None:
    fares = rx_spark.from_iterable([Fare(*row) for row in OLD])
    rx_spark.write_table(fares, f"default.`{NAME}`", schema=Fare).blocking_get()
    assert sorted(tuple(row) for row in session.table(f"default.{NAME}").collect()) == OLD
    assert not session.catalog.tableExists(f"{other}.{NAME}")


def test_who_has_read_a_table_sees_what_is_added_to_it(session: Any) -> None:
    write(OLD[:1])
    assert read(session) == OLD[:1]
    assert rx_spark.table(NAME, schema=Fare).count().blocking_get() == 1
    write(OLD[1:], mode="append")
    assert read(session) == OLD
    assert rx_spark.sql(f"SELECT * FROM {NAME}", schema=Fare).count().blocking_get() == 2


def test_a_table_that_is_there_is_told_as_a_folder_is(session: Any) -> None:
    write(OLD)
    with pytest.raises(FileExistsError, match="mode='overwrite'"):
        write(OLD)


def test_files_are_written_as_the_application_has_them_written(session: Any, tmp_path: Path) -> None:
    settings = {"spark.sql.parquet.compression.codec": "gzip", "spark.sql.files.maxRecordsPerFile": "1"}
    before = {name: session.conf.get(name) for name in settings}
    try:
        for name, value in settings.items():
            session.conf.set(name, value)
        fares = rx_spark.from_iterable([Fare(*row) for row in OLD])
        written = rx_spark.write_parquet(fares, tmp_path / "out", schema=Fare).blocking_get()
    finally:
        for name, value in before.items():
            session.conf.set(name, value)
    assert written.files == len(OLD)
    assert len(list((tmp_path / "out").glob("*.gz.parquet"))) == len(OLD)
    rx_spark.write_parquet(fares, tmp_path / "again", schema=Fare).blocking_get()
    assert not list((tmp_path / "again").glob("*.gz.parquet"))

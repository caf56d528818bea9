"""Sources of rows: DataFrames, files, tables; what of a pipeline is columns, and that answers are those of a local run."""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from frames import CITIES, ROWS, Trip, TripDict, TripTuple, to_fare, trips

import rx_spark
from rx_fusion import fusion_off
from rx_fusion.symbols import it, sym
from rx_ops import Flowable, Row
from rx_spark import SchemaError, SparkConfig
from rx_spark._columns._frames import FrameSource, Where
from rx_spark._pipelines._head import SparkHead
from rx_spark._session._session import engine

pytestmark = [pytest.mark.cluster, pytest.mark.spark]


PIPELINES: dict[str, Callable[[Flowable[Trip]], Flowable[Any]]] = {
    "rows": lambda flow: flow,
    "filter": lambda flow: flow.filter(it.id > 100),
    "filter, filter": lambda flow: flow.filter(it.id >= 10).filter(it.city == "Ulm"),
    "filter of null": lambda flow: flow.filter(it.km == None),  # noqa: E711  # it is an expression
    "map to a field": lambda flow: flow.map(it.city),
    "map to a tuple": lambda flow: flow.map(sym(lambda trip: (trip.city, trip.id * 2, trip.day))),
    "map to a tuple, then its parts": lambda flow: flow.map(sym(lambda trip: (trip.city, trip.id % 7))).filter(it[1] > 2),
    "lambda in the middle": lambda flow: flow.filter(it.id < 50).map(lambda trip: (trip.city, trip.id)).filter(it[1] > 3),
    "lambda alone": lambda flow: flow.map(to_fare),
    "group_reduce by columns": lambda flow: flow.group_reduce(it.city, it.id, operator.add),
    "group_reduce by columns, smallest": lambda flow: flow.group_reduce(it.city, it.id, min),
    "group_reduce by a lambda": lambda flow: flow.group_reduce(lambda trip: trip.city, it.id, operator.add),
    "group_reduce, then columns": lambda flow: flow.group_reduce(it.city, it.id, operator.add).filter(it[1] > 14_900),
    "group_by, count": lambda flow: flow.group_by(it.city).flat_map(lambda g: g.count().map(lambda n: (g.key, n))),
    "group_by, map, sum": lambda flow: flow.group_by(it.city).flat_map(
        lambda group: group.map(it.id * 2).map(it + 1).sum().map(lambda total: (group.key, total))
    ),
    "group_by, largest of floats": lambda flow: (
        flow.filter(it.km != None)  # noqa: E711  # it is an expression
        .group_by(it.city)
        .flat_map(lambda group: group.map(it.km).max().map(lambda largest: (group.key, largest)))
    ),
    "group_aggregate": lambda flow: flow.group_aggregate(
        it.city, total=it.id.sum(), n=it.count(), known=it.km.count(), least=it.id.min(), mean=it.id.average()
    ),
    "group_aggregate of several keys": lambda flow: flow.group_aggregate((it.city, it.day), n=it.count()),
    "group_aggregate of a pair": lambda flow: flow.group_aggregate((it.city, it.id), n=it.count(), last=it.city.max()),
    "group_aggregate by a lambda": lambda flow: flow.group_aggregate(lambda trip: trip.city[0], total=it.id.sum()),
    "group_aggregate, then columns": lambda flow: flow.group_aggregate(it.city, n=it.count()).filter(it.n > 1).map(it.city),
    "distinct": lambda flow: flow.map(it.city).distinct(),
    "distinct of floats": lambda flow: flow.map(lambda trip: trip.km or 0.0).distinct(),
    "count": lambda flow: flow.filter(it.id > 7).count().to_flowable(),
    "count of none": lambda flow: flow.filter(it.id < 0).count().to_flowable(),
    "sum": lambda flow: flow.map(it.id).sum().to_flowable(),
    "sum of none": lambda flow: flow.filter(it.id < 0).map(it.id).sum().to_flowable(),
    "sum of none by lambdas": lambda flow: flow.filter(it.id < 0).map(lambda trip: trip.id).sum().to_flowable(),
    "largest": lambda flow: flow.map(it.id).max().to_flowable(),
    "largest of none": lambda flow: flow.filter(it.id < 0).map(it.id).max().to_flowable(),
    "reduce": lambda flow: flow.map(it.id).reduce(operator.add).to_flowable(),
    "driver at the end": lambda flow: flow.map(it.id).sorted().take(3),
}


@pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES)
def test_the_answers_are_those_of_a_local_run(make: Callable[[Flowable[Trip]], Flowable[Any]], source: Flowable[Trip]) -> None:
    local = sorted(make(Flowable.from_iterable(trips())).to_list().blocking_get(), key=repr)
    assert sorted(make(source).to_list().blocking_get(), key=repr) == local


SORTED: dict[str, Callable[[Flowable[Trip]], Flowable[Any]]] = {
    "by a field": lambda flow: flow.sorted(it.id),
    "backwards": lambda flow: flow.sorted(it.id, reverse=True).map(it.id),
    "by two fields": lambda flow: flow.sorted(sym(lambda trip: (trip.city, trip.id))),
    "values": lambda flow: flow.map(it.city).sorted(),
    "floats": lambda flow: flow.filter(it.km != None).sorted(it.km),  # noqa: E711  # it is an expression
    "by an expression": lambda flow: flow.sorted(it.id * -1).map(it.id).filter(it > 20),
    "then a lambda": lambda flow: flow.sorted(it.id).map(lambda trip: trip.id + 1).filter(it % 2 == 0),
    "the first ones": lambda flow: flow.sorted(it.id, reverse=True).take(7).map(it.id),
    "the first ones of what is sorted twice": lambda flow: flow.sorted(it.city).sorted(it.id).take(3),
    "behind groups": lambda flow: flow.group_reduce(it.city, it.id, operator.add).sorted(it[0]),
}


@pytest.mark.parametrize("make", SORTED.values(), ids=SORTED)
def test_what_is_sorted_comes_in_its_order(make: Callable[[Flowable[Trip]], Flowable[Any]], source: Flowable[Trip]) -> None:
    flow = make(source)
    assert flow.to_list().blocking_get() == make(Flowable.from_iterable(trips())).to_list().blocking_get()
    assert "columns: " in flow.explain()
    assert "driver from here" not in flow.explain()


def test_equal_keys_come_in_an_order_that_is_always_the_same(source: Flowable[Trip]) -> None:
    flow = source.sorted(it.city)
    assert [trip.city for trip in flow] == sorted(trip.city for trip in trips())
    assert list(flow) == list(flow)


def test_a_consumer_that_stops_early_gets_the_first_of_what_is_sorted(source: Flowable[Trip]) -> None:
    iterator = iter(source.sorted(it.id, reverse=True))
    assert [next(iterator).id for _ in range(3)] == [ROWS - 1, ROWS - 2, ROWS - 3]


def test_a_null_among_keys_is_a_type_error(source: Flowable[Trip]) -> None:
    with pytest.raises(TypeError, match="'<' not supported between instances of 'NoneType' and 'float'"):
        source.sorted(it.km).to_list().blocking_get()


@pytest.mark.parametrize("name", ["filter", "group_reduce by columns", "count"])
def test_without_fusion_the_answers_are_the_same(name: str, source: Flowable[Trip]) -> None:
    make = PIPELINES[name]
    local = sorted(make(Flowable.from_iterable(trips())).to_list().blocking_get(), key=repr)
    with fusion_off():
        assert sorted(make(source).to_list().blocking_get(), key=repr) == local
    assert sorted(make(source.hide()).to_list().blocking_get(), key=repr) == local


def test_rows_come_as_the_class_that_was_asked_for(folder: Path, spark_config: SparkConfig) -> None:
    named = rx_spark.parquet(folder, schema=TripTuple, config=spark_config).filter(it.id == 7)
    assert named.to_list().blocking_get() == [TripTuple(7, CITIES[1])]
    dicts = rx_spark.parquet(folder, schema=TripDict, config=spark_config).filter(it["id"] == 7)
    assert dicts.to_list().blocking_get() == [{"id": 7, "km": 1.75}]
    plain = rx_spark.parquet(folder, config=spark_config).filter(it.id == 7).filter(it["city"] != "Ulm")
    (row,) = plain.to_list().blocking_get()
    assert row == Row(day=datetime.date(2026, 1, 3), id=7, city="Köln", km=1.75)


# --- where rows come from ---------------------------------------------------------------------------------------------


@pytest.fixture
def view(folder: Path, spark_config: SparkConfig) -> Iterator[str]:
    session = engine(spark_config).application
    session.read.parquet(str(folder)).createOrReplaceTempView("trips_view")
    yield "trips_view"
    session.catalog.dropTempView("trips_view")


def test_a_dataframe_of_the_application_keeps_what_it_was_told(folder: Path, spark_config: SparkConfig) -> None:
    frame = engine(spark_config).application.read.parquet(str(folder)).where("id < 4").orderBy("id")
    assert rx_spark.dataframe(frame, schema=Trip).map(it.id).to_list().blocking_get() == [0, 1, 2, 3]


def test_batches_are_items_and_functions_of_them_run_on_executors(folder: Path, spark_config: SparkConfig) -> None:
    frame = engine(spark_config).application.read.parquet(str(folder)).select("id", "city")
    flow = rx_spark.batches(frame)
    total = flow.map(lambda batch: sum(batch.column(0).to_pylist())).sum()
    assert "Python from map(<lambda" in total.explain()
    assert total.blocking_get() == sum(range(ROWS))
    assert sum(batch.num_rows for batch in flow) == ROWS
    pandas = rx_spark.batches(frame, as_="pandas").map(lambda made: int(made["id"].sum()))
    assert pandas.sum().blocking_get() == sum(range(ROWS))
    with pytest.raises(ValueError, match=r"batches\(as_='numpy'\): one of 'arrow', 'pandas', 'polars'"):
        rx_spark.batches(frame, as_="numpy")  # type: ignore[call-overload]  # on purpose


@dataclass(frozen=True)
class Place:
    id: int
    city: str


@pytest.mark.parametrize("kind", ["arrow", "pandas"])
def test_batches_that_functions_have_changed_are_written(
    kind: Any, folder: Path, spark_config: SparkConfig, tmp_path: Path
) -> None:
    frame = engine(spark_config).application.read.parquet(str(folder)).select("city", "id")
    flow: Any = rx_spark.batches(frame, as_=kind)
    kept = flow.filter(lambda batch: len(batch) > 0)
    assert rx_spark.write_parquet(kept, tmp_path / "kept").blocking_get().rows == ROWS
    cut = flow.map(lambda batch: batch[:1])
    written = rx_spark.write_parquet(cut, tmp_path / "cut", schema=Place).blocking_get()
    assert 0 < written.rows < ROWS
    back = rx_spark.parquet(tmp_path / "cut", schema=Place, config=spark_config)
    assert {row.city for row in back} <= set(CITIES)
    assert rx_spark.to_dataframe(cut, Place).count() == written.rows


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda batch: batch.drop_columns(["city"]), "a batch without the column 'city' is to be written as Place; it has id"),
        (
            lambda batch: batch.set_column(batch.schema.get_field_index("id"), "id", pa.array(["1"] * len(batch))),
            "column 'id' of a batch is string, and Place has int64 there",
        ),
        (
            lambda batch: batch.set_column(batch.schema.get_field_index("id"), "id", pa.array([1.5] * len(batch))),
            "column 'id' of a batch is double, and Place has int64 there",
        ),
        (
            lambda batch: batch.set_column(batch.schema.get_field_index("city"), "city", pa.nulls(len(batch), pa.string())),
            "column 'city' holds a null",
        ),
    ],
    ids=["missing", "text", "cut", "null"],
)
def test_batches_that_do_not_fit_are_refused(
    change: Any, text: str, folder: Path, spark_config: SparkConfig, tmp_path: Path
) -> None:
    frame = engine(spark_config).application.read.parquet(str(folder)).select("city", "id")
    changed = rx_spark.batches(frame).map(change)
    with pytest.raises(SchemaError, match=re.escape(text)):
        rx_spark.write_parquet(changed, tmp_path / "out", schema=Place).blocking_get()
    assert not (tmp_path / "out").exists()


def test_tables_and_queries_are_those_of_the_applications_session(view: str) -> None:
    assert rx_spark.table(view, schema=Trip).count().blocking_get() == ROWS
    query = rx_spark.sql(f"SELECT city, count(*) AS n FROM {view} GROUP BY city")
    assert sorted(query.map(it.n).to_list().blocking_get()) == [100, 100, 100]
    with pytest.raises(LookupError, match=r"table\(\): \[TABLE_OR_VIEW_NOT_FOUND\]"):
        rx_spark.table("no_such_view")
    with pytest.raises(ValueError, match=r"sql\(\): \[PARSE_SYNTAX_ERROR\]"):
        rx_spark.sql("SELEC 1")


def test_csv_and_json_are_read_as_the_class_says(tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a.csv").write_text("id,city\n1,Ulm\n2,Bonn\n")
    (tmp_path / "a.json").write_text('{"id": 1, "city": "Ulm"}\n{"id": 2, "city": "Bonn"}\n')
    expected = [TripTuple(1, "Ulm"), TripTuple(2, "Bonn")]
    assert rx_spark.csv(tmp_path / "a.csv", schema=TripTuple, config=spark_config).to_list().blocking_get() == expected
    assert rx_spark.json(tmp_path / "a.json", schema=TripTuple, config=spark_config).to_list().blocking_get() == expected
    assert rx_spark.csv(tmp_path / "a.csv", config=spark_config).map(it.city).to_list().blocking_get() == ["Ulm", "Bonn"]


@pytest.mark.engine("embedded")  # so is the database: it belongs to one process
def test_jdbc_reads_and_writes_a_table(tmp_path: Path, spark_config: SparkConfig) -> None:
    url = f"jdbc:derby:{tmp_path / 'db'};create=true"
    derby = {"driver": "org.apache.derby.jdbc.EmbeddedDriver"}
    given = rx_spark.from_iterable([TripTuple(1, "Ulm"), TripTuple(2, "Bonn")], config=spark_config)
    written = rx_spark.write_jdbc(given, url, "trips", schema=TripTuple, options=derby).blocking_get()
    assert (written.files, written.rows) == (0, 2)
    read = rx_spark.jdbc(url, "trips", options=derby, config=spark_config)
    assert sorted(read.map(lambda row: (row.id, row.city)).to_list().blocking_get()) == [(1, "Ulm"), (2, "Bonn")]


@pytest.mark.engine("embedded")
def test_rows_of_a_database_are_replaced_by_a_table_beside_it_in_one_transaction(
    tmp_path: Path, spark_config: SparkConfig
) -> None:
    """What the guide tells those to do whose readers must not see an overwriting half done."""
    url = f"jdbc:derby:{tmp_path / 'db'};create=true"
    derby = {"driver": "org.apache.derby.jdbc.EmbeddedDriver"}

    def write(rows: list[TripTuple], table: str) -> None:
        given = rx_spark.from_iterable(rows, config=spark_config)
        rx_spark.write_jdbc(given, url, table, schema=TripTuple, options=derby, mode="overwrite").blocking_get()

    def read() -> list[tuple[int, str]]:
        rows = rx_spark.jdbc(url, "trips", options=derby, config=spark_config)
        return sorted(rows.map(lambda row: (row.id, row.city)).to_list().blocking_get())

    write([TripTuple(1, "Ulm")], "trips")
    write([TripTuple(2, "Bonn"), TripTuple(3, "Köln")], "trips_new")
    jvm: Any = engine(spark_config).application.sparkContext._jvm
    connection = jvm.org.apache.derby.jdbc.EmbeddedDriver().connect(url, jvm.java.util.Properties())
    for commits in (False, True):
        connection.setAutoCommit(False)
        statement = connection.createStatement()
        statement.executeUpdate("DELETE FROM trips")
        statement.executeUpdate("INSERT INTO trips SELECT * FROM trips_new")
        statement.close()
        (connection.commit if commits else connection.rollback)()
        assert read() == ([(2, "Bonn"), (3, "Köln")] if commits else [(1, "Ulm")])
    connection.close()


# --- what does not fit ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("second", "said"), [("A", "called 'A' and 'a': Spark takes names that differ"), ("a", "called 'a', so")]
)
def test_columns_that_spark_cannot_tell_apart_are_refused_at_assembly(second: str, said: str, spark_config: SparkConfig) -> None:
    class Left(NamedTuple):
        a: int

    class Right(NamedTuple):
        b: int

    frame = engine(spark_config).application.sql("SELECT 1L, 2L, 3L").toDF("a", second, "b")
    for schema in (None, Left):
        with pytest.raises(SchemaError, match=said):
            rx_spark.dataframe(frame, schema=schema)
    assert rx_spark.dataframe(frame, schema=Right).blocking_list() == [Right(3)], "columns that are not asked for may be so"


def test_a_schema_that_does_not_fit_is_refused_at_assembly(folder: Path, spark_config: SparkConfig) -> None:
    @dataclass
    class Wrong:
        id: str
        town: str
        cit: str

    with pytest.raises(SchemaError) as caught:
        rx_spark.parquet(folder, schema=Wrong, config=spark_config)
    text = str(caught.value)
    assert "column 'id': expected str (string), found int" in text
    assert "column 'town' is missing" in text
    assert "column 'cit' is missing; there is 'city'" in text


def test_a_path_that_is_not_there_is_a_file_not_found(tmp_path: Path, spark_config: SparkConfig) -> None:
    with pytest.raises(FileNotFoundError, match=r"parquet\(\): \[PATH_NOT_FOUND\].*nothing"):
        rx_spark.parquet(tmp_path / "nothing", config=spark_config)
    with pytest.raises(TypeError, match="paths"):
        rx_spark.parquet(config=spark_config)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda flow: flow.filter(it.km > 3), TypeError, "'>' not supported between instances of 'NoneType' and 'int'"),
        (lambda flow: flow.map(it.km * 2), TypeError, r"unsupported operand type\(s\) for \*: 'NoneType' and 'int'"),
        (lambda flow: flow.filter(it.km > 3).filter(it.city == "Paris"), TypeError, "'>' not supported between instances"),
        (lambda flow: flow.map(sym(lambda t: (t.city, t.km * 2))).filter(it[0] == "Paris"), TypeError, "unsupported operand"),
        (lambda flow: flow.map(it.km), TypeError, r"map\(it\.km\) produced None, and None is not an item"),
        (lambda flow: flow.map(it.id // 0), ZeroDivisionError, "integer division or modulo by zero"),
        (lambda flow: flow.map(sym(lambda t: (t.id, t.id / t.id))).map(it[0]), ZeroDivisionError, "division by zero"),
        (lambda flow: flow.map(it.id * (1 << 62)), OverflowError, "64 bits"),
        (
            lambda flow: flow.map(lambda trip: trip.km * 2),
            TypeError,
            r"unsupported operand type\(s\) for \*: 'NoneType' and 'int'",
        ),
    ],
    ids=[
        "filter",
        "map",
        "hidden by a later filter",
        "hidden by a filter behind a map",
        "None",
        "zero",
        "zero in a part that is dropped",
        "overflow",
        "lambda",
    ],
)
def test_an_error_is_the_one_that_python_raises(make: Any, kind: type[Exception], text: str, source: Flowable[Trip]) -> None:
    with pytest.raises(kind, match=text):
        make(source).to_list().blocking_get()
    if kind is not OverflowError:  # Python's own numbers have no end
        with pytest.raises(kind, match=text):
            make(Flowable.from_iterable(trips())).to_list().blocking_get()


def test_a_null_where_the_class_has_none_is_told_of_columns_and_of_rows(folder: Path, spark_config: SparkConfig) -> None:
    @dataclass
    class Strict:
        id: int
        km: float

    flow = rx_spark.parquet(folder, schema=Strict, config=spark_config)
    for made in (flow, flow.filter(it.km > 3), flow.map(lambda trip: (trip.id, trip)), flow.map(lambda trip: trip.km)):
        with pytest.raises(SchemaError, match=r"column 'km' holds a null, and .*Strict\.km is a float"):
            made.to_list().blocking_get()
    for looking in (it.id, lambda trip: trip.id):
        assert flow.map(looking).count().blocking_get() == ROWS  # the column is not looked at


# --- what runs where --------------------------------------------------------------------------------------------------


def test_the_plan_says_what_is_columns_and_where_python_begins(source: Flowable[Trip]) -> None:
    flow = source.filter(it.id > 5).map(lambda trip: trip.city).distinct().scan(lambda a, b: a + b)
    text = flow.explain()
    assert "· columns: filter(it.id > 5)" in text
    assert "· Python from map(<lambda" in text
    assert ": it is a Python function" in text
    assert "· driver from here: scan(" in text


def test_an_operator_of_the_driver_is_not_where_python_begins(source: Flowable[Trip]) -> None:
    text = source.filter(it.id > 5).scan(lambda a, b: a).explain()
    assert "· driver from here: scan(" in text
    assert "Python from" not in text


def test_a_filter_reaches_the_scan_and_only_the_columns_used_are_read(source: Flowable[Trip]) -> None:
    text = source.filter(it.id > 100).filter(it.city == "Ulm").map(it.day).explain()
    assert "PushedFilters: [" in text
    assert "GreaterThan(id,100)" in text
    assert "EqualTo(city,Ulm)" in text
    assert "ReadSchema: struct<" in text


def test_a_guard_that_rows_have_passed_is_not_asked_again(folder: Path, spark_config: SparkConfig) -> None:
    source = rx_spark.parquet(folder, config=spark_config)  # without a class every column may hold a null

    def asked(flow: Flowable[Any]) -> int:
        head, _, _ = flow._resolve()
        assert isinstance(head, SparkHead)
        assert isinstance(head.plan.source, FrameSource)
        return sum(len(step.guards) for step in head.plan.source.steps if isinstance(step, Where))

    once = source.filter(it.id % 3 == 1)
    assert asked(once) == 1
    assert asked(once.filter(it.id > 5)) == 1
    assert asked(once.filter(it.id > 5).map(it.id + it.id)) == asked(source.map(it.id + it.id))
    assert asked(once.map(it.km).filter(it > 2.0)) == 2, "another column has guards of its own"


# --- names of columns -------------------------------------------------------------------------------------------------


@pytest.mark.spark
def test_a_column_may_have_any_name(spark_config: SparkConfig) -> None:
    frame = engine(spark_config).frames.createDataFrame([(1, 2, "x"), (3, 4, "y")], "`a.b` int, `c d` int, `e``f` string")
    rows = rx_spark.dataframe(frame)
    assert sorted(rows.map(tuple).blocking_list()) == [(1, 2, "x"), (3, 4, "y")]
    assert sorted(rows.map(lambda row: (row["e`f"], row["a.b"])).blocking_list()) == [("x", 1), ("y", 3)]
    assert rows.filter(it["a.b"] > 1).map(it["c d"]).blocking_list() == [4]
    batches = rx_spark.batches(frame, as_="arrow")
    assert batches.map(lambda batch: tuple(batch.schema.names)).distinct().blocking_list() == [("a.b", "c d", "e`f")]

"""Columns again behind functions of Python: the same items, or the same error, wherever the pipeline runs."""

from __future__ import annotations

import datetime
import decimal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, TypedDict

import pyarrow.parquet as pq
import pytest
from frames import ROWS, Fare, Total, Trip, to_fare, trips

import rx_spark
from rx_fusion import fusion_enabled, fusion_off
from rx_fusion.symbols import it, sym
from rx_ops import Flowable, Single
from rx_spark import BadRecords, Observed, SchemaError, SparkConfig, check
from rx_spark._columns._arrow import arrow_schema, write_fitting
from rx_spark._columns._fitting import fit_of

HALF: Any = 0.5
NOON = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)


class Place(NamedTuple):
    city: str
    stops: int


class Named(TypedDict):
    city: str
    cents: int | None


@dataclass(frozen=True)
class Leg:
    city: str
    places: list[Place]
    notes: dict[str, int]


@dataclass(frozen=True)
class Everything:
    number: int
    share: float
    text: str
    yes: bool
    raw: bytes
    day: datetime.date
    moment: datetime.datetime
    price: decimal.Decimal
    leg: Leg
    maybe: str | None


def everything(**changes: Any) -> Everything:
    leg = Leg("Ulm", [Place("Ulm", 1)], {"late": 2})
    values = (7, 0.5, "Köln", True, b"\xff", NOON.date(), NOON, decimal.Decimal("1.25"), leg, None)
    return Everything(**{**dict(zip(Everything.__annotations__, values, strict=True)), **changes})


# --- which items fit --------------------------------------------------------------------------------------------------

MISFITS: dict[str, tuple[dict[str, Any], str]] = {
    "another type": ({"number": 1.0}, r"Everything\.number is a int, and an item has 1\.0 there, a float"),
    "a bool is no int": ({"number": True}, r"Everything\.number is a int, and an item has True there, a bool"),
    "an int is no float": ({"share": 1}, r"Everything\.share is a float, and an item has 1 there, a int"),
    "None": ({"text": None}, r"Everything\.text is a str, and an item has None there"),
    "half a character": ({"text": "\ud800"}, "which UTF-8 cannot encode"),
    "more than 64 bits": ({"number": 1 << 63}, "which has more than 64 bits"),
    "no time zone": ({"moment": datetime.datetime(2026, 1, 1)}, "not in UTC"),
    "another time zone": ({"moment": NOON.astimezone(datetime.timezone(datetime.timedelta(hours=2)))}, "not in UTC"),
    "a moment is no day": ({"day": NOON}, r"Everything\.day is a date"),
    "too many digits": ({"price": decimal.Decimal("0.0000000000000000001")}, "18 behind it"),
    "no number": ({"price": decimal.Decimal("NaN")}, "no number of a column"),
    "inside a row": (
        {"leg": Leg("Ulm", [Place("Ulm", 1), Place("Bonn", HALF)], {})},
        r"Everything\.leg\.places\[\]\.stops is a int",
    ),
    "another class inside": ({"leg": Fare("Ulm", 1)}, r"Everything\.leg has to be a Leg, and an item has Fare"),
    "a value of a mapping": ({"leg": Leg("Ulm", [], {"late": HALF})}, r"Everything\.leg\.notes\{\} is a int"),
}


@pytest.mark.parametrize(("changes", "said"), MISFITS.values(), ids=MISFITS)
def test_a_value_that_columns_would_change_is_an_error_without_spark(changes: dict[str, Any], said: str) -> None:
    flow = rx_spark.as_rows(Flowable.of(everything(), everything(**changes)), Everything)
    with pytest.raises(SchemaError, match=said):
        flow.blocking_list()


@pytest.mark.parametrize(("changes", "said"), MISFITS.values(), ids=MISFITS)
def test_and_in_a_task_that_makes_columns_of_it(changes: dict[str, Any], said: str) -> None:
    """In the same words."""
    fit = fit_of(Everything)
    items = [everything(), everything(maybe="late"), everything(**changes)]
    with pytest.raises(SchemaError, match=said) as here:
        rx_spark.as_rows(Flowable.of(*items), Everything).blocking_list()
    with pytest.raises(SchemaError) as there:
        write_fitting(items, fit.row, arrow_schema(fit.row), fit)
    assert str(there.value) == str(here.value)
    assert write_fitting(items[:2], fit.row, arrow_schema(fit.row), fit).num_rows == 2


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.parametrize(("changes", "said"), MISFITS.values(), ids=MISFITS)
def test_and_on_spark(changes: dict[str, Any], said: str, spark_config: SparkConfig) -> None:
    flow = rx_spark.range(3, config=spark_config).map(lambda n: everything(**changes) if n == 2 else everything())
    with pytest.raises(SchemaError, match=said):
        rx_spark.as_rows(flow, Everything).count().blocking_get()


def test_an_item_of_another_class_is_an_error() -> None:
    class Special(Place):
        __slots__ = ()

    for item in (Special("Ulm", 1), ("Ulm", 1), Fare("Ulm", 1)):
        with pytest.raises(SchemaError, match=r"as_rows\(Place\): each item has to be a Place, and an item has "):
            rx_spark.as_rows(Flowable.of(item), Place).blocking_list()
    with pytest.raises(SchemaError, match="'late'"):
        rx_spark.as_rows(Flowable.of({"city": "Ulm", "late": 1}), Named).blocking_list()


def test_a_class_that_is_more_than_its_columns_is_refused() -> None:
    @dataclass
    class Counting:
        city: str
        seen: int = field(default=0, init=False)

    class Loose(TypedDict):
        city: NotRequired[str]

    @dataclass
    class Anything:
        value: Any

    for kind, said in ((Counting, "fields that are no arguments"), (Loose, "keys that may be missing"), (int, "describe rows")):
        with pytest.raises(TypeError, match=said):
            fit_of(kind)
    with pytest.raises(TypeError, match="cannot be written"):
        fit_of(Anything)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("kind", "items"),
    [
        (Everything, [everything(), everything(maybe="late", number=-(1 << 63), text="", raw=b"")]),
        (Place, [Place("Ulm", 1), Place("Bonn", 2)]),
        (Named, [{"city": "Ulm", "cents": None}, {"city": "Bonn", "cents": 3}]),
    ],
    ids=["dataclass", "NamedTuple", "TypedDict"],
)
def test_what_fits_comes_back_as_it_was(kind: type[Any], items: list[Any], spark_config: SparkConfig) -> None:
    flow = rx_spark.as_rows(rx_spark.from_iterable(range(8), config=spark_config).map(lambda n: items[n % 2]), kind)
    found = flow.blocking_list()
    assert len(found) == 8
    assert [found.count(item) for item in items] == [4, 4]
    assert {type(item) for item in found} == {type(item) for item in items}


# --- what is columns behind it ----------------------------------------------------------------------------------------

BY_CENTS = sym(lambda fare: (fare.cents, fare.city))
PIPELINES: dict[str, Callable[[Flowable[Trip]], Any]] = {
    "items": lambda flow: rx_spark.as_rows(flow.map(to_fare), Fare),
    "columns before": lambda flow: rx_spark.as_rows(flow.filter(it.id > 20).map(to_fare), Fare).filter(it.cents > 900),
    "groups": lambda flow: rx_spark.as_rows(flow.map(to_fare), Fare).group_aggregate(it.city, n=it.count(), most=it.cents.max()),
    "sorted": lambda flow: rx_spark.as_rows(flow.map(to_fare), Fare).sorted(BY_CENTS),
    "the first ones": lambda flow: rx_spark.as_rows(flow.map(to_fare), Fare).sorted(BY_CENTS, reverse=True).take(7),
    "one value": lambda flow: rx_spark.as_rows(flow.map(to_fare), Fare).map(it.cents).sum().to_flowable(),
    "distinct": lambda flow: rx_spark.as_rows(flow.map(to_fare), Fare).map(it.city).distinct(),
    "Python again": lambda flow: (
        rx_spark.as_rows(flow.map(to_fare), Fare).filter(it.cents > 900).map(lambda fare: fare.cents * 2)
    ),
    "twice": lambda flow: rx_spark.as_rows(
        rx_spark.as_rows(flow.map(to_fare), Fare).filter(it.cents > 9).map(lambda fare: Total(fare.city, fare.cents)), Total
    ).group_aggregate(it.city, total=it.total.sum()),
    "behind a shuffle of Python": lambda flow: rx_spark.as_rows(
        flow.group_reduce(lambda trip: trip.city, lambda trip: trip.id, max).map(lambda pair: Total(*pair)), Total
    ).sorted(it.total),
    "of columns": lambda flow: rx_spark.as_rows(flow, Trip).filter(it.id < 9).map(it.city),
    "on the driver": lambda flow: rx_spark.as_rows(flow.map(it.id).sorted().skip(3).map(lambda n: Place("Ulm", n)), Place).map(
        it.stops
    ),
}


def answer(flow: Flowable[Any]) -> Any:
    found = flow.blocking_list()
    return found if "sorted" in repr(flow) else Counter(map(repr, found))


@pytest.mark.spark
@pytest.mark.cluster
@pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES)
def test_answers_are_those_of_the_loop(make: Callable[[Flowable[Trip]], Any], source: Flowable[Trip]) -> None:
    expected = answer(make(Flowable.from_iterable(trips())))
    assert answer(make(source)) == expected


@pytest.mark.spark
def test_answers_are_the_same_without_fusion_and_behind_hide(source: Flowable[Trip]) -> None:
    make = PIPELINES["sorted"]
    expected = answer(make(Flowable.from_iterable(trips())))
    assert answer(make(source.hide())) == expected
    with fusion_off():
        assert answer(make(source)) == expected


@pytest.mark.spark
@pytest.mark.skipif(not fusion_enabled(), reason="without fusion nothing is moved to Spark")
def test_explain_and_check_say_where_columns_begin_again(source: Flowable[Trip]) -> None:
    flow = rx_spark.as_rows(source.filter(it.id > 3).map(to_fare), Fare).sorted(it.cents).map(str)
    notes = [line.strip(" ·") for line in flow.explain().splitlines()[1:]]
    assert [note.partition(":")[0] for note in notes] == [
        "columns",
        "scan",
        "Python from map(to_fare)",
        "executors",
        "columns again",
        "columns",
        "Python from map(str)",
        "executors",
        "streams back",
    ]
    steps = [(step.operator.partition("(")[0], step.where) for step in check(flow).steps[1:]]
    assert steps == [("filter", "column"), ("map", "pass"), ("as_rows", "pass"), ("sorted", "column"), ("map", "pass")]


@pytest.mark.spark
def test_rows_that_are_rows_already_need_no_python(source: Flowable[Trip]) -> None:
    assert "executors: one fused pass" not in rx_spark.as_rows(source, Trip).filter(it.id > 3).explain()


@pytest.mark.spark
def test_lines_of_text_become_columns(tmp_path: Path, spark_config: SparkConfig) -> None:
    file = tmp_path / "fares.txt"
    file.write_bytes(b"".join(b"Ulm;%d\n" % n if n % 100 else b"\xff\n" for n in range(1, 5_001)))
    bad = BadRecords()
    lines = rx_spark.text(file, on_bad="skip", bad=bad, config=spark_config)
    fares = rx_spark.as_rows(lines.map(lambda line: Fare("Ulm", int(line.partition(";")[2]))), Fare)
    assert fares.group_aggregate(it.city, n=it.count()).map(it.n).blocking_list() == [4_950]
    assert bad.count == 50


@pytest.mark.spark
def test_what_passes_is_observed_on_both_sides(source: Flowable[Trip]) -> None:
    before, after, behind = Observed("before"), Observed("after"), Observed("behind")
    fares = rx_spark.observe(source.map(to_fare), before, n=it.count(), cents=it.cents.sum())
    rows = rx_spark.observe(rx_spark.as_rows(fares, Fare), after, n=it.count(), cents=it.cents.sum())
    flow = rx_spark.observe(rows.filter(it.cents > 900).map(lambda fare: fare.cents), behind, total=it.sum())
    found = flow.blocking_list()
    whole = sum(to_fare(trip).cents for trip in trips())
    assert before.value is not None
    assert tuple(before.value) == (ROWS, whole)
    assert after.value is not None
    assert tuple(after.value) == (ROWS, whole)
    assert behind.value is not None
    assert tuple(behind.value) == (sum(found),)


@pytest.mark.spark
def test_rows_again_are_written_and_are_a_dataframe(source: Flowable[Trip], tmp_path: Path) -> None:
    fares = rx_spark.as_rows(source.map(to_fare), Fare)
    written = rx_spark.write_parquet(fares.filter(it.cents > 900), tmp_path / "out").blocking_get()
    expected = [fare for fare in map(to_fare, trips()) if fare.cents > 900]
    assert written.rows == len(expected)
    assert sorted(pq.read_table(tmp_path / "out")["cents"].to_pylist()) == sorted(fare.cents for fare in expected)
    frame = rx_spark.to_dataframe(fares.map(it.cents))
    assert sorted(row[0] for row in frame.collect()) == sorted(to_fare(trip).cents for trip in trips())


@pytest.mark.spark
@pytest.mark.parametrize("end", ["columns", "a writer", "items"])
def test_an_error_in_front_of_it_comes_as_itself(end: str, source: Flowable[Trip], tmp_path: Path) -> None:
    def refuse(trip: Trip) -> Fare:
        if trip.id == ROWS - 5:
            raise LookupError(f"trip {trip.id} has no fare")
        return to_fare(trip)

    fares = rx_spark.as_rows(source.map(refuse), Fare)
    ends: dict[str, Callable[[], Single[Any]]] = {
        "columns": lambda: fares.count(),
        "a writer": lambda: rx_spark.write_parquet(fares.filter(it.cents > 0), tmp_path / "out"),
        "items": lambda: fares.to_list(),
    }
    with pytest.raises(LookupError, match=f"trip {ROWS - 5} has no fare"):
        ends[end]().blocking_get()
    assert not (tmp_path / "out").exists()


@pytest.mark.spark
def test_of_nothing_comes_nothing(source: Flowable[Trip]) -> None:
    none = rx_spark.as_rows(source.filter(it.id < 0).map(to_fare), Fare)
    assert none.blocking_list() == []
    assert none.count().blocking_get() == 0
    assert none.group_aggregate(it.city, n=it.count()).blocking_list() == []


@pytest.mark.spark
def test_a_filter_that_is_never_true_behind_rows_of_python_hides_no_error(spark_config: SparkConfig) -> None:
    rows = rx_spark.as_rows(rx_spark.range(10, config=spark_config).map(lambda n: Place("a", 1 // (n - 5))), Place)
    with pytest.raises(ZeroDivisionError):
        rows.filter(it.stops != it.stops).blocking_list()
    with pytest.raises(ZeroDivisionError):
        rows.filter(it.stops != it.stops).count().blocking_get()

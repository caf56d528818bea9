"""A null inside a row, where its class has none: in a row of its own, in a list, in a mapping."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rx_spark
from rx_ops import Flowable
from rx_spark import BadRecords, SchemaError, SparkConfig
from rx_spark._columns._arrow import arrow_schema, read_rows, write_batch
from rx_spark._columns._rows import row_type


class Place(NamedTuple):
    city: str
    country: str | None


class Stop(TypedDict):
    place: Place
    minutes: int | None


@dataclass
class Tour:
    id: int
    stops: list[Stop | None] = field(default_factory=list)
    base: Place | None = None
    tags: list[str] = field(default_factory=list)
    prices: dict[str, float] = field(default_factory=dict)
    hotels: dict[str, list[Place]] | None = None


ULM: Any = {"city": "Ulm", "country": None}
NOWHERE: Any = {"city": None, "country": "DE"}


@dataclass
class Wrong:
    """A value of a field, where the null is in it, what the class says there, and what it would have to say."""

    name: str
    value: Any
    path: str
    declared: str
    right: str


CITY = ("Place.city is a str", "city: str | None    in Place")
WRONG = {
    "a row in a row": Wrong("base", NOWHERE, "base.city", *CITY),
    "a row in a list": Wrong(
        "stops",
        [{"place": ULM, "minutes": 1}, None, {"place": NOWHERE, "minutes": None}],
        "stops[].place.city",
        *CITY,
    ),
    "a whole row": Wrong(
        "stops", [{"place": None, "minutes": 1}], "stops[].place", "Stop.place is a Place", "place: Place | None    in Stop"
    ),
    "an item of a list": Wrong("tags", ["a", None], "tags[]", "Tour.tags is a list[str]", "tags: list[str | None]"),
    "a value of a mapping": Wrong(
        "prices",
        {"a": 1.5, "b": None},
        "prices[...]",
        "Tour.prices is a dict[str, float]",
        "prices: dict[str, float | None]",
    ),
    "a row in a list in a mapping": Wrong("hotels", {"a": [ULM], "b": [ULM, NOWHERE]}, "hotels[...][].city", *CITY),
    "an item of a list in a mapping": Wrong(
        "hotels",
        {"a": [], "b": [None]},
        "hotels[...][]",
        "Tour.hotels is a dict[str, list[Place]] | None",
        "hotels: dict[str, list[Place | None]] | None",
    ),
}

ROW = row_type(Tour)
GOOD: dict[str, Any] = {"id": 1, "stops": [None], "base": None, "tags": [], "prices": {}, "hotels": None}


def rows(*changes: dict[str, Any]) -> pa.Table:
    """Good rows, with some values changed."""
    made = [GOOD | change for change in changes]
    for row in made:
        for name in ("prices", "hotels"):
            row[name] = None if row[name] is None else list(row[name].items())
    return pa.Table.from_pylist(made, schema=arrow_schema(ROW))


every_wrong = pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)


@every_wrong
@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_null_inside_what_is_read_is_told_with_its_path(wrong: Wrong, first: int) -> None:
    (batch,) = rows({}, {}, {wrong.name: wrong.value}).to_batches()
    with pytest.raises(SchemaError) as caught:
        list(read_rows(batch[first:], ROW))
    assert str(caught.value) == f"column {wrong.path!r} of Tour holds a null, and {wrong.declared}.\n  Right:  {wrong.right}"


@every_wrong
def test_a_null_in_a_row_of_another_batch_does_not_matter(wrong: Wrong) -> None:
    (batch,) = rows({}, {wrong.name: wrong.value}, {}).to_batches()
    assert [tour.id for part in (batch[:1], batch[2:]) for tour in read_rows(part, ROW)] == [1, 1]


@every_wrong
def test_none_inside_what_is_written_is_told_with_its_path(wrong: Wrong) -> None:
    good = Tour(1, [None], None, [], {}, None)
    bad = Tour(1, **{wrong.name: _as_items(wrong.value)})
    with pytest.raises(SchemaError) as caught:
        write_batch([good, bad], ROW, arrow_schema(ROW))
    expected = f"Tour.{wrong.path} is None in an item, and {wrong.declared}.\n  Right:  {wrong.right}"
    assert str(caught.value) == expected


def _as_items(value: Any) -> Any:
    """The same with places instead of their values."""
    if isinstance(value, dict):
        return Place(**value) if value.keys() == {"city", "country"} else {key: _as_items(each) for key, each in value.items()}
    return [_as_items(each) for each in value] if isinstance(value, list) else value


def test_what_may_be_missing_may_be_missing_inside() -> None:
    tour = Tour(
        1, [None, {"place": Place("Ulm", None), "minutes": None}], None, ["a"], {"a": 1.5}, {"a": [], "b": [Place("Bonn", "DE")]}
    )
    batch = write_batch([tour, Tour(2), tour], ROW, arrow_schema(ROW))
    assert list(read_rows(batch, ROW)) == [tour, Tour(2), tour]


# --- through Spark ----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    bad = {"stops": [{"place": ULM, "minutes": 1}, {"place": NOWHERE, "minutes": 2}]}
    pq.write_table(rows({}, bad), tmp_path / "tours.parquet")
    return tmp_path


@pytest.mark.spark
def test_a_null_inside_rows_of_a_file_fails_the_stream(folder: Path, spark_config: SparkConfig) -> None:
    tours = rx_spark.parquet(folder, schema=Tour, config=spark_config)
    with pytest.raises(SchemaError, match=r"column 'stops\[\]\.place\.city' of Tour holds a null"):
        tours.map(lambda tour: tour.stops).to_list().blocking_get()
    assert tours.map(lambda tour: tour.id).count().blocking_get() == 2  # it looks at nothing else


@pytest.mark.spark
@pytest.mark.nightly
def test_none_inside_items_is_not_written(tmp_path: Path, spark_config: SparkConfig) -> None:
    wrong: Any = Place(None, None)  # type: ignore[arg-type]  # on purpose
    flow = Flowable.of(Tour(1), Tour(2, base=wrong))
    with pytest.raises(SchemaError, match=r"Tour\.base\.city is None in an item, and Place\.city is a str"):
        rx_spark.write_parquet(flow, tmp_path / "out", schema=Tour).blocking_get()
    assert not (tmp_path / "out").exists()


@dataclass
class Visit:
    id: int
    places: list[Place]
    prices: dict[str, float]
    base: Place | None


VISITS = """\
{"id": 1, "places": [{"city": "Ulm"}], "prices": {"a": 1}}
{"id": 2, "places": [{"city": "Ulm"}, {"country": "DE"}], "prices": {}}
{"id": 3, "places": [], "prices": {"a": null}, "base": {"city": "Ulm"}}
{"id": 4, "places": [null], "prices": {}}
{"id": 5, "places": [], "prices": {}, "base": {}}
{"id": 6, "places": [], "prices": {}, "base": {"city": "Bonn"}}
"""


@pytest.mark.spark
def test_a_record_of_json_with_a_null_inside_is_a_bad_record(tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "visits.json").write_text(VISITS)
    bad = BadRecords()
    flow = rx_spark.json(tmp_path, schema=Visit, on_bad="collect", bad=bad, config=spark_config)
    assert sorted(flow.map(lambda visit: visit.id).to_list().blocking_get()) == [1, 6]
    assert [(record.line, record.reason) for record in sorted(bad.records, key=lambda record: record.line or 0)] == [
        (2, "it gives no str for places[].city"),
        (3, "it gives no float for prices[...]"),
        (4, "it gives no Place for places[]"),
        (5, "it gives no str for base.city"),
    ]

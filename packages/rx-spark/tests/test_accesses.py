"""Rows that functions only look into are not made: the functions get the values that they take, and give the same."""

from __future__ import annotations

import operator
import pickle
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import pytest
from frames import Trip, trips, write_trips
from hypothesis import given as drawn
from hypothesis import strategies as st

import rx_spark
from rx_fusion.symbols import it, sym
from rx_ops import Flowable, Row, stages
from rx_spark import SchemaError, SparkConfig
from rx_spark._columns._rows import Field, RowType, kind_of, plain_row, row_type
from rx_spark._workers._accesses import accesses_of, over_values
from rx_spark._workers._runner import FusedRunner


@dataclass
class Plain:
    city: str
    km: float


@dataclass(frozen=True, slots=True)
class Slotted:
    city: str
    km: float = 0.0


@dataclass(kw_only=True)
class ByKeyword:
    city: str
    km: float


@dataclass
class Longer(Plain):
    day: int = 0

    def far(self) -> bool:
        return self.km > 3


class Named(NamedTuple):
    city: str
    km: float


class Keyed(TypedDict):
    city: str
    km: float


FIELDS = plain_row(row_type(Plain).fields)
VALUES: dict[str, list[Any]] = {"city": ["Ulm", "Bonn", "Köln"], "km": [1.5, 4.0, 9.5], "day": [1, 2, 3]}
BY_NAME = (row_type(Plain), row_type(Slotted), row_type(ByKeyword), row_type(Longer), row_type(Named), FIELDS)
BY_KEY = (row_type(Keyed), FIELDS)
BY_PLACE = (row_type(Named), FIELDS, row_type(Plain).as_tuples)


def rows_of(row: RowType, names: Sequence[str]) -> list[Any]:
    return list(row.rows([VALUES[name] for name in names]))


def given(row: RowType, *functions: Callable[[Any], Any]) -> tuple[list[Any], tuple[str, ...]]:
    """What a filter and a map, or a map, give over rows, compared with what they give over the values; and the names of these."""
    steps = (stages.filter_, stages.map_)[-len(functions) :]
    found = accesses_of(steps, [(each,) for each in functions], row)
    assert found is not None
    accesses, names, over = found
    plain = FusedRunner(steps, functions, "rows")
    taking = pickle.loads(pickle.dumps(FusedRunner((), (), "rows", accesses, over)))
    values = row_type(Plain).as_tuples.rows([VALUES[name] for name in names])
    made = list(FusedRunner(steps, functions, "rows", taking.accesses, taking.over)(values))
    assert made == list(plain(rows_of(row, row.names)))
    return made, names


@pytest.mark.parametrize("row", BY_NAME, ids=lambda row: f"{row.name} {row.form}")
def test_a_field_by_its_name(row: RowType) -> None:
    assert given(row, lambda trip: trip.city) == (["Ulm", "Bonn", "Köln"], ("city",))
    assert given(row, lambda trip: trip.km > 2, lambda trip: (trip.km * 2, trip.city.upper())) == (
        [(8.0, "BONN"), (19.0, "KÖLN")],
        ("km", "city"),
    )
    assert given(row, sym(it.km * it.km)) == ([2.25, 16.0, 90.25], ("km",))
    assert given(row, lambda trip: 2 < trip.km < 9, lambda trip: trip.city) == (["Bonn"], ("km", "city"))
    assert given(row, lambda trip: trip.city if trip.km > 2 else "near") == (["near", "Bonn", "Köln"], ("km", "city"))


@pytest.mark.parametrize("row", BY_KEY, ids=lambda row: row.form)
def test_a_field_by_its_key(row: RowType) -> None:
    assert given(row, lambda trip: trip["km"] > 2, lambda trip: len(trip["city"])) == ([4, 4], ("km", "city"))


@pytest.mark.parametrize("row", BY_PLACE, ids=lambda row: f"{row.name} {row.form}")
def test_a_field_by_its_place(row: RowType) -> None:
    assert given(row, lambda trip: (trip[1], trip[-2])) == ([(1.5, "Ulm"), (4.0, "Bonn"), (9.5, "Köln")], ("km", "city"))


def test_a_field_in_several_spellings_is_read_once() -> None:
    found = given(FIELDS, lambda trip: (trip.km, trip["km"], trip[1], trip.city))
    assert found == ([(1.5, 1.5, 1.5, "Ulm"), (4.0, 4.0, 4.0, "Bonn"), (9.5, 9.5, 9.5, "Köln")], ("km", "city"))


# --- where rows are needed --------------------------------------------------------------------------------------------


@dataclass
class Checked:
    city: str

    def __post_init__(self) -> None:
        self.city = self.city.upper()


class Own:
    pass


@dataclass
class Watching(Own):
    city: str

    def __getattribute__(self, name: str) -> Any:
        return f"watched {name}"


@dataclass(init=False)
class OwnInit:
    city: str

    def __init__(self, city: str) -> None:
        self.city = city * 2


class Counted(type):
    def __call__(cls, *args: Any) -> Any:
        return super().__call__(*(arg * 2 for arg in args))


@dataclass
class Made(metaclass=Counted):
    city: str


@dataclass
class Ending:
    city: str

    def __del__(self) -> None:
        pass


class Described:
    def __get__(self, item: object, kind: type) -> str:
        return "described"

    def __set__(self, item: object, value: str) -> None:
        pass


@dataclass
class OfDescriptor:
    city: str = field(default=Described())  # type: ignore[assignment]  # on purpose


class Places(NamedTuple):
    city: str

    def __getitem__(self, at: Any) -> Any:
        return "another"


@pytest.mark.parametrize("kind", [Checked, Watching, OwnInit, Made, Ending, OfDescriptor], ids=lambda kind: kind.__name__)
def test_a_class_whose_code_would_not_run_is_made(kind: type) -> None:
    assert accesses_of((stages.map_,), [(lambda trip: trip.city,)], row_type(kind)) is None


def test_a_tuple_with_places_of_its_own_is_made() -> None:
    assert accesses_of((stages.map_,), [(lambda trip: trip[0],)], row_type(Places)) is None


def only_read(text: str) -> Callable[[Any], Any]:
    made: Callable[[Any], Any] = eval(f"lambda trip: {text}")
    return made


@pytest.mark.parametrize(
    "text",
    [
        *("trip", "(trip, trip.city)", "str(trip)", "trip.far()", "trip.other", "trip['city']", "trip[0]", "trip == 1", "1"),
        *("trip.city if trip else 0", "f'{trip.city}'", "trip.__class__", "[trip.city, trip]"),
    ],
)
def test_a_function_that_does_more_than_look_gets_rows(text: str) -> None:
    assert accesses_of((stages.map_,), [(only_read(text),)], row_type(Longer)) is None


@pytest.mark.parametrize("key", ["True", "1.0", "2", "-3", "1:", "'other'", "trip[0]"])
def test_only_a_whole_number_is_a_place(key: str) -> None:
    assert accesses_of((stages.map_,), [(only_read(f"trip[{key}]"),)], FIELDS) is None


def test_rows_that_get_past_the_functions_are_made() -> None:
    looks = lambda trip: trip.km > 2  # noqa: E731
    row = row_type(Plain)
    assert accesses_of((stages.filter_,), [(looks,)], row) is None
    assert accesses_of((stages.filter_, stages.take_while, stages.map_), [(looks,), (looks,), (looks,)], row) is None
    found = accesses_of((stages.map_, stages.filter_), [(looks,), (lambda far: far,)], row)
    assert found is not None
    assert found[1:] == (("km",), 1)  # what follows gets what the map gives


def test_a_name_that_python_keeps_for_itself_is_no_field_of_a_row() -> None:
    odd = plain_row((Field("__class__", kind_of(str, "a test")),))
    assert accesses_of((stages.map_,), [(lambda row: row.__class__,)], odd) is None
    assert accesses_of((stages.map_,), [(lambda row: row["__class__"],)], odd) is not None


def test_a_function_that_is_another_one_on_an_executor_says_so() -> None:
    found = accesses_of((stages.map_,), [(lambda trip: trip.city,)], row_type(Plain))
    assert found is not None
    with pytest.raises(SchemaError, match="its module is another one here"):
        over_values(lambda trip: trip.km, found[0])
    with pytest.raises(SchemaError, match="takes other values of its row on this executor"):
        over_values(lambda trip: trip.city if trip else 0, found[0])


# --- random functions -------------------------------------------------------------------------------------------------

TAKEN = {
    "object": ("trip.city", "trip.km"),
    "tuple": ("trip.city", "trip.km", "trip[0]", "trip[-1]"),
    "dict": ("trip['city']", "trip['km']"),
    "row": ("trip.city", "trip.km", "trip['km']", "trip[0]", "trip[-1]"),
}
WHOLE = ("trip", "trip[0:1]", "len(trip)", "trip.nothing", "trip['nothing']", "trip[5]", "trip[True]", "trip == trip")


def larger(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(parts, parts)
    words = st.sampled_from(("+", "*", "/", "==", "<", ">=", "is", "and", "or", "in"))
    return st.one_of(
        st.tuples(parts, words, parts).map(lambda p: f"({' '.join(p)})"),
        pairs.map(lambda p: f"({p[0]}, {p[1]})"),
        pairs.map(lambda p: f"[{p[0]}, {p[1]}]"),
        pairs.map(lambda p: f"{{'a': {p[0]}, 'b': {p[1]}}}"),
        pairs.map(lambda p: f"({p[0]})[{p[1]}]"),
        pairs.map(lambda p: f"min({p[0]}, {p[1]})"),
        st.tuples(parts, parts, parts).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
        st.tuples(parts, parts, parts).map(lambda p: f"({p[0]} <= {p[1]} < {p[2]})"),
        parts.map(lambda p: f"({p}).upper()"),
        parts.map(lambda p: f"str({p})"),
    )


def outcome(runner: FusedRunner, items: Iterable[Any]) -> list[str]:
    """What comes out, as it reads: up to an error, and that error with its note."""
    seen: list[str] = []
    try:
        for item in runner(items):
            seen.append(repr(item))
    except Exception as error:
        seen += [repr(error), *error.__notes__]
    return seen


@drawn(st.data())
def test_random_functions_give_and_raise_over_values_what_they_do_over_rows(data: st.DataObject) -> None:
    row = data.draw(st.sampled_from((*BY_NAME, *BY_KEY, *BY_PLACE)))
    leaves = st.sampled_from(
        (*TAKEN[row.form], *TAKEN[row.form], "0", "1", "2.5", "'a'", *WHOLE[data.draw(st.integers(0, 7)) :][:1])
    )
    texts = [data.draw(st.recursive(leaves, larger, max_leaves=5)) for _ in range(data.draw(st.integers(1, 3)))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # some make no sense
        functions = tuple(only_read(text) for text in texts)
    steps = ((stages.map_,), (stages.filter_, stages.map_), (stages.filter_, stages.filter_, stages.map_))[len(texts) - 1]
    found = accesses_of(steps, [(each,) for each in functions], row)
    if found is None:
        return
    accesses, names, over = found
    values = list(row.as_tuples.rows([VALUES[name] for name in names]))
    taking = FusedRunner(steps, functions, "rows", accesses, over)
    assert outcome(taking, values) == outcome(FusedRunner(steps, functions, "rows"), rows_of(row, row.names))


# --- through Spark ----------------------------------------------------------------------------------------------------


@pytest.mark.spark
def test_spark_reads_what_functions_look_at_and_nothing_else(tmp_path: Path, spark_config: SparkConfig) -> None:
    far = rx_spark.parquet(write_trips(tmp_path / "trips"), schema=Trip, config=spark_config)
    far = far.filter(lambda trip: trip.id >= 20)
    cities = far.map(lambda trip: (trip.city, trip.id))
    assert "ReadSchema: struct<id:int,city:string>" in cities.explain()
    assert sorted(cities.blocking_list()) == sorted((trip.city, trip.id) for trip in trips() if trip.id >= 20)
    whole = far.map(lambda trip: (trip, trip.city))
    assert "day:date" in whole.explain()
    assert {trip for trip, _ in whole.blocking_list()} == {trip for trip in trips() if trip.id >= 20}


@pytest.mark.spark
def test_what_a_function_raises_over_the_values_says_the_same(tmp_path: Path, spark_config: SparkConfig) -> None:
    rows = rx_spark.parquet(write_trips(tmp_path / "trips"), config=spark_config)
    with pytest.raises(TypeError, match="unsupported operand") as caught:
        rows.map(lambda row: row.city / row.id).blocking_list()
    assert "in map(<lambda line" in caught.value.__notes__[0]
    assert isinstance(rows.take(1).blocking_list()[0], Row)


# --- keys -------------------------------------------------------------------------------------------------------------

TAKING: list[Callable[[Any], Any]] = [lambda trip: trip.city, it.city]
COMPUTING: list[Callable[[Any], Any]] = [lambda trip: trip.city + "", lambda trip: (trip.city,), lambda trip: str(trip.city)]


def is_grouped_by_columns(flow: Flowable[Any]) -> bool:
    return "group_reduce" not in flow.explain().partition("Python from ")[2]


@pytest.mark.spark
@pytest.mark.parametrize("key", TAKING)
def test_a_key_that_a_function_takes_of_its_row_is_a_column(
    key: Callable[[Any], Any], tmp_path: Path, spark_config: SparkConfig
) -> None:
    rows = rx_spark.parquet(write_trips(tmp_path / "trips"), schema=Trip, config=spark_config)
    counted = rows.group_reduce(key, lambda _trip: 1, operator.add)
    assert is_grouped_by_columns(counted)
    assert dict(counted.blocking_list()) == Counter(trip.city for trip in trips())
    groups = rows.group_by(key).flat_map(lambda group: group.count())
    assert sorted(groups.blocking_list()) == sorted(Counter(trip.city for trip in trips()).values())
    found = rows.map(it.city).group_reduce(lambda city: city, lambda _city: 1, lambda a, b: a + b)
    assert is_grouped_by_columns(found)
    assert dict(found.blocking_list()) == Counter(trip.city for trip in trips())


@pytest.mark.spark
@pytest.mark.parametrize("key", COMPUTING)
def test_a_key_that_a_function_computes_is_none(key: Callable[[Any], Any], tmp_path: Path, spark_config: SparkConfig) -> None:
    rows = rx_spark.parquet(write_trips(tmp_path / "trips"), schema=Trip, config=spark_config)
    counted = rows.group_reduce(key, lambda _trip: 1, operator.add)
    assert not is_grouped_by_columns(counted)
    assert dict(counted.blocking_list()) == Counter(map(key, trips()))


@pytest.mark.spark
def test_a_sum_of_what_a_function_takes_has_no_end(tmp_path: Path, spark_config: SparkConfig) -> None:
    rows = rx_spark.parquet(write_trips(tmp_path / "trips"), schema=Trip, config=spark_config)
    summed = rows.group_reduce(lambda trip: trip.city, lambda trip: trip.id, operator.add)
    assert not is_grouped_by_columns(summed)  # beyond 64 bits a function's sum goes on


@pytest.mark.spark
def test_a_key_of_rows_whose_class_has_code_of_its_own_is_taken_by_python(tmp_path: Path, spark_config: SparkConfig) -> None:
    rows = rx_spark.parquet(write_trips(tmp_path / "trips"), schema=Checked, config=spark_config)
    counted = rows.group_reduce(lambda trip: trip.city, lambda _trip: 1, operator.add)
    assert not is_grouped_by_columns(counted)
    assert dict(counted.blocking_list()) == Counter(trip.city.upper() for trip in trips())

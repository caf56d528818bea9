"""Row classes: what describes rows, how rows are built of Arrow columns and taken apart, and what is said of a misfit."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import pickle
import re
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NotRequired, TypedDict

import numpy
import pyarrow as pa
import pytest

from rx_ops import Row
from rx_spark._columns._arrow import arrow_schema, made_rows, pack_rows, read_rows, unpack_rows, write_batch
from rx_spark._columns._rows import Kind, RowType, SchemaError, plain_row, row_type, value_row


@dataclass
class Inner:
    x: int
    tags: list[str]


@dataclass
class Everything:
    whole: int
    number: float
    text: str
    yes: bool
    raw: bytes
    day: datetime.date
    at: datetime.datetime
    money: decimal.Decimal
    several: list[int | None]
    table: dict[str, float]
    inner: Inner
    maybe: int | None = None


class Named(NamedTuple):
    x: int
    y: str | None


class Dict(TypedDict):
    x: int
    y: NotRequired[str]


@dataclass
class KeywordOnly:
    x: int
    y: str = field(kw_only=True)
    made: int = field(init=False, default=3)


EVERYTHING = Everything(
    1 << 62,
    0.5,
    "ä",
    True,
    b"\0x",
    datetime.date(2026, 2, 28),
    datetime.datetime(2026, 2, 28, 12, tzinfo=datetime.UTC),
    decimal.Decimal("1.500000000000000000"),
    [1, None],
    {"a": 1.5},
    Inner(7, ["p", "q"]),
)


@pytest.mark.parametrize(
    "item", [EVERYTHING, Named(1, None), {"x": 1, "y": "z"}, KeywordOnly(1, y="a")], ids=["dataclass", "tuple", "dict", "kw_only"]
)
def test_an_element_comes_back_from_its_columns_as_it_was(item: Any) -> None:
    row = row_type(Dict if isinstance(item, dict) else type(item))
    batch = write_batch([item, item], row, arrow_schema(row))
    assert list(read_rows(batch, row)) == [item, item]


@pytest.mark.parametrize("at", [0, 1, 3])
def test_a_part_of_a_batch_travels_as_bytes(at: int) -> None:
    row = row_type(Everything)
    items = [dataclasses.replace(EVERYTHING, whole=number, text="ä" * number) for number in range(5)]
    batch = write_batch(items, row, arrow_schema(row))
    packed = pack_rows(batch.slice(at, 2))
    assert list(made_rows(unpack_rows(packed), row)) == items[at : at + 2]
    assert list(made_rows(unpack_rows(packed).slice(1), row)) == items[at + 1 : at + 2]
    assert len(packed) < len(pack_rows(batch))


@dataclass
class Checking:
    x: int

    def __post_init__(self) -> None:
        self.x += 1


@dataclass
class Own:
    x: int

    def __init__(self, x: int) -> None:
        self.x = x


@dataclass
class Setting:
    x: int

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)


@dataclass(frozen=True, slots=True)
class Frozen:
    x: int


@dataclass
class Around:
    inner: list[Checking]


class Child(Named):
    pass


@pytest.mark.parametrize("kind", [Everything, Named, Dict, KeywordOnly, Inner, Frozen], ids=lambda kind: kind.__name__)
def test_items_whose_class_has_no_code_may_be_made_anywhere(kind: type) -> None:
    assert row_type(kind).made_anywhere
    assert plain_row(row_type(kind).fields).made_anywhere
    assert row_type(kind).as_tuples.made_anywhere


@pytest.mark.parametrize("kind", [Checking, Own, Setting, Around, Child], ids=lambda kind: kind.__name__)
def test_code_of_a_class_runs_on_the_executors(kind: type) -> None:
    assert not row_type(kind).made_anywhere


def test_a_value_that_may_be_none_is_looked_at_by_tasks() -> None:
    assert value_row(Kind(int)).made_anywhere
    assert not value_row(Kind(int, optional=True)).made_anywhere


def test_a_key_that_is_not_there_is_a_null_where_the_class_says_that_it_may_be_missing() -> None:
    row = row_type(Dict)
    batch = write_batch([{"x": 1}], row, arrow_schema(row))
    assert list(read_rows(batch, row)) == [{"x": 1, "y": None}]


def test_rows_without_a_class_have_attributes_and_items() -> None:
    row = plain_row(row_type(Named).fields)
    batch = pa.RecordBatch.from_pydict({"x": [1], "y": ["a"]})
    (found,) = read_rows(batch, row)
    assert found == Row(x=1, y="a")
    assert (found.x, found["y"], found[0]) == (1, "a", 1)


def test_a_tuple_is_taken_by_its_places() -> None:
    row = row_type(Named)
    assert write_batch([(1, "a")], row, arrow_schema(row)).to_pydict() == {"x": [1], "y": ["a"]}


def test_a_null_in_a_field_that_has_none_is_told_with_the_remedy() -> None:
    batch = pa.RecordBatch.from_pydict({"x": [1, None], "y": ["a", "b"]})
    with pytest.raises(SchemaError, match=r"column 'x' holds a null, and Named\.x is a int\.\n  Right:  x: int \| None"):
        list(read_rows(batch, row_type(Named)))


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (Named("one", None), r"'one' \(str\) does not fit column 'x' of type int64"),  # type: ignore[arg-type]  # on purpose
        (Named(1 << 70, None), r"1180591620717411303424 \(int\) does not fit column 'x'"),
        (Named(None, None), r"Named\.x is a int, and an item has None there"),  # type: ignore[arg-type]  # on purpose
        ((1, "a", 2), r"is no Named \(x: int, y: str \| None\): ValueError: 3 values for the 2 columns x, y"),
    ],
    ids=["type", "range", "None", "length"],
)
def test_an_element_that_does_not_fit_is_named_with_its_value(item: Any, text: str) -> None:
    row = row_type(Named)
    with pytest.raises(SchemaError, match=text):
        write_batch([Named(1, "a"), item], row, arrow_schema(row))


@pytest.mark.parametrize("row", [row_type(Everything), row_type(Dict), plain_row(row_type(Named).fields), value_row(Kind(int))])
def test_a_row_type_travels(row: RowType) -> None:
    assert pickle.loads(pickle.dumps(row)).ddl == row.ddl


def test_the_columns_are_spelled_as_spark_spells_them() -> None:
    assert row_type(Inner).ddl == "`x` bigint, `tags` array<string>"
    assert row_type(Everything).fields[10].kind.ddl == "struct<`x`: bigint, `tags`: array<string>>"


def test_what_describes_no_rows_is_refused_with_an_example() -> None:
    with pytest.raises(TypeError, match=r"<class 'int'> does not describe rows\.\n  Right:  class Trip\(NamedTuple\)"):
        row_type(int)
    with pytest.raises(TypeError, match=r"'id long' does not describe rows\.\n  Right:  class Trip\(NamedTuple\)"):
        row_type("id long")  # type: ignore[arg-type]  # on purpose: Spark takes text

    @dataclass
    class Odd:
        x: complex

    with pytest.raises(TypeError, match=r"Odd\.x is a complex, and no column has that type"):
        row_type(Odd)


def test_a_worker_looks_for_cycles_less_often_and_still_finds_them() -> None:
    """In a process of its own, because it is about the whole process."""
    program = (
        "import gc, weakref\n"
        "from rx_spark._workers._passes import collect_less_often\n"
        "collect_less_often()\n"
        "frozen = gc.get_freeze_count()\n"
        "collect_less_often()\n"
        "assert gc.get_freeze_count() == frozen > 0\n"
        "class Cycle: pass\n"
        "made = Cycle(); made.itself = made\n"
        "seen = weakref.ref(made)\n"
        "del made\n"
        "kept = [[] for _ in range(60_000)]\n"
        "assert seen() is None\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@dataclass
class Cut:
    whole: int = 1
    number: float = 1.5
    text: str = "a"
    raw: bytes = b"a"
    day: datetime.date = datetime.date(2020, 1, 2)
    moment: datetime.datetime = datetime.datetime(2020, 1, 2, 3, tzinfo=datetime.UTC)
    wholes: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    inner: Inner = field(default_factory=lambda: Inner(1, []))


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("whole", 1.9, "1.9"),
        ("whole", decimal.Decimal("1.5"), "Decimal('1.5')"),
        ("text", b"a", "b'a'"),
        ("raw", "\u00e4", "'\u00e4'"),
        ("day", datetime.datetime(2020, 1, 1, 23, 30), "datetime.datetime(2020, 1, 1, 23, 30)"),
        ("day", 5, "5"),
        ("moment", 5, "5"),
        ("wholes", [1, 2.7], "2.7"),
        ("texts", "ab", "'ab'"),
        ("counts", {"a": 1.5}, "1.5"),
        ("inner", Inner(1.5, []), "1.5"),  # type: ignore[arg-type]  # on purpose
    ],
)
def test_a_value_that_a_column_would_cut_is_refused(name: str, value: Any, shown: str) -> None:
    row = row_type(Cut)
    items = [Cut(), Cut(**{name: value})]
    with pytest.raises(SchemaError, match=rf"^{re.escape(shown)} \(\w+\) does not fit column '{name}'"):
        write_batch(items, row, arrow_schema(row))


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("whole", numpy.int32(7), 7),
        ("number", 7, 7.0),
        ("number", True, 1.0),
        ("number", numpy.float32(0.5), 0.5),
        ("raw", bytearray(b"xy"), b"xy"),
        ("wholes", (1, 2), [1, 2]),
        ("texts", [], []),
    ],
)
def test_a_value_of_another_type_that_stays_the_same_is_written(name: str, value: Any, kept: Any) -> None:
    row = row_type(Cut)
    batch = write_batch([Cut(**{name: value}), Cut()], row, arrow_schema(row))
    assert getattr(next(iter(read_rows(batch, row))), name) == kept


@dataclass
class Tree:
    value: int
    left: Tree | None = None


def test_a_class_that_holds_itself_is_refused() -> None:
    with pytest.raises(TypeError, match="Tree has a field of its own type somewhere"):
        row_type(Tree)

"""Values of Arrow columns: those that Arrow makes itself, one by one."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rx_spark._columns import _values
from rx_spark._columns._values import column_of, values_of

UTC = datetime.UTC
MOMENTS = st.datetimes(timezones=st.just(UTC))
SUMMER_TIMES = datetime.datetime(1900, 1, 1)  # from here on zones have rules that Python and Arrow agree about
KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "moments in UTC": (pa.timestamp("us", "UTC"), MOMENTS),
    "moments of no zone": (pa.timestamp("us"), st.datetimes()),
    "moments elsewhere": (
        pa.timestamp("us", "Europe/Berlin"),
        st.datetimes(SUMMER_TIMES, timezones=st.just(UTC)),
    ),
    "moments in nanoseconds": (pa.timestamp("ns", "UTC"), st.integers(-(2**60), 2**60).map(lambda n: n // 1000 * 1000)),
    "days": (pa.date32(), st.dates()),
    "prices": (pa.decimal128(9, 2), st.decimals(-9999999, 9999999, places=2)),
    "small decimals": (pa.decimal128(38, 18), st.decimals(-1, 1, places=18)),
    "large decimals": (pa.decimal128(38, 0), st.integers(-(10**37), 10**37).map(Decimal)),
    "numbers": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "texts": (pa.string(), st.text()),
}


def shown(values: list[Any]) -> str:
    """With types, digits of decimals and names of zones."""
    return repr(values)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_they_are_those_of_arrow(kind: str, data: st.DataObject) -> None:
    made, values = KINDS[kind]
    plain = data.draw(st.lists(st.none() | values, max_size=8))
    column = pa.array(plain, made)
    start = data.draw(st.integers(0, len(plain)))
    for part in (column, column.slice(start), column.slice(0, start), column.drop_null()):
        assert shown(values_of(part)) == shown(part.to_pylist())


def nested(
    kind: tuple[pa.DataType, st.SearchStrategy[Any]],
) -> st.SearchStrategy[tuple[pa.DataType, st.SearchStrategy[Any]]]:
    """Columns of lists, maps and structs of others."""
    made, values = kind
    optional = st.none() | values
    return st.sampled_from([
        (pa.list_(made), st.lists(optional, max_size=3)),
        (pa.map_(pa.string(), made), st.lists(st.tuples(st.text(max_size=2), optional), max_size=3)),
        (pa.struct({"a": made, "b": pa.int64()}), st.fixed_dictionaries({"a": optional, "b": st.integers(0, 9)})),
    ])  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_in_what_has_parts_too(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(list(KINDS.values())).flatmap(nested))
    if data.draw(st.booleans()):
        kind = data.draw(nested(kind))
    made, values = kind
    plain = data.draw(st.lists(st.none() | values, max_size=5))
    column = pa.array(plain, made)
    start = data.draw(st.integers(0, len(plain)))
    for part in (column, column.slice(start), column.slice(0, start)):
        assert shown(values_of(part)) == shown(part.to_pylist())


ZONES = st.sampled_from(
    [UTC, ZoneInfo("UTC"), ZoneInfo("Europe/Berlin"), datetime.timezone(datetime.timedelta(hours=-5, seconds=7))]
)
ZONED = st.datetimes(datetime.datetime(2, 1, 1), datetime.datetime(9998, 1, 1), timezones=ZONES)


@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.none() | ZONED, max_size=5), naive=st.lists(st.datetimes(), max_size=1))
def test_a_column_of_moments_is_that_of_arrow(values: list[Any], naive: list[datetime.datetime]) -> None:
    kind = pa.timestamp("us", "UTC")
    assert column_of(values, kind).equals(pa.array(values, kind))
    assert column_of([*values, *naive], kind).equals(pa.array([*values, *naive], kind))


def test_names_that_occur_twice_are_left_to_arrow() -> None:
    column = pa.StructArray.from_arrays([pa.array([1], pa.date32()), pa.array([2])], names=["a", "a"])
    assert _values._made(column) is None


@pytest.mark.parametrize(
    ("number", "kind"),
    [(2**62, pa.timestamp("us", "UTC")), (-(2**62), pa.timestamp("us")), (2**31 - 1, pa.date32())],
    ids=str,
)
def test_what_python_does_not_have_is_the_error_of_arrow(number: int, kind: pa.DataType) -> None:
    column = pa.array([number], pa.int64() if kind.bit_width == 64 else pa.int32()).view(kind)
    with pytest.raises((OverflowError, ValueError)) as expected:
        column.to_pylist()
    with pytest.raises(type(expected.value)) as raised:
        values_of(column)
    assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize("kind", ["moments in UTC", "moments of no zone", "days", "prices"])
def test_arrow_is_not_asked_for_one_after_the_other(kind: str) -> None:
    made, _ = KINDS[kind]
    assert _values._made(pa.array([None], made)) == [None]
    assert _values._made(pa.array([[None]], pa.list_(made))) == [[None]]

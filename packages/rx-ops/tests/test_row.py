"""Rows: immutable records with fields by name."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import cloudpickle
import pytest

from rx_ops import Flowable, Row, _row, call, it, row_class, row_dict, row_maker


def test_a_field_is_reached_by_attribute_by_name_and_by_place() -> None:
    row = Row(city="Ulm", total=3)
    assert (row.city, row["city"], row[0], row[-2]) == ("Ulm", "Ulm", "Ulm", "Ulm")
    assert (row.total, row["total"], row[1]) == (3, 3, 3)
    assert row[:1] == ("Ulm",)
    assert type(row[:1]) is tuple
    assert len(row) == 2
    assert list(row) == ["Ulm", 3]
    city, total = row
    assert (city, total) == ("Ulm", 3)


def test_a_row_is_the_tuple_of_its_values() -> None:
    row = Row(city="Ulm", total=3)
    assert isinstance(row, tuple)
    assert row == ("Ulm", 3) == row
    assert hash(row) == hash(("Ulm", 3))
    assert {row: 1}[Row(city="Ulm", total=3)] == 1
    assert row < Row(city="Ulm", total=4)
    assert row != Row(city="Ulm", total=4)


def test_a_row_shows_itself_as_it_is_written() -> None:
    row = Row(city="Ulm", total=3)
    assert repr(row) == str(row) == "Row(city='Ulm', total=3)"
    assert eval(repr(row), {"Row": Row}) == row
    odd = row_class(("city", "unit price", "class"))("Ulm", 1.5, "a")
    assert repr(odd) == "Row(**{'city': 'Ulm', 'unit price': 1.5, 'class': 'a'})"
    assert eval(repr(odd), {"Row": Row}).__fields__ == odd.__fields__
    assert repr(Row()) == "Row()"


def test_the_class_is_called_with_the_values_and_the_maker_with_an_iterable_of_them() -> None:
    names = ("a", "b")
    assert repr(row_class(names)(1, 2)) == repr(row_maker(names)(iter([1, 2]))) == "Row(a=1, b=2)"
    assert [repr(row) for row in map(row_maker(names), zip([1, 2], "xy", strict=True))] == ["Row(a=1, b='x')", "Row(a=2, b='y')"]
    assert type(Row(a=1, b=2)) is row_class(names) is row_class(("a", "b"))
    assert isinstance(Row(a=1, b=2), Row)
    assert issubclass(row_class(names), Row)


@pytest.mark.parametrize(
    "name",
    [
        "count",
        "index",
        "_fields",
        "_make",
        "_asdict",
        "items",
        "keys",
        "mro",
        "self",
        "cls",
        "_",
        "__private",
        "class",
        "a b",
        "1",
        "",
    ],
)
def test_every_name_can_be_a_field(name: str) -> None:
    row = row_class(("first", name))(1, 7)
    assert row[name] == getattr(row, name) == 7
    assert row_dict(row) == {"first": 1, name: 7}
    assert pickle.loads(pickle.dumps(row))[name] == 7
    assert Row(**{name: 5})[name] == 5


@pytest.mark.parametrize("name", ["__class__", "__len__", "__fields__", "__getitem__", "__new__", "__reduce__", "__slots__"])
def test_a_name_that_python_reserves_is_reached_as_an_item(name: str) -> None:
    row = row_class(("first", name))(1, 7)
    assert row[name] == 7
    assert len(row) == 2
    assert isinstance(row, Row)
    assert pickle.loads(pickle.dumps(row))[name] == 7


def test_a_row_without_such_fields_has_the_methods_of_a_tuple() -> None:
    assert Row(a=1, b=1).count(1) == 2
    assert Row(a=1, b=2).index(2) == 1


def test_a_row_cannot_be_changed() -> None:
    row: Any = Row(total=3)
    with pytest.raises(AttributeError):
        row.total = 4
    with pytest.raises(AttributeError):
        row.other = 4
    with pytest.raises(TypeError):
        row["total"] = 4
    with pytest.raises(AttributeError):
        del row.total
    assert row == (3,)


def test_a_field_that_is_not_there_is_an_error_with_its_name() -> None:
    row = Row(city="Ulm", total=3)
    with pytest.raises(AttributeError, match="totl"):
        row.totl  # noqa: B018  # the access raises
    with pytest.raises(KeyError, match="no field 'totl' in a row of city, total"):
        row["totl"]
    with pytest.raises(IndexError):
        row[2]
    with pytest.raises(KeyError, match="no field 'a' in a row of no fields"):
        Row()["a"]
    assert not hasattr(row, "totl")
    assert getattr(row, "totl", 1) == 1


def test_wrong_calls_are_told_with_the_right_ones() -> None:
    make: Any = row_class
    with pytest.raises(TypeError, match=r"(?s)Row\('Ulm', 3\): the values of a row need names.*Row\(city='Ulm', total=3\)"):
        Row("Ulm", 3)
    with pytest.raises(TypeError, match="a row of a, b has 2 values, got 3"):
        row_class(("a", "b"))(1, 2, 3)
    with pytest.raises(TypeError, match=r"(?s)are a tuple, got 'ab'.*row_class\(\('city', 'total'\)\)"):
        make("ab")
    with pytest.raises(TypeError, match="is a str, got 1"):
        make(("a", 1))
    with pytest.raises(ValueError, match="two fields 'a': a, b, a"):
        make(("a", "b", "a"))
    assert make(["a", "b"]) is make(("a", "b"))


@pytest.mark.parametrize("pickler", [pickle, cloudpickle])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_row_pickles(pickler: Any, protocol: int) -> None:
    row = Row(city="Ulm", total=Row(net=1, tax=None))
    again = pickle.loads(pickler.dumps(row, protocol))
    assert again == row
    assert repr(again) == repr(row)
    assert type(again) is type(row)


def test_rows_of_one_kind_pickle_their_names_once() -> None:
    rows = [Row(a_rather_long_name=at, another_rather_long_name=at) for at in range(100)]
    text = pickle.dumps(rows)
    assert text.count(b"a_rather_long_name") == 1
    assert len(text) < 100 * 12 + 200
    assert pickle.loads(text) == rows


def test_the_class_and_the_maker_pickle() -> None:
    kind, maker = row_class(("a", "b")), row_maker(("a", "b"))
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert pickle.loads(pickle.dumps(Row)) is Row
    assert type(pickle.loads(pickle.dumps(maker))((1, 2))) is kind
    assert pickle.loads(cloudpickle.dumps(maker)) is maker
    shipped = pickle.loads(cloudpickle.dumps(lambda a: kind(a, 2)))
    assert repr(shipped(1)) == "Row(a=1, b=2)"
    assert repr(pickle.loads(pickle.dumps(shipped(1)))) == "Row(a=1, b=2)"


def test_rows_are_copied() -> None:
    row = Row(a=[1], b=2)
    assert copy.copy(row) == row
    assert type(copy.copy(row)) is type(row)
    deep = copy.deepcopy(row)
    assert deep == row
    assert deep.a is not row.a
    assert type(deep) is type(row)
    assert copy.deepcopy(type(row)) is type(row)


def test_rows_match_patterns() -> None:
    match Row(city="Ulm", total=3):
        case Row(city="Ulm", total=total):
            assert total == 3
        case _:
            pytest.fail("not matched")


def test_a_program_that_makes_up_names_forgets_the_oldest_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_row, "MAX_CLASSES", 3)
    monkeypatch.setattr(_row, "_CLASSES", {})
    rows = [row_class((f"field_{at}",))(at) for at in range(10)]
    assert len(_row._CLASSES) == 3
    assert [pickle.loads(pickle.dumps(row))[f"field_{at}"] for at, row in enumerate(rows)] == list(range(10))


def test_threads_that_need_a_class_at_once_get_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_row, "_CLASSES", {})
    barrier = threading.Barrier(4)
    found: list[type[Row]] = []

    def find() -> None:
        barrier.wait(10)
        found.append(row_class(("a", "b")))

    threads = [threading.Thread(target=find) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(10)
    assert len(found) == 4
    assert len(set(found)) == 1


def test_rows_go_through_expressions() -> None:
    rows = Flowable.of(Row(city="Ulm", amount=1, price=2.5), Row(city="Bonn", amount=3, price=1.0))
    with_total: Any = call(Row, city=it["city"], total=it.amount * it["price"])
    made = rows.filter(it.amount > 0).map(with_total).blocking_list()
    assert list(map(repr, made)) == ["Row(city='Ulm', total=2.5)", "Row(city='Bonn', total=3.0)"]


def test_the_fields_are_found_without_the_descriptor_of_named_tuples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("collections._tuplegetter")
    monkeypatch.setattr(_row, "_CLASSES", {})
    row: Any = Row(count=1, city="Ulm")
    assert (row.count, row.city) == (1, "Ulm")
    with pytest.raises(AttributeError):
        row.city = "Bonn"

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator

import pytest

from rx_core._errors import WorkerInterruptedError
from rx_spark._errors import NotPortableError, WorkerError
from rx_spark._transport import _wire
from rx_spark._transport._wire import cells, dumps, loads, pack_error, refuse_none, unpack_error


class Detailed(Exception):
    def __init__(self, code: int, *, detail: str = "") -> None:
        super().__init__(code)
        self.detail = detail


class Awkward(Exception):
    """Pickles, and cannot be unpickled by its own way: what Exception remembers is not what __init__ wants."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")
        self.second = second


class Refusing(Awkward):
    def __new__(cls, *args: int) -> Refusing:
        if len(args) != 2:
            raise TypeError("two numbers")
        return super().__new__(cls, *args)


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


def test_an_error_keeps_type_arguments_attributes_and_notes() -> None:
    error = Detailed(7, detail="deep")
    error.add_note("a note of the user's")
    back = unpack_error(pack_error(raised(error)))
    assert type(back) is Detailed
    assert (back.args, back.detail) == ((7,), "deep")
    assert back.__notes__[0] == "a note of the user's"
    assert "in raised" in back.__notes__[1]
    assert "Detailed: 7" in back.__notes__[1]


def test_an_error_whose_init_takes_other_arguments_is_made_again() -> None:
    back = unpack_error(pack_error(raised(Awkward(1, 2))))
    assert type(back) is Awkward
    assert (str(back), back.args, back.second) == ("1 and 2", ("1 and 2",), 2)
    assert "in raised" in back.__notes__[0]


def test_the_causes_of_an_error_travel_with_it() -> None:
    error, cause, first = ValueError("wrong"), Awkward(3, 4), OSError(2, "not there")
    error.__cause__, cause.__cause__ = cause, first
    back = unpack_error(pack_error(raised(error)))
    assert repr(back) == "ValueError('wrong')"
    assert type(back.__cause__) is Awkward
    assert back.__cause__.__cause__ is not None
    assert repr(back.__cause__.__cause__) == repr(first)


def test_a_cause_that_cannot_travel_does_not_keep_the_error() -> None:
    error = ValueError("wrong")
    error.__cause__ = ValueError(threading.Lock())
    back = unpack_error(pack_error(raised(error)))
    assert repr(back) == "ValueError('wrong')"
    assert back.__cause__ is None


@pytest.mark.parametrize("error", [Refusing(1, 2), ValueError(threading.Lock())], ids=["not back", "not out"])
def test_an_error_that_cannot_travel_is_replaced_by_its_description(error: Exception) -> None:
    back = unpack_error(pack_error(raised(error)))
    assert isinstance(back, WorkerError)
    assert back.type_name == type(error).__name__
    assert back.shown == repr(error)
    assert "in raised" in back.__notes__[0]
    again = pickle.loads(pickle.dumps(back))
    assert (again.args, again.type_name) == (back.args, back.type_name)


def test_stop_iteration_from_inside_a_generator_comes_out_as_itself() -> None:
    def generator() -> Iterator[object]:
        yield next(iter(()))

    with pytest.raises(RuntimeError) as caught:
        list(generator())
    back = unpack_error(pack_error(caught.value))
    assert type(back) is StopIteration


def test_other_base_exceptions_are_described() -> None:
    back = unpack_error(pack_error(raised(SystemExit(3))))
    assert isinstance(back, WorkerInterruptedError)
    assert "SystemExit(3)" in str(back)


def test_an_exception_with_a_broken_repr_does_not_hide_the_traceback() -> None:
    class Broken(Exception):
        def __repr__(self) -> str:
            raise RuntimeError

        def __reduce__(self) -> str:
            raise RuntimeError

    back = unpack_error(pack_error(raised(Broken())))
    assert type(back).__name__ == "Broken"
    assert "in raised" in back.__notes__[0]


def test_none_is_refused_by_identity_alone() -> None:
    class Equal:
        def __eq__(self, other: object) -> bool:
            raise AssertionError("asked")

        __hash__ = None  # type: ignore[assignment]  # unhashable on purpose

    refuse_none([Equal(), 0, ""])
    with pytest.raises(TypeError, match=r"RS 2\.13"):
        refuse_none([1, None])


def test_cells_hold_a_chunk_and_split_when_they_get_large(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [len(loads(cell)) for cell in cells(range(2500))] == [1024, 1024, 452]
    monkeypatch.setattr(_wire, "CELL_BYTES", 1000)
    large = [bytes([number]) * 600 for number in range(5)]
    split = [loads(cell) for cell in cells(large)]
    assert [item for part in split for item in part] == large
    assert all(len(part) == 1 for part in split)


def test_classes_that_pickle_cannot_name_travel_by_value() -> None:
    class Local:
        pass

    assert type(loads(dumps(Local()))) is Local


def test_an_element_that_cannot_travel_is_named_by_its_type() -> None:
    with pytest.raises(NotPortableError, match=r"item of type lock"):
        list(cells([1, threading.Lock()]))

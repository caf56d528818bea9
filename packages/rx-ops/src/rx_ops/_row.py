"""Rows: immutable records for data that has no class, with the values by name and by position.

A row is a tuple: it compares, hashes and orders as the tuple of its values. All rows with the same field names are objects of
one class, which is made when the names are used first.
"""

from __future__ import annotations

import collections
import copyreg
import keyword
import threading
from collections.abc import Callable, Iterable
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, SupportsIndex, overload

#: More kinds of rows than a program writes down; one that takes field names from its data forgets the oldest class.
MAX_CLASSES: Final = 1_024

_new: Final[Callable[..., Any]] = tuple.__new__
_item: Final[Callable[..., Any]] = tuple.__getitem__

_LOCK: Final = threading.Lock()


class RowType(type):
    """The class of rows' classes, so that these can be pickled: a class of rows is found by its field names."""


class Row(tuple[Any, ...], metaclass=RowType):
    """An immutable record whose fields are known by name: ``Row(city="Ulm", total=3)``.

    ``row.total``, ``row["total"]`` and ``row[1]`` are the same value. A row equals the tuple of its values and hashes as it,
    so it can be a key, and it unpacks. ``row.__fields__`` are the names; :func:`row_dict` makes a dict of both.

    Every name can be a field. Where a row has a field ``count`` or ``index``, these are the field and not tuple's method. A name
    that is no identifier, or that Python keeps for itself, like ``__class__``, is reached as ``row["unit price"]``.
    """

    __slots__ = ()

    #: The names of the fields, in their order.
    __fields__: tuple[str, ...] = ()
    __make__: RowMaker

    if TYPE_CHECKING:
        # At run time this method, too, would make each access to a field slower.
        def __getattr__(self, name: str, /) -> Any: ...

        # Rows that have these fields are common, and checkers would take them for tuple's methods.
        count: Any
        index: Any

        # The class of each kind of rows has its own, which knows where the fields are.
        @overload
        def __getitem__(self, key: str, /) -> Any: ...
        @overload
        def __getitem__(self, key: SupportsIndex, /) -> Any: ...
        @overload
        def __getitem__(self, key: slice, /) -> tuple[Any, ...]: ...
        def __getitem__(self, key: Any, /) -> Any: ...

    def __new__(cls, /, *values: object, **fields: object) -> Row:
        if values:
            raise TypeError(
                f"Row({', '.join(map(repr, values))}): the values of a row need names.\n"
                f"  Right:  Row(city='Ulm', total=3)\n"
                f"  Or:     row_class(('city', 'total'))('Ulm', 3)"
            )
        return row_class(tuple(fields)).__make__(fields.values())

    def __repr__(self) -> str:
        fields = row_dict(self)
        if all(name.isidentifier() and not keyword.iskeyword(name) for name in fields):
            return f"Row({', '.join([f'{name}={value!r}' for name, value in fields.items()])})"
        return f"Row(**{fields!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return self.__make__, (tuple(self),)


class RowMaker(partial[Row]):
    """Makes rows of iterables, and pickles as the names of their fields, by cloudpickle too."""

    def __reduce__(self) -> tuple[Any, ...]:
        return row_maker, (self.args[0].__fields__,)


def row_class(names: tuple[str, ...], /) -> type[Row]:
    """The class of all rows with these field names. It is called with the values: ``row_class(("city", "total"))("Ulm", 3)``.

    It is made once, and pickles as its names. :func:`row_maker` makes rows of an iterable of the values, and faster.
    """
    made = _CLASSES.get(names) if type(names) is tuple else None
    return _made(names) if made is None else made


def row_maker(names: tuple[str, ...], /) -> Callable[[Iterable[object]], Row]:
    """A function that makes a row of an iterable of its values, for many rows: ``map(row_maker(names), zip(*columns))``.

    It does not look whether there are as many values as names: this is for code that knows.
    """
    return row_class(names).__make__


def row_dict(row: Row, /) -> dict[str, Any]:
    """The values of a row by the names of their fields."""
    return dict(zip(row.__fields__, row, strict=True))


_CLASSES: Final[dict[tuple[str, ...], type[Row]]] = {}


def _made(names: tuple[str, ...]) -> type[Row]:
    names = _checked(names)
    made = _class_of(names)
    with _LOCK:  # nothing but dictionary work with plain keys inside
        made = _CLASSES.setdefault(names, made)
        while len(_CLASSES) > MAX_CLASSES:
            del _CLASSES[next(iter(_CLASSES))]
    return made


def _class_of(names: tuple[str, ...]) -> type[Row]:
    count = len(names)
    places = {name: at for at, name in enumerate(names)}

    def __new__(cls: type[Row], /, *values: object) -> Row:
        if len(values) != count:
            raise TypeError(f"a row of {', '.join(names) or 'no fields'} has {count} values, got {len(values)}")
        made: Row = _new(cls, values)
        return made

    def __getitem__(self: Row, key: Any, /) -> Any:
        if isinstance(key, str):
            try:
                return _item(self, places[key])
            except KeyError:
                raise KeyError(_no_field(self, key)) from None
        return _item(self, key)

    body = {
        "__doc__": f"A row of {', '.join(names) or 'no fields'}.",
        "__module__": __name__,
        "__slots__": (),
        "__fields__": names,
        "__match_args__": names,
        "__new__": __new__,
        "__getitem__": __getitem__,
    }
    for at, name in enumerate(names):
        if not _reserved(name):
            body[name] = _field(at, name)
    made: Any = RowType("Row", (Row,), body)
    kind: type[Row] = made
    # From Python 3.14 on a partial would be bound to the row that it is read of.
    kind.__make__ = staticmethod(RowMaker(_new, kind))  # type: ignore[assignment]  # read of it, it is the RowMaker
    return kind


def _field(at: int, name: str) -> object:
    """The descriptor of a field: that of named tuples, which CPython has in C."""
    make: Callable[[int, str], object] | None = getattr(collections, "_tuplegetter", None)
    text = f"The field {name!r}."
    return property(itemgetter(at), doc=text) if make is None else make(at, text)


def _reserved(name: str) -> bool:
    return name[:2] == "__" and name[-2:] == "__"


def _checked(names: Any) -> tuple[str, ...]:
    if not isinstance(names, (tuple, list)):
        raise TypeError(f"the names of a row's fields are a tuple, got {names!r}.\n  Right:  row_class(('city', 'total'))")
    for at, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f"the name of a row's field is a str, got {name!r}.\n  Right:  row_class(('city', 'total'))")
        if name in names[:at]:
            raise ValueError(
                f"a row cannot have two fields {name!r}: {', '.join(map(str, names))}.\n  Right:  rename one of them"
            )
    return tuple([str(name) for name in names])


def _no_field(row: Row, name: str) -> str:
    return f"there is no field {name!r} in a row of {', '.join(row.__fields__) or 'no fields'}"


def _reduced(kind: type[Row]) -> str | tuple[Any, ...]:
    return kind.__qualname__ if kind is Row else (row_class, (kind.__fields__,))


copyreg.pickle(RowType, _reduced)  # type: ignore[arg-type]  # classes of classes are pickled by what they are registered for

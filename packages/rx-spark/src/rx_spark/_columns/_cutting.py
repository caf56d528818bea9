"""Values that a column would hold as other ones: Arrow cuts them without a word."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import Any

from rx_spark._columns._rows import Kind


def cut(value: Any, kind: Kind) -> Any:
    """``value``, or what is inside of it, that would be another value in a column of ``kind``; None if there is none.

    Other types are fine where the value stays the same: an int for a float, a bool too, a tuple for a list. What Arrow
    refuses itself is not looked for.
    """
    if value is None or (type(value) is kind.python and not kind.nested):
        return None
    if kind.row is not None:
        fields = zip(kind.row.fields, kind.row.values(value), strict=True)
        return _first(cut(each, field.kind) for field, each in fields)
    if kind.python is list:
        if isinstance(value, (str, bytes, bytearray, Mapping)) or not isinstance(value, Iterable):
            return value
        return _first(cut(each, kind.parts[0]) for each in value)
    if kind.python is dict:
        if not isinstance(value, Mapping):
            return value
        keys, values = kind.parts
        return _first(found for key, each in value.items() for found in (cut(key, keys), cut(each, values)))
    return None if _is_kept(value, kind.python) else value


def _first(found: Iterable[Any]) -> Any:
    return next((each for each in found if each is not None), None)


def _is_kept(value: Any, wanted: type) -> bool:
    if wanted is int:
        return hasattr(value, "__index__")
    if wanted is str or wanted is datetime.datetime:
        return isinstance(value, wanted) or _is_of_numpy(value)
    if wanted is bytes:
        return not isinstance(value, str)
    if wanted is datetime.date:
        return (isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)) or _is_of_numpy(value)
    return True


def _is_of_numpy(value: object) -> bool:
    """Arrow knows these, and what they can be."""
    return type(value).__module__.partition(".")[0] == "numpy"

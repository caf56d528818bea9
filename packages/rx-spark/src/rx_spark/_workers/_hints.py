"""Notes that say what to do, for errors of Python that do not say it: a field that is not there, a key that has no hash.

They are made on the executor, because what is needed for them does not travel.
"""

from __future__ import annotations

import dataclasses
from difflib import get_close_matches
from typing import Final

_SHOWN: Final = 80


def explain_field(error: BaseException) -> None:
    """Name the fields that there are, where a row was asked for one that it does not have."""
    if not isinstance(error, AttributeError) or not error.name:
        return
    fields = _fields(error.obj)
    if fields and error.name not in fields:
        close = get_close_matches(error.name, fields, 1)
        meant = f"  Did you mean {close[0]!r}?" if close else ""
        error.add_note(f"{type(error.obj).__name__} has the fields {', '.join(fields)}.{meant}")


def explain_key(error: TypeError, *keys: object) -> None:
    """Name the first key that cannot be hashed, if there is one: else the error is about something else."""
    for key in keys:
        try:
            hash(key)
        except TypeError:
            shown = repr(key)
            shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
            error.add_note(
                f"Equal keys are found by their hash, and {shown} has none.\n"
                f"  Right:  a tuple instead of a list, a frozenset instead of a set, a dataclass(frozen=True)"
            )
            return


def _fields(item: object) -> tuple[str, ...]:
    if dataclasses.is_dataclass(item):
        return tuple(field.name for field in dataclasses.fields(item))
    names = getattr(item, "_fields", None) or getattr(item, "__fields__", None)  # a NamedTuple, a Row
    return tuple(map(str, names)) if isinstance(names, tuple) else ()

"""Signals as the recording writes them: an item as text, an item as a number, an error by its kind.

RxJava and this library have different classes for the same thing. What both mean is compared, so each kind of value and error has
one spelling here.
"""

from __future__ import annotations

from concurrent.futures import CancelledError
from typing import Any

from rx_core import EmptyStreamError, MissingBackpressureError
from rx_ops import OnComplete, OnError, OnNext, Timed


class AppError(Exception):
    """An error of the program: of a source that fails, or of a function that raises."""


def milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def as_number(value: Any) -> int:
    """What a recorded function computes with: every kind of item counts as some number."""
    match value:
        case int():  # True and False are 1 and 0
            return int(value)
        case str():
            return len(value)
        case Timed():
            return as_number(value.value) + milliseconds(value.seconds)
        case list() | tuple():
            return len(value) + sum(map(as_number, value))
        case dict():
            return len(value) + sum(as_number(key) + as_number(each) for key, each in value.items())
        case OnNext():
            return as_number(value.item)
        case OnError():
            return -1
        case OnComplete():
            return -2
        case _:
            return 0


def as_text(value: Any) -> str:
    """An item, as Java would print it; dictionaries are sorted, because their order is an accident of Java's hashing."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Timed():
            return f"{as_text(value.value)}@{milliseconds(value.seconds)}"
        case list() | tuple():
            return f"[{', '.join(map(as_text, value))}]"
        case dict():
            entries = sorted((as_text(key), as_text(each)) for key, each in value.items())
            return "{" + ", ".join(f"{key}={each}" for key, each in entries) + "}"
        case OnNext():
            return f"N({as_text(value.item)})"
        case OnError():
            return f"E({error_text(value.error)})"
        case OnComplete():
            return "C"
        case _:
            return str(value)


def error_text(error: BaseException) -> str:
    """The kind of an error in RxJava's words; an error that has no counterpart there by class and first line."""
    match error:
        case AppError():
            return f"App:{error.args[0]}"
        case BaseExceptionGroup():
            return f"Composite[{', '.join(map(error_text, _errors_in(error)))}]"
        case MissingBackpressureError():
            return "MissingBackpressure"
        case EmptyStreamError():
            return "NoSuchElement"
        case TypeError() if "None" in str(error):
            return "Null"
        case CancelledError():
            return "Cancellation"
        case TimeoutError():
            return "Timeout"
        case ValueError():
            return "IllegalArgument"
        case _:
            return f"{type(error).__name__} {str(error).partition(chr(10))[0][:80]}"


def _errors_in(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [inner for each in error.exceptions for inner in _errors_in(each)]
    return [error]

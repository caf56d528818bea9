"""Descriptions: a pipeline as data, and what may be compared of items and errors.

A :class:`Pipeline` is a source and operators, each a name with arguments. The reference interpreter gives it a meaning, the
builder makes a stream of it, and hypothesis draws and shrinks it. Nothing here knows how streams run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from rx_core import CompositeException
from rx_ops import OnComplete, OnError, OnNext

#: What is compared of an error: its kind, and what makes it this one.
Key = tuple[Any, ...]


class Keyed(Exception):
    """Stands for an error in the items of the reference, which has no real ones."""

    def __init__(self, key: Key) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True)
class Fn:
    """A user's function: pure, and failing (or giving None) for one in five elements if ``how`` says so."""

    name: str
    kind: str
    how: str = ""
    on: int = 0

    def __call__(self, *args: Any) -> Any:
        number = sum(map(num, args))
        if self.how and number % 5 == self.on:
            if self.how == "none":
                return None
            raise {"value": ValueError, "stop": StopIteration, "exit": GeneratorExit}[self.how](self.name)
        return KINDS[self.kind](number, *args)

    def __repr__(self) -> str:
        fails = f", {self.how!r}, {self.on}" if self.how else ""
        return f"Fn({self.name!r}, {self.kind!r}{fails})"


#: From the sum of all arguments, and the arguments, to the result. Small results, so that loops meet; 0 and () among them.
KINDS: dict[str, Any] = {
    "next": lambda n, *_: (n + 1) % 10,
    "half": lambda n, *_: n // 2,
    "odd": lambda n, *_: n % 2,
    "third": lambda n, *_: n % 3,
    "small": lambda n, *_: n < 5,
    "copies": lambda n, *args: [args[-1]] * (n % 3),
    "pair": lambda n, x: (n, x),
    "total": lambda n, *_: n % 100,
    "latest": lambda _n, *args: args[-1],
    "fresh": lambda _n: [],
    "append": lambda _n, box, x: box.append(x),
    "length": lambda _n, xs: len(list(xs)),
    "nothing": lambda _n, *_: (),
    "maybe": lambda n, *_: n if n % 3 else None,
    "agree": lambda _n, *_: True,
}


class Op(NamedTuple):
    """An operator or a source by name, with its arguments: numbers, functions and pipelines."""

    name: str
    args: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"Op({self.name!r}, {self.args!r})" if self.args else f"Op({self.name!r})"


@dataclass(frozen=True)
class Pipeline:
    source: Op
    ops: tuple[Op, ...] = ()

    def prefixes(self) -> Iterator[Pipeline]:
        """This pipeline after each of its operators, the source alone first."""
        for size in range(len(self.ops) + 1):
            yield Pipeline(self.source, self.ops[:size])


def nested(op: Op) -> Iterator[Pipeline]:
    """The pipelines among the arguments."""
    for argument in op.args:
        if isinstance(argument, Pipeline):
            yield argument


def functions(op: Op) -> Iterator[Fn]:
    """The user's functions among the arguments, those in nested pipelines included."""
    for argument in op.args:
        if isinstance(argument, Fn):
            yield argument
    for inner in nested(op):
        for each in (inner.source, *inner.ops):
            yield from functions(each)


def num(x: Any) -> int:
    """A number for whatever comes along, to decide by."""
    if isinstance(x, OnNext):
        return num(x.item)
    if isinstance(x, dict):
        return len(x)
    if isinstance(x, (list, tuple, range)):
        return sum(map(num, x))
    return int(x) if isinstance(x, (int, bool)) else 1


def frozen(x: Any) -> Any:
    """An item as something that can be compared and stays as it was."""
    if isinstance(x, (list, tuple)):
        return (type(x).__name__, *map(frozen, x))
    if isinstance(x, dict):
        return ("dict", *((frozen(key), frozen(value)) for key, value in x.items()))
    if isinstance(x, OnNext):
        return ("OnNext", frozen(x.item))
    if isinstance(x, OnError):
        return ("OnError", key_of(x.error))
    if isinstance(x, OnComplete):
        return ("OnComplete",)
    if isinstance(x, BaseException):
        return key_of(x)
    return ("bool", x) if isinstance(x, bool) else x


def both(*keys: Key) -> Key:
    """Several errors at once; their order is that of their arrival, which of two sources is not promised."""
    return ("both", *sorted(keys, key=repr))


def key_of(error: BaseException) -> Key:
    if isinstance(error, Keyed):
        return error.key
    if isinstance(error, CompositeException):
        return both(*map(key_of, error.exceptions))
    cause = error.__cause__
    if isinstance(error, RuntimeError) and isinstance(cause, (GeneratorExit, StopIteration)):
        return key_of(cause)  # the one cannot be signalled, the other cannot leave an iterator
    if isinstance(error, TypeError):
        none = re.match(r"(\w+)[^:]* produced None", str(error))
        if none:
            return ("None", none[1])
    if type(error) is TypeError:
        return ("TypeError",)  # its text is Python's, or an advice
    return (type(error).__name__, *error.args) if len(error.args) == 1 and len(str(error)) < 40 else (type(error).__name__,)

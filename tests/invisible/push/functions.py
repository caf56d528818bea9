"""The functions that pipelines of the reference call, from the same descriptions as those of the library.

A function is described as ``{"f": "x+1", "t": 3}``: what it computes, and optionally ``t``, an item for which it raises, ``c``,
the number of the call in which it raises, and ``z``, an item for which it gives None. Items count as numbers, whatever they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push import looking_on
from tests.invisible.push.streams import Failure
from tests.recorded.cases import Spec
from tests.recorded.functions import BINARY, PREDICATES, UNARY

Fn = Callable[..., Any]


def number(x: Any) -> int:
    """A number for whatever comes along."""
    if isinstance(x, looking_on.Timed):
        return number(x.item) + x.time
    if isinstance(x, looking_on.Next):
        return number(x.item)
    if isinstance(x, looking_on.Error):
        return -1
    if isinstance(x, looking_on.Complete):
        return -2
    if isinstance(x, list):
        return len(x) + sum(map(number, x))
    if isinstance(x, dict):
        return len(x) + sum(number(key) + number(value) for key, value in x.items())
    return 0 if x is None else int(x)  # a key may be None


def text(x: Any) -> str:
    """An item as the recorded answers write it."""
    if x is None:
        return "null"
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, looking_on.Timed):
        return f"{text(x.item)}@{x.time}"
    if isinstance(x, looking_on.Next):
        return f"N({text(x.item)})"
    if isinstance(x, looking_on.Error):
        return f"E({x.failure})"
    if isinstance(x, looking_on.Complete):
        return "C"
    if isinstance(x, list):
        return f"[{', '.join(map(text, x))}]"
    if isinstance(x, dict):
        pairs = sorted((text(key), text(value)) for key, value in x.items())
        return "{" + ", ".join(f"{key}={value}" for key, value in pairs) + "}"
    return str(x)


def checked(spec: Spec, body: Fn, decide: Callable[..., int | None]) -> Fn:
    """``body``, failing as the spec says, which is decided by the number that ``decide`` makes of the arguments."""
    calls = 0

    def function(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        x = decide(*arguments)
        if x is not None and x == spec.get("t"):
            raise Failure(f"App:t{x}")
        if calls == spec.get("c"):
            raise Failure(f"App:c{calls}")
        return None if x is not None and x == spec.get("z") else body(*arguments)

    return function


def function(spec: Spec) -> Fn:
    body = UNARY[spec["f"]]
    return checked(spec, lambda x: body(number(x)), number)


def identity(x: Any) -> Any:
    return x


def predicate(spec: Spec) -> Fn:
    """It has no way to give None."""
    body = PREDICATES[spec["f"]]
    return checked({**spec, "z": None}, lambda x: body(number(x)), number)


def reducer(spec: Spec) -> Fn:
    """A function of two; whether it fails is decided by the second."""
    if spec["f"] == "pair":
        return checked(spec, lambda a, b: [a, b], lambda _, b: number(b))
    body = BINARY[spec["f"]]
    return checked(spec, lambda a, b: body(number(a), number(b)), lambda _, b: number(b))


def combiner(spec: Spec) -> Fn:
    """A function of any number of items; whether it fails is decided by their sum."""

    def total(*items: Any) -> int:
        return sum(map(number, items))

    return checked(spec, (lambda *items: list(items)) if spec["f"] == "pair" else total, total)


def maker(spec: Spec, body: Fn) -> Fn:
    """A function from an item to a source or a list."""
    return checked(spec, body, number)


def handler(spec: Spec, body: Fn) -> Fn:
    """A function of an error."""
    return checked(spec, body, lambda _: 0)


def action(spec: Spec) -> Fn:
    """Something that is only done, and may fail in one of its calls, or for an item if it gets one."""

    def decide(*arguments: Any) -> int | None:
        return number(arguments[0]) if arguments and not isinstance(arguments[0], Exception) else None

    return checked({**spec, "z": None}, lambda *_: None, decide)


def value(described: Any, x: Any) -> int:
    """A number of a spec: 3 as it is, "$" the item, "$%3" and "$*10" of it."""
    if isinstance(described, int):
        return described
    n = 0 if x is None else number(x)
    if described == "$":
        return n
    if described.startswith("$%"):
        return n % int(described[2:])
    if described.startswith("$*"):
        return abs(n) * int(described[2:])
    raise ValueError(described)

"""Traces: everything that happens in a stream when all of it is wanted, in order, and the tools to write them with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.invisible.describe import Fn, Key, frozen, key_of


class Call(NamedTuple):
    """A user's function is called (or a user's iterator asked)."""

    fn: str
    args: tuple[Any, ...]
    #: Follows from an end, which needs no demand: an end may come before anybody asks for more.
    free: bool = False
    #: Belongs to subscribing and not to an element.
    subscribing: bool = False
    #: For nothing, as it turns out: who knows that, need not do it.
    idle: bool = False


class Emit(NamedTuple):
    item: Any


class End(NamedTuple):
    #: None: complete.
    error: Key | None = None
    #: The operator knows it with its last item (take): it has to say so without a further request.
    known: bool = False


Event = Call | Emit | End
Trace = list[Event]

COMPLETE = End()
#: The end that comes with the item before it.
KNOWN = End(None, known=True)


def items_of(trace: Trace) -> list[Any]:
    return [event.item for event in trace if isinstance(event, Emit)]


def ask(fn: Fn, *args: Any, free: bool = False, subscribing: bool = False) -> tuple[Trace, Any]:
    """Call a user's function: what happens, and the result. What happens has an End when it failed."""
    happens: Trace = [Call(fn.name, tuple(map(frozen, args)), free or subscribing, subscribing)]
    try:
        return happens, fn(*args)
    except (Exception, GeneratorExit) as error:
        return [*happens, End(key_of(error))], None


def ended(trace: Trace) -> bool:
    return bool(trace) and isinstance(trace[-1], End)


def walk(
    trace: Trace,
    item: Callable[[Any], Trace],
    complete: Callable[[], Trace] = lambda: [COMPLETE],
    error: Callable[[Key], Trace] = lambda key: [End(key)],
) -> Trace:
    """Put something in the place of each signal, up to the first end. Calls stay where they are."""
    out: Trace = []
    for event in trace:
        if isinstance(event, Emit):
            made = item(event.item)
        elif isinstance(event, End):
            made = complete() if event.error is None else error(event.error)
        else:
            made = [event]
        out += made
        if ended(out):
            break
    return out


def none(operator: str) -> Trace:
    return [End(("None", operator))]


def one(fn: Fn, operator: str, *args: Any) -> Trace:
    """The item that a function makes."""
    happens, value = ask(fn, *args)
    if ended(happens):
        return happens
    return [*happens, *(none(operator) if value is None else [Emit(value)])]


def if_true(fn: Fn, x: Any, then: Trace, otherwise: Trace) -> Trace:
    happens, value = ask(fn, x)
    return happens if ended(happens) else [*happens, *(then if value else otherwise)]


def listed(*items: Any) -> Trace:
    return [*map(Emit, items), COMPLETE]


def forget(trace: Trace) -> Trace:
    """The same, but that an end is known early does not pass."""
    return [End(event.error) if isinstance(event, End) else event for event in trace]


def is_empty(trace: Trace) -> bool:
    return not items_of(trace) and bool(trace) and trace[-1] in (COMPLETE, End(None, known=True))


def fold(trace: Trace, step: Callable[[Any], Trace], result: Callable[[], Trace]) -> Trace:
    """Everything first, the result at the end."""

    def complete() -> Trace:
        made = [event._replace(free=True) if isinstance(event, Call) else event for event in result()]
        return made if ended(made) else [*made, COMPLETE]

    return walk(trace, step, complete)

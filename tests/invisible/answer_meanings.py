"""What the operators mean that answer a question about a whole stream, or give the last item, the only one, or a mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.describe import Fn
from tests.invisible.trace import COMPLETE, KNOWN, Emit, End, Trace, ask, ended, fold, if_true, items_of, walk


def any_(trace: Trace, fn: Fn | None = None) -> Trace:
    return _decided(trace, lambda x: ([], bool(x)) if fn is None else ask(fn, x), True)


def all_(trace: Trace, fn: Fn | None = None) -> Trace:
    def fails(x: Any) -> tuple[Trace, Any]:
        happens, value = ([], x) if fn is None else ask(fn, x)
        return happens, not value

    return _decided(trace, fails, False)


def _decided(trace: Trace, decides: Callable[[Any], tuple[Trace, Any]], answer: bool) -> Trace:
    """``answer`` at the first item that decides, the opposite when none does."""

    def item(x: Any) -> Trace:
        happens, value = decides(x)
        return [*happens, Emit(answer), KNOWN] if value and not ended(happens) else happens

    return walk(trace, item, lambda: [Emit(not answer), COMPLETE])


def find_index(trace: Trace, fn: Fn) -> Trace:
    at = -1

    def item(x: Any) -> Trace:
        nonlocal at
        at += 1
        return if_true(fn, x, [Emit(at), KNOWN], [])

    return walk(trace, item, lambda: [Emit(-1), COMPLETE])


def last(trace: Trace, *default: Any) -> Trace:
    def result() -> Trace:
        found = [*default, *items_of(trace)][-1:]
        return [Emit(found[0])] if found else [End(("EmptyStreamError",))]

    return fold(trace, lambda _: [], result)


def last_element(trace: Trace) -> Trace:
    return fold(trace, lambda _: [], lambda: [*map(Emit, items_of(trace)[-1:])])


def single(trace: Trace, *default: Any) -> Trace:
    return last(_at_most_one(trace), *default)


def _at_most_one(trace: Trace) -> Trace:
    seen = 0

    def item(x: Any) -> Trace:
        nonlocal seen
        seen += 1
        return [Emit(x)] if seen == 1 else [End(("ValueError",))]

    return walk(trace, item)


def average(trace: Trace, fn: Fn | None = None) -> Trace:
    seen: list[Any] = []

    def step(x: Any) -> Trace:
        happens, value = ([], x) if fn is None else ask(fn, x)
        if not ended(happens):
            seen.append(value)
            if len(seen) > 1 and None in seen:
                return [*happens, End(("TypeError",))]
        return happens

    def result() -> Trace:
        if None in seen:
            return [End(("TypeError",))]
        return [Emit(sum(seen) / len(seen))] if seen else [End(("EmptyStreamError",))]

    return fold(trace, step, result)


def all_best(trace: Trace, fn: Fn, better: Callable[[Any, Any], bool]) -> Trace:
    """The items whose key no other is better than."""
    keys: list[Any] = []

    def step(x: Any) -> Trace:
        happens, key = ask(fn, x)
        if not ended(happens):
            keys.append(key)
            if len(keys) > 1 and None in keys:
                return [*happens, End(("TypeError",))]
        return happens

    def result() -> Trace:
        return [Emit([x for x, key in zip(items_of(trace), keys, strict=True) if not any(better(k, key) for k in keys)])]

    return fold(trace, step, lambda: result() if None not in keys else [Emit(items_of(trace))])


#: By name; what is called like a method of the stream.
ANSWERS: dict[str, Callable[..., Trace]] = {
    "any": any_,
    "all": all_,
    "contains": lambda trace, value: _decided(trace, lambda x: ([], x == value), True),
    "is_empty": lambda trace: _decided(trace, lambda _: ([], True), False),
    "find_index": find_index,
    "last": last,
    "last_element": last_element,
    "single": single,
    "single_element": lambda trace: last_element(_at_most_one(trace)),
    "average": average,
    "min_by": lambda trace, fn: all_best(trace, fn, lambda a, b: a < b),
    "max_by": lambda trace, fn: all_best(trace, fn, lambda a, b: a > b),
}

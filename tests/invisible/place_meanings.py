"""What operators mean that know where an item stands, or whether there is one: from a trace to a trace."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from tests.invisible.describe import Fn, num
from tests.invisible.stage_meanings import take
from tests.invisible.trace import COMPLETE, Emit, End, Trace, ask, ended, fold, items_of, none, one, walk


def sorted_(trace: Trace, reverse: bool, fn: Fn | None = None) -> Trace:
    keyed: list[tuple[Any, Any]] = []

    def step(x: Any) -> Trace:
        happens, key = ([], x) if fn is None else ask(fn, x)
        if not ended(happens):
            keyed.append((key, x))
        return happens

    def result() -> Trace:
        try:
            return [Emit(x) for _, x in sorted(keyed, key=lambda pair: pair[0], reverse=reverse)]
        except TypeError:
            return [End(("TypeError",))]

    return fold(trace, step, result)


def indexed(trace: Trace, item: Callable[[Any, int], Trace]) -> Trace:
    places = count()
    return walk(trace, lambda x: item(x, next(places)))


def chosen(fn: Fn, x: Any, at: int) -> Trace:
    happens, value = ask(fn, x, at)
    return [*happens, Emit(x)] if value and not ended(happens) else happens


def slice_(trace: Trace, start: int | None, stop: int | None, step: int) -> Trace:
    """Nothing, or only the end of it, is counted from the end."""
    begin = start or 0
    if stop is not None and stop < 0:
        items, given, behind = items_of(trace), count(), stop

        def late(_x: Any, at: int) -> Trace:
            at += behind  # what is given now came so much earlier
            return [Emit(items[at])] if at >= begin and next(given) % step == 0 else []

        return indexed(trace, late)
    places = range(begin, 10**6 if stop is None else stop, step)
    if not places:
        return take(trace, 0)

    def item(x: Any, at: int) -> Trace:
        made: Trace = [Emit(x)] if at in places else []
        return [*made, End(None, known=True)] if at == places[-1] else made

    return indexed(trace, item)


def slice_last(trace: Trace, start: int, stop: int | None, step: int) -> Trace:
    """All that is read is kept; where it is sure that nothing will be left, the source is not read on."""
    if stop == 0:
        return take(trace, 0)
    items: list[Any] = []

    def step_(x: Any) -> Trace:
        items.append(x)
        return [COMPLETE] if stop is not None and 0 < stop <= len(items) + start else []

    return fold(trace, step_, lambda: [Emit(x) for x in items[start:stop:step]])


def map_optional(trace: Trace, fn: Fn) -> Trace:
    def item(x: Any) -> Trace:
        happens, value = ask(fn, x)
        return happens if ended(happens) or value is None else [*happens, Emit(value)]

    return walk(trace, item)


def handle(trace: Trace, fn: Fn) -> Trace:
    """What the function returns says what the handler says: see ``saying`` in building."""

    def item(x: Any) -> Trace:
        happens, value = ask(fn, x)
        if ended(happens) or value is None:
            return happens
        kind = num(value) % 5
        ends = {2: End(None, known=True), 3: COMPLETE, 4: End(("ValueError", "handled"))}
        return [*happens, *([] if kind == 3 else [Emit(value)]), *([ends[kind]] if kind in ends else [])]

    return walk(trace, item)


def scan_with(trace: Trace, supplier: Fn, fn: Fn) -> Trace:
    happens, seed = ask(supplier, subscribing=True)
    if ended(happens):
        return happens
    if seed is None:
        return [*happens, *none("scan_with")]
    total = [seed]

    def item(x: Any) -> Trace:
        made = one(fn, "scan_with", total[0], x)
        if not ended(made):
            total[0] = items_of(made)[0]
        return made

    return [*happens, Emit(seed), *walk(trace, item)]


def pairwise(trace: Trace) -> Trace:
    before: list[Any] = []

    def item(x: Any) -> Trace:
        made: Trace = [Emit((before[0], x))] if before else []
        before[:] = [x]
        return made

    return walk(trace, item)


#: By name, as in stage_meanings.
PLACES: dict[str, Callable[..., Trace]] = {
    "sorted": sorted_,
    "pairwise": pairwise,
    "their_pairwise": pairwise,
    "enumerate": lambda trace, start: indexed(trace, lambda x, at: [Emit((start + at, x))]),
    "map_indexed": lambda trace, fn: indexed(trace, lambda x, at: one(fn, "map_indexed", x, at)),
    "filter_indexed": lambda trace, fn: indexed(trace, lambda x, at: chosen(fn, x, at)),
    "slice": slice_,
    "slice_last": slice_last,
    "map_optional": map_optional,
    "handle": handle,
    "scan_with": scan_with,
}

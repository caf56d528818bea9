"""What each operator means that looks at one item after the other: from a trace to a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rx_ops import OnComplete, OnError, OnNext, Row
from tests.invisible.describe import Fn, key_of
from tests.invisible.trace import (
    COMPLETE,
    KNOWN,
    Call,
    Emit,
    End,
    Trace,
    ask,
    ended,
    fold,
    forget,
    if_true,
    is_empty,
    items_of,
    none,
    one,
    walk,
)


def take(trace: Trace, count: int) -> Trace:
    if count == 0:  # subscribes, cancels at once and completes
        return [*(event for event in before_items(trace) if isinstance(event, Call) and event.subscribing), COMPLETE]
    left = count

    def item(x: Any) -> Trace:
        nonlocal left
        left -= 1
        return [Emit(x)] if left else [Emit(x), KNOWN]

    return walk(trace, item)


def before_items(trace: Trace) -> Trace:
    return trace[: next((at for at, event in enumerate(trace) if isinstance(event, Emit)), len(trace))]


def skip(trace: Trace, count: int) -> Trace:
    left = count

    def item(x: Any) -> Trace:
        nonlocal left
        left -= 1
        return [] if left >= 0 else [Emit(x)]

    return walk(trace, item)


def skip_while(trace: Trace, fn: Fn) -> Trace:
    open_ = False

    def item(x: Any) -> Trace:
        nonlocal open_
        if open_:
            return [Emit(x)]
        happens, value = ask(fn, x)
        if ended(happens):
            return happens
        open_ = not value
        return [*happens, Emit(x)] if open_ else happens

    return walk(trace, item)


def distinct(trace: Trace, fn: Fn | None = None) -> Trace:
    seen: list[Any] = []

    def item(x: Any) -> Trace:
        happens, key = ([], x) if fn is None else ask(fn, x)
        if ended(happens):
            return happens
        try:
            hash(key)
        except TypeError:
            return [*happens, End(("TypeError",))]
        if key in seen:
            return happens
        seen.append(key)
        return [*happens, Emit(x)]

    return walk(trace, item)


def distinct_until_changed(trace: Trace, fn: Fn | None = None) -> Trace:
    before: list[Any] = []

    def item(x: Any) -> Trace:
        happens, key = ([], x) if fn is None else ask(fn, x)
        if ended(happens) or [key] == before:
            return happens
        before[:] = [key]
        return [*happens, Emit(x)]

    return walk(trace, item)


def element_at(trace: Trace, index: int) -> Trace:
    left = index

    def item(x: Any) -> Trace:
        nonlocal left
        left -= 1
        return [] if left >= 0 else [Emit(x), KNOWN]

    return walk(trace, item)


def scan(trace: Trace, fn: Fn, *seed: Any) -> Trace:
    total: list[Any] = list(seed)

    def item(x: Any) -> Trace:
        if not total:
            total.append(x)
            return [Emit(x)]
        made = one(fn, "scan", total[0], x)
        if not ended(made):
            total[0] = items_of(made)[0]
        return made

    return [*map(Emit, seed), *walk(trace, item)]


def reduce(trace: Trace, fn: Fn, *seed: Any, called: str = "reduce") -> Trace:
    total: list[Any] = list(seed)

    def step(x: Any) -> Trace:
        if not total:
            total.append(x)
            return []
        happens, value = ask(fn, total[0], x)
        total[0] = value
        return [*happens, *none(called)] if value is None and not ended(happens) else happens

    def result() -> Trace:
        return [*map(Emit, total)]

    return fold(trace, step, result)


def collect(trace: Trace, supplier: Fn, collector: Fn) -> Trace:
    happens, box = ask(supplier, subscribing=True)
    if ended(happens):
        return happens
    if box is None:
        return [*happens, *none("collect")]
    return [*happens, *fold(trace, lambda x: ask(collector, box, x)[0], lambda: [Emit(box)])]


def collect_into(trace: Trace, fn: Fn) -> Trace:
    return fold(trace, lambda _: [], lambda: one(fn, "collect", items_of(trace)))


def to_list(trace: Trace) -> Trace:
    return fold(trace, lambda _: [], lambda: [Emit(items_of(trace))])


def to_dict(trace: Trace, key: Fn, value: Fn) -> Trace:
    got: dict[Any, Any] = {}

    def step(x: Any) -> Trace:
        happens, k = ask(key, x)
        if ended(happens):
            return happens
        more, v = ask(value, x)
        if not ended(more):
            got[k] = v
        return [*happens, *more]

    return fold(trace, step, lambda: [Emit(got)])


def best(trace: Trace, fn: Fn | None, better: Callable[[Any, Any], bool]) -> Trace:
    got: list[Any] = []

    def step(x: Any) -> Trace:
        happens, key = ([], x) if fn is None else ask(fn, x)
        if ended(happens):
            return happens
        try:
            if not got or better(key, got[0]):
                got[:] = [key, x]
        except TypeError:
            return [*happens, End(("TypeError",))]
        return happens

    return fold(trace, step, lambda: [*map(Emit, got[1:])])


def group_reduce(trace: Trace, key: Fn, value: Fn, reducer: Fn) -> Trace:
    groups: dict[Any, Any] = {}

    def step(x: Any) -> Trace:
        happens, k = ask(key, x)
        if ended(happens):
            return happens
        more, v = ask(value, x)
        happens += more
        if ended(happens):
            return happens
        if k in groups:
            more, v = ask(reducer, groups[k], v)
            happens += more
        if not ended(happens):
            groups[k] = v
        return happens

    return fold(trace, step, lambda: [*map(Emit, groups.items())])


def group_aggregate(trace: Trace, key: Fn, value: Fn, other: Fn) -> Trace:
    """For each key the sum of the values, the smallest of the others, how many others are not None, the values' average."""
    groups: dict[Any, list[tuple[Any, Any]]] = {}

    def step(x: Any) -> Trace:
        happens, k = ask(key, x)
        if ended(happens):
            return happens
        values, others = ([pair[at] for pair in groups.get(k, [])] for at in (0, 1))
        found: list[Any] = []
        for fn, added_up, compared in ((value, True, False), (other, False, True), (other, False, False), (value, False, False)):
            more, got = ask(fn, x)
            happens += more
            if ended(happens):
                return happens
            try:
                sum([*values, got] if added_up else ())
                min([*others, got] if compared else (0,))
            except TypeError:
                return [*happens, End(("TypeError",))]
            found.append(got)
        groups.setdefault(k, []).append((found[0], found[1]))
        return happens

    def row(k: Any) -> Row:
        values, others = ([pair[at] for pair in groups[k]] for at in (0, 1))
        there = sum(other is not None for other in others)
        return Row(key=k, total=sum(values), low=min(others), there=there, mean=sum(values) / len(values))

    return fold(trace, step, lambda: [Emit(row(k)) for k in groups])


def buffer(trace: Trace, count: int, skip: int | None = None) -> Trace:
    """Item number ``at`` opens a list when ``at % skip == 0``; the full ones go at once, the others at the end."""
    lists: list[list[Any]] = []
    at = 0

    def item(x: Any) -> Trace:
        nonlocal at
        if at % (skip or count) == 0:
            lists.append([])
        at += 1
        for each in lists:
            each.append(x)
        if lists and len(lists[0]) == count:
            return [Emit(lists.pop(0))]
        return []

    return fold(trace, item, lambda: [*map(Emit, lists)])


def buffer_until(trace: Trace, fn: Fn, *, cut_before: bool = False) -> Trace:
    """An item that says so is the last of its list, or the first of the next one."""
    run: list[Any] = []

    def item(x: Any) -> Trace:
        happens, cut = ask(fn, x)
        if ended(happens):
            return happens
        whole = [*run] if cut_before else [*run, x]
        run[:] = [*([] if cut else run), x] if cut_before or not cut else []
        return [*happens, Emit(whole)] if cut and whole else happens

    return fold(trace, item, lambda: [Emit(run)] if run else [])


def chunk_by_weight(trace: Trace, limit: int, fn: Fn) -> Trace:
    """Lists that weigh ``limit`` together at most."""
    run: list[Any] = []
    total = [0]

    def cut() -> Trace:
        whole = [*run]
        run.clear()
        total[0] = 0
        return [Emit(whole)]

    def item(x: Any) -> Trace:
        happens, weight = ask(fn, x)
        if ended(happens):
            return happens
        if weight is None:
            return [*happens, End(("TypeError",))]
        if run and total[0] + weight > limit:
            happens = [*happens, *cut()]
        run.append(x)
        total[0] += weight
        return [*happens, *cut()] if total[0] >= limit else happens

    return fold(trace, item, lambda: [Emit([*run])] if run else [])


def buffer_while(trace: Trace, fn: Fn) -> Trace:
    """Lists of what is said yes to; the others are between them."""
    run: list[Any] = []

    def item(x: Any) -> Trace:
        happens, inside = ask(fn, x)
        if ended(happens):
            return happens
        whole = [*run]
        run[:] = [*run, x] if inside else []
        return [*happens, Emit(whole)] if whole and not inside else happens

    return fold(trace, item, lambda: [Emit(run)] if run else [])


def buffer_until_changed(trace: Trace, fn: Fn | None = None) -> Trace:
    """Lists of neighbours with the same key."""
    run: list[Any] = []
    keys: list[Any] = []

    def item(x: Any) -> Trace:
        happens, key = ([], x) if fn is None else ask(fn, x)
        if ended(happens):
            return happens
        whole = [*run] if run and [key] != keys else []
        run[:] = [*([] if whole else run), x]
        keys[:] = [key]
        return [*happens, Emit(whole)] if whole else happens

    return fold(trace, item, lambda: [Emit(run)] if run else [])


def flat_map_iterable(trace: Trace, fn: Fn) -> Trace:
    def item(x: Any) -> Trace:
        happens, value = ask(fn, x)
        if ended(happens):
            return happens
        if value is None:
            return [*happens, End(("TypeError",))]
        return [*happens, *map(Emit, value)]

    return walk(trace, item)


def of_type(trace: Trace, kind: type) -> Trace:
    return walk(trace, lambda x: [Emit(x)] if isinstance(x, kind) else [])


def cast(trace: Trace, kind: type) -> Trace:
    return walk(trace, lambda x: [Emit(x)] if isinstance(x, kind) else [End(("TypeError",))])


def default_if_empty(trace: Trace, item: Any) -> Trace:
    return [*trace[:-1], Emit(item), COMPLETE] if is_empty(trace) else forget(trace)


def first(trace: Trace, *default: Any) -> Trace:
    made = walk(trace, lambda x: [Emit(x), KNOWN], lambda: [*map(Emit, default), COMPLETE])
    return made if items_of(made) or made[-1:] != [COMPLETE] else [*made[:-1], End(("EmptyStreamError",))]


def reduce_with(trace: Trace, supplier: Fn, reducer: Fn) -> Trace:
    happens, seed = ask(supplier, subscribing=True)
    if ended(happens):
        return happens
    if seed is None:
        return [*happens, *none("reduce_with")]
    return [*happens, *reduce(trace, reducer, seed, called="reduce_with")]


def to_multimap(trace: Trace, key: Fn, value: Fn) -> Trace:
    got: dict[Any, list[Any]] = {}

    def step(x: Any) -> Trace:
        happens, k = ask(key, x)
        if ended(happens):
            return happens
        more, v = ask(value, x)
        if not ended(more):
            got.setdefault(k, []).append(v)
        return [*happens, *more]

    return fold(trace, step, lambda: [Emit(got)])


def do_on_next(trace: Trace, fn: Fn) -> Trace:
    def item(x: Any) -> Trace:
        happens, _ = ask(fn, x)
        return happens if ended(happens) else [*happens, Emit(x)]

    return walk(trace, item)


def do_on_complete(trace: Trace, fn: Fn) -> Trace:
    def complete() -> Trace:
        happens, _ = ask(fn, free=True)
        return happens if ended(happens) else [*happens, COMPLETE]

    return walk(trace, lambda x: [Emit(x)], complete)


def dematerialize(trace: Trace) -> Trace:
    def item(x: Any) -> Trace:
        if isinstance(x, OnNext):
            return [Emit(x.item)]
        if isinstance(x, OnError):
            return [End(key_of(x.error))]
        return [COMPLETE if isinstance(x, OnComplete) else End(("TypeError",))]

    return walk(trace, item)


#: By name; what is called like a method of the stream.
STAGES: dict[str, Callable[..., Trace]] = {
    "map": lambda trace, fn: walk(trace, lambda x: one(fn, "map", x)),
    "their_map": lambda trace, fn: walk(trace, lambda x: one(fn, "their_map", x)),
    "starmap": lambda trace, fn: walk(trace, lambda x: one(fn, "starmap", *x)),
    "filter": lambda trace, fn: walk(trace, lambda x: if_true(fn, x, [Emit(x)], [])),
    "take_while": lambda trace, fn: walk(trace, lambda x: if_true(fn, x, [Emit(x)], [COMPLETE])),
    "take": take,
    "skip": skip,
    "skip_while": skip_while,
    "distinct": distinct,
    "distinct_in": distinct,
    "distinct_until_changed": distinct_until_changed,
    "element_at": element_at,
    "first": first,
    "scan": scan,
    "reduce": reduce,
    "reduce_with": reduce_with,
    "to_multimap": to_multimap,
    "collect": collect,
    "collect_into": collect_into,
    "to_list": to_list,
    "sample_reservoir": to_list,
    "to_dict": to_dict,
    "count": lambda trace: walk(to_list(trace), lambda xs: [Emit(len(xs))]),
    "sum": lambda trace: walk(to_list(trace), lambda xs: [Emit(sum(xs))]),
    "min": lambda trace, fn=None: best(trace, fn, lambda new, old: new < old),
    "max": lambda trace, fn=None: best(trace, fn, lambda new, old: new > old),
    "ignore_elements": lambda trace: walk(trace, lambda _: []),
    "group_reduce": group_reduce,
    "group_aggregate": group_aggregate,
    "buffer": buffer,
    "chunk_by_weight": chunk_by_weight,
    "buffer_until": buffer_until,
    "buffer_before": lambda trace, fn: buffer_until(trace, fn, cut_before=True),
    "buffer_while": buffer_while,
    "buffer_until_changed": buffer_until_changed,
    "flat_map_iterable": flat_map_iterable,
    "of_type": of_type,
    "cast": cast,
    "default_if_empty": default_if_empty,
    "do_on_next": do_on_next,
    "do_on_complete": do_on_complete,
    "dematerialize": dematerialize,
}

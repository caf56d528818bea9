"""The reference interpreter: what a pipeline means, slowly and obviously.

The meaning of a stream is the list of everything that happens when all of it is wanted, in order: calls of user functions, items,
the end. An operator is a function from such a list to another. A run that is asked for less, or cancelled, does a beginning of
that list; that is all there is to say about demand and laziness.

It is written from ``operators.tsv`` and from the decision pages, not from the operators' code, and uses nothing of theirs but the
notification classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rx_ops import OnComplete, OnError, OnNext
from tests.invisible import answer_meanings, place_meanings, stage_meanings
from tests.invisible.describe import Fn, Key, Keyed, Op, Pipeline, both, nested
from tests.invisible.trace import (
    COMPLETE,
    KNOWN,
    Call,
    Emit,
    End,
    Event,
    Trace,
    ask,
    ended,
    fold,
    forget,
    is_empty,
    items_of,
    listed,
    none,
    one,
    walk,
)


def reference(pipeline: Pipeline) -> Trace:
    """Everything that happens when all of it is wanted. Without an End it never ends."""
    trace = SOURCES[pipeline.source.name](*pipeline.source.args)
    for op in pipeline.ops:
        trace = apply(op, trace)
    return trace


def apply(op: Op, trace: Trace) -> Trace:
    made = OPERATORS[op.name](trace, *op.args)
    if op.name in ONE_FOR_ONE and trace and trace[-1] == End(None, known=True) and made and made[-1] == COMPLETE:
        made = [*made[:-1], End(None, known=True)]  # nothing can be added behind the last item
    return made


def possible_calls(pipeline: Pipeline) -> set[tuple[str, tuple[Any, ...]]]:
    """Every call that somebody may make who reads ahead, downstream's early end notwithstanding."""
    found: set[tuple[str, tuple[Any, ...]]] = set()
    for prefix in pipeline.prefixes():
        found.update((event.fn, event.args) for event in reference(prefix) if isinstance(event, Call))
        for inner in nested(prefix.ops[-1] if prefix.ops else prefix.source):
            found |= possible_calls(inner)
        if prefix.ops and prefix.ops[-1].name == "flat_map":  # an inner source that fails comes too late for the others
            found.update(of_all_inner(reference(Pipeline(prefix.source, prefix.ops[:-1])), *prefix.ops[-1].args))
    return found


def of_all_inner(trace: Trace, fn: Fn, *inner: Op) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The calls of a mapper and of all its inner sources."""
    for item in items_of(trace):
        for event in mapped([Emit(item)], fn, *inner):
            if isinstance(event, Call):
                yield event.fn, event.args


# -- sources -------------------------------------------------------------------------------------------------------------------


def logged(name: str, items: Sequence[Any], failing: bool) -> Trace:
    """A user's iterator, each step of which is seen; one None among the items is an error."""
    out: Trace = []
    for at, x in enumerate(items):
        out.append(Call(name, (at,)))
        if x is None:
            return [*out, *none("from_iterable")]
        out.append(Emit(x))
    return [*out, Call(name, (len(items),)), End(("ValueError", name)) if failing else COMPLETE]


def pushed(items: Sequence[Any], failing: bool) -> Trace:
    return [*map(Emit, items), End(("ValueError", "source")) if failing else COMPLETE]


def from_callable(fn: Fn) -> Trace:
    made = one(fn, "from_callable")
    return made if ended(made) else [*made, COMPLETE]


def generated(fn: Fn, size: int) -> Trace:
    """``size`` steps that give an item, then one that says the end."""
    out: Trace = []
    for at in range(size):
        happens, value = ask(fn, at)
        out += happens
        if ended(out):
            return out
        if value is None:
            return [*out, End(("TypeError",))]
        out.append(Emit(value))
    return [*out, Call(fn.name, (size,)), COMPLETE]


def deferred(fn: Fn, inner: Pipeline) -> Trace:
    happens, value = ask(fn, subscribing=True)
    if ended(happens):
        return happens
    return [*happens, *([End(("TypeError",))] if value is None else forget(reference(inner)))]


SOURCES: dict[str, Callable[..., Trace]] = {
    "range": lambda n: listed(*range(n)),
    "of": listed,
    "just": listed,
    "list": listed,
    "empty": listed,
    "error": lambda name: [End(("ValueError", name))],
    "never": list,
    "logged": logged,
    "foreign": pushed,
    "manual": pushed,
    "created": pushed,
    "unicast": pushed,
    "hidden": lambda *items: listed(*items),
    "from_callable": from_callable,
    "generate": generated,
    "defer": deferred,
    "using": lambda _name, inner: forget(reference(inner)),
}


# -- operators that look at whole streams -----------------------------------------------------------------------------------


def concat(*traces: Trace) -> Trace:
    out: Trace = []
    for trace in traces:
        out += forget(trace)
        if not ended(out) or out[-1] != COMPLETE:  # failed, or never ends
            return out
        out.pop()
    return [*out, COMPLETE]


def mapped(trace: Trace, fn: Fn, *inner: Op) -> Trace:
    """concat_map, and flat_map where every inner source is synchronous: the inner streams in a row."""

    def item(x: Any) -> Trace:
        happens, value = ask(fn, x)
        if ended(happens):
            return happens
        if value is None:
            return [*happens, End(("TypeError",))]
        made = [*happens, *forget(reference(Pipeline(Op("range", (value,)), inner)))]
        return made[:-1] if made[-1] == COMPLETE else made

    return walk(trace, item)


def merge_delayed(first: Trace, second: Trace) -> Trace:
    """Synchronous sources in a row; errors wait for the end."""
    errors = [trace[-1].error for trace in (first, second) if isinstance(trace[-1], End) and trace[-1].error is not None]
    end = End(None if not errors else errors[0] if len(errors) == 1 else both(*errors))
    return [*first[:-1], *second[:-1], end]


def rows(trace: Trace) -> list[Trace]:
    """Cut behind each item."""
    out: list[Trace] = [[]]
    for event in trace:
        out[-1].append(event)
        if isinstance(event, Emit):
            out.append([])
    return out


def idle(event: Event) -> Event:
    return event._replace(idle=True) if isinstance(event, Call) else event


def zip_(left: Trace, right: Trace, fn: Fn) -> Trace:
    """A row needs an item of each, asked for in order; the first end is the end."""
    out: Trace = []
    for a, b in zip(rows(forget(left)), rows(forget(right)), strict=False):
        there = [bool(part) and isinstance(part[-1], Emit) for part in (a, b)]
        if there == [True, False]:
            return [*out, *map(idle, a[:-1]), *b]
        if there == [False, True]:
            return [*out, *map(idle, b[:-1]), *a]
        if there == [False, False]:
            return [*out, *map(idle, b[:-1]), *map(idle, a)]
        out += [*a[:-1], *b[:-1]]
        out += one(fn, "zip", *items_of([*a, *b]))
        if ended(out):
            return out
    raise AssertionError("one of them has an end")


def sequence_equal(left: Trace, right: Trace) -> Trace:
    """An item of each, asked for in order, until two differ; a source that has ended is not asked again."""
    out: Trace = []
    for a, b in zip(rows(forget(left)), rows(forget(right)), strict=False):
        out += a[:-1]
        if failing(a):
            return [*out, a[-1]]
        out += b[:-1]
        if failing(b):
            return [*out, b[-1]]
        if a[-1] != b[-1]:
            return [*out, Emit(False), KNOWN]
        if ended(a):
            return [*out, Emit(True), KNOWN]
    raise AssertionError("both have an end")


def failing(trace: Trace) -> bool:
    return bool(trace) and isinstance(trace[-1], End) and trace[-1].error is not None


def switch_if_empty(trace: Trace, other: Pipeline) -> Trace:
    return [*trace[:-1], *forget(reference(other))] if is_empty(trace) else forget(trace)


def repeat(trace: Trace, times: int) -> Trace:
    return concat(*[trace] * times)


def retry(trace: Trace, times: int, *when: Fn) -> Trace:
    def again(key: Key) -> Trace:
        if times == 0:
            return [End(key)]
        happens: Trace = []
        if when:
            happens, agrees = ask(when[0], Keyed(key), free=True)
            if ended(happens):
                return failed(happens, key)
            if not agrees:
                return [*happens, End(key)]
        return [*happens, *retry(trace, times - 1, *when)]

    return walk(forget(trace), lambda x: [Emit(x)], error=again)


def failed(happens: Trace, key: Key) -> Trace:
    """A handler failed while it handled."""
    end = happens[-1]
    assert isinstance(end, End)
    assert end.error is not None
    return [*happens[:-1], End(both(key, end.error))]


def on_error_return(trace: Trace, fn: Fn) -> Trace:
    def error(key: Key) -> Trace:
        happens, value = ask(fn, Keyed(key), free=True)
        if ended(happens):
            return failed(happens, key)
        if value is None:
            return failed([*happens, *none("on_error_return")], key)
        return [*happens, Emit(value), COMPLETE]

    return walk(trace, lambda x: [Emit(x)], error=error)


def on_error_resume_next(trace: Trace, fn: Fn, other: Pipeline) -> Trace:
    def error(key: Key) -> Trace:
        happens, value = ask(fn, Keyed(key), free=True)
        if ended(happens):
            return failed(happens, key)
        if value is None:
            return failed([*happens, End(("TypeError",))], key)
        return [*happens, *forget(reference(other))]

    return walk(trace, lambda x: [Emit(x)], error=error)


def do_on_error(trace: Trace, fn: Fn) -> Trace:
    def error(key: Key) -> Trace:
        happens, _ = ask(fn, Keyed(key), free=True)
        return failed(happens, key) if ended(happens) else [*happens, End(key)]

    return walk(trace, lambda x: [Emit(x)], error=error)


def materialize(trace: Trace) -> Trace:
    return walk(
        trace,
        lambda x: [Emit(OnNext(x))],
        lambda: [Emit(OnComplete()), COMPLETE],
        lambda key: [Emit(OnError(Keyed(key))), COMPLETE],
    )


def counted_groups(trace: Trace, fn: Fn) -> Trace:
    """group_by and a count of each group, sorted by key so that the order of groups does not matter."""
    counts: dict[Any, int] = {}

    def step(x: Any) -> Trace:
        happens, key = ask(fn, x)
        if not ended(happens):
            counts[key] = counts.get(key, 0) + 1
        return happens

    return fold(trace, step, lambda: [Emit(sorted(counts.items(), key=repr))])


OPERATORS: dict[str, Callable[..., Trace]] = {
    **stage_meanings.STAGES,
    **place_meanings.PLACES,
    **answer_meanings.ANSWERS,
    "hide": lambda trace: trace,
    "their_pass": lambda trace: trace,
    "do_finally": forget,
    "concat_with": lambda trace, other: concat(trace, reference(other)),
    "start_with": lambda trace, *items: concat(listed(*items), trace),
    "concat": lambda trace, a, b: concat(reference(a), trace, reference(b)),
    "concat_map": mapped,
    "flat_map": mapped,
    "merge_delayed": lambda trace, other: merge_delayed(trace, reference(other)),
    "merge_with": lambda trace, other: merge_delayed(trace, reference(other)),
    "zip_with": lambda trace, other, fn: zip_(trace, reference(other), fn),
    "zipped_with": lambda trace, other, fn: zip_(reference(other), trace, fn),
    "sequence_equal": lambda trace, other: sequence_equal(trace, reference(other)),
    "amb_with": forget,
    "switch_if_empty": switch_if_empty,
    "repeat": repeat,
    "retry": retry,
    "on_error_return": on_error_return,
    "on_error_resume_next": on_error_resume_next,
    "do_on_error": do_on_error,
    "materialize": materialize,
    "windows": stage_meanings.buffer,
    "counted_groups": counted_groups,
    "observe_on": lambda trace, _prefetch: forget(trace),
    "subscribe_on": forget,
    "parallel": lambda trace, _rails: forget(trace),
}

#: At most one item for one, and none of its own: an end that take knows of stays known behind these.
ONE_FOR_ONE = frozenset(
    (
        *("map", "their_map", "starmap", "filter", "take_while", "take", "skip", "skip_while", "distinct", "distinct_in"),
        *("distinct_until_changed", "element_at", "of_type", "cast", "do_on_next", "pairwise", "dematerialize"),
        *("their_pairwise", "enumerate", "map_indexed", "filter_indexed", "slice", "map_optional", "handle"),
        *("hide", "their_pass"),
    )
)  # fmt: skip

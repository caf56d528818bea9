"""Operators of cases in the naive reference that need more than a line of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push import (
    again,
    answers,
    combining,
    concatenating,
    flattening,
    items,
    joining,
    looking_on,
    lossy,
    parts,
    sources,
    timeouts,
    windows,
)
from tests.invisible.push import functions as f
from tests.invisible.push.functions import Fn, number
from tests.invisible.push.reading import Apply, Reader, flowable, to_list
from tests.invisible.push.streams import UNBOUNDED, Count, Failure, Flow, required
from tests.invisible.push.substreams import flatten, handler
from tests.recorded.cases import Spec


def stage(stage: Fn, *argument_names: str, kind: str | None = None) -> Apply:
    """An operator whose arguments stand in the case as they are."""
    return lambda r, flow, op, x: flow.through(stage, *[op[name] for name in argument_names], kind=kind)


def timed(stage: Fn, *argument_names: str, **options: Any) -> Apply:
    return lambda r, flow, op, x: flow.through(stage, r.clock, *[op[name] for name in argument_names], **options)


def predicate(stage: Fn, *more: Any, kind: str | None = None) -> Apply:
    return lambda r, flow, op, x: flow.through(stage, f.predicate(op["p"]), *more, kind=kind)


def acting(stage: Fn, *more: Any) -> Apply:
    return lambda r, flow, op, x: flow.through(stage, f.action(op), *more)


def cache(made: Callable[[Reader, Flow, Spec], again.Cache | again.CacheTtl]) -> Apply:
    return lambda r, flow, op, x: again.counted_if_it_stays(made(r, flow, op).flow(), r.variant.heeds)


def keyed(stage: Fn) -> Apply:
    return lambda r, flow, op, x: flow.through(stage, f.function(op["f"]) if "f" in op else f.identity)


def alike(flow: Flow, other: Flow) -> Flow:
    """The other of two streams, which must be of one kind: RxJava has no method for others."""
    if other.kind != flow.kind:
        raise TypeError(f"a {other.kind} beside a {flow.kind}")
    return other


def other(combine: Callable[[Reader, Flow, Flow], Flow]) -> Apply:
    return lambda r, flow, op, x: combine(r, flow, r.source(op["g"], x))


def several(combine: Callable[[Reader, list[Flow]], Flow], kind: str = "flowable") -> Apply:
    """Streams of at most one item, made to one."""

    def apply(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
        flows = [flow, *(alike(flow, each) for each in r.all(op["xs"], x))]
        made = combine(r, flows if kind == "completable" else [flowable(each) for each in flows])
        return Flow(made.subscribe, kind)

    return apply


def zipped(r: Reader, flow: Flow, op: Spec, x: Any, delay_error: bool = False) -> Flow:
    flows = [flow, *r.all(op["xs"], x)]
    return combining.zipped(flows, f.combiner(op["f"]), r.prefetch(), ahead=r.variant.ahead, delay_error=delay_error)


def zipped_late(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    return zipped(r, flow, op, x, delay_error=True)


def choose(stage: Fn, kind: str, *argument_names: str) -> Apply:
    """first, last, single: with a default, or without an item in a maybe."""
    return lambda r, flow, op, x: flow.through(
        stage,
        *[op[name] for name in argument_names],
        *([op["v"]] if "v" in op else []),
        may_be_empty=kind == "maybe",
        kind=kind,
    )


def flattened(stage: Callable[[Reader, Spec, Any], tuple[Any, ...]]) -> Apply:
    def apply(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
        made, *arguments = stage(r, op, x)
        return flatten(r, flow.through(made, *arguments), op)

    return apply


def window_boundary(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    boundary = r.source(op["b"], x)
    return flatten(r, Flow(lambda down: windows.WindowBoundary(down, r.clock).begin_with(flow, boundary)), op)


def merged(r: Reader, flow: Flow, op: Spec, most: Count, prefetch: Count, kind: str) -> Flow:
    """An Observable sends everything: what is mapped while ``maxc`` sources are running waits."""
    return flow.through(
        flattening.FlatMap,
        *(r.selector(op), op.get("maxc", most), prefetch, bool(op.get("de"))),
        *(r.variant.waiting, r.variant.ahead, r.variant.asks_later),
        kind=kind,
    )


def flat_map(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    return merged(r, flow, op, r.prefetch(), r.prefetch(), "flowable")


def flat_map_one(kind: str) -> Apply:
    """Of singles, maybes and completables. RxJava runs as many at a time as there are, unless ``maxc`` says otherwise. The
    library has one flat_map for sources of all types, and so one default, which its docstring says."""
    return lambda r, flow, op, x: merged(r, flow, op, UNBOUNDED if r.variant.observable else 128, UNBOUNDED, kind)


def concat_map(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    return flow.pulled_through(concatenating.ConcatMap, r.selector(op), r.prefetch(op.get("pre", 2)), op.get("de", "at once"))


def concat_map_one(kind: str) -> Apply:
    """Of singles, maybes and completables: it requests anew when half of its prefetch was taken."""

    def apply(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
        selector = r.selector(op)
        return flow.pulled_through(
            concatenating.ConcatMap,
            lambda item: flowable(selector(item)),
            r.prefetch(2),
            op.get("de", "at once"),
            r.prefetch(1),
            kind=kind,
        )

    return apply


def concat_map_eager(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    return flow.through(
        concatenating.ConcatMapEager,
        *(r.selector(op), op.get("maxc", r.prefetch()), r.prefetch(op.get("pre", 128)), op.get("de", "at once"), r.variant.ahead),
        first_at_once=r.variant.first_at_once,
    )


def filter_when(kind: str) -> Apply:
    """An item when the source that is made of it begins with an even number."""

    def apply(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
        selector = r.selector(op)

        def answered(item: Any) -> Flow:
            answer = selector(item).through(items.Take, 1)
            kept = answer.through(items.Filter, lambda v: number(v) % 2 == 0)
            return Flow(kept.through(items.Map, lambda _: item).subscribe, "maybe")

        if flow.kind != "flowable":
            return flow.through(concatenating.ConcatMap, answered, UNBOUNDED, kind=kind)
        return flow.pulled_through(
            concatenating.ConcatMap, lambda item: flowable(answered(item)), r.prefetch(2), "at once", r.prefetch(1), kind=kind
        )

    return apply


def switch_map(kind: str) -> Apply:
    return lambda r, flow, op, x: flow.through(flattening.SwitchMap, r.selector(op), r.prefetch(), bool(op.get("de")), kind=kind)


def merged_in_order(waits: bool) -> Apply:
    def apply(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
        flows = [flow, *r.all(op["xs"], x)]
        arguments = (f.function(op["f"]), bool(op.get("rev")), r.prefetch(), waits, bool(op.get("de")), r.variant.ahead)
        return Flow(lambda down: joining.MergeOrdered(down, flows, *arguments).begin())

    return apply


def join(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    other, left, right, combiner = r.source(op["b"], x), r.selector(op), r.selector(op, "h"), f.reducer(op["f"])
    return Flow(lambda down: joining.Join(down, left, right, combiner).begin(flow, other))


def group_join(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    other, left, right = r.source(op["b"], x), r.selector(op), r.selector(op, "h")
    return flatten(r, Flow(lambda down: joining.GroupJoin(down, left, right).begin(flow, other)), op)


def exhaust_map(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    return flow.through(flattening.ExhaustMap, r.selector(op), r.prefetch(), bool(op.get("de")))


def switch_on_first(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    make = r.maker(op)

    def choose(item: Any, whole: Flow) -> Flow:
        other = make(0 if item is None else item)  # None where the function gives none, which matters where it is used
        ways: dict[str, Callable[[], Flow]] = {
            "merge": lambda: r.merge([whole, required(other)]),
            "concat": lambda: again.in_turn(again.Concat, required(other), whole),
            "take": lambda: whole.through(items.Take, 2),
            "whole": lambda: whole,
            "other": lambda: required(other),
        }
        return ways[op["mode"]]()

    return again.in_turn(again.SwitchOnFirst, flow, choose)


def window_runs(rule: Callable[[Spec], Fn]) -> Apply:
    return lambda r, flow, op, x: flatten(r, flow.through(parts.WindowRuns, rule(op), r.prefetch()), op)


def group_by(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    key, value = f.function(op["f"]), f.function(op["vf"]) if "vf" in op else f.identity
    return flatten(r, flow.through(parts.GroupBy, key, value, r.prefetch()), op)


def group_by_until(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    return flatten(r, flow.through(parts.GroupByUntil, f.function(op["f"]), r.selector(op), r.prefetch()), op)


def flat_map_iterable(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    made = f.maker(op, lambda item: r.listed(op["g"], item))

    def mapper(item: Any) -> Any:
        return required(made(item))

    return flow.pulled_through(concatenating.ConcatMap, mapper, r.prefetch(), ahead=r.variant.ahead, lazy=True)


def scan(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    function = f.reducer(op["f"])
    if "seed" in op:
        return flow.pulled_through(items.ScanWithSeed, function, op["seed"], r.prefetch())
    return flow.through(items.Scan, function)


def seeded(r: Reader, op: Spec) -> Fn:
    def supply() -> Any:
        if op.get("throws"):
            raise Failure("App:seed")
        return op.get("seed", 0)

    return supply


def reduce(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    function = f.reducer(op["f"])
    seed = [op["seed"]] if "seed" in op else []
    return flow.through(answers.Reduce, function, *seed, kind="single" if seed else "maybe")


def to_dict(many: bool) -> Apply:
    def apply(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
        key, value = f.function(op["f"]), f.function(op["vf"]) if "vf" in op else f.identity

        def add(container: dict[Any, Any], item: Any) -> None:
            k, v = key(item), value(item)
            if many:
                container.setdefault(k, []).append(v)
            else:
                container[k] = v

        return flow.through(answers.Collected, dict, add, kind="single")

    return apply


def ordered(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    ordered = flowable(to_list(flow).through(items.Map, lambda listed: sorted(listed, key=number)))
    return ordered.through(concatenating.ConcatMap, sources.listed, r.prefetch())


def retry(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    def agrees(failure: Failure) -> bool:
        return "p" not in op or str(failure).startswith("App:") == bool(op["p"])

    return again.in_turn(again.Retry, flow, op["n"], agrees, kind=flow.kind)


def stop_after(n: int) -> Fn:
    calls = 0

    def stop(*_: Any) -> bool:
        nonlocal calls
        calls += 1
        return calls > n

    return stop


def retry_until(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    stop = stop_after(op["n"])
    return again.in_turn(again.Retry, flow, UNBOUNDED, lambda _: not stop(), kind=flow.kind)


def repeated(flow: Flow) -> tuple[Flow, str]:
    """What repeats a completable is a completable, what repeats anything else a flowable."""
    return flowable(flow), "completable" if flow.kind == "completable" else "flowable"


def repeat(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    source, kind = repeated(flow)
    return Flow(again.repeat(source, op["n"]).subscribe, kind)


def repeat_until(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    source, kind = repeated(flow)
    return Flow(again.repeat(source, UNBOUNDED, stop_after(op["n"])).subscribe, kind)


def retry_when(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    retried = again.in_turn(again.RetryWhen, flow, handler(r, op), kind=flow.kind)
    return retried.through(answers.SingleItem) if flow.kind == "single" else retried


def repeat_when(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    source, kind = repeated(flow)
    return again.in_turn(again.RepeatWhen, source, handler(r, op), kind=kind)


def on_error_return(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    handler = f.handler(op, lambda _: -9)
    return flow.through(again.OnErrorReturn, handler, flow.kind)


def on_error_complete(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    kind = "maybe" if flow.kind == "single" else flow.kind
    return flow.through(again.OnErrorComplete, f.handler(op, lambda _: True), kind=kind)


def on_error_resume_next(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    handler = f.handler(op, lambda _: alike(flow, r.source(op["g"], x)))
    return again.in_turn(again.OnErrorResumeNext, flow, handler, kind=flow.kind)


def timeout(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    fallback = alike(flow, r.source(op["fb"], x)) if "fb" in op else None
    return again.in_turn(timeouts.TimeoutTimed, flow, fallback, r.clock, op["ms"], kind=flow.kind)


def timeout_sel(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    first, fallback = r.maybe(op.get("b"), x), r.maybe(op.get("fb"), x)
    return again.in_turn(timeouts.TimeoutBySelector, flow, fallback, first, r.selector(op))


def delay_sub(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    return timeouts.delay_subscription(flow, r.source(op["b"], x) if "b" in op else sources.timer(r.clock, op["ms"]))


def delay_sel(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    source = timeouts.delay_subscription(flow, r.source(op["b"], x)) if "b" in op else flow
    return timeouts.delay_by(source, r.selector(op), r.prefetch(), r.variant.waiting, r.variant.asks_later)


def with_latest_from(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    combiner = f.reducer(op["f"]) if len(op["xs"]) == 1 else f.combiner(op["f"])
    return combining.with_latest_from(flow, r.all(op["xs"], x), combiner)


def map_optional(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    function, predicate = f.function(op["f"]), f.predicate(op["p"])
    return flow.through(items.MapOptional, lambda item: function(item) if predicate(item) else None)


def do_on_lifecycle(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    return flow.through(looking_on.DoOnSubscribe, f.action(op)).through(looking_on.DoOnCancel, f.action(op))


def bp_buffer(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    if "n" not in op:
        return flow.through(lossy.OnBackpressureBuffer)
    return flow.through(lossy.OnBackpressureBuffer, op["n"], op["ov"], f.action(op))


def reducing(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    return flow.through(lossy.OnBackpressureReduce, f.reducer(op["f"]), *([op["seed"]] if "seed" in op else []))


def via_observable(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    if op["strategy"] == "BUFFER" and flow.passive and r.variant.pulls == "through":
        return flow  # nothing waits of what is pulled
    return {
        "BUFFER": lambda: flow.through(lossy.OnBackpressureBuffer),
        "LATEST": lambda: flow.through(lossy.OnBackpressureLatest),
        "DROP": lambda: flow.through(lossy.OnBackpressureDrop),
        "ERROR": lambda: flow.through(lossy.OnBackpressureDrop, error=True),
    }[op["strategy"]]()


def concat(*order: int) -> Apply:
    def apply(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
        other = r.source(op["g"], x)
        return again.in_turn(again.Concat, flow, other, kind=other.kind)

    return apply


def collect(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    return flow.through(answers.Collected, list, lambda listed, item: listed.append(number(item) + 1), kind="single")


def all(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    predicate = f.predicate(op["p"])
    return flow.through(answers.AnyOf, lambda item: not predicate(item), False, kind="single")


def kind(kind: str) -> Apply:
    return lambda r, flow, op, x: Flow(flow.subscribe, kind)


def contains(r: Reader, flow: Flow, op: Spec, x: Any) -> Flow:
    return flow.through(answers.AnyOf, lambda item: type(item) is int and item == op["v"], True, kind="single")

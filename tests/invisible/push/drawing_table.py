"""The sources and operators that random pipelines are drawn from: how each is written, what it takes, and how often it comes.

``Drawn("take({n})", n=count(0, 5))`` is an operator with an argument ``n``; an argument that is left out is not written.
``faults``: its function may fail. ``methods``: what it calls, where the text does not say so. The names are those of the
recorded pipelines, so that both are built by the same tables.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from tests.invisible.push.arguments import (
    Argument,
    Drawer,
    amount,
    binary,
    combiner,
    const,
    count,
    flattened,
    grouped,
    key,
    key_function,
    listed_for,
    looked_for,
    maybe,
    millis,
    numbers,
    one_of,
    predicate,
    read_twice,
    reducer,
    shared,
    source,
    source_for,
    sources,
    takes,
    tried_again,
    unary,
    value,
    yes,
)
from tests.recorded.cases import Spec


class Drawn:
    """One source or operator."""

    def __init__(
        self, text: str, *, weight: int = 2, faults: bool = False, methods: Sequence[str] | None = None, **arguments: Argument
    ) -> None:
        self.text, self.weight, self.faults, self.arguments = text, weight, faults, arguments
        #: The methods of streams that it calls.
        self.methods: Sequence[str] = re.findall(r"\b(\w+)(?=\(| with )", text) if methods is None else methods

    def draw(self, drawer: Drawer) -> dict[str, Any]:
        spec = {name: argument(drawer) for name, argument in self.arguments.items()}
        spec = {name: argument for name, argument in spec.items() if argument is not None}
        return {**spec, **drawer.fault()} if self.faults else spec


def draw(drawer: Drawer, table: dict[str, Drawn]) -> str:
    """One of the names of a table, by their weights."""
    return str(drawer.random.choices(list(table), [each.weight for each in table.values()])[0])


def _at(d: Drawer) -> Any:
    return d.number()


def _time(d: Drawer) -> Any:
    return d.pick(("$*97", "$*211", "$*401")) if d.for_item and d.chance(0.3) else d.time()


def _ticks(d: Drawer) -> Spec:
    return {"s": "interval", "first": d.time(), "period": d.between(150, 1_500)}


def _take(d: Drawer) -> list[Spec]:
    return [{"o": "take", "n": d.between(1, 5)}]


def _ops(d: Drawer) -> list[Spec]:
    return [d.draw_operator(d, "simple") for _ in range(d.between(1, 2))]


def _script(d: Drawer) -> Any:
    return d.script(from_start=True)


def _failing_at(d: Drawer) -> Any:
    return d.between(0, 5) if d.chance(0.25) else None


#: What many take.
flow, flows = source("flowable"), sources(1, 3)
inner, inner_single = source_for("flowable"), source_for("single")
inner_maybe, inner_completable = source_for("maybe"), source_for("completable")
most, few, rarely = maybe(count(1, 3), 0.3), count(0, 3), maybe(const(True), 0.05)
some = amount(0, 3)
lossy = one_of("BUFFER", "DROP", "LATEST", "ERROR")
until = maybe(one_of("end", "boundary"), 0.3)
#: The methods that ``shared`` stands for.
SHARING: Final = ("publish", "replay", "share", "cache", "cache_ttl")

#: Sources of a flowable. Those of HOTTER are drawn more often than in the recorded pipelines: they are what Rx is for.
SIMPLE_SOURCES: Final = {
    "hot": Drawn("{id}", weight=10, id=Drawer.hot_source),
    "create": Drawn("create({script}, {strategy})", weight=8, script=_script, strategy=lossy,
                    throws=rarely),
    "foreign": Drawn("foreign({v}, error={e})", weight=4, methods=("wrap",), v=numbers, e=maybe(one_of("F"), 0.25)),
    "paced": Drawn("paced({v}, every={ms}, error={e})", weight=6, methods=("wrap",), v=numbers, ms=millis,
                   e=maybe(one_of("P"), 0.25)),
    "timer": Drawn("timer({ms})", weight=4, ms=_time),
    "interval_range": Drawn("interval_range({a}, {n}, {period}, initial={first})", weight=1, a=_at, n=count(0, 4), period=millis,
                            first=millis),
    "range": Drawn("range({a}, {a} + {n})", weight=6, a=_at, n=amount(0, 6)),
    "iter": Drawn("from_iterable({v}, failing at {at})", weight=4, v=numbers, at=_failing_at),
    "array": Drawn("of({v})", v=numbers),
    "just": Drawn("just({v})", weight=3, v=_at),
    "empty": Drawn("empty()"),
    "error": Drawn("error({e})", e=one_of("E0", "E1", "E2", "E3")),
    "never": Drawn("never()", weight=1),
    "callable": Drawn("from_callable({f} of {v})", v=_at, f=unary),
    "generate": Drawn("generate({n} items, {end})", n=amount(0, 4), end=one_of("complete", "last", "error", "throw")),
}  # fmt: skip

COMPOSED_SOURCES: Final = {
    "pipe": Drawn("{src}.{ops}", weight=8, src=flow, ops=_ops),
    "ticks": Drawn("{src}.{ops}", weight=8, methods=("interval",), src=_ticks, ops=_take),
    "concat": Drawn("concat({xs})", xs=flows),
    "concat_de": Drawn("concat({xs}, delay_error=True)", xs=flows),
    "concat_eager": Drawn("concat_eager({xs})", xs=flows),
    "concat_eager_de": Drawn("concat_eager({xs}, delay_error=True)", xs=flows),
    "merge": Drawn("merge({xs})", xs=flows),
    "merge_de": Drawn("merge({xs}, delay_error=True)", xs=flows),
    "amb": Drawn("amb({xs})", xs=flows),
    "first_value": Drawn("first_with_value({xs})", methods=("first_with_value",), xs=flows),
    "zip": Drawn("zip({xs}, combiner={f})", xs=flows, f=combiner),
    "zip_de": Drawn("zip({xs}, combiner={f}, delay_error=True)", xs=flows, f=combiner),
    "combine": Drawn("combine_latest({xs}, combiner={f})", xs=sources(2, 3), f=combiner),
    "combine_de": Drawn("combine_latest({xs}, combiner={f}, delay_error=True)", xs=sources(2, 3), f=combiner),
    "attempt": Drawn("defer(one after another of {xs})", weight=4, xs=flows),
    "using": Drawn("using({src}, eager={eager}, release fails: {throws})", src=flow, eager=one_of(True, False),
                   throws=rarely),
    "using_when": Drawn("using_when({src}, cleanup {g})", weight=2, src=flow, g=source("completable")),
}  # fmt: skip

ONE: Final = {
    "single": {
        "s_just": Drawn("Single.just({v})", weight=3, v=_at),
        "s_timer": Drawn("Single timer({ms})", weight=3, ms=_time),
        "s_callable": Drawn("Single.from_callable({f} of {v})", v=_at, f=unary),
        "s_error": Drawn("Single.error({e})", weight=1, e=one_of("E0", "E1")),
        "s_never": Drawn("Single.never()", weight=1),
    },
    "maybe": {
        "m_just": Drawn("Maybe.just({v})", weight=3, v=_at),
        "m_timer": Drawn("Maybe timer({ms})", weight=3, ms=_time),
        "m_empty": Drawn("Maybe.empty()"),
        "m_error": Drawn("Maybe.error({e})", weight=1, e=one_of("E0", "E1")),
        "m_never": Drawn("Maybe.never()", weight=1),
    },
    "completable": {
        "c_complete": Drawn("Completable.complete()", weight=3),
        "c_timer": Drawn("Completable timer({ms})", weight=3, ms=_time),
        "c_action": Drawn("Completable.from_action(action)", faults=True),
        "c_error": Drawn("Completable.error({e})", weight=1, e=one_of("E0", "E1")),
        "c_never": Drawn("Completable.never()", weight=1),
    },
}

SOURCES: Final = SIMPLE_SOURCES | COMPOSED_SOURCES | ONE["single"] | ONE["maybe"] | ONE["completable"]

#: One item in, one or none out, at once.
SIMPLE: Final = {
    "map": Drawn("map({f})", f=unary),
    "filter": Drawn("filter({p})", p=predicate),
    "take": Drawn("take({n})", weight=3, n=takes),
    "skip": Drawn("skip({n})", n=some),
    "take_last": Drawn("take_last({n})", weight=1, n=some),
    "skip_last": Drawn("skip_last({n})", weight=1, n=some),
    "take_while": Drawn("take_while({p})", p=predicate),
    "skip_while": Drawn("skip_while({p})", weight=1, p=predicate),
    "take_until_p": Drawn("take_until(predicate={p})", weight=1, p=predicate),
    "map_optional": Drawn("map_optional({f} where {p})", weight=1, f=unary, p=predicate),
    "distinct": Drawn("distinct({f})", weight=1, f=key_function),
    "distinct_until_changed": Drawn("distinct_until_changed({f})", weight=1, f=maybe(key_function)),
    "scan": Drawn("scan({f}, {seed})", f=reducer, seed=maybe(few)),
    "scan_with": Drawn("scan_with({seed}, {f}, supplier fails: {throws})", weight=1, f=binary, seed=few,
                       throws=rarely),
    "start_with": Drawn("start_with({v})", v=numbers),
    "hide": Drawn("hide()"),
    "do_on_next": Drawn("do_on_next(action)", weight=1, faults=True),
    "continued": Drawn("hide().do_on_next(action).on_error_continue(...)", weight=1, methods=("on_error_continue",), faults=True),
    "do_after_next": Drawn("do_after_next(action)", weight=1, faults=True),
    "flat_map_iterable": Drawn("flat_map_iterable(lambda x: {g})", g=listed_for, faults=True),
    "buffer": Drawn("buffer({n}, {k})", n=amount(1, 4), k=maybe(amount(1, 5))),
    "progress": Drawn("progress(bar=quiet)", weight=1),
}  # fmt: skip

ANY: Final = {
    "do_on_error": Drawn("do_on_error(action)", weight=1, faults=True),
    "do_finally": Drawn("do_finally(action)", weight=1, faults=True),
    "do_on_terminate": Drawn("do_on_terminate(action)", weight=1, faults=True),
    "do_after_terminate": Drawn("do_after_terminate(action)", weight=1, faults=True),
    "do_on_subscribe": Drawn("do_on_subscribe(action)", weight=1, faults=True),
    "do_on_lifecycle": Drawn("do_on_lifecycle(action, action)", weight=1, faults=True),
    "log": Drawn("log()", weight=1),
    "named": Drawn("named(name)", weight=1),
    "checkpoint": Drawn("checkpoint()", weight=1),
    "with_context": Drawn("with_context(tenant)", weight=1),
    "on_terminate_detach": Drawn("on_terminate_detach()", weight=1),
    "circuit_breaker": Drawn("circuit_breaker(closed)", weight=1),
    "unsubscribe_on": Drawn("unsubscribe_on()", weight=1),
    "on_error_complete": Drawn("on_error_complete(function)", weight=1, faults=True),
    "retry": Drawn("retry({n}, when it is of the program: {p})", n=few, p=maybe(one_of(True, False), 0.25)),
    "retry_until": Drawn("retry_until(called more than {n} times)", n=few),
    "retry_when": Drawn("retry_when({h}, {n}, {ms})", h=tried_again, n=count(1, 3), ms=millis),
    "repeat": Drawn("repeat({n})", n=few),
    "repeat_until": Drawn("repeat_until(called more than {n} times)", n=few),
    "repeat_when": Drawn("repeat_when({h}, {n}, {ms})", h=tried_again, n=count(1, 3), ms=millis),
    "timeout": Drawn("timeout({ms}, fallback={fb})", weight=3, ms=millis, fb=maybe(source("same"))),
    "delay": Drawn("delay({ms}, delay_error={de})", weight=3, ms=millis, de=yes),
    "delay_sub": Drawn("delay_subscription({ms})", ms=millis),
    "take_until": Drawn("take_until({g})", g=flow),
    "amb_with": Drawn("amb_with({g})", g=source("same")),
    "materialize": Drawn("materialize()", weight=1),
    "cache": Drawn("cache()"),
    "cache_ttl": Drawn("cache_ttl({ms})", ms=millis),
    "observe_on": Drawn("observe_on(prefetch={pre}, delay_error={de})", pre=maybe(count(1, 4), 0.3), de=yes),
    "subscribe_on": Drawn("subscribe_on()"),
}

ON_COMPLETE: Final = {"do_on_complete": Drawn("do_on_complete(action)", weight=1, faults=True)}

DISPOSING: Final = {"do_on_dispose": Drawn("do_on_dispose(action)", weight=1, faults=True)}
#: Of a single and a maybe.
SUCCESS: Final = DISPOSING | {"do_after_success": Drawn("do_after_success(action)", weight=1, faults=True)}

ITEMS: Final = {
    "map": Drawn("map({f})", f=unary),
    "filter": Drawn("filter({p})", p=predicate),
    "on_error_return": Drawn("on_error_return(-9)", faults=True),
    "hide": Drawn("hide()"),
    "contains": Drawn("contains({v})", weight=1, v=looked_for),
    "timestamp": Drawn("timestamp()", weight=1),
    "time_interval": Drawn("time_interval()", weight=1),
}

FLOWABLE: Final = SIMPLE | ANY | ITEMS | ON_COMPLETE | {
    "delay_sub": Drawn("delay_subscription({ms}, until={b})", ms=millis, b=maybe(flow)),
    "on_error_resume_next": Drawn("on_error_resume_next({g})", g=flow, faults=True),
    "switch_if_empty": Drawn("switch_if_empty({g})", g=flow),
    "default_if_empty": Drawn("default_if_empty({v})", v=value),
    "skip_until": Drawn("skip_until({g})", g=flow),
    "take_time": Drawn("take(seconds={ms})", ms=millis),
    "skip_time": Drawn("skip(seconds={ms})", ms=millis),
    "take_last_time": Drawn("take_last({n}, seconds={ms})", ms=millis, n=maybe(some)),
    "skip_last_time": Drawn("skip_last(seconds={ms})", ms=millis),
    # streams of streams
    "flat_map": Drawn("flat_map(lambda x: {g}, most={maxc}, delay_error={de})", weight=6, g=inner,
                      maxc=most, de=yes, faults=True),
    "flat_map_s": Drawn("flat_map(lambda x: {g}, most={maxc}, delay_error={de})", g=inner_single,
                        maxc=most, de=yes, faults=True),
    "flat_map_m": Drawn("flat_map(lambda x: {g}, most={maxc}, delay_error={de})", g=inner_maybe,
                        maxc=most, de=yes, faults=True),
    "flat_map_c": Drawn("flat_map_completable(lambda x: {g}, most={maxc}, delay_error={de})", g=inner_completable,
                        maxc=most, de=yes, faults=True),
    "concat_map": Drawn("concat_map(lambda x: {g}, prefetch={pre}, delay errors to the {de})", weight=6, g=inner,
                        pre=maybe(count(1, 4), 0.2), de=until, faults=True),
    "concat_map_s": Drawn("concat_map(lambda x: {g})", g=inner_single, faults=True),
    "concat_map_m": Drawn("concat_map(lambda x: {g})", g=inner_maybe, faults=True),
    "concat_map_c": Drawn("concat_map_completable(lambda x: {g}, delay errors to the {de})", g=inner_completable,
                          de=until, faults=True),
    "concat_map_eager": Drawn("concat_map_eager(lambda x: {g}, most={maxc}, prefetch={pre}, delay errors to the {de})", weight=6,
                              g=inner, maxc=most, pre=maybe(count(1, 4), 0.2), de=until, faults=True),
    "filter_when": Drawn("filter_when(lambda x: {g} begins with an even number)", methods=("filter_when",), g=inner, faults=True),
    "switch_map": Drawn("switch_map(lambda x: {g}, delay_error={de})", weight=6, g=inner, de=yes, faults=True),
    "switch_map_s": Drawn("switch_map(lambda x: {g})", g=inner_single, faults=True),
    "switch_map_m": Drawn("switch_map(lambda x: {g})", g=inner_maybe, faults=True),
    "switch_map_c": Drawn("switch_map_completable(lambda x: {g}, delay_error={de})", g=inner_completable, de=yes, faults=True),
    "exhaust_map": Drawn("exhaust_map(lambda x: {g}, delay_error={de})", weight=4, g=inner, de=yes, faults=True),
    "switch_on_first": Drawn("switch_on_first({mode} with {g})", weight=3, methods=("switch_on_first",), g=inner,
                             mode=one_of("merge", "concat", "take", "whole", "whole", "other"), faults=True),
    # sources side by side
    "concat_with": Drawn("concat_with({g})", g=flow),
    "concat_de": Drawn("concat with {xs}, delay_error=True", xs=sources(1, 2)),
    "concat_eager": Drawn("concat_eager with {xs}", xs=sources(1, 2)),
    "concat_eager_de": Drawn("concat_eager with {xs}, delay_error=True", xs=sources(1, 2)),
    "merge_with": Drawn("merge_with({g})", weight=3, g=flow),
    "merge_de": Drawn("merge with {xs}, delay_error=True", xs=sources(1, 2)),
    "zip_with": Drawn("zip_with({g}, {f}, delay_error={de})", g=flow, f=reducer, de=yes),
    "zip_de": Drawn("zip with {xs}, combiner={f}, delay_error=True", xs=sources(1, 2), f=combiner),
    "merge_ordered": Drawn("merge_ordered with {xs}, key={f}, reverse={rev}, delay_error={de}", xs=sources(1, 2),
                           f=key_function, rev=yes, de=yes),
    "merge_priority": Drawn("merge_priority with {xs}, key={f}, reverse={rev}, delay_error={de}", xs=sources(1, 2),
                            f=key_function, rev=yes, de=yes),
    "join": Drawn("join({b}, lambda x: {g}, lambda y: {h}, {f})", weight=3, methods=("join",), b=flow, g=inner, h=inner,
                  f=reducer, faults=True),
    "group_join": Drawn("group_join({b}, lambda x: {g}, lambda y: {h}) {fl} {n}", weight=3, methods=("group_join",), b=flow,
                        g=inner, h=inner, fl=flattened, n=few, faults=True),
    "zip_latest": Drawn("zip_latest with {xs}, combiner={f}", xs=sources(1, 2), f=combiner),
    "fork_join": Drawn("fork_join with {xs}, combiner={f}", weight=1, xs=sources(1, 2), f=combiner),
    "zip": Drawn("zip with {xs}, combiner={f}", xs=sources(1, 2), f=combiner),
    "combine_latest": Drawn("combine_latest with {xs}, combiner={f}", xs=sources(1, 2), f=combiner),
    "combine_latest_de": Drawn("combine_latest with {xs}, combiner={f}, delay_error=True", xs=sources(1, 2), f=combiner),
    "with_latest_from": Drawn("with_latest_from({xs}, combiner={f})", xs=sources(1, 1), f=reducer),
    # time
    "delay_sel": Drawn("delay(selector=lambda x: {g}, subscription={b})", g=inner, b=maybe(flow, 0.3),
                       faults=True),
    "debounce": Drawn("debounce({ms})", ms=millis),
    "debounce_sel": Drawn("debounce(selector=lambda x: {g})", g=inner, faults=True),
    "throttle_first": Drawn("throttle_first({ms})", ms=millis),
    "throttle_latest": Drawn("throttle_latest({ms}, emit_last={last})", ms=millis, last=yes),
    "sample": Drawn("sample({ms}, emit_last={last})", ms=millis, last=yes),
    "sample_by": Drawn("sample(sampler={b}, emit_last={last})", b=flow, last=yes),
    "timeout_sel": Drawn("timeout(selector=lambda x: {g}, first={b}, fallback={fb})", g=inner,
                         b=maybe(flow, 0.3), fb=maybe(flow, 0.4), faults=True),
    # parts
    "buffer_time": Drawn("buffer(seconds={ms})", ms=millis),
    "buffer_time_count": Drawn("buffer(seconds={ms}, count={n})", ms=millis, n=amount(1, 3)),
    "buffer_restart": Drawn("buffer(seconds={ms}, count={n}, restart=True)", ms=millis, n=count(1, 3)),
    "buffer_every": Drawn("buffer(seconds={ms}, every={every})", ms=millis, every=millis),
    "buffer_boundary": Drawn("buffer(boundary={b})", b=flow),
    "buffer_toggle": Drawn("buffer(opening={b}, closing=lambda x: {g})", b=flow, g=inner, faults=True),
    "window": Drawn("window({size}, {k}) {fl} {n}", size=amount(1, 4), k=maybe(amount(1, 5)), fl=flattened, n=few),
    "window_time": Drawn("window(seconds={ms}) {fl} {n}", ms=millis, fl=flattened, n=few),
    "window_time_count": Drawn("window(seconds={ms}, count={size}) {fl} {n}", ms=millis, size=count(1, 3), fl=flattened,
                               n=few),
    "window_restart": Drawn("window(seconds={ms}, count={size}, restart=True) {fl} {n}", ms=millis, size=count(1, 3),
                            fl=flattened, n=few),
    "window_every": Drawn("window(seconds={ms}, every={every}) {fl} {n}", ms=millis, every=millis, fl=flattened,
                          n=few),
    "window_boundary": Drawn("window(boundary={b}) {fl} {n}", b=flow, fl=flattened, n=few),
    "window_toggle": Drawn("window(opening={b}, closing=lambda x: {g}) {fl} {n}", b=flow,
                           g=inner, fl=flattened, n=few, faults=True),
    "window_until": Drawn("window_until({p}, cut_before={before}) {fl} {n}", p=predicate, before=yes, fl=flattened, n=few),
    "window_while": Drawn("window_while({p}) {fl} {n}", weight=1, p=predicate, fl=flattened, n=few),
    "window_until_changed": Drawn("window_until_changed({f}) {fl} {n}", weight=1, f=key_function, fl=flattened, n=few),
    "group_by": Drawn("group_by({f}, {vf}) {fl} {n}", weight=4, f=key, vf=maybe(unary, 0.3), fl=grouped, n=few),
    "group_by_until": Drawn("group_by_until({f}, lambda k: {g}) {fl} {n}", f=key, g=inner, fl=grouped, n=few, faults=True),
    # one subscription for many
    "multicast": Drawn("{how}({subs}, size={size}, time={ms})", methods=SHARING, how=shared, ms=millis,
                       size=count(1, 3), subs=const(1)),
    "twice": Drawn("{how}({subs}, size={size}, time={ms}), twice: {mode} {n}", methods=SHARING, how=shared, ms=millis,
                   size=count(1, 3), subs=maybe(const(2), 0.3), mode=read_twice, n=maybe(count(1, 3))),
    "publish_sel": Drawn("publish(twice: {mode} {n})", mode=read_twice, n=maybe(count(1, 3))),
    "replay_sel": Drawn("replay(selector=twice: {mode} {n})", mode=read_twice, n=maybe(count(1, 3))),
    # demand
    "bp_buffer": Drawn("on_backpressure_buffer({n}, overflow={ov})", n=amount(1, 4),
                       ov=one_of("ERROR", "DROP_OLDEST", "DROP_LATEST", "DROP_INCOMING")),
    "on_backpressure_reduce": Drawn("on_backpressure_reduce({f}, supplier of {seed})", f=binary, seed=maybe(few)),
    "on_backpressure_timeout": Drawn("on_backpressure_timeout({ms}, capacity={n})", ms=millis, n=maybe(count(1, 3)),
                                     faults=True),
    "rebatch_requests": Drawn("rebatch_requests({n}, refill={k})", n=amount(2, 5), k=maybe(count(1, 2))),
    "rails": Drawn("parallel({par}, prefetch={pre}), joined in order with prefetch={k}, delay_error={de}", par=count(1, 3),
                   pre=count(1, 4), k=count(1, 4), de=yes),
    "rate_limit": Drawn("rate_limit({n}, {ms})", n=count(1, 3), ms=millis),
    "observe_latest": Drawn("observe_on(latest=True, delay_error={de})", de=yes),
    "bp_drop": Drawn("on_backpressure_drop(action)", weight=3, faults=True),
    "bp_latest": Drawn("on_backpressure_latest(action)", weight=3, faults=True),
    "via_observable": Drawn("to_observable().to_flowable({strategy})", strategy=lossy),
    # looking on
    "do_on_cancel": Drawn("do_on_cancel(action)", weight=1, faults=True),
    "do_on_each": Drawn("do_on_each(action)", weight=1, faults=True),
    "do_on_request": Drawn("do_on_request(action)", weight=1),
    "do_on_discard": Drawn("do_on_discard(action)", weight=1),
    "remat": Drawn("materialize().dematerialize()", weight=1),
    "sorted": Drawn("sorted()", weight=1),
    # one answer
    "reduce": Drawn("reduce({f}, {seed})", weight=1, f=binary, seed=maybe(few)),
    "reduce_with": Drawn("reduce_with({seed}, {f}, supplier fails: {throws})", weight=1, f=binary, seed=few,
                         throws=rarely),
    "collect": Drawn("collect(list)", weight=1),
    "to_list": Drawn("to_list()", weight=1),
    "to_dict": Drawn("to_dict({f}, {vf})", weight=1, f=key_function, vf=maybe(key_function)),
    "to_multimap": Drawn("to_multimap({f}, {vf})", weight=1, f=key_function, vf=maybe(key_function)),
    "count": Drawn("count()", weight=1),
    "all": Drawn("all({p})", weight=1, p=predicate),
    "any": Drawn("any({p})", weight=1, p=predicate),
    "is_empty": Drawn("is_empty()", weight=1),
    "element_at": Drawn("element_at({n})", weight=1, n=amount(0, 4)),
    "first": Drawn("first({v})", weight=1, v=maybe(value)),
    "first_element": Drawn("first_element()", weight=1),
    "last": Drawn("last({v})", weight=1, v=maybe(value)),
    "last_element": Drawn("last_element()", weight=1),
    "single": Drawn("single({v})", weight=1, v=maybe(value)),
    "single_element": Drawn("single_element()", weight=1),
    "ignore_elements": Drawn("ignore_elements()", weight=1),
    "sequence_equal": Drawn("sequence_equal({g})", weight=1, g=flow),
}  # fmt: skip


def _several(kind: str, *methods: str) -> dict[str, Drawn]:
    """The static methods of several streams of that kind, which is of at most one item."""
    return {
        f"{method}{name}": Drawn(f"{method} with {{xs}}{text}", weight=1, xs=sources(1, 3, kind))
        for method in methods
        for name, text in (("", ""), ("_de", ", delay_error=True"))
    }


SINGLE: Final = (
    ANY
    | ITEMS
    | _several("single", "concat", "concat_eager", "merge")
    | {
        "do_on_success": Drawn("do_on_success(action)", faults=True),
        **SUCCESS,
        "on_error_resume_next": Drawn("on_error_resume_next({g})", g=source("single"), faults=True),
        "flat_map": Drawn("flat_map(lambda x: {g})", weight=4, g=inner_single, faults=True),
        "flat_map_m": Drawn("flat_map_maybe(lambda x: {g})", weight=3, g=inner_maybe, faults=True),
        "flat_map_c": Drawn("flat_map_completable(lambda x: {g})", g=inner_completable, faults=True),
        "flat_map_publisher": Drawn("flat_map_publisher(lambda x: {g})", weight=4, g=inner, faults=True),
        "filter_when": Drawn("filter_when(lambda x: {g} is even)", methods=("filter_when",), g=inner_maybe, faults=True),
        "zip": Drawn("zip with {xs}, combiner={f}", xs=sources(1, 3, "single"), f=combiner),
        "zip_with": Drawn("zip_with({g}, {f})", weight=3, g=source("single"), f=reducer),
        "ignore_element": Drawn("ignore_element()"),
        "sequence_equal": Drawn("sequence_equal({g})", weight=1, g=source("single")),
        "to_maybe": Drawn("to_maybe()"),
        "to_flowable": Drawn("to_flowable()", weight=3),
    }
)

MAYBE: Final = (
    ANY
    | ITEMS
    | _several("maybe", "concat", "concat_eager", "merge")
    | ON_COMPLETE
    | {
        "do_on_success": Drawn("do_on_success(action)", faults=True),
        **SUCCESS,
        "on_error_resume_next": Drawn("on_error_resume_next({g})", g=source("maybe"), faults=True),
        "flat_map": Drawn("flat_map(lambda x: {g})", weight=4, g=inner_maybe, faults=True),
        "flat_map_s": Drawn("flat_map_single(lambda x: {g})", weight=3, g=inner_single, faults=True),
        "flat_map_c": Drawn("flat_map_completable(lambda x: {g})", g=inner_completable, faults=True),
        "flat_map_publisher": Drawn("flat_map_publisher(lambda x: {g})", weight=4, g=inner, faults=True),
        "filter_when": Drawn("filter_when(lambda x: {g} is even)", methods=("filter_when",), g=inner_single, faults=True),
        "zip": Drawn("zip with {xs}, combiner={f}", xs=sources(1, 3, "maybe"), f=combiner),
        "zip_with": Drawn("zip_with({g}, {f})", weight=3, g=source("maybe"), f=reducer),
        "switch_if_empty": Drawn("switch_if_empty({g})", g=source("maybe")),
        "default_if_empty": Drawn("default_if_empty({v})", v=value),
        "is_empty": Drawn("is_empty()", weight=1),
        "count": Drawn("count()", weight=1),
        "ignore_element": Drawn("ignore_element()"),
        "sequence_equal": Drawn("sequence_equal({g})", weight=1, g=source("maybe")),
        "to_single": Drawn("to_single()"),
        "to_flowable": Drawn("to_flowable()", weight=3),
    }
)

COMPLETABLE: Final = (
    ANY
    | ON_COMPLETE
    | _several("completable", "concat", "merge")
    | DISPOSING
    | {
        "and_then": Drawn("and_then({g})", weight=8, g=source("any")),
        "on_error_resume_next": Drawn("on_error_resume_next({g})", g=source("completable"), faults=True),
        "hide": Drawn("hide()"),
        "to_maybe": Drawn("to_maybe()"),
        "to_single_default": Drawn("to_single_default({v})", weight=3, v=value),
        "to_flowable": Drawn("to_flowable()", weight=2),
    }
)

OPERATORS: Final = {"flowable": FLOWABLE, "single": SINGLE, "maybe": MAYBE, "completable": COMPLETABLE, "simple": SIMPLE}

"""The operators of cases in the naive reference, one line each: of a flowable, a single, a maybe and a completable."""

from __future__ import annotations

from typing import Final

from tests.invisible.push import (
    again,
    answers,
    buffers,
    combining,
    concatenating,
    items,
    looking_on,
    lossy,
    parts,
    sharing,
    sources,
    timeouts,
    timing,
    windows,
)
from tests.invisible.push import functions as f
from tests.invisible.push import operators as make
from tests.invisible.push.reading import Apply, flowable, to_list
from tests.invisible.push.streams import UNBOUNDED
from tests.invisible.push.substreams import share, twice

COMMON: Final[dict[str, Apply]] = {
    "map": lambda r, flow, op, x: flow.through(items.Map, f.function(op["f"])),
    "filter": make.predicate(items.Filter),
    "delay_sub": make.delay_sub,
    "do_on_error": make.acting(looking_on.DoOnError),
    "do_finally": make.acting(looking_on.DoFinally),
    "do_on_complete": lambda r, flow, op, x: flow.through(looking_on.DoOnComplete, f.action(op), flow.kind),
    "do_on_terminate": lambda r, flow, op, x: flow.through(looking_on.DoOnTerminate, f.action(op), flow.kind),
    "do_after_terminate": make.acting(looking_on.DoAfterTerminate),
    "do_after_success": make.acting(looking_on.DoAfterSuccess),
    "do_on_subscribe": make.acting(looking_on.DoOnSubscribe),
    "do_on_dispose": make.acting(looking_on.DoOnCancel),
    "do_on_lifecycle": make.do_on_lifecycle,
    "log": lambda r, flow, op, x: flow,
    "named": lambda r, flow, op, x: flow,
    "checkpoint": lambda r, flow, op, x: flow,
    "with_context": lambda r, flow, op, x: flow,
    "progress": lambda r, flow, op, x: flow,
    "on_terminate_detach": lambda r, flow, op, x: flow,
    "circuit_breaker": lambda r, flow, op, x: flow,
    "unsubscribe_on": make.timed(looking_on.UnsubscribeOn),
    "do_on_success": make.acting(looking_on.DoOnNext),
    "to_single": lambda r, flow, op, x: flow.through(answers.SingleItem, kind="single"),
    "on_error_complete": make.on_error_complete,
    "on_error_return": make.on_error_return,
    "on_error_resume_next": make.on_error_resume_next,
    "retry": make.retry,
    "retry_when": make.retry_when,
    "repeat_when": make.repeat_when,
    "retry_until": make.retry_until,
    "repeat_until": make.repeat_until,
    "repeat": make.repeat,
    "timeout": make.timeout,
    "delay": lambda r, flow, op, x: flow.through(timeouts.Delay, r.clock, op["ms"], bool(op.get("de"))),
    "take_until": make.other(lambda r, a, b: combining.take_until(a, b)),
    "amb_with": make.other(lambda r, a, b: combining.amb([a, make.alike(a, b)], a.kind)),
    "materialize": lambda r, flow, op, x: flow.through(
        looking_on.Materialize, flow.kind, kind="flowable" if flow.kind == "flowable" else "single"
    ),
    "cache": make.cache(lambda r, flow, op: again.Cache(flow)),
    "cache_ttl": make.cache(lambda r, flow, op: again.CacheTtl(flow, op["ms"], r.clock)),
    "hide": lambda r, flow, op, x: flow,
    "to_flowable": lambda r, flow, op, x: flowable(flow),
    "timestamp": make.timed(looking_on.Timestamp),
    "time_interval": make.timed(looking_on.TimeInterval),
    "subscribe_on": lambda r, flow, op, x: timeouts.subscribe_on(flow, r.clock),
    "contains": make.contains,
    "ignore_element": lambda r, flow, op, x: flow.through(answers.IgnoreElements, kind="completable"),
    "switch_if_empty": make.other(lambda r, a, b: again.in_turn(again.SwitchIfEmpty, a, make.alike(a, b), kind=b.kind)),
    "default_if_empty": lambda r, flow, op, x: again.in_turn(
        again.SwitchIfEmpty, flow, sources.listed([op["v"]]), kind="flowable" if flow.kind == "flowable" else "single"
    ),
    "is_empty": lambda r, flow, op, x: flow.through(answers.AnyOf, lambda _: True, False, kind="single"),
    "count": make.stage(answers.Count_, kind="single"),
    "sequence_equal": make.other(lambda r, a, b: answers.sequence_equal(a, b, r.prefetch())),
    "observe_on": lambda r, flow, op, x: flow.through(timeouts.ObserveOn, r.clock, UNBOUNDED, True, flow.kind),
}

FLOWABLE: Final[dict[str, Apply]] = {
    "map_optional": make.map_optional,
    "take": make.stage(items.Take, "n"),
    "skip": lambda r, flow, op, x: flow.through(items.Skip, op["n"], r.variant.skips_on_request),
    "take_last": make.stage(items.TakeLast, "n"),
    "skip_last": make.stage(items.SkipLast, "n"),
    "take_while": make.predicate(items.TakeWhile),
    "skip_while": make.predicate(items.SkipWhile),
    "take_until_p": lambda r, flow, op, x: flow.through(items.TakeUntilTrue, f.predicate(op["p"]), r.variant.heeds),
    "skip_until": make.other(lambda r, a, b: combining.skip_until(a, b)),
    "take_time": lambda r, flow, op, x: combining.take_until(flow, sources.timer(r.clock, op["ms"])),
    "skip_time": lambda r, flow, op, x: combining.skip_until(flow, sources.timer(r.clock, op["ms"])),
    "take_last_time": lambda r, flow, op, x: flow.through(timing.TakeLastTimed, r.clock, op["ms"], op.get("n", UNBOUNDED)),
    "skip_last_time": lambda r, flow, op, x: flow.through(timing.SkipLastTimed, r.clock, op["ms"], r.variant.drops_at_end),
    "distinct": make.keyed(items.Distinct),
    "distinct_until_changed": make.keyed(items.DistinctUntilChanged),
    "scan": make.scan,
    "reduce": make.reduce,
    "scan_with": lambda r, flow, op, x: items.scan_with(
        flow, make.seeded(r, op), f.reducer(op["f"]), r.prefetch(), r.variant.ahead
    ),
    "reduce_with": lambda r, flow, op, x: answers.reduce_with(flow, make.seeded(r, op), f.reducer(op["f"])),
    "collect": make.collect,
    "buffer": lambda r, flow, op, x: flow.through(buffers.BufferCount, op["n"], op.get("k", op["n"])),
    "buffer_time": make.timed(buffers.BufferTimed, "ms"),
    "buffer_time_count": make.timed(buffers.BufferTimed, "ms", "n"),
    "buffer_restart": make.timed(buffers.BufferTimed, "ms", "n", restart=True),
    "buffer_every": make.timed(buffers.BufferEvery, "ms", "every"),
    "buffer_boundary": lambda r, flow, op, x: flow.through(buffers.BufferBoundary, r.clock, r.source(op["b"], x)),
    "buffer_toggle": lambda r, flow, op, x: flow.through(buffers.BufferToggle, r.source(op["b"], x), r.selector(op)),
    "window": make.flattened(lambda r, op, x: (parts.WindowCount, op["size"], op.get("k", op["size"]))),
    "window_time": make.flattened(lambda r, op, x: (windows.WindowByTime, r.clock, op["ms"])),
    "window_time_count": make.flattened(lambda r, op, x: (windows.WindowByTime, r.clock, op["ms"], op["size"])),
    "window_restart": make.flattened(lambda r, op, x: (windows.WindowByTime, r.clock, op["ms"], op["size"], True)),
    "window_every": make.flattened(lambda r, op, x: (windows.WindowEvery, r.clock, op["ms"], op["every"])),
    "window_boundary": make.window_boundary,
    "window_toggle": make.flattened(lambda r, op, x: (windows.WindowToggle, r.clock, r.source(op["b"], x), r.selector(op))),
    "window_until": make.window_runs(lambda op: parts.cut_where(f.predicate(op["p"]), bool(op.get("before")))),
    "window_while": make.window_runs(lambda op: parts.inside_while(f.predicate(op["p"]))),
    "window_until_changed": make.window_runs(lambda op: parts.cut_at_changes(f.function(op["f"]))),
    "group_by": make.group_by,
    "group_by_until": make.group_by_until,
    "flat_map": make.flat_map,
    "flat_map_s": make.flat_map_one("flowable"),
    "flat_map_m": make.flat_map_one("flowable"),
    "flat_map_c": make.flat_map_one("completable"),
    "concat_map": make.concat_map,
    "concat_map_s": make.concat_map_one("flowable"),
    "concat_map_m": make.concat_map_one("flowable"),
    "concat_map_c": make.concat_map_one("completable"),
    "concat_map_eager": make.concat_map_eager,
    "filter_when": make.filter_when("flowable"),
    "switch_map": make.switch_map("flowable"),
    "exhaust_map": make.exhaust_map,
    "switch_on_first": make.switch_on_first,
    "switch_map_s": make.switch_map("flowable"),
    "switch_map_m": make.switch_map("flowable"),
    "switch_map_c": make.switch_map("completable"),
    "flat_map_iterable": make.flat_map_iterable,
    "zip_with": lambda r, flow, op, x: combining.zipped(
        [flow, r.source(op["g"], x)],
        *(f.reducer(op["f"]), r.prefetch()),
        ahead=r.variant.ahead,
        delay_error=bool(op.get("de")),
    ),
    "zip": make.zipped,
    "zip_de": make.zipped_late,
    "merge_ordered": make.merged_in_order(True),
    "merge_priority": make.merged_in_order(False),
    "join": make.join,
    "group_join": make.group_join,
    "zip_latest": lambda r, flow, op, x: combining.zip_latest([flow, *r.all(op["xs"], x)], f.combiner(op["f"])),
    "fork_join": lambda r, flow, op, x: combining.zipped(
        [each.through(answers.Last, may_be_empty=True) for each in (flow, *r.all(op["xs"], x))],
        *(f.combiner(op["f"]), UNBOUNDED, "maybe"),
    ),
    "combine_latest": lambda r, flow, op, x: combining.combine_latest(
        [flow, *r.all(op["xs"], x)], f.combiner(op["f"]), r.prefetch()
    ),
    "combine_latest_de": lambda r, flow, op, x: combining.combine_latest(
        [flow, *r.all(op["xs"], x)], f.combiner(op["f"]), r.prefetch(), True
    ),
    "with_latest_from": make.with_latest_from,
    "merge_with": make.other(lambda r, a, b: r.merge([a, b])),
    "merge_de": lambda r, flow, op, x: r.merge([flow, *r.all(op["xs"], x)], delay_error=True),
    "concat_with": make.concat(),
    "concat_de": lambda r, flow, op, x: concatenating.in_turn([flow, *r.all(op["xs"], x)], "end"),
    "concat_eager": lambda r, flow, op, x: r.concat_eager([flow, *r.all(op["xs"], x)]),
    "concat_eager_de": lambda r, flow, op, x: r.concat_eager([flow, *r.all(op["xs"], x)], "end"),
    "start_with": lambda r, flow, op, x: again.in_turn(again.Concat, r.listed(op, x), flow),
    "delay_sel": make.delay_sel,
    "debounce": make.timed(timing.DebounceTimed, "ms"),
    "debounce_sel": lambda r, flow, op, x: flow.through(timing.DebounceBySelector, r.clock, r.selector(op)),
    "throttle_first": make.timed(timing.ThrottleFirst, "ms"),
    "throttle_latest": lambda r, flow, op, x: flow.through(timing.ThrottleLatest, r.clock, op["ms"], bool(op.get("last"))),
    "sample": lambda r, flow, op, x: flow.through(timing.Sample, r.clock, op["ms"], bool(op.get("last"))),
    "sample_by": lambda r, flow, op, x: flow.through(timing.SampleBy, r.clock, r.source(op["b"], x), bool(op.get("last"))),
    "timeout_sel": make.timeout_sel,
    "remat": lambda r, flow, op, x: flow.through(looking_on.Materialize, "flowable").through(looking_on.Dematerialize),
    "to_list": lambda r, flow, op, x: to_list(flow),
    "sorted": make.ordered,
    "to_dict": make.to_dict(False),
    "to_multimap": make.to_dict(True),
    "all": make.all,
    "any": make.predicate(answers.AnyOf, True, kind="single"),
    "element_at": make.choose(answers.ElementAt, "maybe", "n"),
    "first": lambda r, flow, op, x: make.choose(answers.ElementAt, "single", "n")(r, flow, {**op, "n": 0}, x),
    "first_element": lambda r, flow, op, x: make.choose(answers.ElementAt, "maybe", "n")(r, flow, {**op, "n": 0}, x),
    "last": make.choose(answers.Last, "single"),
    "last_element": make.choose(answers.Last, "maybe"),
    "single": make.choose(answers.SingleItem, "single"),
    "single_element": make.choose(answers.SingleItem, "maybe"),
    "ignore_elements": make.stage(answers.IgnoreElements, kind="completable"),
    "multicast": lambda r, flow, op, x: share(r, flow, op),
    "twice": lambda r, flow, op, x: twice(r, share(r, flow, op), op),
    "publish_sel": lambda r, flow, op, x: sharing.publish_selector(flow, lambda shared: twice(r, shared, op), r.prefetch()),
    "replay_sel": lambda r, flow, op, x: sharing.replay_selector(flow, lambda shared: twice(r, shared, op)),
    "bp_buffer": make.bp_buffer,
    "bp_drop": make.acting(lossy.OnBackpressureDrop),
    "bp_latest": make.acting(lossy.OnBackpressureLatest),
    "on_backpressure_reduce": make.reducing,
    "on_backpressure_timeout": lambda r, flow, op, x: flow.through(
        lossy.OnBackpressureTimeout, r.clock, op["ms"], op.get("n", UNBOUNDED), f.action(op)
    ),
    "rebatch_requests": lambda r, flow, op, x: (
        flow
        if flow.passive
        else flow.through(lossy.Rebatch, r.prefetch(op["n"]), op.get("k"))  # what is pulled gives one at a time
    ),
    "rails": lambda r, flow, op, x: flow.pulled_through(
        lossy.Rails, op["par"], r.prefetch(op["pre"]), r.prefetch(op["k"]), bool(op.get("de"))
    ),
    "rate_limit": lambda r, flow, op, x: flow.through(lossy.RateLimit, r.clock, op["n"], op["ms"]),
    "observe_latest": lambda r, flow, op, x: flow.through(timeouts.ObserveLatest, r.clock, bool(op.get("de"))),
    "do_on_next": make.acting(looking_on.DoOnNext),
    "continued": make.acting(looking_on.Continued),
    "do_after_next": make.acting(looking_on.DoAfterNext),
    "do_on_cancel": make.acting(looking_on.DoOnCancel),
    "do_on_each": make.acting(looking_on.DoOnEach),
    "do_on_request": lambda r, flow, op, x: flow.through(looking_on.DoOnRequest, f.action(op)),
    "do_on_discard": lambda r, flow, op, x: flow,
    "observe_on": lambda r, flow, op, x: flow.pulled_through(
        timeouts.ObserveOn, r.clock, r.prefetch(op.get("pre", 128)), bool(op.get("de")), flow.kind
    ),
    "via_observable": make.via_observable,
}

SEVERAL: Final[dict[str, Apply]] = {
    "concat": make.several(lambda r, flows: again.in_turn(again.Concat, *flows)),
    "concat_de": make.several(lambda r, flows: concatenating.in_turn(flows, "end")),
    "concat_eager": make.several(lambda r, flows: r.concat_eager(flows)),
    "concat_eager_de": make.several(lambda r, flows: r.concat_eager(flows, "end")),
    "merge": make.several(lambda r, flows: r.merge(flows)),
    "merge_de": make.several(lambda r, flows: r.merge(flows, delay_error=True)),
}

SINGLE: Final[dict[str, Apply]] = {
    "filter_when": make.filter_when("maybe"),
    **SEVERAL,
    "filter": lambda r, flow, op, x: flow.through(items.Filter, f.predicate(op["p"]), kind="maybe"),
    "flat_map": make.flat_map_one("single"),
    "flat_map_m": make.flat_map_one("maybe"),
    "flat_map_c": make.flat_map_one("completable"),
    "flat_map_publisher": lambda r, flow, op, x: flow.through(
        concatenating.ConcatMap, r.selector(op), UNBOUNDED, kind="flowable"
    ),
    "zip": lambda r, flow, op, x: combining.zipped(
        [flow, *(make.alike(flow, each) for each in r.all(op["xs"], x))], f.combiner(op["f"]), UNBOUNDED, flow.kind
    ),
    "zip_with": lambda r, flow, op, x: combining.zipped(
        [flow, make.alike(flow, r.source(op["g"], x))], f.reducer(op["f"]), UNBOUNDED, flow.kind
    ),
    "to_maybe": make.kind("maybe"),
}

MAYBE: Final[dict[str, Apply]] = {
    **SINGLE,
    "filter": make.predicate(items.Filter),
    "flat_map": make.flat_map_one("maybe"),
    "flat_map_s": make.flat_map_one("maybe"),
}

COMPLETABLE: Final[dict[str, Apply]] = {
    "and_then": make.concat(),
    "to_single_default": lambda r, flow, op, x: again.in_turn(
        again.Concat, flow, sources.single_item(op["v"], "single"), kind="single"
    ),
    "to_maybe": make.kind("maybe"),
    "concat": make.several(lambda r, flows: again.in_turn(again.Concat, *flows), "completable"),
    "concat_de": make.several(lambda r, flows: concatenating.in_turn(flows, "end"), "completable"),
    "merge": make.several(lambda r, flows: r.merge(flows), "completable"),
    "merge_de": make.several(lambda r, flows: r.merge(flows, delay_error=True), "completable"),
}

OPERATORS: Final[dict[str, dict[str, Apply]]] = {
    "flowable": COMMON | FLOWABLE,
    "single": COMMON | SINGLE,
    "maybe": COMMON | MAYBE,
    "completable": COMMON | COMPLETABLE,
}

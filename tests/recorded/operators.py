"""The operators of recorded pipelines: one line each, for Flowable, Single, Maybe and Completable.

What has a name of its own in the recording although it is one method here (``take_time``, ``flat_map_s``) stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rich.progress import Progress

from rx_ops import (
    BackpressureStrategy,
    CircuitBreaker,
    Completable,
    Flowable,
    Maybe,
    Notification,
    OnNext,
    OverflowStrategy,
    Single,
)
from tests.recorded.building import Flow, MakeOperator, Node, Stream
from tests.recorded.sharing import SHARED
from tests.recorded.signals import AppError, as_number, error_text
from tests.recorded.substreams import GROUPED

# -- failing, and starting again -----------------------------------------------------------------------------------------------


def _on_error_return(stream: Any, at: Node) -> Stream:
    fault = at.fault()
    made: Stream = stream.on_error_return(lambda _error: None if fault.strikes(0) else -9)
    return made


def _on_error_complete(stream: Any, at: Node) -> Stream:
    fault = at.fault()
    made: Stream = stream.on_error_complete(lambda _error: not fault.strikes(0))
    return made


def _on_error_resume_next(stream: Any, at: Node) -> Stream:
    fault = at.fault()
    made: Stream = stream.on_error_resume_next(lambda _error: None if fault.strikes(0) else at.source())
    return made


def _retry(stream: Any, at: Node) -> Stream:
    made: Stream
    if "p" in at:  # only errors of the program, or only all others
        made = stream.retry(at["n"], when=lambda error: error_text(error).startswith("App:") is at["p"])
    else:
        made = stream.retry(at["n"])
    return made


def _until(method: str) -> MakeOperator:
    """``retry_until`` and ``repeat_until``: some rounds, counted over all subscriptions."""

    def make(stream: Any, at: Node) -> Stream:
        rounds = 0

        def stop() -> bool:
            nonlocal rounds
            rounds += 1
            return bool(rounds > at["n"])

        made: Stream = getattr(stream, method)(stop)
        return made

    return make


def handled(method: str, kind: Any = Flowable) -> MakeOperator:
    """``retry_when`` and ``repeat_when``: what the handler makes of the errors, or of the completions, a stream of ``kind``."""

    def make(stream: Any, at: Node) -> Stream:
        count, seconds = at["n"], at.seconds()

        def timer(seconds: float) -> Any:
            return kind.timer(seconds, scheduler=at.clock)

        def handle(signals: Any) -> Any:
            match at["h"]:
                case "take":
                    return signals.take(count)
                case "timer":
                    return signals.take(count).concat_map(lambda _signal: timer(seconds))
                case "zip":
                    rounds = signals.zip_with(kind.range(1, count + 1), lambda _signal, number: number)
                    return rounds.concat_map(lambda number: timer(number * seconds))
                case "error":
                    return signals.concat_map(lambda _signal: kind.error(AppError("rw")))
                case "empty":
                    return kind.empty()
                case "never":
                    return kind.never()
                case "throw":
                    raise AppError("rwt")
                case "just":
                    return kind.just(1)
                case "delay":
                    return signals.take(count).delay(seconds, scheduler=at.clock)
                case "then_error":
                    return signals.take(count).concat_with(kind.error(AppError("rw")))
            raise ValueError(f"no handler of a recorded pipeline: {at['h']!r}")

        made: Stream = getattr(stream, method)(handle)
        return made

    return make


# -- inner sources -------------------------------------------------------------------------------------------------------------


def _flat_map(method: str) -> MakeOperator:
    def make(stream: Any, at: Node) -> Stream:
        options: dict[str, Any] = {}
        if "maxc" in at:
            options["max_concurrency"] = at["maxc"]
        if at.get("de"):
            options["delay_error"] = True
        made: Stream = getattr(stream, method)(at.selector(), **options)
        return made

    return make


def _concat_map(method: str) -> MakeOperator:
    def make(stream: Any, at: Node) -> Stream:
        options: dict[str, Any] = {}
        if "de" in at:
            options |= {"delay_error": True, "till_the_end": at["de"] == "end"}
        if "pre" in at:
            options["prefetch"] = at["pre"]
        if "maxc" in at:
            options["max_concurrency"] = at["maxc"]
        made: Stream = getattr(stream, method)(at.selector(), **options)
        return made

    return make


def _filter_when(stream: Any, at: Node) -> Stream:
    select = at.selector()

    def decide(item: Any) -> Any:
        made = select(item)
        return made if made is None else made.map(lambda answer: as_number(answer) % 2 == 0)

    made: Stream = stream.filter_when(decide)
    return made


def _switch_map(method: str) -> MakeOperator:
    def make(stream: Any, at: Node) -> Stream:
        made: Stream = getattr(stream, method)(at.selector(), **({"delay_error": True} if at.get("de") else {}))
        return made

    return make


def ordered(method: str, kind: Any = Flowable) -> MakeOperator:
    def make(stream: Any, at: Node) -> Stream:
        options = {"key": at.function(), "reverse": bool(at.get("rev")), "delay_error": bool(at.get("de"))}
        made: Stream = getattr(kind, method)(stream, *at.sources(), **options)
        return made

    return make


def switch_on_first(kind: Any) -> MakeOperator:
    """What becomes of the whole stream, beside a source that is made for the first item."""

    def make(stream: Any, at: Node) -> Stream:
        select = at.selector()

        def choose(first: Notification[Any], whole: Any) -> Any:
            other = select(first.item if isinstance(first, OnNext) else 0)
            match at["mode"]:
                case "merge":
                    return kind.merge(whole, other)
                case "concat":
                    return kind.concat(other, whole)
                case "take":
                    return whole.take(2)
                case "whole":
                    return whole
                case "other":
                    return other
            raise ValueError(f"no way to choose by the first signal: {at['mode']!r}")

        made: Stream = stream.switch_on_first(choose)
        return made

    return make


def _flat_map_iterable(stream: Any, at: Node) -> Stream:
    fault = at.fault()
    # None is not an iterable: the operator has to say so.
    made: Stream = stream.flat_map_iterable(lambda item: None if fault.strikes(as_number(item)) else at.iterable(at["g"], item))
    return made


# -- of one kind each ----------------------------------------------------------------------------------------------------------


def _map_optional(flow: Flow, at: Node) -> Stream:
    function, predicate = at.function(), at.predicate()
    return flow.map_optional(lambda item: function(item) if predicate(item) else None)


def _supplied(method: str) -> MakeOperator:
    """``scan_with`` and ``reduce_with``: the supplier of the seed may raise."""

    def make(flow: Flow, at: Node) -> Stream:
        def supply() -> Any:
            if at.get("throws"):
                raise AppError("seed")
            return at["seed"]

        made: Stream = getattr(flow, method)(supply, at.reducer())
        return made

    return make


def _with_latest_from(flow: Flow, at: Node) -> Stream:
    others = at.sources()
    combiner = at.reducer() if len(others) == 1 else at.combiner()
    made: Flow = flow.with_latest_from(*others, combiner=combiner)
    return made


def _timeout(stream: Any, at: Node) -> Stream:
    fallback = {"fallback": at.source("fb")} if "fb" in at else {}
    made: Stream = stream.timeout(at.seconds(), scheduler=at.clock, **fallback)
    return made


def _timeout_by_selector(flow: Flow, at: Node) -> Stream:
    return flow.timeout(
        selector=at.selector(),
        first=at.source("b") if "b" in at else None,
        fallback=at.source("fb") if "fb" in at else None,
    )


def _delay_subscription(stream: Any, at: Node) -> Stream:
    made: Stream
    if "b" in at:
        made = stream.delay_subscription(until=at.source("b"))
    else:
        made = stream.delay_subscription(at.seconds(), scheduler=at.clock)
    return made


def _on_backpressure_buffer(flow: Flow, at: Node) -> Stream:
    if "n" not in at:
        return flow.on_backpressure_buffer()
    return flow.on_backpressure_buffer(at["n"], overflow=OverflowStrategy[at["ov"]], on_drop=at.consumer())


def _on_backpressure_reduce(flow: Flow, at: Node) -> Stream:
    if "seed" not in at:
        return flow.on_backpressure_reduce(at.reducer())
    return flow.on_backpressure_reduce(at.reducer(), supplier=lambda: at["seed"])


def sequence_equal(kind: Any) -> MakeOperator:
    def make(stream: Any, at: Node) -> Stream:
        compared: Stream = kind.sequence_equal(stream, at.source())
        return compared

    return make


# -- the tables ----------------------------------------------------------------------------------------------------------------


#: What several kinds of stream have, each with the same arguments.
ANY: Final[dict[str, MakeOperator]] = {
    "map": lambda stream, at: stream.map(at.function()),
    "filter": lambda stream, at: stream.filter(at.predicate()),
    "hide": lambda stream, at: stream.hide(),
    "cache": lambda stream, at: stream.cache(),
    "cache_ttl": lambda stream, at: stream.cache_ttl(at.seconds(), scheduler=at.clock),
    "count": lambda stream, at: stream.count(),
    "contains": lambda stream, at: stream.contains(at["v"]),
    "is_empty": lambda stream, at: stream.is_empty(),
    "ignore_element": lambda stream, at: stream.ignore_element(),
    "default_if_empty": lambda stream, at: stream.default_if_empty(at["v"]),
    "switch_if_empty": lambda stream, at: stream.switch_if_empty(at.source()),
    "amb_with": lambda stream, at: stream.amb_with(at.source()),
    "take_until": lambda stream, at: stream.take_until(at.source()),
    "materialize": lambda stream, at: stream.materialize(),
    "to_flowable": lambda stream, at: stream.to_flowable(),
    # side effects
    "do_on_error": lambda stream, at: stream.do_on_error(at.consumer()),
    "do_on_complete": lambda stream, at: stream.do_on_complete(at.action()),
    "do_finally": lambda stream, at: stream.do_finally(at.action()),
    "do_on_terminate": lambda stream, at: stream.do_on_terminate(at.action()),
    "do_after_terminate": lambda stream, at: stream.do_after_terminate(at.action()),
    "do_on_subscribe": lambda stream, at: stream.do_on_subscribe(at.action()),
    "do_on_dispose": lambda stream, at: stream.do_on_dispose(at.action()),
    "do_on_success": lambda stream, at: stream.do_on_success(at.consumer()),
    "do_after_success": lambda stream, at: stream.do_after_success(at.consumer()),
    "do_on_lifecycle": lambda stream, at: stream.do_on_lifecycle(on_subscribe=at.action(), on_dispose=at.action()),
    "log": lambda stream, at: stream.log(level=0),
    "named": lambda stream, at: stream.named("orders"),
    "checkpoint": lambda stream, at: stream.checkpoint(),
    "with_context": lambda stream, at: stream.with_context(tenant="acme"),
    "progress": lambda stream, at: stream.progress(bar=Progress(disable=True)),
    "on_terminate_detach": lambda stream, at: stream.on_terminate_detach(),
    "circuit_breaker": lambda stream, at: stream.circuit_breaker(CircuitBreaker(1000, 1000, scheduler=at.clock)),
    # failing, and starting again
    "on_error_complete": _on_error_complete,
    "on_error_return": _on_error_return,
    "on_error_resume_next": _on_error_resume_next,
    "retry": _retry,
    "retry_until": _until("retry_until"),
    "retry_when": handled("retry_when"),
    "repeat": lambda stream, at: stream.repeat(at["n"]),
    "repeat_until": _until("repeat_until"),
    "repeat_when": handled("repeat_when"),
    # time
    "timestamp": lambda stream, at: stream.timestamp(scheduler=at.clock),
    "time_interval": lambda stream, at: stream.time_interval(scheduler=at.clock),
    "timeout": _timeout,
    "delay": lambda stream, at: stream.delay(at.seconds(), scheduler=at.clock, delay_error=bool(at.get("de"))),
    "delay_sub": _delay_subscription,
    "subscribe_on": lambda stream, at: stream.subscribe_on(at.clock),
    "unsubscribe_on": lambda stream, at: stream.unsubscribe_on(at.clock),
    "observe_on": lambda stream, at: stream.observe_on(at.clock),
    # inner sources
    "flat_map": _flat_map("flat_map"),
    "flat_map_c": _flat_map("flat_map_completable"),
}

FLOWABLE: Final[dict[str, Callable[[Flow, Node], Stream]]] = {
    **ANY,
    **GROUPED,
    **SHARED,
    # which items
    "take": lambda flow, at: flow.take(at["n"]),
    "take_time": lambda flow, at: flow.take(seconds=at.seconds(), scheduler=at.clock),
    "take_last": lambda flow, at: flow.take_last(at["n"]),
    "take_last_time": lambda flow, at: flow.take_last(count=at.get("n"), seconds=at.seconds(), scheduler=at.clock),
    "take_while": lambda flow, at: flow.take_while(at.predicate()),
    "take_until_p": lambda flow, at: flow.take_until(predicate=at.predicate()),
    "skip": lambda flow, at: flow.skip(at["n"]),
    "skip_time": lambda flow, at: flow.skip(seconds=at.seconds(), scheduler=at.clock),
    "skip_last": lambda flow, at: flow.skip_last(at["n"]),
    "skip_last_time": lambda flow, at: flow.skip_last(seconds=at.seconds(), scheduler=at.clock),
    "skip_while": lambda flow, at: flow.skip_while(at.predicate()),
    "skip_until": lambda flow, at: flow.skip_until(at.source()),
    "distinct": lambda flow, at: flow.distinct(*at.functions("f")),
    "distinct_until_changed": lambda flow, at: flow.distinct_until_changed(*at.functions("f")),
    "map_optional": _map_optional,
    "remat": lambda flow, at: flow.materialize().map(lambda notification: notification).dematerialize(),
    # one answer
    "all": lambda flow, at: flow.all(at.predicate()),
    "any": lambda flow, at: flow.any(at.predicate()),
    "element_at": lambda flow, at: flow.element_at(at["n"]),
    "first": lambda flow, at: flow.first(*at.present("v")),
    "last": lambda flow, at: flow.last(*at.present("v")),
    "single": lambda flow, at: flow.single(*at.present("v")),
    "first_element": lambda flow, at: flow.first_element(),
    "last_element": lambda flow, at: flow.last_element(),
    "single_element": lambda flow, at: flow.single_element(),
    "ignore_elements": lambda flow, at: flow.ignore_elements(),
    "sequence_equal": sequence_equal(Flowable),
    # everything in one
    "scan": lambda flow, at: flow.scan(at.reducer(), *at.present("seed")),
    "scan_with": _supplied("scan_with"),
    "reduce": lambda flow, at: flow.reduce(at.reducer(), *at.present("seed")),
    "reduce_with": _supplied("reduce_with"),
    "collect": lambda flow, at: flow.collect(list, lambda items, item: items.append(as_number(item) + 1)),
    "to_list": lambda flow, at: flow.to_list(),
    "sorted": lambda flow, at: flow.sorted(as_number),
    "to_dict": lambda flow, at: flow.to_dict(*at.functions("f", "vf")),
    "to_multimap": lambda flow, at: flow.to_multimap(*at.functions("f", "vf")),
    # inner sources
    "flat_map_s": _flat_map("flat_map"),
    "flat_map_m": _flat_map("flat_map"),
    "flat_map_iterable": _flat_map_iterable,
    "concat_map": _concat_map("concat_map"),
    "concat_map_s": _concat_map("concat_map"),
    "concat_map_m": _concat_map("concat_map"),
    "concat_map_c": _concat_map("concat_map_completable"),
    "concat_map_eager": _concat_map("concat_map_eager"),
    "filter_when": _filter_when,
    "switch_map": _switch_map("switch_map"),
    "switch_map_s": _switch_map("switch_map"),
    "exhaust_map": _switch_map("exhaust_map"),
    "switch_on_first": switch_on_first(Flowable),
    "switch_map_m": _switch_map("switch_map"),
    "switch_map_c": _switch_map("switch_map_completable"),
    # several sources
    "concat_with": lambda flow, at: flow.concat_with(at.source()),
    "concat_de": lambda flow, at: Flowable.concat(flow, *at.sources(), delay_error=True),
    "concat_eager": lambda flow, at: Flowable.concat_eager(flow, *at.sources()),
    "concat_eager_de": lambda flow, at: Flowable.concat_eager(flow, *at.sources(), delay_error=True),
    "start_with": lambda flow, at: flow.start_with(*at.numbers()),
    "merge_with": lambda flow, at: flow.merge_with(at.source()),
    "merge_de": lambda flow, at: Flowable.merge(flow, *at.sources(), delay_error=True),
    "merge_ordered": ordered("merge_ordered"),
    "merge_priority": ordered("merge_priority"),
    "join": lambda flow, at: flow.join(at.source("b"), at.selector(), at.selector("h"), at.reducer()),
    "zip_with": lambda flow, at: flow.zip_with(at.source(), at.reducer(), delay_error=bool(at.get("de"))),
    "zip_de": lambda flow, at: Flowable.zip(flow, *at.sources(), combiner=at.combiner(), delay_error=True),
    "zip_latest": lambda flow, at: Flowable.zip_latest(flow, *at.sources(), combiner=at.combiner()),
    "fork_join": lambda flow, at: Flowable.fork_join(flow, *at.sources(), combiner=at.combiner()),
    "zip": lambda flow, at: Flowable.zip(flow, *at.sources(), combiner=at.combiner()),
    "combine_latest": lambda flow, at: Flowable.combine_latest(flow, *at.sources(), combiner=at.combiner()),
    "combine_latest_de": lambda flow, at: Flowable.combine_latest(flow, *at.sources(), combiner=at.combiner(), delay_error=True),
    "with_latest_from": _with_latest_from,
    # time
    "observe_on": lambda flow, at: flow.observe_on(at.clock, prefetch=at.get("pre", 128), delay_error=bool(at.get("de"))),
    "delay_sel": lambda flow, at: flow.delay(selector=at.selector(), subscription=at.source("b") if "b" in at else None),
    "timeout_sel": _timeout_by_selector,
    "debounce": lambda flow, at: flow.debounce(at.seconds(), scheduler=at.clock),
    "debounce_sel": lambda flow, at: flow.debounce(selector=at.selector()),
    "throttle_first": lambda flow, at: flow.throttle_first(at.seconds(), scheduler=at.clock),
    "throttle_latest": lambda flow, at: flow.throttle_latest(at.seconds(), scheduler=at.clock, emit_last=bool(at.get("last"))),
    "sample": lambda flow, at: flow.sample(at.seconds(), scheduler=at.clock, emit_last=bool(at.get("last"))),
    "sample_by": lambda flow, at: flow.sample(sampler=at.source("b"), emit_last=bool(at.get("last"))),
    # demand
    "bp_buffer": _on_backpressure_buffer,
    "bp_drop": lambda flow, at: flow.on_backpressure_drop(at.consumer()),
    "bp_latest": lambda flow, at: flow.on_backpressure_latest(at.consumer()),
    "on_backpressure_reduce": _on_backpressure_reduce,
    "on_backpressure_timeout": lambda flow, at: flow.on_backpressure_timeout(
        at.seconds(), capacity=at.get("n"), on_drop=at.consumer(), scheduler=at.clock
    ),
    "rebatch_requests": lambda flow, at: flow.rebatch_requests(at["n"], refill=at.get("k")),
    "rails": lambda flow, at: flow.parallel(at["par"], prefetch=at["pre"]).sequential(
        prefetch=at["k"], delay_error=bool(at.get("de")), ordered=True
    ),
    "rate_limit": lambda flow, at: flow.rate_limit(at["n"], at.seconds(), scheduler=at.clock),
    "observe_latest": lambda flow, at: flow.observe_on(at.clock, latest=True, delay_error=bool(at.get("de"))),
    "via_observable": lambda flow, at: flow.to_observable().to_flowable(BackpressureStrategy[at["strategy"]]),
    # side effects
    "do_on_next": lambda flow, at: flow.do_on_next(at.consumer()),
    "continued": lambda flow, at: flow.hide().do_on_next(at.consumer()).on_error_continue(lambda _error, _item: None),
    "do_after_next": lambda flow, at: flow.do_after_next(at.consumer()),
    "do_on_cancel": lambda flow, at: flow.do_on_cancel(at.action()),
    "do_on_each": lambda flow, at: flow.do_on_each(at.consumer()),
    "do_on_request": lambda flow, at: flow.do_on_request(lambda _n: None),
    "do_on_discard": lambda flow, at: _discarding(flow),
    "do_on_lifecycle": lambda flow, at: flow.do_on_lifecycle(on_subscribe=at.action(), on_cancel=at.action()),
}


def _discarding(flow: Any) -> Flow:
    """As far as it can be told."""
    made: Flow
    try:
        made = flow.do_on_discard(lambda _item: None)
    except TypeError:
        made = flow.hide().do_on_discard(lambda _item: None)
    return made


def _several(kind: Any, *methods: str) -> dict[str, MakeOperator]:
    """The static methods of several streams of at most one item, each with errors delayed, too."""

    def of(method: str, **options: Any) -> MakeOperator:
        def make(stream: Any, at: Node) -> Stream:
            made: Stream = getattr(kind, method)(stream, *at.sources(), **options)
            return made

        return make

    return {name: make for each in methods for name, make in ((each, of(each)), (f"{each}_de", of(each, delay_error=True)))}


SINGLE: Final[dict[str, Callable[[Single[Any], Node], Stream]]] = {
    **ANY,
    "filter_when": _filter_when,
    "flatten_as_flowable": _flat_map_iterable,
    **_several(Single, "concat", "concat_eager", "merge"),
    "flat_map_m": lambda single, at: single.flat_map_maybe(at.selector()),
    "flat_map_publisher": lambda single, at: single.flat_map_publisher(at.selector()),
    "zip": lambda single, at: Single.zip(single, *at.sources(), combiner=at.combiner()),
    "zip_with": lambda single, at: single.zip_with(at.source(), at.reducer()),
    "sequence_equal": sequence_equal(Single),
    "to_maybe": lambda single, at: single.to_maybe(),
}

MAYBE: Final[dict[str, Callable[[Maybe[Any], Node], Stream]]] = {
    **ANY,
    "filter_when": _filter_when,
    "flatten_as_flowable": _flat_map_iterable,
    **_several(Maybe, "concat", "concat_eager", "merge"),
    "flat_map_s": lambda maybe, at: maybe.flat_map_single(at.selector()),
    "flat_map_publisher": lambda maybe, at: maybe.flat_map_publisher(at.selector()),
    "zip": lambda maybe, at: Maybe.zip(maybe, *at.sources(), combiner=at.combiner()),
    "zip_with": lambda maybe, at: maybe.zip_with(at.source(), at.reducer()),
    "sequence_equal": sequence_equal(Maybe),
    "to_single": lambda maybe, at: maybe.to_single(),
}

COMPLETABLE: Final[dict[str, Callable[[Completable, Node], Stream]]] = {
    **ANY,
    **_several(Completable, "concat", "merge"),
    "and_then": lambda completable, at: completable.and_then(at.source()),
    "to_maybe": lambda completable, at: completable.to_maybe(),
    "to_single_default": lambda completable, at: completable.to_single_default(at["v"]),
}

OPERATORS: Final[Mapping[type, Mapping[str, MakeOperator]]] = {
    Flowable: FLOWABLE,
    Single: SINGLE,
    Maybe: MAYBE,
    Completable: COMPLETABLE,
}

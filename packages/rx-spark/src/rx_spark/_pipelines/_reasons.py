"""Why an operator runs on the driver, and what to write instead: for each stage that Spark does not run, and each operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rx_ops import stages
from rx_spark._transport._wire import CHUNK

if TYPE_CHECKING:
    from rx_spark._pipelines._calls import Call

StageFunction = Callable[..., Iterator[Any]]


class Why(NamedTuple):
    """The reason, as a predicate of the operator, and the remedy. ``ends``: it gives the result to the program."""

    reason: str
    remedy: str
    ends: bool = False


_IN_ORDER: Final = "needs its items in order, one after another"
_UNTIL: Final = "looks at the items one after another until it knows"
_EFFECT: Final = "has effects that belong on the driver"
_LAST: Final = "looks at all items, in their order, for the last ones"
_SORTS: Final = "sorts on the driver, where all items have to be for it"
_COLLECTS: Final = "collects on the driver"
_EMPTY: Final = "looks whether there was any item at all"

_LATER: Final = "reduce first, so that few items come here:  .group_aggregate(key, total=it.x.sum())"
_CONDITION: Final = "a condition for each item instead of its place:  .filter(it.id >= 10)"
_BATCHES: Final = "rx_spark.batches(df) has whole batches as items; by a key:  .group_aggregate(key, n=it.count())"
_COUNT: Final = ".filter(condition).count() is counted on Spark"
_LARGEST: Final = ".max(key) or .min(key), by what the order is about"
_NUMBERED: Final = "a number in the data, as a field of each item"
_SAVE: Final = "rx_spark.foreach_partition(flow, save) calls a function on the executors"
_SORT: Final = (
    "by columns of rows:  .sorted(it.x) in front of what needs Python, or behind .as_rows(Trip); or take what is few first"
)
_RESULT: Final = "put it behind the result:  .sum(), .write_parquet(path)"
_WRITE: Final = ".write_parquet(path) and the like leave the items on the cluster"
_SEED: Final = ".reduce(f) without the seed, which is then added to what comes"
_RUNS: Final = Why(_IN_ORDER, _BATCHES)
_MEAN: Final = Why("is no reduction that Spark puts together from parts", ".group_aggregate(key, mean=it.x.average())")
_DELIVERED: Final = Why(_COLLECTS, _WRITE, ends=True)
_FIRST: Final = Why("gives the first item that there is", "", ends=True)
_CHECKS: Final = Why("counts all items to see whether there is one", ".take(2) before it brings no more than two")

#: Of each stage that ends what Spark runs.
REASONS: Final[dict[StageFunction, Why]] = {
    **dict.fromkeys((stages.scan, stages.scan_seed, stages.scan_with, stages.pairwise), Why(_IN_ORDER, _LATER)),
    **dict.fromkeys((stages.skip, stages.slice_), Why(_IN_ORDER, _CONDITION)),
    **dict.fromkeys((stages.take_while, stages.skip_while), Why(_IN_ORDER, _CONDITION)),
    **dict.fromkeys((stages.skip_last, stages.take_last, stages.slice_last, stages.slice_but_last), Why(_LAST, _LARGEST)),
    **dict.fromkeys((stages.last_element, stages.last_or, stages.last_or_error), Why(_LAST, _LARGEST)),
    **dict.fromkeys((stages.single_element, stages.single_or, stages.single_or_error), _CHECKS),
    **dict.fromkeys((stages.buffer, stages.buffer_gaps, stages.buffer_overlap), _RUNS),
    **dict.fromkeys((stages.buffer_before, stages.buffer_until, stages.buffer_until_changed, stages.buffer_while), _RUNS),
    **dict.fromkeys(
        (stages.distinct_until_changed, stages.distinct_until_changed_by),
        Why(_IN_ORDER, ".distinct(), where what comes again later may go as well"),
    ),
    **dict.fromkeys(
        (stages.distinct_by, stages.distinct_in),
        Why(
            "keeps the first item of each key, and shuffles keep no order",
            ".group_reduce(key, value, lambda a, b: a), where any item of a key will do",
        ),
    ),
    stages.chunk_by_weight: _RUNS,
    stages.sample_reservoir: Why(
        "chooses among all items, in their order",
        "a condition before it that leaves few on Spark:  .filter(it.id % 100 == 0)",
        ends=True,
    ),
    **dict.fromkeys((stages.enumerate_, stages.map_indexed, stages.filter_indexed), Why(_IN_ORDER, _NUMBERED)),
    stages.do_on_next: Why(_EFFECT, _SAVE),
    stages.on_error_continue: Why(
        "gives the items that failed to a function here", ".flat_map_iterable(f), where f catches the error and gives no item"
    ),
    stages.do_on_complete: Why(_EFFECT, _RESULT),
    stages.named: Why("names a run of this process", "put it behind what Spark runs:  .count().named('orders')"),
    stages.do_on_empty: Why(_EFFECT, _RESULT),
    **dict.fromkeys(
        (stages.handle, stages.map_optional, stages.not_none),
        Why("may end the stream, or give nothing for an item", ".flat_map_iterable(f), where f gives a list of one or none"),
    ),
    stages.dematerialize: Why("is about the signals of one stream", "leave it out: items on Spark are no signals"),
    **dict.fromkeys((stages.sorted_, stages.sorted_by), Why(_SORTS, _SORT)),
    **dict.fromkeys((stages.smallest, stages.smallest_by), Why("looks at all items here, to keep the first ones", _SORT)),
    **dict.fromkeys(
        (stages.all_, stages.all_by, stages.any_, stages.any_by, stages.contains, stages.contains_by), Why(_UNTIL, _COUNT)
    ),
    **dict.fromkeys((stages.find_index,), Why(_IN_ORDER, _NUMBERED)),
    **dict.fromkeys((stages.is_empty, stages.not_empty), Why(_EMPTY, ".take(1) before it brings no more than one")),
    stages.default_if_empty: Why(_EMPTY, "put it behind what reduces the items"),
    **dict.fromkeys((stages.average, stages.average_by), _MEAN),
    **dict.fromkeys((stages.maxima, stages.minima), Why("keeps all items that are equal, in their order", _LARGEST)),
    stages.reduce_seed: Why("has a seed, which says nothing about combining partial results", _SEED),
    stages.reduce_with: Why("has a seed, which says nothing about combining partial results", _SEED),
    stages.sum_: Why("adds to a start that is no plain number", ".sum(), and the start added to what comes"),
    **dict.fromkeys((stages.collect, stages.collect_into, stages.to_list, stages.to_dict, stages.to_multimap), _DELIVERED),
    **dict.fromkeys((stages.element_at, stages.first_or, stages.first_or_error, stages.to_single), _FIRST),
}

_UNKNOWN: Final = Why("is not known to treat each item by itself", ".map(f), .filter(f) and .flat_map_iterable(f) do")

_INNER: Final = Why("subscribes to a stream for each item, in this process", ".flat_map_iterable(f), where f gives a list")
_GROUPS: Final = Why("gives streams, which live in this process", ".group_aggregate(key, total=it.x.sum(), n=it.count())")
_SEVERAL: Final = Why(
    "has several sources, and a plan of Spark has one",
    "rx_spark.sql joins and unites; one source for files of one kind:  rx_spark.parquet(a, b)",
)
_TIME: Final = Why("is about when items come", "leave it out: items on Spark have no time of their own")
_THREAD: Final = Why("moves items between threads of this process", "leave it out: jobs have threads of their own")
_AGAIN: Final = "subscribes again, which is another job"
_SHARED: Final = Why(
    "gives the items of one job to several subscribers here", "rx_spark.to_dataframe(flow).cache(), and sources of it"
)
_SIGNALS: Final = Why("answers signals of the whole stream", "try and except inside the function; or put it last")
_ASIDE: Final = Why(_EFFECT, _RESULT)
_DEMAND: Final = Why("is about what is requested in this process", "leave it out: demand holds Spark back as it is")

#: Of each coordinating operator, by its name.
OPERATORS: Final[dict[str, Why]] = {
    **dict.fromkeys(("flat_map", "concat_map", "concat_map_eager", "switch_map", "exhaust_map", "expand"), _INNER),
    **dict.fromkeys(("group_by", "group_by_until", "window", "window_until", "window_until_changed", "window_while"), _GROUPS),
    "buffer": Why(_TIME.reason, _BATCHES),
    **dict.fromkeys(("amb", "combine_latest", "concat", "concat_eager", "merge", "merge_ordered", "merge_priority"), _SEVERAL),
    **dict.fromkeys(("fork_join", "group_join", "join", "sequence_equal", "with_latest_from", "zip", "zip_latest"), _SEVERAL),
    "skip_until": Why("begins when another stream says so, or a clock", _CONDITION),
    "take_until": Why("ends when another stream says so, or a clock", _CONDITION),
    "switch_if_empty": Why(_EMPTY, "put it behind what reduces the items"),
    **dict.fromkeys(("debounce", "delay", "delay_subscription", "sample", "throttle_first", "throttle_latest"), _TIME),
    "rate_limit": _TIME,
    **dict.fromkeys(("time_interval", "timeout", "timestamp", "skip_last", "take_last"), _TIME),
    **dict.fromkeys(("observe_on", "subscribe_on", "unsubscribe_on"), _THREAD),
    **dict.fromkeys(("repeat", "repeat_until", "repeat_when"), Why(_AGAIN, "a loop in the program, around the whole pipeline")),
    **dict.fromkeys(
        ("retry", "retry_backoff", "retry_until", "retry_when"),
        Why(_AGAIN, "leave it out: Spark runs a task again that has failed"),
    ),
    **dict.fromkeys(("publish", "replay", "share", "cache", "cache_ttl", "ref_count", "auto_connect"), _SHARED),
    **dict.fromkeys(
        ("materialize", "on_error_resume_next", "on_error_return", "switch_on_first", "using", "using_when"), _SIGNALS
    ),
    **dict.fromkeys(("do_after_next", "do_on_each"), Why(_EFFECT, _SAVE)),
    **dict.fromkeys(("do_after_terminate", "do_finally", "do_on_cancel", "do_on_dispose"), _ASIDE),
    **dict.fromkeys(("do_on_error", "do_on_terminate"), _ASIDE),
    **dict.fromkeys(("do_on_discard", "do_on_request", "do_on_subscribe"), _ASIDE),
    **dict.fromkeys(("on_backpressure_buffer", "on_backpressure_drop", "on_backpressure_latest"), _DEMAND),
    **dict.fromkeys(("on_backpressure_reduce", "on_backpressure_timeout", "rebatch_requests"), _DEMAND),
    "circuit_breaker": Why("counts the calls of this process", "Spark runs a task that failed again by itself: leave it out"),
    "checkpoint": Why("marks errors that pass in this process", _RESULT),
    "log": Why("writes to the log of this process", "leave it out; for a count of rows  .observe(name, n=aggregates.count())"),
    "with_context": Why("sets context variables of this process", "values that a function reads from its closure"),
    "progress": Why("draws on the terminal of this process", "a JobStats, and its progress()"),
    "on_terminate_detach": Why("is about references in this process", "leave it out"),
    "hide": Why("is a wall: Spark takes nothing that is behind it", "leave it out"),
    "ignore_elements": Why("reads all items and gives none", _SAVE),
}

_COORDINATES: Final = Why("coordinates streams of this process", _LATER)

#: What the mapper of groups still does with each of them, once Spark has reduced it.
REST_OF_GROUP: Final = Why(
    "runs here once for each key, over what its group was reduced to",
    ".group_aggregate(key, total=it.x.sum()) gives both",
)


#: Of what picks from as many items as it needs, which Spark has been told.
PICKS: Final = Why("picks from these", "", ends=True)


def behind(last: Call, function: StageFunction | None = None) -> Why:
    """Why what is behind the last operator of the Spark part runs here: there is one value, or there are the first n."""
    reason = f"because {last} is the end of the Spark part"
    if is_few(last) or (function is not None and why_stage(function).ends):
        return Why(reason, "", ends=True)
    return Why(reason, f"put it in front of {last}, where that means the same")


def is_few(last: Call) -> bool:
    """Whether no more than a chunk of items comes back behind this call, which ends the Spark part."""
    return last.kind != "limit" or last.args[0] <= CHUNK


def why_stage(function: StageFunction) -> Why:
    """Why a stage ends what Spark runs."""
    return REASONS.get(function, _UNKNOWN)


def why_operator(name: str) -> Why:
    """Why a coordinating operator does."""
    return OPERATORS.get(name, _COORDINATES)

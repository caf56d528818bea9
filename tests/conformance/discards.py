"""What becomes of items that an operator does not give: a line for each operator, by which ``do_on_discard`` is checked.

It hears of an item that is thrown away. Which operators can tell it is known by their classes and their stages; this is what
they are meant to say. ``test_discards.py`` compares.
"""

from __future__ import annotations

from typing import Final

#: Gives each item on, or to a function that makes something of it; what comes too late is thrown away.
HANDS_ON: Final = "hands on"
#: Some items are not given, and those are thrown away.
LEAVES_OUT: Final = "leaves out"
#: Items wait in it: in a queue, a list, a group. What waits when the stream is left, or fails, is thrown away.
KEEPS: Final = "keeps"
#: Nothing is in front of it: a source, or what another ``do_on_discard`` or a function stands for.
SOURCE: Final = "has nothing"
#: The reach ends here: at a wall, at what is shared, at a type of one item.
ENDS: Final = "ends the reach"
#: Items are thrown away in it without a word: ``do_on_discard`` behind it is refused.
REFUSED: Final = "not covered"


def _each(kind: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, kind)


DISCARDS: Final[dict[str, str]] = {
    **_each(SOURCE, "defer", "empty", "error", "from_callable", "from_future", "from_iterable", "from_value"),
    **_each(SOURCE, "generate", "generate_async", "interval", "interval_range", "just", "never", "of", "range", "timer", "using"),
    **_each(SOURCE, "do_on_discard", "using_when", "wrap"),
    **_each(ENDS, "hide", "publish", "share", "cache", "cache_ttl", "replay"),
    # what they give is a Single, a Maybe or a Completable
    **_each(ENDS, "all", "any", "average", "collect", "contains", "count", "element_at", "find_index", "first", "first_element"),
    **_each(ENDS, "flat_map_completable", "concat_map_completable", "switch_map_completable", "ignore_elements", "is_empty"),
    **_each(ENDS, "last", "last_element", "max", "max_by", "min", "min_by", "reduce", "reduce_with", "sample_reservoir"),
    **_each(ENDS, "sequence_equal", "single", "single_element", "sum", "to_dict", "to_list", "to_multimap", "fork_join"),
    # one item after the other
    **_each(HANDS_ON, "cast", "dematerialize", "do_on_next", "do_on_complete", "enumerate", "handle", "map", "map_indexed"),
    **_each(HANDS_ON, "map_optional", "named", "on_error_continue", "starmap", "start_with", "default_if_empty", "take"),
    **_each(LEAVES_OUT, "distinct", "distinct_until_changed", "filter", "filter_indexed", "of_type", "skip", "skip_while"),
    **_each(LEAVES_OUT, "slice", "take_while"),
    **_each(KEEPS, "buffer", "buffer_until", "flat_map_iterable", "group_aggregate", "group_reduce", "scan", "scan_with"),
    **_each(KEEPS, "skip_last"),
    **_each(REFUSED, "buffer_until_changed", "buffer_while", "chunk_by_weight", "pairwise", "sorted", "through"),
    # over one source
    **_each(HANDS_ON, "do_finally", "do_after_terminate", "do_on_each", "do_on_error", "do_after_next", "do_on_cancel"),
    **_each(HANDS_ON, "do_on_lifecycle", "do_on_request", "do_on_subscribe", "do_on_terminate", "log", "checkpoint", "progress"),
    **_each(HANDS_ON, "with_context", "on_terminate_detach", "subscribe_on", "delay_subscription"),
    **_each(HANDS_ON, "materialize", "time_interval", "timestamp", "circuit_breaker", "on_error_complete", "on_error_return"),
    **_each(HANDS_ON, "on_error_resume_next", "repeat", "repeat_until", "repeat_when", "retry", "retry_backoff", "retry_until"),
    **_each(HANDS_ON, "retry_when", "switch_if_empty", "take_until", "timeout", "rate_limit"),
    **_each(LEAVES_OUT, "debounce", "sample", "skip_until", "throttle_first", "throttle_latest", "unsubscribe_on"),
    **_each(LEAVES_OUT, "on_backpressure_drop", "on_backpressure_latest"),
    **_each(KEEPS, "create", "from_listener", "delay", "observe_on", "rebatch_requests", "group_by", "window", "to_observable"),
    **_each(KEEPS, "on_backpressure_buffer", "on_backpressure_reduce", "on_backpressure_timeout"),
    **_each(REFUSED, "group_by_until", "window_until", "window_until_changed", "window_while", "switch_on_first", "lift"),
    **_each(REFUSED, "parallel", "take_last"),
    # over several
    **_each(HANDS_ON, "concat", "concat_with", "amb", "amb_with", "expand", "first_with_value"),
    **_each(LEAVES_OUT, "exhaust_map"),
    **_each(KEEPS, "combine_latest", "concat_eager", "concat_map_eager", "concat_map", "filter_when", "flat_map"),
    **_each(KEEPS, "merge", "merge_with", "merge_ordered", "merge_priority", "switch_map", "zip", "zip_with"),
    **_each(REFUSED, "join", "group_join", "with_latest_from", "zip_latest"),
    # what the user brings
    **_each(ENDS, "compose", "pipe", "stage"),
}

#: Forms, as the conformance table has them, that say something else than their operator.
OTHERWISE: Final[dict[str, str]] = {
    # an item may be in several of the lists or windows, or in none
    **_each(REFUSED, "buffer gaps", "buffer every", "buffer opening", "buffer overlap"),
    **_each(REFUSED, "window overlap", "window every", "window opening"),
    "buffer_until before": REFUSED,
    "observe_on latest": REFUSED,
    **_each(REFUSED, "slice but last", "slice last", "slice last before"),
    "zip of one late": ENDS,
    # by the clock
    **_each(KEEPS, "take_last seconds", "take_last seconds late"),
}

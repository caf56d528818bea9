"""The operators: the one table that lists them, by which all others are checked.

The conformance table, the TCK, the random pipelines, the storms and the documentation each say something else about an
operator, in tables of their own. ``test_operators.py`` compares them with this one, and this one with the methods of the
types: so a new method fails there until it has a line here, and then until every table that has to know it does. What a
table leaves out stands in ``WITHOUT``, with the reason.

Types: Flowable, Observable, Single, Maybe, Completable, by their first letters. Flags::

    source    a stream begins with it
    second    it may subscribe to other sources than its own
    threads   several threads may meet in it, because it has several sources, a clock, or subscribers on several threads
    alone     it is coordinating, but no party signals besides its one source or its one worker
    ending    it is no operator: it blocks
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Operator:
    """The name of a method, of all types that have it."""

    name: str
    types: str
    flags: str = ""

    def has(self, flag: str) -> bool:
        return flag in self.flags.split()


OPERATORS: Final = (
    # where streams begin
    Operator("create", "FOSMC", "source"),
    Operator("defer", "FOSMC", "source"),
    Operator("empty", "FOM", "source"),
    Operator("error", "FOSMC", "source alone"),
    Operator("from_callable", "FOSM", "source"),
    Operator("from_iterable", "FO", "source"),
    Operator("generate", "FO", "source"),
    Operator("just", "FOSM", "source"),
    Operator("never", "FOSMC", "source alone"),
    Operator("of", "FO", "source"),
    Operator("range", "FO", "source"),
    Operator("wrap", "FOSMC", "source alone"),
    # from listeners and tasks
    Operator("from_future", "FOSMC", "source"),
    Operator("from_listener", "FO", "source"),
    Operator("from_value", "FO", "source"),
    Operator("generate_async", "FO", "source threads"),
    # one item after the other
    Operator("cast", "FOSM"),
    Operator("flat_map_iterable", "FOSM"),
    Operator("hide", "FOSMC", "alone"),
    Operator("map", "FOSM"),
    Operator("scan", "FO"),
    Operator("scan_with", "FO"),
    Operator("starmap", "FOSM"),
    Operator("handle", "FOSM"),
    Operator("map_optional", "FOSM"),
    Operator("enumerate", "FO"),
    Operator("filter_indexed", "FO"),
    Operator("map_indexed", "FO"),
    Operator("pairwise", "FO"),
    Operator("slice", "FO"),
    Operator("sorted", "FO"),
    # streams of streams
    Operator("flat_map", "FOSM", "second threads"),
    Operator("flat_map_completable", "FOSM", "second threads"),
    Operator("merge", "FOSMC", "source second threads"),
    Operator("merge_with", "FOSMC", "second threads"),
    Operator("merge_ordered", "FO", "source second threads"),
    Operator("merge_priority", "FO", "source second threads"),
    Operator("concat_map", "FO", "second threads"),
    Operator("concat_map_completable", "FO", "second threads"),
    Operator("concat_map_eager", "FO", "second threads"),
    Operator("expand", "FO", "second threads"),
    Operator("filter_when", "FOSM", "second threads"),
    Operator("switch_map", "FO", "second threads"),
    Operator("switch_map_completable", "FO", "second"),
    Operator("exhaust_map", "FO", "second threads"),
    Operator("switch_on_first", "FO", "second threads"),
    # parts
    Operator("group_by", "FO", "threads"),
    Operator("group_by_until", "FO", "second threads"),
    Operator("buffer", "FO", "second threads"),
    Operator("window", "FO", "second threads"),
    Operator("window_until", "FO", "threads"),
    Operator("window_until_changed", "FO", "threads"),
    Operator("window_while", "FO", "threads"),
    Operator("buffer_until", "FO"),
    Operator("buffer_until_changed", "FO"),
    Operator("buffer_while", "FO"),
    Operator("chunk_by_weight", "FO"),
    # some of the items
    Operator("distinct", "FO"),
    Operator("distinct_until_changed", "FO"),
    Operator("element_at", "FO"),
    Operator("filter", "FOSM"),
    Operator("first", "FO"),
    Operator("first_element", "FO"),
    Operator("of_type", "FOSM"),
    Operator("skip", "FO"),
    Operator("skip_last", "FO", "alone"),
    Operator("skip_while", "FO"),
    Operator("take", "FO"),
    Operator("take_last", "FO", "alone"),
    Operator("take_while", "FO"),
    Operator("last", "FO"),
    Operator("last_element", "FO"),
    Operator("single", "FO"),
    Operator("single_element", "FO"),
    # questions
    Operator("all", "FO"),
    Operator("amb", "FOSMC", "source second threads"),
    Operator("amb_with", "FOSMC", "second threads"),
    Operator("first_with_value", "FOSM", "source second threads"),
    Operator("any", "FO"),
    Operator("contains", "FOSM"),
    Operator("find_index", "FO"),
    Operator("is_empty", "FOM"),
    Operator("sequence_equal", "FOSMC", "source second threads"),
    # folds
    Operator("average", "FO"),
    Operator("collect", "FO"),
    Operator("count", "FOM"),
    Operator("group_aggregate", "FO"),
    Operator("group_reduce", "FO"),
    Operator("max", "FO"),
    Operator("max_by", "FO"),
    Operator("min", "FO"),
    Operator("min_by", "FO"),
    Operator("reduce", "FO"),
    Operator("reduce_with", "FO"),
    Operator("sample_reservoir", "FO"),
    Operator("sum", "FO"),
    Operator("to_dict", "FO"),
    Operator("to_list", "FO"),
    Operator("to_multimap", "FO"),
    # several streams
    Operator("concat", "FOSMC", "source second threads"),
    Operator("concat_eager", "FOSM", "source second threads"),
    Operator("concat_with", "FOSMC", "second threads"),
    Operator("start_with", "FOSM"),
    Operator("zip", "FOSM", "source second threads"),
    Operator("zip_with", "FOSM", "second threads"),
    Operator("zip_latest", "FO", "source second threads"),
    Operator("fork_join", "FO", "source second threads"),
    Operator("join", "FO", "second threads"),
    Operator("group_join", "FO", "second threads"),
    Operator("combine_latest", "FO", "source second threads"),
    Operator("with_latest_from", "FO", "second threads"),
    Operator("default_if_empty", "FOM"),
    Operator("skip_until", "FO", "second threads"),
    Operator("switch_if_empty", "FOM", "second threads"),
    Operator("take_until", "FOSMC", "second threads"),
    # signals and resources
    Operator("dematerialize", "FOSM"),
    Operator("materialize", "FOSMC", "alone"),
    Operator("using", "FOSMC", "source alone"),
    Operator("using_when", "FOSMC", "source second threads"),
    # after an error, and again
    Operator("on_error_complete", "FOSMC", "alone"),
    Operator("on_error_continue", "FO"),
    Operator("on_error_resume_next", "FOSMC", "second threads"),
    Operator("on_error_return", "FOSM", "alone"),
    Operator("circuit_breaker", "FOSMC", "alone"),
    Operator("repeat", "FOSMC", "threads"),
    Operator("repeat_until", "FOSMC", "threads"),
    Operator("repeat_when", "FOSMC", "second threads"),
    Operator("retry", "FOSMC", "threads"),
    Operator("retry_backoff", "FOSMC", "threads"),
    Operator("retry_until", "FOSMC", "threads"),
    Operator("retry_when", "FOSMC", "second threads"),
    # on the side
    Operator("do_finally", "FOSMC", "alone"),
    Operator("do_after_terminate", "FOSMC", "alone"),
    Operator("do_on_complete", "FOMC"),
    Operator("do_on_discard", "FO", "alone"),
    Operator("do_on_each", "FO", "alone"),
    Operator("do_on_error", "FOSMC", "alone"),
    Operator("do_on_next", "FO"),
    Operator("do_after_next", "FO", "alone"),
    Operator("do_on_cancel", "F", "alone"),
    Operator("do_on_lifecycle", "FOSMC"),
    Operator("do_on_request", "F", "alone"),
    Operator("do_on_subscribe", "FOSMC", "alone"),
    Operator("do_on_terminate", "FOSMC", "alone"),
    Operator("log", "FOSMC", "alone"),
    Operator("named", "FOSMC"),
    Operator("checkpoint", "FOSMC", "alone"),
    Operator("progress", "FO", "alone"),
    Operator("with_context", "FOSMC", "alone"),
    Operator("on_terminate_detach", "FOSMC", "alone"),
    # threads and time
    Operator("observe_on", "FOSMC", "threads"),
    Operator("subscribe_on", "FOSMC", "threads"),
    Operator("unsubscribe_on", "FOSMC", "alone"),
    Operator("delay", "FOSMC", "second threads"),
    Operator("interval", "FO", "source alone"),
    Operator("interval_range", "FO", "source"),
    Operator("timer", "FOSMC", "source alone"),
    Operator("timeout", "FOSMC", "second threads"),
    Operator("debounce", "FO", "second threads"),
    Operator("sample", "FO", "second threads"),
    Operator("throttle_first", "FO", "threads"),
    Operator("throttle_latest", "FO", "threads"),
    Operator("rate_limit", "FO", "threads"),
    Operator("delay_subscription", "FOSMC", "second threads"),
    Operator("time_interval", "FOSM", "alone"),
    Operator("timestamp", "FOSM", "alone"),
    # one run for many
    Operator("publish", "FO", "threads"),
    Operator("share", "FO", "threads"),
    Operator("cache", "FOSMC", "threads"),
    Operator("cache_ttl", "FOSMC", "threads"),
    Operator("replay", "FO", "threads"),
    # other types
    Operator("ignore_elements", "FO", "alone"),
    Operator("to_observable", "FSMC"),
    # ends, and operators of users
    Operator("blocking_first", "FO", "ending"),
    Operator("blocking_for_each", "FO", "ending"),
    Operator("blocking_iter", "FO", "ending"),
    Operator("blocking_last", "FO", "ending"),
    Operator("blocking_list", "FO", "ending"),
    Operator("compose", "FOSMC"),
    Operator("lift", "FO"),
    Operator("pipe", "FOSMC"),
    Operator("stage", "FO"),
    Operator("through", "FO"),
    # rails
    Operator("parallel", "F", "threads"),
    # demand
    Operator("on_backpressure_buffer", "F", "threads"),
    Operator("on_backpressure_drop", "F", "threads"),
    Operator("on_backpressure_latest", "F", "threads"),
    Operator("on_backpressure_reduce", "F", "threads"),
    Operator("on_backpressure_timeout", "F", "threads"),
    Operator("rebatch_requests", "F", "alone"),
    # of other types only
    Operator("do_after_success", "SM", "alone"),
    Operator("do_on_dispose", "OSMC", "alone"),
    Operator("to_flowable", "OSMC", "threads"),
    Operator("blocking_get", "SM", "ending"),
    Operator("to_future", "SMC", "ending"),
    Operator("do_on_success", "SM"),
    Operator("flat_map_maybe", "S"),
    Operator("flat_map_observable", "SM"),
    Operator("flat_map_publisher", "SM"),
    Operator("ignore_element", "SM"),
    Operator("to_maybe", "SC"),
    Operator("flat_map_single", "M"),
    Operator("to_single", "M"),
    Operator("and_then", "C"),
    Operator("blocking_await", "C", "ending"),
    Operator("complete", "C", "source"),
    Operator("from_action", "C", "source"),
    Operator("to_single_default", "C"),
)

BY_NAME: Final = {operator.name: operator for operator in OPERATORS}

PAUSES: Final = "its pauses hang on chance; packages/rx-ops/tests/test_repeat.py"
SOURCES: Final = "a source with the same head as Flowable's, which is drawn"
STAGES: Final = "a stage that is drawn for Flowable"
#: Of Single, Maybe and Completable.
OF_ONE: Final = {
    **dict.fromkeys(("create", "from_future"), "races of its own in packages/rx-ops/tests/test_create_one.py; a timer is drawn"),
    **dict.fromkeys(("compose", "pipe"), "calls what the user brings, which is no operator"),
    **dict.fromkeys(("concat_with", "merge_with"), "it calls concat or merge, which are drawn"),
}
OF_ITEM: Final = {**OF_ONE, **dict.fromkeys(("cast", "of_type"), STAGES), "start_with": "that of Flowable behind to_flowable"}
#: What a table leaves out, and why.
WITHOUT: Final[dict[str, dict[str, str]]] = {
    "storms": {
        "generate_async": "one producer at a time, with races of its own in packages/rx-ops/tests/test_generate_async.py",
        "repeat_until": "the rounds of repeat, with a function in place of a number",
        "to_flowable": "the queue of on_backpressure_buffer",
        **dict.fromkeys(("window_until_changed", "window_while"), "the Op of window_until, with another rule"),
    },
    "random pipelines of Flowable": {
        **dict.fromkeys(("compose", "lift", "pipe", "through"), "calls what the user brings, which is no operator"),
        **dict.fromkeys(("from_future", "from_listener", "from_value"), "what is behind it is the emitter of create"),
        "expand": "neither reference has a source that feeds itself",
        "generate_async": "what it gives hangs on tasks, not on the clock",
        "retry_backoff": PAUSES,
    },
    "random pipelines of Single": {
        **OF_ITEM,
        **dict.fromkeys(("defer", "using", "using_when", "wrap"), SOURCES),
        **dict.fromkeys(("dematerialize", "flat_map_iterable", "handle", "map_optional", "starmap"), STAGES),
        "amb": "amb_with calls it",
        "first_with_value": "the Op of Flowable's, which is drawn",
        "flat_map_observable": "the Op of flat_map_publisher, for observers",
        "retry_backoff": PAUSES,
        "to_observable": "no Observables are drawn behind it",
    },
    "random pipelines of Maybe": {
        **OF_ITEM,
        **dict.fromkeys(("defer", "from_callable", "using", "using_when", "wrap"), SOURCES),
        **dict.fromkeys(("dematerialize", "flat_map_iterable", "handle", "map_optional", "starmap"), STAGES),
        "amb": "amb_with calls it",
        "first_with_value": "the Op of Flowable's, which is drawn",
        "flat_map_observable": "the Op of flat_map_publisher, for observers",
        "retry_backoff": PAUSES,
        "to_observable": "no Observables are drawn behind it",
    },
    "random pipelines of Completable": {
        **OF_ONE,
        **dict.fromkeys(("defer", "using", "using_when", "wrap"), SOURCES),
        "amb": "amb_with calls it",
        "retry_backoff": PAUSES,
        "sequence_equal": "it is drawn for Single and Maybe, and compares nothing here",
        "to_observable": "no Observables are drawn behind it",
    },
}

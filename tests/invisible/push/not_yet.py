"""Sources and operators that random pipelines of the normal run leave out: with them the library differs from RxJava still.

Who rewrites an operator takes it off the list; ``python -m tests.invisible.push NAME`` says whether that holds. The nightly run
draws everything. At the end this list is empty, and goes.
"""

from __future__ import annotations

from typing import Final

NOT_YET: Final = frozenset(
    (
        # one after another: RxJava requests one more of these with each one taken
        *("concat_map_s", "concat_map_m", "concat_map_c"),
        # by other sources
        *("timeout_sel", "debounce_sel", "buffer_boundary", "buffer_toggle"),
        # windows, of which RxJava abandons those that have no subscriber at once
        *("window_every", "window_boundary", "window_toggle"),
        # one subscription for many
        *("twice",),
        # a function that gives None does not fail the stream
        *("reduce", "reduce_with"),
        # beside an empty source an error is not told
        "sequence_equal",
        # in time
        *("delay", "observe_on"),
        # who subscribes inside its end is given its last item again
        "behavior",
    )
)

#: These are not compared as Observables.
NOT_YET_OBSERVABLE: Final = frozenset(
    (
    )
)

#: And these, where a subscriber does not request everything. Many of them request of their source, or subscribe to it, only when
#: something is requested of them, and tell an end only then.
NOT_YET_BY_DEMAND: Final = frozenset(
    (
        *("attempt", "delay_sub", "timeout", "repeat", "repeat_until", "repeat_when", "retry", "retry_until", "retry_when"),
        *("on_error_resume_next", "switch_if_empty", "to_flowable", "concat_with", "do_finally", "do_on_error", "do_on_complete"),
        *("take_time", "skip_time", "take_until_p", "and_then", "delay_sel", "publish_sel", "replay_sel", "multicast"),
        *("buffer", "buffer_time", "buffer_time_count", "buffer_restart", "buffer_every", "bp_buffer", "bp_latest"),
        *("via_observable", "window", "window_time", "window_time_count", "window_restart", "flat_map", "flat_map_s"),
        *("timestamp", "time_interval"),
    )
)

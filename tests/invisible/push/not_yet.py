"""Sources and operators that random pipelines of the normal run leave out: with them the library differs from RxJava still.

Who rewrites an operator takes it off the list; ``python -m tests.invisible.push NAME`` says whether that holds. The nightly run
draws everything. At the end this list is empty, and goes.
"""

from __future__ import annotations

from typing import Final

NOT_YET: Final = frozenset(
    (
        # one after another
        *("concat_map", "concat_map_s", "concat_map_m", "concat_map_c", "repeat_when", "retry_when"),
        # at the same time
        *("merge", "merge_de", "merge_with", "flat_map", "flat_map_s", "flat_map_m", "flat_map_c", "flat_map_publisher"),
        *("switch_map", "switch_map_s", "switch_map_m", "switch_map_c", "delay_sel", "amb", "amb_with", "sequence_equal"),
        *("zip", "zip_with", "combine", "combine_de", "combine_latest", "combine_latest_de", "with_latest_from"),
        *("take_until", "skip_until", "timeout_sel", "debounce_sel", "sample_by"),
        # parts
        *("window", "window_time", "window_time_count", "window_restart", "window_every", "window_boundary", "window_toggle"),
        *("buffer_boundary", "buffer_toggle", "group_by"),
        # one subscription for many
        *("twice", "multicast", "publish_sel", "replay_sel", "cache"),
        # a function that gives None fails the stream at its end only
        *("reduce", "reduce_with"),
        # who subscribes inside its end is given its last item again
        "behavior",
        # in time
        *("delay", "observe_on", "subscribe_on"),
    )
)

#: And these, where a subscriber does not request everything: the library subscribes to their sources with the first request only.
NOT_YET_BY_DEMAND: Final = frozenset(
    (
        *("attempt", "delay_sub", "timeout", "repeat", "repeat_until", "retry", "retry_until", "on_error_resume_next"),
        *("switch_if_empty", "to_flowable", "concat_with", "do_finally", "do_on_error", "do_on_complete", "take_time"),
        *("skip_time", "and_then", "buffer", "buffer_time", "buffer_time_count", "buffer_restart", "buffer_every", "bp_buffer"),
        *("via_observable", "take_until_p"),
    )
)

"""The coordinating operators, one generator each; see docs/guides/writing-operators.md."""

from rx_ops.coordination._backpressure import (
    BackpressureStrategy,
    OverflowStrategy,
    on_backpressure_buffer,
    on_backpressure_drop,
    on_backpressure_latest,
)
from rx_ops.coordination._buffer import buffer_boundary, buffer_cut, buffer_time
from rx_ops.coordination._combine import interleave
from rx_ops.coordination._create import Created, Emitter, defer, error, never
from rx_ops.coordination._debounce import debounce, debounce_by, throttle_first, throttle_latest
from rx_ops.coordination._errors import do_finally, do_on_error, on_error_resume_next, on_error_return
from rx_ops.coordination._flatten import behind_wall, ignore_items, inner_source, relay
from rx_ops.coordination._group import GroupByHead
from rx_ops.coordination._indicated import delay_by, timeout_by
from rx_ops.coordination._last import skip_last_time, take_last_time
from rx_ops.coordination._notify import materialize
from rx_ops.coordination._sample import sample, sample_by
from rx_ops.coordination._switch import switch_if_empty
from rx_ops.coordination._threads import SubscribeOn, observe_on
from rx_ops.coordination._time import (
    Timed,
    delay,
    delay_subscription,
    delay_subscription_until,
    interval,
    time_interval,
    timeout,
    timer,
    timestamp,
)
from rx_ops.coordination._using import using
from rx_ops.coordination._window import WindowHead

__all__ = [
    "BackpressureStrategy",
    "Created",
    "Emitter",
    "GroupByHead",
    "OverflowStrategy",
    "SubscribeOn",
    "Timed",
    "WindowHead",
    "behind_wall",
    "buffer_boundary",
    "buffer_cut",
    "buffer_time",
    "debounce",
    "debounce_by",
    "defer",
    "delay",
    "delay_by",
    "delay_subscription",
    "delay_subscription_until",
    "do_finally",
    "do_on_error",
    "error",
    "ignore_items",
    "inner_source",
    "interleave",
    "interval",
    "materialize",
    "never",
    "observe_on",
    "on_backpressure_buffer",
    "on_backpressure_drop",
    "on_backpressure_latest",
    "on_error_resume_next",
    "on_error_return",
    "relay",
    "sample",
    "sample_by",
    "skip_last_time",
    "switch_if_empty",
    "take_last_time",
    "throttle_first",
    "throttle_latest",
    "time_interval",
    "timeout",
    "timeout_by",
    "timer",
    "timestamp",
    "using",
]

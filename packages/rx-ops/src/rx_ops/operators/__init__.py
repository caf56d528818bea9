"""The coordinating operators, one Op each, in the families of the faces; see docs/guides/writing-operators.md."""

from typing import Final

from rx_fusion import operator_of
from rx_ops.operators._around import Materialize, Using
from rx_ops.operators._aside import DoFinally, DoOnError
from rx_ops.operators._backpressure import (
    BackpressureStrategy,
    OnBackpressureBuffer,
    OnBackpressureDrop,
    OnBackpressureLatest,
    OverflowStrategy,
    ToFlowable,
)
from rx_ops.operators._buffer import BufferCut, BufferToggle
from rx_ops.operators._combine import Zip
from rx_ops.operators._concat import Concat, ConcatHead, concat_head, in_a_row
from rx_ops.operators._concat_map import ConcatMap, Expand
from rx_ops.operators._conditional import Amb, SequenceEqual
from rx_ops.operators._connect import Connectable, Within
from rx_ops.operators._connectable import AutoConnect, RefCount
from rx_ops.operators._convert import Hide, IgnoreElements, ToFlowableMissing, Wrap
from rx_ops.operators._create import CreateHead, DeferHead, Emitter, Error, Never
from rx_ops.operators._cutters import Boundary, BoundaryFirst, Closing, Opening, Overlapping, Restarting
from rx_ops.operators._cutters import Timed as TimedCutter
from rx_ops.operators._errors import OnErrorResumeNext, OnErrorReturn
from rx_ops.operators._filter import SkipLastTime, TakeLastTime
from rx_ops.operators._flat_map import FlatMap, Merge
from rx_ops.operators._group import GroupBy, group_notes
from rx_ops.operators._late import Delay, DelayBy, Interval, Timer
from rx_ops.operators._latest import CombineLatest, WithLatestFrom
from rx_ops.operators._lifecycle import DoAfterNext, DoOnCancel, DoOnDispose, DoOnRequest, DoOnSubscribe
from rx_ops.operators._listen import BatchEmitter, GenerateAsync, Listening, Watching
from rx_ops.operators._mapping import Named
from rx_ops.operators._observe_on import ObserveOn
from rx_ops.operators._publish import Publish, PublishWithin, published
from rx_ops.operators._rates import Debounce, DebounceBy, Sample, SampleBy, ThrottleFirst, ThrottleLatest
from rx_ops.operators._repeat import Repeat, RepeatUntil, RepeatWhen, Retry, RetryBackoff, RetryUntil, RetryWhen
from rx_ops.operators._replay import Replay, ReplayWithin, cached, replayed
from rx_ops.operators._subscribe_on import SubscribeOn
from rx_ops.operators._switch_map import SwitchMap
from rx_ops.operators._time import DelaySubscription, DelaySubscriptionUntil, Timed, TimeInterval, Timestamp
from rx_ops.operators._timeout import Timeout, TimeoutBy
from rx_ops.operators._until import SkipUntil, SwitchIfEmpty, TakeUntil, TakeUntilTrue
from rx_ops.operators._window import WindowByCount, WindowCut, window_notes
from rx_ops.operators._zip_loop import row_of

#: What is known of the two, so that it need not be looked up for each stream.
CONCAT_MAP: Final = operator_of(ConcatMap)
FLAT_MAP: Final = operator_of(FlatMap)

__all__ = [
    "CONCAT_MAP",
    "FLAT_MAP",
    "Amb",
    "AutoConnect",
    "BackpressureStrategy",
    "BatchEmitter",
    "Boundary",
    "BoundaryFirst",
    "BufferCut",
    "BufferToggle",
    "Closing",
    "CombineLatest",
    "Concat",
    "ConcatHead",
    "ConcatMap",
    "Connectable",
    "CreateHead",
    "Debounce",
    "DebounceBy",
    "DeferHead",
    "Delay",
    "DelayBy",
    "DelaySubscription",
    "DelaySubscriptionUntil",
    "DoAfterNext",
    "DoFinally",
    "DoOnCancel",
    "DoOnDispose",
    "DoOnError",
    "DoOnRequest",
    "DoOnSubscribe",
    "Emitter",
    "Error",
    "Expand",
    "FlatMap",
    "GenerateAsync",
    "GroupBy",
    "Hide",
    "IgnoreElements",
    "Interval",
    "Listening",
    "Materialize",
    "Merge",
    "Named",
    "Never",
    "ObserveOn",
    "OnBackpressureBuffer",
    "OnBackpressureDrop",
    "OnBackpressureLatest",
    "OnErrorResumeNext",
    "OnErrorReturn",
    "Opening",
    "OverflowStrategy",
    "Overlapping",
    "Publish",
    "PublishWithin",
    "RefCount",
    "Repeat",
    "RepeatUntil",
    "RepeatWhen",
    "Replay",
    "ReplayWithin",
    "Restarting",
    "Retry",
    "RetryBackoff",
    "RetryUntil",
    "RetryWhen",
    "Sample",
    "SampleBy",
    "SequenceEqual",
    "SkipLastTime",
    "SkipUntil",
    "SubscribeOn",
    "SwitchIfEmpty",
    "SwitchMap",
    "TakeLastTime",
    "TakeUntil",
    "TakeUntilTrue",
    "ThrottleFirst",
    "ThrottleLatest",
    "TimeInterval",
    "Timed",
    "TimedCutter",
    "Timeout",
    "TimeoutBy",
    "Timer",
    "Timestamp",
    "ToFlowable",
    "ToFlowableMissing",
    "Using",
    "Watching",
    "WindowByCount",
    "WindowCut",
    "WithLatestFrom",
    "Within",
    "Wrap",
    "Zip",
    "cached",
    "concat_head",
    "group_notes",
    "in_a_row",
    "published",
    "replayed",
    "row_of",
    "window_notes",
]

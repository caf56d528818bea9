"""The coordinating operators, one Op each, in the families of the faces; see docs/guides/writing-operators.md.

A program has the modules of those that it uses: each is imported when its name is looked up for the first time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rx_ops.operators._around import Materialize, Using
    from rx_ops.operators._aside import DoAfterSuccess, DoAfterTerminate, DoFinally, DoOnEach, DoOnError, DoOnTerminate
    from rx_ops.operators._backpressure import (
        BackpressureStrategy,
        OnBackpressureBuffer,
        OnBackpressureDrop,
        OnBackpressureLatest,
        OnBackpressureReduce,
        OnBackpressureReduceWith,
        OnBackpressureTimeout,
        OverflowStrategy,
        ToFlowable,
    )
    from rx_ops.operators._buffer import BufferCut, BufferToggle
    from rx_ops.operators._combine import ForkJoin, Zip, ZipLate
    from rx_ops.operators._concat import Concat, ConcatHead, concat_head, in_a_row
    from rx_ops.operators._concat_map import CONCAT_MAP, ConcatMap, Deciding
    from rx_ops.operators._conditional import Amb, FirstWithValue, SequenceEqual
    from rx_ops.operators._connect import Connectable, Within
    from rx_ops.operators._connectable import AutoConnect, RefCount
    from rx_ops.operators._convert import Hide, IgnoreElements, ToFlowableMissing, ToFlowableOne, Wrap
    from rx_ops.operators._create import CreateHead, DeferHead, Error, Never
    from rx_ops.operators._create_one import (
        CompletableEmitter,
        CreateOneHead,
        FutureSource,
        MaybeEmitter,
        SingleEmitter,
        give_completable,
        give_maybe,
        give_single,
        give_stream,
    )
    from rx_ops.operators._cutters import Boundary, BoundaryFirst, Closing, Opening, Overlapping, Restarting, TimedCutter
    from rx_ops.operators._demand import RateLimit, RebatchRequests
    from rx_ops.operators._discard import Discarded, DoOnDiscard
    from rx_ops.operators._eager import ConcatEager, ConcatMapEager
    from rx_ops.operators._emitter import Emitter
    from rx_ops.operators._errors import Guarded, OnErrorComplete, OnErrorResumeNext, OnErrorReturn
    from rx_ops.operators._expand import Expand, ExpandDeep
    from rx_ops.operators._filter import SkipLastTime, TakeLastTime
    from rx_ops.operators._flat_map import FLAT_MAP, FlatMap, Merge
    from rx_ops.operators._group import GroupBy, group_notes
    from rx_ops.operators._group_until import GroupByUntil
    from rx_ops.operators._join import GroupJoin, Join
    from rx_ops.operators._late import Delay, DelayBy, Interval, Timer
    from rx_ops.operators._latest import CombineLatest, WithLatestFrom
    from rx_ops.operators._lifecycle import (
        DoAfterNext,
        DoOnCancel,
        DoOnDispose,
        DoOnRequest,
        DoOnSubscribe,
        OnTerminateDetach,
    )
    from rx_ops.operators._listen import BatchEmitter, GenerateAsync, Listening, Watching
    from rx_ops.operators._log import Log, log_settings
    from rx_ops.operators._mapping import Named, NamedOne
    from rx_ops.operators._named import Checkpoint, checkpoint_note
    from rx_ops.operators._observe_on import ObserveLatest, ObserveOn
    from rx_ops.operators._ordered import MergeOrdered, MergePriority
    from rx_ops.operators._parallel import RailsHead, rails_begin, rails_of
    from rx_ops.operators._progress import Progress, progress_settings
    from rx_ops.operators._publish import Publish, PublishWithin, published
    from rx_ops.operators._rails import Ordered, RunOn, Sequential, elsewhere, sent_along
    from rx_ops.operators._rails_ordered import in_order
    from rx_ops.operators._rates import Debounce, DebounceBy, Sample, SampleBy, ThrottleFirst, ThrottleLatest
    from rx_ops.operators._repeat import Repeat, RepeatUntil, RepeatWhen, Retry, RetryBackoff, RetryUntil, RetryWhen
    from rx_ops.operators._replay import Lifetimes, Refreshed, Replay, ReplayWithin, cached, replayed
    from rx_ops.operators._runs import (
        WindowUntil,
        WindowUntilChanged,
        WindowWhile,
        begins_where,
        begins_with_change,
        ends_where,
        lasts_while,
        run_notes,
    )
    from rx_ops.operators._subscribe_on import SubscribeOn, SubscribeOnHead, UnsubscribeOn, subscribe_on_head
    from rx_ops.operators._switch_map import ExhaustMap, SwitchMap
    from rx_ops.operators._switch_on_first import SwitchOnFirst
    from rx_ops.operators._time import DelaySubscription, DelaySubscriptionUntil, Timed, TimeInterval, Timestamp
    from rx_ops.operators._timeout import Timeout, TimeoutBy
    from rx_ops.operators._until import SkipUntil, SwitchIfEmpty, TakeUntil, TakeUntilTrue
    from rx_ops.operators._using_when import UsingWhen
    from rx_ops.operators._window import WindowByCount, WindowCut, window_notes
    from rx_ops.operators._with_context import ContextSettings, WithContext, context_settings
    from rx_ops.operators._zip_latest import ZipLatest
    from rx_ops.operators._zip_loop import row_of

_NAMES: Final = {
    "_around": ("Materialize", "Using"),
    "_aside": ("DoAfterSuccess", "DoAfterTerminate", "DoFinally", "DoOnEach", "DoOnError", "DoOnTerminate"),
    "_backpressure": (
        "BackpressureStrategy",
        "OnBackpressureBuffer",
        "OnBackpressureDrop",
        "OnBackpressureLatest",
        "OnBackpressureReduce",
        "OnBackpressureReduceWith",
        "OnBackpressureTimeout",
        "OverflowStrategy",
        "ToFlowable",
    ),
    "_buffer": ("BufferCut", "BufferToggle"),
    "_combine": ("ForkJoin", "Zip", "ZipLate"),
    "_concat": ("Concat", "ConcatHead", "concat_head", "in_a_row"),
    "_concat_map": ("CONCAT_MAP", "ConcatMap", "Deciding"),
    "_conditional": ("Amb", "FirstWithValue", "SequenceEqual"),
    "_connect": ("Connectable", "Within"),
    "_connectable": ("AutoConnect", "RefCount"),
    "_convert": ("Hide", "IgnoreElements", "ToFlowableMissing", "ToFlowableOne", "Wrap"),
    "_create": ("CreateHead", "DeferHead", "Error", "Never"),
    "_create_one": (
        "CompletableEmitter",
        "CreateOneHead",
        "FutureSource",
        "MaybeEmitter",
        "SingleEmitter",
        "give_completable",
        "give_maybe",
        "give_single",
        "give_stream",
    ),
    "_cutters": ("Boundary", "BoundaryFirst", "Closing", "Opening", "Overlapping", "Restarting", "TimedCutter"),
    "_discard": ("Discarded", "DoOnDiscard"),
    "_eager": ("ConcatEager", "ConcatMapEager"),
    "_demand": ("RateLimit", "RebatchRequests"),
    "_emitter": ("Emitter",),
    "_errors": ("Guarded", "OnErrorComplete", "OnErrorResumeNext", "OnErrorReturn"),
    "_expand": ("Expand", "ExpandDeep"),
    "_filter": ("SkipLastTime", "TakeLastTime"),
    "_flat_map": ("FLAT_MAP", "FlatMap", "Merge"),
    "_group": ("GroupBy", "group_notes"),
    "_join": ("GroupJoin", "Join"),
    "_group_until": ("GroupByUntil",),
    "_late": ("Delay", "DelayBy", "Interval", "Timer"),
    "_latest": ("CombineLatest", "WithLatestFrom"),
    "_lifecycle": (
        "DoAfterNext",
        "DoOnCancel",
        "DoOnDispose",
        "DoOnRequest",
        "DoOnSubscribe",
        "OnTerminateDetach",
    ),
    "_listen": ("BatchEmitter", "GenerateAsync", "Listening", "Watching"),
    "_log": ("Log", "log_settings"),
    "_mapping": ("Named", "NamedOne"),
    "_named": ("Checkpoint", "checkpoint_note"),
    "_observe_on": ("ObserveLatest", "ObserveOn"),
    "_ordered": ("MergeOrdered", "MergePriority"),
    "_parallel": ("RailsHead", "rails_begin", "rails_of"),
    "_progress": ("Progress", "progress_settings"),
    "_publish": ("Publish", "PublishWithin", "published"),
    "_rails": ("Ordered", "RunOn", "Sequential", "elsewhere", "sent_along"),
    "_rails_ordered": ("in_order",),
    "_rates": ("Debounce", "DebounceBy", "Sample", "SampleBy", "ThrottleFirst", "ThrottleLatest"),
    "_repeat": ("Repeat", "RepeatUntil", "RepeatWhen", "Retry", "RetryBackoff", "RetryUntil", "RetryWhen"),
    "_replay": ("Lifetimes", "Refreshed", "Replay", "ReplayWithin", "cached", "replayed"),
    "_runs": (
        "WindowUntil",
        "WindowUntilChanged",
        "WindowWhile",
        "begins_where",
        "begins_with_change",
        "ends_where",
        "lasts_while",
        "run_notes",
    ),
    "_subscribe_on": ("SubscribeOn", "SubscribeOnHead", "UnsubscribeOn", "subscribe_on_head"),
    "_switch_map": ("ExhaustMap", "SwitchMap"),
    "_switch_on_first": ("SwitchOnFirst",),
    "_time": ("DelaySubscription", "DelaySubscriptionUntil", "Timed", "TimeInterval", "Timestamp"),
    "_timeout": ("Timeout", "TimeoutBy"),
    "_until": ("SkipUntil", "SwitchIfEmpty", "TakeUntil", "TakeUntilTrue"),
    "_using_when": ("UsingWhen",),
    "_window": ("WindowByCount", "WindowCut", "window_notes"),
    "_with_context": ("ContextSettings", "WithContext", "context_settings"),
    "_zip_latest": ("ZipLatest",),
    "_zip_loop": ("row_of",),
}
_HOMES: Final = {name: home for home, names in _NAMES.items() for name in names}

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
    "Checkpoint",
    "Closing",
    "CombineLatest",
    "CompletableEmitter",
    "Concat",
    "ConcatEager",
    "ConcatHead",
    "ConcatMap",
    "ConcatMapEager",
    "Connectable",
    "ContextSettings",
    "CreateHead",
    "CreateOneHead",
    "Debounce",
    "DebounceBy",
    "Deciding",
    "DeferHead",
    "Delay",
    "DelayBy",
    "DelaySubscription",
    "DelaySubscriptionUntil",
    "Discarded",
    "DoAfterNext",
    "DoAfterSuccess",
    "DoAfterTerminate",
    "DoFinally",
    "DoOnCancel",
    "DoOnDiscard",
    "DoOnDispose",
    "DoOnEach",
    "DoOnError",
    "DoOnRequest",
    "DoOnSubscribe",
    "DoOnTerminate",
    "Emitter",
    "Error",
    "ExhaustMap",
    "Expand",
    "ExpandDeep",
    "FirstWithValue",
    "FlatMap",
    "ForkJoin",
    "FutureSource",
    "GenerateAsync",
    "GroupBy",
    "GroupByUntil",
    "GroupJoin",
    "Guarded",
    "Hide",
    "IgnoreElements",
    "Interval",
    "Join",
    "Lifetimes",
    "Listening",
    "Log",
    "Materialize",
    "MaybeEmitter",
    "Merge",
    "MergeOrdered",
    "MergePriority",
    "Named",
    "NamedOne",
    "Never",
    "ObserveLatest",
    "ObserveOn",
    "OnBackpressureBuffer",
    "OnBackpressureDrop",
    "OnBackpressureLatest",
    "OnBackpressureReduce",
    "OnBackpressureReduceWith",
    "OnBackpressureTimeout",
    "OnErrorComplete",
    "OnErrorResumeNext",
    "OnErrorReturn",
    "OnTerminateDetach",
    "Opening",
    "Ordered",
    "OverflowStrategy",
    "Overlapping",
    "Progress",
    "Publish",
    "PublishWithin",
    "RailsHead",
    "RateLimit",
    "RebatchRequests",
    "RefCount",
    "Refreshed",
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
    "RunOn",
    "Sample",
    "SampleBy",
    "SequenceEqual",
    "Sequential",
    "SingleEmitter",
    "SkipLastTime",
    "SkipUntil",
    "SubscribeOn",
    "SubscribeOnHead",
    "SwitchIfEmpty",
    "SwitchMap",
    "SwitchOnFirst",
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
    "ToFlowableOne",
    "UnsubscribeOn",
    "Using",
    "UsingWhen",
    "Watching",
    "WindowByCount",
    "WindowCut",
    "WindowUntil",
    "WindowUntilChanged",
    "WindowWhile",
    "WithContext",
    "WithLatestFrom",
    "Within",
    "Wrap",
    "Zip",
    "ZipLate",
    "ZipLatest",
    "begins_where",
    "begins_with_change",
    "cached",
    "checkpoint_note",
    "concat_head",
    "context_settings",
    "elsewhere",
    "ends_where",
    "give_completable",
    "give_maybe",
    "give_single",
    "give_stream",
    "group_notes",
    "in_a_row",
    "in_order",
    "lasts_while",
    "log_settings",
    "progress_settings",
    "published",
    "rails_begin",
    "rails_of",
    "replayed",
    "row_of",
    "run_notes",
    "sent_along",
    "subscribe_on_head",
    "window_notes",
]


if not TYPE_CHECKING:  # or every misspelt name would have a type

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})

"""Fusion: neighbouring synchronous operators run as one piece of code, with the same observable behaviour."""

from __future__ import annotations

from rx_core.build_places import build_lines
from rx_core.queue_fusion import (
    ANY,
    ASYNC,
    BOUNDARY,
    NONE,
    SYNC,
    CallableSource,
    ConditionalSubscriber,
    QueueDisposable,
    QueueSubscription,
    ScalarCallable,
    fusion_enabled,
    fusion_off,
)
from rx_fusion._adapters import ToCompletable, ToMaybe, ToObserver, ToSingle
from rx_fusion._explain import Plan
from rx_fusion._forms import Feed, Form
from rx_fusion._heads import Head, IterableHead, PublisherHead, PushHead, SourceHead, Text, after, as_text
from rx_fusion._loops import RestOf, outer_items
from rx_fusion._operators import (
    MANY_SOURCES,
    ONE_FUNCTION,
    Loop,
    Operator,
    OperatorHead,
    Options,
    is_observed,
    op,
    operator,
    operator_head,
    operator_of,
)
from rx_fusion._pipeline import Pipeline, PlainFlow, PlainObserved
from rx_fusion._push import EmittedSteps
from rx_fusion._reached import Discarding, NotCovered, reached
from rx_fusion._rules import Rule, register_rules, replaced, rules, without_rules
from rx_fusion._scalars import as_callable_source, as_scalar
from rx_fusion._shapes import ROOT, Shape, constants_are_numbers, shape_of, shape_reading
from rx_fusion._stage import Stage, StageError, everything, of_one
from rx_fusion._stages import stage, stage_of
from rx_fusion._stepped import Stepped, stages_over
from rx_fusion._user_arguments import operator_arguments, stage_arguments
from rx_fusion._version import __version__

__all__ = [
    "ANY",
    "ASYNC",
    "BOUNDARY",
    "MANY_SOURCES",
    "NONE",
    "ONE_FUNCTION",
    "ROOT",
    "SYNC",
    "CallableSource",
    "ConditionalSubscriber",
    "Discarding",
    "EmittedSteps",
    "Feed",
    "Form",
    "Head",
    "IterableHead",
    "Loop",
    "NotCovered",
    "Operator",
    "OperatorHead",
    "Options",
    "Pipeline",
    "PlainFlow",
    "PlainObserved",
    "Plan",
    "PublisherHead",
    "PushHead",
    "QueueDisposable",
    "QueueSubscription",
    "RestOf",
    "Rule",
    "ScalarCallable",
    "Shape",
    "SourceHead",
    "Stage",
    "StageError",
    "Stepped",
    "Text",
    "ToCompletable",
    "ToMaybe",
    "ToObserver",
    "ToSingle",
    "__version__",
    "after",
    "as_callable_source",
    "as_scalar",
    "as_text",
    "build_lines",
    "constants_are_numbers",
    "everything",
    "fusion_enabled",
    "fusion_off",
    "is_observed",
    "of_one",
    "op",
    "operator",
    "operator_arguments",
    "operator_head",
    "operator_of",
    "outer_items",
    "reached",
    "register_rules",
    "replaced",
    "rules",
    "shape_of",
    "shape_reading",
    "stage",
    "stage_arguments",
    "stage_of",
    "stages_over",
    "without_rules",
]


def __dir__() -> list[str]:
    return list({*__all__, *(name for name in globals() if name.startswith("__"))})

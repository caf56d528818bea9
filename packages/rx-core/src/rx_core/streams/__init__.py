"""The core of every coordinating operator: a gate, inputs for its sources, and what is pulled. It knows no operator.

For who writes an operator: subclass :class:`Op`, listen with one of the inputs; see docs/guides/writing-operators.md.
"""

from rx_core.gate import LOOK_FIRST
from rx_core.streams.border import NOT_THERE, Border, give_back
from rx_core.streams.broadcast import Broadcast
from rx_core.streams.contracts import (
    CLOSABLE,
    CONSTANT,
    EXACT,
    NEVER_NONE,
    NO_ITEMS,
    NULL_SUBSCRIBER,
    ROUNDING,
    Handover,
    Listening,
    NullSubscriber,
    Stopping,
    Stream,
    SubscriberFailed,
    close,
    computed_at_once,
    ignore,
    is_exhausted,
    left_behind,
    throw_away,
    without_demand,
)
from rx_core.streams.entry import Entry, subscribe, takes_requests
from rx_core.streams.gated_inputs import GatedInput, MergedInput
from rx_core.streams.generator_sources import Items
from rx_core.streams.generators import GeneratorOp, Run, Source
from rx_core.streams.hub import End, Hub, HubSubscription, PublishHub
from rx_core.streams.inputs import END, AskedInput, DirectInput, Input, QueuedInput, RelayedInput, Trigger
from rx_core.streams.members import Member
from rx_core.streams.one_at_a_time import OneAtATime, computed, end_of_one
from rx_core.streams.op import Failed, Op, Outcome, interruption, tell_interrupted, without_this_frame
from rx_core.streams.pass_through import NO_SOURCE, PassThrough, Transparent
from rx_core.streams.pump import Failing, Pump
from rx_core.streams.replay import Log, ReplayHub
from rx_core.streams.unicast import Unicast
from rx_core.streams.waiting import Waiting

__all__ = [
    "CLOSABLE",
    "CONSTANT",
    "END",
    "EXACT",
    "LOOK_FIRST",
    "NEVER_NONE",
    "NOT_THERE",
    "NO_ITEMS",
    "NO_SOURCE",
    "NULL_SUBSCRIBER",
    "ROUNDING",
    "AskedInput",
    "Border",
    "Broadcast",
    "DirectInput",
    "End",
    "Entry",
    "Failed",
    "Failing",
    "GatedInput",
    "GeneratorOp",
    "Handover",
    "Hub",
    "HubSubscription",
    "Input",
    "Items",
    "Listening",
    "Log",
    "Member",
    "MergedInput",
    "NullSubscriber",
    "OneAtATime",
    "Op",
    "Outcome",
    "PassThrough",
    "PublishHub",
    "Pump",
    "QueuedInput",
    "RelayedInput",
    "ReplayHub",
    "Run",
    "Source",
    "Stopping",
    "Stream",
    "SubscriberFailed",
    "Transparent",
    "Trigger",
    "Unicast",
    "Waiting",
    "close",
    "computed",
    "computed_at_once",
    "end_of_one",
    "give_back",
    "ignore",
    "interruption",
    "is_exhausted",
    "left_behind",
    "subscribe",
    "takes_requests",
    "tell_interrupted",
    "throw_away",
    "without_demand",
    "without_this_frame",
]

"""The concurrency blocks: what hand-written operators and processors are made of.

Most operators need none of them, because ``rx_core.streams.Op`` has all of this done for them. They are for code that is about
which thread calls which party. ``docs/guides/concurrency-blocks.md`` shows each in use and says what it costs.

What signals is serial by ``rx_core.gate``, the gate that operators stand on as well. The others rely on one operation of a dict
or a deque being atomic, which holds on every CPython build. None of them blocks, holds a lock or starts a thread.
"""

from __future__ import annotations

from rx_core.blocks._arbiter import SubscriptionArbiter
from rx_core.blocks._atomic import AtomicReference
from rx_core.blocks._cells import SubscriptionCell
from rx_core.blocks._deferred import DeferredSubscription
from rx_core.blocks._errors import AtomicErrors
from rx_core.blocks._half import HalfSerializer
from rx_core.blocks._nobody import CANCELLED_SUBSCRIPTION, NOBODY
from rx_core.blocks._once import Once, OnceObserver
from rx_core.blocks._post_complete import MultiPostComplete, SinglePostComplete
from rx_core.blocks._queue_drain import QueueDrain
from rx_core.blocks._queues import ItemQueue, MpscQueue, SpscArrayQueue, SpscLinkedQueue
from rx_core.blocks._request_drain import EmittedRequestDrain, ErrorMode, RequestDrain, StableRequestDrain
from rx_core.blocks._requested import CANCELLED, Requested, RequestInbox, request_error
from rx_core.blocks._scalar import DeferredScalar, DeferredScalarSubscriber
from rx_core.blocks._serialized import SerializedObserver, SerializedSubscriber
from rx_core.blocks._strict import RelaxedSubscriber, StrictSubscriber, strict

__all__ = [
    "CANCELLED",
    "CANCELLED_SUBSCRIPTION",
    "NOBODY",
    "AtomicErrors",
    "AtomicReference",
    "DeferredScalar",
    "DeferredScalarSubscriber",
    "DeferredSubscription",
    "EmittedRequestDrain",
    "ErrorMode",
    "HalfSerializer",
    "ItemQueue",
    "MpscQueue",
    "MultiPostComplete",
    "Once",
    "OnceObserver",
    "QueueDrain",
    "RelaxedSubscriber",
    "RequestDrain",
    "RequestInbox",
    "Requested",
    "SerializedObserver",
    "SerializedSubscriber",
    "SinglePostComplete",
    "SpscArrayQueue",
    "SpscLinkedQueue",
    "StableRequestDrain",
    "StrictSubscriber",
    "SubscriptionArbiter",
    "SubscriptionCell",
    "request_error",
    "strict",
]

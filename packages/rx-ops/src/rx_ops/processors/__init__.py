"""Processors and subjects: streams that are fed, by hand or by another stream."""

from rx_ops.processors._async import AsyncProcessor, AsyncSubject
from rx_ops.processors._behavior import BehaviorProcessor, BehaviorSubject
from rx_ops.processors._multicast import FlowableProcessor, Subject
from rx_ops.processors._publish import PublishProcessor, PublishSubject
from rx_ops.processors._replay import ReplayProcessor, ReplaySubject
from rx_ops.processors._unicast import UnicastProcessor, UnicastSubject

__all__ = [
    "AsyncProcessor",
    "AsyncSubject",
    "BehaviorProcessor",
    "BehaviorSubject",
    "FlowableProcessor",
    "PublishProcessor",
    "PublishSubject",
    "ReplayProcessor",
    "ReplaySubject",
    "Subject",
    "UnicastProcessor",
    "UnicastSubject",
]

"""Test tools for reactive streams: subscribers that record and check the protocol, virtual time, marbles, and a TCK."""

from rx_testing._manual import ManualPublisher, ManualSubscription
from rx_testing._recorder import Recorder
from rx_testing._subscribers import TestMaybeObserver, TestObserver, TestSubscriber
from rx_testing._version import __version__
from rx_testing._virtual import VirtualScheduler
from rx_testing.tck import (
    IdentityProcessorVerification,
    PublisherVerification,
    SubscriberBlackboxVerification,
    SubscriberWhiteboxVerification,
)

__all__ = [
    "IdentityProcessorVerification",
    "ManualPublisher",
    "ManualSubscription",
    "PublisherVerification",
    "Recorder",
    "SubscriberBlackboxVerification",
    "SubscriberWhiteboxVerification",
    "TestMaybeObserver",
    "TestObserver",
    "TestSubscriber",
    "VirtualScheduler",
    "__version__",
]

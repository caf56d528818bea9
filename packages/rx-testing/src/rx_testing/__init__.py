"""Test tools for reactive streams: subscribers that record and check the protocol, virtual time, marbles, and a TCK."""

from rx_testing._leaks import LeakWatch
from rx_testing._manual import ManualPublisher, ManualSubscription
from rx_testing._marble_sources import Cold, Hot, MarbleError, MarbleSource, cold, expect_marbles, hot
from rx_testing._marbles import DocMarbles, Marbles, Mark, doc_marbles_in, format_marbles, parse_doc_marbles, parse_marbles
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
    "Cold",
    "DocMarbles",
    "Hot",
    "IdentityProcessorVerification",
    "LeakWatch",
    "ManualPublisher",
    "ManualSubscription",
    "MarbleError",
    "MarbleSource",
    "Marbles",
    "Mark",
    "PublisherVerification",
    "Recorder",
    "SubscriberBlackboxVerification",
    "SubscriberWhiteboxVerification",
    "TestMaybeObserver",
    "TestObserver",
    "TestSubscriber",
    "VirtualScheduler",
    "__version__",
    "cold",
    "doc_marbles_in",
    "expect_marbles",
    "format_marbles",
    "hot",
    "parse_doc_marbles",
    "parse_marbles",
]

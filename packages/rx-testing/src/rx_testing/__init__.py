"""Test tools for reactive streams: subscribers that record and check the protocol, virtual time, a manual publisher."""

from rx_testing._manual import ManualPublisher, ManualSubscription
from rx_testing._recorder import Recorder
from rx_testing._subscribers import TestMaybeObserver, TestObserver, TestSubscriber
from rx_testing._version import __version__
from rx_testing._virtual import VirtualScheduler

__all__ = [
    "ManualPublisher",
    "ManualSubscription",
    "Recorder",
    "TestMaybeObserver",
    "TestObserver",
    "TestSubscriber",
    "VirtualScheduler",
    "__version__",
]

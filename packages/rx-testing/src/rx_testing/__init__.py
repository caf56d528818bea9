"""Test tools for reactive streams: subscribers that record and check the protocol, virtual time, marbles, and a TCK.

Importing this package does not import pytest, nor the rest of it before it is used: its plugin is loaded by programs too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rx_testing._leaks import LeakWatch as LeakWatch
    from rx_testing._manual import ManualPublisher as ManualPublisher
    from rx_testing._manual import ManualSubscription as ManualSubscription
    from rx_testing._marble_sources import Cold as Cold
    from rx_testing._marble_sources import Hot as Hot
    from rx_testing._marble_sources import MarbleError as MarbleError
    from rx_testing._marble_sources import MarbleSource as MarbleSource
    from rx_testing._marble_sources import cold as cold
    from rx_testing._marble_sources import expect_marbles as expect_marbles
    from rx_testing._marble_sources import hot as hot
    from rx_testing._marbles import DocMarbles as DocMarbles
    from rx_testing._marbles import Marbles as Marbles
    from rx_testing._marbles import Mark as Mark
    from rx_testing._marbles import doc_marbles_in as doc_marbles_in
    from rx_testing._marbles import format_marbles as format_marbles
    from rx_testing._marbles import parse_doc_marbles as parse_doc_marbles
    from rx_testing._marbles import parse_marbles as parse_marbles
    from rx_testing._recorded_calls import SubscriptionCall as SubscriptionCall
    from rx_testing._recorder import Recorder as Recorder
    from rx_testing._recording_publisher import RecordedSubscription as RecordedSubscription
    from rx_testing._recording_publisher import RecordingPublisher as RecordingPublisher
    from rx_testing._subscribers import TestMaybeObserver as TestMaybeObserver
    from rx_testing._subscribers import TestObserver as TestObserver
    from rx_testing._subscribers import TestSubscriber as TestSubscriber
    from rx_testing._version import __version__ as __version__
    from rx_testing._virtual import VirtualScheduler as VirtualScheduler
    from rx_testing.tck import IdentityProcessorVerification as IdentityProcessorVerification
    from rx_testing.tck import OperatorVerification as OperatorVerification
    from rx_testing.tck import PublisherVerification as PublisherVerification
    from rx_testing.tck import SubscriberBlackboxVerification as SubscriberBlackboxVerification
    from rx_testing.tck import SubscriberWhiteboxVerification as SubscriberWhiteboxVerification

_HOMES: Final = {
    "Cold": "_marble_sources",
    "DocMarbles": "_marbles",
    "Hot": "_marble_sources",
    "IdentityProcessorVerification": "tck",
    "LeakWatch": "_leaks",
    "ManualPublisher": "_manual",
    "ManualSubscription": "_manual",
    "MarbleError": "_marble_sources",
    "MarbleSource": "_marble_sources",
    "Marbles": "_marbles",
    "Mark": "_marbles",
    "OperatorVerification": "tck",
    "PublisherVerification": "tck",
    "RecordedSubscription": "_recording_publisher",
    "Recorder": "_recorder",
    "RecordingPublisher": "_recording_publisher",
    "SubscriberBlackboxVerification": "tck",
    "SubscriberWhiteboxVerification": "tck",
    "SubscriptionCall": "_recorded_calls",
    "TestMaybeObserver": "_subscribers",
    "TestObserver": "_subscribers",
    "TestSubscriber": "_subscribers",
    "VirtualScheduler": "_virtual",
    "__version__": "_version",
    "cold": "_marble_sources",
    "doc_marbles_in": "_marbles",
    "expect_marbles": "_marble_sources",
    "format_marbles": "_marbles",
    "hot": "_marble_sources",
    "parse_doc_marbles": "_marbles",
    "parse_marbles": "_marbles",
}

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
    "OperatorVerification",
    "PublisherVerification",
    "RecordedSubscription",
    "Recorder",
    "RecordingPublisher",
    "SubscriberBlackboxVerification",
    "SubscriberWhiteboxVerification",
    "SubscriptionCall",
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


if not TYPE_CHECKING:  # or every misspelt name would have a type

    def __getattr__(name: str) -> Any:
        if name == "tck":
            return import_module("rx_testing.tck")  # ``import rx_testing`` is enough to write rx_testing.tck.verify()
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"rx_testing.{home}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return list({*__all__, *(name for name in globals() if name.startswith("__"))})

"""The TCK over what receives signals: operators as processors, and the subscribers behind callbacks and terminals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from rx_core import CallbackObserver, Subscription
from rx_fusion import ToCompletable, ToMaybe, ToObserver, ToSingle
from rx_ops import Flowable
from rx_schedulers import computation
from rx_testing import (
    IdentityProcessorVerification,
    SubscriberBlackboxVerification,
    TestMaybeObserver,
    TestObserver,
    TestSubscriber,
)
from rx_testing.tck import verify

Build = Callable[[Flowable[Any]], Flowable[Any]]


class Entry:
    """A foreign publisher whose signals are somebody else's."""

    def __init__(self) -> None:
        self.down: Any = None
        self.up: Subscription | None = None
        self.error: Exception | None = None
        self.completed = False

    def subscribe(self, subscriber: Any, /) -> None:
        self.down = subscriber
        if self.up is not None:
            subscriber.on_subscribe(self.up)
        if self.error is not None:
            subscriber.on_error(self.error)
        elif self.completed:
            subscriber.on_complete()


class OperatorProcessor:
    """An operator as a processor for one subscriber: what it subscribes to upstream with is what gets the signals."""

    def __init__(self, build: Build) -> None:
        self.entry = Entry()
        self.flow = build(Flowable.wrap(self.entry))

    def subscribe(self, subscriber: Any, /) -> None:
        self.flow.subscribe(subscriber)

    def on_subscribe(self, subscription: Subscription, /) -> None:
        if self.entry.down is not None:
            self.entry.down.on_subscribe(subscription)
        self.entry.up = self.entry.up or subscription

    def on_next(self, item: Any, /) -> None:
        self.entry.down.on_next(item)

    def on_error(self, error: Exception, /) -> None:
        if self.entry.down is None:
            self.entry.error = error
        else:
            self.entry.down.on_error(error)

    def on_complete(self) -> None:
        if self.entry.down is None:
            self.entry.completed = True
        else:
            self.entry.down.on_complete()


class Operators(IdentityProcessorVerification[int]):
    default_timeout = 5.0
    synchronous = True
    max_supported_subscribers = 1
    multi_subscribe = False
    build: Build

    def create_identity_processor(self, buffer_size: int, /) -> Any:
        return OperatorProcessor(self.build)

    def create_element(self, index: int, /) -> int:
        return index


IDENTITIES: Final[dict[str, Build]] = {
    "wrap": lambda s: s,
    "hide": lambda s: s.hide(),
    "map": lambda s: s.map(lambda x: x),
    "filter": lambda s: s.filter(lambda x: True),
    "flat_map_iterable": lambda s: s.flat_map_iterable(lambda x: (x,)),
    "chain": lambda s: s.map(lambda x: x + 1).filter(lambda x: True).map(lambda x: x - 1),
    "do_finally": lambda s: s.do_finally(lambda: None),
    "flat_map": lambda s: s.flat_map(lambda x: Flowable.just(x)),
    "concat_map": lambda s: s.concat_map(lambda x: Flowable.just(x)),
    "retry": lambda s: s.retry(0),
    "concat": lambda s: Flowable.concat(s, Flowable.empty()),
    "concat around": lambda s: Flowable.concat(Flowable.empty(), s, Flowable.empty()),
    "merge": lambda s: s.merge_with(Flowable.empty()),
    "parallel": lambda s: s.parallel(2).sequential(),
    "parallel ordered": lambda s: s.parallel(2).sequential(ordered=True),
    "group_by": lambda s: s.group_by(lambda x: x % 3).flat_map(lambda group: group),
    "on_backpressure_buffer": lambda s: s.on_backpressure_buffer(),
}

ON_THREADS: Final[dict[str, Build]] = {
    "observe_on": lambda s: s.observe_on(computation()),
    "observe_on narrow": lambda s: s.observe_on(computation(), prefetch=1),
    "observe_on between stages": lambda s: s.map(lambda x: x).observe_on(computation()).filter(lambda x: True),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_operator_as_a_processor(name: str) -> None:
    class Verification(Operators):
        build = staticmethod(IDENTITIES[name])

    verify(Verification).assert_passed()


@pytest.mark.parametrize("name", ON_THREADS)
def test_operator_with_threads_as_a_processor(name: str) -> None:
    class Verification(Operators):
        synchronous = False
        build = staticmethod(ON_THREADS[name])

    verify(Verification).assert_passed()


class Blackbox(SubscriberBlackboxVerification[int]):
    synchronous = True

    def create_element(self, index: int, /) -> int:
        return index


class TestCallbackObserver(Blackbox):
    """What subscribe(on_next, ...) builds."""

    def create_subscriber(self) -> Any:
        return CallbackObserver("test", lambda item: None, lambda error: None, lambda: None)


class TestCallbackObserverWithoutCallbacks(Blackbox):
    def create_subscriber(self) -> Any:
        return CallbackObserver("test", None, lambda error: None, None)


class TestTestSubscriber(Blackbox):
    def create_subscriber(self) -> Any:
        return TestSubscriber[int]()


class TestTestSubscriberByOnes(Blackbox):
    def create_subscriber(self) -> Any:
        return TestSubscriber[int](1, request_in_on_next=1)


class Adapters(Blackbox):
    """From the signals of a run to the observers of the other types. They are given to runs only, which send no None."""

    def _none(self, call: Callable[[], object], what: str) -> None:
        pytest.skip("given to runs only")


class TestToObserver(Adapters):
    def create_subscriber(self) -> Any:
        return ToObserver(TestObserver[int]())


class TestToMaybe(Adapters):
    def create_subscriber(self) -> Any:
        return ToMaybe(TestMaybeObserver[int]())


class TestToSingle(Adapters):
    def create_subscriber(self) -> Any:
        return ToSingle(TestMaybeObserver[int](), "test")


class TestToCompletable(Adapters):
    def create_subscriber(self) -> Any:
        return ToCompletable(TestMaybeObserver[int]())

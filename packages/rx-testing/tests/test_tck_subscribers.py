"""The TCK for subscribers is verified itself: each faulty subscriber fails exactly the tests of the rules it breaks."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from rx_testing import SubscriberBlackboxVerification, SubscriberWhiteboxVerification
from rx_testing.tck import WhiteboxProbe, rule_tests, verify


class Sink:
    """A correct subscriber that takes one element at a time."""

    def __init__(self) -> None:
        self.subscription: Any = None
        self.items: list[Any] = []

    def on_subscribe(self, subscription: Any) -> None:
        if subscription is None:
            raise TypeError("on_subscribe(None)")
        if self.subscription is not None:
            self.second(subscription)
        else:
            self.subscription = subscription
            self.ask()

    def second(self, subscription: Any) -> None:
        subscription.cancel()

    def ask(self) -> None:
        self.subscription.request(1)

    def on_next(self, item: Any) -> None:
        if item is None:
            raise TypeError("on_next(None)")
        self.items.append(item)
        self.ask()

    def on_error(self, error: Any) -> None:
        if error is None:
            raise TypeError("on_error(None)")

    def on_complete(self) -> None: ...


class NeverAsks(Sink):
    def ask(self) -> None: ...


class AsksForNothing(Sink):
    def ask(self) -> None:
        self.subscription.request(0)


class AsksWrongFirst(Sink):
    def ask(self) -> None:
        self.subscription.request(-1)
        self.subscription.request(1)


class CancelsInOnComplete(Sink):
    def on_complete(self) -> None:
        self.subscription.cancel()


class AsksInOnComplete(Sink):
    def on_complete(self) -> None:
        self.ask()


class CancelsInOnError(Sink):
    def on_error(self, error: Any) -> None:
        super().on_error(error)
        self.subscription.cancel()


class AsksInOnError(Sink):
    def on_error(self, error: Any) -> None:
        super().on_error(error)
        self.ask()


class KeepsBoth(Sink):
    def second(self, subscription: Any) -> None: ...


class CancelsTheFirst(Sink):
    def second(self, subscription: Any) -> None:
        self.subscription.cancel()


class TakesTheSecond(Sink):
    def second(self, subscription: Any) -> None:
        self.subscription = subscription
        self.ask()


class RaisesForTheSecond(Sink):
    def second(self, subscription: Any) -> None:
        raise RuntimeError("two of them")


class AsksOnTwoThreads(Sink):
    def on_next(self, item: Any) -> None:
        if item is None:
            raise TypeError
        both = threading.Barrier(2)
        threads = [threading.Thread(target=self.ask_often, args=(both,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def ask_often(self, both: threading.Barrier) -> None:
        """Each call takes a while: a thread that the machine holds back still meets the other one in one of them."""
        both.wait(5)
        for _ in range(30):
            self.ask()


class OnCompleteRaises(Sink):
    def on_complete(self) -> None:
        raise RuntimeError("no")


class OnErrorRaises(Sink):
    def on_error(self, error: Any) -> None:
        super().on_error(error)
        raise RuntimeError("no")


class OnNextRaises(Sink):
    def on_next(self, item: Any) -> None:
        super().on_next(item)
        raise RuntimeError("no")


class OnSubscribeTakesNone(Sink):
    def on_subscribe(self, subscription: Any) -> None:
        if subscription is not None:
            super().on_subscribe(subscription)


class OnNextTakesNone(Sink):
    def on_next(self, item: Any) -> None:
        if item is not None:
            super().on_next(item)


class OnErrorTakesNone(Sink):
    def on_error(self, error: Any) -> None: ...


class NoneIsAnotherError(Sink):
    def on_next(self, item: Any) -> None:
        if item is None:
            raise ValueError("None")
        super().on_next(item)


class Waiting(Sink):
    """Correct: asks only when it is told to."""

    told = False

    def ask(self) -> None:
        if self.told:
            super().ask()


class EndsBadlyWithoutRequest(Waiting):
    def on_complete(self) -> None:
        if not self.told:
            raise RuntimeError("nothing was requested")

    def on_error(self, error: Any) -> None:
        super().on_error(error)
        if not self.told:
            raise RuntimeError("nothing was requested")


class EndsBadlyAfterRequest(Waiting):
    def on_complete(self) -> None:
        if self.told:
            raise RuntimeError("something was requested")

    def on_error(self, error: Any) -> None:
        super().on_error(error)
        if self.told:
            raise RuntimeError("something was requested")


class Blackbox(SubscriberBlackboxVerification[int]):
    default_timeout = 1.0
    synchronous = True
    kind: type[Sink] = Sink

    def create_subscriber(self) -> Any:
        return self.kind()

    def create_element(self, index: int) -> int:
        return index

    def trigger_request(self, subscriber: Any) -> None:
        if isinstance(subscriber, Waiting):
            subscriber.told = True
            subscriber.ask()


class TestSink(Blackbox): ...


class TestWaiting(Blackbox):
    kind = Waiting


BLACKBOX = (
    (NeverAsks, "spec201"),
    (AsksForNothing, "spec201"),
    (AsksWrongFirst, "spec201"),
    (CancelsInOnComplete, "publisher_in_on_complete"),
    (AsksInOnComplete, "publisher_in_on_complete"),
    (CancelsInOnError, "publisher_in_on_error"),
    (AsksInOnError, "publisher_in_on_error"),
    (KeepsBoth, "spec205"),
    (CancelsTheFirst, "spec205"),
    (TakesTheSecond, "spec205"),
    (RaisesForTheSecond, "spec205"),
    (AsksOnTwoThreads, "spec207"),
    (OnCompleteRaises, "on_complete_signal_with_ on_complete_signal_without"),
    (OnErrorRaises, "on_error_signal_with_ on_error_signal_without"),
    (EndsBadlyWithoutRequest, "on_complete_signal_without on_error_signal_without"),
    (EndsBadlyAfterRequest, "on_complete_signal_with_ on_error_signal_with_"),
    (OnNextRaises, "signals_must_return"),
    (OnSubscribeTakesNone, "on_subscribe_must_throw"),
    (OnNextTakesNone, "on_next_must_throw"),
    (NoneIsAnotherError, "on_next_must_throw"),
    (OnErrorTakesNone, "on_error_must_throw"),
)


@pytest.mark.parametrize(("faulty", "fails"), BLACKBOX, ids=lambda value: getattr(value, "__name__", None))
def test_a_faulty_subscriber_fails_exactly_the_rules_it_breaks(faulty: type[Sink], fails: str) -> None:
    class Verification(Blackbox):
        kind = faulty

    assert set(verify(Verification, seconds=5).failed) == named(Verification, fails)


def named(kind: type[Any], parts: str) -> set[str]:
    found = set()
    for part in parts.split():
        (name,) = [name for name in rule_tests(kind) if part in name and "untested" not in name]
        found.add(name)
    return found


# -- with a probe ------------------------------------------------------------------------------------------------------


class Open(Sink):
    """A correct subscriber that does what its puppet says and tells the probe."""

    def __init__(self, probe: WhiteboxProbe[Any]) -> None:
        super().__init__()
        self.probe = probe

    def on_subscribe(self, subscription: Any) -> None:
        first = self.subscription is None
        super().on_subscribe(subscription)
        if first:
            self.probe.register_on_subscribe(self)

    def ask(self) -> None: ...

    def trigger_request(self, n: int) -> None:
        self.subscription.request(n)

    def signal_cancel(self) -> None:
        self.subscription.cancel()

    def on_next(self, item: Any) -> None:
        super().on_next(item)
        self.probe.register_on_next(item)

    def on_error(self, error: Any) -> None:
        super().on_error(error)
        self.probe.register_on_error(error)

    def on_complete(self) -> None:
        super().on_complete()
        self.probe.register_on_complete()


class NeverRequests(Open):
    def trigger_request(self, n: int) -> None: ...


class RequestsLess(Open):
    def trigger_request(self, n: int) -> None:
        self.subscription.request(1)


class RequestsWrongToo(Open):
    def trigger_request(self, n: int) -> None:
        self.subscription.request(-n)
        super().trigger_request(n)


class NeverCancels(Open):
    def signal_cancel(self) -> None: ...


class NotPreparedForMore(Open):
    cancelled = False

    def signal_cancel(self) -> None:
        self.cancelled = True
        super().signal_cancel()

    def on_next(self, item: Any) -> None:
        if self.cancelled:
            raise RuntimeError("cancelled")
        super().on_next(item)


class RaisesAfterAll(Open):
    def on_next(self, item: Any) -> None:
        super().on_next(item)
        if len(self.items) < 2:
            raise RuntimeError("no")


class LosesElements(Open):
    def on_next(self, item: Any) -> None:
        Sink.on_next(self, item)
        if item != 1:
            self.probe.register_on_next(item)


class LosesCompletion(Open):
    def on_complete(self) -> None: ...


class LosesErrors(Open):
    def on_error(self, error: Any) -> None:
        Sink.on_error(self, error)


class ReplacesErrors(Open):
    def on_error(self, error: Any) -> None:
        Sink.on_error(self, error)
        self.probe.register_on_error(RuntimeError("something"))


class OpenKeepsBoth(Open):
    def second(self, subscription: Any) -> None: ...


class OpenCancelsInTheEnd(Open):
    def on_complete(self) -> None:
        super().on_complete()
        self.subscription.cancel()


class OpenAsksInOnError(Open):
    def on_error(self, error: Any) -> None:
        super().on_error(error)
        self.subscription.request(1)


class OpenTakesNone(Open):
    def on_next(self, item: Any) -> None:
        if item is not None:
            super().on_next(item)


class Whitebox(SubscriberWhiteboxVerification[int]):
    default_timeout = 1.0
    synchronous = True
    kind: type[Open] = Open

    def create_subscriber(self, probe: WhiteboxProbe[int]) -> Any:
        return self.kind(probe)

    def create_element(self, index: int) -> int:
        return index


class TestOpen(Whitebox): ...


class TestOpenWithTime(Whitebox):
    synchronous = False


WHITEBOX = (
    (NeverRequests, "happy spec201 spec308"),
    (RequestsLess, "spec308"),
    (RequestsWrongToo, "spec201"),
    (OpenCancelsInTheEnd, "publisher_in_on_complete"),
    (OpenAsksInOnError, "publisher_in_on_error"),
    (OpenKeepsBoth, "spec205"),
    (NeverCancels, "spec206"),
    (NotPreparedForMore, "spec208"),
    (RaisesAfterAll, "spec213_signals"),
    (LosesElements, "happy"),
    (LosesCompletion, "happy on_complete_signal_with_ on_complete_signal_without"),
    (LosesErrors, "on_error_signal_with_ on_error_signal_without"),
    (ReplacesErrors, "on_error_signal_with_ on_error_signal_without"),
    (OpenTakesNone, "on_next_must_throw"),
)


@pytest.mark.parametrize(("faulty", "fails"), WHITEBOX, ids=lambda value: getattr(value, "__name__", None))
def test_a_faulty_subscriber_with_a_probe_fails_exactly_the_rules_it_breaks(faulty: type[Open], fails: str) -> None:
    class Verification(Whitebox):
        kind = faulty

    assert set(verify(Verification, seconds=5).failed) == named(Verification, fails)

"""The TCK for publishers is verified itself: each faulty publisher fails exactly the tests of the rules it breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import tck_parties as parties
from looking_again import found
from tck_parties import Counting, Failed, Numbers, Threaded, ThreadedNumbers

from rx_testing import PublisherVerification
from rx_testing.tck import RULES, IdentityProcessorVerification, SubscriberBlackboxVerification, rule_tests, verify


class TestNumbers(PublisherVerification[int]):
    synchronous = True

    def create_publisher(self, elements: int) -> Any:
        return Numbers(elements)

    def create_failed_publisher(self) -> Any:
        return Failed()


class TestThreadedNumbers(TestNumbers):
    synchronous = False

    def create_publisher(self, elements: int) -> Any:
        return ThreadedNumbers(elements)


class TestShortStreams(TestNumbers):
    max_elements_from_publisher = 1
    multi_subscribe = False


# -- faulty publishers -------------------------------------------------------------------------------------------------


class OneUnasked(Numbers):
    def subscribe(self, subscriber: Any) -> None:
        if subscriber is None:
            raise TypeError
        subscription = Counting(subscriber, self.count)
        subscriber.on_subscribe(subscription)
        subscription.add(1)
        subscription.emit()


class ThreeAreFour(Numbers):
    def __init__(self, count: int) -> None:
        super().__init__(4 if count == 3 else count)


class OneIsTwo(Numbers):
    def __init__(self, count: int) -> None:
        super().__init__(2 if count == 1 else count)


class EmptyNeverCompletes(Numbers):
    def subscribe(self, subscriber: Any) -> None:
        Numbers(self.count, Counting if self.count else parties.NeverCompletes).subscribe(subscriber)


class SubscribeRaises(Numbers):
    def subscribe(self, subscriber: Any) -> None:
        super().subscribe(subscriber)
        raise RuntimeError("no")


class NoOnSubscribe(Numbers):
    def subscribe(self, subscriber: Any) -> None:
        if subscriber is None:
            raise TypeError
        for number in range(self.count):
            subscriber.on_next(number)


class ElementFirst(Numbers):
    def subscribe(self, subscriber: Any) -> None:
        if subscriber is None:
            raise TypeError
        subscriber.on_next(-1)
        super().subscribe(subscriber)


class OnSubscribeTwice(Numbers):
    def subscribe(self, subscriber: Any) -> None:
        super().subscribe(subscriber)
        subscriber.on_subscribe(Counting(subscriber, 0))


class TakesNone(Numbers):
    def subscribe(self, subscriber: Any) -> None:
        if subscriber is not None:
            super().subscribe(subscriber)


class NoneIsAValueError(Numbers):
    def subscribe(self, subscriber: Any) -> None:
        if subscriber is None:
            raise ValueError("None")
        super().subscribe(subscriber)


class ForgetsEarlyRequests(Numbers):
    def subscribe(self, subscriber: Any) -> None:
        if subscriber is None:
            raise TypeError
        subscription = parties.ForgetsRequestsFromOnSubscribe(subscriber, self.count)
        subscriber.on_subscribe(subscription)
        subscription.opened, subscription.demand = True, 0
        if self.count == 0:
            subscription.emit()


class KeepsSubscribers(Numbers):
    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.kept: list[Any] = []

    def subscribe(self, subscriber: Any) -> None:
        super().subscribe(subscriber)
        self.kept.append(subscriber)


class OnlyOnce(Numbers):
    used = False

    def subscribe(self, subscriber: Any) -> None:
        if self.used:
            raise RuntimeError("only once")
        super().subscribe(subscriber)
        self.used = True


class RejectsTheSecond(Numbers):
    """Unicast, as it may be."""

    used = False

    def subscribe(self, subscriber: Any) -> None:
        if self.used:
            Failed().subscribe(subscriber)
        else:
            super().subscribe(subscriber)
            self.used = True


class Dealing(Numbers):
    """Subscribers take from one iterator."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        items: Iterator[int] = iter(range(count))

        class Taking(Counting):
            def item(self) -> Any:
                return next(items, 0)

        self.kind = Taking


class LaterIsDifferent(Numbers):
    def __init__(self, count: int) -> None:
        super().__init__(count)
        runs = iter(range(100))

        class Shifted(Counting):
            def __init__(self, down: Any, count: int) -> None:
                super().__init__(down, count)
                self.run = next(runs)

            def item(self) -> Any:
                return super().item() + self.run

        self.kind = Shifted


class FailedRaises:
    def subscribe(self, subscriber: Any) -> None:
        raise RuntimeError("failed")


class FailedWithoutOnSubscribe:
    def subscribe(self, subscriber: Any) -> None:
        subscriber.on_error(RuntimeError("failed"))


class FailedCompletes:
    def subscribe(self, subscriber: Any) -> None:
        Numbers(0).subscribe(subscriber)


class FailedIsSilent:
    def subscribe(self, subscriber: Any) -> None:
        subscriber.on_subscribe(Counting(subscriber, 1))


class FailedTwice(Failed):
    def subscribe(self, subscriber: Any) -> None:
        super().subscribe(subscriber)
        subscriber.on_error(RuntimeError("again"))


class FailedGoesOn:
    def subscribe(self, subscriber: Any) -> None:
        subscriber.on_subscribe(Counting(subscriber, 3))
        subscriber.on_error(RuntimeError("failed"))


# -- the table ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    make: Callable[[int], Any]
    #: Parts of the names of the tests that fail, each of one test.
    fails: str
    failed: Callable[[], Any] = Failed
    threaded: bool = False
    #: A test that takes longer hangs.
    seconds: float = 5.0
    #: What is waited for something that must come; short only where it does not come.
    patience: float = 1.0

    @property
    def name(self) -> str:
        kind = self.failed if self.failed is not Failed else self.make
        return str(getattr(kind, "fault", None) or getattr(kind, "__name__", ""))


def subscription(kind: type[Counting]) -> Callable[[int], Any]:
    def make(count: int) -> Any:
        return ThreadedNumbers(count, kind) if issubclass(kind, Threaded) else Numbers(count, kind)

    make.fault = kind.__name__  # type: ignore[attr-defined]
    return make


ZERO, NEGATIVE, REFERS = "spec309_request_zero", "spec309_request_negative", "spec309_the_error"
NOT_ABOVE, PENDING, CUMULATIVE = "spec317_must_not_signal", "spec317_must_support_a_pending", "spec317_must_support_a_cumulative"
FINITE, EMPTY = "required_spec105", "optional_spec105"
ONES, UPFRONT, WHOLE = "requesting_one_by_one", "requesting_many_upfront", "complete_as_expected"
REJECT, FIRST, NONE, NORMALLY = "spec109_may_reject", "spec109_must_issue", "spec109_subscribe_throw", "spec109_subscribe_must"

# fmt: off
FAULTS = (
    Fault(subscription(parties.OneTooMany), "spec101"),
    Fault(OneUnasked, "spec101"),
    Fault(subscription(parties.LateExtra), "spec101", threaded=True),
    Fault(subscription(parties.OneTooFew), f"spec101 spec308 {UPFRONT}"),
    Fault(subscription(parties.NeverCompletes), f"spec102 {FINITE} {EMPTY}"),
    Fault(subscription(parties.SilentThread), f"spec102 {FINITE} {EMPTY}", threaded=True, patience=0.3),
    Fault(EmptyNeverCompletes, EMPTY),
    Fault(subscription(parties.EndsWithError), f"{FINITE} {EMPTY}"),
    Fault(subscription(parties.EmitsOnEveryThread), "spec103"),
    Fault(subscription(parties.NotWaitingForOnSubscribe), "spec103", threaded=True),
    Fault(Numbers, "spec104 spec109_may_reject", FailedRaises),
    Fault(Numbers, "spec104", FailedCompletes),
    Fault(Numbers, "spec104", FailedIsSilent),
    Fault(Numbers, REJECT, FailedWithoutOnSubscribe),
    Fault(Numbers, "optional_spec107", FailedTwice),
    Fault(Numbers, "optional_spec107", FailedGoesOn),
    Fault(subscription(parties.CompletesTwice), "required_spec107"),
    Fault(subscription(parties.GoesOnAfterTheEnd), "required_spec107"),
    Fault(subscription(parties.FailsAfterTheEnd), "required_spec107"),
    Fault(subscription(parties.AnswersAfterTheEnd), "required_spec107"),
    Fault(NoOnSubscribe, FIRST),
    Fault(ElementFirst, FIRST),
    Fault(OnSubscribeTwice, FIRST),
    Fault(SubscribeRaises, NORMALLY),
    Fault(TakesNone, NONE),
    Fault(NoneIsAValueError, NONE),
    Fault(OnlyOnce, f"spec111_may spec111_registered {ONES} {UPFRONT} {WHOLE}"),
    Fault(RejectsTheSecond, ""),
    Fault(Dealing, f"{ONES} {UPFRONT} {WHOLE}"),
    Fault(LaterIsDifferent, f"{ONES} {UPFRONT} {WHOLE}"),
    Fault(subscription(parties.SendsNone), "spec213"),
    Fault(ForgetsEarlyRequests, "spec302"),
    Fault(subscription(parties.ForgetsRequestsFromOnNext), f"spec302 spec308 {CUMULATIVE} {NOT_ABOVE}"),
    Fault(subscription(parties.Recursive), "spec303"),
    Fault(subscription(parties.CancelWaits), "required_spec305"),
    Fault(subscription(parties.CancelHasOneThread), "required_spec305"),
    Fault(subscription(parties.RequestAwakens), "spec306"),
    Fault(subscription(parties.RequestFailsAfterCancel), "spec306"),
    Fault(subscription(parties.RequestRaisesAfterCancel), "spec306"),
    Fault(subscription(parties.ChecksDemandAfterCancel), "spec306"),
    Fault(subscription(parties.SecondCancelRaises), "spec307"),
    Fault(subscription(parties.SecondCancelCompletes), "spec307"),
    Fault(subscription(parties.DemandIsReplaced), "spec308"),
    Fault(subscription(parties.ZeroIsNothing), ZERO),
    Fault(subscription(parties.NegativeIsNothing), NEGATIVE),
    Fault(subscription(parties.WrongRequestRaises), f"{ZERO} {NEGATIVE}"),
    Fault(subscription(parties.WrongRequestIsAnotherError), f"{ZERO} {NEGATIVE}"),
    Fault(subscription(parties.WrongRequestCompletes), f"{ZERO} {NEGATIVE}"),
    Fault(subscription(parties.WrongRequestWithoutRule), REFERS),
    Fault(subscription(parties.CancelDoesNothing), "spec306 spec312"),
    Fault(subscription(parties.CancelIsSeenLate), "spec312"),
    Fault(KeepsSubscribers, "spec313"),
    Fault(subscription(parties.CancelRaises), "required_spec315"),
    Fault(subscription(parties.RequestRaises), "required_spec316"),
    Fault(subscription(parties.SmallNumbers), f"{PENDING} {CUMULATIVE} {NOT_ABOVE}"),
    Fault(subscription(parties.TooMuchIsAnError), NOT_ABOVE),
    Fault(subscription(parties.WrapsAround), NOT_ABOVE),
    Fault(ThreeAreFour, "create_publisher3"),
    Fault(OneIsTwo, "create_publisher1"),
    Fault(subscription(parties.Deadlock), f"spec302 spec303 spec308 {CUMULATIVE} {NOT_ABOVE}", seconds=0.5),
)
# fmt: on


def run(fault: Fault) -> set[str]:
    class Verification(PublisherVerification[int]):
        default_timeout = fault.patience
        no_signals_timeout = 0.05
        synchronous = not fault.threaded

        def create_publisher(self, elements: int) -> Any:
            return fault.make(elements)

        def create_failed_publisher(self) -> Any:
            return fault.failed()

    return set(verify(Verification, seconds=fault.seconds).failed)


def named(parts: str) -> set[str]:
    named_rules = set()
    for part in parts.split():
        (name,) = [name for name in rule_tests(PublisherVerification) if part in name and "untested" not in name]
        named_rules.add(name)
    return named_rules


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_faulty_publisher_fails_exactly_the_rules_it_breaks(fault: Fault) -> None:
    expected = named(fault.fails)
    assert found(lambda: run(fault), expected) == expected


def test_an_endless_loop_is_stopped() -> None:
    failed = run(Fault(subscription(parties.NeverEnds), ""))
    assert {"test_required_spec101", "test_required_spec312"} <= {name[:21] for name in failed}


def test_every_rule_has_a_test() -> None:
    kinds = (PublisherVerification, SubscriberBlackboxVerification, IdentityProcessorVerification)
    names = [name for kind in kinds for name in rule_tests(kind)]
    missing = [rule for rule in RULES if not any(f"spec{_number(rule)}_" in name for name in names)]
    assert missing == []


def _number(rule: str) -> str:
    section, number = rule.split(".")
    return f"{section}{int(number):02}"


def test_what_is_untested_says_why() -> None:
    untested = [name for name in rule_tests(PublisherVerification) if "untested" in name]
    result = verify(TestNumbers)
    assert not result.failed
    assert all(result.skipped[name].startswith("not verified: ") for name in untested)
    assert len(result.skipped) == len(untested)


def test_a_failure_says_what_happened() -> None:
    class Verification(TestNumbers):
        def create_publisher(self, elements: int) -> Any:
            return Numbers(elements, parties.OneTooMany)

    (error,) = verify(Verification).failed.values()
    assert str(error).startswith("§1.1: a publisher sends no more items")
    assert "signals: on_subscribe, on_next(0), on_next(1); requested 1" in str(error)

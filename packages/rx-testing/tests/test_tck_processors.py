"""The TCK for processors is verified itself: each faulty processor fails exactly the tests of the rules it breaks."""

from __future__ import annotations

from typing import Any

import pytest

from rx_testing import IdentityProcessorVerification
from rx_testing.tck import rule_tests, verify


class Relay:
    """A correct processor for any number of subscribers: the slowest one decides what is requested.

    ::  --1-2--3|  -->  --1-2--3|
    """

    def __init__(self) -> None:
        self.up: Any = None
        self.ends: list[End] = []
        self.asked = self.got = 0
        self.ended = False
        self.error: Any = None
        self.busy = False

    # the subscriber

    def on_subscribe(self, subscription: Any) -> None:
        if subscription is None:
            raise TypeError
        if self.up is not None:
            self.second(subscription)
            return
        self.up = subscription
        self.ask()

    def second(self, subscription: Any) -> None:
        subscription.cancel()

    def on_next(self, item: Any) -> None:
        if item is None:
            raise TypeError
        self.got += 1
        for end in list(self.ends):
            end.on_next(item)

    def on_error(self, error: Any) -> None:
        if error is None:
            raise TypeError
        self.error = error
        self.on_complete()

    def on_complete(self) -> None:
        self.ended = True
        ends, self.ends = self.ends, []
        for end in ends:
            end.finish(self.error)

    # the publisher

    def subscribe(self, subscriber: Any) -> None:
        if subscriber is None:
            raise TypeError
        end = End(self, subscriber)
        subscriber.on_subscribe(end)
        if end.over:
            return
        if self.ended:
            end.finish(self.error)
        else:
            self.ends.append(end)
            self.ask()

    def ask(self) -> None:
        """Request what all subscribers want: nobody is overrun, nobody is forgotten."""
        if self.up is None or not self.ends or self.busy:
            return
        self.busy = True  # a request made inside request is seen by the loop
        try:
            while self.ends and (missing := self.wanted() - self.asked) > 0:
                self.asked += missing
                self.up.request(missing)
        finally:
            self.busy = False

    def wanted(self) -> int:
        return self.got + min(end.demand for end in self.ends)

    def left(self, end: End) -> None:
        if end in self.ends:
            self.ends.remove(end)
            if not self.ends and self.up is not None:
                self.up.cancel()


class End:
    """One subscriber of a Relay."""

    def __init__(self, relay: Relay, down: Any) -> None:
        self.relay, self.down = relay, down
        self.demand = 0
        self.over = False

    def on_next(self, item: Any) -> None:
        if not self.over:
            self.demand -= 1
            self.down.on_next(item)

    def finish(self, error: Any) -> None:
        if not self.over:
            self.over = True
            if error is None:
                self.down.on_complete()
            else:
                self.down.on_error(error)

    def request(self, n: int) -> None:
        if self.over:
            return
        if n < 1:
            self.relay.left(self)
            self.finish(ValueError(f"§3.9: request({n})"))
            return
        self.demand += n
        self.relay.ask()

    def cancel(self) -> None:
        self.over = True
        self.down = None
        self.relay.left(self)


# -- faulty ------------------------------------------------------------------------------------------------------------


class SwallowsErrors(Relay):
    def on_error(self, error: Any) -> None:
        if error is None:
            raise TypeError
        self.ends = []


class ErrorsBecomeCompletion(Relay):
    def on_error(self, error: Any) -> None:
        if error is None:
            raise TypeError
        self.on_complete()


class WrapsErrors(Relay):
    def on_error(self, error: Any) -> None:
        super().on_error(error and RuntimeError("wrapped"))


class ErrorsWaitForDemand(Relay):
    waiting: Any = None

    def on_error(self, error: Any) -> None:
        if error is not None and self.ends and not any(end.demand for end in self.ends):
            self.waiting = error
        else:
            super().on_error(error)

    def ask(self) -> None:
        if self.waiting is not None:
            super().on_error(self.waiting)
        super().ask()


class TellsOnlyTheFirst(Relay):
    def on_error(self, error: Any) -> None:
        del self.ends[1:]
        super().on_error(error)


class AsksOnce(Relay):
    def wanted(self) -> int:
        return min(super().wanted(), 12)


class AsksForTooMuch(Relay):
    def wanted(self) -> int:
        return super().wanted() + 5


class SwallowsCompletion(Relay):
    def on_complete(self) -> None:
        if self.error is not None:
            super().on_complete()


class TakesBothSubscriptions(Relay):
    def second(self, subscription: Any) -> None: ...


class TakesNoneElements(Relay):
    def on_next(self, item: Any) -> None:
        if item is not None:
            super().on_next(item)


class DropsElements(Relay):
    def on_next(self, item: Any) -> None:
        if item == 20:
            self.asked -= 1
            self.ask()
        else:
            super().on_next(item)


class CancelsInOnComplete(Relay):
    def on_complete(self) -> None:
        super().on_complete()
        if self.up is not None and self.error is None:
            self.up.cancel()


class NeverCancels(Relay):
    """Allowed: that cancellation goes upstream is only a good idea."""

    def left(self, end: End) -> None:
        if end in self.ends:
            self.ends.remove(end)


class Processors(IdentityProcessorVerification[int]):
    default_timeout = 1.0
    synchronous = True
    kind: type[Relay] = Relay

    def create_identity_processor(self, buffer_size: int) -> Any:
        return self.kind()

    def create_element(self, index: int) -> int:
        return index


class TestRelay(Processors): ...


class TestRelayWithTime(Processors):
    synchronous = False


FAULTS = (
    (SwallowsErrors, "optional_spec104 required_spec104 spec402 on_error_signal_with_ on_error_signal_without"),
    (ErrorsBecomeCompletion, "optional_spec104 required_spec104 spec402 on_error_signal_with_ on_error_signal_without"),
    (WrapsErrors, "spec402 on_error_signal_with_ on_error_signal_without"),
    (ErrorsWaitForDemand, "spec402 on_error_signal_without"),
    (TellsOnlyTheFirst, "required_spec104"),
    (AsksOnce, "long_ago"),
    (AsksForTooMuch, "spec101_subscription spec101_must_not one_by_one many_upfront complete_as_expected"),
    (
        SwallowsCompletion,
        "optional_spec105 happy spec102 spec105_must_pass spec105_must_signal"
        " on_complete_signal_with_ on_complete_signal_without",
    ),
    (TakesBothSubscriptions, "spec205"),
    (TakesNoneElements, "on_next_must_throw"),
    (DropsElements, "long_ago"),
    (CancelsInOnComplete, "in_on_complete"),
    (NeverCancels, ""),
)


@pytest.mark.parametrize(("faulty", "fails"), FAULTS, ids=lambda value: getattr(value, "__name__", None))
def test_a_faulty_processor_fails_exactly_the_rules_it_breaks(faulty: type[Relay], fails: str) -> None:
    class Verification(Processors):
        kind = faulty

    expected = set()
    for part in fails.split():
        (name,) = [name for name in rule_tests(Verification) if part in name and "untested" not in name]
        expected.add(name)
    assert set(verify(Verification, seconds=5).failed) == expected

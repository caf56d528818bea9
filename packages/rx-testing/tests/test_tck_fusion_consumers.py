"""The fusion TCK is verified itself: each faulty consumer fails exactly what it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from fusion_parties import Relay, on_a_thread
from looking_again import found

from rx_core.queue_fusion import ANY, ASYNC, NONE, SYNC
from rx_testing.tck import FUSION_RULES, FusedConsumerVerification, FusedPublisherVerification, rule_tests, verify

# -- faulty consumers --------------------------------------------------------------------------------------------------


class AsksLater(Relay):
    class Link(Relay.Link):
        def ask(self) -> None:
            on_a_thread(super().ask)


class AsksForNothing(Relay):
    wanted = NONE


class AsksTwice(Relay):
    class Link(Relay.Link):
        def ask(self) -> None:
            super().ask()
            if self.mode:
                self.up.request_fusion(self.mode)


class RequestsInSync(Relay):
    class Link(Relay.Link):
        def ask(self) -> None:
            super().ask()
            self.up.request(1)


class PollsAfterCancel(Relay):
    class Link(Relay.Link):
        def leave(self) -> None:
            up = self.up
            super().leave()
            if self.mode:
                up.poll()


class SeveralPoll(Relay):
    """Stands for a second thread that is inside poll() at the time."""

    class Link(Relay.Link):
        def next(self) -> Any:
            if not self.mode:
                return super().next()
            self.up._polling[-1] = None
            try:
                return self.up.poll()
            finally:
                self.up._polling.pop(-1, None)


class DropsTheFirst(Relay):
    class Link(Relay.Link):
        dropped = False

        def next(self) -> Any:
            if self.mode and not self.dropped:
                self.dropped = True
                self.up.poll()
            return super().next()


class SwallowsErrorsOfPoll(Relay):
    class Link(Relay.Link):
        def next(self) -> Any:
            try:
                return super().next()
            except Exception:
                return None


class NeverCancels(Relay):
    class Link(Relay.Link):
        def leave(self) -> None:
            self.up = None


class PollsElsewhere(Relay):
    class Link(Relay.Link):
        def ask(self) -> None:
            if hasattr(self.up, "request_fusion"):
                self.mode = self.up.request_fusion(ANY)

        def next(self) -> Any:
            if not self.mode:
                return super().next()
            got: list[Any] = []
            failed: list[Exception] = []

            def poll() -> None:
                try:
                    got.append(self.up.poll())
                except Exception as error:
                    failed.append(error)

            on_a_thread(poll)
            if failed:
                raise failed[0]
            return got[0]


class PollsAlthoughRefused(Relay):
    class Link(Relay.Link):
        def ask(self) -> None:
            super().ask()
            if self.mode == NONE:
                self.mode = SYNC


class TakesNotices(Relay):
    class Link(Relay.Link):
        def on_next(self, item: Any) -> None:
            if self.mode == ASYNC:
                self.down.on_next(item)
            super().on_next(item)


class EndsAtOnce(Relay):
    class Link(Relay.Link):
        def on_complete(self) -> None:
            self.up = None
            self.down.on_complete()

        def on_error(self, error: Exception) -> None:
            self.up = None
            self.down.on_error(error)


class NeverReplenishes(Relay):
    class Link(Relay.Link):
        def replenish(self) -> None:
            pass


class IgnoresDemand(Relay):
    class Link(Relay.Link):
        def work(self) -> None:
            self.demand += 1
            super().work()


@dataclass(frozen=True)
class ConsumerFault:
    kind: type[Relay]
    fails: str

    @property
    def name(self) -> str:
        return self.kind.__name__


CONSUMERS = (
    ConsumerFault(AsksLater, "c1_"),
    ConsumerFault(AsksForNothing, "c1_"),
    ConsumerFault(AsksTwice, "c1_"),
    ConsumerFault(RequestsInSync, "c2"),
    ConsumerFault(PollsAfterCancel, "c3_must_not c6"),
    ConsumerFault(SeveralPoll, "c3_must_not c3_must_poll c6"),
    ConsumerFault(DropsTheFirst, "c3_must_poll c4_async c4_sync_must_pass c4_sync_must_give c5 c10"),
    ConsumerFault(SwallowsErrorsOfPoll, "c5"),
    ConsumerFault(NeverCancels, "c6"),
    ConsumerFault(PollsElsewhere, "c7"),
    ConsumerFault(PollsAlthoughRefused, "c8"),
    ConsumerFault(TakesNotices, "c4_async c9 c10"),
    ConsumerFault(EndsAtOnce, "c4_async c8 c10"),
    ConsumerFault(NeverReplenishes, "c4_async_must_request"),
    ConsumerFault(IgnoresDemand, "c4_sync_must_give"),
)


@pytest.mark.parametrize("fault", CONSUMERS, ids=lambda fault: fault.name)
def test_a_faulty_consumer_fails_exactly_the_rules_it_breaks(fault: ConsumerFault) -> None:
    class Verification(FusedConsumerVerification):
        default_timeout = 0.5
        synchronous = True

        def create_operator(self, source: Any) -> Any:
            return fault.kind(source)

    expected = named(FusedConsumerVerification, fault.fails)
    assert found(lambda: set(verify(Verification, seconds=5.0).failed), expected) == expected


def named(kind: type[Any], parts: str) -> set[str]:
    named_rules = set()
    for part in parts.split():
        names = {name for name in rule_tests(kind) if f"_{part}" in name}
        assert names, part
        named_rules |= names
    return named_rules


def test_every_rule_of_fusion_has_a_test() -> None:
    names = [*rule_tests(FusedPublisherVerification), *rule_tests(FusedConsumerVerification)]
    assert [rule for rule in FUSION_RULES if not any(f"_{rule.lower()}_" in name for name in names)] == []

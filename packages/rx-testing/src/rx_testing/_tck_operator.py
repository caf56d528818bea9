"""What an operator sends its sources: the rules of §2 and §3 for the subscriber inside it, over a list of scripts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import pytest

from rx_testing._recorded_calls import RuleViolation
from rx_testing._recording_publisher import RecordingPublisher
from rx_testing._tck_env import Verification
from rx_testing._tck_operator_play import Play
from rx_testing._tck_operator_scripts import OperatorScript, meeting_script, one_source_scripts, two_source_scripts

if TYPE_CHECKING:
    from rx_core import Publisher
    from rx_testing._subscribers import TestSubscriber

#: How many of the violations of one rule a message shows.
_SHOWN: Final = 8


class UpstreamRules(Verification):
    """What verifications of operators with one and with two sources share."""

    #: True for operators that subscribe again to a source that has ended (repeat, retry): otherwise that is a call of the
    #: publisher inside its end (§2.3).
    resubscribes: bool = False
    #: True for operators whose source goes on without a subscriber on purpose (cache, auto_connect): skips §2.6.
    keeps_sources: bool = False
    #: False for endings that request everything by themselves: only scripts with unbounded demand are played.
    takes_demand: bool = True
    #: What failing sources fail with.
    error: Exception = RuntimeError("the error of the TCK")

    _sources: int
    _played: Play
    _found: list[RuleViolation]

    @abstractmethod
    def _create(self, sources: Sequence[Publisher[int]]) -> Publisher[object]: ...

    @abstractmethod
    def _scripts(self) -> Iterator[OperatorScript]: ...

    def subscribe(self, publisher: Publisher[object], downstream: TestSubscriber[object], /) -> None:
        """Subscribe ``downstream`` to the operator's publisher. To be overridden for endings that are no subscribers."""
        publisher.subscribe(downstream)

    def inner(self, items: Sequence[int], /, *, error: Exception | None = None, ends: bool = True) -> RecordingPublisher[int]:
        """A source to be subscribed inside the operator under test, as flat_map's function returns it: recorded and judged, too.

        It sends ``items`` at the pace of the script's last source.
        """
        return self._played.new_inner(items, error, ends)

    def violations(self) -> list[RuleViolation]:
        """All that is wrong, over all scripts, each with its rule and its script."""
        found: list[RuleViolation] = []
        for script in self._scripts():
            if self.takes_demand or script.down.unbounded:
                found += Play(self, script).run()
        if self.takes_demand:
            found += Play(self, meeting_script(self._sources)).meet()
        return found

    def _build(self, play: Play, sources: Sequence[Publisher[int]]) -> Publisher[object]:
        self._played = play
        return self._create(sources)

    def _none(self, rule: str) -> None:
        __tracebackhide__ = True
        kind = type(self)
        found: list[RuleViolation] | None = kind.__dict__.get("_found")
        if found is None:
            found = kind._found = self.violations()  # once for all tests of a class, each of which has its own instance
        broken = [each for each in found if each.rule == rule]
        if broken:
            shown = "\n  ".join(f"{each.text} [{each.script}]" for each in broken[:_SHOWN])
            self.env.fail(rule, shown if len(broken) <= _SHOWN else f"{shown}\n  and {len(broken) - _SHOWN} more")

    # the rules --------------------------------------------------------------------------------------------------------

    def test_required_spec101_must_not_send_more_than_was_requested(self) -> None:
        """The subscriber of the operator gets no more items than it has requested so far."""
        self._none("1.1")

    def test_required_spec107_must_not_signal_after_the_end(self) -> None:
        """Nothing comes downstream after on_complete or on_error, whatever the sources do then."""
        self._none("1.7")

    def test_required_spec109_must_call_on_subscribe_first_and_return_normally(self) -> None:
        """subscribe() raises nothing, and on_subscribe precedes everything."""
        self._none("1.9")

    def test_required_spec203_must_not_call_the_subscription_or_the_publisher_inside_its_end(self) -> None:
        """Neither request nor cancel nor subscribe inside the source's own on_complete or on_error."""
        self._none("2.3")

    def test_required_spec204_must_not_call_the_subscription_after_its_end(self) -> None:
        """Neither request nor cancel once a source has ended, also when downstream requests or cancels then."""
        self._none("2.4")

    def test_required_spec205_must_cancel_a_second_subscription(self) -> None:
        """A second on_subscribe is answered with cancel, and with no request."""
        self._none("2.5")

    def test_required_spec206_must_cancel_a_subscription_that_is_no_longer_needed(self) -> None:
        """When the stream is cancelled or over, each source has ended or is cancelled."""
        if self.keeps_sources:
            pytest.skip("keeps_sources = True")
        self._none("2.6")

    def test_required_spec207_must_request_serially(self) -> None:
        """Requests of two threads, one from inside on_next, are not inside the source at the same time."""
        self._none("2.7")

    def test_required_spec208_must_be_prepared_for_signals_after_cancel(self) -> None:
        """Items and an end that were on their way when the operator cancelled raise nothing."""
        self._none("2.8")

    def test_required_spec212_must_not_subscribe_the_same_subscriber_again(self) -> None:
        """A subscriber is not subscribed again while its subscription goes on."""
        self._none("2.12")

    def test_required_spec213_signals_must_return_normally(self) -> None:
        """What a source signals raises nothing."""
        self._none("2.13")

    def test_required_spec309_must_not_request_less_than_one_element(self) -> None:
        """No request(0), no negative one, also when downstream makes one."""
        self._none("3.9")

    def test_required_spec315_cancel_must_return_normally(self) -> None:
        """cancel() of the operator's Subscription raises nothing."""
        self._none("3.15")

    def test_required_spec316_request_must_return_normally(self) -> None:
        """request() of the operator's Subscription raises nothing, be it valid or not."""
        self._none("3.16")

    def test_required_spec317_must_not_request_more_than_the_largest_demand(self) -> None:
        """No request of more than 2**63 - 1 items."""
        self._none("3.17")


class OperatorVerification(UpstreamRules):
    """Verifies what an operator with one source sends that source: calls of its Subscription before, inside and after its end.

    ::

        class TestMine(OperatorVerification):
            def create_operator(self, source: Publisher[int]) -> Publisher[object]:
                return Mine(source)

    The source is a :class:`RecordingPublisher` of the numbers from 1 on, which nothing is hidden from. The scripts: it completes,
    fails, is empty, never ends, answers inside ``request`` or later, goes on after cancel, gives a second subscription; the
    subscriber requests everything, one by one, re-entrantly, wrongly, and cancels before, between, inside and after. Everything
    runs on the calling thread or on virtual time that :meth:`settle` moves: a call that races with the end on another thread
    could not be told from one that is too late.
    """

    _sources = 1

    @abstractmethod
    def create_operator(self, source: Publisher[int], /) -> Publisher[object]:
        """The operator under test over ``source``; a new one for each call."""

    def _create(self, sources: Sequence[Publisher[int]]) -> Publisher[object]:
        return self.create_operator(*sources)

    def _scripts(self) -> Iterator[OperatorScript]:
        return one_source_scripts()


class TwoSourceOperatorVerification(UpstreamRules):
    """The same as :class:`OperatorVerification` for an operator with two sources, which end in every order.

    ::

        class TestMerge(TwoSourceOperatorVerification):
            def create_operator(self, first: Publisher[int], second: Publisher[int]) -> Publisher[object]:
                return Merge(first, second)
    """

    _sources = 2

    @abstractmethod
    def create_operator(self, first: Publisher[int], second: Publisher[int], /) -> Publisher[object]:
        """The operator under test over two sources; a new one for each call."""

    def _create(self, sources: Sequence[Publisher[int]]) -> Publisher[object]:
        return self.create_operator(*sources)

    def _scripts(self) -> Iterator[OperatorScript]:
        return two_source_scripts()

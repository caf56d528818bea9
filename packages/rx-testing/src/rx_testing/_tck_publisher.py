"""§1 of Reactive Streams: what a publisher has to do."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

import pytest

from rx_testing._tck_env import Probe, attempt, untested
from rx_testing._tck_subscription import SubscriptionRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from rx_core import Publisher

T = TypeVar("T")


class PublisherVerification(SubscriptionRules[T]):
    """Verifies a publisher: subclass it in any pytest suite, and each rule is a test of yours.

    ::

        class TestNumbers(PublisherVerification[int]):
            def create_publisher(self, count: int) -> Publisher[int]:
                return Numbers(count)

    Anything with ``subscribe`` can be verified. Names say what a rule is: ``required`` must pass; ``optional`` is skipped when
    the publisher does not have what it is about; ``stochastic`` needs luck to find a fault; ``untested`` cannot be verified and
    is skipped with the reason. The attributes that can be set are those of the base classes; ``synchronous = True`` makes silence
    cost no time where no thread is involved, and :meth:`settle` drives a publisher on virtual time.
    """

    # the kit itself ---------------------------------------------------------------------------------------------------

    def test_required_create_publisher1_must_produce_a_stream_of_exactly_1_element(self) -> None:
        """create_publisher(1) makes one item."""
        self._exactly(1)

    def test_required_create_publisher3_must_produce_a_stream_of_exactly_3_elements(self) -> None:
        """create_publisher(3) makes three items."""
        self._exactly(3)

    def _exactly(self, count: int) -> None:
        probe = self._subscribe(self._publisher(count))
        probe.by_ones(count + 1)
        if len(probe.values) != count:
            self.env.fail("create_publisher", f"expected exactly {count} items", probe)

    def test_required_validate_max_elements_from_publisher(self) -> None:
        """max_elements_from_publisher is a count."""
        assert type(self.max_elements_from_publisher) is int
        assert self.max_elements_from_publisher >= 0

    def test_required_validate_bounded_depth_of_on_next_and_request_recursion(self) -> None:
        """bounded_depth_of_on_next_and_request_recursion is a positive count."""
        assert type(self.bounded_depth_of_on_next_and_request_recursion) is int
        assert self.bounded_depth_of_on_next_and_request_recursion >= 1

    # §1 ---------------------------------------------------------------------------------------------------------------

    def test_required_spec101_subscription_request_must_result_in_the_correct_number_of_produced_elements(self) -> None:
        """Nothing before a request, and then exactly what was requested."""
        probe = self._subscribe(self._publisher(5))
        self._no_more_than(probe, 0)
        for n in (1, 1, 2):
            probe.request(n)
            if not probe.await_values(probe.requested):
                self.env.fail("1.1", f"expected {probe.requested} items", probe)
            self._no_more_than(probe, probe.requested)

    def _no_more_than(self, probe: Probe[T], count: int) -> None:
        if not self.env.never(lambda: len(probe.values) > count):
            self.env.fail("1.1", f"expected no more than the {count} items that were requested", probe)

    def test_required_spec102_may_signal_less_than_requested_and_terminate_subscription(self) -> None:
        """A stream that is shorter than what was requested ends."""
        count = self._at_most(3)
        probe = self._subscribe(self._publisher(count))
        probe.request(count + 7)
        if not probe.await_terminal():
            self.env.fail("1.2", "expected on_complete or on_error once there are no more items", probe)

    def test_stochastic_spec103_must_signal_on_methods_sequentially(self) -> None:
        """Requests from another thread while a signal is being delivered bring no second signal at the same time."""
        dwell = threading.Event()

        def interfere(probe: Probe[T]) -> None:
            if len(probe.values) <= 3:
                self.env.in_thread(lambda: probe.request(1), 0.05)
                dwell.wait(0.001)

        def early(probe: Probe[T]) -> None:
            probe.request(2)
            # Time for an item that does not wait for on_subscribe to return.
            self.env.never(lambda: bool(probe.overlaps))

        probe = self._subscribe(self._publisher(self._at_most(10)), self._probe(on_next=interfere, on_subscribe=early))
        self.env.wait_until(lambda: probe.terminated or len(probe.values) >= self._at_most(5))
        self.env.never(lambda: bool(probe.overlaps))
        if probe.overlaps:
            self.env.fail("1.3", probe.overlaps[0], probe)

    def test_optional_spec104_must_signal_on_error_when_fails(self) -> None:
        """A publisher that fails signals on_error."""
        probe = Probe[T](self.env)
        publisher = self._failed_publisher()
        raised = attempt(lambda: publisher.subscribe(probe))
        if not probe.await_terminal() or probe.terminal != "on_error":
            self.env.fail("1.4", f"expected on_error from a failed publisher (subscribe raised {raised!r})", probe)

    def test_required_spec105_must_signal_on_complete_when_finite_stream_terminates(self) -> None:
        """After the last item comes on_complete."""
        count = self._at_most(3)
        probe = self._subscribe(self._publisher(count))
        probe.by_ones(count + 1)
        if probe.terminal != "on_complete":
            self.env.fail("1.5", f"expected on_complete after {count} items", probe)

    def test_optional_spec105_empty_stream_must_terminate_by_signalling_on_complete(self) -> None:
        """An empty stream is only on_complete."""
        publisher = self._or_skip(lambda: self.create_publisher(0))
        probe = self._subscribe(publisher)
        probe.request(1)
        if not probe.await_terminal() or probe.terminal != "on_complete" or probe.values:
            self.env.fail("1.5", "expected nothing but on_complete from create_publisher(0)", probe)

    def _or_skip(self, make: Callable[[], Publisher[T]]) -> Publisher[T]:
        try:
            return make()
        except (NotImplementedError, ValueError) as error:
            pytest.skip(f"not supported: {error!r}")

    def test_untested_spec106_must_consider_subscription_cancelled_after_on_error_or_on_complete_has_been_called(self) -> None:
        untested("nothing of it can be seen beyond §1.7 and §3.13")

    def test_required_spec107_must_not_emit_further_signals_once_on_complete_has_been_signalled(self) -> None:
        """on_complete is the last signal, also when more is requested afterwards."""
        count = self._at_most(1)
        probe = self._subscribe(self._publisher(count))
        probe.request(count + 9)
        if not probe.await_terminal() or probe.terminal != "on_complete":
            pytest.skip(f"cannot be verified, on_complete does not come (see §1.5): {probe}")
        self._last(probe)

    def test_optional_spec107_must_not_emit_further_signals_once_on_error_has_been_signalled(self) -> None:
        """on_error is the last signal, also when more is requested afterwards."""
        probe = self._subscribe(self._failed_publisher())
        if not probe.await_terminal() or probe.terminal != "on_error":
            pytest.skip(f"cannot be verified, on_error does not come (see §1.4): {probe}")
        self._last(probe)

    def _last(self, probe: Probe[T]) -> None:
        probe.request(10)
        at = [kind for kind, _ in probe.signals].index(str(probe.terminal))
        if not self.env.never(lambda: len(probe.signals) > at + 1):
            self.env.fail("1.7", f"{probe.signals[at + 1][0]} came after {probe.terminal}", probe)

    def test_untested_spec108_possibly_canceled_subscription_should_not_receive_on_error_or_on_complete_signals(self) -> None:
        untested("a terminal signal may be on its way when cancel() is called; that signals stop is §3.12")

    def test_required_spec109_must_issue_on_subscribe_for_non_null_subscriber(self) -> None:
        """on_subscribe comes first, and once."""
        probe = Probe[T](self.env)
        publisher = self._publisher(self._at_most(1))
        attempt(lambda: publisher.subscribe(probe))
        if not self.env.wait_until(lambda: bool(probe.signals)) or probe.signals[0][0] != "on_subscribe":
            self.env.fail("1.9", "expected on_subscribe before any other signal", probe)
        probe.request(2)
        self.env.wait_until(lambda: probe.terminated or len(probe.values) >= 1)
        if [kind for kind, _ in probe.signals].count("on_subscribe") != 1:
            self.env.fail("1.9", "expected on_subscribe once", probe)

    def test_required_spec109_subscribe_must_return_normally(self) -> None:
        """subscribe() raises nothing. (In the JVM's kit: subscribeShouldNotThrowNonFatalThrowable, untested.)"""
        probe = Probe[T](self.env)
        publisher = self._publisher(self._at_most(3))
        raised = attempt(lambda: publisher.subscribe(probe))
        if raised is not None:
            self.env.fail("1.9", f"subscribe() raised {raised!r}", probe)

    def test_required_spec109_subscribe_throw_type_error_on_none_subscriber(self) -> None:
        """subscribe(None) raises TypeError."""
        publisher = self._publisher(self._at_most(1))
        raised = attempt(lambda: publisher.subscribe(None))  # type: ignore[arg-type]  # that is what is tested
        if not isinstance(raised, self.none_errors):
            self.env.fail("1.9", f"expected subscribe(None) to raise TypeError, it raised {raised!r}")

    def test_required_spec109_may_reject_calls_to_subscribe_rejection_must_trigger_on_error_after_on_subscribe(self) -> None:
        """A publisher that cannot serve calls on_subscribe and then on_error."""
        probe = Probe[T](self.env)
        publisher = self._failed_publisher()
        raised = attempt(lambda: publisher.subscribe(probe))
        if raised is not None:
            self.env.fail("1.9", f"subscribe() raised {raised!r}; the only legal way to fail is on_error", probe)
        self.env.wait_until(lambda: probe.terminated)
        if not probe.signals or probe.signals[0][0] != "on_subscribe":
            self.env.fail("1.9", "expected on_subscribe before on_error", probe)

    def test_untested_spec110_reject_a_subscription_request_if_the_same_subscriber_subscribes_twice(self) -> None:
        untested("a publisher need not remember its subscribers")

    # §1.11: several subscribers ---------------------------------------------------------------------------------------

    def test_optional_spec111_may_support_multi_subscribe(self) -> None:
        """A second subscriber gets on_subscribe too."""
        self._several(2, self._at_most(1))

    def test_optional_spec111_registered_subscribers_must_receive_on_next_or_on_complete_signals(self) -> None:
        """Each of two subscribers gets something for its request."""
        for probe in (probes := self._several(2, self._at_most(4))):
            probe.request(1)
        for probe in probes:
            if not self.env.wait_until(lambda: bool(probe.values) or probe.terminated):  # noqa: B023  # used at once
                self.env.fail("1.11", "expected on_next or on_complete for each subscriber", *probes)

    def test_optional_spec111_multicast_must_produce_the_same_elements_when_requesting_one_by_one(self) -> None:
        """Three subscribers that request in turns get the same items in the same order."""
        count = self._at_most(5)
        probes = self._several(3, count)
        for _ in range(count):
            for probe in probes:
                probe.request(1)
            for probe in probes:
                probe.await_values(probe.requested)
        self._same(probes, count)

    def test_optional_spec111_multicast_must_produce_the_same_elements_when_requesting_many_upfront(self) -> None:
        """Three subscribers that request all but one item get the same items in the same order."""
        count = self._at_most(5)
        probes = self._several(3, count)
        upfront = max(count - 1, 1)
        for probe in probes:
            probe.request(upfront)
        self._same(probes, upfront)

    def test_optional_spec111_multicast_must_produce_the_same_elements_and_complete_as_expected(self) -> None:
        """Three subscribers that request more than there is get the same items and the same end."""
        count = self._at_most(5)
        probes = self._several(3, count)
        for probe in probes:
            probe.request(count + 1)
        self._same(probes, count)
        ends = [probe.await_terminal() and probe.terminal for probe in probes]
        if len(set(ends)) > 1:
            self.env.fail("1.11", "expected the same end for all subscribers", *probes)

    def _several(self, subscribers: int, count: int) -> list[Probe[T]]:
        if not self.multi_subscribe:
            pytest.skip("multi_subscribe = False")
        publisher = self._publisher(count)
        probes = [self._subscribe(publisher)]
        for _ in range(subscribers - 1):
            probe = Probe[T](self.env)
            raised = attempt(lambda: publisher.subscribe(probe))  # noqa: B023  # used at once
            if not self.env.wait_until(lambda: probe.subscription is not None):  # noqa: B023
                self.env.fail("1.11", f"a further subscriber got no on_subscribe (subscribe raised {raised!r})", probe)
            probes.append(probe)
            self._skip_if_rejected(probes)
        return probes

    def _skip_if_rejected(self, probes: list[Probe[T]]) -> None:
        for probe in probes[1:]:
            if probe.terminal == "on_error" and not probe.values:
                pytest.skip(f"serves one subscriber only: {probe.error!r}")

    def _same(self, probes: list[Probe[T]], count: int) -> None:
        for probe in probes:
            probe.await_values(count)
        if any(probe.values != probes[0].values for probe in probes) or len(probes[0].values) < count:
            self._skip_if_rejected(probes)
            self.env.fail("1.11", f"expected the same {count} items for all subscribers", *probes)

    # §2, as far as publishers can break it ----------------------------------------------------------------------------

    def test_required_spec213_must_not_signal_none(self) -> None:
        """No item is None, and an error is an Exception: None could only be refused by the subscriber."""
        count = self._at_most(5)
        probe = self._subscribe(self._publisher(count))
        probe.by_ones(count + 1)
        if any(value is None for value in probe.values) or (probe.terminal == "on_error" and probe.error is None):
            self.env.fail("2.13", "a publisher signalled None", probe)

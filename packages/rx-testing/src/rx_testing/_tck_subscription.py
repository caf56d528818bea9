"""§3 of Reactive Streams, as far as the publisher is responsible for it."""

from __future__ import annotations

import gc
import threading
import weakref
from time import monotonic
from typing import TypeVar

import pytest

from rx_core import UNBOUNDED
from rx_testing._tck_env import Probe, untested
from rx_testing._tck_source import PublisherOptions

T = TypeVar("T")


class SubscriptionRules(PublisherOptions[T]):
    """One test for each rule about the subscriptions of a publisher."""

    # demand -----------------------------------------------------------------------------------------------------------

    def test_required_spec302_must_allow_synchronous_request_calls_from_on_next_and_on_subscribe(self) -> None:
        """Requesting one item in on_subscribe and one in each on_next brings the stream."""
        probe = self._probe(on_next=lambda probe: probe.request(1), on_subscribe=lambda probe: probe.request(1))
        self._subscribe(self._publisher(self._at_most(4)), probe)
        if not probe.await_values(self._at_most(4)):
            self.env.fail("3.2", f"expected {self._at_most(4)} items for requests from inside the signals", probe)

    def test_required_spec303_must_not_allow_unbounded_recursion(self) -> None:
        """An item requested in on_next does not come inside that request, or only to a fixed depth."""
        bound = self.bounded_depth_of_on_next_and_request_recursion
        probe = self._probe(on_next=lambda probe: probe.request(1))
        self._subscribe(self._publisher(self._at_most(bound + 40)), probe)
        probe.request(1)
        self.env.wait_until(lambda: probe.terminated or len(probe.values) >= self._at_most(bound + 40))
        if probe.max_recursion > bound:
            self.env.fail("3.3", f"on_next came inside {probe.max_recursion} requests of on_next, the bound is {bound}", probe)

    def test_untested_spec304_request_should_not_perform_heavy_computations(self) -> None:
        untested("what is heavy is not for a test to say")

    def test_untested_spec305_cancel_must_not_synchronously_perform_heavy_computation(self) -> None:
        untested("what is heavy is not for a test to say; for threads see the next test")

    def test_required_spec305_cancel_must_be_thread_safe_and_not_wait_for_on_next(self) -> None:
        """cancel() on another thread, while on_next runs, returns without an error before on_next does."""
        returned: list[bool] = []

        def cancel_elsewhere(probe: Probe[T]) -> None:
            if not returned:
                returned.append(self.env.in_thread(probe.cancel))
                self.env.notify()

        probe = self._probe(on_next=cancel_elsewhere)
        self._subscribe(self._publisher(self._at_most(3)), probe)
        probe.request(3)
        if not self.env.wait_until(lambda: bool(returned) or probe.terminated) or not returned:
            pytest.skip(f"cannot be verified, no item comes: {probe}")
        if not returned[0]:
            self.env.fail("3.5", "cancel() on another thread did not return while on_next was running", probe)
        raised = [text for text in probe.raised if text[0] == "cancel()"]
        if raised and not self._cancel_raises_anyway():
            self.env.fail("3.5", f"cancel() on another thread raised {raised[0][1]!r}", probe)

    def _cancel_raises_anyway(self) -> bool:
        probe = self._subscribe(self._publisher(self._at_most(3)))
        probe.cancel()
        return bool(probe.raised)

    def test_required_spec306_after_subscription_is_cancelled_request_must_be_nops(self) -> None:
        """Requests after cancel(), wrong ones too, bring no signal and raise nothing."""
        probe = self._subscribe(self._publisher(self._at_most(3)))
        probe.cancel()
        seen, raised = len(probe.signals), len(probe.raised)
        for n in (1, 2, 0):
            probe.request(n)
        if not self.env.never(lambda: len(probe.signals) > seen):
            self.env.fail("3.6", f"{probe.signals[seen][0]} came after cancel(), for a later request", probe)
        if len(probe.raised) > raised:
            self.env.fail("3.6", "a request after cancel() raised", probe)

    def test_required_spec307_after_subscription_is_cancelled_additional_cancelations_must_be_nops(self) -> None:
        """The second and third cancel() bring no signal and raise nothing."""
        probe = self._subscribe(self._publisher(self._at_most(3)))
        probe.cancel()
        self.env.never(lambda: False)
        seen, raised = len(probe.signals), [call for call, _ in probe.raised]
        if "cancel()" in raised:
            pytest.skip(f"cannot be verified, the first cancel() raises (see §3.15): {probe}")
        probe.cancel()
        probe.cancel()
        if not self.env.never(lambda: len(probe.signals) > seen):
            self.env.fail("3.7", f"{probe.signals[seen][0]} came for a second cancel()", probe)
        if len(probe.raised) > len(raised):
            self.env.fail("3.7", "a second cancel() raised", probe)

    def test_required_spec308_request_must_add_to_the_demand(self) -> None:
        """What is requested while items are outstanding is added, not put in its place."""
        probe = self._probe(on_next=lambda probe: probe.request(3) if len(probe.values) == 1 else None)
        self._subscribe(self._publisher(6), probe)
        probe.request(2)
        if not probe.await_values(5):
            self.env.fail("3.8", "expected 5 items: 2 were requested, and 3 more inside the first on_next", probe)

    def test_required_spec309_request_zero_must_signal_value_error(self) -> None:
        """request(0) ends the stream with on_error(ValueError)."""
        self._invalid_request(0)

    def test_required_spec309_request_negative_number_must_signal_value_error(self) -> None:
        """request(-1) ends the stream with on_error(ValueError)."""
        self._invalid_request(-1)

    def test_required_spec309_the_error_must_refer_to_this_rule(self) -> None:
        """The text of the error names §3.9. (The JVM's kit made this optional; the rule says MUST.)"""
        probe = self._subscribe(self._publisher(self._at_most(10)))
        probe.request(-1)
        if not probe.await_terminal() or not isinstance(probe.error, self.invalid_request_errors):
            pytest.skip(f"cannot be verified, the error does not come: {probe}")
        if "3.9" not in str(probe.error):
            self.env.fail("3.9", f"the error does not refer to the rule: {probe.error!r}", probe)

    def _invalid_request(self, n: int) -> None:
        probe = self._subscribe(self._publisher(self._at_most(10)))
        probe.request(n)
        if not probe.await_terminal() or probe.terminal != "on_error":
            self.env.fail("3.9", f"expected on_error for request({n})", probe)
        if not isinstance(probe.error, self.invalid_request_errors):
            wanted = " or ".join(kind.__name__ for kind in self.invalid_request_errors)
            self.env.fail("3.9", f"expected {wanted} for request({n}), got {probe.error!r}", probe)

    def test_untested_spec310_request_may_synchronously_call_on_next_on_subscriber(self) -> None:
        untested("it may, or may not")

    def test_untested_spec311_request_may_synchronously_call_on_complete_or_on_error(self) -> None:
        untested("it may, or may not")

    # cancellation -----------------------------------------------------------------------------------------------------

    def test_required_spec312_cancel_must_make_the_publisher_to_eventually_stop_signaling(self) -> None:
        """Cancelled in the first on_next, with everything requested, the rest of a long stream does not come."""
        count = self._at_most(1000)
        if count < 2:
            pytest.skip("needs a stream of two items at least")
        probe = self._probe(on_next=lambda probe: probe.cancel() if not probe.cancelled else None)
        self._subscribe(self._publisher(count), probe)
        probe.request(UNBOUNDED)
        self.env.wait_until(lambda: probe.cancelled or probe.terminated)
        if not probe.cancelled:
            pytest.skip(f"cannot be verified, no item comes: {probe}")
        seen = -1
        while seen < len(probe.signals) and len(probe.values) < count:  # until it is quiet
            seen = len(probe.signals)
            self.env.never(lambda: len(probe.signals) > seen)  # noqa: B023  # used at once
        if len(probe.values) >= count:
            self.env.fail("3.12", f"all {count} items came, cancel() in the first on_next had no effect", probe)

    def test_required_spec313_cancel_must_make_the_publisher_eventually_drop_all_references_to_the_subscriber(self) -> None:
        """After cancel() the publisher does not keep the subscriber alive."""
        publisher = self._publisher(self._at_most(3))

        def run() -> weakref.ref[Probe[T]]:
            probe = self._subscribe(publisher)
            probe.request(1)
            probe.await_values(1)
            probe.cancel()
            probe.subscription = None
            return weakref.ref(probe)

        reference = run()
        deadline = monotonic() + self.default_timeout
        pause = threading.Event()
        while reference() is not None:
            gc.collect()
            if reference() is None:
                return
            if self.settle():
                continue
            if self.synchronous or monotonic() > deadline:
                self.env.fail("3.13", f"{publisher!r} still holds its subscriber after cancel()")
            pause.wait(0.005)

    def test_untested_spec314_cancel_may_cause_the_publisher_to_shutdown_if_no_other_subscription_exists(self) -> None:
        untested("it may, or may not")

    def test_required_spec315_cancel_must_return_normally(self) -> None:
        """cancel() raises nothing."""
        probe = self._subscribe(self._publisher(self._at_most(3)))
        before = len(probe.raised)
        probe.cancel()
        if len(probe.raised) > before:
            self.env.fail("3.15", "cancel() raised", probe)

    def test_required_spec316_request_must_return_normally(self) -> None:
        """request(1) raises nothing; what is wrong with the stream goes to on_error."""
        probe = self._subscribe(self._publisher(self._at_most(3)))
        before = len(probe.raised)
        probe.request(1)
        probe.request(1)
        if len(probe.raised) > before:
            self.env.fail("3.16", "request(1) raised", probe)

    # large demand -----------------------------------------------------------------------------------------------------

    def test_required_spec317_must_support_a_pending_element_count_up_to_long_max_value(self) -> None:
        """request(2**63 - 1) brings the whole stream."""
        count = self._at_most(3)
        probe = self._subscribe(self._publisher(count))
        probe.request(UNBOUNDED)
        if not probe.await_values(count):
            self.env.fail("3.17", f"expected {count} items for request(2**63 - 1)", probe)

    def test_required_spec317_must_support_a_cumulative_pending_element_count_up_to_long_max_value(self) -> None:
        """Requests that sum up to a demand of 2**63 - 1 bring the whole stream."""
        count = self._at_most(3)

        def ask(probe: Probe[T]) -> None:
            if len(probe.values) == 1:
                probe.request(UNBOUNDED // 2)
                probe.request(UNBOUNDED // 2)

        probe = self._subscribe(self._publisher(count), self._probe(on_next=ask))
        probe.request(1)
        if not probe.await_values(count):
            self.env.fail("3.17", f"expected {count} items for requests that sum up to 2**63 - 1", probe)

    def test_required_spec317_must_not_signal_on_error_when_pending_above_long_max_value(self) -> None:
        """A demand above 2**63 - 1 is no error."""
        count = self._at_most(10)
        probe = self._subscribe(self._publisher(count), self._probe(on_next=lambda probe: probe.request(UNBOUNDED - 1)))
        probe.request(1)
        self.env.wait_until(lambda: probe.terminated or len(probe.values) >= count)
        if probe.terminal == "on_error" and len(probe.values) < count:
            self.env.fail("3.17", f"a demand above 2**63 - 1 ended the stream with {probe.error!r}", probe)
        if len(probe.values) < count:
            self.env.fail("3.17", f"expected {count} items for a demand above 2**63 - 1", probe)

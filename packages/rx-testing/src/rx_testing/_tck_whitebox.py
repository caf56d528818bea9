"""§2 of Reactive Streams with the author's help: the subscriber tells a probe what it gets, and is led by a puppet."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from rx_testing._tck_env import ProbeSubscription, attempt, untested
from rx_testing._tck_subscriber import Stage, SubscriberOptions, WhiteboxProbe

if TYPE_CHECKING:
    from rx_core import Subscriber

T = TypeVar("T")


class SubscriberWhiteboxVerification(SubscriberOptions[T]):
    """Verifies a subscriber that was made to talk: it registers each signal with the probe it is given.

    ::

        class TestSink(SubscriberWhiteboxVerification[int]):
            def create_subscriber(self, probe: WhiteboxProbe[int]) -> Subscriber[int]:
                class Observed(Sink):
                    def on_subscribe(self, subscription, /):
                        super().on_subscribe(subscription)
                        probe.register_on_subscribe(self)   # has trigger_request(n) and signal_cancel()

                    def on_next(self, item, /):
                        super().on_next(item)
                        probe.register_on_next(item)
                    ...
                return Observed()
    """

    @abstractmethod
    def create_subscriber(self, probe: WhiteboxProbe[T], /) -> Subscriber[T]:
        """A new subscriber that tells ``probe`` about each signal."""

    def _stage(self) -> Stage[T]:
        probe = WhiteboxProbe[T](self.env)
        stage = Stage(self.env, self.create_subscriber(probe), probe)
        raised = attempt(lambda: stage.subscriber.on_subscribe(stage.upstream))
        if raised is not None:
            self.env.fail("2.13", f"on_subscribe raised {raised!r}")
        return stage

    def _send(self, stage: Stage[T]) -> tuple[T, Exception | None]:
        item = self.create_element(stage.sent)
        stage.sent += 1
        return item, attempt(lambda: stage.subscriber.on_next(item))

    def test_required_exercise_whitebox_happy_path(self) -> None:
        """Items that were requested one by one are registered in order, and then on_complete."""
        stage = self._stage()
        probe, sent = stage.probe, []
        for _ in range(3):
            if not stage.ask(1):
                self.env.fail("2.1", "expected a request", stage.upstream, probe)
            sent.append(self._send(stage)[0])
            if not self.env.wait_until(lambda: len(probe.items) >= len(sent)):
                break
        attempt(stage.subscriber.on_complete)
        if not self.env.wait_until(lambda: probe.completions > 0) or probe.items != sent or probe.errors:
            self.env.fail("happy path", f"expected {sent!r} and on_complete, got {probe.items!r}", probe, stage.upstream)

    # §2 ---------------------------------------------------------------------------------------------------------------

    def test_required_spec201_must_signal_demand_via_subscription_request(self) -> None:
        """A subscriber that wants an item requests it, and only with positive numbers."""
        stage = self._stage()
        if not stage.ask(1) or any(type(n) is not int or n < 1 for n in stage.upstream.requests):
            self.env.fail("2.1", "expected the subscriber to request a positive number of items", stage.upstream)

    def test_untested_spec202_should_asynchronously_dispatch(self) -> None:
        untested("what is slow is not for a test to say")

    def test_required_spec203_must_not_call_methods_on_subscription_or_publisher_in_on_complete(self) -> None:
        """on_complete calls neither request nor cancel."""
        stage = self._stage()
        stage.upstream.inside("on_complete", stage.subscriber.on_complete)
        if stage.upstream.forbidden:
            self.env.fail("2.3", ", ".join(stage.upstream.forbidden), stage.upstream)

    def test_required_spec203_must_not_call_methods_on_subscription_or_publisher_in_on_error(self) -> None:
        """on_error calls neither request nor cancel."""
        stage = self._stage()
        stage.upstream.inside("on_error", lambda: stage.subscriber.on_error(self.error))
        if stage.upstream.forbidden:
            self.env.fail("2.3", ", ".join(stage.upstream.forbidden), stage.upstream)

    def test_untested_spec204_must_consider_the_subscription_as_cancelled_after_on_complete_or_on_error(self) -> None:
        untested("what it considers cannot be seen")

    def test_required_spec205_must_call_subscription_cancel_if_it_already_has_a_subscription(self) -> None:
        """A second subscription is cancelled, and the first one goes on."""
        stage = self._stage()
        second = ProbeSubscription(self.env)
        attempt(lambda: stage.subscriber.on_subscribe(second))
        if not second.await_cancel():
            self.env.fail("2.5", "expected the second subscription to be cancelled", f"first: {stage.upstream}", second)

    def test_required_spec206_must_call_subscription_cancel_if_it_is_no_longer_valid(self) -> None:
        """A subscriber that wants no more cancels. (Untested in the JVM's kit.)"""
        stage = self._stage()
        stage.puppet.signal_cancel()
        if not stage.upstream.await_cancel():
            self.env.fail("2.6", "expected cancel()", stage.upstream)

    def test_untested_spec207_must_ensure_all_calls_on_its_subscription_are_serial(self) -> None:
        untested("needs a subscriber that requests by itself, see the blackbox test")

    def test_required_spec208_must_be_prepared_to_receive_on_next_signals_after_having_called_cancel(self) -> None:
        """An item that was on its way when the subscriber cancelled does no harm."""
        stage = self._stage()
        stage.ask(2)
        self._send(stage)
        stage.puppet.signal_cancel()
        if not stage.upstream.await_cancel():
            pytest.skip("cannot be verified, the subscriber does not cancel (see §2.6)")
        raised = self._send(stage)[1]
        if raised is not None:
            self.env.fail("2.8", f"on_next after cancel() raised {raised!r}", stage.upstream)

    def test_required_spec209_must_be_prepared_to_receive_an_on_complete_signal_with_preceding_request_call(self) -> None:
        """on_complete after a request returns normally and is registered."""
        self._end(asked=True, failing=False)

    def test_required_spec209_must_be_prepared_to_receive_an_on_complete_signal_without_preceding_request_call(self) -> None:
        """on_complete without a request returns normally and is registered."""
        self._end(asked=False, failing=False)

    def test_required_spec210_must_be_prepared_to_receive_an_on_error_signal_with_preceding_request_call(self) -> None:
        """on_error after a request returns normally and is registered."""
        self._end(asked=True, failing=True)

    def test_required_spec210_must_be_prepared_to_receive_an_on_error_signal_without_preceding_request_call(self) -> None:
        """on_error without a request returns normally and is registered."""
        self._end(asked=False, failing=True)

    def _end(self, *, asked: bool, failing: bool) -> None:
        stage = self._stage()
        probe = stage.probe
        if asked:
            stage.ask(1)
        rule, after = "2.10" if failing else "2.9", "after a request" if asked else "without a request"
        if failing:
            self._normally(rule, f"on_error {after}", lambda: stage.subscriber.on_error(self.error))
        else:
            self._normally(rule, f"on_complete {after}", stage.subscriber.on_complete)
        if not self.env.wait_until(lambda: bool(probe.errors if failing else probe.completions)):
            self.env.fail(rule, f"expected the signal {after} to be registered", probe)
        if failing and probe.errors[0] is not self.error:
            self.env.fail(rule, f"expected {self.error!r} itself", probe)

    def test_untested_spec211_must_make_sure_that_signals_happen_before_their_processing(self) -> None:
        untested("the memory model of Python publishes what is handed over")

    def test_untested_spec212_must_not_call_on_subscribe_more_than_once(self) -> None:
        untested("a rule for publishers, see §1.9")

    def test_required_spec213_signals_must_return_normally(self) -> None:
        """on_next of what was requested raises nothing. (In the JVM's kit: failingOnSignalInvocation, untested.)"""
        stage = self._stage()
        if not stage.ask(1):
            pytest.skip("cannot be verified, nothing is requested (see §2.1)")
        raised = self._send(stage)[1]
        if raised is not None:
            self.env.fail("2.13", f"on_next raised {raised!r}", stage.upstream)

    def test_required_spec213_on_subscribe_must_throw_type_error_when_parameters_are_none(self) -> None:
        """on_subscribe(None) raises TypeError."""
        subscriber: Any = self.create_subscriber(WhiteboxProbe[T](self.env))
        self._none(lambda: subscriber.on_subscribe(None), "on_subscribe(None)")

    def test_required_spec213_on_next_must_throw_type_error_when_parameters_are_none(self) -> None:
        """on_next(None) raises TypeError."""
        stage = self._stage()
        stage.ask(1)
        subscriber: Any = stage.subscriber
        self._none(lambda: subscriber.on_next(None), "on_next(None)")

    def test_required_spec213_on_error_must_throw_type_error_when_parameters_are_none(self) -> None:
        """on_error(None) raises TypeError."""
        subscriber: Any = self._stage().subscriber
        self._none(lambda: subscriber.on_error(None), "on_error(None)")

    # §3, the subscriber's side ----------------------------------------------------------------------------------------

    def test_untested_spec301_must_not_be_called_outside_subscriber_context(self) -> None:
        untested("what belongs to a subscriber cannot be seen")

    def test_required_spec308_request_must_register_given_number_elements_to_be_produced(self) -> None:
        """As many items as the subscriber wants are requested, at once or one after the other."""
        stage = self._stage()
        stage.puppet.trigger_request(2)
        for count in (1, 2):
            if not stage.upstream.await_request(count):
                self.env.fail("3.8", f"expected item {count} of 2 to be requested", stage.upstream)
            self._send(stage)

    def test_untested_spec310_request_may_synchronously_call_on_next_on_subscriber(self) -> None:
        untested("it may, or may not")

    def test_untested_spec311_request_may_synchronously_call_on_complete_or_on_error(self) -> None:
        untested("it may, or may not")

    def test_untested_spec314_cancel_may_cause_the_publisher_to_shutdown_if_no_other_subscription_exists(self) -> None:
        untested("it may, or may not")

    def test_untested_spec315_cancel_must_not_throw_exception_and_must_signal_on_error(self) -> None:
        untested("a rule for publishers, see PublisherVerification")

    def test_untested_spec316_request_must_not_throw_exception_and_must_on_error_the_subscriber(self) -> None:
        untested("a rule for publishers, see PublisherVerification")

"""§2 of Reactive Streams: what a subscriber has to do, seen from outside and with its author's help."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pytest

from rx_testing._tck_env import Env, ProbeSubscription, Verification, attempt, untested

if TYPE_CHECKING:
    from typing import Protocol

    from rx_core import Subscriber

    class SubscriberPuppet(Protocol):
        """How a test makes the subscriber under test do something."""

        def trigger_request(self, n: int, /) -> object:
            """Make the subscriber request ``n`` items."""

        def signal_cancel(self) -> object:
            """Make the subscriber cancel its subscription."""


T = TypeVar("T")


class SubscriberOptions(Verification, Generic[T]):
    """What tests with and without the author's help share."""

    #: What on_error is called with.
    error: Exception = RuntimeError("the error of the TCK")

    @abstractmethod
    def create_element(self, index: int, /) -> T:
        """An item the subscriber can digest; a different one for each index."""

    def _none(self, call: Callable[[], object], what: str) -> None:
        raised = attempt(call)
        if not isinstance(raised, self.none_errors):
            self.env.fail("2.13", f"expected {what} to raise TypeError, it raised {raised!r}")

    def _normally(self, rule: str, what: str, call: Callable[[], object]) -> None:
        raised = attempt(call)
        if raised is not None:
            self.env.fail(rule, f"{what} raised {raised!r}")


class SubscriberBlackboxVerification(SubscriberOptions[T]):
    """Verifies a subscriber from outside: all it needs is the subscriber, and an item.

    ::

        class TestPrinter(SubscriberBlackboxVerification[str]):
            def create_subscriber(self) -> Subscriber[str]:
                return Printer()

            def create_element(self, index: int) -> str:
                return f"line {index}"

    What a subscriber does inside cannot be seen from here: those rules are ``untested``, and
    :class:`SubscriberWhiteboxVerification` has tests for some of them.
    """

    @abstractmethod
    def create_subscriber(self) -> Subscriber[T]:
        """A new subscriber, that has not been subscribed."""

    def trigger_request(self, subscriber: Subscriber[T], /) -> None:
        """Make a subscriber request that does not do it by itself. Default: nothing."""

    def _given(self, trigger: bool = True, dwell: float = 0.0) -> tuple[Subscriber[T], ProbeSubscription]:
        """A subscriber with a subscription, that has requested when it wants to."""
        subscriber = self.create_subscriber()
        upstream = ProbeSubscription(self.env, dwell)
        raised = attempt(lambda: subscriber.on_subscribe(upstream))
        if raised is not None:
            self.env.fail("2.13", f"on_subscribe raised {raised!r}")
        if trigger:
            self.trigger_request(subscriber)
        return subscriber, upstream

    def _asking(self, dwell: float = 0.0) -> tuple[Subscriber[T], ProbeSubscription]:
        subscriber, upstream = self._given(dwell=dwell)
        if not upstream.await_request():
            pytest.skip("cannot be verified, nothing is requested (see §2.1)")
        return subscriber, upstream

    # §2 ---------------------------------------------------------------------------------------------------------------

    def test_required_spec201_blackbox_must_signal_demand_via_subscription_request(self) -> None:
        """The subscriber requests, and only positive numbers."""
        _, upstream = self._given()
        if not upstream.await_request() or any(type(n) is not int or n < 1 for n in upstream.requests):
            self.env.fail("2.1", "expected the subscriber to request a positive number of items", upstream)

    def test_untested_spec202_blackbox_should_asynchronously_dispatch(self) -> None:
        untested("what is slow is not for a test to say")

    def test_required_spec203_blackbox_must_not_call_methods_on_subscription_or_publisher_in_on_complete(self) -> None:
        """on_complete calls neither request nor cancel."""
        subscriber, upstream = self._given()
        upstream.inside("on_complete", subscriber.on_complete)
        if upstream.forbidden:
            self.env.fail("2.3", ", ".join(upstream.forbidden), upstream)

    def test_required_spec203_blackbox_must_not_call_methods_on_subscription_or_publisher_in_on_error(self) -> None:
        """on_error calls neither request nor cancel."""
        subscriber, upstream = self._given()
        upstream.inside("on_error", lambda: subscriber.on_error(self.error))
        if upstream.forbidden:
            self.env.fail("2.3", ", ".join(upstream.forbidden), upstream)

    def test_untested_spec204_blackbox_must_consider_the_subscription_as_cancelled_after_on_complete_or_on_error(self) -> None:
        untested("what it considers cannot be seen")

    def test_required_spec205_blackbox_must_call_subscription_cancel_if_it_already_has_a_subscription(self) -> None:
        """A second subscription is cancelled."""
        subscriber, first = self._given()
        second = ProbeSubscription(self.env)
        attempt(lambda: subscriber.on_subscribe(second))
        if not second.await_cancel():
            self.env.fail("2.5", "expected the second subscription to be cancelled", f"first: {first}", f"second: {second}")

    def test_untested_spec206_blackbox_must_call_subscription_cancel_if_it_is_no_longer_valid(self) -> None:
        untested("when it is no longer valid cannot be seen; the whitebox test makes it so")

    def test_stochastic_spec207_blackbox_must_ensure_calls_on_its_subscription_are_serial(self) -> None:
        """While items arrive, request and cancel are never called on two threads at the same time."""
        subscriber, upstream = self._asking(dwell=0.001)
        self._feed(subscriber, upstream, 5)
        self.env.never(lambda: bool(upstream.overlaps))
        if upstream.overlaps:
            self.env.fail("2.7", upstream.overlaps[0], upstream)

    def _feed(self, subscriber: Subscriber[T], upstream: ProbeSubscription, most: int) -> list[Exception]:
        """Send items as long as they are requested; returns what was raised."""
        raised: list[Exception] = []
        for index in range(most):
            if upstream.requested <= index and not self.env.wait_until(
                lambda: upstream.requested > index,  # noqa: B023  # used at once
                self.no_signals_timeout,
            ):
                break
            if upstream.cancels:
                break
            item = self.create_element(index)
            error = attempt(lambda: subscriber.on_next(item))  # noqa: B023  # used at once
            if error is not None:
                raised.append(error)
        return raised

    def test_untested_spec208_blackbox_must_be_prepared_to_receive_on_next_signals_after_cancel(self) -> None:
        untested("cannot be made to cancel from outside; the whitebox test makes it cancel")

    def test_required_spec209_blackbox_must_be_prepared_to_receive_an_on_complete_signal_with_preceding_request_call(
        self,
    ) -> None:
        """on_complete after a request returns normally."""
        subscriber, _ = self._asking()
        self._normally("2.9", "on_complete after a request", subscriber.on_complete)

    def test_required_spec209_blackbox_must_be_prepared_to_receive_an_on_complete_signal_without_preceding_request_call(
        self,
    ) -> None:
        """on_complete right after on_subscribe returns normally."""
        subscriber, _ = self._given(trigger=False)
        self._normally("2.9", "on_complete without a request", subscriber.on_complete)

    def test_required_spec210_blackbox_must_be_prepared_to_receive_an_on_error_signal_with_preceding_request_call(self) -> None:
        """on_error after a request returns normally."""
        subscriber, _ = self._asking()
        self._normally("2.10", "on_error after a request", lambda: subscriber.on_error(self.error))

    def test_required_spec210_blackbox_must_be_prepared_to_receive_an_on_error_signal_without_preceding_request_call(
        self,
    ) -> None:
        """on_error right after on_subscribe returns normally."""
        subscriber, _ = self._given(trigger=False)
        self._normally("2.10", "on_error without a request", lambda: subscriber.on_error(self.error))

    def test_untested_spec211_blackbox_must_make_sure_that_signals_happen_before_their_processing(self) -> None:
        untested("the memory model of Python publishes what is handed over")

    def test_untested_spec212_blackbox_must_not_call_on_subscribe_more_than_once(self) -> None:
        untested("a rule for publishers, see §1.9")

    def test_required_spec213_blackbox_signals_must_return_normally(self) -> None:
        """on_next of what was requested raises nothing. (In the JVM's kit: failingOnSignalInvocation, untested.)"""
        subscriber, upstream = self._asking()
        raised = self._feed(subscriber, upstream, 3)
        if raised:
            self.env.fail("2.13", f"on_next raised {raised[0]!r}", upstream)

    def test_required_spec213_blackbox_on_subscribe_must_throw_type_error_when_parameters_are_none(self) -> None:
        """on_subscribe(None) raises TypeError."""
        subscriber: Any = self.create_subscriber()
        self._none(lambda: subscriber.on_subscribe(None), "on_subscribe(None)")

    def test_required_spec213_blackbox_on_next_must_throw_type_error_when_parameters_are_none(self) -> None:
        """on_next(None) raises TypeError."""
        subscriber: Any = self._asking()[0]
        self._none(lambda: subscriber.on_next(None), "on_next(None)")

    def test_required_spec213_blackbox_on_error_must_throw_type_error_when_parameters_are_none(self) -> None:
        """on_error(None) raises TypeError."""
        subscriber: Any = self._given()[0]
        self._none(lambda: subscriber.on_error(None), "on_error(None)")

    # §3, the subscriber's side ----------------------------------------------------------------------------------------

    def test_untested_spec301_blackbox_must_not_be_called_outside_subscriber_context(self) -> None:
        untested("what belongs to a subscriber cannot be seen")

    def test_untested_spec308_blackbox_request_must_register_given_number_elements_to_be_produced(self) -> None:
        untested("a rule for publishers; the whitebox test sees what the subscriber requests")

    def test_untested_spec310_blackbox_request_may_synchronously_call_on_next_on_subscriber(self) -> None:
        untested("it may, or may not")

    def test_untested_spec311_blackbox_request_may_synchronously_call_on_complete_or_on_error(self) -> None:
        untested("it may, or may not")

    def test_untested_spec314_blackbox_cancel_may_cause_the_publisher_to_shutdown(self) -> None:
        untested("it may, or may not")

    def test_untested_spec315_blackbox_cancel_must_not_throw_exception_and_must_signal_on_error(self) -> None:
        untested("a rule for publishers, see PublisherVerification")

    def test_untested_spec316_blackbox_request_must_not_throw_exception_and_must_on_error_the_subscriber(self) -> None:
        untested("a rule for publishers, see PublisherVerification")


class WhiteboxProbe(Generic[T]):
    """Handed to the subscriber under test, which tells it about each signal it gets."""

    def __init__(self, env: Env) -> None:
        self._env = env
        self.puppet: SubscriberPuppet | None = None
        self.items: list[T] = []
        self.errors: list[Exception] = []
        self.completions = 0

    def register_on_subscribe(self, puppet: SubscriberPuppet, /) -> None:
        """on_subscribe came; ``puppet`` is how the test makes the subscriber request and cancel."""
        self.puppet = puppet
        self._env.notify()

    def register_on_next(self, item: T, /) -> None:
        """on_next came."""
        self.items.append(item)
        self._env.notify()

    def register_on_error(self, error: Exception, /) -> None:
        """on_error came."""
        self.errors.append(error)
        self._env.notify()

    def register_on_complete(self) -> None:
        """on_complete came."""
        self.completions += 1
        self._env.notify()

    def __str__(self) -> str:
        return f"registered: {len(self.items)} items, errors {self.errors}, completed {self.completions} times"


class Stage(Generic[T]):
    """A subscriber under test with its probe and its subscription."""

    def __init__(self, env: Env, subscriber: Subscriber[T], probe: WhiteboxProbe[T]) -> None:
        self.env = env
        self.subscriber = subscriber
        self.probe = probe
        self.upstream = ProbeSubscription(env)
        self.sent = 0
        env.at_close(self._cancel)  # or a run that is not referred to any more would end when the collector finds it

    def _cancel(self) -> None:
        if self.probe.puppet is not None and not self.upstream.cancels:
            self.probe.puppet.signal_cancel()

    @property
    def puppet(self) -> SubscriberPuppet:
        if not self.env.wait_until(lambda: self.probe.puppet is not None):
            pytest.fail("the subscriber did not call probe.register_on_subscribe(puppet) in on_subscribe")
        assert self.probe.puppet is not None
        return self.probe.puppet

    def ask(self, n: int) -> bool:
        """Trigger a request and wait until an item may be sent."""
        self.puppet.trigger_request(n)
        return self.env.wait_until(lambda: self.upstream.requested > self.sent)

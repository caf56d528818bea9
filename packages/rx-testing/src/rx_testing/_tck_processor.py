"""§4 of Reactive Streams: a processor keeps the rules of publishers and of subscribers, and passes errors on."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pytest

from rx_core import UNBOUNDED
from rx_testing._tck_env import Probe, ProbeSubscription, attempt, untested
from rx_testing._tck_publisher import PublisherVerification
from rx_testing._tck_subscriber import WhiteboxProbe
from rx_testing._tck_whitebox import SubscriberWhiteboxVerification

if TYPE_CHECKING:
    from rx_core import Processor, Publisher, Subscriber, Subscription

T = TypeVar("T")


class IdentityProcessorVerification(PublisherVerification[T], SubscriberWhiteboxVerification[T]):
    """Verifies a processor whose items leave as they came: all tests of publishers and of subscribers, and those of §4.

    ::

        class TestRelay(IdentityProcessorVerification[int]):
            def create_identity_processor(self, buffer_size: int) -> Processor[int, int]:
                return Relay(buffer_size)

            def create_element(self, index: int) -> int:
                return index
    """

    #: What create_identity_processor is called with.
    processor_buffer_size: int = 16
    #: How many subscribers a processor serves; 1 skips what needs two.
    max_supported_subscribers: int = UNBOUNDED
    #: False for processors that go on without a source or a subscriber (hot ones, which drop or fail without demand).
    waits_for_demand: bool = True

    @abstractmethod
    def create_identity_processor(self, buffer_size: int, /) -> Processor[T, T]:
        """A processor that passes items on unchanged and keeps at most about ``buffer_size`` of them."""

    def create_publisher(self, count: int, /) -> Publisher[T]:
        """A processor fed by a publisher of ``count`` items."""
        processor = self.create_identity_processor(self.processor_buffer_size)
        Feed(self, count).subscribe(processor)
        return processor

    def create_failed_publisher(self) -> Publisher[T] | None:
        """A processor fed by a publisher that has failed."""
        processor = self.create_identity_processor(self.processor_buffer_size)
        processor.on_subscribe(ProbeSubscription(self.env))
        processor.on_error(self.error)
        return processor

    def create_subscriber(self, probe: WhiteboxProbe[T], /) -> Subscriber[T]:
        """A processor with a subscriber that tells the probe."""
        processor = self.create_identity_processor(self.processor_buffer_size)
        processor.subscribe(_Telling(probe))
        return processor

    def _several(self, subscribers: int, count: int) -> list[Probe[T]]:
        if self.max_supported_subscribers < subscribers:
            pytest.skip(f"max_supported_subscribers = {self.max_supported_subscribers}")
        return super()._several(subscribers, count)

    def _middle(self) -> tuple[Processor[T, T], ProbeSubscription, Probe[T]]:
        """A processor between a subscription and a subscriber."""
        processor = self.create_identity_processor(self.processor_buffer_size)
        upstream = ProbeSubscription(self.env)
        down = self._subscribe_early(processor)
        processor.on_subscribe(upstream)
        if not self.env.wait_until(lambda: down.subscription is not None):
            pytest.skip(f"cannot be verified, on_subscribe does not come (see §1.9): {down}")
        return processor, upstream, down

    def _subscribe_early(self, processor: Processor[T, T]) -> Probe[T]:
        """Subscribe without waiting: a processor may wait for its own subscription before it calls on_subscribe."""
        down = Probe[T](self.env)
        attempt(lambda: processor.subscribe(down))
        return down

    # §4 ---------------------------------------------------------------------------------------------------------------

    def test_untested_spec401_must_obey_the_contracts_of_both(self) -> None:
        untested("that is what all the other tests are about")

    def test_required_spec402_must_immediately_pass_on_on_error_events_received_from_its_upstream_to_its_downstream(self) -> None:
        """An error from upstream reaches the subscriber, without any demand."""
        processor, upstream, down = self._middle()
        attempt(lambda: processor.on_error(self.error))
        if not down.await_terminal() or down.error is not self.error:
            self.env.fail("4.2", f"expected on_error({self.error!r})", down, upstream)

    def test_required_spec104_must_call_on_error_on_all_its_subscribers_if_it_encounters_a_non_recoverable_error(self) -> None:
        """An error from upstream reaches each of two subscribers."""
        if self.max_supported_subscribers < 2:
            pytest.skip(f"max_supported_subscribers = {self.max_supported_subscribers}")
        processor, _, first = self._middle()
        second = self._subscribe_early(processor)
        if not self.env.wait_until(lambda: second.subscription is not None) or second.terminated:
            pytest.skip("serves one subscriber only")
        first.request(1)
        attempt(lambda: processor.on_error(self.error))
        for probe in (first, second):
            if not probe.await_terminal() or probe.terminal != "on_error":
                self.env.fail("1.4", "expected on_error for each subscriber", first, second)

    def test_required_must_request_from_upstream_for_elements_that_have_been_requested_long_ago(self) -> None:
        """Demand that is not served yet leads to requests, item after item, without being repeated."""
        processor, upstream, down = self._middle()
        wanted = 2 * self.processor_buffer_size + 3
        down.request(wanted)
        for index in range(wanted):
            if not upstream.await_request(index + 1):
                self.env.fail("3.8", f"expected a request for item {index + 1} of {wanted}, all wanted", upstream, down)
            item = self.create_element(index)
            attempt(lambda: processor.on_next(item))  # noqa: B023  # used at once
        if not down.await_values(wanted):
            self.env.fail("4.1", f"expected {wanted} items to be passed on", down, upstream)

    def test_required_spec101_must_not_request_without_bound_or_pass_on_more_than_requested(self) -> None:
        """A subscriber that requests two items gets two, however many upstream is willing to send."""
        if not self.waits_for_demand:
            pytest.skip("waits_for_demand = False")
        processor, upstream, down = self._middle()
        down.request(2)
        if not upstream.await_request():
            pytest.skip("cannot be verified, nothing is requested (see the test before)")
        for index in range(self.processor_buffer_size):
            if not self.env.wait_until(lambda: upstream.requested > index, self.no_signals_timeout):  # noqa: B023
                break
            item = self.create_element(index)
            attempt(lambda: processor.on_next(item))  # noqa: B023  # used at once
        if not self.env.never(lambda: len(down.values) > 2):
            self.env.fail("1.1", "expected no more than the two items that were requested", down, upstream)

    def test_required_spec105_must_pass_on_on_complete_after_the_elements(self) -> None:
        """on_complete reaches the subscriber after the items that came before it."""
        processor, upstream, down = self._middle()
        down.request(2)
        if not upstream.await_request(1):
            pytest.skip("cannot be verified, nothing is requested")
        item = self.create_element(0)
        attempt(lambda: processor.on_next(item))
        attempt(processor.on_complete)
        if not down.await_terminal() or down.terminal != "on_complete" or down.values != [item]:
            self.env.fail("1.5", "expected one item and on_complete", down, upstream)

    def test_required_spec206_must_call_subscription_cancel_if_it_is_no_longer_valid(self) -> None:
        """Not required of a processor: when its last subscriber leaves it may go on. See the next test."""
        untested("a processor without subscribers may go on")

    def test_optional_should_cancel_its_upstream_when_its_last_subscriber_cancels(self) -> None:
        """Not mandated: the cancellation of the only subscriber goes upstream."""
        _, upstream, down = self._middle()
        down.cancel()
        if not upstream.await_cancel():
            pytest.skip("does not cancel upstream")


class Feed(Generic[T]):
    """A correct, synchronous publisher of items made by a verification: what a processor under test is subscribed to."""

    def __init__(self, source: IdentityProcessorVerification[T], count: int) -> None:
        self._source = source
        self._count = count

    def subscribe(self, subscriber: Subscriber[T], /) -> None:
        feeding = _Feeding(self._source, self._count, subscriber)
        subscriber.on_subscribe(feeding)
        feeding.emit()


class _Feeding(Generic[T]):
    def __init__(self, source: IdentityProcessorVerification[T], count: int, down: Subscriber[T]) -> None:
        self._source = source
        self._down: Subscriber[T] | None = down
        self._count = count
        self._wanted: list[int] = []
        self._token = {0: True}
        self._sent = self._allowed = 0

    def request(self, n: int, /) -> None:
        self._wanted.append(n)
        self.emit()

    def emit(self) -> None:
        # Publish first, look afterwards: the holder of the token sees the request, or this thread gets the token.
        while (self._wanted or self._sent == self._count) and self._down is not None:
            if not self._token.pop(0, False):
                return
            try:
                while self._step():
                    pass
            finally:
                self._token[0] = True

    def _step(self) -> bool:
        down = self._down
        if down is None:
            return False
        if self._sent == self._count:
            self._down = None
            down.on_complete()
        elif self._sent < self._allowed:
            self._sent += 1
            down.on_next(self._source.create_element(self._sent - 1))
        elif self._wanted:
            n = self._wanted.pop()
            self._allowed += max(n, 0)
            if n < 1:
                self._down = None
                down.on_error(ValueError(f"§3.9: request({n})"))
        else:
            return False
        return True

    def cancel(self) -> None:
        self._down = None


class _Telling(Generic[T]):
    """The last subscriber, which is the probe's witness."""

    def __init__(self, probe: WhiteboxProbe[T]) -> None:
        self._probe = probe

    def on_subscribe(self, subscription: Subscription, /) -> None:
        self._probe.register_on_subscribe(_Puppet(subscription))

    def on_next(self, item: T, /) -> None:
        self._probe.register_on_next(item)

    def on_error(self, error: Exception, /) -> None:
        self._probe.register_on_error(error)

    def on_complete(self) -> None:
        self._probe.register_on_complete()


class _Puppet:
    def __init__(self, subscription: Any) -> None:
        self.trigger_request = subscription.request
        self.signal_cancel = subscription.cancel

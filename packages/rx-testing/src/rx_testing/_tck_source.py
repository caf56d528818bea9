"""What a publisher's author fills in, and what the tests about publishers share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

import pytest

from rx_core import UNBOUNDED
from rx_testing._tck_env import Probe, Verification, attempt

if TYPE_CHECKING:
    from rx_core import Publisher

T = TypeVar("T")


class PublisherOptions(Verification, Generic[T]):
    """How to make the publishers under test."""

    #: The longest stream that :meth:`create_publisher` can make; tests that need a longer one are skipped.
    max_elements_from_publisher: int = UNBOUNDED - 1
    #: How deeply on_next may be nested in request inside on_next (§3.3).
    bounded_depth_of_on_next_and_request_recursion: int = 1
    #: False for publishers that serve one subscriber, or that deal their items out among several: skips §1.11.
    multi_subscribe: bool = True
    #: The exceptions that may answer request(0) and request(-1).
    invalid_request_errors: tuple[type[Exception], ...] = (ValueError,)

    @abstractmethod
    def create_publisher(self, count: int, /) -> Publisher[T]:
        """A publisher of exactly ``count`` items, or of more than a test could read when it is very many."""

    def create_failed_publisher(self) -> Publisher[T] | None:
        """A publisher that fails as soon as it is subscribed to; None: there is none, its tests are skipped."""
        return None

    # for the tests ----------------------------------------------------------------------------------------------------

    def _publisher(self, count: int) -> Publisher[T]:
        if count > self.max_elements_from_publisher:
            pytest.skip(f"needs {count} items, max_elements_from_publisher is {self.max_elements_from_publisher}")
        return self.create_publisher(count)

    def _failed_publisher(self) -> Publisher[T]:
        publisher = self.create_failed_publisher()
        if publisher is None:
            pytest.skip("create_failed_publisher() returns None")
        return publisher

    def _at_most(self, wanted: int) -> int:
        if self.max_elements_from_publisher < 1:
            pytest.skip("max_elements_from_publisher = 0")
        return min(wanted, self.max_elements_from_publisher)

    def _subscribe(self, publisher: Publisher[T], probe: Probe[T] | None = None) -> Probe[T]:
        """Subscribe and wait for on_subscribe. Where that does not come nothing else can be verified: §1.9 tells."""
        probe = Probe(self.env) if probe is None else probe
        raised = attempt(lambda: publisher.subscribe(probe))
        if raised is not None:
            probe.raised.append(("subscribe()", raised))
        if not self.env.wait_until(lambda: probe.subscription is not None):
            pytest.skip(f"cannot be verified, on_subscribe does not come (see §1.9): {probe}")
        return probe

    def _probe(
        self, on_next: Callable[[Probe[T]], object] | None = None, on_subscribe: Callable[[Probe[T]], object] | None = None
    ) -> Probe[T]:
        return Probe(self.env, on_next=on_next, on_subscribe=on_subscribe)

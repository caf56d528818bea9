"""What the author of a publisher that can be polled fills in, and what the tests about such publishers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import pytest

from rx_core.queue_fusion import ASYNC, SYNC
from rx_testing._tck_env import attempt
from rx_testing._tck_queue import FUSION_RULES, MODES, QueueProbe
from rx_testing._tck_source import PublisherOptions

if TYPE_CHECKING:
    from rx_core import Publisher

T = TypeVar("T")


class FusedPublisherOptions(PublisherOptions[T]):
    """How to make the publishers under test, and which way of polling they grant."""

    #: The mode that the publisher grants: SYNC or ASYNC.
    mode: int = SYNC

    def create_mapped_publisher(self, count: int, function: Callable[[T], T], /) -> Publisher[T] | None:
        """The same with a function that runs for each item, when it is polled; None: there is none, its tests are skipped."""
        return None

    # for the tests ----------------------------------------------------------------------------------------------------

    def _fail(self, rule: str, what: str, *parties: object) -> NoReturn:
        __tracebackhide__ = True
        self.env.fail(f"{rule}: {FUSION_RULES[rule]}", what, *parties)

    def _poller(
        self,
        publisher: Publisher[T],
        *modes: int,
        on_subscribe: Callable[[QueueProbe[T]], object] | None = None,
        on_next: Callable[[QueueProbe[T]], object] | None = None,
    ) -> QueueProbe[T]:
        probe = QueueProbe[T](self.env, *modes, on_subscribe=on_subscribe, on_next=on_next)
        raised = attempt(lambda: publisher.subscribe(probe))
        if raised is not None or len(probe.granted) != len(modes):
            self._fail("F1", f"the Subscription offers no fusion; subscribe() raised {raised!r}", probe)
        return probe

    def _granted(self, publisher: Publisher[T], mode: int, **reactions: Any) -> QueueProbe[T]:
        probe = self._poller(publisher, mode, **reactions)
        if probe.granted != [mode]:
            pytest.skip(f"{MODES[mode]} is not granted")
        return probe

    def _sync(self, publisher: Publisher[T], **reactions: Any) -> QueueProbe[T]:
        if self.mode != SYNC:
            pytest.skip("the publisher grants ASYNC")
        return self._granted(publisher, SYNC, **reactions)

    def _async(self, publisher: Publisher[T], **reactions: Any) -> QueueProbe[T]:
        if self.mode != ASYNC:
            pytest.skip("the publisher grants SYNC")
        return self._granted(publisher, ASYNC, **reactions)

    def _filled(self, publisher: Publisher[T], count: int) -> QueueProbe[T]:
        """Ready to be polled ``count`` times, in whichever mode."""
        probe = self._granted(publisher, self.mode)
        if self.mode == ASYNC:
            probe.request(count)
        return probe

    def _queue_of(self, probe: QueueProbe[T]) -> Any:
        if not probe.offers:
            self._fail("F1", "the Subscription has no request_fusion()", probe)
        return probe.queue

    def _mapped(self, count: int, function: Callable[[T], T]) -> Publisher[T]:
        publisher = self.create_mapped_publisher(self._at_most(count), function)
        if publisher is None:
            pytest.skip("create_mapped_publisher() returns None")
        return publisher


class Boom(Exception):
    """What a function of the verification raises."""


def noting(calls: list[T]) -> Callable[[T], T]:
    def note(item: T) -> T:
        calls.append(item)
        return item

    return note


class EverySecond(QueueProbe[T]):
    """A conditional subscriber that turns down the first of each two items."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.taken: list[T] = []
        self.turned_down: list[T] = []
        self.asked_conditionally = 0

    def on_next(self, item: T, /) -> None:
        if not self._takes(item):
            self.request(1)

    def try_on_next(self, item: T, /) -> bool:
        self.asked_conditionally += 1
        return self._takes(item)

    def _takes(self, item: T) -> bool:
        takes = len(self.turned_down) > len(self.taken)
        (self.taken if takes else self.turned_down).append(item)
        super().on_next(item)
        return takes

"""Micro-fusion, the consumer's side: what an operator has to do that polls its source (:mod:`rx_core.queue_fusion`)."""

from __future__ import annotations

import threading
from abc import abstractmethod
from typing import TYPE_CHECKING, NoReturn

import pytest

from rx_core.queue_fusion import ASYNC, BOUNDARY, NONE, SYNC
from rx_testing._tck_env import Probe, Verification, attempt
from rx_testing._tck_queue import FUSION_RULES, NOT_AN_ITEM, WatchedQueue

if TYPE_CHECKING:
    from rx_core import Publisher


class FusedConsumerVerification(Verification):
    """Verifies an operator that may poll its source, from behind and from before: a source that watches, and a subscriber.

    ::

        class TestMine(FusedConsumerVerification):
            def create_operator(self, source: Publisher[int]) -> Publisher[int]:
                return Mine(source)

    The operator passes the items of ``source`` on, all of them and in order. Rules C1–C10 of ``rx_testing.tck.FUSION_RULES``.
    """

    #: The modes it uses: SYNC, ASYNC or ANY. Sources that grant another one are not tried.
    uses: int = SYNC | ASYNC
    #: Whether an error waits behind the items before it; False for operators that let errors overtake.
    errors_wait: bool = True

    @abstractmethod
    def create_operator(self, source: Publisher[int], /) -> Publisher[int]:
        """The operator under test, over ``source``."""

    # SYNC -------------------------------------------------------------------------------------------------------------

    def test_required_c4_sync_must_pass_on_what_is_polled(self) -> None:
        """All items, then on_complete."""
        source = self._source(SYNC, 5)
        self._all(source, self._run(source, 6), 5)

    def test_required_c4_sync_must_complete_for_an_empty_source(self) -> None:
        """Without a request, or with the first one."""
        source = self._source(SYNC, 0)
        self._all(source, self._run(source, 1), 0)

    def test_required_c2_sync_must_not_request(self) -> None:
        """Neither before the first poll nor after it."""
        source = self._source(SYNC, 300)
        probe = self._run(source, 301)
        self._conforms(source, "C2", probe)

    def test_required_c4_sync_must_give_no_more_than_requested(self) -> None:
        """Three of five."""
        source = self._source(SYNC, 5)
        probe = self._run(source, 3)
        if probe.values != [0, 1, 2] or not self.env.never(lambda: len(probe.values) > 3):
            self._fail("C4", "expected the 3 items that were requested", probe, source)

    def test_required_c5_sync_must_signal_an_error_that_poll_raises(self) -> None:
        """Behind the items, as itself."""
        error = ValueError("of the source")
        source = self._source(SYNC, 2, fails=error)
        probe = self._run(source, 3)
        if probe.values != [0, 1] or probe.error is not error:
            self._fail("C5", "expected 2 items and then the error that poll() raised", probe, source)

    # ASYNC ------------------------------------------------------------------------------------------------------------

    def test_required_c4_async_must_pass_on_what_is_polled(self) -> None:
        """All items; the end is signalled when the last one has been polled."""
        source = self._source(ASYNC, 5, slow=True)
        self._all(source, self._run(source, 6), 5)

    def test_required_c10_async_must_pass_on_what_waits_before_the_end(self) -> None:
        """on_complete comes while everything still waits."""
        source = self._source(ASYNC, 5)
        self._all(source, self._run(source, 6), 5, rule="C10")

    def test_required_c10_async_must_pass_on_what_waits_before_an_error(self) -> None:
        """on_error comes while everything still waits."""
        if not self.errors_wait:
            pytest.skip("errors overtake")
        error = ValueError("of the source")
        source = self._source(ASYNC, 2, fails=error)
        probe = self._run(source, 3)
        if probe.values != [0, 1] or probe.error is not error:
            self._fail("C10", "expected 2 items and then the error", probe, source)

    def test_required_c9_async_must_ignore_what_a_notice_carries(self) -> None:
        """It is no item."""
        source = self._source(ASYNC, 1)
        probe = self._run(source, 2)
        if NOT_AN_ITEM in map(str, probe.values):
            self._fail("C9", "what on_next carried went on as an item", probe, source)

    def test_required_c4_async_must_request_again(self) -> None:
        """Its window is replenished by what it has taken, where it has one: the source gives no more than is requested."""
        source = self._source(ASYNC, 400, slow=True)
        self._all(source, self._run(source, 401), 400)

    # both -------------------------------------------------------------------------------------------------------------

    def test_required_c1_must_ask_inside_on_subscribe(self) -> None:
        """At most for one mode that is granted."""
        for mode in (SYNC, ASYNC):
            if mode & self.uses:
                source = self._source(mode, 3)
                self._conforms(source, "C1", self._run(source, 4))
                if source.granted != mode:
                    self._fail("C1", "it was offered a mode that it uses, and did not take it", source)

    def test_required_c3_must_not_poll_after_cancel(self) -> None:
        """Cancelled by the subscriber, from inside on_next."""
        for mode in (SYNC, ASYNC):
            if mode & self.uses:
                source = self._source(mode, 50, slow=True)
                probe = Probe[int](self.env, on_next=lambda probe: probe.cancel() if len(probe.values) == 2 else None)
                self._subscribe(source, probe, 50)
                self.env.wait_until(lambda: source.cancels > 0)  # noqa: B023  # used at once
                self.env.never(lambda: False)
                self._conforms(source, "C3", probe)

    def test_required_c3_must_poll_from_one_thread_at_a_time(self) -> None:
        """Requests come from several threads."""
        source = self._source(SYNC if self.uses & SYNC else ASYNC, 200)
        probe = Probe[int](self.env)
        self._subscribe(source, probe, 0)

        def fifty() -> None:
            for _ in range(50):
                probe.request(1)

        threads = [threading.Thread(target=fifty, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(self.default_timeout)
        probe.await_values(200)
        self._conforms(source, "C3", probe, but="C7")  # the thread that requests may poll, when nothing is computed there
        if probe.values != list(range(200)):
            self._fail("C4", "expected 200 items in order", probe, source)

    def test_required_c6_must_cancel_the_source(self) -> None:
        """When it is cancelled before the end."""
        for mode in (SYNC, ASYNC):
            if mode & self.uses:
                source = self._source(mode, 50, slow=True)
                probe = Probe[int](self.env)
                self._subscribe(source, probe, 1)
                probe.await_values(1)
                probe.cancel()
                if not self.env.wait_until(lambda: source.cancels > 0):  # noqa: B023  # used at once
                    self._fail("C6", "the source was not cancelled", probe, source)
                self._conforms(source, "C3", probe)

    def test_required_c7_must_say_when_it_polls_on_another_thread(self) -> None:
        """BOUNDARY beside the mode."""
        for mode in (SYNC, ASYNC):
            if mode & self.uses:
                source = self._source(mode, 5)
                self._conforms(source, "C7", self._run(source, 6))

    def test_required_c8_must_follow_the_plain_protocol_when_it_is_refused(self) -> None:
        """A source that grants nothing, and one that grants nothing across threads."""
        source = self._source(NONE, 5)
        probe = self._run(source, 6)
        self._all(source, probe, 5, rule="C8")
        moved = self._source(SYNC, 5, boundary=False)
        self._all(moved, self._run(moved, 6), 5, rule="C8")
        if moved.granted and any(mode & BOUNDARY for mode in moved.asked[-1:]):
            self._fail("C8", "polled although BOUNDARY was refused", moved)

    # shared -----------------------------------------------------------------------------------------------------------

    def _source(
        self, mode: int, count: int, *, fails: Exception | None = None, boundary: bool = True, slow: bool = False
    ) -> WatchedQueue:
        if mode != NONE and not mode & self.uses:
            pytest.skip("it does not use this mode")
        return WatchedQueue(self.env, mode, count, fails=fails, boundary=boundary, slow=slow)

    def _run(self, source: WatchedQueue, n: int) -> Probe[int]:
        probe = Probe[int](self.env)
        self._subscribe(source, probe, n)
        self.env.wait_until(lambda: probe.terminated or len(probe.values) >= n)
        return probe

    def _subscribe(self, source: WatchedQueue, probe: Probe[int], n: int) -> None:
        raised = attempt(lambda: self.create_operator(source).subscribe(probe))
        if raised is not None or not self.env.wait_until(lambda: probe.subscription is not None):
            self._fail("C4", f"no on_subscribe; subscribe() raised {raised!r}", probe, source)
        if n:
            probe.request(n)

    def _all(self, source: WatchedQueue, probe: Probe[int], count: int, *, rule: str = "C4") -> None:
        probe.await_terminal()
        if probe.values != list(range(count)) or probe.terminal != "on_complete":
            self._fail(rule, f"expected the {count} items in order, and on_complete", probe, source)
        self._conforms(source, rule, probe)

    def _conforms(self, source: WatchedQueue, rule: str, probe: Probe[int], but: str = "") -> None:
        for broken, text in source.violations:
            if broken == rule and broken != but:
                self._fail(broken, text, probe, source)

    def _fail(self, rule: str, what: str, *parties: object) -> NoReturn:
        __tracebackhide__ = True
        self.env.fail(f"{rule}: {FUSION_RULES[rule]}", what, *parties)

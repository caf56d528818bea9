"""Micro-fusion, the source's side: what a publisher has to do that offers itself as a queue (:mod:`rx_core.queue_fusion`)."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import TYPE_CHECKING, TypeVar

import pytest

from rx_core.queue_fusion import ANY, ASYNC, BOUNDARY, NONE, SYNC
from rx_testing._tck_env import attempt
from rx_testing._tck_fused_source import Boom, EverySecond, FusedPublisherOptions, noting
from rx_testing._tck_queue import MODES, QueueProbe

if TYPE_CHECKING:
    from rx_core import Publisher

T = TypeVar("T")


class FusedPublisherVerification(FusedPublisherOptions[T]):
    """Verifies a publisher that can be polled; beside it the :class:`PublisherVerification` is to pass, for those who do not.

    ::

        class TestNumbers(FusedPublisherVerification[int]):
            mode = SYNC

            def create_publisher(self, count: int) -> Publisher[int]:
                return Numbers(count)

    ``create_publisher(n)`` makes streams of different items. Rules F1–F13 of ``rx_testing.tck.FUSION_RULES``.
    """

    # negotiation ------------------------------------------------------------------------------------------------------

    def test_required_f1_must_grant_one_of_the_modes_it_was_asked_for(self) -> None:
        """NONE, SYNC, ASYNC and ANY, with BOUNDARY and without."""
        for mode in (NONE, SYNC, ASYNC, ANY, BOUNDARY, SYNC | BOUNDARY, ASYNC | BOUNDARY, ANY | BOUNDARY):
            probe = self._poller(self.create_publisher(1), mode)
            granted = probe.granted[0]
            if granted not in MODES or granted & ~mode:
                self._fail("F1", f"request_fusion({mode}) gave {granted}", probe)

    def test_required_f1_must_grant_its_mode(self) -> None:
        """Asked for ANY it grants what it says."""
        probe = self._poller(self.create_publisher(1), ANY)
        if probe.granted != [self.mode]:
            self._fail("F1", f"request_fusion(ANY) gave {probe.granted[0]}, the verification says {MODES[self.mode]}", probe)

    def test_required_f2_must_follow_the_plain_protocol_when_it_has_refused(self) -> None:
        """After NONE the items come as requested."""
        count = self._at_most(3)
        probe = self._poller(self.create_publisher(count), NONE)
        probe.by_ones(count + 1)
        if len(probe.values) != count or probe.terminal != "on_complete":
            self._fail("F2", f"expected {count} items and on_complete for requests, after fusion was refused", probe)

    def test_required_f12_must_refuse_after_on_subscribe(self) -> None:
        """Too late: items may be on their way."""
        probe = QueueProbe[T](self.env)
        self._subscribe(self.create_publisher(self._at_most(3)), probe)
        late = self._queue_of(probe).request_fusion(ANY)
        if late != NONE:
            self._fail("F12", f"request_fusion(ANY) after on_subscribe gave {late}", probe)

    def test_optional_f10_must_refuse_boundary_when_polling_runs_functions(self) -> None:
        """The functions of a source run on the thread they would run on without fusion."""
        threads: set[int] = set()

        def note(item: T) -> T:
            threads.add(threading.get_ident())
            return item

        probe = self._poller(self._mapped(3, note), ANY | BOUNDARY)
        if probe.granted[0] == NONE:
            return
        if self.mode == ASYNC:
            probe.request(3)
            self.env.wait_until(lambda: probe.notices > 0)
        emitters = set(threads)
        self.env.in_thread(lambda: probe.poll_all(3))
        if threads - emitters:
            self._fail("F10", "a function of the source ran on the thread that polled", probe)

    # SYNC -------------------------------------------------------------------------------------------------------------

    def test_required_f3_sync_must_give_the_elements_and_then_none(self) -> None:
        """The same items as un-fused, in the same order; None again and again; no signal."""
        count = self._at_most(5)
        plain = self._subscribe(self.create_publisher(count))
        plain.request(count + 1)
        probe = self._sync(self.create_publisher(count))
        probe.poll_all(count + 3)
        ends = [probe.poll() for _ in range(3)]
        if len(probe.polled) != count or probe.polled != plain.values or ends != [None] * 3:
            self._fail("F3", f"expected {plain.values} and then None", probe)
        self._silent(probe)

    def test_required_f3_sync_may_be_polled_inside_on_subscribe(self) -> None:
        """A consumer's own subscriber may request at once."""
        count = self._at_most(3)
        probe = self._sync(self.create_publisher(count), on_subscribe=lambda probe: probe.poll_all(count))
        if len(probe.polled) != count:
            self._fail("F3", f"expected {count} items for polls inside on_subscribe", probe)
        if probe.poll() is not None:
            self._fail("F3", "expected None: the items have been polled inside on_subscribe", probe)
        self._silent(probe)

    def test_optional_f4_sync_must_raise_the_error_from_poll(self) -> None:
        """create_failed_publisher() raises when it is polled, and signals nothing."""
        failed = self._failed_publisher()
        probe = self._sync(failed)
        probe.poll_all(3)
        if probe.failure is None:
            self._fail("F4", "expected poll() to raise the error of create_failed_publisher()", probe)
        self._silent(probe)

    def _silent(self, probe: QueueProbe[T]) -> None:
        if not self.env.never(lambda: len(probe.signals) > 1):
            self._fail("F3", f"{probe.signals[1][0]} was signalled in SYNC mode", probe)

    # the queue --------------------------------------------------------------------------------------------------------

    def test_required_f5_is_empty_must_not_hide_an_element(self) -> None:
        """True is a promise; after the end it is required."""
        count = self._at_most(4)
        probe = self._filled(self.create_publisher(count), count)
        for at in range(count):
            empty = self._queue_of(probe).is_empty()
            if empty and probe.poll() is not None:
                self._fail("F5", f"is_empty() was True with {count - at} items left", probe)
            if not empty:
                self.env.wait_until(lambda: probe.poll() is not None)
        if self.mode == ASYNC:
            probe.request(1)  # for those that look for the end only then
        if not self.env.wait_until(lambda: probe.poll_out() and self._queue_of(probe).is_empty()):
            self._fail("F5", "is_empty() is not True after the end", probe)

    def test_optional_f5_is_empty_must_compute_nothing(self) -> None:
        """It may be called without demand."""
        calls: list[T] = []
        probe = self._poller(self._mapped(3, noting(calls)), ANY)
        for _ in range(3):
            self._queue_of(probe).is_empty()
        if calls and self.mode == SYNC:
            self._fail("F5", f"is_empty() ran a function for {calls}", probe)

    def test_required_f6_poll_many_must_give_the_next_elements(self) -> None:
        """Two, and then the rest; an empty list at the end."""
        count = self._at_most(5)
        probe = self._filled(self.create_publisher(count), count)
        got: list[T] = []
        sizes: list[int] = []

        def more(n: int) -> bool:
            batch = self._queue_of(probe).poll_many(n)
            sizes.append(len(batch))
            got.extend(batch)
            return len(batch) > 0

        self.env.wait_until(lambda: more(2))
        self.env.wait_until(lambda: more(count + 5) or len(got) >= count)
        more(3)
        plain = self._subscribe(self.create_publisher(count))
        plain.request(count + 1)
        if sizes[0] > 2 or got != plain.values:
            self._fail("F6", f"expected {plain.values}, at most 2 at first; got batches of {sizes}: {got}", probe)

    def test_optional_f6_poll_many_must_give_the_elements_before_an_error(self) -> None:
        """The error comes with the call after them."""

        def third(item: T) -> T:
            calls.append(item)
            if len(calls) == 3:
                raise Boom
            return item

        calls: list[T] = []
        if self._at_most(3) < 3:
            pytest.skip("needs 3 items")
        probe = self._filled(self._mapped(4, third), 4)
        got: list[T] = []
        failures: list[Exception] = []

        def more() -> bool:
            failure = attempt(lambda: got.extend(self._queue_of(probe).poll_many(9)))
            failures.extend([failure] if failure is not None else [])
            return bool(failures) or probe.terminated

        for _ in range(5):
            self.env.wait_until(more)
            if failures or (probe.error is not None and len(got) == 2):
                break
        error = failures[0] if failures else probe.error
        if len(got) != 2 or not isinstance(error, Boom):
            self._fail("F6", f"expected 2 items and then the error of a function, got {got} and {error!r}", probe)

    def test_optional_f13_poll_must_compute_no_further(self) -> None:
        """A function has run for the items that were polled, and for none beyond."""
        if self.mode != SYNC:
            pytest.skip("an ASYNC source computes as it was requested")
        calls: list[T] = []
        probe = self._sync(self._mapped(4, noting(calls)))
        for polled in range(1, self._at_most(3) + 1):
            probe.poll()
            if len(calls) != polled:
                self._fail("F13", f"{polled} polls ran the function {len(calls)} times", probe)

    # ASYNC ------------------------------------------------------------------------------------------------------------

    def test_required_f7_async_must_tell_give_and_end(self) -> None:
        """A notice, the items by poll(), and on_complete."""
        count = self._at_most(5)
        probe = self._async(self.create_publisher(count))
        probe.request(count)
        if not self.env.wait_until(lambda: probe.notices > 0 or probe.terminated):
            self._fail("F7", "expected on_next, as a notice that there is something to poll", probe)
        self.env.wait_until(lambda: probe.poll_out() and len(probe.polled) >= count)
        probe.request(1)
        self.env.wait_until(lambda: probe.poll_out() and probe.terminated)
        if len(probe.polled) != count or probe.ends != ["on_complete"]:
            self._fail("F7", f"expected {count} items by poll(), and on_complete once", probe)

    def test_optional_f7_async_must_end_with_the_error(self) -> None:
        """create_failed_publisher() ends with on_error."""
        probe = self._async(self._failed_publisher())
        probe.request(1)
        if not self.env.wait_until(lambda: probe.poll_out() and (probe.terminated or probe.failure is not None)):
            self._fail("F7", "expected on_error from create_failed_publisher()", probe)

    def test_required_f8_async_signals_must_be_serial(self) -> None:
        """Requests and polls from another thread while a notice is being delivered."""
        dwell = threading.Event()

        def interfere(probe: QueueProbe[T]) -> None:
            if probe.notices <= 3:
                self.env.in_thread(lambda: probe.request(1), 0.05)
                dwell.wait(0.001)

        def early(probe: QueueProbe[T]) -> None:
            probe.request(2)
            self.env.never(lambda: bool(probe.overlaps) or probe.notices > 0)
            if probe.notices:
                probe.overlaps.append("a notice inside on_subscribe")

        probe = self._async(self.create_publisher(self._at_most(10)), on_subscribe=early, on_next=interfere)
        self.env.wait_until(lambda: probe.poll_out() and (probe.terminated or len(probe.polled) >= 3))
        if probe.overlaps:
            self._fail("F8", probe.overlaps[0], probe)

    # cancelling -------------------------------------------------------------------------------------------------------

    def test_required_f9_must_be_quiet_after_cancel(self) -> None:
        """No signal; poll() gives nothing any more or is not called, and clear() returns."""
        probe = self._filled(self.create_publisher(self._at_most(4)), 2)
        self.env.wait_until(lambda: probe.poll() is not None)
        probe.cancel()
        seen = len(probe.signals)
        failure = attempt(self._queue_of(probe).clear)
        if failure is not None or [text for text in probe.raised if text[0] == "cancel()"]:
            self._fail("F9", f"cancel() or clear() raised {failure!r}", probe)
        if not self.env.never(lambda: len(probe.signals) > seen):
            self._fail("F9", f"{probe.signals[seen][0]} came after cancel()", probe)

    def test_optional_f9_cancel_must_not_wait_for_poll(self) -> None:
        """From another thread, while a function of the source runs in poll()."""
        entered, leave = threading.Event(), threading.Event()

        def slow(item: T) -> T:
            entered.set()
            leave.wait(self.default_timeout)
            return item

        probe = self._filled(self._mapped(3, slow), 3)
        poller = threading.Thread(
            target=lambda: self.env.wait_until(lambda: probe.poll() is not None or probe.cancelled), daemon=True
        )
        poller.start()
        try:
            if not entered.wait(self.default_timeout):
                pytest.skip(f"cannot be verified, the function does not run: {probe}")
            returned = self.env.in_thread(probe.cancel, self.default_timeout / 4)
        finally:
            leave.set()
            poller.join(self.default_timeout)
        if not returned or probe.raised:
            self._fail("F9", "cancel() on another thread did not return, or raised, while poll() was running", probe)
        if poller.is_alive():
            self._fail("F9", "poll() did not return after cancel()", probe)

    def test_required_f9_must_forget_the_subscriber_after_cancel(self) -> None:
        """As §3.13, for a subscriber that polls."""
        publisher = self.create_publisher(self._at_most(4))
        reference = self._cancelled(publisher)
        if not self.env.wait_until(lambda: gc.collect() >= 0 and reference() is None):
            self._fail("F9", "the publisher still refers to a subscriber that has polled and cancelled")
        assert publisher is not None

    def _cancelled(self, publisher: Publisher[T]) -> weakref.ref[QueueProbe[T]]:
        probe = self._filled(publisher, 1)
        self.env.wait_until(lambda: probe.poll() is not None)
        probe.cancel()
        return weakref.ref(probe)

    # conditional ------------------------------------------------------------------------------------------------------

    def test_optional_f11_what_was_turned_down_must_not_count_as_requested(self) -> None:
        """A subscriber that takes every second item and has requested two gets two of four."""
        probe = EverySecond[T](self.env)
        self._subscribe(self._publisher(6), probe)
        probe.request(2)
        self.env.wait_until(lambda: len(probe.taken) >= 2)
        if probe.asked_conditionally == 0:
            pytest.skip("does not use try_on_next()")
        if not self.env.never(lambda: len(probe.taken) > 2) or len(probe.taken) != 2 or len(probe.turned_down) not in (1, 2):
            self._fail("F11", f"2 requested: {probe.taken} taken and {probe.turned_down} turned down", probe)

"""What the fusion verifications share: their rules, a subscriber that polls, and a source that watches who polls it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rx_core.queue_fusion import ANY, ASYNC, BOUNDARY, NONE, SYNC
from rx_testing._tck_env import Env, Probe

if TYPE_CHECKING:
    from rx_core import Subscriber

T = TypeVar("T")

#: The rules of micro-fusion, each in one line; F for the source, C for the consumer.
FUSION_RULES: Final[Mapping[str, str]] = {
    "F1": "request_fusion answers NONE, or exactly one of the modes it was asked for",
    "F2": "a source that was refused fusion, or not asked, follows the plain protocol",
    "F3": "in SYNC mode poll() gives the items in order and then None, and nothing is signalled",
    "F4": "in SYNC mode poll() raises the source's error",
    "F5": "is_empty() is True only when poll() would give None, always after the end, and computes nothing",
    "F6": "poll_many(n) gives the next items, at most n; an error comes behind the items before it",
    "F7": "in ASYNC mode on_next tells that there is something to poll, and the end is signalled",
    "F8": "signals stay serial in ASYNC mode, and none comes before on_subscribe has returned",
    "F9": "cancel() returns while poll() runs elsewhere; afterwards nothing comes",
    "F10": "a source whose poll() runs a user's functions refuses BOUNDARY",
    "F11": "an item that try_on_next() turned down does not count as requested",
    "F12": "a mode is negotiated inside on_subscribe; later the answer is NONE",
    "F13": "poll() computes the item it gives and none beyond it",
    "C1": "a consumer asks for fusion inside on_subscribe, for modes that exist, and again only after NONE",
    "C2": "a consumer in SYNC mode never requests",
    "C3": "a consumer polls from one thread at a time, and never after it has cancelled",
    "C4": "what is polled goes on in order, and the end of a queue is the end of the stream",
    "C5": "an error that poll() raises ends the stream, and the source is cancelled",
    "C6": "a consumer that is cancelled cancels the source",
    "C7": "a consumer that polls on another thread than the one of on_subscribe asks with BOUNDARY",
    "C8": "a consumer that is refused follows the plain protocol",
    "C9": "what on_next carries in ASYNC mode is ignored",
    "C10": "an end that is signalled in ASYNC mode comes behind what still waits in the queue",
}


class QueueProbe(Probe[T]):
    """A probe that asks for fusion when it is subscribed, and polls."""

    def __init__(
        self,
        env: Env,
        *modes: int,
        on_subscribe: Callable[[QueueProbe[T]], object] | None = None,
        on_next: Callable[[QueueProbe[T]], object] | None = None,
    ) -> None:
        def ask(_: Probe[T]) -> None:
            self.granted += [self.queue.request_fusion(mode) for mode in modes]
            if on_subscribe is not None:
                on_subscribe(self)

        super().__init__(env, on_subscribe=ask, on_next=None if on_next is None else lambda _: on_next(self))
        #: What each mode that was asked for brought.
        self.granted: list[int] = []
        #: What poll() and poll_many() gave.
        self.polled: list[T] = []
        #: What they raised.
        self.failure: Exception | None = None
        self._polling: dict[int, None] = {}

    @property
    def queue(self) -> Any:
        """The Subscription, as the queue it should be."""
        return self.subscription

    @property
    def offers(self) -> bool:
        return hasattr(self.subscription, "request_fusion")

    def poll(self) -> T | None:
        """The next item, also kept in ``polled``; None when there is none, or when it raised, which is kept in ``failure``."""
        item: T | None = None
        told = -1
        while item is None and told != self.notices:  # told meanwhile that there is something: look again
            told = self.notices
            try:
                item = self.queue.poll()
            except Exception as error:
                self.failure = error
                return None
        if item is not None:
            self.polled.append(item)
        return item

    def poll_all(self, most: int) -> None:
        """Poll until there is nothing, or ``most`` items."""
        while len(self.polled) < most and self.poll() is not None:
            pass

    def poll_out(self) -> bool:
        """Poll until there is nothing; True, for use in conditions."""
        while self.poll() is not None:
            pass
        return True

    @property
    def notices(self) -> int:
        return sum(kind == "on_next" for kind, _ in self.signals)

    @property
    def ends(self) -> list[str]:
        return [kind for kind, _ in self.signals if kind in ("on_complete", "on_error")]

    def __str__(self) -> str:
        text = f"granted {[MODES.get(mode, mode) for mode in self.granted]}, polled {self.polled[:12]}; {super().__str__()}"
        return text if self.failure is None else f"{text}; poll raised {self.failure!r}"


MODES: Final = {NONE: "NONE", SYNC: "SYNC", ASYNC: "ASYNC"}


class WatchedQueue:
    """A publisher of the numbers below ``count``, and the Subscription of its one subscriber: grants ``mode`` and watches.

    In ASYNC mode it has everything at once, whatever is requested, and says so with a notice that carries something that is no
    item, and with the end right behind. If it is ``slow`` it gives what is requested and ends when the last item is polled.
    ``fails``: what comes instead of the end. With ``boundary`` False it refuses across threads.
    """

    def __init__(
        self, env: Env, mode: int, count: int, *, fails: Exception | None = None, boundary: bool = True, slow: bool = False
    ) -> None:
        self._env = env
        self.mode = mode
        self.fails = fails
        self.boundary = boundary
        self._slow = slow
        self._given = 0
        self._down: Subscriber[Any] | None = None
        self.items: deque[int] = deque(range(count))
        self.granted = NONE
        self.asked: list[int] = []
        self.requested = 0
        self.cancels = 0
        self.cleared = 0
        self.polls = 0
        #: What a consumer must not do, as (rule, text).
        self.violations: list[tuple[str, str]] = []
        self._subscribing = 0
        self._polling: dict[int, None] = {}
        self._boundary_asked = False
        self._emitting = False
        self._done = False

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self._down = subscriber
        self._subscribing = threading.get_ident()
        self.home = threading.get_ident()
        try:
            subscriber.on_subscribe(self)
        finally:
            self._subscribing = 0
        if self.granted == ASYNC:
            subscriber.on_next(NOT_AN_ITEM)
            if not self._slow:
                self.end()
        elif self.granted == NONE:
            self._emit()

    def end(self) -> None:
        """Signal the end, in ASYNC mode."""
        if self._down is not None and not self._done and not self.cancels:
            self._done = True
            if self.fails is None:
                self._down.on_complete()
            else:
                self._down.on_error(self.fails)

    def request_fusion(self, mode: int, /) -> int:
        if self._subscribing != threading.get_ident():
            self.violations.append(("C1", "request_fusion() outside on_subscribe"))
        if not 0 <= mode <= ANY | BOUNDARY or not mode & ANY:
            self.violations.append(("C1", f"request_fusion({mode}) asks for no mode"))
        if self.granted:
            self.violations.append(("C1", "request_fusion() after a mode had been granted"))
        self.asked.append(mode)
        if mode & BOUNDARY and not self.boundary:
            return NONE
        self._boundary_asked = bool(mode & BOUNDARY)
        self.granted = mode & self.mode
        return self.granted

    def request(self, n: int, /) -> None:
        if self.granted == SYNC:
            self.violations.append(("C2", f"request({n}) in SYNC mode"))
        self.requested += n
        if self._subscribing or self._down is None:
            return
        if self.granted == NONE:
            self._emit()
        elif self._slow and not self._done and not self.cancels:
            self._down.on_next(NOT_AN_ITEM)

    def _emit(self) -> None:
        if self._emitting or self._down is None:
            return
        self._emitting = True
        while self.items and self.requested and not self.cancels:
            self.requested -= 1
            self._down.on_next(self.items.popleft())
        self._emitting = False
        if not self.items:
            self.end()

    def poll(self) -> int | None:
        me = threading.get_ident()
        self._polling[me] = None
        try:
            if len(self._polling) > 1:
                self.violations.append(("C3", "poll() while another thread was polling"))
            if self.cancels:
                self.violations.append(("C3", "poll() after cancel()"))
            if self.granted == NONE:
                self.violations.append(("C8", "poll() although no mode was granted"))
            if me != self.home and not self._boundary_asked:
                self.violations.append(("C7", "poll() on another thread than that of on_subscribe, without BOUNDARY"))
            self.polls += 1
            self._env.notify()
            if self.items and not (self._slow and self.granted == ASYNC and self._given >= self.requested):
                self._given += 1
                item = self.items.popleft()
                if self._slow and self.granted == ASYNC and not self.items:
                    self.end()
                return item
            if self.granted == SYNC and self.fails is not None:
                raise self.fails
            return None
        finally:
            self._polling.pop(me, None)

    def poll_many(self, n: int, /) -> list[int]:
        batch: list[int] = []
        while len(batch) < n and self.items:
            item = self.poll()
            assert item is not None
            batch.append(item)
        if not batch:
            self.poll()  # the error, or that there is nothing
        return batch

    def is_empty(self) -> bool:
        return not self.items and (self.granted != SYNC or self.fails is None)

    def clear(self) -> None:
        self.cleared += 1
        self.items.clear()

    def cancel(self) -> None:
        self.cancels += 1
        self._env.notify()

    def __str__(self) -> str:
        return (
            f"source: asked {self.asked}, granted {MODES.get(self.granted, self.granted)}, requested {self.requested}, "
            f"polled {self.polls} times, {len(self.items)} items left, cancelled {self.cancels} times"
        )


#: What notices carry, to find consumers that take it for an item.
NOT_AN_ITEM: Final = "a notice, and no item"

"""Counting what passes: a subscriber between each source and what subscribes to it, while that is switched on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final
from weakref import WeakKeyDictionary

from rx_core import _hooks
from rx_core._demand import UNBOUNDED, SettlesDemand, add_cap, after_answer, request_all
from rx_core._switches import switch
from rx_core.build_places import Place, place_outside


@dataclass(slots=True)
class Counts:
    """What a source has done since it is watched, in all of its runs: subscriptions, items, and how the runs ended.

    Written by the threads that signal; where several do at once, a count may miss one of them.
    """

    runs: int = 0
    items: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0

    @property
    def live(self) -> int:
        """Runs that have not ended."""
        return self.runs - self.completed - self.failed - self.cancelled

    def __str__(self) -> str:
        ended = ((self.completed, "completed"), (self.failed, "failed"), (self.cancelled, "cancelled"), (self.live, "live"))
        runs = f"{self.runs:,} run{'s' * (self.runs != 1)}"
        return f"{self.items:,} item{'s' * (self.items != 1)} in {runs}: {', '.join(f'{n:,} {how}' for n, how in ended if n)}"


#: Of each source that was subscribed while this was switched on, as long as it lives.
_counts: Final[WeakKeyDictionary[Any, Counts]] = WeakKeyDictionary()
_switching: Final = threading.Lock()
_usually: Final = switch("RX_WATCH", default=False)
_blocks: Final[list[object]] = []


def counts_of(source: object, /) -> Counts | None:
    """What ``source`` has done in runs that began while it was watched; None where there was none."""
    try:
        return _counts.get(source)
    except TypeError:  # not hashable, or not to be referred to weakly
        return None


@contextmanager
def watch() -> Iterator[None]:
    """Count what is subscribed inside the block, by any thread of the process. Blocks may overlap.

    While this is on, inner sources are subscribed and not pulled, so that they can be counted: a pipeline costs what it does
    without fusion between operators. What was subscribed inside is counted to its end.
    """
    block = object()
    with _switching:
        _blocks.append(block)
        _switch()
    try:
        yield
    finally:
        with _switching:
            _blocks.remove(block)
            _switch()


def _switch() -> None:
    _hooks.watch_subscribing(_counted if _usually or _blocks else None, counts_of)


def _counted(source: object, subscriber: object) -> object:
    """The hook. What counts already is told apart from its source only: a pipeline may be subscribed by way of another hook."""
    try:
        with _switching:
            counts = _counts.get(source)
            if counts is None:
                counts = _counts[source] = Counts()
            counts.runs += 1
    except TypeError:
        counts = Counts(1)  # which cannot be asked for; but the run can be shown
    return Counted(source, subscriber, counts)


class Counted(SettlesDemand):
    """Subscriber of ``source``, of any of the five types, and Subscription of ``down``. Changes nothing."""

    __slots__ = ("__weakref__", "asked", "began", "counts", "done", "down", "items", "last", "origin", "place", "thread", "up")

    #: What the subscriber has requested; UNBOUNDED: all there is.
    asked: int
    items: int
    #: On the clock of time.monotonic: the subscription, and the newest item; None before it.
    began: float
    last: float | None
    #: The thread that subscribed, and the line that it was at.
    thread: str
    place: Place | None

    def __init__(self, source: object, down: Any, counts: Counts) -> None:
        self.origin = source
        self.down = down
        self.up: Any = None
        self.counts = counts
        self.asked = 0
        self.items = 0
        self.began = monotonic()
        self.last = None
        self.thread = threading.current_thread().name
        self.place = place_outside()
        self.done = False

    # -- signals ----------------------------------------

    def on_subscribe(self, up: Any, /) -> None:
        if self.up is not None:
            (up.cancel if hasattr(up, "cancel") else up.dispose)()  # RS 2.5
            return
        self.up = up
        if not hasattr(up, "request"):
            self.asked = UNBOUNDED
        self.down.on_subscribe(self)

    def on_next(self, item: Any, /) -> None:
        self._came()
        self.down.on_next(item)

    def on_success(self, item: Any, /) -> None:
        self._came()
        if self._ends():
            self.counts.completed += 1
        self.down.on_success(item)

    def on_error(self, error: Exception, /) -> None:
        if self._ends():
            self.counts.failed += 1
        self.down.on_error(error)

    def on_complete(self) -> None:
        if self._ends():
            self.counts.completed += 1
        self.down.on_complete()

    def _came(self) -> None:
        self.items += 1
        self.counts.items += 1
        self.last = monotonic()

    def _ends(self) -> bool:
        before = self.done
        self.done = True
        return not before

    # -- the Subscription, or the Disposable ----------------------------------------

    def request(self, n: Any, /) -> None:
        if type(n) is int and n > 0:
            self.asked = add_cap(self.asked, n)
        self.up.request(n)

    def request_all(self) -> None:
        self.asked = UNBOUNDED
        request_all(self.up)

    def after_answer(self, then: Callable[[], object], /) -> None:
        after_answer(self.up, then)

    def cancel(self) -> None:
        if self._ends():
            self.counts.cancelled += 1
        (self.up.cancel if hasattr(self.up, "cancel") else self.up.dispose)()

    def dispose(self) -> None:
        self.cancel()

    @property
    def is_disposed(self) -> bool:
        return self.done


if _usually:
    with _switching:
        _switch()

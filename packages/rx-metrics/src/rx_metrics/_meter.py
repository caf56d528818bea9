"""What is measured of the streams of one name."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import Final
from weakref import WeakSet

from rx_core import UNBOUNDED

#: Upper bounds in seconds, from what a loop takes for an item to what a batch job takes.
BOUNDS: Final = (1e-6, 1e-5, 1e-4, 1e-3, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
#: How many items are timed together at most, and below how many seconds each they are.
_TOGETHER: Final = 64
_QUICK: Final = 1e-4


#: Called with the name of a stream, the outcome of a run and its seconds, when it ends.
Ended = Callable[[str, str, float], object]


@dataclass(slots=True)
class Histogram:
    """How often something took how long. ``counts`` has one number more than ``bounds``: for what took longer than the last."""

    bounds: tuple[float, ...] = BOUNDS
    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    #: All of it, in seconds.
    total: float = 0.0

    @property
    def count(self) -> int:
        return sum(self.counts)

    @property
    def mean(self) -> float | None:
        """Seconds; None where nothing was measured."""
        count = self.count
        return self.total / count if count else None

    def add(self, seconds: float, times: int = 1) -> None:
        self.counts[bisect_left(self.bounds, seconds)] += times
        self.total += seconds * times

    def copy(self) -> Histogram:
        return Histogram(self.bounds, self.counts.copy(), self.total)


@dataclass(frozen=True, slots=True)
class StreamMetrics:
    """What was measured of the streams of one name since :func:`start`, at one moment."""

    name: str
    #: Subscriptions; of those ``live`` have not ended.
    runs: int
    live: int
    completed: int
    cancelled: int
    #: By the name of the error's type.
    failed: dict[str, int]
    items: int
    #: Items that subscribers requested; those that want everything are counted as ``unbounded`` instead.
    requested: int
    unbounded: int
    #: Seconds from a subscription to its end; to the first item, from when the stream began to look for it; from item to item.
    duration: Histogram
    first_item: Histogram
    interval: Histogram
    #: When it was read, in seconds on the clock of time.perf_counter.
    at: float

    def rate_since(self, earlier: StreamMetrics, /) -> float:
        """Items a second between two readings. ValueError where they are not of one stream in this order."""
        seconds = self.at - earlier.at
        if earlier.name != self.name or seconds <= 0:
            raise ValueError(f"rate_since(): a reading of {self.name!r} from before is needed, got one of {earlier.name!r}")
        return (self.items - earlier.items) / seconds


class Meter:
    """The numbers of one name. All changes are made under its lock, so that a reading fits together."""

    def __init__(self, name: str, told: Sequence[Ended] = ()) -> None:
        self.name = name
        self._told = told
        self._lock = threading.Lock()
        self._runs = self._completed = self._cancelled = self._items = self._requested = self._unbounded = 0
        self._failed: Counter[str] = Counter()
        self._duration = Histogram()
        self._first = Histogram()
        self._interval = Histogram()
        #: Items of runs that are under way are partly counted there.
        self._passing: WeakSet[Items] = WeakSet()
        #: Those of runs that are gone. A finalizer runs anywhere, inside of a section of the lock too, so it takes none.
        self._rests: SimpleQueue[int] = SimpleQueue()

    # -- a run, on whatever thread ----------------------------------------

    def began(self) -> float:
        with self._lock:
            self._runs += 1
            self._count_rests()
        return perf_counter()

    def asked(self, n: int) -> None:
        with self._lock:
            if n >= UNBOUNDED:
                self._unbounded += 1
            else:
                self._requested += n

    def over(self, began: float, outcome: str, error: BaseException | None = None) -> None:
        """``outcome``: completed, failed or cancelled."""
        seconds = perf_counter() - began
        with self._lock:
            if outcome == "failed":
                self._failed[type(error).__name__] += 1
            elif outcome == "completed":
                self._completed += 1
            else:
                self._cancelled += 1
            self._duration.add(seconds)
        for tell in self._told:
            tell(self.name, outcome, seconds)

    def passing(self) -> Items:
        """For the items of one run."""
        made = Items(self)
        with self._lock:
            self._passing.add(made)
        return made

    def timed(self, seconds: float, items: int, *, first: bool) -> None:
        with self._lock:
            self._items += items
            (self._first if first else self._interval).add(seconds / items, items)

    def rest(self, items: int) -> None:
        """Items of a run that is gone, told by its finalizer."""
        self._rests.put(items)

    def _count_rests(self) -> None:
        try:
            while True:
                self._items += self._rests.get_nowait()
        except Empty:
            pass

    # -- reading ----------------------------------------

    def read(self) -> StreamMetrics:
        with self._lock:
            passing = list(self._passing)  # before the rests are counted: so none of them goes meanwhile and is counted twice
            self._count_rests()
            failed = dict(self._failed)
            ended = self._completed + self._cancelled + sum(failed.values())
            return StreamMetrics(
                self.name, self._runs, self._runs - ended, self._completed, self._cancelled, failed,
                self._items + sum(items.untold for items in passing), self._requested, self._unbounded,
                self._duration.copy(), self._first.copy(), self._interval.copy(), perf_counter(),
            )  # fmt: skip


class Items:
    """The items of one run. Those of a quick stream are timed together, so that most cost one subtraction."""

    __slots__ = ("__weakref__", "_first", "_last", "_meter", "_together", "left")

    #: How many items come before the next look at the clock; the loop over the items counts it down.
    left: int

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._first = True
        self._together = self.left = 1
        self._last = perf_counter()

    @property
    def untold(self) -> int:
        """Items that came since the meter was told."""
        return self._together - self.left

    def look(self) -> None:
        """``left`` has come to 0."""
        now = perf_counter()
        many = self._together
        seconds = now - self._last
        self._meter.timed(seconds, many, first=self._first)
        self._first = False
        self._last = now
        self._together = self.left = min(2 * many, _TOGETHER) if seconds < _QUICK * many else 1

    def __del__(self) -> None:
        if self.untold:  # the run has ended in any way
            self._meter.rest(self.untold)

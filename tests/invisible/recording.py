"""Running a description in one of its forms, and noting everything that can be seen from outside."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from rx_core import UNBOUNDED
from tests.invisible.describe import Fn, Key, frozen, key_of


class Called(NamedTuple):
    fn: str
    args: tuple[Any, ...]
    #: The thread, or "worker" for the virtual one.
    thread: str


class Got(NamedTuple):
    item: Any


class Ended(NamedTuple):
    error: Key | None


Entry = Called | Got | Ended


class Log:
    """What happened, in order."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.on_worker = False
        #: How often each resource was made and given back.
        self.opens: dict[str, int] = {}
        self.closes: dict[str, int] = {}

    def call(self, name: str, *args: Any) -> None:
        thread = "worker" if self.on_worker else threading.current_thread().name
        self.entries.append(Called(name, tuple(map(frozen, args)), thread))

    def function(self, fn: Fn) -> Callable[..., Any]:
        def noted(*args: Any) -> Any:
            self.call(fn.name, *args)
            return fn(*args)

        noted.__qualname__ = fn.name
        return noted

    def opened(self, name: str) -> str:
        self.opens[name] = self.opens.get(name, 0) + 1
        return name

    def closed(self, name: str) -> None:
        self.closes[name] = self.closes.get(name, 0) + 1


class Step(NamedTuple):
    """One request of the subscriber."""

    n: int
    #: On another thread than the one that subscribed.
    elsewhere: bool = False


@dataclass(frozen=True)
class Script:
    """What the subscriber does."""

    steps: tuple[Step, ...]
    #: Asks for so many more in each on_next.
    again: int = 0
    #: Cancels in the on_next of this item (counted from 1).
    cancel_in: int | None = None
    #: Cancels after this step (0: after subscribing).
    cancel_after: int | None = None

    def wanted(self, step: int) -> int:
        """How many items may have come after this step."""
        total = min(UNBOUNDED, sum(each.n for each in self.steps[:step]))
        if total and self.again:
            total = UNBOUNDED
        return total if self.cancel_in is None else min(total, self.cancel_in)


#: Everything at once.
ALL = Script((Step(UNBOUNDED),))


@dataclass
class Recording:
    """What was seen, and how far it had come after each step; the first mark is that of subscribing."""

    log: Log = field(default_factory=Log)
    marks: list[int] = field(default_factory=list)
    #: What the rules of the protocol have to say about the signals.
    violations: list[str] = field(default_factory=list)
    #: Errors that went to the hook.
    dropped: list[Key] = field(default_factory=list)
    #: Resources, or users' iterators, that were not given back.
    left: list[str] = field(default_factory=list)

    def until(self, step: int) -> list[Entry]:
        return self.log.entries[: self.marks[step]]

    def signals(self) -> list[tuple[Entry, ...]]:
        """Items and ends alone, step by step."""
        at = [0, *self.marks]
        return [tuple(entry for entry in self.log.entries[a:b] if not isinstance(entry, Called)) for a, b in pairwise(at)]


class Probe:
    """A subscriber that follows a script."""

    def __init__(self, recording: Recording, script: Script) -> None:
        self.log, self.violations, self.script = recording.log, recording.violations, script
        self.subscription: Any = None
        self.items = 0
        self.over = self.cancelled = False

    def on_subscribe(self, subscription: Any, /) -> None:
        if self.subscription is not None:
            self.violations.append("§2.12: a second on_subscribe")
        self.subscription = subscription

    def on_next(self, item: Any, /) -> None:
        self.live("on_next")
        self.items += 1
        self.log.entries.append(Got(frozen(item)))
        if item is None:
            self.violations.append("§2.13: on_next(None)")
        if self.items == self.script.cancel_in:
            self.cancel()
        elif self.script.again:
            self.subscription.request(self.script.again)

    def on_error(self, error: Exception, /) -> None:
        self.live("on_error")
        self.over = True
        self.log.entries.append(Ended(key_of(error)))

    def on_complete(self) -> None:
        self.live("on_complete")
        self.over = True
        self.log.entries.append(Ended(None))

    def live(self, signal: str) -> None:
        if self.subscription is None:
            self.violations.append(f"§1.9: {signal} before on_subscribe")
        if self.over:
            self.violations.append(f"§1.7: {signal} after the end")
        if self.cancelled:
            self.violations.append(f"§3.12: {signal} after cancel, on the thread that cancelled")

    def cancel(self) -> None:
        self.cancelled = True
        self.subscription.cancel()


@cache
def _another_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "elsewhere")


def act(elsewhere: bool, action: Callable[[], None]) -> None:
    if elsewhere:
        _another_thread().submit(action).result()
    else:
        action()

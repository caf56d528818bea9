"""Windows and groups in the naive reference: a stream that gives streams, each for one subscriber."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push.streams import (
    Count,
    Failure,
    Flow,
    Prefetch,
    Side,
    Subscriber,
    Subscription,
    Waiting,
    failing,
    required,
)

Selector = Callable[[Any], Flow]


class Part:
    """A window or a group: what it is given waits for the one subscriber it may have."""

    def __init__(
        self, left: Callable[[], None], key: Any = None, patient: bool = True, gave: Callable[[], None] = lambda: None
    ) -> None:
        self.left, self.key, self.patient, self.gave = left, key, patient, gave
        self.reader: Reader | None = None
        self.early: list[Any] = []
        self.done = False
        self.failure: Failure | None = None
        self.gone = False
        self.reserved = False

    def flow(self) -> Flow:
        flow = Flow(self.subscribe, key=self.key)
        flow.reserve = self.reserve
        return flow

    def reserve(self, waits: bool) -> None:
        """It waits for its turn in a concat_map, which RxJava takes for a part without a subscriber (see decision 0021)."""
        self.reserved = waits
        if not waits and not self.reader:
            self.end()

    def subscribe(self, down: Subscriber) -> None:
        if self.reader:
            failing(down, Failure("IllegalState"))
            return
        self.reader = Reader(down, self)
        self.reader.patient = self.patient
        self.reader.items, self.early = self.early, []
        self.reader.done, self.reader.failure = self.done, self.failure
        self.reader.on_subscribe(Subscription())
        self.reader.gate.run()

    def put(self, item: Any) -> None:
        if self.done:
            return
        if self.reader:
            self.reader.on_next(item)
        else:
            self.early.append(item)

    def end(self, failure: Failure | None = None) -> None:
        if not self.done:
            self.done, self.failure = True, failure
            self.leave()
            if self.reader:
                self.reader.end(failure)

    def leave(self) -> None:
        """Ended, or its subscriber has cancelled: it needs no items any more."""
        if not self.gone:
            self.gone = True
            self.left()


class Reader(Waiting):
    """The one subscriber of a part."""

    def __init__(self, down: Subscriber, part: Part) -> None:
        super().__init__(down)
        self.part = part

    def cancel(self) -> None:
        super().cancel()
        while self.items:  # they need not be prefetched any more
            self.items.pop()
            self.part.gave()
        self.part.leave()

    def gave(self) -> None:
        self.part.gave()


class Parting(Waiting):
    """The base of what gives parts. The source is cancelled when the subscriber and all parts have left."""

    def __init__(self, down: Subscriber) -> None:
        super().__init__(down)
        self.users = 1
        self.ended = False

    def on_next(self, item: Any) -> None:
        if not self.ended:
            try:
                self.next(item)
            except Failure as failure:
                self.up.cancel()
                self.on_error(failure)

    def on_error(self, failure: Failure) -> None:
        if not self.ended:
            self.ended = True
            self.error(failure)

    def on_complete(self) -> None:
        if not self.ended:
            self.ended = True
            self.complete()

    def new_part(self) -> Part:
        self.users += 1
        return Part(self.left)

    def left(self) -> None:
        self.users -= 1
        if self.users == 0:
            self.all_left()

    def all_left(self) -> None:
        self.up.cancel()

    def cancel(self) -> None:
        if not self.over:
            self.over = True
            self.left()

    def hand(self, part: Part) -> None:
        """To the subscriber. A part that is not subscribed at once, nor reserved, is abandoned: it gets nothing more."""
        self.down.on_next(part.flow())
        if not part.reader and not part.reserved:
            part.end()


class WindowCount(Parting):
    """Windows of ``size`` items, a new one every ``skip`` items."""

    def __init__(self, down: Subscriber, size: int, skip: int) -> None:
        super().__init__(down)
        self.size, self.skip = size, skip
        self.index = 0
        self.windows: list[tuple[int, Part]] = []
        self.asked = False

    def next(self, item: Any) -> None:
        if self.index % self.skip == 0 and not self.over:
            window = self.new_part()
            self.windows.append((self.index, window))
            window.put(item)
            others = self.windows[:-1]
            for _, other in others:
                other.put(item)
            self.put(window)
        else:
            for _, window in self.windows:
                window.put(item)
        self.index += 1
        if self.windows and self.windows[0][0] + self.size == self.index:
            self.windows.pop(0)[1].end()

    def give(self) -> None:
        while not self.over:
            if self.failure:
                self.fail(self.failure)
            elif self.items and self.wanted:
                self.wanted -= 1
                self.hand(self.items.pop(0))
            elif self.done and not self.items:
                self.finish()
            else:
                return

    def error(self, failure: Failure) -> None:
        for _, window in self.windows:
            window.end(failure)
        self.end(failure)

    def complete(self) -> None:
        for _, window in self.windows:
            window.end()
        self.end()

    def request(self, n: Count) -> None:
        self.wanted += n
        first = 0 if self.asked else self.size - self.skip
        self.asked = True
        self.up.request(self.skip * n + first)
        self.gate.run()


#: Of an item: it "joins" the open window, or "begins" a new one, or "ends" the open one, or is "between" two.
Rule = Callable[[Any], str]


def cut_where(predicate: Callable[[Any], Any], before: bool) -> Callable[[], Rule]:
    return lambda: lambda item: ("begins" if before else "ends") if predicate(item) else "joins"


def inside_while(predicate: Callable[[Any], Any]) -> Callable[[], Rule]:
    return lambda: lambda item: "joins" if predicate(item) else "between"


def cut_at_changes(key: Callable[[Any], Any]) -> Callable[[], Rule]:
    def begin() -> Rule:
        keys: list[Any] = []

        def rule(item: Any) -> str:
            keys.append(key(item))
            return "begins" if len(keys) > 1 and keys[-1] != keys[-2] else "joins"

        return rule

    return begin


class WindowRuns(WindowCount):
    """One window after another, as a rule says of each item. What waits in windows counts as prefetched."""

    def __init__(self, down: Subscriber, rule: Callable[[], Rule], prefetch: Count) -> None:
        super().__init__(down, 1, 1)
        self.rule = rule()
        self.demand = Prefetch(prefetch)

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        up.request(self.demand.size)

    def request(self, n: Count) -> None:
        self.wanted += n
        self.gate.run()

    def new_part(self) -> Part:
        self.users += 1
        return Part(self.left, gave=lambda: self.demand.took(self.up))

    def next(self, item: Any) -> None:
        does = self.rule(item)
        if does in ("begins", "between"):
            self.end_window()
        if does == "between" or (self.over and not self.windows):
            self.demand.took(self.up)
            return
        if self.windows:
            window = self.windows[0][1]
            window.put(item)
            if window.gone:
                self.demand.took(self.up)
        else:
            window = self.new_part()
            self.windows.append((0, window))
            window.put(item)
            self.put(window)
        if does == "ends":
            self.end_window()

    def end_window(self) -> None:
        if self.windows:
            self.windows.pop()[1].end()


class GroupBy(Parting):
    """A group for each key. A group that is left is forgotten: its key makes another one, if groups are wanted still."""

    def __init__(self, down: Subscriber, key: Callable[[Any], Any], value: Callable[[Any], Any], prefetch: Count) -> None:
        super().__init__(down)
        self.key, self.value, self.prefetch = key, value, prefetch
        self.groups: dict[Any, Part] = {}

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        up.request(self.prefetch)

    def next(self, item: Any) -> None:
        key = self.key(item)
        group = self.groups.get(key)
        new = group is None
        if group is None:
            if self.over:
                self.up.request(1)
                return
            group = self.new_group(key)
        group.put(required(self.value(item)))
        if new:
            if not self.wanted:
                raise Failure("MissingBackpressure")
            self.wanted -= 1
            self.hand(group)

    def new_group(self, key: Any) -> Part:
        self.users += 1

        def left() -> None:
            if self.groups.get(key) is group:
                del self.groups[key]
            self.left()

        group = Part(left, key, patient=False, gave=lambda: self.up.request(1))
        self.groups[key] = group
        return group

    def request(self, n: Count) -> None:
        self.wanted += n

    def error(self, failure: Failure) -> None:
        for group in list(self.groups.values()):
            group.end(failure)
        self.fail(failure)

    def complete(self) -> None:
        for group in list(self.groups.values()):
            group.end()
        self.finish()


class GroupByUntil(GroupBy):
    """A group ends when the source that is made of its key gives something or completes."""

    def __init__(self, down: Subscriber, key: Callable[[Any], Any], until: Selector, prefetch: Count) -> None:
        super().__init__(down, key, lambda item: item, prefetch)
        self.until = until

    def next(self, item: Any) -> None:
        key = self.key(item)
        group = self.groups.get(key)
        if group is not None:
            group.put(item)
            return
        if self.over:
            self.up.request(1)
            return
        group = self.new_group(key)
        group.put(item)
        if not self.wanted:
            raise Failure("MissingBackpressure")
        self.wanted -= 1
        self.hand(group)
        if not (group.done or group.gone):  # of one that was left at once there is nothing to end
            self.limit(group)

    def limit(self, group: Part) -> None:
        def expire(_: Any = None) -> None:
            side.cancel()
            group.end()

        def fail(failure: Failure) -> None:
            if not (self.ended or group.gone):
                self.up.cancel()
                self.on_error(failure)

        side = Side(expire, fail, expire)
        self.until(group.key).subscribe(side)

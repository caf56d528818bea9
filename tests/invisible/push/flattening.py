"""Streams of streams in the naive reference: at the same time, and only the latest. One after another is in ``concatenating``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push.streams import (
    UNBOUNDED,
    Count,
    Failure,
    Flow,
    Gate,
    Prefetch,
    Stage,
    Subscriber,
    Subscription,
    all_of,
)

#: From an item to a stream.
Mapper = Callable[[Any], Flow]


class Inner(Subscriber):
    """The subscriber of one inner source: its items wait here. ``changed`` is told of every signal.

    ``prefetch`` 0: nothing is requested but by ``fetch``.
    """

    def __init__(
        self, prefetch: Count, again: Count, changed: Callable[[], None], error: Callable[[Inner, Failure], None]
    ) -> None:
        self.items: list[Any] = []
        self.done = False
        self.cancelled = False
        self.fetching = False
        self.up: Subscription | None = None
        self.demand = Prefetch(prefetch)
        self.demand.limit = again
        self.changed, self.error = changed, error
        self.arrived: Callable[[], None] = lambda: None

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        if self.cancelled:
            up.cancel()
        elif self.demand.size:
            up.request(self.demand.size)
        else:
            self.changed()

    def on_next(self, item: Any) -> None:
        self.fetching = False
        if not self.cancelled:
            self.items.append(item)
            self.arrived()
            self.changed()

    def on_error(self, failure: Failure) -> None:
        if not self.cancelled:
            self.error(self, failure)

    def on_complete(self) -> None:
        if not self.cancelled:
            self.done = True
            self.changed()

    def took(self) -> None:
        """An item was taken: more may be requested."""
        if self.up:
            self.demand.took(self.up)

    def fetch(self) -> None:
        """Of a source that has its items at hand: the next one, unless there is one."""
        if self.demand.size == 0 and self.up and not self.items and not self.done and not self.fetching:
            self.fetching = True
            self.up.request(1)

    def cancel(self) -> None:
        self.cancelled = True
        if self.up:
            self.up.cancel()


class FlatMap(Stage):
    """``most`` inner sources at a time. An error ends the stream at once, or (``delay_error``) when all the others have ended.

    When several inner sources have items waiting for a request, each "in turn" gives all it has; or the "first" source is always
    first, or the "last" is, or the item that "came" first. Sources of an Observable, which are one too many as yet, wait.
    ``ahead``: of an inner source that is passive an item is fetched before it is wanted. ``asks_later``: more sources are asked
    for when what waits has gone out, so that what a new one sends at once comes before an error that follows that.
    """

    def __init__(
        self,
        down: Subscriber,
        mapper: Mapper,
        most: Count,
        prefetch: Count,
        delay_error: bool = False,
        waiting: str = "in turn",
        ahead: bool = True,
        asks_later: bool = False,
    ) -> None:
        super().__init__(down)
        self.waiting, self.ahead, self.asks_later = waiting, ahead, asks_later
        self.sources: list[Flow] = []
        self.came: list[Inner] = []  # once for each item that waits
        self.mapper, self.most, self.prefetch, self.delay_error = mapper, most, prefetch, delay_error
        self.inners: list[Inner] = []
        self.turn: Inner | None = None  # where the next round begins
        self.errors: list[Failure] = []
        self.done = False
        self.wanted: Count = 0
        self.gate = Gate(self.round)

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        if not self.over:
            up.request(self.most)

    def next(self, item: Any) -> None:
        if self.done:
            return
        try:
            flow = self.mapper(item)
        except Failure as failure:
            self.up.cancel()
            self.error(failure)
            return
        if len(self.inners) < self.most:
            self.run(flow)
        else:
            self.sources.append(flow)

    def run(self, flow: Flow) -> None:
        prefetch: float
        again: float
        if flow.passive:
            prefetch = again = 1 if self.ahead else 0
        else:
            prefetch = self.prefetch
            again = max(1, prefetch // 4) if prefetch < UNBOUNDED else UNBOUNDED
        inner = Inner(prefetch, again, self.gate.run, self.inner_error)
        inner.arrived = lambda: self.came.append(inner)
        self.inners.append(inner)
        flow.subscribe(inner)

    def error(self, failure: Failure) -> None:
        if not self.done:
            self.done = True
            self.errors.append(failure)
            if not self.delay_error:
                self.leave()
            self.gate.run()

    def complete(self) -> None:
        self.done = True
        self.gate.run()

    def inner_error(self, inner: Inner, failure: Failure) -> None:
        self.errors.append(failure)
        inner.done = True
        if not self.delay_error:
            self.up.cancel()
            self.done = True
            self.leave()
        self.gate.run()

    def leave(self) -> None:
        for inner in self.inners:
            inner.cancel()

    def request(self, n: Count) -> None:
        self.wanted += n
        self.gate.run()

    def cancel(self) -> None:
        super().cancel()
        self.leave()

    def failed_at_once(self) -> bool:
        if self.errors and not self.delay_error:
            self.fail(all_of(self.errors))
        return self.over

    def give(self, inner: Inner) -> None:
        self.wanted -= 1
        self.down.on_next(inner.items.pop(0))
        inner.took()

    def round(self) -> None:
        """Each inner source in turn gives what it has, beginning with the one that was interrupted by a lack of demand."""
        ended = 0
        inners = list(self.inners)
        if self.waiting == "in turn" and self.turn in inners:
            start = inners.index(self.turn)
            inners = [*inners[start:], *inners[:start]]
        if self.waiting == "came":
            while self.came and self.wanted and not self.failed_at_once():
                self.give(self.came.pop(0))
        for inner in reversed(inners) if self.waiting == "last" else inners:
            while self.wanted:
                inner.fetch()
                if not inner.items:
                    break
                if self.failed_at_once():
                    return
                self.give(inner)
            if inner.done and not inner.items:
                self.inners.remove(inner)
                ended += 1
            if not self.wanted and self.waiting != "came":
                self.turn = inner
                break
        if self.failed_at_once():
            return
        while self.sources and len(self.inners) < self.most:
            self.run(self.sources.pop(0))
        if self.done and not self.inners:
            if self.errors:
                self.fail(all_of(self.errors))
            else:
                self.finish()
        elif ended:
            self.gate.asked += 1  # look again: an inner source may follow
            if not self.done:
                n = ended if self.most < UNBOUNDED else UNBOUNDED
                if self.asks_later:
                    self.gate.later.append(lambda: self.up.request(n))
                else:
                    self.up.request(n)


class SwitchMap(Stage):
    """Only the inner source of the latest item; the one before is cancelled, and what waits of it is lost."""

    def __init__(self, down: Subscriber, mapper: Mapper, prefetch: Count, delay_error: bool = False) -> None:
        super().__init__(down)
        self.mapper, self.prefetch, self.delay_error = mapper, prefetch, delay_error
        self.active: Inner | None = None
        self.errors: list[Failure] = []
        self.done = False
        self.wanted: Count = 0
        self.gate = Gate(self.give)

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        if not self.over:
            up.request(UNBOUNDED)

    def makes_way(self) -> bool:
        """Whether a new item has its turn."""
        if self.active:
            self.active.cancel()
        return True

    def next(self, item: Any) -> None:
        if self.done or not self.makes_way():
            return
        try:
            flow = self.mapper(item)
        except Failure as failure:
            self.active = None  # with delay_error RxJava waits for ever for the source that it has cancelled
            self.up.cancel()
            self.error(failure)
            return
        self.active = Inner(1 if flow.passive else self.prefetch, 1, self.gate.run, self.inner_error)
        flow.subscribe(self.active)

    def error(self, failure: Failure) -> None:
        if not self.done:
            self.errors.append(failure)
            if not self.delay_error and self.active:
                self.active.cancel()
            self.done = True
            self.gate.run()

    def complete(self) -> None:
        self.done = True
        self.gate.run()

    def inner_error(self, inner: Inner, failure: Failure) -> None:
        self.errors.append(failure)
        if not self.delay_error:
            self.up.cancel()
            self.done = True
        inner.done = True
        self.gate.run()

    def request(self, n: Count) -> None:
        self.wanted += n
        self.gate.run()

    def cancel(self) -> None:
        super().cancel()
        if self.active:
            self.active.cancel()

    def give(self) -> None:
        while not self.over:
            inner = self.active
            if self.errors and not self.delay_error:
                if inner:
                    inner.cancel()
                self.fail(all_of(self.errors))
            elif inner and inner.done and not inner.items:
                self.active = None
            elif inner and inner.items and self.wanted:
                self.wanted -= 1
                self.down.on_next(inner.items.pop(0))
                inner.took()
            elif self.done and not inner:
                if self.errors:
                    self.fail(all_of(self.errors))
                else:
                    self.finish()
            else:
                return


class ExhaustMap(SwitchMap):
    """The inner source of an item goes on until its last item has gone out; items that come meanwhile are lost."""

    def makes_way(self) -> bool:
        return self.active is None

"""Streams of streams in the naive reference, one after another: concat_map, and concat_map_eager, which runs several ahead."""

from __future__ import annotations

from typing import Any

from tests.invisible.push.flattening import Inner, Mapper
from tests.invisible.push.sources import listed
from tests.invisible.push.streams import (
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


def reserve(item: Any, waits: bool) -> None:
    """Tell a window or a group whether it waits for its turn."""
    if isinstance(item, Flow) and item.reserve:
        item.reserve(waits)


class ConcatMap(Stage):
    """One inner source at a time; ``prefetch`` items of the source wait for their turn.

    ``errors``: "at once", at the "boundary" of the inner source that is running, or at the "end" of all. ``again``: how many
    items are taken before as many more are requested. ``pulls``: each item is fetched when it is needed; unless ``ahead`` it is
    needed when an item of its inner source is wanted. ``lazy``: so it is with one that has come without being fetched.
    """

    def __init__(
        self,
        down: Subscriber,
        mapper: Mapper,
        prefetch: Count,
        errors: str = "at once",
        again: Count | None = None,
        pulls: bool = False,
        ahead: bool = True,
        lazy: bool = False,
    ) -> None:
        super().__init__(down)
        self.mapper, self.when, self.pulls, self.ahead, self.lazy = mapper, errors, pulls, ahead, lazy
        self.demand = Prefetch(prefetch)
        self.demand.limit = again or self.demand.limit
        self.items: list[Any] = []
        self.active: InOrder | None = None
        self.errors: list[Failure] = []
        self.done = False
        self.giving = self.fetching = False
        self.wanted: Count = 0
        self.gate = Gate(self.go_on)

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        if self.pulls:
            self.gate.run()
        else:
            up.request(self.demand.size)

    def next(self, item: Any) -> None:
        self.fetching = False
        if not self.done:
            reserve(item, True)
            self.items.append(item)
            self.gate.run()

    def fail(self, failure: Failure) -> None:
        self.forget()
        super().fail(failure)

    def finish(self) -> None:
        self.forget()
        super().finish()

    def forget(self) -> None:
        while self.items:
            reserve(self.items.pop(0), False)

    def error(self, failure: Failure) -> None:
        self.errors.append(failure)
        self.done = True
        if self.when == "at once":
            self.end_at_once()
        self.gate.run()

    def complete(self) -> None:
        self.done = True
        self.gate.run()

    def end_at_once(self) -> None:
        self.up.cancel()
        if self.active:
            self.active.cancel()
        if not self.giving:
            self.fail(all_of(self.errors))

    def inner_next(self, item: Any) -> None:
        self.wanted -= 1
        self.giving = True
        self.down.on_next(item)
        self.giving = False
        if self.errors and self.when == "at once" and not self.over:
            self.fail(all_of(self.errors))

    def inner_error(self, failure: Failure) -> None:
        self.active = None
        self.errors.append(failure)
        if self.when == "at once":
            self.end_at_once()
        elif self.when == "boundary":
            self.up.cancel()
            self.done = True
        self.gate.run()

    def inner_complete(self) -> None:
        self.active = None
        self.gate.run()

    def request(self, n: Count) -> None:
        self.wanted += n
        if self.active:
            self.active.up.request(n)
        else:
            self.gate.run()

    def cancel(self) -> None:
        super().cancel()
        if self.active:
            self.active.cancel()
        self.forget()

    def go_on(self) -> None:
        while not self.active and not self.over:
            waits = not self.ahead and (self.pulls or self.lazy) and not self.wanted
            if self.errors and (self.when == "at once" or (self.when == "boundary" and self.done)):
                self.fail(all_of(self.errors))
            elif waits and (self.items or not self.done):
                return
            elif self.items:
                item = self.items.pop(0)
                try:
                    flow = self.mapper(item)
                except Failure as failure:
                    self.up.cancel()
                    self.fail(all_of([*self.errors, failure]))
                    return
                if not self.pulls:
                    self.demand.took(self.up)
                if self.over:  # a source that was asked just now has failed
                    return  # type: ignore[unreachable]  # set meanwhile
                self.active = InOrder(self)
                flow.subscribe(self.active)
                reserve(item, False)
            elif self.done:
                if self.errors:
                    self.fail(all_of(self.errors))
                else:
                    self.finish()
            else:
                if self.pulls and not self.fetching:
                    self.fetching = True
                    self.up.request(1)
                return


class InOrder(Subscriber):
    """The inner source of concat_map: its items go straight through."""

    def __init__(self, parent: ConcatMap) -> None:
        self.parent = parent
        self.up = Subscription()
        self.over = False

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        if self.over:
            up.cancel()
        elif self.parent.wanted:
            up.request(self.parent.wanted)

    def on_next(self, item: Any) -> None:
        if not self.over:
            self.parent.inner_next(item)

    def on_error(self, failure: Failure) -> None:
        if not self.over:
            self.over = True
            self.parent.inner_error(failure)

    def on_complete(self) -> None:
        if not self.over:
            self.over = True
            self.parent.inner_complete()

    def cancel(self) -> None:
        self.over = True
        self.up.cancel()


class ConcatMapEager(Stage):
    """``most`` inner sources at a time, in a line: only the items of the first go on. ``errors``: as in ConcatMap.

    What a passive source has at hand is fetched when it is the first; unless ``ahead`` once it is wanted. ``first_at_once``: see
    Variant.
    """

    def __init__(
        self,
        down: Subscriber,
        mapper: Mapper,
        most: Count,
        prefetch: Count,
        errors: str = "at once",
        ahead: bool = True,
        first_at_once: bool = False,
    ) -> None:
        super().__init__(down)
        self.mapper, self.most, self.prefetch, self.when, self.ahead = mapper, most, prefetch, errors, ahead
        self.first_at_once = first_at_once
        self.sources: list[Flow] = []  # of an Observable, one too many as yet
        self.line: list[Inner] = []
        self.first: Inner | None = None
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
        if len(self.line) < self.most:
            self.run(flow)
        else:
            self.sources.append(flow)

    def run(self, flow: Flow) -> None:
        prefetch = 0 if flow.passive else self.prefetch
        inner = Inner(prefetch, Prefetch(prefetch).limit, self.gate.run, self.inner_error)
        self.line.append(inner)
        flow.subscribe(inner)
        if self.first_at_once:
            self.gate.run()

    def error(self, failure: Failure) -> None:
        self.errors.append(failure)
        self.complete()

    def complete(self) -> None:
        self.done = True
        self.gate.run()

    def inner_error(self, inner: Inner, failure: Failure) -> None:
        self.errors.append(failure)
        inner.done = True
        if self.when != "end":
            self.up.cancel()
            self.done = True
            self.sources.clear()
        self.gate.run()

    def request(self, n: Count) -> None:
        self.wanted += n
        self.gate.run()

    def cancel(self) -> None:
        super().cancel()
        self.leave()

    def leave(self) -> None:
        for inner in self.line:
            inner.cancel()

    def end(self) -> None:
        self.leave()
        if self.errors:
            self.fail(all_of(self.errors))
        else:
            self.finish()

    def round(self) -> None:
        while not self.over:
            if self.errors and (self.when == "at once" or (self.when == "boundary" and not self.first)):
                self.end()
                return
            if not self.line:
                if self.done:
                    self.end()
                return
            inner = self.first = self.line[0]
            if self.wanted or self.ahead:
                inner.fetch()
            if inner.items and self.wanted:
                self.wanted -= 1
                self.down.on_next(inner.items.pop(0))
                inner.took()
            elif inner.done and not inner.items:
                self.first = None
                self.line.remove(inner)
                if self.sources:
                    self.run(self.sources.pop(0))
                elif not self.done:
                    self.up.request(1)
            else:
                return


def in_turn(flows: list[Flow], errors: str) -> Flow:
    """One source after another, with errors delayed."""
    return listed(list(flows)).through(ConcatMap, lambda flow: flow, len(flows), errors)

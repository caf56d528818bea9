"""Sources whose items meet in the naive reference: by their order, or by the times at which they live."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push.again import Unicast
from tests.invisible.push.flattening import Inner
from tests.invisible.push.streams import Count, Failure, Flow, Gate, Prefetch, Side, Stage, Subscriber, all_of, required

Fn = Callable[..., Any]


class MergeOrdered(Stage):
    """The smallest of the first items of all sources; of those that have one, or when all that are not over have (``waits``)."""

    def __init__(
        self,
        down: Subscriber,
        flows: list[Flow],
        key: Fn,
        reverse: bool,
        prefetch: Count,
        waits: bool,
        delay_error: bool,
        ahead: bool,
    ) -> None:
        super().__init__(down)
        self.flows, self.key, self.waits, self.delay_error, self.ahead = flows, key, waits, delay_error, ahead
        self.sign = -1 if reverse else 1
        sizes = [0 if flow.passive else prefetch for flow in flows]
        self.wanted: Count = 0
        self.errors: list[Failure] = []
        self.heads: dict[int, tuple[Any, int, Any]] = {}
        self.gate = Gate(self.give)
        self.inners = [Inner(n, Prefetch(n).limit, self.gate.run, self.inner_error) for n in sizes]
        self.begun = 0

    def begin(self) -> None:
        """The sources begin in turn; of those that have their items at hand none is read before."""
        self.gate.asked += 1
        for inner, flow in zip(self.inners, self.flows, strict=True):
            if flow.passive:
                flow.subscribe(inner)
        self.gate.asked = 0
        self.down.on_subscribe(self)
        for inner, flow in zip(self.inners, self.flows, strict=True):
            if self.over:
                return
            self.begun += 1
            if flow.passive:
                self.gate.run()
            else:
                flow.subscribe(inner)

    def inner_error(self, inner: Inner, failure: Failure) -> None:
        self.errors.append(failure)
        inner.done = True
        self.gate.run()

    def request(self, n: Count) -> None:
        self.wanted += n
        self.gate.run()

    def cancel(self) -> None:
        self.over = True
        self.leave()

    def leave(self) -> None:
        for inner in self.inners:
            inner.cancel()

    def end(self) -> None:
        self.leave()
        if self.errors:
            self.fail(all_of(self.errors))
        else:
            self.finish()

    def find_heads(self) -> bool:
        """Whether all sources have begun, and those that are not over have an item among the heads."""
        for at, inner in enumerate(self.inners):
            if at not in self.heads and at < self.begun:
                if self.wanted or self.ahead:
                    inner.fetch()
                if inner.items:
                    item = inner.items.pop(0)
                    self.heads[at] = (self.sign * self.key(item), at, item)
        return self.begun == len(self.inners) and all(at in self.heads or inner.done for at, inner in enumerate(self.inners))

    def give(self) -> None:
        while not self.over:
            if self.errors and not self.delay_error:
                self.end()
                return
            try:
                whole = self.find_heads()
            except Failure as failure:
                self.errors.append(failure)
                self.end()
                return
            if self.errors and not self.delay_error:
                continue
            if whole and not self.heads:
                self.end()
            elif self.wanted and self.heads and (whole or not self.waits):
                _, at, item = min(self.heads.values(), key=lambda head: head[:2])
                del self.heads[at]
                self.wanted -= 1
                self.down.on_next(item)
                self.inners[at].took()
            else:
                return


class Join(Stage):
    """Each item of one source with each of the other that is alive at the same time. What comes is dealt with in order."""

    def __init__(self, down: Subscriber, left: Fn, right: Fn, combiner: Fn) -> None:
        super().__init__(down)
        self.lifetimes, self.combiner = (left, right), combiner
        self.wanted: Count = 0
        self.events: list[Callable[[], None]] = []
        self.alive: tuple[dict[Side, Any], dict[Side, Any]] = ({}, {})
        self.running = 2
        self.errors: list[Failure] = []
        self.gate = Gate(self.deal)
        self.sides = [self.side(number) for number in (0, 1)]

    def side(self, number: int) -> Side:
        return Side(lambda item: self.cue(lambda: self.came(number, item)), self.failed, self.completed)

    def begin(self, *flows: Flow) -> None:
        self.down.on_subscribe(self)
        for side, flow in zip(self.sides, flows, strict=True):
            if not self.over:
                flow.subscribe(side)

    def cue(self, event: Callable[[], None]) -> None:
        self.events.append(event)
        self.gate.run()

    def failed(self, failure: Failure) -> None:
        self.errors.append(failure)
        self.gate.run()

    def completed(self) -> None:
        self.running -= 1
        self.gate.run()

    def request(self, n: Count) -> None:
        self.wanted += n

    def cancel(self) -> None:
        self.over = True
        self.leave()

    def leave(self) -> None:
        for side in (*self.sides, *self.alive[0], *self.alive[1]):
            side.cancel()

    def deal(self) -> None:
        while not self.over:
            if self.errors:
                self.leave()
                self.ended(all_of(self.errors))
            elif self.events:
                try:
                    self.events.pop(0)()
                except Failure as failure:
                    self.errors.append(failure)
            elif not self.running:
                self.leave()
                self.ended(None)
            else:
                return

    def ended(self, failure: Failure | None) -> None:
        if failure:
            self.fail(failure)
        else:
            self.finish()

    def came(self, number: int, item: Any) -> None:
        def over() -> None:
            life.cancel()
            self.cue(lambda: self.gone(number, life))

        life = Side(lambda _: over(), self.failed, over)
        kept = self.alive[number][life] = self.kept(number, item)
        flow = self.lifetimes[number](item)
        flow.subscribe(life)
        if not self.errors:
            self.meet(number, item, kept)

    def gone(self, number: int, life: Side) -> None:
        self.alive[number].pop(life, None)

    def kept(self, number: int, item: Any) -> Any:
        return item

    def meet(self, number: int, item: Any, kept: Any) -> None:
        for other in list(self.alive[1 - number].values()):
            if self.over:
                return
            self.give(*((item, other) if number == 0 else (other, item)))

    def give(self, left: Any, right: Any) -> None:
        value = required(self.combiner(left, right))
        if not self.wanted:
            raise Failure("MissingBackpressure")
        self.wanted -= 1
        self.down.on_next(value)


class GroupJoin(Join):
    """A window for each item of one source: the items of the other that are alive at the same time."""

    def __init__(self, down: Subscriber, left: Fn, right: Fn) -> None:
        super().__init__(down, left, right, lambda _item, window: Flow(window.attach))

    def kept(self, number: int, item: Any) -> Any:
        return Unicast() if number == 0 else item

    def gone(self, number: int, life: Side) -> None:
        window = self.alive[number].pop(life, None)
        if number == 0 and window:
            window.end()

    def meet(self, number: int, item: Any, kept: Any) -> None:
        if number == 1:
            for window in list(self.alive[0].values()):
                window.put(item)
            return
        self.give(item, kept)
        for other in list(self.alive[1].values()):
            if self.over:
                return
            kept.put(other)

    def ended(self, failure: Failure | None) -> None:
        for window in list(self.alive[0].values()):
            window.end(failure)
        super().ended(failure)

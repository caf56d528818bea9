"""Operators of the naive reference that give one answer about all items: a single, a maybe or a completable."""

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
    Side,
    Stage,
    Subscriber,
    Subscription,
    failing,
    required,
)

Fn = Callable[..., Any]


class Answer(Stage):
    """Requests everything, and gives an item at most, without a request."""

    wants: Count = UNBOUNDED

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        up.request(self.wants)

    def request(self, n: Count) -> None:
        pass

    def answer(self, item: Any) -> None:
        self.down.on_next(item)
        self.finish()

    def answer_now(self, item: Any) -> None:
        self.up.cancel()
        self.answer(item)


class IgnoreElements(Answer):
    def next(self, item: Any) -> None:
        pass


class Reduce(Answer):
    """Without a seed: nothing of nothing."""

    def __init__(self, down: Subscriber, function: Fn, *seed: Any) -> None:
        super().__init__(down)
        self.function = function
        self.total = list(seed)

    def next(self, item: Any) -> None:
        self.total = [required(self.function(*self.total, item)) if self.total else item]

    def complete(self) -> None:
        if self.total:
            self.answer(self.total[0])
        else:
            self.finish()


def reduce_with(source: Flow, supplier: Fn, function: Fn) -> Flow:
    def subscribe(down: Subscriber) -> None:
        try:
            seed = required(supplier())
        except Failure as failure:
            failing(down, failure)
        else:
            source.subscribe(Reduce(down, function, seed))

    return Flow(subscribe, "single")


class Collected(Answer):
    """Adds every item to a fresh container."""

    def __init__(self, down: Subscriber, container: Fn, add: Fn) -> None:
        super().__init__(down)
        self.container, self.add = container(), add

    def next(self, item: Any) -> None:
        self.add(self.container, item)

    def complete(self) -> None:
        self.answer(self.container)


class Count_(Answer):
    count = 0

    def next(self, item: Any) -> None:
        self.count += 1

    def complete(self) -> None:
        self.answer(self.count)


class AnyOf(Answer):
    """``answer`` at the first item that the predicate agrees to, the opposite of it otherwise. All, any, contains, is_empty."""

    def __init__(self, down: Subscriber, predicate: Fn, answer: bool) -> None:
        super().__init__(down)
        self.predicate, self.found = predicate, answer

    def next(self, item: Any) -> None:
        if self.predicate(item):
            self.answer_now(self.found)

    def complete(self) -> None:
        self.answer(not self.found)


class OneItem(Answer):
    """The item that is chosen, or a default, or an error, or nothing (``may_be_empty``)."""

    def __init__(self, down: Subscriber, *default: Any, may_be_empty: bool = False) -> None:
        super().__init__(down)
        self.default, self.may_be_empty = default, may_be_empty
        self.found: list[Any] = []

    def complete(self) -> None:
        if self.found or self.default:
            self.answer((*self.found, *self.default)[0])
        elif self.may_be_empty:
            self.finish()
        else:
            raise Failure("NoSuchElement")


class ElementAt(OneItem):
    """Requests no more than it needs."""

    def __init__(self, down: Subscriber, index: int, *default: Any, may_be_empty: bool = False) -> None:
        super().__init__(down, *default, may_be_empty=may_be_empty)
        self.left = index
        self.wants = index + 1

    def next(self, item: Any) -> None:
        if self.left == 0:
            self.answer_now(item)
        self.left -= 1


class Last(OneItem):
    def next(self, item: Any) -> None:
        self.found = [item]


class SingleItem(OneItem):
    """A second item is an error."""

    def next(self, item: Any) -> None:
        if self.found:
            raise Failure("IllegalArgument")
        self.found = [item]


def sequence_equal(a: Flow, b: Flow, prefetch: Count) -> Flow:
    """Whether two streams give the same items and complete both.

    RxJava says no to a stream that is too short when the other one is complete as well, which it may never be: it is asked for no
    further items. The library says so at once, and this does.
    """
    return Flow(lambda down: SequenceEqual(down, prefetch, (a.passive, b.passive)).begin(a, b), "single")


class SequenceEqual(Stage):
    """``pulls``: of which stream each item is fetched when it is needed."""

    def __init__(self, down: Subscriber, prefetch: Count, pulls: tuple[bool, bool]) -> None:
        super().__init__(down)
        self.pulls = pulls
        self.all_there = False
        self.queues: list[list[Any]] = [[], []]
        self.done = [False, False]
        self.demands = [Prefetch(prefetch), Prefetch(prefetch)]
        self.sides = [
            Side(lambda item, i=i: self.item(i, item), self.failed, lambda i=i: self.side_done(i), 0 if pulls[i] else prefetch)  # type: ignore[misc]
            for i in (0, 1)
        ]
        self.gate = Gate(self.compare)

    def begin(self, *flows: Flow) -> None:
        self.down.on_subscribe(self)
        for flow, side in zip(flows, self.sides, strict=True):
            self.all_there = side is self.sides[-1]  # or just being subscribed
            if not self.over:
                flow.subscribe(side)
        self.gate.run()

    def item(self, i: int, item: Any) -> None:
        self.queues[i].append(item)
        self.gate.run()

    def side_done(self, i: int) -> None:
        self.done[i] = True
        self.gate.run()

    def compare(self) -> None:
        a, b = self.queues
        while not self.over:
            for i in (0, 1):
                if self.pulls[i] and self.all_there and not self.queues[i] and not self.done[i] and not self.over:
                    self.sides[i].up.request(1)
            if a and b:
                if a.pop(0) != b.pop(0):
                    self.say(False)
                for i in (0, 1):
                    if not self.pulls[i]:
                        self.demands[i].took(self.sides[i].up)
            elif any(self.done[i] and not self.queues[i] and self.queues[1 - i] for i in (0, 1)):
                self.say(False)
            elif all(self.done) and not a and not b:
                self.say(True)
            else:
                return

    def say(self, answer: bool) -> None:
        if not self.over:
            self.leave()
            self.down.on_next(answer)
            self.finish()

    def failed(self, failure: Failure) -> None:
        self.leave()
        self.fail(failure)

    def leave(self) -> None:
        for side in self.sides:
            side.cancel()

    def request(self, n: Count) -> None:
        pass

    def cancel(self) -> None:
        self.over = True
        self.leave()

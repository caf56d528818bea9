"""Operators for the tests of the TCK, by hand and from nobody's library: correct ones, and some that each break one rule."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from rx_core import UNBOUNDED

# -- correct ones ------------------------------------------------------------------------------------------------------


class Identity:
    """A correct operator that changes nothing: it is the subscriber of its source, and the Subscription downstream."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def subscribe(self, down: Any) -> None:
        self.down = down
        self.up: Any = None
        self.over = False
        self.source.subscribe(self)

    # the subscriber

    def on_subscribe(self, up: Any) -> None:
        if self.up is not None:
            self.second(up)
            return
        self.up = up
        self.down.on_subscribe(self)

    def second(self, up: Any) -> None:
        up.cancel()

    def on_next(self, item: Any) -> None:
        if not self.over:
            self.emit(item)

    def emit(self, item: Any) -> None:
        self.down.on_next(item)

    def on_error(self, error: Exception) -> None:
        self.end(lambda: self.down.on_error(error))

    def on_complete(self) -> None:
        self.end(self.down.on_complete)

    def end(self, signal: Callable[[], object]) -> None:
        if not self.over:
            self.over = True
            signal()

    # the Subscription

    def request(self, n: int) -> None:
        if self.over:
            return
        if n < 1:
            self.cancel()
            self.down.on_error(ValueError(f"§3.9: request({n})"))
        else:
            self.ask(n)

    def ask(self, n: int) -> None:
        self.up.request(n)

    def cancel(self) -> None:
        if not self.over:
            self.over = True
            self.stop()

    def stop(self) -> None:
        self.up.cancel()


class Odd(Identity):
    """Drops even items and requests another one for each; its requests are made by one thread at a time."""

    def subscribe(self, down: Any) -> None:
        self.wanted: deque[int] = deque()
        self.turn = [0]
        super().subscribe(down)

    def emit(self, item: Any) -> None:
        if item % 2:
            super().emit(item)
        else:
            self.ask(1)

    def ask(self, n: int) -> None:
        self.wanted.append(n)
        while self.wanted:
            try:
                turn = self.turn.pop()
            except IndexError:
                return
            while self.wanted:
                n = self.wanted.popleft()
                if not self.over:
                    self.up.request(n)
            self.turn.append(turn)


class Take(Identity):
    """The first ``count`` items."""

    def __init__(self, source: Any, count: int = 2) -> None:
        super().__init__(source)
        self.count = count

    def emit(self, item: Any) -> None:
        self.count -= 1
        super().emit(item)
        if not self.count and not self.over:
            self.cancel()
            self.down.on_complete()


class MergeSide:
    """The subscriber of one source of a Merge."""

    def __init__(self, merge: Merge) -> None:
        self.merge = merge
        self.up: Any = None
        self.done = False

    def on_subscribe(self, up: Any) -> None:
        if self.up is not None or self.merge.over:
            up.cancel()
            return
        self.up = up
        up.request(1)

    def on_next(self, item: Any) -> None:
        if not self.merge.over:
            self.merge.queue.append((item, self))
            self.merge.drain()

    def on_error(self, error: Exception) -> None:
        self.done = True
        self.merge.fail(error)

    def on_complete(self) -> None:
        self.done = True
        self.merge.drain()

    def more(self) -> None:
        if not self.done and not self.merge.over:
            self.up.request(1)

    def stop(self) -> None:
        if self.up is not None and not self.done:
            self.up.cancel()


class Merge:
    """Two sources, each asked for one item at a time, in a queue. Everything runs on one thread."""

    side = MergeSide

    def __init__(self, first: Any, second: Any) -> None:
        self.sources = first, second

    def subscribe(self, down: Any) -> None:
        self.down = down
        self.queue: deque[tuple[Any, MergeSide]] = deque()
        self.demand = 0
        self.over = self.busy = False
        self.sides = [self.side(self), self.side(self)]
        down.on_subscribe(self)
        for source, side in zip(self.sources, self.sides, strict=True):
            if not self.over:
                source.subscribe(side)
        self.drain()

    def request(self, n: int) -> None:
        if self.over:
            return
        if n < 1:
            self.fail(ValueError(f"§3.9: request({n})"))
            return
        self.demand = min(self.demand + n, UNBOUNDED)
        self.drain()

    def cancel(self) -> None:
        if not self.over:
            self.over = True
            for side in self.sides:
                side.stop()

    def fail(self, error: Exception) -> None:
        if not self.over:
            self.cancel()
            self.down.on_error(error)

    def drain(self) -> None:
        if self.busy:
            return
        self.busy = True
        while self.queue and self.demand and not self.over:
            self.demand -= 1
            item, side = self.queue.popleft()
            self.down.on_next(item)
            side.more()
        self.busy = False
        if not self.over and not self.queue and all(side.done for side in self.sides):
            self.over = True
            self.down.on_complete()


class Repeat:
    """Its source twice."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def subscribe(self, down: Any) -> None:
        self.round = Round(self, down, None)
        self.source.subscribe(self.round)


class Round(Identity):
    """One subscription of it; what was requested in vain is requested again."""

    def __init__(self, repeat: Repeat, down: Any, before: Round | None) -> None:
        super().__init__(repeat.source)
        self.repeat, self.down, self.before = repeat, down, before
        self.demand: int = 0 if before is None else before.demand
        self.up: Any = None
        self.over = False
        self.next: Round | None = None

    def on_subscribe(self, up: Any) -> None:
        if self.before is None or self.up is not None:
            super().on_subscribe(up)
            return
        self.up = up
        if self.over:
            up.cancel()
        elif self.demand:
            up.request(self.demand)

    def emit(self, item: Any) -> None:
        self.demand -= self.demand < UNBOUNDED
        super().emit(item)

    def on_complete(self) -> None:
        if self.before is not None:
            super().on_complete()
        elif not self.over:
            self.next = Round(self.repeat, self.down, self)
            self.repeat.source.subscribe(self.next)

    def request(self, n: int) -> None:
        if self.next is not None:
            self.next.request(n)
        else:
            super().request(n)

    def ask(self, n: int) -> None:
        self.demand = min(self.demand + n, UNBOUNDED)
        if self.up is not None:
            super().ask(n)

    def cancel(self) -> None:
        if self.next is not None:
            self.next.cancel()
        else:
            super().cancel()

    def stop(self) -> None:
        if self.up is not None:
            super().stop()


# -- faulty ones: one for each rule ------------------------------------------------------------------------------------


class SendsTwice(Identity):  # 1.1
    def emit(self, item: Any) -> None:
        self.down.on_next(item)
        if not self.over:
            self.down.on_next(item)


class EndsTwice(Identity):  # 1.7
    def end(self, signal: Callable[[], object]) -> None:
        if not self.over:
            super().end(signal)
            signal()


class SubscribeRaises(Identity):  # 1.9
    def subscribe(self, down: Any) -> None:
        super().subscribe(down)
        raise RuntimeError("no")


class CancelsInOnComplete(Identity):  # 2.3
    def on_complete(self) -> None:
        if not self.over:
            self.up.cancel()
        super().on_complete()


class CancelsInOnError(Identity):  # 2.3
    def on_error(self, error: Exception) -> None:
        if not self.over:
            self.up.cancel()
        super().on_error(error)


class RequestsInOnError(Identity):  # 2.3
    def on_error(self, error: Exception) -> None:
        if not self.over:
            self.up.request(1)
        super().on_error(error)


class PassesCallsInsideTheEnd(Identity):  # 2.3: for a subscriber that disposes itself in its on_complete
    ending = False

    def end(self, signal: Callable[[], object]) -> None:
        self.ending = True
        super().end(signal)
        self.ending = False

    def request(self, n: int) -> None:
        if self.ending:
            self.up.request(n)
        super().request(n)

    def cancel(self) -> None:
        if self.ending:
            self.up.cancel()
        super().cancel()


class PassesCallsAfterTheEnd(Identity):  # 2.4: the same, afterwards
    ending = ended = False

    def end(self, signal: Callable[[], object]) -> None:
        self.ending = True
        super().end(signal)
        self.ending = False
        self.ended = True

    def cancel(self) -> None:
        if self.ended and not self.ending:
            self.up.cancel()
        super().cancel()


class AsksAgain(MergeSide):
    def more(self) -> None:
        if not self.merge.over:
            self.up.request(1)


class RequestsAfterTheEnd(Merge):  # 2.4: for an item that has waited, though its source has ended meanwhile
    side = AsksAgain


class UsesTheSecond(Identity):  # 2.5
    def second(self, up: Any) -> None:
        pass


class RequestsFromTheSecond(Identity):  # 2.5
    def second(self, up: Any) -> None:
        up.request(1)
        up.cancel()


class NeverCancels(Identity):  # 2.6
    def stop(self) -> None:
        pass


class EndsWithoutCancelling(Take):  # 2.6
    def emit(self, item: Any) -> None:
        self.count -= 1
        self.down.on_next(item)
        if not self.count and not self.over:
            self.over = True
            self.down.on_complete()


class CancelsOneOfTwo(Merge):  # 2.6
    def cancel(self) -> None:
        if not self.over:
            self.over = True
            self.sides[0].stop()


class RequestsFromTwoThreads(Odd):  # 2.7
    def ask(self, n: int) -> None:
        self.up.request(n)


class RaisesAfterCancel(Identity):  # 2.8
    def on_next(self, item: Any) -> None:
        if self.over:
            raise RuntimeError("too late")
        super().on_next(item)


class SubscribesTwice(Identity):  # 2.12
    def subscribe(self, down: Any) -> None:
        super().subscribe(down)
        if not self.over:
            self.source.subscribe(self)


class RaisesInOnNext(Identity):  # 2.13
    def emit(self, item: Any) -> None:
        super().emit(item)
        if item == 3 and not self.over:
            self.over = True
            raise RuntimeError("three")


class PassesWrongRequests(Identity):  # 3.9
    def request(self, n: int) -> None:
        if not self.over:
            self.up.request(n)


class Counting(Identity):
    """Knows whether one of its methods is running: what is raised there is seen in that one as well."""

    running = 0

    def counted(self, call: Callable[[], object]) -> None:
        self.running += 1
        try:
            call()
        finally:
            self.running -= 1

    def on_subscribe(self, up: Any) -> None:
        self.counted(lambda: super(Counting, self).on_subscribe(up))

    def on_next(self, item: Any) -> None:
        self.counted(lambda: super(Counting, self).on_next(item))

    def end(self, signal: Callable[[], object]) -> None:
        self.counted(lambda: super(Counting, self).end(signal))


class CancelRaises(Counting):  # 3.15
    def request(self, n: int) -> None:
        self.counted(lambda: super(CancelRaises, self).request(n))

    def cancel(self) -> None:
        super().cancel()
        if not self.running:
            raise RuntimeError("no")


class RequestRaises(Counting):  # 3.16
    def request(self, n: int) -> None:
        super().request(n)
        if self.over and not self.running:
            raise RuntimeError("no")


class RequestsTooMuch(Identity):  # 3.17
    def ask(self, n: int) -> None:
        self.up.request(n + 1 if n == UNBOUNDED else n)

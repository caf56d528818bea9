"""Sources that can be polled and consumers that poll, for the tests of the fusion TCK: the correct ones."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from rx_core.queue_fusion import ANY, ASYNC, BOUNDARY, NONE, SYNC

Function = Callable[[int], int]


class SyncQueue:
    """A correct Subscription that computes an element when it is polled, or sends as requested when it was refused."""

    def __init__(self, down: Any, count: int, function: Function | None, fails: bool) -> None:
        self.down, self.count, self.function, self.fails = down, count, function, fails
        self.at = self.demand = 0
        self.mode = NONE
        self.open = False  # on_subscribe has returned
        self.over = self.busy = False
        self.failure: Exception | None = None

    # negotiation
    def request_fusion(self, mode: int) -> int:
        if self.open or (mode & BOUNDARY and self.function is not None):
            return NONE
        self.mode = mode & SYNC
        return self.mode

    # the queue
    def poll(self) -> Any:
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        if self.over:
            return None
        if self.at == self.count:
            self.over = True
            if self.fails:
                raise ValueError("failed")
            return None
        return self.compute()

    def compute(self) -> Any:
        self.at += 1
        return self.at - 1 if self.function is None else self.function(self.at - 1)

    def poll_many(self, n: int) -> Any:
        batch: list[Any] = []
        try:
            while len(batch) < n and (item := self.poll()) is not None:
                batch.append(item)
        except Exception as error:
            if not batch:
                raise
            self.failure = error
        return batch

    def is_empty(self) -> bool:
        return self.over or (self.at == self.count and not self.fails)

    def clear(self) -> None:
        self.at = self.count

    # the plain protocol
    def request(self, n: int) -> None:
        self.demand += n
        self.emit()

    def emit(self) -> None:
        if self.busy or self.mode:
            return
        self.busy = True
        try:
            while self.demand and self.at < self.count and not self.over:
                if self.send(self.compute()):
                    self.demand -= 1
        finally:
            self.busy = False
        if self.at == self.count and not self.over:
            self.over = True
            self.down.on_complete()

    def send(self, item: Any) -> bool:
        conditional = getattr(self.down, "try_on_next", None)
        if conditional is not None:
            return bool(conditional(item))
        self.down.on_next(item)
        return True

    def cancel(self) -> None:
        self.over = True
        self.down = None


class AsyncQueue(SyncQueue):
    """A correct Subscription of a source that has computed everything and tells that it may be polled."""

    told = dirty = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.ready: deque[Any] = deque()
        self.token: dict[int, bool] = {}

    def request_fusion(self, mode: int) -> int:
        if self.open or (mode & BOUNDARY and self.function is not None):
            return NONE
        self.mode = mode & ASYNC
        self.ready = deque(range(self.count))
        return self.mode

    def request(self, n: int) -> None:
        if not self.mode:
            super().request(n)
        elif not self.over:
            self.notify(None)

    def notify(self, item: Any) -> None:
        self.dirty = True
        while self.open and self.dirty and self.token.pop(0, False):
            self.dirty = False
            try:
                if self.down is not None:
                    self.tell(item)
            finally:
                self.token[0] = True

    def tell(self, item: Any) -> None:
        self.down.on_next(item)

    def opened(self) -> None:
        self.token[0] = True
        if self.count:
            self.notify(None)
        if not self.over and self.token.pop(0, False):
            self.end()

    def end(self) -> None:
        if not self.told:
            self.told = True
            down, self.down = self.down, None
            self.over = True
            if self.fails:
                down.on_error(ValueError("failed"))
            else:
                down.on_complete()

    def poll(self) -> Any:
        if self.failure is not None:
            return super().poll()
        if not self.ready:
            return None
        item = self.ready.popleft()
        return item if self.function is None else self.function(item)

    def is_empty(self) -> bool:
        return not self.ready

    def clear(self) -> None:
        self.ready.clear()

    def cancel(self) -> None:
        super().cancel()
        if self.mode:
            self.ready.clear()


class Source:
    """A correct publisher of the Subscription it is told to use."""

    def __init__(self, kind: type[SyncQueue], count: int, function: Function | None = None, *, fails: bool = False) -> None:
        self.kind, self.count, self.function, self.fails = kind, count, function, fails

    def subscribe(self, subscriber: Any) -> None:
        queue = self.kind(subscriber, self.count, self.function, self.fails)
        subscriber.on_subscribe(queue)
        queue.open = True
        if queue.mode == ASYNC:
            queue.opened()  # type: ignore[attr-defined]  # an AsyncQueue
        elif queue.mode == NONE:
            queue.emit()


class Kept(Source):
    """Remembers every subscriber."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.kept: list[Any] = []

    def subscribe(self, subscriber: Any) -> None:
        self.kept.append(subscriber)
        super().subscribe(subscriber)


class Relay:
    """A correct consumer: polls when it can and passes everything on. Who requests polls, one thread at a time."""

    wanted = ANY

    def __init__(self, source: Any) -> None:
        self.source = source

    def subscribe(self, subscriber: Any) -> None:
        self.source.subscribe(type(self).Link(subscriber, self))

    class Link:
        window = 8

        def __init__(self, down: Any, relay: Relay) -> None:
            self.down, self.relay = down, relay
            self.mode = NONE
            self.waiting: deque[Any] = deque()
            self.demand = self.taken = 0
            self.done = self.over = self.dirty = False
            self.error: Exception | None = None
            self.token: dict[int, bool] = {}
            self.requests: deque[int] = deque()

        # negotiation
        def on_subscribe(self, upstream: Any) -> None:
            self.up = upstream
            self.ask()
            self.down.on_subscribe(self)
            if self.mode != SYNC:
                self.up.request(self.window)
            self.token[0] = True
            self.drain()

        def ask(self) -> None:
            if hasattr(self.up, "request_fusion"):
                self.mode = self.up.request_fusion(self.relay.wanted | BOUNDARY)

        # from the source
        def on_next(self, item: Any) -> None:
            if self.mode == NONE:
                self.waiting.append(item)
            self.drain()

        def on_error(self, error: Exception) -> None:
            self.error, self.done = error, True
            self.drain()

        def on_complete(self) -> None:
            self.done = True
            self.drain()

        # from the subscriber
        def request(self, n: int) -> None:
            self.requests.append(n)
            self.drain()

        def cancel(self) -> None:
            self.over = True
            self.drain()

        # one thread at a time
        def drain(self) -> None:
            self.dirty = True
            while self.dirty and self.token.pop(0, False):
                try:
                    self.dirty = False
                    self.work()
                finally:
                    self.token[0] = True

        def work(self) -> None:
            while self.up is not None:
                if self.over:
                    self.leave()
                    return
                while self.requests:
                    self.demand += self.requests.popleft()
                done = self.done
                if done and self.is_empty():
                    self.finish(self.error)
                    return
                if not self.demand:
                    return
                try:
                    item = self.next()
                except Exception as error:
                    self.up.cancel()
                    self.finish(error)
                    return
                if item is None:
                    if done or self.mode == SYNC:
                        self.finish(self.error)
                    return
                self.demand -= 1
                self.replenish()
                self.down.on_next(item)

        def next(self) -> Any:
            return self.up.poll() if self.mode else (self.waiting.popleft() if self.waiting else None)

        def is_empty(self) -> bool:
            return bool(self.up.is_empty()) if self.mode else not self.waiting

        def replenish(self) -> None:
            if self.mode != SYNC and not self.done:
                self.taken += 1
                if self.taken == self.window // 2:
                    self.taken = 0
                    self.up.request(self.window // 2)

        def leave(self) -> None:
            up, self.up = self.up, None
            up.cancel()
            if self.mode:
                up.clear()

        def finish(self, error: Exception | None) -> None:
            self.up = None
            if error is None:
                self.down.on_complete()
            else:
                self.down.on_error(error)


def on_a_thread(action: Callable[[], object]) -> None:
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    thread.join(2.0)

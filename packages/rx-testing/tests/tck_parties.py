"""Publishers for the tests of the TCK: a correct one, and subscriptions that each break one thing."""

from __future__ import annotations

import threading
from typing import Any

from rx_core import UNBOUNDED

# -- a good one --------------------------------------------------------------------------------------------------------


class Counting:
    """A correct subscription: counts from 0. Whoever emits serves the requests that come meanwhile."""

    def __init__(self, down: Any, count: int) -> None:
        self.down, self.count = down, count
        self.demand = self.sent = 0
        self.done = self.busy = False
        self.owner = 0

    def request(self, n: int) -> None:
        if self.done:
            return
        if n < 1:
            self.wrong(n)
            return
        self.add(n)
        self.emit()

    def add(self, n: int) -> None:
        self.demand += n

    def wrong(self, n: int) -> None:
        self.done = True
        self.down.on_error(ValueError(f"§3.9: request({n})"))

    def emit(self) -> None:
        if self.busy:
            return
        self.busy = True
        self.owner = threading.get_ident()
        try:
            while self.goes_on() and self.sent < self.count and self.demand > 0:
                self.demand -= 1
                self.sent += 1
                self.down.on_next(self.item())
        finally:
            self.busy = False
        if self.goes_on() and self.sent == self.count:
            self.done = True
            self.finish()

    def goes_on(self) -> bool:
        return not self.done

    def item(self) -> Any:
        return self.sent - 1

    def finish(self) -> None:
        self.down.on_complete()

    def cancel(self) -> None:
        self.done = True


class Numbers:
    """A correct publisher of the subscription it is told to use."""

    def __init__(self, count: int, kind: type[Counting] = Counting) -> None:
        self.count, self.kind = count, kind

    def subscribe(self, subscriber: Any) -> None:
        if subscriber is None:
            raise TypeError("a subscriber is needed")
        subscription = self.kind(subscriber, self.count)
        subscriber.on_subscribe(subscription)
        if self.count == 0:
            subscription.emit()


class Failed:
    def subscribe(self, subscriber: Any) -> None:
        subscription = Counting(subscriber, 0)
        subscriber.on_subscribe(subscription)
        subscription.done = True
        subscriber.on_error(RuntimeError("failed"))


class Threaded(Counting):
    """Correct, on a thread of its own."""

    def __init__(self, down: Any, count: int) -> None:
        super().__init__(down, count)
        self.asked = threading.Semaphore(0)
        self.subscribed = threading.Event()

    def emit(self) -> None:
        if not self.owner:
            self.owner = 1
            threading.Thread(target=self.run, daemon=True).start()
        self.asked.release()

    def run(self) -> None:
        self.subscribed.wait(1)
        while not self.done:
            self.asked.acquire()
            super().emit()

    def cancel(self) -> None:
        self.done = True
        self.asked.release()


class ThreadedNumbers(Numbers):
    def __init__(self, count: int, kind: type[Threaded] = Threaded) -> None:
        super().__init__(count, kind)

    def subscribe(self, subscriber: Any) -> None:
        if subscriber is None:
            raise TypeError("a subscriber is needed")
        subscription = self.kind(subscriber, self.count)
        subscriber.on_subscribe(subscription)
        subscription.subscribed.set()  # type: ignore[attr-defined]  # it is Threaded
        if self.count == 0:
            subscription.emit()


# -- faulty subscriptions ----------------------------------------------------------------------------------------------


class OneTooMany(Counting):
    def add(self, n: int) -> None:
        self.demand += n + 1


class OneTooFew(Counting):
    def add(self, n: int) -> None:
        self.demand += max(n - 1, 1)


class NeverCompletes(Counting):
    def finish(self) -> None: ...


class EndsWithError(Counting):
    def finish(self) -> None:
        self.down.on_error(RuntimeError("the end"))


class CompletesTwice(Counting):
    def finish(self) -> None:
        self.down.on_complete()
        self.down.on_complete()


class GoesOnAfterTheEnd(Counting):
    def finish(self) -> None:
        self.down.on_complete()
        self.down.on_next(99)


class FailsAfterTheEnd(Counting):
    def finish(self) -> None:
        self.down.on_complete()
        self.down.on_error(RuntimeError("late"))


class AnswersAfterTheEnd(Counting):
    ended = False

    def finish(self) -> None:
        self.ended = True
        self.down.on_complete()

    def request(self, n: int) -> None:
        if self.ended:
            self.down.on_complete()
        super().request(n)


class EmitsOnEveryThread(Counting):
    def emit(self) -> None:
        self.busy = self.busy and self.owner == threading.get_ident()
        super().emit()


class Recursive(Counting):
    def emit(self) -> None:
        self.busy = self.busy and self.owner != threading.get_ident()
        super().emit()


class CancelWaits(Counting):
    def __init__(self, down: Any, count: int) -> None:
        super().__init__(down, count)
        self.lock = threading.RLock()

    def emit(self) -> None:
        if self.lock.acquire(blocking=False):
            super().emit()
            self.lock.release()

    def cancel(self) -> None:
        with self.lock:
            super().cancel()


class CancelHasOneThread(Counting):
    def __init__(self, down: Any, count: int) -> None:
        super().__init__(down, count)
        self.home = threading.get_ident()

    def cancel(self) -> None:
        super().cancel()
        if threading.get_ident() != self.home:
            raise RuntimeError("wrong thread")


class RequestAwakens(Counting):
    def request(self, n: int) -> None:
        self.done = self.done and self.sent == self.count
        super().request(max(n, 1) if self.cancelled else n)

    cancelled = False

    def cancel(self) -> None:
        self.done = self.cancelled = True


class RequestFailsAfterCancel(Counting):
    def request(self, n: int) -> None:
        if self.cancelled:
            self.down.on_error(RuntimeError("was cancelled"))
        super().request(n)

    cancelled = False

    def cancel(self) -> None:
        self.done = self.cancelled = True


class RequestRaisesAfterCancel(RequestFailsAfterCancel):
    def request(self, n: int) -> None:
        if self.cancelled:
            raise RuntimeError("was cancelled")
        super().request(n)


class ChecksDemandAfterCancel(Counting):
    def request(self, n: int) -> None:
        if n < 1:
            self.wrong(n)
        else:
            super().request(n)


class SecondCancelRaises(Counting):
    cancels = 0

    def cancel(self) -> None:
        super().cancel()
        self.cancels += 1
        if self.cancels > 1:
            raise RuntimeError("twice")


class SecondCancelCompletes(SecondCancelRaises):
    def cancel(self) -> None:
        self.done = True
        self.cancels += 1
        if self.cancels > 1:
            self.down.on_complete()


class DemandIsReplaced(Counting):
    def add(self, n: int) -> None:
        self.demand = n


class ForgetsRequestsFromOnNext(Counting):
    def add(self, n: int) -> None:
        if not (self.busy and self.owner == threading.get_ident()):
            self.demand += n


class ForgetsRequestsFromOnSubscribe(Counting):
    opened = False

    def emit(self) -> None:
        if self.opened:
            super().emit()


class ZeroIsNothing(Counting):
    def wrong(self, n: int) -> None:
        if n < 0:
            super().wrong(n)


class NegativeIsNothing(Counting):
    def wrong(self, n: int) -> None:
        if n == 0:
            super().wrong(n)


class WrongRequestRaises(Counting):
    def wrong(self, n: int) -> None:
        raise ValueError(f"§3.9: request({n})")


class WrongRequestIsAnotherError(Counting):
    def wrong(self, n: int) -> None:
        self.done = True
        self.down.on_error(RuntimeError(f"§3.9: request({n})"))


class WrongRequestCompletes(Counting):
    def wrong(self, n: int) -> None:
        self.done = True
        self.down.on_complete()


class WrongRequestWithoutRule(Counting):
    def wrong(self, n: int) -> None:
        self.done = True
        self.down.on_error(ValueError("a bad number"))


class CancelDoesNothing(Counting):
    def cancel(self) -> None: ...


class CancelIsSeenLate(Counting):
    cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    def request(self, n: int) -> None:
        self.done = self.done or self.cancelled
        super().request(n)


class CancelRaises(Counting):
    def cancel(self) -> None:
        super().cancel()
        raise RuntimeError("no")


class RequestRaises(Counting):
    def request(self, n: int) -> None:
        super().request(n)
        if n > 0 and not self.done:
            raise RuntimeError("no")


class SmallNumbers(Counting):
    def add(self, n: int) -> None:
        super().add(n)
        if self.demand >= 2**31:
            self.wrong(n)


class TooMuchIsAnError(Counting):
    def add(self, n: int) -> None:
        super().add(n)
        if self.demand > UNBOUNDED:
            self.wrong(n)


class WrapsAround(Counting):
    def add(self, n: int) -> None:
        super().add(n)
        if self.demand > UNBOUNDED:
            self.demand -= 2**64


class SendsNone(Counting):
    def item(self) -> Any:
        return None


class NeverEnds(Counting):
    def emit(self) -> None:
        while True:
            self.down.on_next(0)


class Deadlock(Counting):
    """A lock that the same thread cannot take twice."""

    def __init__(self, down: Any, count: int) -> None:
        super().__init__(down, count)
        self.lock = threading.Lock()

    def emit(self) -> None:
        with self.lock:
            super().emit()


class LateExtra(Threaded):
    """After the elements that were requested, on its thread, one more."""

    def add(self, n: int) -> None:
        self.demand += n + 1


class NotWaitingForOnSubscribe(Threaded):
    def __init__(self, down: Any, count: int) -> None:
        super().__init__(down, count)
        self.subscribed.set()


class SilentThread(Threaded):
    def finish(self) -> None: ...

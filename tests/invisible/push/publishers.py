"""Publishers that are not the library's: they speak the protocol, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rx_ops import Flowable
from tests.recorded.building import Flow, MakeSource, Node
from tests.recorded.signals import AppError


class Publisher:
    """Sends its items as they are requested, each by ``plan``: at once, or later on a clock. The end needs no request."""

    def __init__(self, items: list[int], error: Exception | None, plan: Callable[[Callable[[], None]], object] | None) -> None:
        self.items, self.error, self.plan = items, error, plan

    def subscribe(self, subscriber: Any, /) -> None:
        Sending(self, subscriber).begin()


class Sending:
    """One subscription. It never calls its subscriber from inside a call of it to ``on_next``: RS 3.3."""

    def __init__(self, publisher: Publisher, subscriber: Any) -> None:
        self.items = list(publisher.items)
        self.error, self.plan, self.subscriber = publisher.error, publisher.plan, subscriber
        self.wanted = 0
        self.busy = self.over = False

    def begin(self) -> None:
        self.busy = True
        self.subscriber.on_subscribe(self)
        self.busy = False
        self.go_on()

    def request(self, n: int, /) -> None:
        self.wanted += n
        self.go_on()

    def cancel(self) -> None:
        self.over = True

    def go_on(self) -> None:
        while not self.busy and not self.over and (self.wanted or not self.items):
            self.busy = True
            if self.plan:
                self.plan(self.step_later)
                return
            self.step()
            self.busy = False

    def step_later(self) -> None:
        if not self.over:
            self.step()
        self.busy = False
        self.go_on()

    def step(self) -> None:
        if self.items:
            self.wanted -= 1
            self.subscriber.on_next(self.items.pop(0))
            return
        self.over = True
        if self.error:
            self.subscriber.on_error(self.error)
        else:
            self.subscriber.on_complete()


def _error(at: Node) -> Exception | None:
    return AppError(at["e"]) if "e" in at else None


def _foreign(at: Node) -> Flow:
    return Flowable.wrap(Publisher(at.numbers(), _error(at), None))


def _paced(at: Node) -> Flow:
    seconds, worker = at.seconds(), at.clock.create_worker()
    return Flowable.wrap(Publisher(at.numbers(), _error(at), lambda action: worker.schedule(action, seconds)))


PUBLISHERS: Final[dict[str, MakeSource]] = {"foreign": _foreign, "paced": _paced}

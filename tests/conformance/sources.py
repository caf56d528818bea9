"""The same items from every kind of source an operator can meet, each with a way to make it work and to look at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rx_ops import Flowable
from rx_testing import ManualPublisher, ManualSubscription, VirtualScheduler


class SourceError(Exception):
    """What a failing source fails with."""


@dataclass
class Source:
    """One source of a test: the stream, and what the test needs to drive and to inspect it."""

    flow: Flowable[Any]
    #: Let an asynchronous source send what was asked for; True when something happened.
    pump: Callable[[], bool] = field(default=lambda: False)
    #: Subscriptions that neither ended nor were cancelled; None where nobody can tell.
    active: Callable[[], int] | None = None


class Iterating:
    """An iterable without a length whose iterators are generators; it counts those that are not closed."""

    def __init__(self, items: Sequence[Any], error: Exception | None = None) -> None:
        self.items, self.error = items, error
        self.open = 0

    def __iter__(self) -> Iterator[Any]:
        self.open += 1
        try:
            yield from self.items
            if self.error is not None:
                raise self.error
        finally:
            self.open -= 1


class Foreign:
    """A correct synchronous publisher that has nothing from this library: it answers each request before it returns."""

    def __init__(self, items: Sequence[Any], error: Exception | None = None) -> None:
        self.items, self.error = items, error
        self.subscriptions: list[_ForeignSubscription] = []

    def subscribe(self, subscriber: Any, /) -> None:
        subscription = _ForeignSubscription(self, subscriber)
        self.subscriptions.append(subscription)
        subscriber.on_subscribe(subscription)
        subscription.emit()

    @property
    def active(self) -> int:
        return sum(not each.over for each in self.subscriptions)

    @property
    def requests(self) -> list[int]:
        """What the latest subscriber asked for, request by request."""
        return self.subscriptions[-1].requests


class _ForeignSubscription:
    def __init__(self, publisher: Foreign, subscriber: Any) -> None:
        self.publisher, self.subscriber = publisher, subscriber
        self.requests: list[int] = []
        self.wanted = self.sent = 0
        self.over = self.emitting = False

    def request(self, n: int, /) -> None:
        self.requests.append(n)
        if self.over:
            return
        if type(n) is not int or n < 1:
            self.over = True
            self.subscriber.on_error(ValueError(f"§3.9: request({n!r})"))
            return
        self.wanted += n
        self.emit()

    def emit(self) -> None:
        if self.emitting:  # RS 3.3: a request from inside on_next is served by the loop that is already running
            return
        self.emitting = True
        items = self.publisher.items
        try:
            while not self.over and self.sent < len(items) and self.sent < self.wanted:
                self.sent += 1
                self.subscriber.on_next(items[self.sent - 1])
        finally:
            self.emitting = False
        if not self.over and self.sent == len(items):
            self.over = True
            if self.publisher.error is None:
                self.subscriber.on_complete()
            else:
                self.subscriber.on_error(self.publisher.error)

    def cancel(self) -> None:
        self.over = True


def _clean(items: Sequence[Any], error: Exception | None, _clock: VirtualScheduler) -> Source:
    flow: Flowable[Any] = Flowable.of(*items)
    return Source(flow if error is None else flow.concat_with(Flowable.error(error)))


def _listed(items: Sequence[Any], error: Exception | None, _clock: VirtualScheduler) -> Source:
    if error is not None:
        return _generated(items, error, _clock)
    return Source(Flowable.from_iterable(list(items)))


def _generated(items: Sequence[Any], error: Exception | None, _clock: VirtualScheduler) -> Source:
    made = Iterating(items, error)
    return Source(Flowable.from_iterable(made), active=lambda: made.open)


def _running(items: Sequence[Any], error: Exception | None, _clock: VirtualScheduler) -> Source:
    last: Flowable[Any] = Flowable.empty() if error is None else Flowable.error(error)
    return Source(Flowable.concat(Flowable.from_iterable(list(items)), last))


def _foreign(items: Sequence[Any], error: Exception | None, _clock: VirtualScheduler) -> Source:
    publisher = Foreign(items, error)
    return Source(Flowable.wrap(publisher), active=lambda: publisher.active)


def _manual(items: Sequence[Any], error: Exception | None, _clock: VirtualScheduler) -> Source:
    def answer(subscription: ManualSubscription[Any], n: object) -> None:
        if type(n) is not int or n < 1:  # RS 3.9 is the publisher's to answer
            at[publisher.subscriptions.index(subscription)] = len(items) + 1
            subscription.error(ValueError(f"§3.9: request({n!r})"))

    publisher: ManualPublisher[Any] = ManualPublisher(unchecked=True, on_request=answer)
    at: dict[int, int] = {}

    def pump() -> bool:
        moved = False
        for number, each in enumerate(list(publisher.subscriptions)):
            sent = at.get(number, 0)
            while sent < len(items) and each.outstanding > 0 and not each.cancelled:
                try:
                    each.next(items[sent])
                except TypeError:
                    if items[sent] is not None:  # RS 2.13: for None it has to raise
                        raise
                sent += 1
                moved = True
            if sent == len(items) and not each.cancelled:
                sent += 1
                moved = True
                each.complete() if error is None else each.error(error)
            at[number] = sent
        return moved

    def active() -> int:
        return sum(not each.cancelled and at.get(number, 0) <= len(items) for number, each in enumerate(publisher.subscriptions))

    return Source(Flowable.wrap(publisher), pump, active)


def _hidden(items: Sequence[Any], error: Exception | None, clock: VirtualScheduler) -> Source:
    made = _generated(items, error, clock)
    return Source(made.flow.hide(), active=made.active)


def _observed(items: Sequence[Any], error: Exception | None, clock: VirtualScheduler) -> Source:
    made = _generated(items, error, clock)
    return Source(made.flow.observe_on(clock, delay_error=True), active=made.active)


def _observed_foreign(items: Sequence[Any], error: Exception | None, clock: VirtualScheduler) -> Source:
    made = _foreign(items, error, clock)
    return Source(made.flow.observe_on(clock, delay_error=True), active=made.active)


Maker = Callable[[Sequence[Any], "Exception | None", VirtualScheduler], Source]

KINDS: Final[dict[str, Maker]] = {
    "clean": _clean,  # our source, known to hold no None
    "list": _listed,  # a user's iterable with a length
    "generated": _generated,  # a user's iterable without one
    "running": _running,  # a coordinating operator
    "foreign": _foreign,  # somebody's publisher, synchronous
    "manual": _manual,  # somebody's publisher, sending later
    "hidden": _hidden,  # ours behind a wall
    "observed": _observed,  # ours on a worker, polled
    "observed foreign": _observed_foreign,  # somebody's on a worker, through a queue
}

#: Kinds that can tell whether they were let go of.
WATCHED: Final = tuple(name for name, make in KINDS.items() if make((1,), None, VirtualScheduler()).active is not None)

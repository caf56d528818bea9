"""A case and its subscribers, at their times: what happens to a stream from outside, for the reference and for the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final

from tests.invisible.push.clock import Clock
from tests.invisible.push.functions import text
from tests.invisible.push.hot import SUBJECTS
from tests.invisible.push.operator_table import OPERATORS
from tests.invisible.push.reading import RXJAVA, Reader, Variant
from tests.invisible.push.source_table import SOURCES
from tests.invisible.push.streams import UNBOUNDED, Count, Failure, Flow, Prefetch, Subscriber, Subscription
from tests.recorded.cases import Answer, HotSource, Trace
from tests.recorded.cases import Subscriber as Plan

#: How long a case is run after its horizon.
AFTERWARDS: Final = 20_000

#: A stream with more signals is not followed any further.
MOST: Final = 3000


class Endless(BaseException):
    """More signals than a case should have. Not an Exception, so that no operator makes it a signal."""


@dataclass(frozen=True, slots=True)
class Demanding(Plan):
    """A subscriber that does not request everything."""

    #: What it requests at subscribing; with each item; and at which times.
    first: int = 0
    with_each: int = 0
    later: tuple[tuple[int, int], ...] = ()


def demanding(case: Trace) -> bool:
    return any(isinstance(subscriber, Demanding) for subscriber in case.subscribers)


class Watcher:
    """A subscriber at work. It writes down what it gets, and cancels and requests as its plan says.

    It serves a stream of any kind: a single and a maybe give their item by ``on_success``. ``unbounded``: a request for
    everything; 0 for a stream that has no requests.
    """

    def __init__(self, plan: Plan, now: Callable[[], int], text: Callable[[Any], str], unbounded: Count, at_last: Count) -> None:
        self.plan, self.now, self.text, self.unbounded, self.at_last = plan, now, text, unbounded, at_last
        self.demanding = plan if isinstance(plan, Demanding) else None
        self.got: list[list[Any]] = []
        self.up: Any = None
        self.items = 0
        self.requested: Count = 0
        self.left = False

    def log(self, signal: str) -> None:
        if len(self.got) >= MOST:
            raise Endless
        self.got.append([self.now(), signal])

    def subscribe_to(self, stream: Any) -> None:
        stream.subscribe(self)

    def on_subscribe(self, up: Any, /) -> None:
        self.up = up
        self.request(self.demanding.first if self.demanding else self.unbounded)

    def on_next(self, item: Any, /) -> None:
        self.items += 1
        self.log(f"next {self.text(item)}")
        if self.unbounded and self.requested < self.items:
            self.log("it was not requested")
        if self.items == self.plan.cancel_after:
            self.cancel()
        elif self.demanding:
            self.request(self.demanding.with_each)

    def on_success(self, item: Any, /) -> None:
        self.log(f"success {self.text(item)}")

    def on_error(self, error: Any, /) -> None:
        self.log(f"error {self.text(error)}")

    def on_complete(self) -> None:
        self.log("complete")

    def request(self, n: Any) -> None:
        if n and self.unbounded and not self.left and self.up is not None:
            self.requested += n
            self.up.request(n)

    def cancel(self) -> None:
        self.left = True
        if self.up is not None:
            (getattr(self.up, "cancel", None) or self.up.dispose)()


Step = tuple[int, Callable[[], object]]


def steps(
    case: Trace,
    watchers: Sequence[Watcher],
    subscribe: Callable[[Watcher], object],
    hot: Mapping[str, Any],
    failure: Callable[[str], Any],
) -> list[Step]:
    """What happens from outside, in order. Of what happens at the same time, subscribers from the start are first."""

    def of(watcher: Watcher) -> Iterator[Step]:
        plan = watcher.plan
        if plan.at:
            yield plan.at, partial(subscribe, watcher)
        for time, n in plan.later if isinstance(plan, Demanding) else ():
            yield time, partial(watcher.request, n)
        if plan.cancel_at is not None:
            yield plan.cancel_at, watcher.cancel

    first: list[Step] = [(0, partial(subscribe, watcher)) for watcher in watchers if not watcher.plan.at]
    played = [step for source in case.hot for step in playing(source, hot[source.name], failure)]
    return sorted([*first, *played, *(step for watcher in watchers for step in of(watcher))], key=lambda step: step[0])


def playing(source: HotSource, subject: Any, failure: Callable[[str], Any]) -> Iterator[Step]:
    for time, kind, *value in source.script:
        if kind == "n":
            yield time, partial(subject.on_next, *value)
        elif kind == "e":
            yield time, partial(subject.on_error, failure(*value))
        else:
            yield time, subject.on_complete


def play(case: Trace, watchers: Sequence[Watcher], steps: Sequence[Step], advance_to: Callable[[int], object]) -> Answer:
    """Let time pass. In the end a subscriber of a Flowable requests everything: some operators look at the clock then."""
    for time, action in steps:
        advance_to(time)
        action()
        advance_to(time)
    advance_to(case.horizon)
    for watcher in watchers:
        watcher.request(watcher.at_last)
    advance_to(case.horizon + AFTERWARDS)
    return {watcher.plan.name: watcher.got for watcher in watchers if watcher.got}


class ReferenceWatcher(Watcher):
    """A single and a maybe of the reference are streams that complete with their item. Nothing has to be requested of them."""

    kind = "flowable"
    ended = False

    def log(self, signal: str) -> None:
        """The reference keeps the rules: nothing comes behind an end, and nothing once a subscriber has cancelled."""
        assert not self.ended, f"{signal} behind the end"
        assert not self.left, f"{signal} for a subscriber that has cancelled"
        self.ended = signal.startswith(("error", "complete", "success"))
        super().log(signal)

    def on_subscribe(self, up: Any, /) -> None:
        super().on_subscribe(up)
        if self.kind != "flowable":
            up.request(UNBOUNDED)

    def request(self, n: Any) -> None:
        if self.kind == "flowable":
            super().request(n)

    def on_next(self, item: Any, /) -> None:
        if self.kind == "flowable":
            super().on_next(item)
        else:
            self.items += 1
            self.on_success(item)

    def on_complete(self) -> None:
        if self.kind == "flowable" or not self.items:
            super().on_complete()


def described(case: Trace, variant: Variant = RXJAVA) -> Flow:
    """The stream of a case in the reference, before it is subscribed. What is hot gives nothing, and the clock stands."""
    hot = {source.name: SUBJECTS[source.kind]().flow() for source in case.hot}
    return Reader(Clock(), variant, SOURCES, OPERATORS, hot).pipeline(case.source, case.operators)


class Taking(Subscriber):
    """What a for loop takes items from: they wait here, and it asks for more when three quarters of them are taken."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.end: str | None = None
        self.demand = Prefetch(128)

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        up.request(self.demand.size)

    def on_next(self, item: Any) -> None:
        self.items.append(item)

    def on_error(self, failure: Failure) -> None:
        self.end = f"error {text(failure)}"

    def on_complete(self) -> None:
        self.end = "complete"

    def taken(self) -> Iterator[str]:
        while self.items:
            yield f"next {text(self.items.pop(0))}"
            self.demand.took(self.up)
        if self.end:
            yield self.end


def refer_in_a_loop(case: Trace, variant: Variant = RXJAVA) -> Answer:
    """The same for a loop, while the clock stands."""
    taking = Taking()
    described(case, variant).subscribe(taking)
    taken = list(islice(taking.taken(), MOST + 1))
    if len(taken) > MOST:
        raise Endless
    return {"d0": [[0, signal] for signal in taken]} if taken else {}


def refer(case: Trace, variant: Variant = RXJAVA, clock: Clock | None = None) -> Answer:
    """What the naive reference answers."""
    clock = clock or Clock()
    hot = {source.name: SUBJECTS[source.kind]() for source in case.hot}
    for subject in hot.values():
        subject.joins_first = variant.joins_first
    reader = Reader(clock, variant, SOURCES, OPERATORS, {name: subject.flow() for name, subject in hot.items()})
    flow = reader.pipeline(case.source, case.operators)
    at_last = 0 if variant.observable else UNBOUNDED
    watchers = [ReferenceWatcher(plan, lambda: clock.now, text, UNBOUNDED, at_last) for plan in case.subscribers]
    for watcher in watchers:
        watcher.kind = flow.kind
    made = steps(case, watchers, flow.subscribe, hot, lambda name: Failure("App:" + name))  # type: ignore[arg-type]  # a watcher subscribes
    return play(case, watchers, made, clock.advance_to)

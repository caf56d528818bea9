"""Operators of the naive reference that go on with another source, or with the same one again, when a source has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.invisible.push.clock import Clock
from tests.invisible.push.streams import (
    UNBOUNDED,
    Count,
    Failure,
    Flow,
    InTurn,
    Side,
    Stage,
    Subscriber,
    Subscription,
    Waiting,
    all_of,
    completing,
    failing,
    required,
)

Fn = Callable[..., Any]


def in_turn(operator: Callable[..., InTurn], *arguments: Any, kind: str = "flowable", **options: Any) -> Flow:
    return Flow(lambda down: operator(down, *arguments, **options).begin(), kind)


class Concat(InTurn):
    """Sources one after another; an error ends it."""

    def __init__(self, down: Subscriber, *flows: Flow) -> None:
        super().__init__(down)
        self.flows = list(flows)

    def complete(self) -> None:
        self.gate.run()

    def subscribe_next(self) -> None:
        if self.over:
            return
        if self.flows:
            self.flows.pop(0).subscribe(self)
        else:
            self.finish()


class SwitchIfEmpty(InTurn):
    def __init__(self, down: Subscriber, source: Flow, other: Flow) -> None:
        super().__init__(down)
        self.flows = [source, other]
        self.empty = True

    def next(self, item: Any) -> None:
        self.empty = False
        super().next(item)

    def complete(self) -> None:
        if self.empty and self.flows:
            self.gate.run()
        else:
            self.finish()

    def subscribe_next(self) -> None:
        self.flows.pop(0).subscribe(self)


class OnErrorResumeNext(InTurn):
    def __init__(self, down: Subscriber, source: Flow, handler: Fn) -> None:
        super().__init__(down)
        self.flow, self.handler = source, handler
        self.resumed = False

    def error(self, failure: Failure) -> None:
        if self.resumed:
            self.fail(failure)
            return
        self.resumed = True
        try:
            self.flow = required(self.handler(failure))
        except Failure as second:
            self.fail(Failure(*failure.texts, *second.texts))
        else:
            self.gate.run()

    def subscribe_next(self) -> None:
        self.flow.subscribe(self)


class OnErrorReturn(Waiting):
    """The item in the place of an error waits until it is requested."""

    def __init__(self, down: Subscriber, handler: Fn, kind: str) -> None:
        super().__init__(down)
        self.handler, self.kind = handler, kind

    def next(self, item: Any) -> None:
        self.wanted -= 1
        self.down.on_next(item)

    def error(self, failure: Failure) -> None:
        try:
            item = required(self.handler(failure))
        except Failure as second:
            self.fail(Failure(*failure.texts, *second.texts))
            return
        if self.kind != "flowable":
            self.wanted += 1
        self.items.append(item)
        self.end()

    def request(self, n: Count) -> None:
        self.wanted += n
        self.up.request(n)
        self.gate.run()


class UsingWhen(InTurn):
    """A stream and the cleanup behind it, which is awaited, and which runs as well where downstream leaves the stream."""

    def __init__(self, down: Subscriber, source: Fn, cleanup: Fn) -> None:
        super().__init__(down)
        self.source, self.cleanup = source, cleanup
        self.failed: Failure | None = None
        self.cleaning = False

    def subscribe_next(self) -> None:
        if self.over:
            return
        try:
            flow = self.source()
        except Failure as failure:
            self.error(failure)
        else:
            flow.subscribe(self)

    def error(self, failure: Failure) -> None:
        self.failed = failure
        self.complete()

    def complete(self) -> None:
        self.clean(self.cleaned, lambda: self.cleaned(None))

    def clean(self, error: Callable[[Failure], None], complete: Callable[[], None]) -> None:
        if not self.cleaning:
            self.cleaning = True
            try:
                flow = self.cleanup()
            except Failure as failure:
                error(failure)
            else:
                flow.subscribe(Side(lambda _item: None, error, complete))

    def cleaned(self, failure: Failure | None) -> None:
        failures = [each for each in (self.failed, failure) if each is not None]
        if self.over:
            return
        if failures:
            self.fail(Failure(*(text for each in failures for text in each.texts)))
        else:
            self.finish()

    def cancel(self) -> None:
        if not self.over:
            super().cancel()
            self.clean(lambda _failure: None, lambda: None)


class OnErrorComplete(Stage):
    """An error is the end where the function says so."""

    def __init__(self, down: Subscriber, handler: Fn) -> None:
        super().__init__(down)
        self.handler = handler

    def error(self, failure: Failure) -> None:
        try:
            completes = self.handler(failure)
        except Failure as second:
            self.fail(Failure(*failure.texts, *second.texts))
            return
        if completes:
            self.finish()
        else:
            self.fail(failure)


class Again(InTurn):
    """The same source again."""

    def __init__(self, down: Subscriber, source: Flow) -> None:
        super().__init__(down)
        self.source = source

    def subscribe_next(self) -> None:
        if not self.over:
            self.source.subscribe(self)


class Retry(Again):
    """At most ``times`` more, and as long as the predicate agrees."""

    def __init__(self, down: Subscriber, source: Flow, times: Count, predicate: Fn) -> None:
        super().__init__(down, source)
        self.times, self.predicate = times, predicate

    def error(self, failure: Failure) -> None:
        if self.times == 0:
            self.fail(failure)
            return
        self.times -= 1
        try:
            again = self.predicate(failure)
        except Failure as second:
            self.fail(Failure(*failure.texts, *second.texts))
            return
        if again:
            self.gate.run()
        else:
            self.fail(failure)


class Repeat(Again):
    """``times`` altogether, and as long as ``until`` does not agree."""

    def __init__(self, down: Subscriber, source: Flow, times: Count, until: Fn) -> None:
        super().__init__(down, source)
        self.times, self.until = times, until

    def complete(self) -> None:
        self.times -= 1
        if self.times and not self.until():
            self.gate.run()
        else:
            self.finish()


def repeat(source: Flow, times: Count, until: Fn = lambda: False) -> Flow:
    return in_turn(Repeat, source, times, until) if times else Flow(completing)


class Postponed(InTurn):
    """A source that is made when its subscriber has its subscription, unless it has left with that."""

    def __init__(self, down: Subscriber, supply: Callable[[], Flow]) -> None:
        super().__init__(down)
        self.supply = supply

    def subscribe_next(self) -> None:
        if not self.over:
            self.supply().subscribe(self)


def counted_if_it_stays(flow: Flow, heeds: bool) -> Flow:
    """A shared stream; with ``heeds`` a subscriber that leaves with its subscription does not count, and starts nothing."""
    return in_turn(Postponed, lambda: flow, kind=flow.kind) if heeds else flow


class When(Again):
    """The base of retry_when and repeat_when: each end is an item of ``signals``, each item of the handler's stream a new try."""

    def __init__(self, down: Subscriber, source: Flow, handler: Fn) -> None:
        super().__init__(down, source)
        self.signals: list[Waiting] = []  # the one subscriber of the signals, when it is there
        self.early: list[Any] = []
        self.handler = handler
        self.tries = Side(lambda _: self.gate.run(), self.fail_with, self.finish_all, 0)

    def begin(self) -> None:
        try:
            tries = required(self.handler(Flow(self.subscribe_signals)))
        except Failure as failure:
            failing(self.down, failure)
            return
        self.down.on_subscribe(self)
        tries.subscribe(self.tries)
        self.gate.run()

    def subscribe_signals(self, down: Subscriber) -> None:
        if self.signals:
            failing(down, Failure("IllegalState"))
            return
        waiting = Waiting(down)
        self.signals.append(waiting)
        waiting.on_subscribe(Subscription())
        for signal in self.early:
            waiting.on_next(signal)

    def ended(self, signal: Any) -> None:
        self.up = Subscription()
        self.tries.up.request(1)
        if self.signals:
            self.signals[0].on_next(signal)
        else:
            self.early.append(signal)

    def fail_with(self, failure: Failure) -> None:
        self.up.cancel()
        self.fail(failure)

    def finish_all(self) -> None:
        self.up.cancel()
        self.finish()

    def cancel(self) -> None:
        super().cancel()
        self.tries.cancel()


class RetryWhen(When):
    def error(self, failure: Failure) -> None:
        self.ended(failure)

    def complete(self) -> None:
        self.tries.cancel()
        self.finish()


class RepeatWhen(When):
    def error(self, failure: Failure) -> None:
        self.tries.cancel()
        self.fail(failure)

    def complete(self) -> None:
        self.ended(0)


class DelaySubscription(InTurn):
    """Subscribes when another stream gives its first item or completes."""

    def __init__(self, down: Subscriber, source: Flow, other: Flow) -> None:
        super().__init__(down)
        self.source, self.other = source, other
        self.waiting = Side(self.first, self.fail, self.gate.run)

    def begin(self) -> None:
        self.down.on_subscribe(self)
        if not self.over:
            self.other.subscribe(self.waiting)

    def first(self, _: Any) -> None:
        self.waiting.cancel()
        self.gate.run()

    def subscribe_next(self) -> None:
        if not self.over:
            self.source.subscribe(self)

    def cancel(self) -> None:
        super().cancel()
        self.waiting.cancel()


class Cache(Subscriber):
    """Subscribes once, to everything, and gives all of it to each subscriber as it is requested, the end as well; it never
    cancels. What is requested inside of on_subscribe is given there."""

    def __init__(self, source: Flow) -> None:
        self.source = source
        self.kept: list[Any] = []
        self.readers: list[Waiting] = []
        self.begun = False
        self.end: list[Failure | None] = []

    def flow(self) -> Flow:
        return Flow(self.subscribe, self.source.kind)

    def subscribe(self, down: Subscriber) -> None:
        reader = Reader(down)
        if self.source.kind != "flowable":
            reader.wanted = UNBOUNDED
        reader.items += self.kept
        for failure in self.end:
            reader.done, reader.failure = True, failure
        self.readers.append(reader)
        reader.on_subscribe(Subscription())
        if not self.begun:
            self.begun = True
            self.source.subscribe(self)
        reader.gate.run()

    def on_next(self, item: Any) -> None:
        self.kept.append(item)
        for reader in list(self.readers):
            reader.on_next(item)

    def on_error(self, failure: Failure | None) -> None:
        self.end.append(failure)
        for reader in list(self.readers):
            reader.end(failure)

    def on_complete(self) -> None:
        self.on_error(None)


class CacheTtl:
    """A Cache after the other: one that has failed, or completed so long ago, is not used any more."""

    def __init__(self, source: Flow, ms: int, clock: Clock) -> None:
        self.source, self.ms, self.clock = source, ms, clock
        self.cache = self.made()

    def made(self) -> TimedCache:
        return TimedCache(self.source, self.clock)

    def flow(self) -> Flow:
        return Flow(self.subscribe, self.source.kind)

    def subscribe(self, down: Subscriber) -> None:
        cache = self.cache
        if cache.end and (cache.end[0] is not None or self.clock.now - cache.ended >= self.ms):
            self.cache = self.made()
        self.cache.subscribe(down)


class TimedCache(Cache):
    def __init__(self, source: Flow, clock: Clock) -> None:
        super().__init__(source)
        self.clock = clock
        self.ended = 0

    def on_error(self, failure: Failure | None) -> None:
        self.ended = self.clock.now
        super().on_error(failure)


class Reader(Waiting):
    patient = True


#: Stands for a subscriber that has not come yet.
NOBODY: Final = Subscriber()


class Unicast(Waiting):
    """What is put in waits for its one subscriber, the end too."""

    patient = True

    def __init__(self) -> None:
        super().__init__(NOBODY)

    def attach(self, down: Subscriber) -> None:
        if self.down is not NOBODY:
            failing(down, Failure("IllegalState"))
            return
        self.down = down
        down.on_subscribe(self)
        self.gate.run()

    def give(self) -> None:
        if self.down is not NOBODY:
            super().give()


class Whole(Unicast):
    """The whole source of switch_on_first: its first signal waits here, and then what is requested is requested of the source."""

    def __init__(self, main: Side, ahead: int) -> None:
        super().__init__()
        self.main, self.ahead = main, ahead

    def request(self, n: Count) -> None:
        super().request(n)
        n -= self.ahead
        self.ahead = 0
        if n and not self.main.over:
            self.main.up.request(n)

    def cancel(self) -> None:
        self.over = True
        self.main.cancel()


class SwitchOnFirst(InTurn):
    """What a function makes of the first signal and the whole source; when that is over the source is cancelled."""

    def __init__(self, down: Subscriber, source: Flow, choose: Callable[[Any, Flow], Flow]) -> None:
        super().__init__(down)
        self.source, self.choose = source, choose
        self.main = Side(self.item, self.failed, self.completed, 1)
        self.whole: Whole | None = None

    def begin(self) -> None:
        self.down.on_subscribe(self)
        if not self.over:
            self.source.subscribe(self.main)

    def item(self, item: Any) -> None:
        if self.whole:
            self.whole.put(item)
        else:
            self.whole = Whole(self.main, 1)
            self.whole.put(item)
            self.chosen(item, self.whole)

    def failed(self, failure: Failure) -> None:
        if self.whole:
            self.whole.end(failure)
        else:
            self.whole = Whole(self.main, 0)
            self.whole.end(failure)
            self.chosen(None, self.whole, failure)

    def completed(self) -> None:
        if self.whole:
            self.whole.end()
        else:
            self.whole = Whole(self.main, 0)
            self.whole.end()
            self.chosen(None, self.whole)

    def chosen(self, item: Any, whole: Whole, *failures: Failure) -> None:
        try:
            flow = self.choose(item, Flow(whole.attach))
        except Failure as failure:
            self.fail(all_of([*failures, failure]))
            return
        flow.subscribe(self)

    def fail(self, failure: Failure) -> None:
        self.main.cancel()
        super().fail(failure)

    def finish(self) -> None:
        self.main.cancel()
        super().finish()

    def cancel(self) -> None:
        super().cancel()
        self.main.cancel()

"""A ledger of items, and the operators in front of ``do_on_discard``, each with the way by which its items are accounted for."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import rx_schedulers
from rx_core import UNBOUNDED
from rx_ops import Flowable, Observable
from tests.storm.feeding import Feeder, Item
from tests.storm.operators import number_of, place_of, prefetching


class Made:
    """What a function made of an item: that item is the function's."""


class Ledger:
    """Each item that the sources gave, and where it ended. Called on any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.given: list[Item] = []
        self.delivered: list[Any] = []
        self.discarded: list[Any] = []
        #: By a function that makes something of it, by ``on_drop``, or by a source that only says when.
        self.used: list[Any] = []

    def _note(self, where: list[Any], item: Any) -> None:
        with self._changed:
            where.append(item)
            self._changed.notify_all()

    def gave(self, item: Item) -> None:
        self._note(self.given, item)

    def deliver(self, item: Any) -> None:
        self._note(self.delivered, item)

    def discard(self, item: Any) -> None:
        self._note(self.discarded, item)

    def use(self, item: Any) -> None:
        self._note(self.used, item)

    def make(self, item: Any) -> Made:
        self.use(item)
        return Made()

    def settle(self, shared: bool, patience: float) -> None:
        """Wait until workers have thrown away what they had, and see that every item is accounted for once.

        ``shared``: rows have items in common.
        """
        with self._changed:
            found = self._changed.wait_for(lambda: not self._missing(), patience)
            assert found, f"nowhere: {self._missing()}"
            rows = [each for each in self.discarded if shared and not is_item(each)]
            single = [each for each in self.discarded if not (shared and not is_item(each))]
            thrown = Counter(items_of([*single, *self.used]))
            assert max(thrown.values(), default=1) == 1, f"twice: {thrown}"
            delivered = Counter(items_of([*self.delivered, *rows]))
            assert shared or max(delivered.values(), default=1) == 1, f"delivered twice: {delivered}"
            assert not thrown.keys() & delivered.keys(), f"delivered and thrown away: {thrown.keys() & delivered.keys()}"

    def _missing(self) -> list[Item]:
        found = {*items_of([*self.delivered, *self.discarded, *self.used])}
        return [item for item in self.given if item not in found]


def is_item(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(type(part) is int for part in value)


def items_of(values: Any) -> Iterator[Item]:
    """The items in what came out: rows, lists, notifications, items with their time."""
    if is_item(values):
        yield values
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from items_of(value)
    elif hasattr(values, "item"):
        yield from items_of(values.item)


class End:
    """Subscriber and observer: takes every item, also one that comes after its cancel, for that is its own (RS 2.8)."""

    def __init__(self, ledger: Ledger, first: int, more: int) -> None:
        self.ledger = ledger
        self.ended = threading.Event()
        self.up: Any = None
        self._first = first
        self._more = more

    def on_subscribe(self, up: Any, /) -> None:
        self.up = up
        if self._first and hasattr(up, "request"):
            up.request(self._first)

    def on_next(self, item: Any, /) -> None:
        self.ledger.deliver(item)
        if self._more and hasattr(self.up, "request"):
            self.up.request(self._more)

    def on_error(self, error: Exception, /) -> None:
        self.ended.set()

    def on_complete(self) -> None:
        self.ended.set()

    def cancel(self) -> None:
        up = self.up
        if up is not None:
            (up.cancel if hasattr(up, "cancel") else up.dispose)()


# -- the operators -----------------------------------------------------------------------------------------------------------

Build = Callable[[Any, list[Any], Ledger], Any]


@dataclass(frozen=True)
class Kept:
    name: str
    build: Build
    sources: tuple[int, int] = (2, 6)
    #: Rows have items in common.
    shared: bool = False
    faces: tuple[Any, ...] = (Flowable, Observable)
    #: The last source only says when: where its items end is not asked.
    signals: bool = False

    def __str__(self) -> str:
        return self.name


def after_merge(name: str, step: Callable[[Any, Any, Ledger], Any], *, faces: tuple[Any, ...] = (Flowable, Observable)) -> Kept:
    return Kept(name, lambda rx, s, ledger: step(rx, rx.merge(*s, **prefetching(rx)), ledger), faces=faces)


def each_source(name: str, step: Callable[[Any, Ledger], Any], *, faces: tuple[Any, ...] = (Flowable, Observable)) -> Kept:
    return Kept(name, lambda rx, s, ledger: rx.merge(*(step(source, ledger) for source in s)), faces=faces)


def beside_last(name: str, step: Callable[[Any, Any], Any]) -> Kept:
    return Kept(name, lambda rx, s, ledger: step(rx.merge(*s[:-1]), s[-1].concat_with(rx.never())), signals=True)


def inner(name: str, **options: Any) -> Kept:
    """Sources that a function makes have a do_on_discard of their own."""

    def build(rx: Any, s: list[Any], ledger: Ledger) -> Any:
        return getattr(rx.range(len(s)), name)(lambda at: s[at].do_on_discard(ledger.discard), **options, **prefetching(rx))

    return Kept(f"{name} of several", build)


def outer(name: str) -> Kept:
    return after_merge(f"{name} over one", lambda rx, m, ledger: getattr(m, name)(lambda item: rx.just(ledger.make(item))))


def switched(name: str) -> Kept:
    def build(rx: Any, s: list[Any], ledger: Ledger) -> Any:
        def mapped(item: Item) -> Any:
            ledger.use(item)
            return s[1 + item[1] % (len(s) - 1)].do_on_discard(ledger.discard) if item[1] < len(s) - 1 else rx.empty()

        return getattr(s[0], name)(mapped)

    return Kept(name, build, (3, 6))


def wide(_item: Item) -> bool:
    return False


def even(item: Item) -> bool:
    return item[1] % 2 == 0


def clock() -> Any:
    return rx_schedulers.computation()


def whole(rx: Any, m: Any, ledger: Ledger) -> Any:
    """Several of them in a row."""
    return m.filter(even).observe_on(clock()).buffer(2).delay(1e-4).rate_limit(30, 1e-3).take(5)


FLOWABLE: Final = (Flowable,)
KEPT: Final = (
    Kept("merge", lambda rx, s, ledger: rx.merge(*s, **prefetching(rx))),
    Kept("merge_ordered", lambda rx, s, ledger: rx.merge_ordered(*s, key=place_of, **prefetching(rx))),
    Kept("merge_priority", lambda rx, s, ledger: rx.merge_priority(*s, key=place_of, **prefetching(rx))),
    Kept("concat", lambda rx, s, ledger: rx.concat(*s)),
    Kept("concat_eager", lambda rx, s, ledger: rx.concat_eager(*s, **prefetching(rx))),
    Kept("zip", lambda rx, s, ledger: rx.zip(*s, **prefetching(rx))),
    Kept("zip, errors late", lambda rx, s, ledger: rx.zip(*s, **prefetching(rx), delay_error=True)),
    Kept("zip with what is passive", lambda rx, s, ledger: rx.zip(*s, rx.range(5))),
    Kept("combine_latest", lambda rx, s, ledger: rx.combine_latest(*s), shared=True),
    Kept("amb", lambda rx, s, ledger: rx.amb(*s)),
    Kept("take_until", lambda rx, s, ledger: rx.merge(*s[:-1]).take_until(s[-1].skip(3).hide()), signals=True),
    Kept("skip_until", lambda rx, s, ledger: rx.merge(*s[:-1]).skip_until(s[-1].skip(3).hide()), signals=True),
    inner("flat_map"),
    inner("flat_map", max_concurrency=2),
    inner("concat_map_eager"),
    Kept(
        "concat_map of several",
        lambda rx, s, ledger: rx.range(len(s)).concat_map(lambda at: s[at].do_on_discard(ledger.discard)),
    ),
    outer("flat_map"),
    outer("concat_map"),
    outer("concat_map_eager"),
    after_merge("expand", lambda rx, m, ledger: m.expand(lambda _item: rx.empty())),
    after_merge("expand, depth first", lambda rx, m, ledger: m.expand(lambda _item: rx.empty(), depth_first=True)),
    switched("switch_map"),
    switched("exhaust_map"),
    # parts
    after_merge("group_by", lambda rx, m, ledger: m.group_by(number_of).flat_map(lambda group: group)),
    after_merge("window by count", lambda rx, m, ledger: m.window(5).flat_map(lambda window: window)),
    after_merge("window by time", lambda rx, m, ledger: m.window(seconds=20e-3).flat_map(lambda window: window)),
    after_merge("buffer by time", lambda rx, m, ledger: m.buffer(seconds=5e-3)),
    beside_last("buffer by boundary", lambda m, last: m.buffer(boundary=last)),
    after_merge("buffer by count", lambda rx, m, ledger: m.buffer(5)),
    after_merge("buffer_until", lambda rx, m, ledger: m.buffer_until(even)),
    after_merge("skip_last", lambda rx, m, ledger: m.skip_last(4)),
    # stages
    after_merge("filter", lambda rx, m, ledger: m.filter(even)),
    after_merge("distinct", lambda rx, m, ledger: m.distinct(key=place_of)),
    after_merge("skip, take", lambda rx, m, ledger: m.skip(3).take(9)),
    after_merge("take_while", lambda rx, m, ledger: m.take_while(lambda item: item[1] < 7)),
    after_merge("map", lambda rx, m, ledger: m.map(ledger.make).map(lambda made: made)),
    after_merge("scan", lambda rx, m, ledger: m.scan(lambda _total, item: ledger.make(item), Made())),
    after_merge("flat_map_iterable", lambda rx, m, ledger: m.flat_map_iterable(lambda item: [ledger.make(item), Made()])),
    # what comes too fast
    beside_last("sample", lambda m, last: m.sample(sampler=last)),
    after_merge("debounce", lambda rx, m, ledger: m.debounce(selector=rx.just)),
    each_source("debounce by time", lambda s, ledger: s.debounce(1e-4)),
    each_source("debounce with on_drop", lambda s, ledger: s.debounce(1e-4, on_drop=ledger.use)),
    after_merge("throttle_first", lambda rx, m, ledger: m.throttle_first(1e-3)),
    each_source("throttle_latest", lambda s, ledger: s.throttle_latest(1e-3)),
    after_merge("on_backpressure_buffer", lambda rx, m, ledger: m.on_backpressure_buffer(), faces=FLOWABLE),
    after_merge("on_backpressure_drop", lambda rx, m, ledger: m.on_backpressure_drop(), faces=FLOWABLE),
    after_merge(
        "on_backpressure_drop, on_drop", lambda rx, m, ledger: m.on_backpressure_drop(on_drop=ledger.use), faces=FLOWABLE
    ),
    each_source("on_backpressure_latest", lambda s, ledger: s.on_backpressure_latest(), faces=FLOWABLE),
    after_merge("on_backpressure_timeout", lambda rx, m, ledger: m.on_backpressure_timeout(1e-3, capacity=3), faces=FLOWABLE),
    # threads and time
    after_merge("observe_on", lambda rx, m, ledger: m.observe_on(clock(), **prefetching(rx))),
    each_source("observe_on, merge", lambda s, ledger: s.observe_on(clock())),
    each_source("subscribe_on", lambda s, ledger: s.subscribe_on(rx_schedulers.io())),
    after_merge("unsubscribe_on", lambda rx, m, ledger: m.unsubscribe_on(rx_schedulers.io())),
    each_source("delay", lambda s, ledger: s.delay(1e-4)),
    after_merge("delay by selector", lambda rx, m, ledger: m.delay(selector=lambda _item: rx.timer(1e-4))),
    each_source("take_last by time", lambda s, ledger: s.take_last(seconds=60.0, count=3)),
    each_source("skip_last by time", lambda s, ledger: s.skip_last(seconds=1e-4)),
    after_merge("timeout", lambda rx, m, ledger: m.timeout(60.0)),
    each_source("timeout, short", lambda s, ledger: s.timeout(1e-4).on_error_complete()),
    after_merge("rate_limit", lambda rx, m, ledger: m.rate_limit(30, 1e-3)),
    after_merge("rebatch_requests", lambda rx, m, ledger: m.rebatch_requests(3), faces=FLOWABLE),
    # one after the other
    each_source("retry", lambda s, ledger: s.retry(1)),
    each_source("on_error_resume_next", lambda s, ledger: s.on_error_resume_next(lambda _: Flowable.empty())),
    each_source("on_error_return", lambda s, ledger: s.on_error_return(lambda _: Made())),
    after_merge("materialize", lambda rx, m, ledger: m.materialize()),
    after_merge("timestamp", lambda rx, m, ledger: m.timestamp()),
    after_merge("switch_if_empty", lambda rx, m, ledger: m.filter(wide).switch_if_empty(rx.never())),
    # looking on
    after_merge("do_on_each, do_after_next", lambda rx, m, ledger: m.do_on_each(repr).do_after_next(repr)),
    after_merge("do_finally, named, log", lambda rx, m, ledger: m.do_finally(int).named("m").log(level=1)),
    after_merge("several in a row", whole),
)


class Tracked(Feeder):
    """A source that notes what it gives. It fails in the middle where it has two ``pieces``."""

    def __init__(self, number: int, ledger: Ledger, *, noted: bool, pieces: int) -> None:
        super().__init__(number, pieces=pieces)
        self.hooks: list[Callable[[int], object]] = []
        self.on_send = self._sends
        self._ledger = ledger
        self._noted = noted

    def _sends(self, place: int) -> None:
        if self._noted:
            self._ledger.gave((self.number, place))
        for hook in self.hooks:
            hook(place)


@dataclass
class Run:
    """A case in front of do_on_discard, ready for its threads."""

    ledger: Ledger
    feeders: list[Tracked]
    flow: Any
    end: End


def run_of(case: Kept, face: Any, count: int, demand: int, *, pieces: int) -> Run:
    """``demand``: how many items are requested in the beginning, and one more for each; 0: all."""
    ledger = Ledger()
    feeders = [
        Tracked(number, ledger, noted=not (case.signals and number == count - 1), pieces=pieces) for number in range(count)
    ]
    streams: list[Any] = [Flowable.wrap(feeder) for feeder in feeders]
    if face is Observable:
        streams = [stream.to_observable() for stream in streams]
    flow = case.build(face, streams, ledger).do_on_discard(ledger.discard)
    return Run(ledger, feeders, flow, End(ledger, demand or UNBOUNDED, 1 if demand else 0))

"""What the TCK runs over: every source, and every operator whose number of outputs is known, as streams of ``n`` elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.progress import Progress

from rx_core import UNBOUNDED
from rx_fusion import fusion_off
from rx_ops import BackpressureStrategy, Completable, Emitter, Flowable, GenerateEmitter, Maybe, Observable, Single
from rx_testing import PublisherVerification, VirtualScheduler
from rx_testing.tck import TckResult, verify

Flow = Flowable[Any]
#: A source of so many elements, or one that fails when asked for -1.
Source = Callable[[int], Flow]


class Failure(Exception):
    """What the failing sources fail with."""


@dataclass(frozen=True)
class Case:
    """A stream of ``n`` elements over a source."""

    name: str
    build: Callable[[Source, int], Flow]
    #: The longest stream it can make.
    most: int = UNBOUNDED - 1
    #: Whether an error of the source is an error of the stream as soon as it is subscribed.
    fails: bool = True
    #: Runs on the virtual clock that is installed for every scheduler.
    timed: bool = False

    def __str__(self) -> str:
        return self.name


def run(
    case: Case,
    source: Source,
    *,
    mode: str = "fused",
    synchronous: bool = True,
    multicast: bool = True,
    clock: VirtualScheduler | None = None,
    seconds: float = 5.0,
) -> TckResult:
    """The TCK over ``case``, built on ``source``."""

    class Verification(PublisherVerification[Any]):
        default_timeout = seconds
        multi_subscribe = multicast
        max_elements_from_publisher = case.most

        def create_publisher(self, elements: int, /) -> Any:
            return _moded(case.build(source, elements), mode)

        def create_failed_publisher(self) -> Any:
            return _moded(case.build(lambda _n: source(-1), 1), mode) if case.fails else None

        def settle(self) -> bool:
            return clock is not None and moves(clock)

    Verification.synchronous = synchronous
    return verify(Verification)


def moves(clock: VirtualScheduler) -> bool:
    due = clock.next_due
    return due is not None and due < 1e6 and clock.advance_to(max(due, clock.now())) > 0


def _moded(flow: Flow, mode: str) -> Any:
    if mode == "hidden":
        return flow.hide()
    return _Unfused(flow) if mode == "off" else flow


class _Unfused:
    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def subscribe(self, subscriber: Any, /) -> None:
        with fusion_off():
            self._flow.subscribe(subscriber)


class Foreign:
    """A correct synchronous publisher that has nothing from this library, and keeps no subscriber."""

    def __init__(self, items: Sequence[Any], error: Exception | None = None) -> None:
        self.items, self.error = items, error

    def subscribe(self, subscriber: Any, /) -> None:
        subscription = _ForeignSubscription(self.items, self.error, subscriber)
        subscriber.on_subscribe(subscription)
        subscription.emit()


class _ForeignSubscription:
    def __init__(self, items: Sequence[Any], error: Exception | None, subscriber: Any) -> None:
        self.items, self.error, self.subscriber = items, error, subscriber
        self.wanted = self.sent = 0
        self.over = self.emitting = False

    def request(self, n: int, /) -> None:
        if self.over:
            return
        if n < 1:
            self.over = True
            self.subscriber.on_error(ValueError(f"§3.9: request({n})"))
            return
        self.wanted += n
        self.emit()

    def emit(self) -> None:
        if self.emitting:
            return
        self.emitting = True
        try:
            while not self.over and self.sent < min(len(self.items), self.wanted):
                self.sent += 1
                self.subscriber.on_next(self.items[self.sent - 1])
        finally:
            self.emitting = False
        if not self.over and self.sent == len(self.items):
            self.over = True
            if self.error is None:
                self.subscriber.on_complete()
            else:
                self.subscriber.on_error(self.error)

    def cancel(self) -> None:
        self.over = True


# -- sources of other kinds, for operators -----------------------------------------------------------------------------


def fused(n: int) -> Flow:
    return Flowable.range(n) if n >= 0 else Flowable.error(Failure)


def hidden(n: int) -> Flow:
    return fused(n).hide()


def foreign(n: int) -> Flow:
    return Flowable.wrap(Foreign(range(max(n, 0)), Failure() if n < 0 else None))


# -- the table ---------------------------------------------------------------------------------------------------------


class Lazy:
    """An iterable without a length."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[int]:
        yield from range(self.n)


def _generated(n: int) -> Flow:
    def step(state: int, emitter: GenerateEmitter[int]) -> int:
        emitter.on_next(state) if state < n else emitter.on_complete()
        return state + 1

    return Flowable.generate(lambda: 0, step)


def _pushed(n: int) -> Callable[[Emitter[int]], None]:
    def push(emitter: Emitter[int]) -> None:
        for item in range(n):
            emitter.on_next(item)
        emitter.on_complete()

    return push


def _nothing(n: int) -> None:
    if n != 0:
        raise ValueError("always empty")


def _created(n: int, strategy: BackpressureStrategy) -> Flow:
    return Flowable.create(_pushed(n), strategy)


def _at_least(n: int, least: int) -> int:
    if n < least:
        raise ValueError(f"at least {least}")
    return n - least


def _empty(n: int) -> Flow:
    _nothing(n)
    return Flowable.empty()


def _ignored(s: Source, n: int) -> Flow:
    _nothing(n)
    return s(3).ignore_elements().to_flowable()


# fmt: off
# ruff: noqa: E501  # one line per operator, whatever its length
SOURCES: Final = (
    Case("range", lambda s, n: Flowable.range(n), fails=False),
    Case("of", lambda s, n: Flowable.of(*range(n)), fails=False),
    Case("from_iterable", lambda s, n: Flowable.from_iterable(list(range(n))), fails=False),
    Case("from_iterable lazy", lambda s, n: Flowable.from_iterable(Lazy(n)), fails=False),
    Case("generate", lambda s, n: _generated(n), fails=False),
    Case("just", lambda s, n: Flowable.just(_at_least(n, 1) + 1), most=1, fails=False),
    Case("from_callable", lambda s, n: Flowable.from_callable(lambda: n) if _at_least(n, 1) == 0 else s(n), most=1, fails=False),
    Case("empty", lambda s, n: _empty(n), most=0, fails=False),
    Case("create buffer", lambda s, n: _created(n, BackpressureStrategy.BUFFER), fails=False),
    Case("create latest", lambda s, n: _created(n, BackpressureStrategy.LATEST), most=1, fails=False),
    Case("defer", lambda s, n: Flowable.defer(lambda: s(n))),
    Case("defer generator", lambda s, n: Flowable.defer(lambda: Flowable.from_iterable(iter(range(n)))), fails=False),
    Case("wrap", lambda s, n: foreign(n), fails=False),
    Case("Single", lambda s, n: Single.just(_at_least(n, 1) + 1).to_flowable(), most=1, fails=False),
    Case("Maybe", lambda s, n: Maybe.just(1).to_flowable() if n else Maybe.empty().to_flowable(), most=1, fails=False),
    Case("Completable", lambda s, n: _empty(n).concat_with(Completable.complete().to_flowable()), most=0, fails=False),
    Case("Observable", lambda s, n: Observable.range(n).to_flowable(BackpressureStrategy.BUFFER), fails=False),
)

TIMED: Final = (
    Case("interval", lambda s, n: Flowable.interval(1.0).on_backpressure_buffer().take(n), fails=False),
    Case("interval merged", lambda s, n: Flowable.interval(1.0).take(n).merge_with(s(0)).on_backpressure_buffer(), fails=False),
    Case("timer", lambda s, n: Flowable.timer(1.0).on_backpressure_latest() if _at_least(n, 1) == 0 else s(n), most=1, fails=False),
    Case("delay", lambda s, n: s(n).delay(1.0)),
    Case("timeout", lambda s, n: s(n).timeout(2e6)),
    Case("timeout fallback", lambda s, n: Flowable.never().timeout(1.0, fallback=s(n))),
    Case("subscribe_on", lambda s, n: s(n).subscribe_on(VirtualFor.clock)),
    Case("observe_on", lambda s, n: s(n).observe_on(VirtualFor.clock)),
    Case("observe_on narrow", lambda s, n: s(n).observe_on(VirtualFor.clock, prefetch=1)),
    Case("parallel workers", lambda s, n: s(n).parallel(2).run_on(VirtualFor.clock).sequential()),
    Case("parallel workers ordered", lambda s, n: s(n).parallel(2).run_on(VirtualFor.clock).map_optional(abs).sequential(ordered=True)),
)


class VirtualFor:
    """The clock of the test that runs."""

    clock: VirtualScheduler


SYNCHRONOUS: Final = (
    Case("map", lambda s, n: s(n).map(lambda x: x + 1)),
    Case("starmap", lambda s, n: s(n).map(lambda x: (x, 1)).starmap(lambda a, b: a + b)),
    Case("flat_map_iterable", lambda s, n: s(n).flat_map_iterable(lambda x: (x, x)).take(n)),
    Case("scan", lambda s, n: s(n).scan(lambda a, b: a + b)),
    Case("scan seed", lambda s, n: s(_at_least(n, 1)).scan(lambda a, b: a + b, 10), fails=False),
    Case("buffer", lambda s, n: s(2 * n).buffer(2)),
    Case("buffer gaps", lambda s, n: s(3 * n).buffer(2, 3)),
    Case("buffer overlap", lambda s, n: s(n).buffer(3, 1)),
    Case("filter", lambda s, n: s(2 * n).filter(lambda x: x % 2)),
    Case("of_type", lambda s, n: s(n).of_type(int)),
    Case("take", lambda s, n: s(n + 7).take(n), fails=False),
    Case("skip", lambda s, n: s(n + 3).skip(3)),
    Case("take_while", lambda s, n: s(n + 7).take_while(lambda x: x < n)),
    Case("skip_while", lambda s, n: s(n + 7).skip_while(lambda x: x < 7)),
    Case("distinct", lambda s, n: s(2 * n).distinct(lambda x: x // 2)),
    Case("distinct_until_changed", lambda s, n: s(2 * n).distinct_until_changed(lambda x: x // 2)),
    Case("element_at", lambda s, n: s(n + 2).element_at(2).to_flowable(), most=1),
    Case("first", lambda s, n: s(n).first(0).to_flowable() if _at_least(n, 1) == 0 else s(n), most=1),
    Case("first_element", lambda s, n: s(n).first_element().to_flowable(), most=1),
    Case("reduce", lambda s, n: s(3 * n).reduce(lambda a, b: a + b).to_flowable(), most=1),
    Case("to_list", lambda s, n: s(_at_least(n, 1) + 3).to_list().to_flowable(), most=1),
    Case("count", lambda s, n: s(_at_least(n, 1) + 3).count().to_flowable(), most=1),
    Case("max", lambda s, n: s(3 * n).max().to_flowable(), most=1),
    Case("ignore_elements", _ignored, most=0, fails=False),
    Case("do_on_next", lambda s, n: s(n).do_on_next(lambda x: None)),
    Case("do_on_complete", lambda s, n: s(n).do_on_complete(lambda: None)),
    Case("do_finally", lambda s, n: s(n).do_finally(lambda: None)),
    Case("do_on_error", lambda s, n: s(n).do_on_error(lambda e: None)),
    Case("cast", lambda s, n: s(n).cast(int)),
    Case("hide", lambda s, n: s(n).hide()),
    Case("chain", lambda s, n: s(2 * n + 4).map(lambda x: x + 1).skip(4).filter(lambda x: x % 2).scan(lambda a, b: a + b).take(n + 1)),
)

COORDINATING: Final = (
    Case("flat_map", lambda s, n: s(n).flat_map(lambda x: Flowable.just(x))),
    Case("flat_map inner", lambda s, n: Flowable.just(0).flat_map(lambda x: s(n)), fails=False),
    Case("flat_map narrow", lambda s, n: s(n).flat_map(lambda x: Flowable.of(x, x), max_concurrency=1).take(n)),
    Case("flat_map foreign", lambda s, n: s(n).flat_map(lambda x: Foreign([x]))),
    Case("concat_map", lambda s, n: s(n).concat_map(lambda x: Flowable.just(x))),
    Case("concat_map foreign", lambda s, n: s(n).concat_map(lambda x: Foreign([x]))),
    Case("concat_map_eager", lambda s, n: s(n).concat_map_eager(lambda x: Flowable.just(x))),
    Case("concat_map_eager foreign", lambda s, n: s(n).concat_map_eager(lambda x: Foreign([x]))),
    Case("concat_map_eager inner", lambda s, n: Flowable.just(0).concat_map_eager(lambda x: s(n)), fails=False),
    Case("concat_map inner", lambda s, n: Flowable.just(0).concat_map(lambda x: s(n)), fails=False),
    Case("group_by", lambda s, n: s(n).group_by(lambda x: x % 3).flat_map(lambda group: group)),
    Case("concat", lambda s, n: Flowable.concat(s(n), s(0)), ),
    Case("concat halves", lambda s, n: Flowable.concat(s(n // 2), s(n - n // 2))),
    Case("concat_with", lambda s, n: s(n // 2).concat_with(s(n - n // 2))),
    Case("start_with", lambda s, n: s(_at_least(n, 1)).start_with(7), fails=False),
    Case("merge", lambda s, n: Flowable.merge(s(n // 2), s(n - n // 2))),
    Case("merge late", lambda s, n: Flowable.merge(s(n // 2), s(n - n // 2), delay_error=True)),
    Case("merge_with", lambda s, n: s(n).merge_with(Flowable.empty())),
    Case("parallel", lambda s, n: s(n).parallel(2).sequential()),
    Case("parallel narrow", lambda s, n: s(n).parallel(3, prefetch=1).map(lambda x: x).sequential(prefetch=1)),
    Case("parallel ordered", lambda s, n: s(n).parallel(2).map(lambda x: x).sequential(ordered=True)),
    Case("parallel lists", lambda s, n: s(n).parallel(2).flat_map_iterable(lambda x: (x,)).sequential(ordered=True)),
    Case("zip", lambda s, n: Flowable.zip(s(n), Flowable.range(n + 2))),
    Case("zip_with", lambda s, n: s(n).zip_with(s(n), lambda a, b: a + b)),
    Case("log", lambda s, n: s(n).log(level=0)),
    Case("named", lambda s, n: s(n).named("orders")),
    Case("checkpoint", lambda s, n: s(n).checkpoint()),
    Case("with_context", lambda s, n: s(n).with_context(tenant="acme")),
    Case("progress", lambda s, n: s(n).progress(bar=Progress(disable=True))),
    Case("on_error_complete", lambda s, n: s(n).on_error_complete(), fails=False),
    Case("on_error_return", lambda s, n: s(n).on_error_return(lambda e: 1), fails=False),
    Case("on_error_resume_next", lambda s, n: s(-1).on_error_resume_next(lambda e: s(n)), fails=False),
    Case("retry", lambda s, n: s(n).retry(2)),
    Case("on_backpressure_buffer", lambda s, n: s(n).on_backpressure_buffer()),
    Case("on_backpressure_drop", lambda s, n: s(n).on_backpressure_drop(), most=0),
    Case("on_backpressure_latest", lambda s, n: s(n).on_backpressure_latest(), most=1),
    Case("sandwich", lambda s, n: s(n).map(lambda x: x).hide().flat_map(lambda x: Foreign([x])).hide().filter(lambda x: True)),
)
# fmt: on

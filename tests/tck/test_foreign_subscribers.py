"""What `StrictSubscriber` guards, asked of every path a subscriber that is not ours can be on (docs/decisions/0013)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import pytest

from rx_ops import Flowable
from rx_ops.processors import PublishProcessor, ReplayProcessor, UnicastProcessor
from rx_testing import VirtualScheduler
from tests.conformance.harness import dropped_errors
from tests.conformance.sources import Foreign

Flow = Flowable[Any]
ITEMS: Final = (1, 2, 3)


class Plain:
    """Somebody's subscriber, written without a thought: it calls its subscription from wherever it likes."""

    def __init__(self, request: int = 2**63 - 1, *, raises: str = "", asks: str = "") -> None:
        self.request, self.raises, self.asks = request, raises, asks
        self.up: Any = None
        self.signals: list[Any] = []
        self.inside = 0
        self.nested: list[str] = []

    def note(self, signal: str, value: object) -> None:
        if self.inside:
            self.nested.append(signal)
        self.inside += 1
        try:
            self.signals.append(value)
            if signal == self.asks:
                self.up.request(1)
                self.up.cancel()
                self.up.request(1)
            if signal == self.raises:
                raise LookupError(signal)
        finally:
            self.inside -= 1

    def on_subscribe(self, subscription: Any, /) -> None:
        self.up = subscription
        if self.request:
            subscription.request(self.request)

    def on_next(self, item: Any, /) -> None:
        self.note("on_next", item)

    def on_error(self, error: Exception, /) -> None:
        self.note("on_error", error)

    def on_complete(self) -> None:
        self.note("on_complete", "|")


class Run:
    """A subscriber on one of the paths."""

    def __init__(self, path: str, down: Plain, *, failing: bool = False) -> None:
        self.clock = VirtualScheduler()
        error = OSError("path") if failing else None
        self.source = Foreign(ITEMS, error)
        PATHS[path](self, down)
        self.settle()

    def settle(self) -> None:
        while self.clock.next_due is not None and self.clock.advance_to(max(self.clock.next_due, self.clock.now())):
            pass

    @property
    def flow(self) -> Flow:
        return Flowable.wrap(self.source)

    def fed(self, processor: Any, down: Plain) -> None:
        processor.subscribe(down)
        self.flow.subscribe(processor)

    def connected(self, connectable: Any, down: Plain) -> None:
        connectable.subscribe(down)
        connectable.connect()


#: How a subscriber can get its signals.
PATHS: Final[dict[str, Callable[[Run, Plain], object]]] = {
    "drain": lambda run, down: run.flow.merge_with(Flowable.empty()).subscribe(down),
    "drain nested": lambda run, down: Flowable.concat(Flowable.empty(), run.flow).map(lambda x: x).subscribe(down),
    "drain on a worker": lambda run, down: run.flow.observe_on(run.clock, delay_error=True).subscribe(down),
    "rails": lambda run, down: run.flow.parallel(1).sequential().subscribe(down),
    "rails in order": lambda run, down: run.flow.parallel(2).sequential(ordered=True).subscribe(down),
    "pushed": lambda run, down: run.flow.hide().subscribe(down),
    "pushed through stages": lambda run, down: run.flow.map(lambda x: x).filter(lambda x: True).subscribe(down),
    "subscribe_on": lambda run, down: run.flow.subscribe_on(run.clock).subscribe(down),
    "lift": lambda run, down: run.flow.lift(lambda each: each).subscribe(down),
    "publish processor": lambda run, down: run.fed(PublishProcessor(), down),
    "replay processor": lambda run, down: run.fed(ReplayProcessor(), down),
    "unicast processor": lambda run, down: run.fed(UnicastProcessor(), down),
    "serialized processor": lambda run, down: run.fed(PublishProcessor().to_serialized(), down),
    "publish": lambda run, down: run.connected(run.flow.publish(), down),
    "replay": lambda run, down: run.connected(run.flow.replay(), down),
    "share": lambda run, down: run.flow.share().subscribe(down),
    "cache": lambda run, down: run.flow.cache().subscribe(down),
}

EACH = pytest.mark.parametrize("path", PATHS)


@EACH
def test_1_3_signals_are_not_nested_when_it_asks_in_on_next(path: str) -> None:
    down = Plain(1, asks="")
    note = down.note

    def asking(signal: str, value: object) -> None:
        note(signal, value)
        if signal == "on_next":
            down.inside += 1
            down.up.request(1)
            down.inside -= 1

    down.note = asking  # type: ignore[method-assign]  # this one asks for the next from inside each
    run = Run(path, down)
    run.settle()
    assert not down.nested
    if "publish processor" not in path and "serialized" not in path:  # which send what nobody asked for nowhere
        assert down.signals == [*ITEMS, "|"]


@EACH
@pytest.mark.parametrize("failing", [False, True])
def test_2_3_its_calls_from_the_terminal_signal_change_nothing(path: str, failing: bool) -> None:
    with dropped_errors() as dropped:
        down = Plain(asks="on_error" if failing else "on_complete")
        Run(path, down, failing=failing)
    assert down.signals[:3] == list(ITEMS)
    assert len(down.signals) == 4
    assert not dropped


@EACH
@pytest.mark.parametrize("n", [0, -1])
def test_3_9_a_wrong_request_is_one_error_and_the_end(path: str, n: int) -> None:
    down = Plain(0)
    run = Run(path, down)
    before = len(down.signals)
    down.up.request(n)
    run.settle()
    down.up.request(5)
    down.up.request(n)
    run.settle()
    if "processor" in path and before:  # the source asked for nothing and was over before
        return
    assert [type(signal) for signal in down.signals] == [ValueError]
    assert "3.9" in str(down.signals[0])


@EACH
def test_2_13_one_that_raises_gets_nothing_more(path: str) -> None:
    with dropped_errors() as dropped:
        down = Plain(raises="on_next")
        try:
            Run(path, down)
        except LookupError as error:
            dropped.append(error)
    assert down.signals == [1]
    assert [type(error) for error in dropped] == [LookupError], "it is its caller's to see, or the hook's, once"


class Stubborn:
    """A publisher that does not care what a subscriber raises, and goes on."""

    def __init__(self) -> None:
        self.cancelled = False

    def subscribe(self, subscriber: Any, /) -> None:
        subscriber.on_subscribe(self)
        for item in ITEMS:
            with suppress(LookupError):
                subscriber.on_next(item)
        subscriber.on_complete()

    def request(self, n: int, /) -> None: ...

    def cancel(self) -> None:
        self.cancelled = True


@pytest.mark.parametrize("path", ["pushed", "pushed through stages", "subscribe_on", "lift"])
def test_2_13_one_that_raises_is_cancelled_at_a_publisher_that_goes_on(path: str) -> None:
    source, down = Stubborn(), Plain(raises="on_next")
    run = Run.__new__(Run)
    run.clock, run.source = VirtualScheduler(), source  # type: ignore[assignment]  # any publisher will do
    with suppress(LookupError):
        PATHS[path](run, down)
        run.settle()
    assert down.signals == [1]
    assert source.cancelled


@EACH
def test_2_12_a_second_subscription_goes_to_nobody(path: str) -> None:
    down = Plain(0)
    seen: list[Any] = []
    on_subscribe = down.on_subscribe

    def counting(subscription: Any, /) -> None:
        seen.append(subscription)
        on_subscribe(subscription)

    down.on_subscribe = counting  # type: ignore[method-assign]  # counts besides
    Run(path, down)
    assert len(seen) == 1


@EACH
def test_3_6_after_a_cancel_nothing_comes_whatever_it_asks_for(path: str) -> None:
    down = Plain(1)
    run = Run(path, down)
    before = list(down.signals)
    down.up.cancel()
    down.up.request(5)
    down.up.request(0)
    down.up.cancel()
    run.settle()
    assert down.signals == before

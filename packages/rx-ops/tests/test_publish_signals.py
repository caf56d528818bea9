"""publish and share of a hot source: what subscribers do inside an on_next, and several threads at once."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import rx_core
import rx_ops
from rx_core import UNBOUNDED, hooks
from rx_core.streams.broadcast import BroadcastInput
from rx_fusion import fusion_off
from rx_ops import Observable, PublishProcessor, PublishSubject, it
from rx_testing import TestSubscriber
from rx_testing.racing import caught, race, rounds

WATCHED = tuple(str(Path(package.__file__).parent) for package in (rx_core, rx_ops) if package.__file__)


def test_a_later_subscriber_gets_what_comes_from_there_on() -> None:
    source = PublishProcessor[int]()
    shared = source.share()
    first, second = TestSubscriber[int](), TestSubscriber[int]()
    shared.subscribe(first)
    source.on_next(0)
    source.on_next(1)
    shared.subscribe(second)
    for item in range(2, 300):
        source.on_next(item)
    source.on_complete()
    first.assert_values(*range(300)).assert_complete()
    second.assert_values(*range(2, 300)).assert_complete()


def test_the_slowest_dictates_and_functions_run_for_what_all_want() -> None:
    source = PublishProcessor[int]()
    called: list[int] = []
    shared = source.do_on_next(called.append).publish(prefetch=8).auto_connect(2)
    quick, slow = TestSubscriber[int](), TestSubscriber[int](request=3)
    shared.subscribe(quick)
    shared.subscribe(slow)
    for item in range(5):
        source.on_next(item)
    quick.assert_values(0, 1, 2)
    slow.assert_values(0, 1, 2)
    slow.request(4)
    source.on_next(5)
    source.on_next(6)
    for got in (quick, slow):
        got.assert_values(*range(7))
    source.on_next(7)
    quick.assert_values(*range(7))
    slow.cancel()
    quick.assert_values(*range(8))
    assert called == list(range(8))


def test_an_observer_that_disposes_leaves_the_source() -> None:
    source = PublishSubject[int]()
    shared: Observable[int] = source.map(it + 1).share()
    got: list[int] = []
    handle = shared.subscribe(got.append)
    for item in range(5):
        source.on_next(item)
    handle.dispose()
    source.on_next(5)
    assert got == [1, 2, 3, 4, 5]
    assert not source.has_subscribers


class Told:
    """Writes down what it gets in a log that it shares with others, and reacts to item 2."""

    def __init__(self, name: str, log: list[str], react: Callable[[Told], Any] = lambda _told: None) -> None:
        self.name = name
        self.log = log
        self.react = react
        self.handle: Any = None

    def on_subscribe(self, handle: Any, /) -> None:
        self.handle = handle
        handle.request(UNBOUNDED)

    def on_next(self, item: Any, /) -> None:
        self.log.append(f"{self.name} {item}")
        if item == 2:
            self.react(self)

    def on_error(self, error: Exception, /) -> None:
        self.log.append(f"{self.name} {type(error).__name__}: {error}")

    def on_complete(self) -> None:
        self.log.append(f"{self.name} |")


def _raise(error: BaseException) -> Any:
    raise error


#: What the first subscriber does with item 2: (it, the other one, the source, the shared stream).
ACTS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "cancels": lambda told, _other, _source, _shared: told.handle.cancel(),
    "cancels the other": lambda _told, other, _source, _shared: other.handle.cancel(),
    "cancels both": lambda told, other, _source, _shared: [told.handle.cancel(), other.handle.cancel()],
    "requests too little": lambda told, _other, _source, _shared: told.handle.request(0),
    "raises": lambda _told, _other, _source, _shared: _raise(ValueError("of the subscriber")),
    "sends": lambda _told, _other, source, _shared: [source.on_next(10), source.on_next(11)],
    "ends": lambda _told, _other, source, _shared: source.on_complete(),
    "fails": lambda _told, _other, source, _shared: source.on_error(ValueError("of the source")),
    "brings another": lambda told, _other, _source, shared: shared.subscribe(Told("c", told.log)),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
@pytest.mark.parametrize("mapped", [False, True])
def test_what_happens_inside_an_on_next(act: Any, mapped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = []
    for way in (nullcontext, fusion_off):
        log: list[str] = []
        hooks.ensure_loaded()
        monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late, log=log: log.append(f"reported {error}"))
        with way():
            source = PublishProcessor[int]()
            shared = (source.map(it + 0) if mapped else source).publish().ref_count(2)
            other = Told("b", log)
            told = Told("a", log, lambda told, other=other, source=source, shared=shared: act(told, other, source, shared))  # type: ignore[misc]
            shared.subscribe(told)
            shared.subscribe(other)
            for item in range(5):
                source.on_next(item)
            log.append(f"{source.has_subscribers}")
        logs.append(log)
    assert logs[0] == logs[1]


def test_an_interrupt_ends_it_for_all() -> None:
    for way in (nullcontext, fusion_off):
        log: list[str] = []
        with way():
            source = PublishProcessor[int]()
            shared = source.publish().auto_connect(2)
            shared.subscribe(Told("a", log, lambda _told: _raise(KeyboardInterrupt())))
            shared.subscribe(Told("b", log))
            source.on_next(0)
            source.on_next(1)
            with pytest.raises(KeyboardInterrupt):
                source.on_next(2)
            source.on_next(3)
            assert log == ["a 0", "b 0", "a 1", "b 1", "a 2"]
            assert not source.has_subscribers


def test_the_same_without_fusion() -> None:
    for seed in range(150):
        logs = []
        for way in (nullcontext, fusion_off):
            dice = random.Random(seed)
            with way():
                source = PublishProcessor[int]()
                shared = dice.choice((source, source.map(it * 2), source.filter(it % 3))).publish(prefetch=4).auto_connect(1)
                everybody: list[TestSubscriber[int]] = []
                log: list[Any] = []
                for at in range(80):
                    what = dice.random()
                    if what < 0.06 or not everybody:
                        everybody.append(TestSubscriber(request=dice.choice((0, 2, UNBOUNDED))))
                        shared.subscribe(everybody[-1])
                    elif what < 0.1:
                        dice.choice(everybody).cancel()
                    elif what < 0.4:
                        dice.choice(everybody).request(dice.choice((1, 3, 7)))
                    else:
                        log.append(source.offer(at))
                    log.append([got.values for got in everybody])
                source.on_complete()
                for got in everybody:
                    got.request(100)
                log.append([(got.values, got.error) for got in everybody])
            logs.append(log)
        assert logs[0] == logs[1], seed


# -- races ---------------------------------------------------------------------------------------------------------------------

SENT = 60


def run_race(bounded: bool, watch: tuple[str, ...], seconds: float = 20.0) -> None:
    source = PublishProcessor[int]()
    shared = source.map(it + 0).publish(prefetch=8).auto_connect(2)
    readers = [TestSubscriber[int](request=1 if bounded else UNBOUNDED) for _ in range(2)]
    for reader in readers:
        shared.subscribe(reader)
    late = TestSubscriber[int]()
    source.on_next(0)

    def feed() -> None:
        for at in range(1, SENT):
            while not source.offer(at):
                pass
        source.on_complete()

    def asks(reader: TestSubscriber[int]) -> Callable[[], None]:
        def work() -> None:
            for _ in range(SENT):
                reader.request(1)

        return work

    def comes_and_goes() -> None:
        shared.subscribe(late)
        late.cancel()

    race(feed, comes_and_goes, *(asks(reader) for reader in readers if bounded), watch=watch, seconds=seconds)
    for reader in readers:
        reader.await_terminal(seconds).assert_complete()
        reader.assert_values(*range(SENT))
    first = late.values[0] if late.values else 0
    assert late.values == list(range(first, first + len(late.values)))


@pytest.mark.stress
@pytest.mark.parametrize("bounded", [False, True], ids=["unbounded", "requests"])
def test_one_sends_while_others_ask_come_and_go(bounded: bool) -> None:
    for number in rounds(25):
        run_race(bounded, WATCHED if number % 4 == 3 else ())


@pytest.mark.stress
def test_control_sent_without_the_token_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    with_token = BroadcastInput.on_next

    def without(source: BroadcastInput[Any], item: Any, /) -> None:
        if source.op.token and source.op.token[0] and not source.queue:
            source.op.emit(item)
        else:
            with_token(source, item)

    monkeypatch.setattr(BroadcastInput, "on_next", without)

    def broken(_number: int) -> None:
        run_race(True, WATCHED, seconds=1.0)

    assert caught(broken, 40)

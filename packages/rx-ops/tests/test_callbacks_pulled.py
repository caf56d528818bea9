"""Operators over passive sources are pulled for callbacks, as for a thread that waits; what pushes goes on without a loop."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rx_core.gate
import rx_schedulers
from rx_core import CallbackObserver, hookimpl, hooks, manager
from rx_core.streams import pump
from rx_fusion import OperatorHead, _callback_run, _shapes
from rx_ops import BackpressureStrategy, Emitter, Flowable, Observable, PublishProcessor, Single
from rx_testing import TestSubscriber
from rx_testing.racing import interrupted

SECONDS = 10.0

Flow = Flowable[Any]


class Boom(Exception):
    pass


@pytest.fixture(autouse=True)
def hot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every shape counts as used often, so that each test is about the loop."""
    monkeypatch.setattr(_shapes, "HOT_RUNS", -1)


@pytest.fixture
def subscribed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operators that were subscribed."""
    found: list[str] = []
    real = OperatorHead.subscribe_for

    def noted(head: OperatorHead, *args: Any) -> None:
        found.append(head.name)
        real(head, *args)

    monkeypatch.setattr(OperatorHead, "subscribe_for", noted)
    return found


def told(flow: Any) -> list[Any]:
    """All that callbacks are told, once the end is."""
    heard: list[Any] = []
    handle = flow.subscribe(heard.append, lambda error: heard.append(repr(error)), lambda: heard.append("complete"))
    assert handle.wait(SECONDS)
    assert handle.is_disposed
    return heard


def sent(emitter: Emitter[int]) -> None:
    emitter.on_next(7)
    emitter.on_next(8)
    emitter.on_complete()


def fails(_item: object) -> Any:
    raise Boom("no")


INNER: dict[str, Callable[[int], Flow]] = {
    "passive": lambda item: Flowable.of(item, -item),
    "empty": lambda _item: Flowable.empty(),
    "sends at once": lambda _item: Flowable.create(sent, BackpressureStrategy.BUFFER),
    "sends at once, the third": lambda item: INNER["sends at once"](item) if item == 3 else Flowable.just(item),
    "hidden, the last": lambda item: Flowable.just(item).hide() if item == 5 else Flowable.just(item),
    "from a thread": lambda item: Flowable.just(item).subscribe_on(rx_schedulers.io()),
    "fails, the second": lambda item: Flowable.error(Boom()) if item == 2 else Flowable.range(item),
    "its mapper fails": lambda item: fails(item) if item == 4 else Flowable.range(item),
    "a loop itself": lambda item: Flowable.range(item).concat_map(lambda x: Flowable.of(x, x)).map(str),
    "a Single's": lambda item: Single.just(item).to_flowable(),
}
OUTER: dict[str, Callable[[Callable[[int], Flow]], Flow]] = {
    "concat_map": lambda inner: Flowable.range(1, 6).concat_map(inner),
    "flat_map, one at a time": lambda inner: Flowable.range(1, 6).flat_map(inner, max_concurrency=1),
    "concat_map_eager": lambda inner: Flowable.range(1, 6).concat_map_eager(inner),
    "concat": lambda inner: Flowable.concat(Flowable.just(0), Flowable.defer(lambda: inner(3)), Flowable.just(1)),
    "with stages": lambda inner: Flowable.range(1, 6).map(abs).concat_map(inner).map(str).distinct().take(6),
    "with stages that expand": lambda inner: Flowable.range(1, 6).concat_map(inner).flat_map_iterable(lambda x: [x, x]).skip(1),
    "zip": lambda inner: Flowable.zip(Flowable.range(9), Flowable.range(1, 6).concat_map(inner)),
    "behind to_flowable": lambda inner: Flowable.range(1, 6).concat_map(inner).to_list().to_flowable().flat_map_iterable(iter),
    "groups": lambda inner: Flowable.range(1, 6).concat_map(inner).group_by(str).flat_map(lambda group: group.count()),
    "errors delayed": lambda inner: Flowable.range(1, 6).concat_map(inner, delay_error=True),
}


@pytest.mark.parametrize("inner", INNER.values(), ids=list(INNER))
@pytest.mark.parametrize("outer", OUTER.values(), ids=list(OUTER))
def test_callbacks_are_told_what_a_subscriber_is_sent(outer: Callable[..., Flow], inner: Callable[[int], Flow]) -> None:
    flow = outer(inner)
    got: TestSubscriber[Any] = TestSubscriber()
    flow.hide().subscribe(got)
    got.await_terminal(SECONDS)
    expected = [*got.values, *map(repr, got.errors), *["complete"] * got.completions]
    for _ in range(2):
        assert told(flow) == expected


@pytest.mark.parametrize(
    "flow",
    [
        Flowable.range(1, 4).concat_map(INNER["passive"]),
        Flowable.range(1, 4).flat_map(INNER["passive"]).map(str),
        Flowable.concat(Flowable.range(3), Flowable.just(1)).take(2),
        Flowable.zip(Flowable.range(3), Flowable.range(4)),
        Flowable.range(9).group_by(lambda x: x % 2).flat_map(lambda group: group.reduce(max)),
        Flowable.of("a", "b").to_list().to_flowable().flat_map_iterable(iter),
        Flowable.range(4).concat_map(INNER["a loop itself"]).count().to_flowable().concat_map(Flowable.range),
        Observable.range(1, 4).concat_map(lambda item: Observable.just(item)),
    ],
    ids=str,
)
def test_no_operator_is_subscribed_over_passive_sources(flow: Any, subscribed: list[str]) -> None:
    assert told(flow)[-1] == "complete"
    assert not subscribed


def test_the_control_sees_operators_that_are_subscribed(subscribed: list[str]) -> None:
    Flowable.range(1, 4).concat_map(INNER["passive"]).subscribe(TestSubscriber[Any]())
    told(Flowable.range(1, 4).concat_map(INNER["hidden, the last"]))
    told(PublishProcessor[int]().take(0).concat_map(INNER["passive"]))
    assert subscribed.count("concat_map") == 2


def test_a_short_stream_that_runs_once_compiles_nothing(monkeypatch: pytest.MonkeyPatch, subscribed: list[str]) -> None:
    monkeypatch.setattr(_shapes, "HOT_RUNS", 8)
    flow = Flowable.just(1).concat_map(Flowable.just).map(float).map(repr).map(len).map(hex).map(str.upper).map(len)
    assert told(flow) == [3, "complete"]
    assert "concat_map" in subscribed


def numbers(log: list[str]) -> Iterator[int]:
    try:
        yield from range(100)
    finally:
        log.append("closed")


def test_a_callback_that_disposes_stops_the_loop_and_closes_its_sources() -> None:
    log: list[str] = []
    got: list[int] = []

    def take(item: int) -> None:
        got.append(item)
        if item == 3:
            observer.dispose()

    flow = Flowable.from_iterable(begun_anew(log)).concat_map(lambda x: Flowable.from_iterable(numbers(log)).map(lambda y: x + y))
    observer: CallbackObserver[int] = CallbackObserver(flow, take, None, lambda: log.append("complete"))
    flow.subscribe_actual(observer)
    assert got == [0, 1, 2, 3]
    assert log == ["closed", "closed"]


def begun_anew(log: list[str]) -> Any:
    class Numbers:
        def __iter__(self) -> Iterator[int]:
            return numbers(log)

    return Numbers()


def test_an_error_that_comes_too_late_reaches_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.ensure_loaded()
    late: list[BaseException] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, *_: late.append(error))

    def leaves(item: int) -> Any:
        observer.dispose()
        return fails(item)

    for flow in (Flowable.range(3).map(leaves), Flowable.range(3).concat_map(lambda item: Flowable.range(item + 1).map(leaves))):
        heard: list[object] = []
        observer: CallbackObserver[int] = CallbackObserver(flow, heard.append, heard.append, None)
        flow.subscribe_actual(observer)
        assert heard == []
    assert [type(error) for error in late] == [Boom, Boom]


def test_another_thread_disposes_while_the_loop_is_busy() -> None:
    reached, disposed = threading.Event(), threading.Event()
    log: list[str] = []
    got: list[int] = []

    def busy() -> Iterator[int]:
        try:
            yield 1
            reached.set()
            assert disposed.wait(SECONDS)
            yield 2
            yield 3
        finally:
            log.append("closed")

    flow = Flowable.just(0).concat_map(lambda _item: Flowable.from_iterable(busy()))
    observer: CallbackObserver[int] = CallbackObserver(flow, got.append, None, lambda: log.append("complete"))
    thread = threading.Thread(target=flow.subscribe_actual, args=(observer,))
    thread.start()
    assert reached.wait(SECONDS)
    observer.dispose()
    disposed.set()
    thread.join(SECONDS)
    assert not thread.is_alive()
    assert got == [1]
    assert log == ["closed"]


def test_what_goes_on_pushing_is_cancelled_by_the_same_handle() -> None:
    inner = PublishProcessor[int]()
    got: list[int] = []
    handle = Flowable.range(5).concat_map(lambda item: inner if item == 2 else Flowable.just(item)).subscribe(got.append)
    waited_for = inner.has_subscribers
    inner.on_next(9)
    handle.dispose()
    assert (waited_for, inner.has_subscribers) == (True, False)
    inner.on_next(10)
    assert got == [0, 1, 9]


def test_outer_items_that_are_left_are_looked_for_until_the_handle_is_disposed() -> None:
    inner = PublishProcessor[int]()
    searching, over = threading.Event(), threading.Event()
    tried: list[int] = []

    def found(item: int) -> bool:
        tried.append(item)
        if item > 3:
            searching.set()
        return item < 2

    flow = Flowable.from_iterable(itertools.count()).filter(found).concat_map(lambda item: inner if item else Flowable.just(item))
    observer: CallbackObserver[int] = CallbackObserver(flow, lambda _item: None, None, None)
    flow.subscribe_actual(observer)

    def end() -> None:
        inner.on_complete()
        over.set()

    thread = threading.Thread(target=end, daemon=True)  # else it would go on for ever where this fails
    thread.start()
    assert searching.wait(SECONDS)
    observer.dispose()
    assert over.wait(SECONDS)
    thread.join(SECONDS)
    assert observer.is_disposed


def test_who_has_left_before_the_rest_is_subscribed_gets_nothing_of_it() -> None:
    inner = PublishProcessor[int]()

    def leaves(_item: int) -> Flowable[int]:
        observer.dispose()
        return inner

    flow = Flowable.of(1, 2).concat_map(leaves)
    observer: CallbackObserver[int] = CallbackObserver(flow, lambda _item: None, None, None)
    flow.subscribe_actual(observer)
    assert observer.is_disposed
    assert not inner.has_subscribers


def test_a_callback_that_fails_cancels_the_loop_and_on_error_hears_of_it() -> None:
    log: list[str] = []
    heard: list[Exception] = []
    flow = Flowable.of(1, 2).concat_map(lambda _item: Flowable.from_iterable(numbers(log)))
    flow.subscribe(fails, heard.append)
    assert [type(error) for error in heard] == [Boom]
    assert log == ["closed"]


def test_an_interrupt_in_a_callback_leaves_the_loop() -> None:
    log: list[str] = []

    def interrupts(_item: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Flowable.of(1, 2).concat_map(lambda _item: Flowable.from_iterable(numbers(log))).subscribe(interrupts)
    assert log == ["closed"]


def test_a_stream_without_callbacks_runs_for_its_side_effects() -> None:
    seen: list[int] = []
    Flowable.range(3).concat_map(lambda item: Flowable.of(item, item)).do_on_next(seen.append).subscribe()
    assert seen == [0, 0, 1, 1, 2, 2]


class BrokenRule:
    """A plugin whose rule fails for groups."""

    @hookimpl
    def rx_fusion_rules(self) -> list[object]:
        def broken(head: Any, _shape: object, _args: object) -> None:
            if head.name == "group_by":
                raise Boom

        return [broken]


def test_a_plugin_that_fails_while_the_loop_is_made_is_signalled() -> None:
    flow = Flowable.range(3).group_by(abs).flat_map(lambda group: group.count())
    with manager().enable(BrokenRule()):
        assert told(flow) == ["Boom()"]
    assert told(flow) == [1, 1, 1, "complete"]


# -- a dispose between any two instructions ------------------------------------------------------------------------------------

WATCHED = [rx_core.gate.__file__, pump.__file__, sys.modules[CallbackObserver.__module__].__file__ or "", _callback_run.__file__]
WATCHED.append("<rx ")  # the compiled loop


class Left:
    """A run that meets a source that pushes at its third item."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.got: list[int] = []
        self.inner = PublishProcessor[int]()
        self.flow = Flowable.from_iterable(begun_anew(self.log)).concat_map(self.mapped)
        self.observer: CallbackObserver[int] = CallbackObserver(self.flow, self.got.append, None, self.completed)

    def mapped(self, item: int) -> Flowable[int]:
        return self.inner if item == 2 else Flowable.just(item)

    def completed(self) -> None:
        self.log.append("complete")

    def run(self) -> None:
        self.flow.subscribe_actual(self.observer)


def disposed_everywhere() -> set[tuple[int, ...]]:
    """Disposes before each instruction of a run. Gives what callbacks got each time."""
    outcomes: set[tuple[int, ...]] = set()
    at, instructions = 0, 1
    while at <= instructions:
        left = Left()
        instructions = interrupted(left.run, (at, left.observer.dispose), watch=WATCHED)
        left.inner.on_next(9)
        assert not left.inner.has_subscribers
        assert left.observer.is_disposed
        assert left.log in ([], ["closed"])  # before its first item a generator has nothing to close
        outcomes.add(tuple(left.got))
        at += 1
    assert instructions > 100
    return outcomes


def test_a_dispose_anywhere_leaves_no_source_behind() -> None:
    assert disposed_everywhere() == {(), (0,), (0, 1)}


def test_the_control_leaves_one_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def on_subscribe(self: CallbackObserver[Any], subscription: Any) -> None:
        self._cell[0] = subscription  # and does not look whether it was disposed meanwhile
        subscription.request_all()

    monkeypatch.setattr(CallbackObserver, "on_subscribe", on_subscribe)
    with pytest.raises(AssertionError):
        disposed_everywhere()

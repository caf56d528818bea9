"""What fails when its stream is over is a line at DEBUG; what has no receiver is an ERROR. A hook gets either, once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

import rx_schedulers
from rx_core import FlowableBase, hookimpl, manager
from rx_ops import BackpressureStrategy, Completable, Emitter, Flowable, Maybe, Observable, PublishProcessor, Single
from rx_testing import TestSubscriber

LIMIT = 10.0

#: An operator, between a source that goes on after a cancel and a subscriber that leaves.
OPERATORS: dict[str, Callable[[Flowable[Any]], Any]] = {
    "alone": lambda flow: flow,
    "map": lambda flow: flow.map(str),
    "scan": lambda flow: flow.scan(lambda a, b: a + b),
    "flat_map_iterable": lambda flow: flow.flat_map_iterable(lambda n: [n]),
    "hide": lambda flow: flow.hide(),
    "do_finally": lambda flow: flow.do_finally(lambda: None),
    "flat_map": lambda flow: flow.flat_map(lambda n: Flowable.of(n)),
    "inside flat_map": lambda flow: Flowable.of(1).flat_map(lambda _: flow),
    "concat_map": lambda flow: flow.concat_map(lambda n: Flowable.of(n)),
    "switch_map": lambda flow: flow.switch_map(lambda n: Flowable.of(n)),
    "merge": lambda flow: flow.merge_with(Flowable.never()),
    "zip": lambda flow: flow.zip_with(Flowable.never()),
    "combine_latest": lambda flow: Flowable.combine_latest(flow, Flowable.never()),
    "with_latest_from": lambda flow: Flowable.never().with_latest_from(flow),
    "merge_ordered": lambda flow: Flowable.merge_ordered(flow, Flowable.never()),
    "amb": lambda flow: Flowable.amb(flow, Flowable.never()),
    "first_with_value": lambda flow: Flowable.first_with_value(flow, Flowable.never()),
    "take_until": lambda flow: Flowable.never().take_until(flow),
    "group_by": lambda flow: flow.group_by(lambda n: n % 2).flat_map(lambda group: group),
    "window": lambda flow: flow.window(2).flat_map(lambda part: part),
    "buffer": lambda flow: flow.buffer(seconds=5.0),
    "debounce": lambda flow: flow.debounce(5.0),
    "delay": lambda flow: flow.delay(5.0),
    "timeout": lambda flow: flow.timeout(60.0),
    "observe_on": lambda flow: flow.observe_on(rx_schedulers.computation()),
    "publish": lambda flow: flow.publish(lambda shared: shared.map(str)),
    "share": lambda flow: flow.share(),
    "on_backpressure_latest": lambda flow: flow.on_backpressure_latest(),
    "expand": lambda flow: flow.expand(lambda _: Flowable.empty()),
    "using": lambda flow: Flowable.using(lambda: 1, lambda _: flow, lambda _: None),
    "single": lambda flow: flow.first(),
    "count": lambda flow: flow.count(),
}


class Careless(FlowableBase[Any]):
    """Fails when it is told to, whatever has become of its subscriber."""

    subscriber: Any

    def subscribe_actual(self, subscriber: Any, /) -> None:
        self.subscriber = subscriber
        subscriber.on_subscribe(Deaf())


class Deaf:
    def request(self, n: int, /) -> None:
        pass

    def cancel(self) -> None:
        pass


class Hook:
    """Collects what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[Exception, bool]] = []

    @hookimpl
    def rx_on_error(self, error: Exception, late: bool) -> None:
        self.told.append((error, late))


@pytest.fixture
def hook() -> Iterator[Hook]:
    hook = Hook()
    with manager().enable(hook):
        yield hook


def leave_and_fail(operator: str, error: Exception) -> None:
    source = Careless()
    handle = OPERATORS[operator](Flowable.wrap(source)).subscribe(on_error=lambda _: pytest.fail("the subscriber has left"))
    handle.dispose()
    source.subscriber.on_error(error)


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_error_behind_a_cancel_is_one_line_at_debug(operator: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "rx.core")
    leave_and_fail(operator, KeyError("interrupted"))
    (record,) = caplog.records
    assert record.levelno == logging.DEBUG
    assert record.exc_info is None
    assert "KeyError('interrupted')" in record.getMessage()


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_hook_is_told_of_it_once(operator: str, hook: Hook, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "rx.core")
    error = KeyError("interrupted")
    leave_and_fail(operator, error)
    assert hook.told == [(error, True)]
    assert not caplog.records


def test_a_function_that_is_at_work_when_the_subscriber_leaves_may_fail(hook: Hook) -> None:
    working, left, over = threading.Event(), threading.Event(), threading.Event()

    def work(_item: int) -> int:
        working.set()
        assert left.wait(LIMIT)
        raise InterruptedError

    flow = Flowable.of(1).subscribe_on(rx_schedulers.io()).map(work).do_finally(over.set)
    handle = flow.subscribe(on_error=lambda _: pytest.fail("the subscriber has left"))
    assert working.wait(LIMIT)
    handle.dispose()
    left.set()
    assert over.wait(LIMIT)
    for _ in range(1000):
        if hook.told:
            break
        threading.Event().wait(0.01)
    assert [(type(error), late) for error, late in hook.told] == [(InterruptedError, True)]


def test_of_two_sources_that_fail_the_second_is_late(hook: Hook) -> None:
    sources = Careless(), Careless()
    got: TestSubscriber[Any] = TestSubscriber()
    Flowable.merge(*sources).subscribe(got)
    first, second = KeyError(1), KeyError(2)
    sources[0].subscriber.on_error(first)
    sources[1].subscriber.on_error(second)
    assert got.error is first
    assert hook.told == [(second, True)]


CREATED: dict[str, Callable[[Callable[[Any], object]], Any]] = {
    **{strategy.name: partial(Flowable.create, strategy=strategy) for strategy in BackpressureStrategy},
    "Observable": Observable.create,
    "Single": Single.create,
    "Maybe": Maybe.create,
    "Completable": Completable.create,
}


@pytest.mark.parametrize("create", CREATED.values(), ids=list(CREATED))
def test_an_emitter_may_fail_when_its_subscriber_has_left(create: Callable[..., Any], hook: Hook) -> None:
    emitters: list[Emitter[Any]] = []
    create(emitters.append).subscribe(on_error=lambda _: pytest.fail("the subscriber has left")).dispose()
    error = KeyError("interrupted")
    emitters[0].on_error(error)
    assert hook.told == [(error, True)]


@pytest.mark.parametrize("create", CREATED.values(), ids=list(CREATED))
def test_a_second_end_of_an_emitter_is_a_mistake(create: Callable[..., Any], hook: Hook) -> None:
    emitters: list[Emitter[Any]] = []
    seen: list[Exception] = []
    create(emitters.append).subscribe(on_error=seen.append)
    first, second = KeyError("first"), KeyError("second")
    emitters[0].on_error(first)
    emitters[0].on_error(second)
    assert seen == [first]
    assert hook.told == [(second, False)]


def test_a_processor_that_is_over_and_fails_again_is_a_mistake(hook: Hook) -> None:
    subject = PublishProcessor[int]()
    subject.on_complete()
    error = KeyError("second")
    subject.on_error(error)
    assert hook.told == [(error, False)]


@pytest.mark.parametrize(
    "subscribe",
    [
        lambda flow: flow.subscribe(print),
        lambda flow: flow.subscribe(on_error=lambda error: (_ for _ in ()).throw(error)),
        lambda flow: flow.on_error_complete().do_finally(lambda: [].pop()).subscribe(),
    ],
    ids=["no callback", "the callback failed", "the cleanup failed"],
)
def test_what_has_no_receiver_is_an_error(subscribe: Callable[[Any], object], caplog: pytest.LogCaptureFixture) -> None:
    flow = Flowable.of(0).map(lambda n: 1 // n)
    hook = Hook()
    with manager().enable(hook):
        subscribe(flow)
    assert [late for _, late in hook.told] == [False]
    assert not caplog.records
    subscribe(flow)
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None

"""Callbacks behind operators whose items pass a gate: what they raise, do and send from inside is as at the end of any stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import Disposable, hooks
from rx_ops import Flowable, PublishProcessor, ReplayProcessor, UnicastProcessor
from rx_testing import VirtualScheduler

Fed = PublishProcessor[int]
Build = Callable[[Fed, Fed], Flowable[Any]]

#: The other processor's numbers begin with it.
OTHER = 1000
#: What is made of two processors that are sent an item each in turns. At least two reach the callback.
PROGRAMS: dict[str, Build] = {
    "a processor": lambda one, _: one,
    "stages": lambda one, _: one.map(lambda item: item),
    "merge": lambda one, other: Flowable.merge(one, other),
    "zip": lambda one, other: Flowable.zip(one, other),
    "zip with a combiner": lambda one, other: Flowable.zip(one, other, combiner=lambda left, _: left),
    "zip with itself": lambda one, _: Flowable.zip(one, one),
    "zip with a passive one": lambda one, _: Flowable.zip(one, Flowable.range(100)),
    "combine_latest": lambda one, other: Flowable.combine_latest(one, other),
    "combine_latest with a combiner": lambda one, other: Flowable.combine_latest(one, other, combiner=lambda left, _: left),
    "with_latest_from": lambda one, other: one.with_latest_from(other),
    "take_until": lambda one, other: one.take_until(other.filter(lambda item: item < 0)),
    "flat_map to what is fed": lambda one, other: Flowable.of(one, other).flat_map(lambda fed: fed),
    "flat_map to one item": lambda one, _: one.flat_map(Flowable.just),
    "flat_map to several": lambda one, _: one.flat_map(lambda item: Flowable.of(item, item)),
    "concat_map to what is fed": lambda one, _: Flowable.just(one).hide().concat_map(lambda fed: fed),
    "concat_map to one item": lambda one, _: one.concat_map(Flowable.just),
    "switch_map to what is fed": lambda one, _: Flowable.just(one).hide().switch_map(lambda fed: fed),
    "publish": lambda one, _: one.publish().ref_count(),
    "share of what is created": lambda one, _: Flowable.create(lambda to: to.set_disposable(passed(one, to))).share(),
    "replay": lambda one, _: one.replay(1).ref_count(),
    "group_by": lambda one, _: one.group_by(lambda item: item % 2).flat_map(lambda group: group),
    "window": lambda one, _: one.window(10).flat_map(lambda part: part),
    "timeout": lambda one, _: one.timeout(1000),
    "retry": lambda one, _: one.retry(),
}


def passed(source: Flowable[int], emitter: Any) -> Disposable:
    """``source`` into ``emitter``."""
    return source.subscribe(emitter.on_next, on_error=emitter.on_error, on_complete=emitter.on_complete)


class Run:
    """A program at work. Its callback has something done to it at the second item."""

    def __init__(self, build: Build, at_the_second: Callable[[Run], None]) -> None:
        self.one, self.other = Fed(), Fed()
        self.items: list[Any] = []
        self.errors: list[Exception] = []
        self.ends = 0
        self.at_the_second = at_the_second
        self.handle = build(self.one, self.other).subscribe(self.take, on_error=self.errors.append, on_complete=self.end)
        self.sent = 0

    def take(self, item: Any) -> None:
        self.items.append(item)
        if len(self.items) == 2:
            self.at_the_second(self)

    def end(self) -> None:
        self.ends += 1

    def send(self, times: int) -> None:
        for _ in range(times):
            number = self.sent
            self.sent += 1
            self.one.on_next(number)
            self.other.on_next(OTHER + number)

    @property
    def is_left(self) -> bool:
        return not self.one.has_subscribers and not self.other.has_subscribers


def raising(error: BaseException) -> Callable[[Run], None]:
    def act(_run: Run) -> None:
        raise error

    return act


@pytest.fixture(params=PROGRAMS, name="build")
def _build(request: pytest.FixtureRequest) -> Build:
    return PROGRAMS[request.param]


@pytest.mark.parametrize("error", [ValueError("no"), IndexError("no"), RecursionError("no")], ids=repr)
def test_what_it_raises_cancels_and_goes_to_on_error(build: Build, error: Exception) -> None:
    run = Run(build, raising(error))
    run.send(5)
    assert (run.errors, len(run.items), run.ends) == ([error], 2, 0)
    assert run.is_left
    assert run.handle.is_disposed


def test_without_on_error_it_goes_to_the_hook(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[BaseException] = []
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: told.append(error))
    one, other = Fed(), Fed()
    error = ValueError("no")
    build(one, other).subscribe(lambda _item: raising(error)(None))  # type: ignore[arg-type]
    for item in range(5):
        one.on_next(item)
        other.on_next(OTHER + item)
    assert told == [error]
    assert not one.has_subscribers


def test_an_interrupt_reaches_who_sends_and_the_stream_is_left(build: Build) -> None:
    run = Run(build, raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        run.send(5)
    run.send(5)
    assert (run.errors, len(run.items), run.ends) == ([], 2, 0)
    assert run.is_left


def test_after_a_dispose_inside_it_nothing_comes(build: Build) -> None:
    run = Run(build, lambda run: run.handle.dispose())
    run.send(5)
    assert (run.errors, len(run.items), run.ends) == ([], 2, 0)
    assert run.is_left


def test_what_it_raises_after_a_dispose_is_told_as_well(build: Build) -> None:
    error = ValueError("no")

    def act(run: Run) -> None:
        run.handle.dispose()
        raise error

    run = Run(build, act)
    run.send(5)
    assert (run.errors, len(run.items)) == ([error], 2)
    assert run.is_left


def test_an_item_that_is_sent_from_inside_comes_behind_it(build: Build) -> None:
    depth = 0

    def act(run: Run) -> None:
        nonlocal depth
        before = len(run.items)
        run.send(3)
        depth = len(run.items) - before

    run = Run(build, act)
    run.send(5)
    assert depth == 0
    numbers = [item if isinstance(item, int) else item[0] for item in run.items]
    for source in (range(OTHER), range(OTHER, 2 * OTHER)):
        of_it = [number for number in numbers if number in source]
        assert of_it == sorted(of_it)
    assert len(numbers) > 4
    assert run.errors == []


def test_after_a_dispose_nothing_comes_where_a_worker_cancels_the_source(build: Build) -> None:
    clock = VirtualScheduler()
    run = Run(lambda one, other: build(one, other).unsubscribe_on(clock), lambda run: run.handle.dispose())
    run.send(5)
    assert (run.errors, len(run.items)) == ([], 2)
    clock.advance_by(0)
    assert run.is_left


def test_after_a_dispose_nothing_comes_of_what_a_user_sends_before_the_source_is_cancelled(build: Build) -> None:
    run: Run

    def watched(one: Fed, other: Fed) -> Flowable[Any]:
        return build(one, other).do_on_cancel(lambda: run.send(1))

    run = Run(watched, lambda _run: None)
    run.send(2)
    count = len(run.items)
    run.handle.dispose()
    assert (run.errors, len(run.items)) == ([], count)
    assert run.is_left


CREATED: dict[str, Callable[[Flowable[int]], Flowable[Any]]] = {
    "as it is": lambda flow: flow,
    "map": lambda flow: flow.map(lambda item: item),
    "retry": lambda flow: flow.retry(),
    "concat": lambda flow: Flowable.concat(flow, Flowable.just(3)),
    "do_finally": lambda flow: flow.do_finally(lambda: None),
    "share": lambda flow: flow.share(),
    "merge": lambda flow: Flowable.merge(flow, Flowable.never()),
}


@pytest.mark.parametrize("name", CREATED)
def test_what_a_cleanup_of_create_sends_comes_too_late(name: str) -> None:
    items: list[int] = []
    emitters: list[Any] = []

    def emit(emitter: Any) -> None:
        emitter.set_cancellable(lambda: emitter.on_next(99))
        emitters.append(emitter)

    handle = CREATED[name](Flowable.create(emit)).subscribe(items.append)
    emitters[0].on_next(1)
    handle.dispose()
    emitters[0].on_next(2)
    assert items == [1]


@pytest.mark.parametrize("make", [ReplayProcessor, UnicastProcessor], ids=lambda make: make.__name__)
def test_of_other_processors_as_well(make: Callable[[], Any]) -> None:
    fed = make()
    items: list[int] = []
    errors: list[Exception] = []

    def take(item: int) -> None:
        items.append(item)
        if item == 1:
            raise ValueError(item)

    fed.subscribe(take, on_error=errors.append)
    for item in range(4):
        fed.on_next(item)
    assert items == [0, 1]
    assert [str(error) for error in errors] == ["1"]
    assert not fed.has_subscribers


def test_of_two_subscribers_the_other_one_goes_on() -> None:
    fed = Fed()
    shared = fed.publish().ref_count()
    errors: list[Exception] = []
    others: list[int] = []

    def take(item: int) -> None:
        if item == 1:
            raise ValueError(item)

    for source in (fed, shared):
        source.subscribe(take, on_error=errors.append)
        source.subscribe(others.append)
    for item in range(4):
        fed.on_next(item)
    assert sorted(others) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [str(error) for error in errors] == ["1", "1"]

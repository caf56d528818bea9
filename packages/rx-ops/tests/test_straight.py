"""The short way past merge, flat_map and switch_map: which items take it, and that nobody can tell by anything but speed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import rx_core
import rx_ops
from rx_core import UNBOUNDED, Inbox, hooks
from rx_core._direct import DirectInbox
from rx_fusion import fusion_off
from rx_ops import Flowable, Observable, PublishProcessor, PublishSubject, UnicastProcessor, it
from rx_testing import ManualPublisher, TestSubscriber
from rx_testing.racing import caught, race, rounds

WATCHED = (str(Path(rx_core.__file__).parent), str(Path(rx_ops.__file__).parent))

Build = Callable[[list[PublishProcessor[Any]]], Flowable[Any]]


def _merged(sources: list[PublishProcessor[Any]]) -> Flowable[Any]:
    return Flowable.merge(*sources, prefetch=4)


def _flat_mapped(sources: list[PublishProcessor[Any]]) -> Flowable[Any]:
    return Flowable.range(len(sources)).flat_map(lambda at: sources[at], prefetch=4)


def _by_hot(sources: list[PublishProcessor[Any]]) -> Flowable[Any]:
    outer: UnicastProcessor[int] = UnicastProcessor()
    for at in range(len(sources)):
        outer.on_next(at)
    outer.on_complete()
    return outer.flat_map(lambda at: sources[at], prefetch=4)


def _with_stages(sources: list[PublishProcessor[Any]]) -> Flowable[Any]:
    return _merged(sources).map(lambda item: item).filter(lambda _item: True).map(it + 0)


BUILDS: dict[str, Build] = {"merge": _merged, "flat_map": _flat_mapped, "flat_map, hot": _by_hot, "stages": _with_stages}
EACH = pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)


def made(build: Build, request: int = UNBOUNDED, count: int = 3) -> tuple[list[PublishProcessor[Any]], TestSubscriber[Any]]:
    sources = [PublishProcessor[Any]() for _ in range(count)]
    got = TestSubscriber[Any](request=request)
    build(sources).subscribe(got)
    return sources, got


# -- which ---------------------------------------------------------------------------------------------------------------------


@EACH
def test_after_the_first_item_of_each_source_all_take_it(build: Build, queued: list[Any]) -> None:
    sources, got = made(build)
    queued.clear()
    for item in range(90):
        sources[item % 3].on_next(item)
    got.assert_values(*range(90))
    assert queued == [0, 1, 2]


@EACH
def test_more_is_asked_for_on_either_way(build: Build, queued: list[Any]) -> None:
    sources, got = made(build, request=0)
    queued.clear()
    sent = 0
    for round_ in range(30):
        got.request(2)
        for _ in range(round_ % 4):
            sources[0].on_next(sent)  # one that is not asked for would be a MissingBackpressureError
            sent += 1
            if sent > 2 * (round_ + 1) + 3:
                break
    got.request(100)
    got.assert_values(*range(sent)).assert_not_terminated()
    assert 0 < len(queued) < sent


def test_what_nobody_wants_waits_and_what_is_wanted_then_goes_on(queued: list[Any]) -> None:
    (source, _, _), got = made(_merged, request=3)
    queued.clear()
    for item in range(5):
        source.on_next(item)
    got.assert_values(0, 1, 2)
    assert queued == [0, 3, 4]
    got.request(2)
    source.on_next(5)
    got.request(5)
    source.on_next(6)
    source.on_next(7)
    got.assert_values(*range(8))
    assert queued == [0, 3, 4, 5]


def test_an_item_that_a_stage_drops_is_not_one_that_was_wanted() -> None:
    sources = [PublishProcessor[int]() for _ in range(2)]
    got = TestSubscriber[Any](request=2)
    Flowable.merge(*sources, prefetch=32).filter(lambda item: item % 5 == 0).subscribe(got)
    for item in range(30):
        sources[item % 2].on_next(item)
        if item == 14:
            got.assert_values(0, 5)
            got.request(1)
            got.assert_values(0, 5, 10)
            got.request(10)
    got.assert_values(0, 5, 10, 15, 20, 25).assert_not_terminated()


def test_several_that_a_stage_drops_one_after_another_use_up_nothing() -> None:
    source = PublishProcessor[int]()
    got = TestSubscriber[Any](request=3)
    source.merge_with(Flowable.never()).filter(it % 5 == 0).subscribe(got)
    for item in range(11):
        source.on_next(item)
    got.assert_values(0, 5, 10)


@pytest.mark.parametrize(
    "stages",
    [
        lambda flow: flow.take(100),
        lambda flow: flow.scan(lambda a, b: a + b),
        lambda flow: flow.concat_map(Flowable.just),
        lambda flow: flow.merge_with(Flowable.never()).distinct(),
        lambda flow: flow.concat_with(Flowable.empty()),
    ],
)
def test_what_follows_and_remembers_something_sees_every_item(stages: Any, queued: list[Any]) -> None:
    sources, got = made(lambda sources: stages(_merged(sources)))
    other, same = made(lambda sources: stages(_merged(sources).hide()))
    queued.clear()
    for item in range(12):
        sources[item % 3].on_next(item)
    assert len(queued) == 12
    for item in range(12):
        other[item % 3].on_next(item)
    assert got.values == same.values


def test_a_merge_inside_of_another_one_does_not_take_it(queued: list[Any]) -> None:
    a, b, c = (PublishProcessor[Any]() for _ in range(3))
    got = TestSubscriber[Any]()
    a.merge_with(b).map(lambda item: -item).merge_with(c).subscribe(got)
    queued.clear()
    for item in range(1, 9):
        (a, b, c, c)[item % 4].on_next(item)
    got.assert_values(-1, 2, 3, -4, -5, 6, 7, -8)
    assert queued == [1, 2, 4, 5, 8]


def test_the_outer_items_of_flat_map_do_not_take_it() -> None:
    left, right = PublishProcessor[int](), PublishProcessor[int]()
    got = TestSubscriber[Any]()
    left.merge_with(right).flat_map(lambda n: Flowable.range(n).map(str)).subscribe(got)
    for item in (1, 2, 3, 1):
        left.on_next(item)
        right.on_next(item)
    got.assert_values(*["0", "0", "0", "1", "0", "1", "0", "1", "2", "0", "1", "2", "0", "0"])


def test_groups_that_wait_are_told_so_on_every_way() -> None:
    source = PublishProcessor[int]()
    got = TestSubscriber[Any]()
    grouped = source.group_by(lambda n: n % 2)
    Flowable.merge(grouped.hide(), Flowable.never()).flat_map(lambda group: group).subscribe(got)
    for item in range(6):
        source.on_next(item)
    got.assert_values(*range(6))


def test_switch_map_drops_the_inner_source_before(queued: list[Any]) -> None:
    outer, inner = PublishProcessor[int](), [PublishProcessor[str]() for _ in range(2)]
    got = TestSubscriber[Any]()
    outer.switch_map(lambda at: inner[at]).subscribe(got)
    outer.on_next(0)
    queued.clear()
    for item in "abcd":
        inner[0].on_next(item)
    assert queued == ["a"]
    outer.on_next(1)
    for item in "efg":
        inner[0].on_next(item)
        inner[1].on_next(item.upper())
    outer.on_complete()
    inner[1].on_complete()
    got.assert_values(*"abcdEFG").assert_complete()


def test_observables_are_asked_for_nothing(queued: list[Any]) -> None:
    subjects = [PublishSubject[int]() for _ in range(2)]
    got: list[int] = []
    Observable.merge(*subjects).subscribe(got.append)
    queued.clear()
    for item in range(1000):
        subjects[item % 2].on_next(item)
    assert got == list(range(1000))
    assert queued == [0, 1]


# -- all else is as it was -----------------------------------------------------------------------------------------------------


class Told:
    """Writes down what it gets, and reacts to some of it."""

    def __init__(self, wants: int = UNBOUNDED, **react: Callable[[Any], object]) -> None:
        self.log: list[str] = []
        self.react = react
        self.wants = wants
        self.handle: Any = None

    def on_subscribe(self, handle: Any, /) -> None:
        self.handle = handle
        handle.request(self.wants)

    def on_next(self, item: Any, /) -> None:
        self.log.append(f"{item}")
        action = self.react.pop(f"at_{item}", None)
        if action is not None:
            action(self)
            self.log.append(f"{item}'")

    def on_error(self, error: Exception, /) -> None:
        self.log.append(f"{type(error).__name__}: {error}")

    def on_complete(self) -> None:
        self.log.append("|")


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    errors: list[str] = []
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin: errors.append(str(error)))
    return errors


def _raise(error: BaseException) -> Any:
    raise error


def _sends(a: PublishProcessor[Any], b: PublishProcessor[Any]) -> Any:
    def both(_end: Told) -> None:
        a.on_next(10)
        b.on_next(11)

    return both


def _ends(a: PublishProcessor[Any], b: PublishProcessor[Any]) -> Any:
    def both(_end: Told) -> None:
        a.on_complete()
        b.on_complete()

    return both


def _fails(item: int) -> int:
    return item if item != 2 else _raise(ValueError("of the mapper"))


CASES: dict[str, Callable[[PublishProcessor[Any], PublishProcessor[Any]], tuple[Flowable[Any], Told]]] = {
    "sends": lambda a, b: (Flowable.merge(a, b), Told(at_2=_sends(a, b))),
    "cancels": lambda a, b: (Flowable.merge(a, b), Told(at_2=lambda end: end.handle.cancel())),
    "requests": lambda a, b: (Flowable.merge(a, b), Told(3, at_2=lambda end: end.handle.request(2))),
    "requests too little": lambda a, b: (Flowable.merge(a, b), Told(at_2=lambda end: end.handle.request(0))),
    "raises": lambda a, b: (Flowable.merge(a, b), Told(at_2=lambda _end: _raise(ValueError("of the subscriber")))),
    "ends": lambda a, b: (Flowable.merge(a, b), Told(at_2=_ends(a, b))),
    "fails": lambda a, b: (Flowable.merge(a, b), Told(at_2=lambda _end: b.on_error(ValueError("of a source")))),
    "stage": lambda a, b: (Flowable.merge(a, b).map(_fails), Told()),
    "stage stops": lambda a, b: (Flowable.merge(a, b).map(lambda n: n if n < 2 else _raise(StopIteration())), Told()),
    "stage exits": lambda a, b: (Flowable.merge(a, b).map(lambda n: n if n < 2 else _raise(GeneratorExit())), Told()),
    "stage, sends": lambda a, b: (Flowable.merge(a, b).map(lambda n: n), Told(at_2=_sends(a, b))),
    "stage, cancels": lambda a, b: (Flowable.merge(a, b).filter(bool), Told(at_2=lambda end: end.handle.cancel())),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_happens_inside_an_on_next_is_the_same_on_both_ways(case: Any, reported: list[str]) -> None:
    logs = []
    for way in (nullcontext, fusion_off):
        with way():
            a, b = PublishProcessor[Any](), PublishProcessor[Any]()
            flow, end = case(a, b)
            flow.subscribe(end)
            for item in range(6):
                (a, b)[item % 2].on_next(item)
            logs.append((end.log, list(reported), a.has_subscribers, b.has_subscribers))
            reported.clear()
    assert logs[0] == logs[1]


def test_a_failing_stage_says_where() -> None:
    source = PublishProcessor[int]()
    got = TestSubscriber[Any]()
    source.merge_with(Flowable.never()).map(_fails).subscribe(got)
    source.on_next(0)
    source.on_next(1)
    source.on_next(2)
    assert got.error is not None
    assert "map(_fails)" in "".join(got.error.__notes__)


def test_an_interrupt_in_on_next_ends_it() -> None:
    source = PublishProcessor[int]()
    end = Told(at_2=lambda _end: _raise(KeyboardInterrupt()))
    source.merge_with(Flowable.never()).subscribe(end)
    for item in (0, 1):
        source.on_next(item)
    with pytest.raises(KeyboardInterrupt):
        source.on_next(2)
    source.on_next(3)
    assert end.log == ["0", "1", "2"]
    assert not source.has_subscribers


def test_none_is_refused_on_the_way() -> None:
    source = ManualPublisher[Any]()
    got = TestSubscriber[Any]()
    Flowable.merge(source, Flowable.never()).subscribe(got)
    source.next(1)
    source.next(2)
    with pytest.raises(TypeError, match="None"):
        source.next(None)
    got.assert_values(1, 2).assert_error(TypeError)


class _Source:
    """Raises when it is asked for more."""

    def __init__(self) -> None:
        self.down: Any = None
        self.cancelled = False
        self.asked: list[int] = []

    def subscribe(self, subscriber: Any, /) -> None:
        self.down = subscriber
        subscriber.on_subscribe(self)

    def request(self, n: int, /) -> None:
        self.asked.append(n)
        if len(self.asked) > 1:
            raise ValueError("of request")

    def cancel(self) -> None:
        self.cancelled = True


@pytest.mark.parametrize("delay", [False, True])
def test_a_source_that_raises_when_asked_for_more_fails_the_stream_on_both_ways(delay: bool) -> None:
    logs = []
    for way in (nullcontext, fusion_off):
        with way():
            source, other = _Source(), PublishProcessor[int]()
            end = Told()
            Flowable.merge(source, other, prefetch=4, delay_error=delay).subscribe(end)
            for item in range(4):
                source.down.on_next(item)
            other.on_next(7)
            other.on_complete()
            logs.append((end.log, source.cancelled, source.asked))
    assert logs[0] == logs[1]
    assert logs[0][0][-1] == "ValueError: of request"


def test_two_sources_that_start_late_are_both_subscribed_though_the_first_sends_for_ever() -> None:
    class Endless:
        """Sends while it is subscribed, until it is cancelled."""

        _rx_pushes = True

        def subscribe(self, subscriber: Any, /) -> None:
            going = [True]

            class Handle:
                def request(self, n: int, /) -> None: ...
                def cancel(self) -> None:
                    going.clear()

            subscriber.on_subscribe(Handle())
            for item in range(10_000):
                if not going:
                    return
                subscriber.on_next(item)
            raise AssertionError("nobody stopped it")

    got: list[Any] = []

    def add(item: Any) -> None:
        got.append(item)
        if item == "second":
            handle.append(True)
            end.handle.cancel()

    handle: list[Any] = []
    end = Told()
    end.on_next = add  # type: ignore[method-assign]  # as a subscriber of its own
    Flowable.merge(Endless(), Flowable.just("second").hide()).subscribe(end)
    assert handle


# -- races ---------------------------------------------------------------------------------------------------------------------

THREADS, SENT = 4, 40


def run_race(build: Build, bounded: bool, watch: tuple[str, ...]) -> None:
    sources, got = made(build, request=0 if bounded else UNBOUNDED, count=THREADS)
    # One thread after another first, so that all of them find the short way open.
    got.request(THREADS)
    for number, source in enumerate(sources):
        source.on_next(number * 1000)

    def feed(number: int) -> Callable[[], None]:
        def work() -> None:
            for at in range(1, SENT):
                while not sources[number].offer(number * 1000 + at):
                    pass
            sources[number].on_complete()

        return work

    def ask() -> None:
        for _ in range(THREADS * SENT):
            got.request(1)

    race(*(feed(number) for number in range(THREADS)), *([ask] if bounded else []), watch=watch, seconds=20.0)
    got.await_terminal(10.0).assert_complete()
    assert sorted(got.values) == [number * 1000 + at for number in range(THREADS) for at in range(SENT)]
    for number in range(THREADS):
        mine = [item for item in got.values if item // 1000 == number]
        assert mine == sorted(mine)


@pytest.mark.stress
@pytest.mark.parametrize("bounded", [False, True], ids=["unbounded", "requests"])
@EACH
def test_threads_that_all_find_it_open(build: Build, bounded: bool) -> None:
    for number in rounds(12):
        run_race(build, bounded, WATCHED if number % 4 == 3 else ())


@pytest.mark.stress
def test_control_taken_without_the_token_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(inbox: DirectInbox[Any], item: Any, /) -> None:
        gate = inbox._gate
        if inbox._straight > 1 and gate.direct is not None:
            inbox._straight -= 1
            gate.direct(item)
        else:
            Inbox.on_next(inbox, item)

    monkeypatch.setattr(DirectInbox, "on_next", without)

    def broken(_number: int) -> None:
        run_race(_merged, False, WATCHED)

    assert caught(broken, 30)

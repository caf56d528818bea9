"""Sources with stages of their own on the short way past merge, flat_map and switch_map: their functions run when an item is
wanted, where it comes, and it is all the same to everybody."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import rx_core
import rx_fusion
import rx_ops
from rx_core import UNBOUNDED, Inbox, hooks
from rx_core._direct import DirectInbox
from rx_fusion import Pipeline, fusion_off
from rx_ops import Flowable, Observable, PublishProcessor, PublishSubject, it
from rx_testing import ManualPublisher, TestSubscriber
from rx_testing.racing import caught, race, rounds

WATCHED = tuple(str(Path(package.__file__).parent) for package in (rx_core, rx_fusion, rx_ops) if package.__file__)

Source = Flowable[Any]
Step = Callable[[Source], Source]
Build = Callable[[list[Source]], Source]

BUILDS: dict[str, Build] = {
    "merge": lambda sources: Flowable.merge(*sources, prefetch=4),
    "merge, delaying": lambda sources: Flowable.merge(*sources, prefetch=4, delay_error=True),
    "flat_map": lambda sources: Flowable.range(len(sources)).flat_map(lambda at: sources[at], prefetch=4),
    "stages behind": lambda sources: Flowable.merge(*sources, prefetch=4).map(lambda item: item).filter(lambda _item: True),
}
EACH = pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)


@contextmanager
def long_way() -> Iterator[None]:
    """Fused, and every item through the queue."""
    kept = Pipeline._rx_straight
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Pipeline, "_rx_straight", lambda flow, *given: None if flow._shape else kept(flow, *given))
        yield


# -- which items ---------------------------------------------------------------------------------------------------------------


@EACH
def test_after_the_first_item_of_each_source_all_take_it(build: Build, queued: list[Any]) -> None:
    sources = [PublishProcessor[Any]() for _ in range(3)]
    got = TestSubscriber[Any]()
    build([source.map(lambda n: n + 1).filter(lambda n: n % 2).map(it * 10) for source in sources]).subscribe(got)
    queued.clear()
    for item in range(90):
        sources[item % 3].on_next(item)
    got.assert_values(*(10 * (n + 1) for n in range(90) if n % 2 == 0))
    assert queued == [0, 1, 2]


@EACH
def test_the_functions_run_for_what_is_wanted_and_when_it_is(build: Build, queued: list[Any]) -> None:
    source = PublishProcessor[int]()
    called: list[int] = []
    got = TestSubscriber[Any](request=3)
    build([source.do_on_next(called.append), Flowable.never()]).subscribe(got)
    queued.clear()
    for item in range(5):
        source.on_next(item)
    assert called == [0, 1, 2]
    assert queued == [0, 3, 4]
    got.request(3)
    assert called == [0, 1, 2, 3, 4]
    source.on_next(5)
    got.assert_values(*range(6))
    assert queued == [0, 3, 4]
    source.on_next(6)
    assert called == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("behind", [False, True])
@EACH
def test_an_item_that_a_stage_drops_is_not_one_that_was_wanted(build: Build, behind: bool) -> None:
    source = PublishProcessor[int]()
    got = TestSubscriber[Any](request=2)
    few = it % 5 == 0
    flow = build([source, Flowable.never()]).filter(few) if behind else build([source.filter(few), Flowable.never()])
    flow.subscribe(got)
    for item in range(10):  # what nobody wants waits before the filter
        source.on_next(item)
    got.assert_values(0, 5)
    got.request(1)
    source.on_next(10)
    got.assert_values(0, 5, 10)
    got.request(10)
    for item in range(11, 26):
        source.on_next(item)
    got.assert_values(0, 5, 10, 15, 20, 25).assert_not_terminated()


@pytest.mark.parametrize(
    "step", [lambda flow: flow.take(3), lambda flow: flow.scan(lambda a, b: a + b), lambda flow: flow.hide()]
)
def test_sources_that_keep_something_take_the_long_way(step: Step, queued: list[Any]) -> None:
    source = PublishProcessor[int]()
    got = TestSubscriber[Any]()
    Flowable.merge(step(source.map(it + 1)), Flowable.never()).subscribe(got)
    queued.clear()
    for item in range(6):
        source.on_next(item)
    assert len(queued) >= 3


def test_observables_and_switch_map(queued: list[Any]) -> None:
    subjects = [PublishSubject[int]() for _ in range(2)]
    got: list[int] = []
    Observable.merge(*(subject.map(it * 2) for subject in subjects)).subscribe(got.append)
    outer, inner = PublishProcessor[int](), [PublishProcessor[int]() for _ in range(2)]
    switched: list[int] = []
    outer.switch_map(lambda at: inner[at].map(lambda n: n * 100)).subscribe(switched.append)
    outer.on_next(0)
    queued.clear()
    for item in range(10):
        subjects[item % 2].on_next(item)
        inner[0].on_next(item)
    outer.on_next(1)
    inner[0].on_next(77)
    inner[1].on_next(10)
    assert got == [2 * n for n in range(10)]
    assert switched == [100 * n for n in range(11)]
    assert sorted(queued) == [0, 0, 1, 1, 10]


def test_a_stage_without_source_text_takes_the_long_way() -> None:
    from rx_fusion import stage

    scope: dict[str, Any] = {}
    exec("def plus(source, n):\n    for item in source:\n        yield item + n", scope)
    plus = stage(scope["plus"])
    got = TestSubscriber[Any]()
    Flowable.merge(Flowable.range(3)._then(plus, 1), Flowable.range(2)).subscribe(got)
    got.assert_values(1, 2, 3, 0, 1).assert_complete()


# -- the same signals, the same calls ------------------------------------------------------------------------------------------


@EACH
def test_the_same_items_and_calls_as_on_the_long_way(build: Build) -> None:
    for seed in range(60):
        logs = []
        for way in (nullcontext, long_way):
            dice = random.Random(seed)
            log: list[str] = []
            with way():
                sources = [PublishProcessor[int]() for _ in range(3)]
                got = TestSubscriber[Any](request=dice.choice((0, 1, 5, UNBOUNDED)))
                fails = dice.randrange(10, 200)

                def mapped(n: int, log: list[str] = log, fails: int = fails) -> int:
                    log.append(f"map {n}")
                    return n if n != fails else _raise(ValueError(f"{n}"))

                steps: list[Step] = [
                    partial(_mapped, mapped),
                    lambda flow: flow.filter(it % 3),
                    lambda flow: flow.skip(0),
                ]
                flows = [dice.choice(steps)(dice.choice(steps)(source)) for source in sources]
                build(flows).subscribe(got)
                for at in range(60):
                    got.request(dice.choice((1, 1, 2, 7)))
                    source = dice.choice(sources)
                    source.offer(at)
                    if dice.random() < 0.02:
                        dice.choice(sources).on_complete()
                    log.append(f"{got.values}")
                got.request(100)
            logs.append((log, got.values, repr(got.error)))
        assert logs[0] == logs[1], seed


class Told:
    """Writes down what it gets."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.handle: Any = None

    def on_subscribe(self, handle: Any, /) -> None:
        self.handle = handle
        handle.request(UNBOUNDED)

    def on_next(self, item: Any, /) -> None:
        self.log.append(f"{item}")

    def on_error(self, error: Exception, /) -> None:
        cause = "" if error.__cause__ is None else f" from {error.__cause__!r}"
        self.log.append(f"{type(error).__name__}: {error}{cause}")

    def on_complete(self) -> None:
        self.log.append("|")


def _raise(error: BaseException) -> Any:
    raise error


def _acting(act: Any, *given: Any) -> Callable[[Any], Any]:
    return lambda item: act(*given) if item == 2 else item


def _mapped(function: Callable[[Any], Any], flow: Source) -> Source:
    return flow.map(function)


#: What the function does with item 2: (the first source, the second, the subscriber) -> what it gives.
ACTS: dict[str, Callable[[Any, Any, Told], Any]] = {
    "fails": lambda _a, _b, _end: _raise(ValueError("of the function")),
    "stops": lambda _a, _b, _end: _raise(StopIteration()),
    "exits": lambda _a, _b, _end: _raise(GeneratorExit()),
    "gives None": lambda _a, _b, _end: None,
    "cancels": lambda _a, _b, end: end.handle.cancel() or "2",
    "cancels, fails": lambda _a, _b, end: end.handle.cancel() or _raise(ValueError("of the function")),
    "requests too little": lambda _a, _b, end: end.handle.request(0) or "2",
    "sends": lambda a, b, _end: [a.on_next(10), b.on_next(11)],
    "sends, fails": lambda a, b, _end: [a.on_next(10), b.on_next(11), _raise(ValueError("of the function"))],
    "ends": lambda a, _b, _end: a.on_complete() or "2",
    "ends, fails": lambda a, _b, _end: a.on_complete() or _raise(ValueError("of the function")),
    "errors": lambda a, _b, _end: a.on_error(ValueError("of the source")) or "2",
    "the other errors": lambda _a, b, _end: b.on_error(ValueError("of the source")) or "2",
    "errors, fails": lambda a, _b, _end: a.on_error(ValueError("of the source")) or _raise(ValueError("of the function")),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
@EACH
def test_what_happens_inside_a_function(build: Build, act: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin: reported.append(str(error)))
    logs = []
    for way in (nullcontext, long_way, fusion_off):
        with way():
            a, b, end = PublishProcessor[Any](), PublishProcessor[Any](), Told()
            build([a.map(_acting(act, a, b, end)), b.map(lambda n: n)]).subscribe(end)
            for item in range(6):
                (a, b)[item % 2].on_next(item)
            logs.append((end.log, list(reported), a.has_subscribers, b.has_subscribers))
            reported.clear()
    names = set(act.__code__.co_names)
    if "cancel" not in names:  # else an item that is on its way then may still go out there
        assert logs[0] == logs[1]
    if not names & {"handle", "on_next", "on_error"} or "cancel" in names:  # else that is seen before what the function gives
        assert logs[0] == logs[2]


@pytest.mark.parametrize("delay", [False, True])
@pytest.mark.parametrize("ends", ["complete", "error", "next"])
def test_what_a_source_signals_while_its_function_fails_comes_too_late(delay: bool, ends: str) -> None:
    logs = []
    for way in (nullcontext, long_way):
        source, other, end = ManualPublisher[Any](), PublishProcessor[Any](), Told()
        called: list[Any] = []

        def fails(item: int, source: Any = source, called: list[Any] = called) -> int:
            called.append(item)
            if item != 2:
                return item
            given = () if ends == "complete" else (3,) if ends == "next" else (ValueError("of the source"),)
            getattr(source, ends)(*given)
            raise ValueError("of the function")

        with way():
            flow = Flowable.wrap(source).map(fails)
            Flowable.merge(flow, other, delay_error=delay).subscribe(end)
            for item in range(3):
                source.next(item)
            other.on_next(7)
            other.on_complete()
        logs.append((end.log, called))
    assert logs[0] == logs[1]
    assert logs[0][0] == ["0", "1", *(["7"] if delay else []), "ValueError: of the function"]


def test_a_source_that_failed_leaves_what_is_wanted_to_the_others() -> None:
    a, b = PublishProcessor[int](), PublishProcessor[int]()
    got = TestSubscriber[Any](request=4)
    Flowable.merge(a.map(lambda n: 1 // n), b.map(it + 0), delay_error=True).subscribe(got)
    a.on_next(1)
    a.on_next(1)
    a.on_next(0)
    for item in (5, 6, 7):
        b.on_next(item)
    got.assert_values(1, 1, 5, 6).assert_not_terminated()
    assert not a.has_subscribers
    b.on_complete()
    got.request(1)
    got.assert_values(1, 1, 5, 6, 7).assert_error(ZeroDivisionError)


def test_a_failing_function_says_where() -> None:
    source = PublishProcessor[int]()
    got = TestSubscriber[Any]()

    def halves(n: int) -> int:
        return n // (2 - n)

    Flowable.merge(source.filter(it >= 0).map(halves), Flowable.never()).subscribe(got)
    for item in range(3):
        source.on_next(item)
    assert got.error is not None
    (note,) = got.error.__notes__
    assert "in map(" in note
    assert "halves" in note


def test_an_interrupt_in_a_function_ends_it() -> None:
    source, end = PublishProcessor[int](), Told()
    Flowable.merge(source.map(lambda n: n if n < 2 else _raise(KeyboardInterrupt())), Flowable.never()).subscribe(end)
    for item in (0, 1):
        source.on_next(item)
    with pytest.raises(KeyboardInterrupt):
        source.on_next(2)
    source.on_next(3)
    assert end.log == ["0", "1"]
    assert not source.has_subscribers


class _Function:
    def __call__(self, item: int) -> int:
        return item


def test_nothing_waits_for_the_garbage_collector() -> None:
    for ends in ("cancel", "complete"):
        source, end, function = PublishProcessor[int](), Told(), _Function()
        gone = weakref.ref(function)
        Flowable.merge(source.map(function), Flowable.empty()).subscribe(end)
        del function
        source.on_next(1)
        source.on_next(2)
        gc.disable()
        try:
            if ends == "cancel":
                end.handle.cancel()
            else:
                source.on_complete()
            end.handle = None
            assert gone() is None, ends
        finally:
            gc.enable()


# -- races ---------------------------------------------------------------------------------------------------------------------

THREADS, SENT = 4, 40


def run_race(build: Build, bounded: bool, watch: tuple[str, ...]) -> None:
    sources = [PublishProcessor[int]() for _ in range(THREADS)]
    got = TestSubscriber[Any](request=0 if bounded else UNBOUNDED)
    called: list[int] = []

    def doubled(item: int) -> int:
        called.append(item)
        return 2 * item

    build([source.map(doubled).filter(lambda item: item % 6) for source in sources]).subscribe(got)
    got.request(THREADS)
    for number, source in enumerate(sources):
        source.on_next(number * 1000 + 1)  # one thread after another first, so that all of them find the short way open

    def feed(number: int) -> Callable[[], None]:
        def work() -> None:
            for at in range(2, SENT):
                while not sources[number].offer(number * 1000 + at):
                    pass
            sources[number].on_complete()

        return work

    def ask() -> None:
        for _ in range(THREADS * SENT):
            got.request(1)

    race(*(feed(number) for number in range(THREADS)), *([ask] if bounded else []), watch=watch, seconds=20.0)
    got.await_terminal(10.0).assert_complete()
    sent = [number * 1000 + at for number in range(THREADS) for at in range(1, SENT)]
    assert sorted(called) == sent
    assert sorted(got.values) == [2 * item for item in sent if 2 * item % 6]
    order = [2 * item for item in called if 2 * item % 6]
    assert got.values == order  # one at a time: what a function gave goes out before the next one runs


@pytest.mark.stress
@pytest.mark.parametrize("bounded", [False, True], ids=["unbounded", "requests"])
@EACH
def test_threads_that_all_find_it_open(build: Build, bounded: bool) -> None:
    for number in rounds(12):
        run_race(build, bounded, WATCHED if number % 4 == 3 else ())


@pytest.mark.stress
def test_control_functions_called_without_the_token_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(inbox: DirectInbox[Any], item: Any, /) -> None:
        if inbox._straight > 1:
            inbox._straight -= 1
            inbox._push(item)
        else:
            Inbox.on_next(inbox, item)

    monkeypatch.setattr(DirectInbox, "on_next", without)

    def broken(_number: int) -> None:
        run_race(BUILDS["merge"], False, WATCHED)

    assert caught(broken, 30)

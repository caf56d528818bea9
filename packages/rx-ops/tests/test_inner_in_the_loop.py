"""concat, concat_map and flat_map for who waits: inner sources are part of the loop, until one of them has to wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from operator import add, itemgetter
from typing import Any

import pytest

import rx_schedulers
from rx_core import hooks
from rx_fusion import OperatorHead, _loops, _shapes
from rx_ops import BackpressureStrategy, Flowable, Observable, PublishProcessor, PublishSubject, Single
from rx_testing import ManualPublisher, TestSubscriber

SECONDS = 10.0

Flow = Flowable[Any]


@pytest.fixture(autouse=True)
def hot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every shape counts as used often, so that each test is about the loop."""
    monkeypatch.setattr(_shapes, "HOT_RUNS", -1)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether what was iterated is pulled by a loop."""
    ways: list[bool] = []
    real = _loops.inner_loop

    def noted(*args: Any) -> Any:
        loop = real(*args)
        ways.append(loop is not None)
        return loop

    monkeypatch.setattr(_loops, "inner_loop", noted)
    return ways


def later(item: Any) -> Flow:
    return Flowable.just(item).subscribe_on(rx_schedulers.io())


def twice(item: Any) -> Flow:
    return Flowable.of(item, item)


def sometimes_later(item: int) -> Flow:
    return later(item) if item % 3 == 1 else twice(item)


JOIN: dict[str, Callable[[Flow, Callable[[Any], Any]], Flow]] = {
    "concat_map": lambda flow, mapper: flow.concat_map(mapper),
    "flat_map": lambda flow, mapper: flow.flat_map(mapper),
    "concat": lambda flow, mapper: Flowable.concat(*(mapper(item) for item in flow)),
}
EACH = pytest.mark.parametrize("join", JOIN.values(), ids=list(JOIN))
MAPPED = pytest.mark.parametrize("join", [JOIN["concat_map"], JOIN["flat_map"]], ids=["concat_map", "flat_map"])


ONE_BY_ONE: dict[str, Callable[[Flow, Callable[[Any], Any]], Flow]] = {
    "concat_map": lambda flow, mapper: flow.concat_map(mapper, prefetch=8),
    "flat_map": lambda flow, mapper: flow.flat_map(mapper, max_concurrency=1),
    "concat_map_eager": lambda flow, mapper: flow.concat_map_eager(mapper, max_concurrency=1),
}


@EACH
def test_it_is_the_loop_that_runs(join: Callable[..., Flow], started: list[bool]) -> None:
    flow = join(Flowable.range(5), twice).map(lambda x: x + 1)
    assert flow.blocking_list() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert list(flow.filter(lambda x: x % 2).take(3)) == [1, 1, 3]
    assert flow.reduce(max).blocking_get() == 5
    assert flow.blocking_first() == 1
    assert started == [True] * 4


@EACH
def test_one_that_waits_comes_in_its_place(join: Callable[..., Flow]) -> None:
    items = join(Flowable.range(6), sometimes_later).map(lambda x: x * 10)
    found = items.blocking_list()
    if join is JOIN["flat_map"]:
        found.sort()
    assert found == [0, 0, 10, 20, 20, 30, 30, 40, 50, 50]
    assert items.sum().blocking_get() == sum(found)


@pytest.mark.parametrize("join", ONE_BY_ONE.values(), ids=list(ONE_BY_ONE))
def test_the_rest_of_the_outer_source_is_subscribed_while_an_inner_one_runs(
    join: Callable[..., Flow], started: list[bool]
) -> None:
    outer, inner = PublishProcessor[int](), PublishProcessor[int]()
    flow = join(outer.on_backpressure_buffer().start_with(0), lambda item: Flowable.just(item) if item else inner)
    got: TestSubscriber[int] = TestSubscriber()
    flow.concat_with(Flowable.just(9)).subscribe(got)
    assert started[:1] == [True]
    assert outer.has_subscribers
    outer.on_next(5)
    inner.on_next(1)
    inner.on_complete()
    outer.on_next(6)
    outer.on_complete()
    got.assert_result(1, 5, 6, 9)


def test_the_rest_of_an_observable_is_subscribed_while_an_inner_one_runs() -> None:
    outer, inner = PublishSubject[int](), PublishSubject[int]()
    flow = outer.start_with(0).concat_map(lambda item: Observable.just(item) if item else inner)
    got: list[object] = []
    flow.concat_with(Observable.just(9)).subscribe(got.append)
    for item in range(1, 300):
        outer.on_next(item)
    inner.on_complete()
    outer.on_complete()
    assert got == [*range(1, 300), 9]


def test_who_iterates_misses_nothing_of_the_outer_source_while_an_inner_one_runs() -> None:
    asked = [threading.Event(), threading.Event()]
    outer = ManualPublisher[int](on_request=lambda _subscription, _n: asked[0].set())
    inner = ManualPublisher[int](on_request=lambda _subscription, _n: asked[1].set())
    flow = Flowable.wrap(outer).start_with(0).concat_map(lambda item: Flowable.just(item) if item else Flowable.wrap(inner))
    got: list[int] = []
    thread = threading.Thread(target=lambda: got.extend(flow), daemon=True)
    thread.start()
    assert all(event.wait(SECONDS) for event in asked)
    outer.next(5)
    inner.complete()
    outer.complete()
    thread.join(SECONDS)
    assert got == [5]


LATER: dict[str, Callable[[Flow], Flow]] = {
    "start_with": lambda hot: hot.start_with(0, 1),
    "concat": lambda hot: Flowable.concat(Flowable.range(2).concat_map(Flowable.just), hot.map(int)),
    "concat_map": lambda hot: hot.hide().start_with(0, 1).concat_map(Flowable.just),
}


@pytest.mark.parametrize("build", LATER.values(), ids=list(LATER))
def test_who_iterates_misses_nothing_of_a_source_that_comes_later(build: Callable[[Flow], Flow]) -> None:
    hot = PublishProcessor[int]()
    got: list[int] = []
    for item in build(hot):
        got.append(item)
        if item == 0:
            hot.on_next(2)
            hot.on_complete()
    assert got == [0, 1, 2]


def test_what_waits_behind_flat_map_waits_at_the_same_time() -> None:
    together = threading.Barrier(3)

    def met(item: int) -> Flow:
        def meet() -> int:
            together.wait(SECONDS)
            return item

        return Single.from_callable(meet).subscribe_on(rx_schedulers.io()).to_flowable()

    flow = Flowable.range(5).flat_map(lambda item: met(item) if item > 1 else twice(item))
    assert sorted(flow.blocking_list()) == [0, 0, 1, 1, 2, 3, 4]


def test_behind_flat_map_the_last_inner_sources_are_no_more_than_allowed() -> None:
    active, most = 0, 0
    lock = threading.Lock()

    def counted(item: int) -> Flow:
        def enter() -> Flow:
            nonlocal active, most
            with lock:
                active += 1
                most = max(most, active)
            return later(item)

        def leave() -> None:
            nonlocal active
            with lock:
                active -= 1

        return Flowable.defer(enter).do_on_complete(leave)  # before the end goes on, which opens the next one

    assert sorted(Flowable.range(20).flat_map(counted, max_concurrency=2).blocking_list()) == list(range(20))
    assert 1 <= most <= 2


@MAPPED
def test_inside_one_another(join: Callable[..., Flow], started: list[bool]) -> None:
    def inner(item: int) -> Flow:
        return join(Flowable.range(item), sometimes_later).map(lambda x: (item, x))

    found = join(Flowable.range(5), inner).blocking_list()
    wanted = [(item, x) for item in range(5) for x in range(item) for _ in range(1 if x % 3 == 1 else 2)]
    assert sorted(found) == wanted
    assert started
    assert all(started)


@MAPPED
def test_behind_one_another(join: Callable[..., Flow]) -> None:
    found = join(join(Flowable.range(4), sometimes_later).map(lambda x: x + 1), sometimes_later).blocking_list()
    assert sorted(found) == [1, 1, 2, 2, 3, 3, 3, 3, 4, 4]


@EACH
def test_a_source_that_sends_on_this_thread_is_stopped_when_there_is_enough(join: Callable[..., Flow]) -> None:
    sent: list[int] = []

    def endless(_item: Any) -> Flow:
        def push(emitter: Any) -> None:
            for number in range(1_000_000):
                if emitter.is_cancelled:
                    return
                sent.append(number)
                emitter.on_next(number)

        return Flowable.create(push, BackpressureStrategy.BUFFER)

    flow = join(Flowable.range(3), endless)
    assert flow.filter(lambda x: x % 2).take(3).blocking_list() == [1, 3, 5]
    assert flow.blocking_first() == 0
    assert len(sent) < 1000


@EACH
@pytest.mark.parametrize("way", ["leave", "error"])
def test_leaving_gives_back_the_inner_source(join: Callable[..., Flow], way: str) -> None:
    closed: list[int] = []

    def generated(item: int) -> Flow:
        def items() -> Iterator[int]:
            try:
                yield item
                yield item
            finally:
                closed.append(item)

        return Flowable.defer(lambda: Flowable.from_iterable(items())) if item == 9 else Flowable.from_iterable(Items(items))

    flow = join(Flowable.range(3), generated).map(lambda x: 1 // (1 - x) if way == "error" else x)
    if way == "leave":
        for item in flow:
            if item == 1:
                break
    else:
        with pytest.raises(ZeroDivisionError):
            list(flow)
    assert closed == [0, 1]


class Items:
    """Something to iterate anew."""

    def __init__(self, make: Callable[[], Iterator[int]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[int]:
        return self._make()


@EACH
def test_leaving_cancels_what_waits(join: Callable[..., Flow]) -> None:
    cancelled = threading.Event()

    def push(emitter: Any) -> None:
        emitter.set_cancellable(cancelled.set)
        emitter.on_next(7)

    waits = Flowable.create(push, BackpressureStrategy.BUFFER).subscribe_on(rx_schedulers.io())
    flow = join(Flowable.range(2), lambda item: waits if item else twice(item))
    assert flow.take(3).blocking_list() == [0, 0, 7]
    assert cancelled.wait(SECONDS)


@MAPPED
@pytest.mark.parametrize("made", [None, [1, 2], 3])
def test_what_is_no_source_is_refused(join: Callable[..., Flow], made: object) -> None:
    with pytest.raises(TypeError, match="expected a function returning a publisher") as caught:
        join(Flowable.range(3), lambda _: made).blocking_list()
    assert "Right:" in str(caught.value)


@MAPPED
def test_an_error_of_the_mapper_says_where(join: Callable[..., Flow]) -> None:
    def broken(item: int) -> Flow:
        raise KeyError(item)

    with pytest.raises(KeyError) as caught:
        join(Flowable.range(3), broken).map(str).blocking_list()
    note, way = caught.value.__notes__
    assert way.startswith("through ")
    assert "_map(" in note
    assert "broken" in note
    assert "inner" not in note


@EACH
def test_an_error_of_an_inner_source_says_its_own_pipeline(join: Callable[..., Flow]) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        join(Flowable.of(2, 1), lambda item: Flowable.range(item).map(lambda x: 1 // x)).map(str).blocking_list()
    note, *_ = caught.value.__notes__
    assert note.startswith("in map(")
    assert "concat" not in note
    assert "flat_map" not in note


@EACH
@pytest.mark.parametrize("error", [StopIteration(3), GeneratorExit()], ids=["StopIteration", "GeneratorExit"])
def test_what_means_something_to_generators_comes_out_as_what_it_is(join: Callable[..., Flow], error: BaseException) -> None:
    class Broken:
        def __iter__(self) -> Iterator[int]:
            raise error

    flow = join(Flowable.range(2), lambda _: Flowable.from_iterable(Broken()))
    with pytest.raises(RuntimeError) as caught:
        list(flow)
    assert type(error).__name__ in str(caught.value)


@EACH
def test_none_from_an_inner_iterable_is_an_error(join: Callable[..., Flow]) -> None:
    with pytest.raises(TypeError, match="from_iterable"):
        join(Flowable.range(2), lambda _: Flowable.from_iterable([1, None])).blocking_list()


def test_a_hook_for_subscriptions_is_told_of_each(monkeypatch: pytest.MonkeyPatch, started: list[bool]) -> None:
    hooks.ensure_loaded()
    seen: list[object] = []

    def told(source: object, subscriber: Any) -> Any:
        seen.append(source)
        return subscriber

    monkeypatch.setattr(hooks, "on_subscribe", told)
    assert Flowable.range(2).concat_map(twice).blocking_list() == [0, 0, 1, 1]
    assert True not in started


def test_the_plan_says_so() -> None:
    line = "for callbacks and a thread that waits: one loop with its source and its inner sources, until one of these has to wait"
    flow = Flowable.range(3).concat_map(twice)
    assert flow.map(str).flat_map(twice).explain().count(line) == 1
    assert line in Flowable.concat(flow, flow).explain()
    for other in (
        flow.observe_on(rx_schedulers.io()),
        Flowable.range(3).observe_on(rx_schedulers.io()).concat_map(twice),
        Flowable.range(3).flat_map(twice, delay_error=True),
        Flowable.range(3).hide().flat_map(twice),
    ):
        assert line not in other.explain()


def test_a_source_that_pushes_first_and_of_which_nothing_is_wanted() -> None:
    assert list(Flowable.of(1).hide().concat_with(Flowable.range(3)).take(0)) == []


@EACH
def test_take_0_starts_no_source(join: Callable[..., Flow]) -> None:
    log: list[int] = []
    joined = join(Flowable.of(1, 2), lambda item: Flowable.just(item).do_on_next(log.append))
    assert list(joined.take(0)) == []
    assert list(joined.take(0).start_with(4)) == [4]
    assert log == []


# -- one item as a stream, between stages -----------------------------------------------------------------------------------


def _counted(word: str) -> Flowable[tuple[str, int]]:
    counts = Flowable.from_iterable(word).collect(dict[str, int], _count)
    return counts.to_flowable().flat_map_iterable(dict.items)


def _count(found: dict[str, int], letter: str) -> None:
    found[letter] = found.get(letter, 0) + 1


@pytest.fixture
def subscribed(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The operators that were subscribed."""
    found: list[object] = []
    real = OperatorHead.subscribe_for

    def noted(head: OperatorHead, *args: Any) -> None:
        found.append(head)
        real(head, *args)

    monkeypatch.setattr(OperatorHead, "subscribe_for", noted)
    return found


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (lambda: _counted("hello").map(itemgetter(1)).blocking_list(), [1, 1, 2, 1]),
        (lambda: _counted("hello").map(itemgetter(1)).sum().blocking_get(), 5),
        (lambda: _counted("hello").map(itemgetter(1)).reduce(max).to_flowable().to_list().blocking_get(), [2]),
        (lambda: _counted("").map(itemgetter(1)).reduce(max).to_flowable().first(0).to_flowable().blocking_first(), 0),
        (lambda: Flowable.concat(_counted("hello"), _counted("")).count().blocking_get(), 4),
        (lambda: Flowable.of("a", "bb").concat_map(_counted).blocking_list(), [("a", 1), ("b", 2)]),
        (lambda: Flowable.of("a", "bb").flat_map(_counted).count().to_flowable().map(str).blocking_first(), "2"),
        (lambda: Flowable.of("bb").concat_map(_counted).count().to_flowable().flat_map_iterable(range).blocking_list(), [0]),
    ],
)
def test_to_flowable_is_no_boundary_for_who_wants_everything(
    run: Callable[[], object], expected: object, subscribed: list[object]
) -> None:
    assert run() == expected
    assert not subscribed


def test_the_control_sees_what_is_subscribed(subscribed: list[object]) -> None:
    got: TestSubscriber[int] = TestSubscriber(0)
    _counted("hello").map(itemgetter(1)).subscribe(got)
    assert subscribed
    got.request(2)
    got.assert_values(1, 1)


def test_a_source_that_waits_in_front_of_to_flowable_is_waited_for() -> None:
    flow = Flowable.range(5).concat_map(sometimes_later).to_list().to_flowable().flat_map_iterable(reversed)
    assert flow.map(lambda x: x * 2).blocking_list() == [8, 6, 6, 4, 4, 2, 0, 0]
    assert Flowable.concat(flow, flow).count().blocking_get() == 16


EXPANDING: dict[str, Callable[[Flow], Flow]] = {
    "alone": lambda flow: flow.flat_map_iterable(lambda x: [x, x]),
    "before one with state": lambda flow: flow.flat_map_iterable(lambda x: [x, x + 1]).scan(add),
    "behind one with state": lambda flow: flow.distinct().flat_map_iterable(range),
    "around one with state": lambda flow: flow.flat_map_iterable(lambda x: [x, x]).buffer(3).flat_map_iterable(reversed),
    "around two with state": lambda flow: (
        flow.flat_map_iterable(lambda x: [x, x]).skip(1).map(str).pairwise().flat_map_iterable(list).map(int)
    ),
    "two, behind the end": lambda flow: flow.flat_map_iterable(range).to_list().to_flowable().flat_map_iterable(sorted),
    "left early": lambda flow: flow.flat_map_iterable(lambda x: [x, x]).skip(3).take(5).flat_map_iterable(lambda x: [x, -x]),
    "with state between": lambda flow: flow.scan(add).flat_map_iterable(lambda x: [x, 1]).scan(add),
}


@pytest.mark.parametrize("behind", EXPANDING.values(), ids=list(EXPANDING))
@pytest.mark.parametrize("waits", [7, 3, 1, 0, None])
def test_stages_that_give_several_items_for_one_go_on_behind_one_that_waits(
    behind: Callable[[Flow], Flow], waits: int | None
) -> None:
    def inner(item: int) -> Flow:
        return later(item) if item == waits else twice(item)

    flow = Flowable.range(8).concat_map(inner)
    expected = list(behind(Flowable.from_iterable(flow.blocking_list())))
    assert behind(flow).blocking_list() == expected
    assert list(behind(flow)) == expected
    assert behind(flow.hide()).blocking_list() == expected
    assert behind(flow).count().blocking_get() == len(expected)
    assert Flowable.concat(behind(flow), behind(flow)).blocking_list() == expected * 2


@pytest.mark.parametrize("behind", [value for name, value in EXPANDING.items() if name != "with state between"])
def test_they_are_in_the_loop(behind: Callable[[Flow], Flow], subscribed: list[object]) -> None:
    behind(Flowable.range(4).concat_map(twice)).blocking_list()
    assert not subscribed


def test_an_error_behind_to_flowable_shows_the_stages_and_closes_the_source() -> None:
    closed: list[bool] = []

    def words() -> Iterator[str]:
        try:
            yield from ("a", "b")
        finally:
            closed.append(True)

    flow = Flowable.defer(lambda: Flowable.from_iterable(words())).to_list().to_flowable()
    for source in (flow, Flowable.from_iterable(["a", "b"]).to_list().to_flowable()):
        with pytest.raises(ZeroDivisionError) as caught:
            source.flat_map_iterable(list[str]).map(lambda _item: 1 / 0).sum().blocking_get()
        assert any(".map(" in note for note in caught.value.__notes__)
    assert closed == [True]

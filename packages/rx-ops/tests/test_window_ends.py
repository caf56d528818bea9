"""Windows: who may leave when, what an end or an error does to all of them, and threads."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from ops_parties import Consumer

from rx_core import UNBOUNDED
from rx_ops import Flowable
from rx_ops.operators._pieces import CutInput, Pieces
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

Source = ManualPublisher[Any]


@pytest.fixture
def clock() -> VirtualScheduler:
    return VirtualScheduler()


@pytest.fixture
def source() -> Source:
    return ManualPublisher()


# -- ends, and who may leave when --------------------------------------------------------------------------------------


FORMS: dict[str, Callable[[Flowable[Any], VirtualScheduler], Flowable[Flowable[Any]]]] = {
    "count": lambda s, c: s.window(10),
    "overlap": lambda s, c: s.window(10, 5),
    "time": lambda s, c: s.window(seconds=1.0, scheduler=c),
    "boundary": lambda s, c: s.window(boundary=Flowable.never()),
}


ANY = pytest.mark.parametrize("form", FORMS)


@ANY
def test_an_error_goes_to_the_windows_and_to_the_stream_of_windows(form: str, source: Source, clock: VirtualScheduler) -> None:
    got = Consumer(FORMS[form](Flowable.wrap(source), clock))
    error = StopIteration("mine")
    source.next(1)
    source.error(error)
    got.outer.assert_error(error)
    got.windows[0].assert_failure(error, 1)


@ANY
def test_the_source_is_cancelled_when_the_stream_of_windows_and_all_windows_are(
    form: str, source: Source, clock: VirtualScheduler
) -> None:
    got = Consumer(FORMS[form](Flowable.wrap(source), clock))
    source.next(1)
    got.outer.cancel()
    assert not source.cancelled
    source.next(2)
    assert got.values == [[1, 2]]
    got.windows[0].cancel()
    assert clock.pending == 0
    assert source.cancelled


@ANY
def test_the_source_goes_on_when_a_window_is_cancelled(form: str, source: Source, clock: VirtualScheduler) -> None:
    got = Consumer(FORMS[form](Flowable.wrap(source), clock))
    source.next(1)
    got.windows[0].cancel()
    assert not source.cancelled
    source.next(2)
    assert got.values == [[1]]
    got.outer.cancel()
    assert source.cancelled


def test_the_last_window_lets_go_of_the_source_at_its_end(source: Source, clock: VirtualScheduler) -> None:
    got = Consumer(Flowable.wrap(source).window(seconds=1.0, scheduler=clock))
    source.next(1)
    got.outer.cancel()
    clock.advance_to(1.0)
    got.windows[0].assert_result(1)
    assert source.cancelled
    assert clock.pending == 0


def sent_and_forgotten(source: Source) -> bool:
    """Whether an item that is sent now is held by nobody afterwards."""
    item = type("Big", (), {})()
    gone = weakref.ref(item)
    source.next(item)
    del item
    gc.collect()
    return gone() is None


@ANY
def test_a_window_nobody_subscribes_to_in_time_is_abandoned(form: str, source: Source, clock: VirtualScheduler) -> None:
    windows: list[Flowable[Any]] = []
    outer: TestSubscriber[Any] = TestSubscriber(on_value=windows.append)
    FORMS[form](Flowable.wrap(source), clock).subscribe(outer)
    source.next(1)
    assert sent_and_forgotten(source)
    late: TestSubscriber[Any] = TestSubscriber()
    windows[0].subscribe(late)
    late.assert_complete()
    assert late.values in ([], [1])
    assert not source.cancelled
    outer.cancel()
    assert source.cancelled


@pytest.mark.parametrize("size", [(3, 1), (2, 1), (2,)])
def test_windows_that_wait_for_their_turn_in_concat_map_are_not_abandoned(size: tuple[int, ...]) -> None:
    windows = Flowable.range(5).window(*size).concat_map(lambda window: window.to_list())
    lists = Flowable.range(5).window(*size).flat_map(lambda window: window.to_list())
    assert windows.blocking_list() == lists.blocking_list()


@ANY
def test_windows_that_wait_in_concat_map_are_left_when_that_is_cancelled(
    form: str, source: Source, clock: VirtualScheduler
) -> None:
    got: TestSubscriber[Any] = TestSubscriber()
    FORMS[form](Flowable.wrap(source), clock).concat_map(lambda window: window.concat_with(Flowable.never())).subscribe(got)
    source.next(*range(6))  # the second of two that overlap has begun
    clock.advance_to(1.0)
    got.cancel()
    assert source.cancelled
    assert clock.pending == 0


def test_a_window_that_concat_map_makes_nothing_of_does_not_hold_the_source(source: Source) -> None:
    got: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(source).window(10).concat_map(lambda _window: Flowable.just(1)).take(1).subscribe(got)
    source.next(0)
    got.assert_result(1)
    assert source.cancelled


def test_a_window_allows_one_subscriber(source: Source) -> None:
    got = Consumer(Flowable.wrap(source).window(2))
    source.next(1)
    second: TestSubscriber[Any] = TestSubscriber()
    got.outer.values[0].subscribe(second)
    second.assert_error(RuntimeError, match="allows one subscriber")
    source.next(2)
    got.windows[0].assert_result(1, 2)


def test_a_subscriber_that_raises_ends_its_windows_and_the_source(source: Source) -> None:
    thrown = LookupError("the subscriber's")

    def throw(_item: object) -> None:
        raise thrown

    outer: TestSubscriber[Any] = TestSubscriber(on_value=lambda w: w.subscribe(TestSubscriber(on_value=throw)))
    Flowable.wrap(source).window(2).subscribe(outer)
    with pytest.raises(LookupError):
        source.next(1)
    assert source.cancelled


def test_a_subscriber_of_a_window_that_raises_ends_the_others_with_its_error(source: Source) -> None:
    """The source takes it for a cancel (RS 2.13), so nothing would come for them any more."""
    thrown = LookupError("the subscriber's")
    windows: list[TestSubscriber[Any]] = []

    def throw(item: object) -> None:
        if item == 3:
            raise thrown

    def take(window: Flowable[Any]) -> None:
        windows.append(TestSubscriber(on_value=None if windows else throw))
        window.subscribe(windows[-1])

    outer: TestSubscriber[Any] = TestSubscriber(on_value=take)
    Flowable.wrap(source).window(5, 1).subscribe(outer)
    source.next(1, 2)
    with pytest.raises(LookupError):
        source.next(3)
    windows[1].assert_failure(thrown, 2)
    outer.assert_error(thrown)
    assert source.cancelled


@ANY
def test_a_wrong_request_is_the_end(form: str, clock: VirtualScheduler) -> None:
    flow = Flowable.of(1, 2).concat_with(Flowable.never())
    got = Consumer(FORMS[form](flow, clock))
    got.outer.request(0)
    got.outer.assert_failure(ValueError, *got.outer.values)
    got.windows[0].assert_failure(ValueError, *got.windows[0].values)
    assert clock.pending == 0


def test_operators_on_a_window_make_plain_streams() -> None:
    assert Flowable.range(5).window(2).flat_map(lambda window: window.map(str).to_list()).blocking_list() == [
        ["0", "1"],
        ["2", "3"],
        ["4"],
    ]


@ANY
def test_windows_that_are_over_hold_nothing(form: str, source: Source, clock: VirtualScheduler) -> None:
    got = Consumer(FORMS[form](Flowable.wrap(source), clock))
    source.next(1)
    gone = weakref.ref(got)
    got.outer.cancel()
    got.windows[0].cancel()
    del got
    source.subscriptions.clear()
    gc.collect()
    assert gone() is None


# -- threads -----------------------------------------------------------------------------------------------------------


def raced(name: str, items: int, *, together: bool = True) -> list[list[int]]:
    """Lists, cut by one thread while (or, not together, before) another one sends the items."""
    source: Source = ManualPublisher(unchecked=True)
    boundary: Source = ManualPublisher(unchecked=True)
    got: TestSubscriber[Any] = TestSubscriber()
    cut: Any = getattr(Flowable.wrap(source), name)(boundary=boundary)
    lists = cut if name == "buffer" else cut.flat_map(lambda window: window.to_list(), max_concurrency=UNBOUNDED)
    lists.subscribe(got)

    def cutting() -> None:
        for at in range(items):
            boundary.next(at)

    cutter = threading.Thread(target=cutting)
    cutter.start()
    if not together:
        cutter.join()
    source.next(*range(items))
    cutter.join()
    source.complete()
    return [] if got.errors or not got.completions else got.values


@pytest.fixture(params=[1e-6, 5e-3])
def switching(request: pytest.FixtureRequest) -> Any:
    before = sys.getswitchinterval()
    sys.setswitchinterval(request.param)
    yield request.param
    sys.setswitchinterval(before)


@pytest.mark.parametrize("name", ["buffer", "window"])
def test_items_and_cuts_from_two_threads_lose_nothing(name: str, switching: float) -> None:
    for _ in range(5):
        lists = raced(name, 1000)
        assert [item for each in lists for item in each] == list(range(1000))
        assert len(lists) == 1001


@pytest.mark.parametrize("name", ["buffer", "window"])
@pytest.mark.parametrize("switching", [1e-6], indirect=True)
def test_the_race_shows_when_items_and_cuts_do_not_pass_the_gate(
    name: str, switching: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def put(self: CutInput, item: object) -> None:
        self.op.put(item)

    def cue(self: Pieces, function: Callable[[Any], object], argument: Any = None) -> None:
        self.wanted = UNBOUNDED
        function(argument)

    monkeypatch.setattr(CutInput, "on_next", put)
    monkeypatch.setattr(Pieces, "cue", cue)
    assert raced(name, 1000, together=False) == [[] for _ in range(1000)] + [list(range(1000))]
    for _ in range(200):
        try:
            lists = raced(name, 1000)
        except Exception:
            return
        if [item for each in lists for item in each] != list(range(1000)) or len(lists) != 1001:
            return
    pytest.fail("200 rounds without the gate, and nothing was lost")

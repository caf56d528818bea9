"""Two parties of a ParallelFlowable at a time: one acts completely between two instructions of the other, wherever that is.

Every place is tried, without chance. Each check has a control: the same with what decides the race taken out has to fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rails_parties import ByHand, Several, double, failing_at

import rx_core.gate
import rx_core.streams
import rx_ops.operators
from rx_core import UNBOUNDED, Answer
from rx_core.streams import QueuedInput
from rx_ops import Flowable
from rx_ops.operators._parallel import Rail, Split
from rx_ops.operators._rails import RunElsewhere, _OrderedInput
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler
from rx_testing.racing import interrupted

pytestmark = pytest.mark.stress

WATCHED = [rx_core.streams.__path__[0], rx_core.gate.__file__, rx_ops.operators.__path__[0]]


class Race:
    """Two rails with a subscriber each, and how often the source was cancelled."""

    def __init__(self, *requests: int) -> None:
        self.source: ManualPublisher[int] = ManualPublisher()
        self.cancels = 0
        self.rails = [TestSubscriber[int](request=each) for each in requests]
        Flowable.wrap(self.source).do_on_cancel(self.cancelled).parallel(len(requests)).subscribe(*self.rails)

    def cancelled(self) -> None:
        self.cancels += 1

    @property
    def came(self) -> list[int]:
        return sorted(item for rail in self.rails for item in rail.values)


def everywhere(
    make: Callable[[], Any],
    first: Callable[[Any], object],
    second: Callable[[Any], object],
    check: Callable[[Any], object],
    *,
    every: int = 1,
) -> None:
    """Interrupt ``first`` by ``second`` before each of its instructions, or one in ``every``, and the other way round."""
    for one, other in ((first, second), (second, first)):
        at, instructions = 0, 1
        while at <= instructions:
            race = make()
            instructions = interrupted(lambda: one(race), (at, lambda: other(race)), watch=WATCHED)  # noqa: B023  # called now
            check(race)
            at += every
        assert instructions > 10


# -- the source and the rails ----------------------------------------


def both_left(race: Race) -> None:
    assert race.cancels == 1


def leave(at: int) -> Callable[[Race], object]:
    return lambda race: race.rails[at].cancel()


def test_rails_that_leave_at_the_same_time_cancel_the_source_once() -> None:
    everywhere(lambda: Race(UNBOUNDED, UNBOUNDED), leave(0), leave(1), both_left)


def test_control_rails_that_look_whether_they_are_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    def looks(split: Split[Any], _rail: object) -> None:
        last = len(split.holders) == 1
        split.holders.pop()
        if last:
            split.cancel()

    def holds(self: Split[Any], rail: Rail[Any]) -> None:
        if rail.held:
            rail.held.clear()
            looks(self, rail)

    monkeypatch.setattr(Split, "leave", holds)
    with pytest.raises(AssertionError):
        everywhere_of_this_file(lambda: Race(UNBOUNDED, UNBOUNDED), leave(0), leave(1), both_left)


def everywhere_of_this_file(
    make: Callable[[], Any], first: Callable[[Any], object], second: Callable[[Any], object], check: Callable[[Any], object]
) -> None:
    """The same, where what is broken is written in this file."""
    WATCHED.append(__file__)
    try:
        everywhere(make, first, second, check)
    finally:
        WATCHED.remove(__file__)


def send(race: Race) -> None:
    race.source.next(1)


def ask_for_more(race: Race) -> None:
    race.rails[0].request(3)


def all_that_was_asked_for(race: Race) -> None:
    race.source.next(2, 3, 4)
    assert race.came == [1, 2, 3, 4]


def test_a_request_while_an_item_is_on_its_way_is_not_lost() -> None:
    everywhere(lambda: Race(1, 0), send, ask_for_more, all_that_was_asked_for)


def test_control_demand_that_any_thread_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    def request(rail: Rail[Any], n: int, /) -> None:
        rail.demand += n
        rail.op.drain()

    monkeypatch.setattr(Rail, "request", request)
    with pytest.raises(AssertionError):
        everywhere_of_this_file(lambda: Race(1, 0), send, ask_for_more, all_that_was_asked_for)


def each_to_one_rail(race: Race) -> None:
    race.source.next(2, 3)
    assert [item for item in race.came if item > 1] == [2, 3]
    assert race.came.count(1) <= 1
    assert race.rails[1].values[-2:] == [2, 3]
    race.rails[1].cancel()
    assert race.cancels == 1


def test_an_item_and_a_rail_that_leaves() -> None:
    everywhere(lambda: Race(UNBOUNDED, UNBOUNDED), send, leave(0), each_to_one_rail)


# -- the rails joined ----------------------------------------


class Joined:
    """Two rails, each on a clock of its own."""

    def __init__(self, ordered: bool, bad: tuple[int, ...] = (), request: int = UNBOUNDED) -> None:
        self.clocks = [VirtualScheduler(), VirtualScheduler()]
        self.got = TestSubscriber[int](request=request)
        rails = Flowable.range(4).parallel(2).run_on(Several(*self.clocks)).map(failing_at(*bad)).map(double)
        rails.sequential(ordered=ordered).subscribe(self.got)


class JoinedStreams(Joined):
    """The same, with a stream for each item."""

    def __init__(self, request: int = UNBOUNDED) -> None:
        self.clocks = [VirtualScheduler(), VirtualScheduler()]
        self.got = TestSubscriber[int](request=request)
        rails = Flowable.range(4).parallel(2).run_on(Several(*self.clocks)).flat_map(lambda item: Flowable.just(item).hide())
        rails.map(double).sequential(ordered=True).subscribe(self.got)


def run(at: int) -> Callable[[Joined], object]:
    return lambda race: race.clocks[at].run_due()


def settled(race: Joined) -> None:
    for clock in race.clocks:
        clock.run_due()


def in_order(race: Joined) -> None:
    settled(race)
    race.got.assert_result(0, 2, 4, 6)


def in_any_order(race: Joined) -> None:
    settled(race)
    race.got.assert_complete()
    assert sorted(race.got.values) == [0, 2, 4, 6]


def failed(race: Joined) -> None:
    settled(race)
    race.got.assert_error(ValueError)


def test_results_that_come_at_the_same_time_are_given_once() -> None:
    everywhere(lambda: Joined(False), run(0), run(1), in_any_order)


def test_results_that_come_at_the_same_time_are_given_in_order() -> None:
    everywhere(lambda: Joined(True), run(0), run(1), in_order)


def test_streams_of_items_that_come_at_the_same_time_are_given_in_order() -> None:
    everywhere(JoinedStreams, run(0), run(1), in_order, every=17)  # they have thousands


def test_a_request_and_results_at_the_same_time() -> None:
    def ask(race: Joined) -> None:
        race.got.request(4)

    everywhere(lambda: Joined(True, request=0), run(0), ask, in_order)


@pytest.mark.parametrize("ordered", [False, True])
def test_an_error_beside_results_ends_the_stream(ordered: bool) -> None:
    everywhere(lambda: Joined(ordered, (0,)), run(0), run(1), failed)


def test_control_an_error_that_is_told_before_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def on_error(entry: _OrderedInput, error: Exception, /) -> None:
        entry.op.failed = True
        QueuedInput.on_error(entry, error)

    monkeypatch.setattr(_OrderedInput, "on_error", on_error)
    with pytest.raises(AssertionError):
        everywhere_of_this_file(lambda: Joined(True, (0,)), run(0), run(1), failed)


# -- other processes ----------------------------------------


class Elsewhere:
    def __init__(self) -> None:
        self.hand = ByHand()
        self.source: ManualPublisher[int] = ManualPublisher()
        self.got = TestSubscriber[int]()
        Flowable.wrap(self.source).parallel(1).run_on(self.hand).map(double).sequential().subscribe(self.got)
        self.source.next(1, 2)


def answer(race: Elsewhere) -> None:
    race.hand.rails[0].answer()


def leave_all(race: Elsewhere) -> None:
    race.got.cancel()


def nothing_is_left(race: Elsewhere) -> None:
    assert race.got.values in ([], [2])
    assert race.hand.rails[0].closed
    assert race.source.cancelled
    before = list(race.got.values)
    race.hand.rails[0].answered(Answer([9], None, 1, 0.0))
    assert race.got.values == before


def complete(race: Elsewhere) -> None:
    race.source.complete()


def all_answered(race: Elsewhere) -> None:
    while race.hand.rails[0].sent:
        answer(race)
    race.got.assert_result(2, 4)


def test_an_answer_and_a_cancel() -> None:
    everywhere(Elsewhere, answer, leave_all, nothing_is_left)


def test_an_answer_and_the_end_of_the_source() -> None:
    everywhere(Elsewhere, answer, complete, all_answered)


def test_control_an_end_that_does_not_wait_for_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = RunElsewhere.take

    def forgetting(op: RunElsewhere[Any], told: Answer) -> None:
        taken(op, told)
        op.sent = 0

    monkeypatch.setattr(RunElsewhere, "take", forgetting)
    with pytest.raises(AssertionError):
        everywhere(Elsewhere, answer, complete, all_answered)

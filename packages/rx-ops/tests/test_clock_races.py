"""A clock and a source at the same time: one of the two acts completely between two instructions of the other, wherever that is.

Every place is tried, without chance. Each check has a control: the same with what decides the race taken out has to fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rx_core.gate
import rx_core.streams
import rx_ops.operators
from rx_core import UNBOUNDED
from rx_fusion._step_subscriber import StepSubscriber
from rx_ops import Flowable
from rx_ops.operators._lossy import Held
from rx_ops.operators._observe_on import ObserveOn
from rx_ops.operators._timeout import _InTime
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler
from rx_testing.racing import interrupted

WATCHED = [rx_core.streams.__path__[0], rx_core.gate.__file__, rx_ops.operators.__path__[0]]


class Race:
    """One operator over a source, the clock it looks at, and what came of it."""

    def __init__(self, build: Callable[[Race], Flowable[Any]], request: int | None = None) -> None:
        self.clock = VirtualScheduler()
        self.source: ManualPublisher[int] = ManualPublisher()
        self.dropped: list[int] = []
        self.got: TestSubscriber[int] = TestSubscriber() if request is None else TestSubscriber(request=request)
        build(self).subscribe(self.got)

    @property
    def flow(self) -> Flowable[int]:
        return Flowable.wrap(self.source)


def everywhere(
    make: Callable[[], Race], first: Callable[[Race], object], second: Callable[[Race], object], check: Callable[[Race], object]
) -> set[tuple[int, ...]]:
    """Interrupt ``first`` by ``second`` before each of its instructions, and the other way round. Gives what came each time."""
    outcomes: set[tuple[int, ...]] = set()
    for one, other in ((first, second), (second, first)):
        at, instructions = 0, 1
        while at <= instructions:
            race = make()
            instructions = interrupted(lambda: one(race), (at, lambda: other(race)), watch=WATCHED)  # noqa: B023  # called now
            check(race)
            outcomes.add(tuple(race.got.values))
            at += 1
        assert instructions > 10
    return outcomes


def send(item: int) -> Callable[[Race], object]:
    return lambda race: race.source.next(item)


def tick(race: Race) -> None:
    race.clock.advance_by(1.0)


def each_item_once(*items: int) -> Callable[[Race], object]:
    """After some more time and the end: everything was either given or dropped, in order."""

    def check(race: Race) -> None:
        race.clock.advance_by(0.5)
        race.source.complete()
        assert race.got.values == sorted(race.got.values)
        assert race.dropped == sorted(race.dropped)
        assert sorted(race.got.values + race.dropped) == list(items)
        race.got.assert_complete()

    return check


RATES: dict[str, Callable[[Race], Flowable[int]]] = {
    "debounce": lambda race: race.flow.debounce(1.0, scheduler=race.clock, on_drop=race.dropped.append),
    "debounce by a source": lambda race: race.flow.debounce(
        selector=lambda _x: Flowable.timer(1.0, scheduler=race.clock), on_drop=race.dropped.append
    ),
    "sample": lambda race: race.flow.sample(1.0, scheduler=race.clock, emit_last=True, on_drop=race.dropped.append),
    "sample by a source": lambda race: race.flow.sample(
        sampler=Flowable.interval(1.0, scheduler=race.clock), emit_last=True, on_drop=race.dropped.append
    ),
}


def with_one(build: Callable[[Race], Flowable[int]]) -> Callable[[], Race]:
    def make() -> Race:
        race = Race(build)
        race.source.next(1)
        return race

    return make


@pytest.mark.parametrize("name", RATES)
def test_an_item_that_is_replaced_when_it_is_due_is_given_or_dropped_and_not_both(name: str) -> None:
    outcomes = everywhere(with_one(RATES[name]), send(2), tick, each_item_once(1, 2))
    assert outcomes == {(1, 2), (2,)}


@pytest.mark.parametrize("name", RATES)
def test_control_an_item_that_stays_in_its_cell(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Held, "take", lambda held: held.cell[0])
    with pytest.raises(AssertionError):
        everywhere(with_one(RATES[name]), send(2), tick, each_item_once(1, 2))


def throttled(race: Race) -> Flowable[int]:
    return race.flow.throttle_latest(1.0, scheduler=race.clock, emit_last=True, on_drop=race.dropped.append)


def throttling() -> Race:
    """1 has passed, 2 waits for the end of the period."""
    race = Race(throttled)
    race.source.next(1)
    race.source.next(2)
    return race


def test_an_item_that_comes_at_the_end_of_a_period_is_not_forgotten() -> None:
    outcomes = everywhere(throttling, send(3), tick, each_item_once(1, 2, 3))
    assert outcomes == {(1, 2, 3), (1, 3)}


def test_control_periods_whose_items_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Held, "take", lambda held: held.cell[0])
    with pytest.raises(AssertionError):
        everywhere(throttling, send(3), tick, each_item_once(1, 2, 3))


# -- timeout ----------------------------------------


TIMEOUTS: dict[str, Callable[[Race], Flowable[int]]] = {
    "seconds": lambda race: race.flow.timeout(1.0, scheduler=race.clock),
    "a source": lambda race: race.flow.timeout(
        selector=lambda _x: Flowable.never(), first=Flowable.timer(1.0, scheduler=race.clock)
    ),
}


def nearly_late(name: str) -> Callable[[], Race]:
    def make() -> Race:
        race = Race(TIMEOUTS[name])
        race.clock.advance_to(0.9)
        return race

    return make


def too_late(race: Race) -> None:
    race.clock.advance_to(1.0)


def in_time_or_too_late(race: Race) -> None:
    if race.got.values:
        race.got.assert_values(1).assert_not_terminated()
        race.source.complete()
        race.got.assert_result(1)
    else:
        race.got.assert_failure(TimeoutError)
        assert race.source.cancelled
    assert race.clock.pending == 0


@pytest.mark.parametrize("name", TIMEOUTS)
def test_an_item_is_in_time_or_too_late_and_not_both(name: str) -> None:
    outcomes = everywhere(nearly_late(name), send(1), too_late, in_time_or_too_late)
    assert outcomes == {(), (1,)}


def test_control_an_item_and_its_limit_that_do_not_compete(monkeypatch: pytest.MonkeyPatch) -> None:
    class Both:
        def pop(self) -> bool:
            return True

    plain = _InTime.__init__

    def made(self: Any, operator: Any, of_one: bool = False) -> None:
        plain(self, operator, of_one)
        self.contested = Both()

    monkeypatch.setattr(_InTime, "__init__", made)
    with pytest.raises(AssertionError):
        everywhere(nearly_late("seconds"), send(1), too_late, in_time_or_too_late)


# -- observe_on and delay ----------------------------------------


def turn(race: Race) -> None:
    race.clock.run_due()


def cancel(race: Race) -> None:
    race.got.cancel()


def all_of_them(race: Race) -> None:
    race.clock.run_due()
    race.clock.advance_by(2.0)
    race.got.assert_values(1, 2)
    race.got.cancel()
    race.clock.run_due()
    assert race.clock.pending == 0


def given_up(race: Race) -> None:
    race.clock.run_due()
    assert race.source.cancelled
    assert race.clock.pending == 0
    assert race.got.values in ([], [1])
    race.got.assert_not_terminated()


MOVED: dict[str, Callable[[Race], Flowable[int]]] = {
    "observe_on": lambda race: race.flow.observe_on(race.clock),
    "observe_on, prefetch 2": lambda race: race.flow.observe_on(race.clock, prefetch=2),
    "delay": lambda race: race.flow.delay(0.0, scheduler=race.clock),
}


@pytest.mark.parametrize("name", MOVED)
def test_an_item_that_comes_while_the_worker_begins_or_ends_its_turn_is_delivered(name: str) -> None:
    assert everywhere(with_one(MOVED[name]), send(2), turn, all_of_them) == {(1, 2)}


def test_a_request_that_comes_while_the_worker_begins_or_ends_its_turn_is_answered() -> None:
    def make() -> Race:
        race = Race(MOVED["observe_on"], request=1)
        race.source.next(1, 2)
        return race

    assert everywhere(make, lambda race: race.got.request(1), turn, all_of_them) == {(1, 2)}


@pytest.mark.parametrize("name", MOVED)
def test_a_cancel_that_comes_while_the_worker_begins_or_ends_its_turn_leaves_nothing(name: str) -> None:
    assert everywhere(with_one(MOVED[name]), cancel, turn, given_up) == {(), (1,)}


def never_left_waiting(race: Race) -> None:
    """2 and 4 pass, 1 and 3 are dropped: of a window of four nothing is left then, so more has to have been requested."""
    race.clock.run_due()
    assert race.got.values == [2, 4]
    assert race.source.requested > 4


def filtering() -> Race:
    race = Race(lambda race: race.flow.hide().filter(lambda x: x % 2 == 0).observe_on(race.clock, prefetch=4))
    race.source.next(1, 2, 4)
    return race


def test_an_item_that_a_stage_drops_while_the_worker_takes_others_is_replaced() -> None:
    assert everywhere(filtering, send(3), turn, never_left_waiting) == {(2, 4)}


def test_control_items_that_are_dropped_and_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StepSubscriber, "tally", lambda _steps, _came, _mark: UNBOUNDED)
    with pytest.raises(AssertionError):
        everywhere(filtering, send(3), turn, never_left_waiting)


def test_control_a_turn_that_does_not_look_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: Any) -> None:
        try:
            demand = self.handed.pop()
        except IndexError:
            return
        self.turn_left = self.quantum
        self.dirty = False
        demand = self.look(demand)
        self.token.append(demand)

    monkeypatch.setattr(ObserveOn, "turn", forgetful)
    with pytest.raises(AssertionError):
        everywhere(with_one(MOVED["observe_on"]), send(2), turn, all_of_them)

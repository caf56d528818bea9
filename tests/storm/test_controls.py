"""The storms catch what they are there for: an operator with a fault fails them, the same one without it passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rx_testing
from rx_ops import Flowable
from rx_testing.racing import caught
from tests.storm import handmade, judging
from tests.storm.feeding import EACH
from tests.storm.handmade import MERGE_FAULTS, PREFETCH, SHARE_FAULTS, HandMadeMerge, HandMadeShare
from tests.storm.operators import Case
from tests.storm.running import Demand, Round, cancel, feed
from tests.storm.test_sharing import Shared, come_and_go, stay

pytestmark = pytest.mark.stress

WATCHED = (handmade.__file__, rx_testing.__path__[0])
#: How many rounds a fault has to show itself, and how long each waits for what does not come.
ATTEMPTS = 300
PATIENCE = 0.5


def merging(fault: str | None) -> Case:
    return Case("made by hand", lambda rx, sources: rx.wrap(HandMadeMerge(sources, fault)), window=PREFETCH)


def sharing(fault: str | None) -> Shared:
    return Shared("made by hand", lambda stream: Flowable.wrap(HandMadeShare(stream, fault)))


def rounds_of(check: Callable[[Round], object], patience: float) -> Callable[[int], None]:
    """Odd rounds stumble; every way to request in turn."""

    def one(number: int) -> None:
        demand = list(Demand)[number % 3]
        check(Round(2 * number, 2 + number % 4, demand, WATCHED if number % 2 else (), patience))

    return one


@pytest.mark.parametrize("fault", MERGE_FAULTS)
def test_a_faulty_merge_is_caught(fault: str) -> None:
    case = merging(fault)

    def both(how: Round) -> None:
        cancel(case, Flowable, how)
        feed(case, Flowable, how)

    assert caught(rounds_of(both, PATIENCE), ATTEMPTS)


def test_the_same_merge_without_a_fault_passes() -> None:
    case = merging(None)
    for number in range(12):
        rounds_of(lambda how: cancel(case, Flowable, how), 20.0)(number)
        rounds_of(lambda how: feed(case, Flowable, how), 20.0)(number)


@pytest.mark.parametrize("fault", SHARE_FAULTS)
def test_a_faulty_way_to_share_is_caught(fault: str) -> None:
    shared = sharing(fault)

    def both(number: int) -> None:
        watch = WATCHED if number % 2 else ()
        come_and_go(shared, watch, PATIENCE)
        stay(shared, watch, PATIENCE)

    assert caught(both, ATTEMPTS)


def test_the_same_way_to_share_without_a_fault_passes() -> None:
    shared = sharing(None)
    for number in range(8):
        come_and_go(shared, WATCHED if number % 2 else ())
        stay(shared, WATCHED if number % 2 else ())


# What is judged -------------------------------------------------------------------------------------------------------------


def items(*places: int, number: int = 0) -> list[Any]:
    return [(number, at) for at in places]


ALL = items(*range(EACH))


@pytest.mark.parametrize(
    ("judge", "values", "sources"),
    [
        (judging.everything, ALL[:-1], 1),
        (judging.everything, [*ALL, ALL[-1]], 1),
        (judging.everything, [ALL[1], ALL[0], *ALL[2:]], 1),
        (judging.everything, [*ALL, (1, 0)], 1),
        (judging.everything_in_turn, [*items(*range(12), number=1), *ALL], 2),
        (judging.of_the_first, [*ALL, (1, 0)], 2),
        (judging.of_the_first, ALL[:-1], 2),
        (judging.beginning_of_each, ALL[1:], 1),
        (judging.end_of_each, ALL[3:-1], 1),
        (judging.end_of_each, [*ALL[3:5], *ALL[6:]], 1),
        (judging.some_of_each, [ALL[0], ALL[0]], 1),
        (judging.some_and_the_last_of_each, ALL[:-1], 1),
        (judging.switched, [(1, 0), (0, 0), *items(*range(12), number=2)], 3),
        (judging.switched, [(0, 0), *items(*range(11), number=2)], 3),
        (judging.rows, [((0, at), (1, at)) for at in range(11)], 2),
        (judging.rows, [((0, at), (1, 0)) for at in range(12)], 2),
        (judging.latest_rows, [((0, 0), (1, 0)), ((0, 1), (1, 1)), ((0, 11), (1, 11))], 2),
        (judging.latest_rows, [((0, 11), (1, 10))], 2),
        (judging.latest_rows, [((0, 11), (1, 11)), ((0, 11), (1, 11))], 2),
        (judging.each_with_latest, [((0, at), (1, 5 - at)) for at in range(12)], 2),
        (judging.each_with_latest, [((0, at), (1, 5)) for at in range(11)], 2),
        (judging.answer(True), [False], 2),
        (judging.answer(True), [], 2),
    ],
)
def test_what_is_wrong_is_not_accepted(judge: judging.Judge, values: list[Any], sources: int) -> None:
    with pytest.raises(AssertionError):
        judge(values, sources, True)

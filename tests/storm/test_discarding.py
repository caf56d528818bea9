"""Each item that a source gave is delivered, dropped with ``on_drop``, taken by a function, or discarded: exactly once.

Threads feed the operators in front of ``do_on_discard``, and another one cancels at some moment, or a source fails. Every other
round is without fusion. ``RX_STRESS=20`` makes it twenty times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Final

import pytest

from rx_core.streams import QueuedInput
from rx_fusion import fusion_off
from rx_fusion._relay import Thrown
from rx_ops import Flowable
from rx_testing.racing import caught, race, rounds
from tests.storm.discarding import KEPT, Kept, run_of
from tests.storm.feeding import EACH, PATIENCE, stop_all
from tests.storm.running import WATCHED

pytestmark = pytest.mark.stress

EVERY: Final = pytest.mark.parametrize(
    ("case", "face"), [pytest.param(case, face, id=f"{case}, {face.__name__}") for case in KEPT for face in case.faces]
)


def storm(case: Kept, face: Any, number: int, *, fails: bool, patience: float = PATIENCE) -> None:
    few, many = case.sources
    at = len(case.name) + number
    run = run_of(case, face, few + at * 3 % (many - few + 1), (0, 1, 3)[at % 3], pieces=2 if fails else 1)
    begun = run.end.ended  # or earlier, when the stream has ended before
    if not fails:
        run.feeders[0].hooks.append(lambda place: begun.set() if place == at * 5 % EACH else None)

    def leave() -> None:
        try:
            if not begun.wait(patience if not fails else 0.05):  # what goes on after an error is left as well
                assert fails, "nothing was sent, and it did not end"
            run.end.cancel()
        finally:
            stop_all(run.feeders)

    with nullcontext() if number % 2 else fusion_off():
        run.flow.subscribe(run.end)
        race(*(feeder.feed for feeder in run.feeders), leave, watch=WATCHED if number % 4 > 1 else (), seconds=2 * PATIENCE)
    run.ledger.settle(case.shared, patience)


@EVERY
def test_each_item_is_accounted_for_when_the_stream_is_left(case: Kept, face: Any) -> None:
    for number in rounds(4):
        storm(case, face, number, fails=False)


@EVERY
def test_each_item_is_accounted_for_when_a_source_fails(case: Kept, face: Any) -> None:
    for number in rounds(4):
        storm(case, face, number, fails=True)


# -- and these storms catch what they are there for ------------------------------------------------------------------------------


def cleared(entry: QueuedInput[Any]) -> None:
    """What waits is forgotten without a word."""
    entry.queue.clear()


def told_twice(entry: QueuedInput[Any]) -> None:
    """What waits is told, and then taken out."""
    for item in list(entry.queue):
        entry.op.discard(item)
        entry.op.discard(item)
    entry.queue.clear()


def not_looked_at(_entry: QueuedInput[Any]) -> None:
    """An item that is put while the queue is closed stays there."""


def swallowed(_gone: Thrown, _item: object) -> None:
    """What comes when the subscriber has just left goes nowhere."""


FAULTS: Final[dict[str, tuple[type, str, Callable[..., None]]]] = {
    "cleared": (QueuedInput, "forget", cleared),
    "told twice": (QueuedInput, "forget", told_twice),
    "not looked at": (QueuedInput, "overrun", not_looked_at),
    "swallowed": (Thrown, "on_next", swallowed),
}


def check(number: int) -> None:
    case = next(case for case in KEPT if case.name == "merge")
    storm(case, Flowable, 4 * number + 2 + number % 2, fails=False, patience=0.3)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_caught(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, broken = FAULTS[fault]
    monkeypatch.setattr(owner, name, broken)
    assert caught(check, 600)


def test_without_a_fault_nothing_is_caught() -> None:
    assert not caught(check, 12)

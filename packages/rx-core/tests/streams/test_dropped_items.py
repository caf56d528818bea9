"""Items that a stage drops in front of an input with a window: they are replaced, whatever the operator takes meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

import rx_core.gate
import rx_core.streams
from rx_core.streams import Op, QueuedInput
from rx_testing import TestSubscriber
from rx_testing.racing import interrupted

WATCHED = [rx_core.streams.__path__[0], rx_core.gate.__file__]


class Idle(Op[Any]):
    def step(self, demand: int) -> int:
        return demand


class Source:
    """Counts what it is asked for."""

    def __init__(self) -> None:
        self.requested = 0

    def request(self, n: int, /) -> None:
        self.requested += n

    def cancel(self) -> None:
        pass


def listening(window: int) -> tuple[QueuedInput[Any], Source]:
    made: QueuedInput[Any] = QueuedInput(Idle(TestSubscriber()), window)
    source = Source()
    made.on_subscribe(source)
    return made, source


@pytest.mark.parametrize("window", [1, 2, 3, 4, 5, 16, 128])
@pytest.mark.parametrize("every", [1, 2, 3, 7, 1000])
def test_a_source_is_never_left_waiting_however_drops_and_takes_alternate(window: int, every: int) -> None:
    made, source = listening(window)
    for number in range(1, 10 * window):
        (made.dropped if number % every == 0 else made.took)()
        assert source.requested > number, "all that was asked for has come, and no more is asked for"
        assert source.requested - number <= window


@pytest.mark.parametrize("window", [1, 2, 3, 4, 5, 16, 128])
def test_no_request_goes_upstream_for_each_item_that_is_dropped_in_a_wide_window(window: int) -> None:
    made, source = listening(window)
    asked: list[int] = []
    source.request = asked.append  # type: ignore[method-assign]  # to see each request
    for _ in range(window):
        made.dropped()
    assert asked == [window // 4 + 1] * (window // (window // 4 + 1))


def drop_while_another_one_is_taken() -> None:
    """Before each instruction of ``took``. The next item, taken or dropped, makes it ask."""
    at, instructions = 0, 1
    while at <= instructions:
        made, source = listening(4)
        for _ in range(2):
            made.took()
        made.dropped()
        instructions = interrupted(made.took, (at, made.dropped), watch=WATCHED)
        assert source.requested == 4 + 3 + 2
        at += 1
    assert instructions > 5


def test_an_item_that_is_dropped_while_another_one_is_taken_is_counted() -> None:
    """A stage drops on the thread of the source, and the holder of the token takes: the two do not share a counter."""
    drop_while_another_one_is_taken()


def test_control_one_counter_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QueuedInput, "dropped", QueuedInput.took)
    with pytest.raises(AssertionError):
        drop_while_another_one_is_taken()

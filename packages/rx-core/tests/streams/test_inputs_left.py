"""Inputs that their operator has closed: what their source signals afterwards does no harm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import BufferWatch, hooks
from rx_core.streams import GatedInput, Input, MergedInput, Op, QueuedInput, RelayedInput, Trigger
from rx_testing import TestSubscriber


class Idle(Op[Any]):
    def __init__(self, down: Any) -> None:
        super().__init__(down, "idle")
        self.ready: list[Any] = []
        self.ended: list[Any] = []

    def step(self, demand: int) -> int:
        return demand


class Up:
    def __init__(self) -> None:
        self.cancelled = 0

    def request(self, _n: int, /) -> None:
        pass

    def cancel(self) -> None:
        self.cancelled += 1


KINDS: dict[str, Callable[[Op[Any]], Input[Any]]] = {
    "queued": lambda op: QueuedInput(op, 4),
    "merged": lambda op: MergedInput(op, 4),
    "relayed": RelayedInput,
    "gated": GatedInput,
    "trigger": Trigger,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("end", ["complete", "fail"])
def test_late_signals_are_dropped_and_a_late_error_is_reported(kind: str, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[Exception] = []
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: reported.append(error))
    got = TestSubscriber[Any]()
    operator = Idle(got)
    operator.start()
    listening = KINDS[kind](operator)
    up = Up()
    listening.on_subscribe(up)  # without the border between a foreign source and an input, which drops late signals itself
    listening.close()
    listening.close()
    assert up.cancelled == 1
    listening.on_next(1)
    error = OSError()
    if end == "complete":
        listening.on_complete()
    else:
        listening.on_error(error)
    got.assert_empty()
    assert reported == ([] if end == "complete" else [error])


def test_an_operator_may_raise_the_dirty_flag_of_one_that_is_gone() -> None:
    """So that an input that only publishes and looks whether the token is there need not ask whether it was closed."""
    listening: QueuedInput[Any] = QueuedInput(Idle(TestSubscriber()), 4)
    listening.close()
    listening.op.dirty = True
    assert not listening.op.token


def test_the_peak_that_an_operator_counted_is_reported_once() -> None:
    listening: QueuedInput[Any] = QueuedInput(Idle(TestSubscriber()), 4)
    listening.peak = 3
    with BufferWatch() as watch:
        listening.close()
        listening.close()
    assert watch.peaks == [3]

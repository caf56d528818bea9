"""An Op that a worker drains: what a subscriber or a source raises there has no caller that could see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from rx_core import WorkerInterruptedError, hooks
from rx_core.streams import Op
from rx_testing import TestSubscriber


class Told(Op[int]):
    """Emits what it is told, or runs a function first."""

    def __init__(self, down: Any, act: Callable[[], object] | None = None) -> None:
        super().__init__(down, "told")
        self.items: list[int] = []
        self.act = act

    def step(self, demand: int) -> int:
        while self.items:
            if self.act is not None:
                self.act()
            self.emit(self.items.pop(0))
        return demand


class OnWorker(Told):
    on_worker: ClassVar[bool] = True


class Failing(TestSubscriber[int]):
    def on_next(self, item: int, /) -> None:
        super().on_next(item)
        raise OSError("of the subscriber")


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Exception, object]]:
    errors: list[tuple[Exception, object]] = []
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_error", lambda error, origin, _late: errors.append((error, origin)))
    return errors


def test_what_a_subscriber_raises_in_an_action_of_a_worker_goes_to_the_error_hook(
    reported: list[tuple[Exception, object]],
) -> None:
    got = Failing()
    told = Told(got)
    told.start()
    told.items += [1, 2]
    told.drain_on_worker()
    assert got.values == [1]
    assert [(str(error), origin) for error, origin in reported] == [("of the subscriber", "told")]
    assert told.stopped  # RS 2.13


def test_anywhere_else_it_comes_back_to_the_caller(reported: list[tuple[Exception, object]]) -> None:
    told = Told(Failing())
    told.start()
    told.items.append(1)
    with pytest.raises(OSError, match="of the subscriber"):
        told.drain()
    assert not reported


def interrupt() -> None:
    raise KeyboardInterrupt


def test_an_interrupt_on_a_worker_ends_the_stream_also_on_the_main_thread() -> None:
    got = TestSubscriber[int]()
    told = OnWorker(got, interrupt)
    told.start()
    told.items.append(1)
    with pytest.raises(KeyboardInterrupt):
        told.drain_on_worker()
    got.assert_failure(WorkerInterruptedError)


def test_an_interrupt_of_the_main_thread_is_not_signalled() -> None:
    got = TestSubscriber[int]()
    told = Told(got, interrupt)
    told.start()
    told.items.append(1)
    with pytest.raises(KeyboardInterrupt):
        told.drain()
    got.assert_empty()

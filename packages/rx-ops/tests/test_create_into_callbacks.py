"""create behind an operator that passes items on: the emitter calls the user's function itself, and keeps its promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import CallbackObserver
from rx_ops import BackpressureStrategy, Emitter, Flowable
from rx_ops.operators import _emitter
from rx_testing import TestSubscriber

BEHIND: dict[str, Callable[[Flowable[Any]], Flowable[Any]]] = {
    "concat": lambda flow: Flowable.concat(Flowable.empty(), flow),
    "start_with": lambda flow: flow.start_with(0).skip(1),
    "start_with, bare": lambda flow: Flowable.concat(flow, Flowable.empty()),
    "retry": lambda flow: flow.retry(0),
    "repeat": lambda flow: flow.repeat(1),
    "on_error_resume_next": lambda flow: flow.on_error_resume_next(Flowable.error),
}
EACH = pytest.mark.parametrize("behind", BEHIND.values(), ids=list(BEHIND))


class Boom(Exception):
    pass


def created(source: Callable[[Emitter[Any]], object]) -> Flowable[Any]:
    return Flowable.create(source, BackpressureStrategy.BUFFER)


def told(flow: Flowable[Any]) -> list[Any]:
    heard: list[Any] = []
    flow.subscribe(heard.append, lambda error: heard.append(repr(error)), lambda: heard.append("complete"))
    return heard


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The emitters that call a function themselves."""
    found: list[object] = []
    real = _emitter._FunctionEmitter.__init__

    def noted(emitter: Any, *args: Any) -> None:
        found.append(emitter)
        real(emitter, *args)

    monkeypatch.setattr(_emitter._FunctionEmitter, "__init__", noted)
    return found


@pytest.mark.parametrize("name", ["concat", "retry", "repeat"])
def test_the_emitter_calls_the_function(name: str, made: list[object]) -> None:
    def source(emitter: Emitter[Any]) -> None:
        emitter.on_next(1)
        emitter.on_complete()

    flow = BEHIND[name](created(source))
    assert told(flow) == [1, "complete"]
    assert len(made) == 1
    got: TestSubscriber[int] = TestSubscriber()
    flow.subscribe(got)
    got.assert_result(1)
    assert len(made) == 1


@EACH
def test_items_and_the_end_come_and_nothing_after_it(behind: Callable[..., Flowable[Any]]) -> None:
    def source(emitter: Emitter[Any]) -> None:
        emitter.on_next(1)
        emitter.on_next(2)
        emitter.on_complete()
        emitter.on_next(3)
        assert emitter.is_cancelled

    assert told(behind(created(source))) == [1, 2, "complete"]


@EACH
def test_none_is_an_error_of_the_stream(behind: Callable[..., Flowable[Any]]) -> None:
    def source(emitter: Emitter[Any]) -> None:
        emitter.on_next(1)
        emitter.on_next(None)
        emitter.on_next(2)

    first, error = told(behind(created(source)))
    assert first == 1
    assert error.startswith("TypeError")


@EACH
def test_a_function_that_fails_cancels_and_on_error_hears_of_it_once(behind: Callable[..., Flowable[Any]]) -> None:
    log: list[Any] = []

    def source(emitter: Emitter[Any]) -> None:
        emitter.set_cancellable(lambda: log.append("cleanup"))
        emitter.on_next(1)
        log.append(emitter.is_cancelled)
        emitter.on_next(2)

    def fails(item: int) -> None:
        log.append(item)
        raise Boom

    behind(created(source)).subscribe(fails, lambda error: log.append(type(error)))
    assert log == [1, "cleanup", Boom, True]


@EACH
def test_who_disposes_in_the_function_gets_no_further_item(behind: Callable[..., Flowable[Any]]) -> None:
    log: list[Any] = []

    def source(emitter: Emitter[Any]) -> None:
        emitter.set_cancellable(lambda: log.append("cleanup"))
        emitter.on_next(1)
        emitter.on_next(2)
        emitter.on_complete()

    def leaves(item: int) -> None:
        log.append(item)
        observer.dispose()

    flow = behind(created(source))
    observer: CallbackObserver[int] = CallbackObserver(flow, leaves, None, lambda: log.append("complete"))
    flow.subscribe_actual(observer)
    assert log == [1, "cleanup"]


@EACH
def test_an_interrupt_in_the_function_leaves_the_source(behind: Callable[..., Flowable[Any]]) -> None:
    log: list[str] = []

    def source(emitter: Emitter[Any]) -> None:
        emitter.set_cancellable(lambda: log.append("cleanup"))
        emitter.on_next(1)
        log.append("never")

    def interrupts(_item: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        behind(created(source)).subscribe(interrupts)
    assert log == ["cleanup"]


def test_each_round_of_a_repeated_source_has_an_emitter_that_ends_with_it() -> None:
    kept: list[Emitter[Any]] = []

    def source(emitter: Emitter[Any]) -> None:
        kept.append(emitter)
        emitter.on_next(len(kept))
        for old in kept[:-1]:
            old.on_next(99)
        emitter.on_complete()

    assert told(created(source).repeat(3)) == [1, 2, 3, "complete"]

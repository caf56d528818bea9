"""create in front of stages whose subscriber wants everything: what is sent goes into their function without a call between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import hooks
from rx_ops import Emitter, Flowable, Single

Build = Callable[[Flowable[Any]], Flowable[Any] | Single[Any]]

STAGES: dict[str, Build] = {
    "map": lambda flow: flow.map(lambda item: item + 1),
    "filter": lambda flow: flow.filter(lambda item: item % 2 == 0),
    "scan": lambda flow: flow.scan(lambda one, other: one + other),
    "take": lambda flow: flow.take(2),
    "buffer": lambda flow: flow.buffer(2),
    "to_list": lambda flow: flow.to_list(),
    "filter.buffer": lambda flow: flow.filter(lambda item: item % 2 == 0).buffer(2),
    "map.reduce": lambda flow: flow.map(lambda item: item + 1).reduce(lambda one, other: one + other).to_flowable(),
}
EACH = pytest.mark.parametrize("build", STAGES.values(), ids=list(STAGES))


def run(build: Build, emit: Callable[[Emitter[Any]], object]) -> list[Any]:
    """What arrives: items, then the error or "end"."""
    got: list[Any] = []
    made = build(Flowable.create(emit))
    if isinstance(made, Single):
        made.subscribe(got.append, on_error=got.append)
    else:
        made.subscribe(got.append, on_error=got.append, on_complete=lambda: got.append("end"))
    return got


@EACH
def test_it_is_what_the_same_items_give_at_hand(build: Build) -> None:
    def emit(emitter: Emitter[int]) -> None:
        for item in range(5):
            emitter.on_next(item)
        emitter.on_complete()

    at_hand: list[Any] = []
    made = build(Flowable.range(5))
    if isinstance(made, Single):
        made.subscribe(at_hand.append)
    else:
        made.subscribe(at_hand.append, on_complete=lambda: at_hand.append("end"))
    assert run(build, emit) == at_hand


@EACH
@pytest.mark.parametrize("end", ["complete", "error"])
def test_what_is_sent_after_the_end_reaches_no_stage(build: Build, end: str) -> None:
    def emit(emitter: Emitter[int]) -> None:
        kept = emitter.on_next
        for item in range(4):
            kept(item)
        if end == "complete":
            emitter.on_complete()
        else:
            emitter.on_error(LookupError())
        before.extend(got)
        kept(7)
        emitter.on_next(8)
        kept(None)  # type: ignore[arg-type]  # a mistake, after the end

    before: list[Any] = []
    got: list[Any] = []
    made = build(Flowable.create(emit))
    if isinstance(made, Single):
        made.subscribe(got.append, on_error=lambda error: got.append(type(error)))
    else:
        made.subscribe(got.append, on_error=lambda error: got.append(type(error)), on_complete=lambda: got.append("end"))
    assert got == before
    assert got


@EACH
def test_none_is_the_error_of_the_stream(build: Build) -> None:
    def emit(emitter: Emitter[Any]) -> None:
        emitter.on_next(None)
        assert emitter.is_cancelled
        emitter.on_next(1)

    (error,) = run(build, emit)
    assert isinstance(error, TypeError)
    assert "create" in str(error)


def test_a_callback_that_raises_cancels_and_is_told_to_on_error() -> None:
    left: list[bool] = []

    def emit(emitter: Emitter[int]) -> None:
        for item in range(5):
            emitter.on_next(item)
            left.append(emitter.is_cancelled)

    def refuse(item: int) -> None:
        if item == 2:
            raise LookupError(item)

    errors: list[Exception] = []
    Flowable.create(emit).map(lambda item: item).subscribe(refuse, on_error=errors.append)
    assert left == [False, False, True, True, True]
    assert [type(error) for error in errors] == [LookupError]


def test_an_exit_in_a_callback_leaves_the_emitter_and_cancels() -> None:
    seen: list[object] = []

    def emit(emitter: Emitter[int]) -> None:
        try:
            emitter.on_next(1)
        finally:
            seen.append(emitter.is_cancelled)

    def leave(_item: int) -> None:
        raise SystemExit

    with pytest.raises(SystemExit):
        Flowable.create(emit).map(lambda item: item).subscribe(leave)
    assert seen == [True]


def test_a_stage_that_fails_ends_the_stream_once(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: dropped.append(error))

    def refuse(_item: int) -> int:
        raise LookupError

    def emit(emitter: Emitter[int]) -> None:
        emitter.on_next(1)
        emitter.on_next(2)
        emitter.on_complete()

    got = run(lambda flow: flow.map(refuse), emit)
    assert [type(error) for error in got] == [LookupError]
    assert dropped == []

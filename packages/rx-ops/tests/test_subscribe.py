"""subscribe() as people write it: positionally, by name, with one callback, with none."""

from __future__ import annotations

from typing import Any, Final

import pytest
from ops_parties import errors_of_the_hook

from rx_ops import Completable, Flowable, Maybe, Observable, Single

OOPS: Final = ValueError("oops")

TWO: Final[dict[str, Any]] = {"Flowable": Flowable.of(1, 2), "Observable": Observable.of(1, 2)}
ONE: Final[dict[str, Any]] = {"Single": Single.just(1), "Maybe": Maybe.just(1)}
FAILING: Final[dict[str, Any]] = {kind.__name__: kind.error(OOPS) for kind in (Flowable, Observable, Single, Maybe, Completable)}


@pytest.mark.parametrize("kind", TWO)
def test_callbacks_are_taken_in_the_order_of_the_signals(kind: str) -> None:
    got: list[object] = []
    TWO[kind].subscribe(got.append, got.append, lambda: got.append("end"))
    FAILING[kind].subscribe(got.append, got.append, lambda: got.append("end"))
    assert got == [1, 2, "end", OOPS]


@pytest.mark.parametrize("kind", TWO)
def test_callbacks_have_names(kind: str) -> None:
    got: list[object] = []
    TWO[kind].subscribe(on_next=got.append, on_error=got.append, on_complete=lambda: got.append("end"))
    TWO[kind].subscribe(on_complete=lambda: got.append("the end alone"))
    FAILING[kind].subscribe(on_error=got.append)
    assert got == [1, 2, "end", "the end alone", OOPS]


def test_callbacks_of_types_with_one_signal() -> None:
    got: list[object] = []
    for stream in ONE.values():
        stream.subscribe(got.append, got.append)
        stream.subscribe(on_success=got.append)
    for kind in ("Single", "Maybe", "Completable"):
        FAILING[kind].subscribe(on_error=got.append)
    Maybe.empty().subscribe(got.append, got.append, lambda: got.append("nothing"))
    Completable.complete().subscribe(lambda: got.append("end"), got.append)
    Completable.complete().subscribe(on_complete=lambda: got.append("end"))
    assert got == [1, 1, 1, 1, OOPS, OOPS, OOPS, "nothing", "end", "end"]


@pytest.mark.parametrize("stream", [*TWO.values(), *ONE.values()], ids=[*TWO, *ONE])
@pytest.mark.parametrize("fused", [True, False], ids=["fused", "hidden"])
def test_without_callbacks_a_stream_runs_for_its_side_effects(stream: Any, fused: bool) -> None:
    seen: list[int] = []

    def look(item: int) -> int:
        seen.append(item)
        return item

    handle = (stream if fused else stream.hide()).map(look).subscribe()
    assert seen in ([1], [1, 2])
    handle.dispose()


def test_a_completable_without_callbacks_runs_its_action() -> None:
    ran: list[str] = []
    Completable.from_action(lambda: ran.append("ran")).subscribe()
    assert ran == ["ran"]


@pytest.mark.parametrize("kind", FAILING)
def test_an_error_without_a_callback_reaches_the_hook_once(kind: str) -> None:
    with errors_of_the_hook() as lost:
        FAILING[kind].subscribe()
    assert lost == [OOPS]


@pytest.mark.parametrize("stream", [*TWO.values(), *ONE.values(), Completable.complete()])
def test_none_is_no_subscriber(stream: Any) -> None:
    with pytest.raises(TypeError, match=r"subscribe\(None\): a subscriber or a function is needed \(RS 1\.9\)"):
        stream.subscribe(None)
    with pytest.raises(TypeError, match="on_error must be a function"):
        stream.subscribe(on_error=3)

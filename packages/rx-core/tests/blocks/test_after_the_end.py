"""After its own end a source is neither asked nor cancelled (RS 2.3, 2.4), also while something still waits for downstream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core.blocks import (
    DeferredScalarSubscriber,
    EmittedRequestDrain,
    MultiPostComplete,
    SerializedSubscriber,
    SinglePostComplete,
    StableRequestDrain,
    StrictSubscriber,
)

from .racing import Probe, Upstream


class Single(SinglePostComplete[Any, Any]):
    def on_complete(self) -> None:
        self.complete("end")


class Multi(MultiPostComplete[Any, Any]):
    def on_complete(self) -> None:
        self.complete(("end", "end"))


class Scalar(DeferredScalarSubscriber[Any, Any]):
    def on_next(self, item: Any, /) -> None:
        self.value = item


KINDS: dict[str, Callable[[Probe], Any]] = {
    "single post-complete": Single,
    "multi post-complete": Multi,
    "stable request drain": lambda end: StableRequestDrain[Any, Any](end, 4),
    "emitted request drain": lambda end: EmittedRequestDrain[Any, Any](end, 4),
    "deferred scalar": Scalar,
    "serialized": SerializedSubscriber,
    "strict": StrictSubscriber,
}


def ended(kind: str, request: int, items: int, error: Exception | None) -> tuple[Any, Probe, Upstream]:
    """A block whose source has sent ``items`` and its end, and what the source was told until then."""
    end, upstream = Probe(request), Upstream()
    block = KINDS[kind](end)
    block.on_subscribe(upstream)
    for number in range(items):
        block.on_next(number)
    if error is None:
        block.on_complete()
    else:
        block.on_error(error)
    upstream.requests.clear()
    upstream.cancels = 0
    return block, end, upstream


@pytest.mark.parametrize("error", [None, ValueError("a")])
@pytest.mark.parametrize("request_first", [True, False])
@pytest.mark.parametrize("items", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_a_source_that_has_ended_is_left_alone(kind: str, items: int, request_first: bool, error: Exception | None) -> None:
    block, end, upstream = ended(kind, items, items, error)
    if request_first:
        block.request(1)
    block.cancel()
    block.request(1)
    assert (upstream.requests, upstream.cancels) == ([], 0)
    end.assert_serial()


@pytest.mark.parametrize("kind", ["stable request drain", "emitted request drain"])
def test_elements_that_wait_are_taken_without_asking_for_more(kind: str) -> None:
    block, end, upstream = ended(kind, 0, 4, None)
    block.request(10)
    assert (end.values, end.completions) == ([0, 1, 2, 3], 1)
    assert (upstream.requests, upstream.cancels) == ([], 0)


@pytest.mark.parametrize("kind", ["single post-complete", "multi post-complete"])
def test_a_request_made_inside_the_rest_is_not_passed_on(kind: str) -> None:
    block, end, upstream = ended(kind, 0, 0, None)
    end.on_value = lambda _: block.request(1)
    block.request(1)
    assert (set(end.values), end.completions) == ({"end"}, 1)
    assert upstream.requests == []


@pytest.mark.parametrize("kind", ["serialized", "strict"])
def test_a_source_whose_end_waits_behind_an_element_is_left_alone(kind: str) -> None:
    end, upstream = Probe(2), Upstream()
    block = KINDS[kind](end)
    block.on_subscribe(upstream)

    def inside(_: object) -> None:
        block.on_complete()
        block.request(5)
        block.cancel()

    end.on_value = inside
    block.on_next(1)
    assert (upstream.requests, upstream.cancels) == ([2], 0)


@pytest.mark.parametrize("kind", ["stable request drain", "deferred scalar", "single post-complete", "serialized"])
def test_a_source_that_runs_is_cancelled(kind: str) -> None:
    end, upstream = Probe(), Upstream()
    block = KINDS[kind](end)
    block.on_subscribe(upstream)
    block.cancel()
    assert upstream.cancels == 1

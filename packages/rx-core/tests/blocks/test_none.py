"""None is nobody's signal: every block that is a subscriber says so to who signals it, and ends its stream (RS 2.13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core.blocks import (
    DeferredScalarSubscriber,
    EmittedRequestDrain,
    MultiPostComplete,
    SerializedObserver,
    SerializedSubscriber,
    SinglePostComplete,
    StableRequestDrain,
    StrictSubscriber,
)

from .racing import Probe, Upstream


class Last(SinglePostComplete[Any, Any]):
    def on_complete(self) -> None:
        self.complete("last")


class Rest(MultiPostComplete[Any, Any]):
    def on_complete(self) -> None:
        self.complete(["last"])


SUBSCRIBERS: dict[str, Callable[[Any], Any]] = {
    "stable": lambda end: StableRequestDrain(end, 4),
    "emitted": lambda end: EmittedRequestDrain(end, 4),
    "delayed": lambda end: StableRequestDrain(end, 4, errors="delayed"),
    "single post-complete": Last,
    "multi post-complete": Rest,
    "deferred scalar": DeferredScalarSubscriber,
    "strict": StrictSubscriber,
}

#: These are also what sources of an operator share, so a None does not end them; it is refused all the same.
SERIALIZED: dict[str, Callable[[Any], Any]] = {"subscriber": SerializedSubscriber, "observer": SerializedObserver}


@pytest.mark.parametrize("kind", SUBSCRIBERS.values(), ids=list(SUBSCRIBERS))
@pytest.mark.parametrize("signal", ["on_next", "on_error"])
def test_none_is_raised_at_the_caller_and_ends_the_stream(kind: Any, signal: str, reported: list[Exception]) -> None:
    end, upstream = Probe(), Upstream()
    block = kind(end)
    block.on_subscribe(upstream)
    with pytest.raises(TypeError) as caught:
        getattr(block, signal)(None)
    assert (upstream.cancels, end.errors, end.completions) == (1, [caught.value], 0)
    block.on_error(caught.value)  # what a publisher does with an exception
    assert (end.errors, reported) == ([caught.value], [])


@pytest.mark.parametrize("kind", SUBSCRIBERS.values(), ids=list(SUBSCRIBERS))
@pytest.mark.parametrize("signal", ["on_next", "on_error"])
def test_none_after_the_end_is_raised_and_nothing_else(kind: Any, signal: str, reported: list[Exception]) -> None:
    end = Probe()
    block = kind(end)
    block.on_subscribe(Upstream())
    block.on_error(OSError("oops"))
    with pytest.raises(TypeError):
        getattr(block, signal)(None)
    assert ([str(error) for error in end.errors], reported) == (["oops"], [])


@pytest.mark.parametrize("kind", [*SUBSCRIBERS.values(), *SERIALIZED.values()], ids=[*SUBSCRIBERS, *SERIALIZED])
def test_none_is_no_subscription(kind: Any) -> None:
    with pytest.raises(TypeError):
        kind(Probe()).on_subscribe(None)


@pytest.mark.parametrize("kind", SERIALIZED.values(), ids=list(SERIALIZED))
@pytest.mark.parametrize("signal", ["on_next", "on_error"])
def test_none_is_not_serialized(kind: Any, signal: str) -> None:
    end = Probe(request=0)  # an observer's has nothing to request
    block = kind(end)
    block.on_subscribe(Upstream())
    with pytest.raises(TypeError):
        getattr(block, signal)(None)
    block.on_next(1)
    assert (end.values, end.errors) == ([1], [])

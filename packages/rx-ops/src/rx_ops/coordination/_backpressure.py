"""Operators between a source that cannot be asked and a consumer that is slower."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final, TypeVar

from rx_core import Items, PolicyInbox, Run, Source
from rx_fusion import operator

T = TypeVar("T")


class BackpressureStrategy(Enum):
    """What ``create`` does with an element that nobody has requested."""

    #: Let it wait; without a capacity the buffer grows with the difference in speed.
    BUFFER = "buffer"
    #: End the stream with MissingBackpressureError.
    ERROR = "error"
    #: Drop it.
    DROP = "drop"
    #: Keep only the newest.
    LATEST = "latest"
    #: Send it on although nobody asked: the subscriber has to cope. For a following on_backpressure_* operator.
    MISSING = "missing"

    def bound(self, capacity: int | None) -> str:
        """What may wait, in words for a plan."""
        if self is BackpressureStrategy.BUFFER:
            return "without bound" if capacity is None else f"{capacity} items"
        if self is BackpressureStrategy.MISSING:
            return "none"
        return "what is requested" + (", and one more" if self is BackpressureStrategy.LATEST else "")


class OverflowStrategy(Enum):
    """What ``on_backpressure_buffer`` does when its buffer is full."""

    ERROR = "error"
    DROP_OLDEST = "drop_oldest"
    DROP_LATEST = "drop_latest"


Policy = Callable[[PolicyInbox[Any], Any], None]

POLICIES: Final[dict[BackpressureStrategy, Policy]] = {
    BackpressureStrategy.BUFFER: PolicyInbox.keep,
    BackpressureStrategy.ERROR: PolicyInbox.error,
    BackpressureStrategy.DROP: PolicyInbox.drop,
    BackpressureStrategy.LATEST: PolicyInbox.latest,
}

OVERFLOWS: Final[dict[OverflowStrategy, Policy]] = {
    OverflowStrategy.ERROR: PolicyInbox.keep,
    OverflowStrategy.DROP_OLDEST: PolicyInbox.keep_newest,
    OverflowStrategy.DROP_LATEST: PolicyInbox.keep_oldest,
}


def _buffered(run: Run, source: Source[T], inbox: PolicyInbox[T]) -> Items[T]:
    run.own(inbox)
    inbox.subscribe_later(source.publisher)
    return inbox.stream()


@operator(eager="none", pushes=True)
def on_backpressure_buffer(
    run: Run,
    source: Source[T],
    capacity: int,
    on_drop: Callable[[T], object] | None,
    overflow: OverflowStrategy,
    delay_error: bool,
) -> Items[T]:
    inbox = PolicyInbox(run, OVERFLOWS[overflow], capacity=capacity, on_drop=on_drop, eager_error=not delay_error)
    return _buffered(run, source, inbox)


@operator(eager="none", pushes=True)
def on_backpressure_drop(run: Run, source: Source[T], on_drop: Callable[[T], object] | None) -> Items[T]:
    return _buffered(run, source, PolicyInbox(run, PolicyInbox.drop, on_drop=on_drop))


@operator(eager="none", pushes=True)
def on_backpressure_latest(run: Run, source: Source[T], on_drop: Callable[[T], object] | None) -> Items[T]:
    return _buffered(run, source, PolicyInbox(run, PolicyInbox.latest, on_drop=on_drop))

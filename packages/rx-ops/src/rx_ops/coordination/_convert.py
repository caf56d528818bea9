"""From a source that cannot be asked to one that can."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rx_core import Items, PolicyInbox, Run, Source
from rx_fusion import operator
from rx_ops.coordination._backpressure import POLICIES, BackpressureStrategy, _buffered

T = TypeVar("T")


@operator(eager="none")
def to_flowable(
    run: Run,
    source: Source[T],
    strategy: BackpressureStrategy,
    capacity: int,
    on_drop: Callable[[T], object] | None,
) -> Items[T]:
    return _buffered(run, source, PolicyInbox(run, POLICIES[strategy], capacity=capacity, on_drop=on_drop))

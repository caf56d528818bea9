"""What an Observable sends waits, or is lost, where it becomes a Flowable: demand counts from there on, whatever follows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from rx_fusion import fusion_off
from rx_ops import BackpressureStrategy, Flowable, PublishSubject
from rx_testing import TestSubscriber

Source = PublishSubject[int]
FLOWABLES: dict[str, Callable[[Source], Flowable[int]]] = {
    "buffer": lambda source: source.to_flowable(BackpressureStrategy.BUFFER),
    "latest": lambda source: source.to_flowable(BackpressureStrategy.LATEST),
    "drop": lambda source: source.to_flowable(BackpressureStrategy.DROP),
    # An Observable is no Publisher, so mypy refuses what works all the same.
    "merge": lambda source: Flowable.merge(source, Flowable.never()),  # type: ignore[call-overload]  # see above
    "flat_map": lambda source: Flowable.just(1).flat_map(lambda _item: source),  # type: ignore[arg-type, return-value]  # as above
}
STAGES: dict[str, Callable[[Flowable[int]], Flowable[Any]]] = {
    "take": lambda flow: flow.take(5),
    "map, take": lambda flow: flow.map(abs).take(5),
    "take, flat_map_iterable": lambda flow: flow.take(5).flat_map_iterable(lambda item: (item,)),
    "skip, take": lambda flow: flow.skip(0).take(5),
}


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "unfused"])
@pytest.mark.parametrize("stages", STAGES.values(), ids=STAGES)
@pytest.mark.parametrize("make", FLOWABLES.values(), ids=FLOWABLES)
def test_no_more_comes_than_was_requested(make: Callable[[Source], Flowable[int]], stages: Any, fused: bool) -> None:
    source = PublishSubject[int]()
    subscriber = TestSubscriber[int](request=1)
    with nullcontext() if fused else fusion_off():
        stages(make(source)).subscribe(subscriber)
    for number in range(4):
        source.on_next(number)
    assert subscriber.values == [0]
    subscriber.assert_not_terminated()

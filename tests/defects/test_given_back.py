"""What is over is given back: sources are left, resources released; and a source that has ended by itself hears nothing more."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

from rx_ops import Flowable, PublishProcessor
from rx_testing import ManualPublisher, ManualSubscription, VirtualScheduler
from tests.conformance.harness import dropped_errors
from tests.defects.watching import COMPLETE, ERROR, signals, watch

Flow = Flowable[Any]


def test_a_resource_is_released_with_its_source_although_an_inner_source_is_open() -> None:
    released = []
    flow = Flowable.using(lambda: 1, Flowable.just, lambda _resource: released.append("released"))
    assert signals(flow.concat_map(lambda _item: Flowable.never())) == []
    assert released == ["released"]


def test_first_element_leaves_its_source_with_the_item() -> None:
    processor = PublishProcessor[int]()
    first = processor.merge_with(Flowable.never()).first_element()
    watch(first.flat_map_publisher(lambda _item: Flowable.never()))
    processor.on_next(1)
    assert not processor.has_subscribers


# A source that ended by itself is not cancelled. RS 2.3


class _CancelledLate:
    """A source of another library, and whether it was cancelled inside its own end or after it."""

    def __init__(self) -> None:
        self.publisher = ManualPublisher[int](unchecked=True, on_cancel=self.cancel)
        self.over = self.cancelled = False

    def cancel(self, _subscription: ManualSubscription[int]) -> None:
        self.cancelled |= self.over

    def end(self, error: Exception | None) -> None:
        self.over = True
        self.publisher.complete() if error is None else self.publisher.error(error)


WINDOWS: dict[str, Callable[[Flow, VirtualScheduler], Flow]] = {
    "count": lambda flow, clock: flow.window(3),
    "overlapping": lambda flow, clock: flow.window(3, 1),
    "gaps": lambda flow, clock: flow.window(1, 3),
    "seconds": lambda flow, clock: flow.window(seconds=1.0, scheduler=clock),
    "seconds and count": lambda flow, clock: flow.window(seconds=1.0, count=3, scheduler=clock),
    "restart": lambda flow, clock: flow.window(seconds=1.0, count=3, restart=True, scheduler=clock),
    "every": lambda flow, clock: flow.window(seconds=1.0, every=0.5, scheduler=clock),
    "boundary": lambda flow, clock: flow.window(boundary=Flowable.never()),
    "closing": lambda flow, clock: flow.window(closing=Flowable.never),
    "opening": lambda flow, clock: flow.window(opening=Flowable.never(), closing=lambda _opening: Flowable.never()),
}


@pytest.mark.parametrize("error", [None, ERROR], ids=["completes", "fails"])
@pytest.mark.parametrize("name", WINDOWS)
def test_a_windowed_source_that_ends_is_not_cancelled(name: str, error: Exception | None, clock: VirtualScheduler) -> None:
    source = _CancelledLate()
    windows = WINDOWS[name](Flowable.wrap(source.publisher), clock)
    log = watch(windows.flat_map(lambda window: window.to_list()))
    source.publisher.next(1)
    source.end(error)
    assert log.signals[-1] == (error or COMPLETE)
    assert not source.cancelled


def test_disposing_a_subscription_in_its_own_end_does_not_cancel_the_source() -> None:
    source, ended = _CancelledLate(), []

    def end() -> None:
        ended.append(True)
        disposable.dispose()

    disposable = Flowable.wrap(source.publisher).subscribe(lambda _item: None, on_complete=end)
    source.end(None)
    assert ended
    assert not source.cancelled


# A stream to which nothing refers any more goes silently

COLLECTED: dict[str, Callable[[Flow], Flow]] = {
    "groups": lambda flow: flow.group_by(lambda item: item % 2).flat_map(lambda group: group),
    "windows": lambda flow: flow.window(3).flat_map(lambda window: window.to_list()),
    "open window": lambda flow: (
        Flowable.range(10).window(3).concat_map(lambda window: window.concat_map(lambda _item: Flowable.never()))
    ),
}
REPORTED: dict[str, Callable[[Flow], Flow]] = {
    "stalled group": lambda flow: flow.group_by(lambda item: item % 2).flat_map(
        lambda group: group.concat_map(lambda _item: Flowable.never()) if group.key else group
    ),
    "open group": lambda flow: (
        Flowable.range(10)
        .group_by(lambda item: item % 2)
        .concat_map(lambda group: group.concat_map(lambda _item: Flowable.never()))
    ),
}


@pytest.mark.parametrize("name", COLLECTED)
def test_a_stream_that_is_garbage_collected_reports_nothing(name: str) -> None:
    check_that_nothing_is_reported(COLLECTED[name])


@pytest.mark.parametrize("name", REPORTED)
def test_a_stream_with_a_waiting_group_that_is_garbage_collected_reports_nothing(name: str) -> None:
    check_that_nothing_is_reported(REPORTED[name])


def check_that_nothing_is_reported(make: Callable[[Flow], Flow]) -> None:
    with dropped_errors() as dropped:
        processor = PublishProcessor[int]()
        log = watch(make(processor))
        for item in range(3):
            processor.on_next(item)
        del processor, log
        gc.collect()
    assert dropped == []

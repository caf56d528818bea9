"""The endings of a stream that are no subscribers of their own: callbacks of all five types, and consumers that block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import trio

import rx_trio
from rx_core import Disposable
from rx_ops import Flowable
from rx_testing import RecordingPublisher, TestSubscriber
from tests.conformance.harness import Flow


class Handle:
    """What ``subscribe`` with callbacks returns, as the Subscription of a TestSubscriber: to cancel it disposes.

    As with real callbacks it is not there yet while ``subscribe`` runs: what is disposed then, is disposed behind it.
    """

    def __init__(self) -> None:
        self._handle: Disposable | None = None
        self._cancelled = False

    def request(self, n: int, /) -> None:
        """Callbacks request everything by themselves."""

    def cancel(self) -> None:
        self._cancelled = True
        if self._handle is not None:
            self._handle.dispose()

    def arrives(self, handle: Disposable) -> None:
        self._handle = handle
        if self._cancelled:
            handle.dispose()


#: Subscribes callbacks that tell a TestSubscriber.
Callbacks = Callable[[Flow, TestSubscriber[Any]], Disposable]


def succeeding(told: TestSubscriber[Any]) -> Callable[[Any], None]:
    def on_success(item: Any) -> None:
        told.on_next(item)
        told.on_complete()

    return on_success


#: The end is told in the callback of the end: the scripts dispose there, and afterwards.
CALLBACKS: Final[dict[str, Callbacks]] = {
    "Flowable": lambda flow, told: flow.subscribe(told.on_next, on_error=told.on_error, on_complete=told.on_complete),
    "Flowable of stages": lambda flow, told: flow.map(lambda x: x).subscribe(
        told.on_next, on_error=told.on_error, on_complete=told.on_complete
    ),
    "Observable": lambda flow, told: flow.to_observable().subscribe(
        told.on_next, on_error=told.on_error, on_complete=told.on_complete
    ),
    "Single": lambda flow, told: flow.last(0).subscribe(succeeding(told), on_error=told.on_error),
    "Single of the first": lambda flow, told: flow.first(0).subscribe(succeeding(told), on_error=told.on_error),
    "Maybe": lambda flow, told: flow.last_element().subscribe(
        succeeding(told), on_error=told.on_error, on_complete=lambda: None if told.is_terminated else told.on_complete()
    ),
    "Completable": lambda flow, told: flow.ignore_elements().subscribe(told.on_complete, on_error=told.on_error),
}


def _first_of(flow: Flow) -> None:
    for _ in flow:
        return


def _all_of(flow: Flow) -> None:
    for _ in flow:
        pass


def _awaited(flow: Flow) -> None:
    async def wait() -> None:
        await flow.last(0)

    trio.run(wait)


def _async_for(flow: Flow) -> None:
    async def loop() -> None:
        async with rx_trio.stream(flow) as items:
            async for _ in items:
                pass

    trio.run(loop)


#: Consumers that block until the end, or leave early. Their errors are those of the source.
BLOCKING: Final[dict[str, Callable[[Flow], object]]] = {
    "for": _all_of,
    "for with a return": _first_of,
    "blocking_list": lambda flow: flow.blocking_list(),
    "blocking_first": lambda flow: flow.blocking_first(),
    "blocking_last": lambda flow: flow.blocking_last(),
    "blocking_for_each": lambda flow: flow.blocking_for_each(lambda item: None),
    "await": _awaited,
    "async for": _async_for,
    "list of stages": lambda flow: flow.map(lambda x: x).filter(lambda x: True).blocking_list(),
    "for over stages": lambda flow: _all_of(flow.map(lambda x: x).skip(1)),
    "for over a coordinating operator": lambda flow: _all_of(flow.concat_map(lambda x: Flowable.just(x).hide())),
}

Source = Callable[[], RecordingPublisher[int]]


class SourceError(Exception):
    """What the failing sources fail with."""


BLOCKING_SOURCES: Final[dict[str, Source]] = {
    "completes": lambda: RecordingPublisher([1, 2, 3]),
    "fails": lambda: RecordingPublisher([1, 2, 3], error=SourceError()),
    "empty": lambda: RecordingPublisher(),
    "fails at once": lambda: RecordingPublisher(error=SourceError()),
    "completes after on_subscribe": lambda: RecordingPublisher([1, 2, 3], pace="after on_subscribe"),
    "fails after on_subscribe": lambda: RecordingPublisher([1, 2, 3], error=SourceError(), pace="after on_subscribe"),
    "meets the window": lambda: RecordingPublisher(range(96)),
    "fails at the window": lambda: RecordingPublisher(range(96), error=SourceError()),
    "is long": lambda: RecordingPublisher(range(300)),
}

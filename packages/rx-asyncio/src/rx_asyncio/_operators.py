"""Async functions in the middle of a pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from rx_asyncio._loop import AsyncioLoop, owned
from rx_core.tasks import AsyncOperator

T = TypeVar("T")
R = TypeVar("R")


def map_async(
    function: Callable[[T], Awaitable[R]],
    /,
    *,
    concurrency: int = 8,
    ordered: bool = True,
    buffer: int = 16,
    seconds: float | None = None,
    group: asyncio.TaskGroup | None = None,
) -> AsyncOperator[T, R]:
    """What an async function makes of each item, several calls at a time::

        pages = Flowable.of(*urls).compose(rx_asyncio.map_async(fetch, concurrency=8))

        --1--2--3|  -->  ----a--b--c|

    ``concurrency`` calls are under way at a time, and ``buffer`` results may wait: behind one that takes longer when they come in
    order, and for demand. So a slow call keeps no other from running before so many wait behind it. A call that takes longer
    than ``seconds`` is cancelled, and fails with a TimeoutError.

    Demand:  items are taken when a call is free; from a source that is not iterated ``concurrency`` more in advance.
    Errors:  the function's and the source's, with their own type. In order, an error comes behind the results of the items before
    it; otherwise as soon as the results that wait are taken. The calls that still run are cancelled, and have ended by then.
    None as a result is refused.
    Memory:  at most ``concurrency + buffer`` calls and results.
    Thread:  each call is a task of its own. The loop is that in which this is called; when that is none, the one in which the
    stream is subscribed.
    Fusion:  none. Over a pipeline of rx_spark the tasks make the calls, each in a loop of its worker, and results are in order.
    Cancel:  cancels the calls; leaving a stream waits for their finalizers. A call that is cancelled from elsewhere is an
    RxError.
    Raises:  TypeError and ValueError for bad arguments.
    Source:  Reactor ``flatMapSequential`` and ``flatMap`` with a Mono.
    """
    owned("map_async", group)
    return AsyncOperator(AsyncioLoop, "map_async", function, concurrency, ordered, buffer, seconds, group)


def filter_async(
    predicate: Callable[[T], Awaitable[object]],
    /,
    *,
    concurrency: int = 8,
    ordered: bool = True,
    buffer: int = 16,
    seconds: float | None = None,
    group: asyncio.TaskGroup | None = None,
) -> AsyncOperator[T, T]:
    """The items for which an async function returns something true, several calls at a time::

        --1--2--3|  -->  -----1-----3|

    Everything else is as in :func:`map_async`: demand, errors, memory, thread, cancel. An item that is left out needs no demand.
    Source:  Reactor ``filterWhen``, with several calls at a time.
    """
    owned("filter_async", group)
    return AsyncOperator(AsyncioLoop, "filter_async", predicate, concurrency, ordered, buffer, seconds, group, selects=True)

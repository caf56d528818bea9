"""What iterated a stream is freed when the loop is left, without the garbage collector: in a thread and in a task.

An Op and its inputs refer to each other, so streams with one are left out: those are the collector's.
"""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable, Iterator

import pytest

import rx_asyncio
from rx_ops import Flowable


class Same:
    """A function to which only its pipeline refers, and that is freed with its runs."""

    def __call__(self, item: int) -> int:
        return item


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def to_the_end(flow: Flowable[int]) -> None:
    assert [*flow] == [*range(300)]


def left(flow: Flowable[int]) -> None:
    for item in flow:
        if item == 200:
            break


def first(flow: Flowable[int]) -> None:
    assert flow.blocking_first() == 0


def in_a_task(leave_at: int) -> Callable[[Flowable[int]], None]:
    async def main(flow: Flowable[int]) -> None:
        async with rx_asyncio.stream(flow) as items:
            async for item in items:
                if item == leave_at:
                    break

    return lambda flow: asyncio.run(main(flow))


CONSUMERS = {"loop": to_the_end, "left": left, "first": first, "task": in_a_task(1_000), "task, left": in_a_task(200)}
SOURCES: dict[str, Callable[[Same], Flowable[int]]] = {
    "behind a wall": lambda f: Flowable.range(300).map(f).hide(),
    "pulled": lambda f: Flowable.range(300).map(f),
    "a loop": lambda f: Flowable.range(3).map(f).concat_map(lambda n: Flowable.range(100 * n, 100 * n + 100)),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("consumer", CONSUMERS)
def test_no_run_waits_for_the_collector(consumer: str, source: str) -> None:
    function = Same()
    freed = weakref.ref(function)
    flow = SOURCES[source](function)
    CONSUMERS[consumer](flow)
    del flow, function
    assert freed() is None

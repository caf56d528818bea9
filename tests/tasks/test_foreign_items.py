"""results_of(): an async operator over the items of a thread that has no loop."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from rx_core.tasks import AsyncOperator, Loop, results_of, results_of_blocks
from tests.tasks.backends import Backend
from tests.tasks.parties import Leave

SECONDS = 10.0


def operator(
    backend: Backend,
    function: Callable[[Any], Awaitable[Any]],
    *,
    concurrency: int = 4,
    ordered: bool = True,
    buffer: int = 8,
    seconds: float | None = None,
    selects: bool = False,
) -> AsyncOperator[Any, Any]:
    """As map_async() makes it, which asks for a nursery in trio: here the operator gets one of its own."""
    return AsyncOperator(backend.loop, "map_async", function, concurrency, ordered, buffer, seconds, None, selects=selects)


async def ten_times(item: int) -> int:
    return 10 * item


async def is_even(item: int) -> bool:
    return item % 2 == 0


class Door:
    """Calls wait behind it for another thread to open it."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.begun: list[int] = []
        self.left: list[int] = []
        self.changed = threading.Condition()
        self.is_open = False

    async def __call__(self, item: int) -> int:
        with self.changed:
            self.begun.append(item)
            self.changed.notify_all()
        try:
            while not self.is_open:
                await self.backend.sleep(0.001)
        except BaseException:
            with self.backend.shielded():
                await self.backend.checkpoint()  # a finalizer takes its time
            raise
        finally:
            with self.changed:
                self.left.append(item)
                self.changed.notify_all()
        return 10 * item

    def open_for(self, *items: int) -> None:
        self.wait_for(*items)
        self.is_open = True

    def wait_for(self, *items: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: sorted(self.begun) == list(items), SECONDS), self.begun


def test_results_are_in_the_order_of_the_items(backend: Backend) -> None:
    async def later_ones_sooner(item: int) -> int:
        await backend.sleep(0.01 if item % 3 == 0 else 0)
        return 10 * item

    for ordered in (True, False):
        found = results_of(operator(backend, later_ones_sooner, ordered=ordered), range(50))
        assert list(found) == [10 * n for n in range(50)]


def test_many_items_and_none(backend: Backend) -> None:
    assert list(results_of(operator(backend, ten_times), range(5000))) == [10 * n for n in range(5000)]
    assert list(results_of(operator(backend, ten_times), ())) == []
    assert list(results_of(operator(backend, is_even, selects=True), range(10))) == [0, 2, 4, 6, 8]


def test_calls_run_while_the_thread_with_the_items_does_something_else(backend: Backend) -> None:
    door = Door(backend)
    results = results_of(operator(backend, door), range(100))
    waiting = threading.Thread(target=door.open_for, args=(0, 1, 2, 3))
    waiting.start()
    assert next(results) == 0
    waiting.join(SECONDS)
    with door.changed:  # the others come to their end without being waited for
        assert door.changed.wait_for(lambda: {1, 2, 3} <= set(door.left), SECONDS)
    assert list(results) == [10 * n for n in range(1, 100)]


def test_what_the_items_raise_comes_behind_the_results_before_it(backend: Backend) -> None:
    error = ValueError("no more")

    def items() -> Iterator[int]:
        yield from range(3)
        raise error

    found: list[int] = []
    with pytest.raises(ValueError, match="no more") as caught:
        found.extend(results_of(operator(backend, ten_times), items()))
    assert found == [0, 10, 20]
    assert caught.value is error


def test_what_a_call_raises_keeps_its_type_and_says_where(backend: Backend) -> None:
    async def refuses(item: int) -> int:
        if item == 3:
            raise ZeroDivisionError("three")
        return item

    found: list[int] = []
    with pytest.raises(ZeroDivisionError, match="three") as caught:
        found.extend(results_of(operator(backend, refuses), range(10)))
    assert found == [0, 1, 2]
    assert "in map_async(" in caught.value.__notes__[0]


def test_leaving_early_cancels_the_calls_and_waits_for_their_finalizers(backend: Backend) -> None:
    door = Door(backend)

    async def first_when_others_wait(item: int) -> int:
        if item:
            return await door(item)
        while len(door.begun) < 3:  # the thread with the items pulls none while its caller has the first result
            await backend.sleep(0.001)
        return 0

    results = results_of(operator(backend, first_when_others_wait), range(1_000_000))
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]  # it is a generator
    assert {1, 2, 3} <= set(door.begun)
    assert sorted(door.left) == sorted(door.begun)


def test_a_base_exception_of_the_items_cancels_the_calls(backend: Backend) -> None:
    door = Door(backend)

    def items() -> Iterator[int]:
        yield from range(3)
        door.wait_for(0, 1, 2)
        raise Leave

    with pytest.raises(Leave):
        list(results_of(operator(backend, door), items()))
    assert sorted(door.left) == [0, 1, 2]


def test_one_loop_serves_all_so_that_what_belongs_to_it_can_be_kept(backend: Backend) -> None:
    seen: set[object] = set()

    async def where(item: int) -> int:
        seen.add(backend.here())
        return item

    def twice() -> None:
        assert list(results_of(operator(backend, where), range(3))) == [0, 1, 2]

    threads = [threading.Thread(target=twice) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert len(seen) == 1


def test_a_loop_that_cannot_run_says_why(backend: Backend) -> None:
    class Broken(backend.loop):  # type: ignore[name-defined,misc]  # a class that the fixture names
        @classmethod
        def run(cls, main: Callable[[Any], Any], /) -> None:
            raise OSError("no loop today")

    broken: type[Loop] = Broken
    with pytest.raises(OSError, match="no loop today"):
        list(results_of(AsyncOperator(broken, "map_async", ten_times, 4, True, 8, None, None), range(3)))


def test_an_operator_travels_without_its_loop(backend: Backend) -> None:
    made = operator(backend, ten_times, concurrency=3, buffer=5, seconds=2.0)
    made.owner = object()
    copy = pickle.loads(pickle.dumps(made))
    assert (copy.concurrency, copy.buffer, copy.seconds, copy.owner, copy.loop) == (3, 5, 2.0, None, None)
    kept = pickle.loads(pickle.dumps(operator(backend, is_even, selects=True)))
    assert list(results_of(kept, range(4))) == [0, 2]


# -- blocks --------------------------------------------------------------------------------------------------------------------


def test_results_of_blocks_stay_together(backend: Backend) -> None:
    blocks = iter([(0, range(3)), (2, ()), (3, range(3, 40)), (7, (40,))])
    found = [(number, list(items)) for number, items in results_of_blocks(operator(backend, ten_times), blocks)]
    assert found == [(0, [0, 10, 20]), (2, []), (3, [10 * n for n in range(3, 40)]), (7, [400])]
    assert list(results_of_blocks(operator(backend, ten_times), iter(()))) == []


def test_calls_of_a_block_begin_while_those_of_the_block_before_it_run(backend: Backend) -> None:
    door = Door(backend)
    blocks = results_of_blocks(operator(backend, door), ((number, (number,)) for number in range(100)))
    number, items = next(blocks)
    assert number == 0
    assert door.begun == []  # a block is told before anything is called for it
    opening = threading.Thread(target=door.open_for, args=(0, 1, 2, 3))
    opening.start()
    assert list(items) == [0]
    opening.join(SECONDS)
    assert [(number, list(items)) for number, items in blocks] == [(n, [10 * n]) for n in range(1, 100)]


def test_items_may_be_left_out_of_blocks(backend: Backend) -> None:
    blocks = results_of_blocks(operator(backend, is_even, selects=True), iter([(0, (1, 3)), (1, (1, 2)), (2, (4,))]))
    assert [(number, list(items)) for number, items in blocks] == [(0, []), (1, [2]), (2, [4])]


def test_what_is_left_of_a_block_is_skipped(backend: Backend) -> None:
    blocks = results_of_blocks(operator(backend, ten_times), iter([(0, range(5)), (1, range(5, 7))]))
    assert [next(items) for _, items in blocks] == [0, 50]


PROGRAM = """
import asyncio
import rx_asyncio
from rx_core.tasks import results_of

begun = asyncio.Event()

async def waits(item):
    try:
        if item:
            begun.set()
            await asyncio.sleep(1000)
        await begun.wait()  # a call that is given up before it begins leaves nothing
    finally:
        print("left", item, flush=True)
    return 10

results = results_of(rx_asyncio.map_async(waits, concurrency=2), [0, 1])
print(next(results))
kept = results  # the process ends while a call runs
"""


def test_a_process_ends_while_calls_run() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["left", "0", "10", "left", "1"]

"""map_async() and filter_async(): how many calls and results there are at a time, their order, errors and ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from rx_core import RxError
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber
from tests.tasks.backends import Backend
from tests.tasks.parties import Leave, Ticks, counted


class Calls:
    """An async function that takes a time for each item, and counts."""

    def __init__(self, backend: Backend, seconds: Callable[[int], float]) -> None:
        self.backend = backend
        self.seconds = seconds
        self.begun: list[int] = []
        self.ended: list[int] = []
        self.cancelled: list[int] = []
        self.most = 0

    @property
    def running(self) -> int:
        return len(self.begun) - len(self.ended) - len(self.cancelled)

    async def __call__(self, item: int) -> int:
        self.begun.append(item)
        self.most = max(self.most, self.running)
        try:
            await self.backend.sleep(self.seconds(item))
        except BaseException:
            self.cancelled.append(item)
            raise
        self.ended.append(item)
        return 10 * item


def mapped(backend: Backend, owner: Any, flow: Flowable[int], function: Callable[[int], Awaitable[Any]], **settings: Any) -> Any:
    return flow.compose(backend.rx.map_async(function, **settings, **owner.keyword))


# -- how many at a time ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_so_many_calls_at_a_time_and_no_more(backend: Backend, concurrency: int, ordered: bool) -> None:
    async def main() -> None:
        calls = Calls(backend, lambda _: 1)
        async with backend.owner() as owner:
            flow = mapped(backend, owner, Flowable.range(24), calls, concurrency=concurrency, ordered=ordered)
            assert sorted(await flow.to_list()) == [10 * n for n in range(24)]
        assert calls.most == concurrency
        assert backend.now() == 24 / concurrency

    backend.run(main)


def test_results_come_in_order_or_as_they_are_there(backend: Backend) -> None:
    async def main() -> None:
        async with backend.owner() as owner:
            calls = Calls(backend, lambda item: 4 - item)
            assert await mapped(backend, owner, Flowable.range(4), calls).to_list() == [0, 10, 20, 30]
            assert calls.ended == [3, 2, 1, 0]
            flow = mapped(backend, owner, Flowable.range(4), calls, ordered=False)
            assert await flow.to_list() == [30, 20, 10, 0]

    backend.run(main)


@pytest.mark.parametrize("buffer", [0, 4, 16])
def test_a_slow_call_idles_no_other_before_the_buffer_is_full(backend: Backend, buffer: int) -> None:
    async def main() -> None:
        calls = Calls(backend, lambda item: 1000 if item == 0 else 1)
        async with backend.owner() as owner:
            flow = mapped(backend, owner, Flowable.range(100), calls, concurrency=4, buffer=buffer)
            async with backend.rx.stream(flow) as items:
                with backend.within(500):
                    await items.__anext__()
                # The slow one, and results behind it: those that wait, and those for which a place was kept.
                assert len(calls.begun) == 4 + buffer
                assert calls.running == 1
                assert await items.__anext__() == 0
                assert [item async for item in items] == [10 * n for n in range(1, 100)]
        assert calls.cancelled == []

    backend.run(main)


@pytest.mark.parametrize("ordered", [True, False])
def test_results_that_are_not_wanted_yet_hold_up_the_calls(backend: Backend, ordered: bool) -> None:
    async def main() -> None:
        calls = Calls(backend, lambda _: 1)
        subscriber = TestSubscriber[int](request=0)
        async with backend.owner() as owner:
            flow = mapped(backend, owner, Flowable.range(1000), calls, concurrency=4, buffer=8, ordered=ordered)
            flow.subscribe(subscriber)
            await backend.sleep(100)
            assert len(calls.begun) == 12
            subscriber.request(5)
            await backend.sleep(100)
            assert len(calls.begun) == 17
            subscriber.assert_value_count(5).assert_not_terminated()
            subscriber.cancel()

    backend.run(main)


def test_a_source_that_pushes_is_asked_for_what_can_be_called_and_as_much_again(backend: Backend) -> None:
    async def main() -> None:
        source = ManualPublisher[int]()
        calls = Calls(backend, lambda _: 1)
        subscriber = TestSubscriber[int]()
        async with backend.owner() as owner:
            operator = backend.rx.map_async(calls, concurrency=4, buffer=4, **owner.keyword)
            operator(source).subscribe(subscriber)
            await backend.settle()
            assert source.requested == 4
            source.next(0, 1, 2, 3)
            await backend.settle()
            assert sorted(calls.begun) == [0, 1, 2, 3]
            assert source.requested == 7  # three of four were taken
            await backend.sleep(2)
            source.next(4, 5)
            source.complete()
            await backend.sleep(2)
        subscriber.assert_values(0, 10, 20, 30, 40, 50).assert_complete()

    backend.run(main)


def test_an_async_source_is_never_further_ahead_than_calls_and_buffer(backend: Backend) -> None:
    async def main() -> None:
        ticks = Ticks(backend)
        async with backend.owner() as owner:
            source = Flowable.wrap(backend.rx.from_async_iterable(ticks, **owner.keyword))
            flow = mapped(backend, owner, source, Calls(backend, lambda _: 1), concurrency=2, buffer=3)
            async with backend.rx.stream(flow, prefetch=1) as items:
                async for item in items:
                    await backend.sleep(10)
                    assert ticks.pulled <= item // 10 + 2 + 3 + 2 + 1  # calls and results, items in advance, one for the stream
                    if item == 300:
                        break
            assert ticks.ends[-1] == "closed"

    backend.run(main)


# -- filter ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ordered", [True, False])
def test_items_are_kept_for_which_the_function_says_so(backend: Backend, ordered: bool) -> None:
    async def main() -> None:
        async def odd(item: int) -> int:
            await backend.sleep(1)
            return item % 2

        async with backend.owner() as owner:
            flow = Flowable.range(10).compose(backend.rx.filter_async(odd, ordered=ordered, **owner.keyword))
            assert sorted(await flow.to_list()) == [1, 3, 5, 7, 9]

    backend.run(main)


def test_an_item_that_is_left_out_needs_no_demand_and_no_place(backend: Backend) -> None:
    async def main() -> None:
        async def last(item: int) -> bool:
            return item == 99

        subscriber = TestSubscriber[int](request=1)
        async with backend.owner() as owner:
            flow = Flowable.range(100).compose(backend.rx.filter_async(last, buffer=0, concurrency=2, **owner.keyword))
            flow.subscribe(subscriber)
        subscriber.assert_values(99).assert_complete()

    backend.run(main)


# -- errors ------------------------------------------------------------------------------------------------------------


def test_in_order_an_error_comes_behind_the_results_before_it(backend: Backend) -> None:
    ended: list[str] = []

    async def main() -> None:
        async def some(item: int) -> int:
            try:
                if item == 3:
                    raise KeyError(item)
                await backend.sleep(10 if item == 9 else 1)
            finally:
                ended.append(f"{item}")
            return item

        subscriber = TestSubscriber[int]()
        async with backend.owner() as owner:
            mapped(backend, owner, Flowable.range(10), some, concurrency=10).subscribe(subscriber)
        subscriber.assert_values(0, 1, 2).assert_error(KeyError)
        assert backend.now() == 1  # the last one was not waited for
        assert sorted(ended) == [f"{n}" for n in range(10)]
        assert any("map_async" in note for note in subscriber.errors[0].__notes__)

    backend.run(main)


def test_without_order_an_error_cancels_the_other_calls_at_once(backend: Backend) -> None:
    async def main() -> None:
        calls = Calls(backend, lambda _: 5)

        async def some(item: int) -> int:
            if item == 3:
                await backend.sleep(1)
                raise KeyError(item)
            return await calls(item)

        subscriber = TestSubscriber[int]()
        async with backend.owner() as owner:
            mapped(backend, owner, Flowable.range(10), some, ordered=False).subscribe(subscriber)
        subscriber.assert_no_values().assert_error(KeyError)
        assert backend.now() == 1
        assert sorted(calls.cancelled) == sorted(calls.begun)

    backend.run(main)


@pytest.mark.parametrize("ordered", [True, False])
def test_an_error_of_the_source_keeps_its_type(backend: Backend, ordered: bool) -> None:
    async def main() -> None:
        async with backend.owner() as owner:
            flow = mapped(
                backend, owner, Flowable.range(5).map(lambda x: 1 // (x - 3)), Calls(backend, lambda _: 1), ordered=ordered
            )
            with pytest.raises(ZeroDivisionError):
                await flow.to_list()

    backend.run(main)


def test_none_is_no_result_and_a_plain_function_no_call(backend: Backend) -> None:
    async def main() -> None:
        async def nothing(item: int) -> None: ...

        async with backend.owner() as owner:
            with pytest.raises(TypeError, match="produced None"):
                await mapped(backend, owner, Flowable.range(5), nothing).to_list()
            with pytest.raises(TypeError, match="needs an async function"):
                await mapped(backend, owner, Flowable.range(5), str).to_list()  # type: ignore[arg-type]

    backend.run(main)


def test_a_base_exception_of_a_call_leaves_no_subscriber_waiting(backend: Backend) -> None:
    async def main() -> None:
        async def leaves(item: int) -> int:
            raise Leave

        subscriber = TestSubscriber[int]()
        try:
            async with backend.owner() as owner:
                mapped(backend, owner, Flowable.range(5), leaves).subscribe(subscriber)
        except BaseExceptionGroup:  # trio has it go on
            pass
        assert len(subscriber.errors) == 1
        assert isinstance(subscriber.errors[0], RxError)

    backend.run(main)


def test_bad_settings_are_refused_at_assembly(backend: Backend) -> None:
    async def main() -> None:
        async def same(item: int) -> int:
            return item

        async with backend.owner() as owner:
            for settings, kind in (
                ({"concurrency": 0}, ValueError),
                ({"concurrency": 1.5}, TypeError),
                ({"buffer": -1}, ValueError),
                ({"seconds": 0}, ValueError),
            ):
                with pytest.raises(kind, match="map_async"):
                    backend.rx.map_async(same, **settings, **owner.keyword)
            with pytest.raises(TypeError, match="function"):
                backend.rx.map_async(5, **owner.keyword)
            with pytest.raises(TypeError, match="needs a publisher"):
                backend.rx.map_async(same, **owner.keyword)([1])

    backend.run(main)


# -- a time limit ------------------------------------------------------------------------------------------------------


def test_a_call_that_takes_too_long_is_cancelled_alone(backend: Backend) -> None:
    async def main() -> None:
        calls = Calls(backend, lambda item: 10 if item == 2 else 1)
        subscriber = TestSubscriber[int]()
        async with backend.owner() as owner:
            mapped(backend, owner, Flowable.range(4), calls, seconds=3).subscribe(subscriber)
        subscriber.assert_values(0, 10).assert_error(TimeoutError)
        assert "longer than 3 s" in str(subscriber.errors[0])
        assert calls.cancelled == [2]
        assert sorted(calls.ended) == [0, 1, 3]
        assert backend.now() == 3

    backend.run(main)


def test_a_timeout_of_the_call_itself_is_an_error_like_any_other(backend: Backend) -> None:
    async def main() -> None:
        async def gives_up(item: int) -> int:
            raise TimeoutError("mine")

        async with backend.owner() as owner:
            with pytest.raises(TimeoutError, match="mine"):
                await mapped(backend, owner, Flowable.range(4), gives_up, seconds=3).to_list()

    backend.run(main)


# -- leaving -----------------------------------------------------------------------------------------------------------


def test_leaving_the_stream_cancels_the_calls_and_waits_for_their_finalizers(backend: Backend) -> None:
    begun: list[int] = []
    ended: list[int] = []

    async def main() -> None:
        async def careful(item: int) -> int:
            begun.append(item)
            try:
                await backend.sleep(1 if item == 1 else 1000)
            finally:
                with backend.shielded():
                    await backend.sleep(1)
                ended.append(item)
            return item

        ticks = Ticks(backend)
        async with backend.owner() as owner:
            source = Flowable.wrap(backend.rx.from_async_iterable(ticks, **owner.keyword))
            async with backend.rx.stream(mapped(backend, owner, source, careful, concurrency=4)) as items:
                async for item in items:
                    assert item == 1
                    break
            assert owner.tasks == 0
            assert ticks.ends[-1] == "closed"
            assert sorted(ended) == sorted(begun)
            assert len(begun) >= 4
            assert backend.now() == 3

    backend.run(main)


def test_the_owner_that_is_cancelled_is_an_error_downstream(backend: Backend) -> None:
    async def main() -> None:
        calls = Calls(backend, lambda _: 1000)
        subscriber = TestSubscriber[int]()
        async with backend.owner() as owner:
            mapped(backend, owner, Flowable.range(100), calls, concurrency=3).subscribe(subscriber)
            await backend.sleep(1)
            owner.cancel()
        subscriber.assert_no_values().assert_error(RxError)
        assert sorted(calls.cancelled) == [0, 1, 2]

    backend.run(main)


def test_what_a_subscriber_raises_is_for_the_owner(backend: Backend) -> None:
    def refuse(item: int) -> None:
        raise KeyError(item)

    async def main() -> None:
        calls = Calls(backend, lambda item: 1 + item)
        subscriber = TestSubscriber[int](on_value=refuse)
        with pytest.raises(ExceptionGroup) as info:
            async with backend.owner() as owner:
                mapped(backend, owner, Flowable.range(100), calls).subscribe(subscriber)
        assert [type(error) for error in info.value.exceptions] == [KeyError]
        subscriber.assert_not_terminated()
        assert calls.running == 0

    backend.run(main)


def test_each_call_is_a_task_with_a_context_of_its_own(backend: Backend) -> None:
    from contextvars import ContextVar

    name: ContextVar[int] = ContextVar("name", default=-1)

    async def main() -> None:
        async def sees(item: int) -> int:
            found = name.get()
            name.set(item)
            await backend.sleep(1)
            assert name.get() == item
            return found

        async with backend.owner() as owner:
            assert await mapped(backend, owner, Flowable.range(12), sees, concurrency=3).to_list() == [-1] * 12

    backend.run(main)


def test_several_one_behind_another(backend: Backend) -> None:
    async def main() -> None:
        async def add(item: int) -> int:
            await backend.sleep(1)
            return item + 1

        async def even(item: int) -> bool:
            await backend.sleep(1)
            return item % 2 == 0

        async with backend.owner() as owner:
            add_all = backend.rx.map_async(add, concurrency=5, **owner.keyword)
            keep = backend.rx.filter_async(even, concurrency=5, **owner.keyword)
            flow = Flowable.range(50).compose(add_all).compose(keep).compose(add_all).map(lambda x: x * 2)
            assert await flow.to_list() == [2 * (n + 1) for n in range(1, 51) if n % 2 == 0]
            assert await flow.take(2).to_list() == [6, 10]
            assert owner.tasks == 0

    backend.run(main)


def test_the_control_a_call_for_each_item_of_a_passive_source(backend: Backend) -> None:
    async def main() -> None:
        source = counted(100)

        async def same(item: int) -> AsyncIterator[int] | int:
            return item

        async with backend.owner() as owner:
            got = []
            async with backend.rx.stream(backend.rx.map_async(same, **owner.keyword)(source)) as items:
                async for item in items:
                    got.append(item)
            assert got == list(range(100))
            assert source.closed == 1

    backend.run(main)

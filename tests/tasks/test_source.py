"""from_async_iterable(): exact demand, ends, errors, and what is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from rx_core import FlowableBase, RxError
from rx_testing import TestSubscriber
from tests.tasks.backends import Backend
from tests.tasks.parties import Ticks

# -- elements ----------------------------------------------------------------------------------------------------------


def test_one_step_for_each_element_requested(backend: Backend) -> None:
    async def main() -> None:
        ticks = Ticks(backend)
        subscriber = TestSubscriber[int](request=0)
        async with backend.owner() as owner:
            backend.rx.from_async_iterable(ticks, **owner.keyword).subscribe(subscriber)
            await backend.settle()
            assert ticks.pulled == 0
            for n in (1, 3, 300):
                before = ticks.pulled
                subscriber.request(n)
                await backend.settle()
                assert ticks.pulled == before + n
            subscriber.assert_value_count(304).assert_not_terminated()
            subscriber.cancel()
        assert ticks.ends == ["GeneratorExit", "closed"]

    backend.run(main)


def test_the_end_comes_with_the_request_after_the_last_element(backend: Backend) -> None:
    async def main() -> None:
        ticks = Ticks(backend, 3)
        subscriber = TestSubscriber[int](request=3)
        async with backend.owner() as owner:
            backend.rx.from_async_iterable(ticks, **owner.keyword).subscribe(subscriber)
            await backend.settle()
            subscriber.assert_values(1, 2, 3).assert_not_terminated()
            subscriber.request(1)
        subscriber.assert_values(1, 2, 3).assert_complete()
        assert ticks.ends == ["closed"]

    backend.run(main)


def test_a_subscriber_may_request_inside_on_next(backend: Backend) -> None:
    async def main() -> None:
        subscriber = TestSubscriber[int](request=1, request_in_on_next=1)
        async with backend.owner() as owner:
            backend.rx.from_async_iterable(Ticks(backend, 5000), **owner.keyword).subscribe(subscriber)
        subscriber.assert_value_count(5000).assert_complete()
        assert subscriber.max_depth == 1

    backend.run(main)


@pytest.mark.parametrize("n", [0, -1, "two"])
@pytest.mark.parametrize("wait", [True, False])
def test_a_wrong_request_is_an_error_and_closes_the_source(backend: Backend, n: Any, wait: bool) -> None:
    async def main() -> None:
        ticks = Ticks(backend, wait=wait)
        subscriber = TestSubscriber[int](request=1 if wait else 0)
        async with backend.owner() as owner:
            backend.rx.from_async_iterable(ticks, **owner.keyword).subscribe(subscriber)
            await backend.settle()
            subscriber.request(n)
        assert "§3.9" in str(subscriber.errors[0])
        assert isinstance(subscriber.errors[0], TypeError if n == "two" else ValueError)
        assert ticks.ends == ([backend.cancelled.__name__, "closed"] if wait else [])
        subscriber.assert_no_values()

    backend.run(main)


def test_errors_keep_their_type(backend: Backend) -> None:
    async def broken() -> AsyncIterator[int]:
        yield 1
        raise ZeroDivisionError("boom")

    async def main() -> None:
        subscriber = TestSubscriber[int]()
        async with backend.owner() as owner:
            backend.rx.from_async_iterable(broken, **owner.keyword).subscribe(subscriber)
        subscriber.assert_values(1).assert_error(ZeroDivisionError)

    backend.run(main)


def test_none_is_refused_and_the_source_closed(backend: Backend) -> None:
    ends: list[str] = []

    async def nones() -> AsyncIterator[int]:
        try:
            yield 1
            yield None  # type: ignore[misc]  # the mistake this is about
        finally:
            ends.append("closed")

    async def main() -> None:
        subscriber = TestSubscriber[int]()
        async with backend.owner() as owner:
            backend.rx.from_async_iterable(nones, **owner.keyword).subscribe(subscriber)
        subscriber.assert_values(1).assert_error(TypeError)
        assert "from_async_iterable" in str(subscriber.errors[0])
        assert ends == ["closed"]

    backend.run(main)


def test_a_generator_has_one_life_and_a_function_many(backend: Backend) -> None:
    async def main() -> None:
        async with backend.owner() as owner:
            once = backend.rx.from_async_iterable(Ticks(backend, 2)(), **owner.keyword)
            ticks = Ticks(backend, 2)
            first, second, third, fourth = (TestSubscriber[int]() for _ in range(4))
            once.subscribe(first)
            once.subscribe(second)
            again = backend.rx.from_async_iterable(lambda: ticks(), **owner.keyword)
            again.subscribe(third)
            await backend.settle()
            ticks.pulled = 0
            again.subscribe(fourth)
        first.assert_values(1, 2).assert_complete()
        second.assert_no_values().assert_error(RuntimeError)
        assert "once only" in str(second.errors[0])
        third.assert_values(1, 2).assert_complete()
        fourth.assert_values(1, 2).assert_complete()

    backend.run(main)


def test_an_iterable_that_is_no_generator(backend: Backend) -> None:
    class Iterable:
        def __aiter__(self) -> AsyncIterator[int]:
            return Ticks(backend, 2)()

    async def main() -> None:
        async with backend.owner() as owner:
            source = backend.rx.from_async_iterable(Iterable(), **owner.keyword)
            for _ in range(2):
                async with backend.rx.stream(source) as items:
                    assert [x async for x in items] == [1, 2]

    backend.run(main)


def test_bad_arguments_are_explained(backend: Backend) -> None:
    kept: list[dict[str, Any]] = []

    async def coroutine() -> None:
        raise AssertionError

    async def main() -> None:
        async with backend.owner() as owner:
            with pytest.raises(TypeError, match=r"Flowable\.from_iterable"):
                backend.rx.from_async_iterable([1], **owner.keyword)
            with pytest.raises(TypeError, match=backend.loop.owner):
                backend.rx.from_async_iterable(Ticks(backend), **dict.fromkeys(owner.keyword, 5))
            source: FlowableBase[int] = backend.rx.from_async_iterable(coroutine, **owner.keyword)
            with pytest.raises(TypeError, match="has to return an async iterable"):
                await backend.rx.first(source)
            kept.append(owner.keyword)
        with pytest.raises(RxError, match=f"{backend.loop.owner} is closed"):
            await backend.rx.first(backend.rx.from_async_iterable(Ticks(backend), **kept[0]))

    backend.run(main)
    with pytest.raises(RuntimeError, match=f"inside {backend} only"):
        backend.rx.from_async_iterable(Ticks(backend), **kept[0])


# -- how far ahead -----------------------------------------------------------------------------------------------------


def test_an_endless_source_is_never_more_than_the_window_ahead(backend: Backend) -> None:
    async def main() -> None:
        ticks = Ticks(backend)
        async with backend.owner() as owner:
            source = backend.rx.from_async_iterable(ticks, **owner.keyword)
            ahead = 0
            async with backend.rx.stream(source, prefetch=16) as items:
                async for x in items:
                    await backend.sleep(1)
                    ahead = max(ahead, ticks.pulled - x)
                    if x == 1000:
                        break
            assert 8 <= ahead <= 16
        assert ticks.ends == ["GeneratorExit", "closed"]

    backend.run(main)

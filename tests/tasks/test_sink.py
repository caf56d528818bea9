"""subscribe() and to_channel(): backpressure, who cancels whom, error types."""

from __future__ import annotations

from typing import TypeVar

import pytest

from rx_testing import ManualPublisher, ManualSubscription
from tests.tasks.backends import Backend

T = TypeVar("T")


def numbers(n: int) -> ManualPublisher[int]:
    """Answers demand from inside request, and completes after ``n`` elements."""

    def answer(subscription: ManualSubscription[int], k: int) -> None:
        for _ in range(k):
            if subscription.sent == n:
                break
            subscription.next(subscription.sent)
        if subscription.sent == n and not subscription._ended:
            subscription.complete()

    return ManualPublisher[int](on_request=answer)


def test_one_callback_at_a_time_and_in_order(backend: Backend) -> None:
    got: list[int] = []

    async def main() -> None:
        running = 0

        async def work(item: int) -> None:
            nonlocal running
            running += 1
            assert running == 1
            await backend.sleep(1)
            got.append(item)
            running -= 1

        async with backend.owner() as owner:
            handle = backend.rx.subscribe(owner.owner, numbers(20), work)
            assert not handle.is_disposed
        assert backend.now() == 20
        assert handle.is_disposed

    backend.run(main)
    assert got == list(range(20))


@pytest.mark.parametrize("limit", [2, 8])
def test_up_to_max_concurrency_callbacks(backend: Backend, limit: int) -> None:
    got: list[int] = []
    most = 0

    async def main() -> None:
        running = 0

        async def work(item: int) -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await backend.sleep(1)
            got.append(item)
            running -= 1

        async with backend.owner() as owner:
            backend.rx.subscribe(owner.owner, numbers(40), work, max_concurrency=limit)
        assert backend.now() == 40 / limit

    backend.run(main)
    assert sorted(got) == list(range(40))
    assert most == limit


@pytest.mark.parametrize("limit", [1, 4])
def test_the_source_is_asked_as_callbacks_get_free(backend: Backend, limit: int) -> None:
    async def main() -> None:
        source = numbers(10_000)

        async def work(item: int) -> None:
            await backend.sleep(1)

        async with backend.owner() as owner:
            with backend.rx.subscribe(owner.owner, source, work, max_concurrency=limit, prefetch=8):
                for second in range(1, 50):
                    await backend.sleep(1)
                    assert source.requested <= (second + 1) * limit + 8
        assert source.cancelled
        assert backend.now() == 49

    backend.run(main)


@pytest.mark.parametrize("limit", [1, 4])
def test_a_callback_error_cancels_upstream_and_keeps_its_type(backend: Backend, limit: int) -> None:
    async def main() -> None:
        source = numbers(10_000)
        cleaned: list[int] = []

        async def work(item: int) -> None:
            try:
                await backend.sleep(1 + item)
            finally:
                cleaned.append(item)
            raise KeyError(item)

        with pytest.raises(ExceptionGroup) as info:
            async with backend.owner() as owner:  # which makes the only group
                backend.rx.subscribe(owner.owner, source, work, max_concurrency=limit)
        assert [repr(error) for error in info.value.exceptions] == ["KeyError(0)"]
        assert source.cancelled
        assert sorted(cleaned) == list(range(limit))

    backend.run(main)


def test_several_callbacks_that_really_failed_make_a_group(backend: Backend) -> None:
    async def main() -> None:
        async def work(item: int) -> None:
            try:
                await backend.sleep(1 + item)
            finally:  # and not only when it is cancelled
                raise KeyError(item)

        with pytest.raises(ExceptionGroup) as info:
            async with backend.owner() as owner:
                backend.rx.subscribe(owner.owner, numbers(100), work, max_concurrency=2)
        (inner,) = info.value.exceptions
        assert isinstance(inner, ExceptionGroup)
        assert sorted(map(repr, inner.exceptions)) == ["KeyError(0)", "KeyError(1)"]

    backend.run(main)


@pytest.mark.parametrize("limit", [1, 4])
def test_an_error_of_the_publisher_is_raised_in_the_nursery(backend: Backend, limit: int) -> None:
    async def main() -> None:
        source = ManualPublisher[int]()
        got: list[int] = []

        async def work(item: int) -> None:
            got.append(item)

        async def consume() -> None:
            async with backend.owner() as owner:
                backend.rx.subscribe(owner.owner, source, work, max_concurrency=limit)
                source.next(1, 2)
                source.error(ZeroDivisionError("boom"))

        with pytest.raises(ExceptionGroup) as info:
            await consume()
        assert [repr(error) for error in info.value.exceptions] == ["ZeroDivisionError('boom')"]
        assert got == [1, 2]

    backend.run(main)


@pytest.mark.parametrize("limit", [1, 4])
def test_cancelling_the_nursery_cancels_callbacks_and_upstream(backend: Backend, limit: int) -> None:
    async def main() -> None:
        source = numbers(10_000)
        cancelled = 0

        async def work(item: int) -> None:
            nonlocal cancelled
            try:
                await backend.forever()
            except backend.cancelled:
                cancelled += 1
                raise

        async with backend.owner() as owner:
            handle = backend.rx.subscribe(owner.owner, source, work, max_concurrency=limit)
            await backend.settle()
            owner.cancel()
        assert source.subscriptions[0].cancellations == 1
        assert cancelled == limit
        assert handle.is_disposed

    backend.run(main)


def test_the_handle_cancels_from_another_thread(backend: Backend) -> None:
    async def main() -> None:
        source = ManualPublisher[int]()

        async def work(item: int) -> None:
            raise AssertionError

        async with backend.owner() as owner:
            handle = backend.rx.subscribe(owner.owner, source, work)
            await backend.thread(handle.dispose)
        assert source.cancelled
        handle.dispose()
        assert owner.tasks == 0

    backend.run_real(main)


def test_a_hot_source_is_subscribed_to_at_once(backend: Backend) -> None:
    async def main() -> None:
        source = ManualPublisher[int]()
        got: list[int] = []

        async def work(item: int) -> None:
            got.append(item)

        async with backend.owner() as owner:
            backend.rx.subscribe(owner.owner, source, work)
            source.next(1)
            source.complete()
        assert got == [1]

    backend.run(main)


def test_mistakes_are_explained(backend: Backend) -> None:
    async def work(item: int) -> None: ...

    async def main() -> None:
        source = numbers(3)
        async with backend.owner() as owner:
            with pytest.raises(TypeError, match=backend.rx.__name__):
                backend.rx.subscribe(owner.owner, source, None)
            with pytest.raises(TypeError, match=f"needs the {backend.loop.owner}"):
                backend.rx.subscribe(source, source, work)
            with pytest.raises(TypeError, match="needs a publisher"):
                backend.rx.subscribe(owner.owner, [1], work)
            with pytest.raises(ValueError, match="max_concurrency=0"):
                backend.rx.subscribe(owner.owner, source, work, max_concurrency=0)
        with pytest.raises(RuntimeError, match=r"closed|finished"):
            backend.rx.subscribe(owner.owner, source, work)
        assert source.subscriptions[0].cancelled or source.subscriptions[0]._ended
        with pytest.raises(ExceptionGroup) as info:
            async with backend.owner() as owner:
                backend.rx.subscribe(owner.owner, source, print)
        assert "needs an async function" in str(info.value.exceptions[0])

    backend.run(main)

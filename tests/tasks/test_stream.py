"""stream(): order, demand, errors and elements from other threads."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from rx_core import Subscriber, hooks
from rx_core.streams import Stopping
from rx_ops import Flowable, PublishProcessor
from rx_testing import ManualPublisher
from tests.tasks.backends import Backend
from tests.tasks.parties import Generated, counted

# -- elements ----------------------------------------------------------------------------------------------------------


def test_all_elements_in_order(backend: Backend) -> None:
    async def main() -> None:
        source = counted(1000)
        async with backend.rx.stream(source) as items:
            assert [x async for x in items] == list(range(1000))
        assert source.closed == 1

    backend.run(main)


def test_an_iterator_that_is_no_generator_is_iterated_as_well(backend: Backend) -> None:
    class Plain(Generated[int]):
        def _passive_items(self, _run: Stopping | None, _beneath: object = None, /) -> Iterator[int]:
            return self.items()

    async def main() -> list[int]:
        async with backend.rx.stream(Plain(lambda: iter(range(600)))) as items:
            return [x async for x in items]

    assert backend.run(main) == list(range(600))


def test_passive_sources_are_pulled_element_by_element(backend: Backend) -> None:
    pulled: list[int] = []

    def endless() -> Iterator[int]:
        n = 0
        while True:
            pulled.append(n)
            yield n
            n += 1

    async def main() -> None:
        source = Generated(endless)
        async with backend.rx.stream(source) as items:
            async for x in items:
                assert pulled == list(range(x + 1))
                if x == 20:
                    break
            assert source.closed == 0
        assert source.closed == 1

    backend.run(main)


def test_a_foreign_source_is_asked_for_a_window_and_again_at_three_quarters(backend: Backend) -> None:
    source = ManualPublisher[int]()

    async def main() -> None:
        async with backend.rx.stream(source, prefetch=8) as items:
            assert source.subscriptions[0].requests == [8]
            source.next(*range(8))
            assert [await items.__anext__() for _ in range(5)] == [0, 1, 2, 3, 4]
            assert source.subscriptions[0].requests == [8]
            assert await items.__anext__() == 5
            assert source.subscriptions[0].requests == [8, 6]
            source.complete()
            assert [x async for x in items] == [6, 7]
        assert not source.cancelled

    backend.run(main)


def test_nothing_is_missed_of_a_source_that_sends_and_comes_behind_others(backend: Backend) -> None:
    hot = PublishProcessor[int]()

    async def main() -> list[int]:
        got: list[int] = []
        async with backend.rx.stream(hot.start_with(0, 1)) as items:
            async for item in items:
                got.append(item)
                if item == 0:
                    hot.on_next(2)
                    hot.on_complete()
        return got

    assert backend.run(main) == [0, 1, 2]


def test_a_source_that_was_given_up_before_it_answered_is_cancelled_when_it_does(backend: Backend) -> None:
    class Late:
        """It gives the Subscription when it likes."""

        subscriber: Subscriber[int]

        def subscribe(self, subscriber: Subscriber[int], /) -> None:
            self.subscriber = subscriber

    source = ManualPublisher[int]()

    async def main() -> None:
        late = Late()
        async with backend.rx.stream(late):
            pass
        source.subscribe(late.subscriber)

    backend.run(main)
    assert source.cancelled
    assert source.requested == 0


def test_an_error_that_comes_after_the_block_was_left_is_reported(backend: Backend, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "rx.core")
    source = ManualPublisher[int](unchecked=True)

    async def main() -> None:
        async with backend.rx.stream(source):
            pass
        source.next(1)
        source.error(OSError("too late"))

    backend.run(main)
    assert "too late" in caplog.text


def test_a_hook_sees_who_subscribes_also_to_what_would_be_iterated(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def hook(source: object, subscriber: Subscriber[int]) -> Subscriber[int]:
        seen.append(source)
        return subscriber

    async def main() -> None:
        hooks.ensure_loaded()
        monkeypatch.setattr(hooks, "on_subscribe", hook)
        flow = Flowable.range(300)
        async with backend.rx.stream(flow) as items:
            assert [x async for x in items] == list(range(300))
        assert seen == [flow]

    backend.run(main)


def test_errors_keep_their_type_and_are_no_group(backend: Backend) -> None:
    source = ManualPublisher[int]()

    got: list[int] = []

    async def consume() -> None:
        async with backend.rx.stream(source) as items:
            source.next(1)
            source.error(ZeroDivisionError("boom"))
            async for x in items:
                got.append(x)

    async def main() -> None:
        with pytest.raises(ZeroDivisionError, match="boom"):
            await consume()
        assert got == [1]

    backend.run(main)


def test_a_stop_iteration_that_is_signalled_is_an_error_and_no_end(backend: Backend) -> None:
    source = ManualPublisher[int]()

    async def main() -> None:
        async with backend.rx.stream(source) as items:
            source.next(1)
            source.error(StopIteration("mine"))
            assert await items.__anext__() == 1
            with pytest.raises(RuntimeError, match="StopIteration") as raised:
                await items.__anext__()
            assert isinstance(raised.value.__cause__, StopIteration)

    backend.run(main)


@pytest.mark.parametrize("kind", [StopIteration, GeneratorExit])
def test_stop_iteration_and_generator_exit_of_a_function_are_errors_and_no_end(
    backend: Backend, kind: type[BaseException]
) -> None:
    def calling() -> Iterator[int]:
        yield 1
        raise kind("mine")

    async def main() -> None:
        async with backend.rx.stream(Generated(calling)) as items:
            assert await items.__anext__() == 1
            with pytest.raises(RuntimeError, match=kind.__name__):
                await items.__anext__()

    backend.run(main)


def test_the_loop_may_be_cancelled_and_taken_up_again(backend: Backend) -> None:
    source = ManualPublisher[int]()

    async def main() -> None:
        async with backend.rx.stream(source) as items:
            source.next(1)
            got = []
            with backend.within(1) as scope:
                async for x in items:
                    got.append(x)
            assert scope.cancelled_caught
            source.next(2, 3)
            source.complete()
            async for x in items:
                got.append(x)
            assert got == [1, 2, 3]

    backend.run(main)


def test_two_loops_one_after_the_other_share_the_elements(backend: Backend) -> None:
    async def main() -> None:
        async with backend.rx.stream(counted(10)) as items:
            first: list[int] = []
            async for x in items:
                first.append(x)
                if x == 3:
                    break
            assert [x async for x in items] == [4, 5, 6, 7, 8, 9]
            assert first == [0, 1, 2, 3]
            assert [x async for x in items] == []

    backend.run(main)


def test_each_block_subscribes_anew(backend: Backend) -> None:
    async def main() -> None:
        source = counted(3)
        block = backend.rx.stream(source)
        for _ in range(2):
            async with block as items:
                assert [x async for x in items] == [0, 1, 2]
        async with block:
            with pytest.raises(RuntimeError, match="open already"):
                await block.__aenter__()
        assert source.closed == 2  # the last one was never iterated

    backend.run(main)


def test_iterating_without_or_after_the_block_is_explained(backend: Backend) -> None:
    async def main() -> None:
        block = backend.rx.stream(counted(3))
        with pytest.raises(RuntimeError, match=f"async with {backend.rx.__name__}"):
            async for _ in block:
                pass
        async with block as items:
            pass
        with pytest.raises(RuntimeError, match="was left"):
            async for _ in items:
                pass

    backend.run(main)


def test_bad_arguments(backend: Backend) -> None:
    async def main() -> None:
        with pytest.raises(TypeError, match="from_async_iterable"):
            backend.rx.stream([1, 2])
        with pytest.raises(ValueError, match="prefetch=0"):
            backend.rx.stream(counted(1), prefetch=0)

    backend.run(main)
    with pytest.raises(RuntimeError, match=backend.absent):
        backend.rx.stream(counted(1)).__aenter__().send(None)


def test_two_tasks_on_one_stream_are_refused(backend: Backend) -> None:
    source = ManualPublisher[int]()

    async def main() -> None:
        async with backend.rx.stream(source) as items, backend.owner() as owner:

            async def loop() -> None:
                async for _ in items:
                    pass

            owner.start(loop)
            await backend.settle()
            with pytest.raises(backend.busy, match="max_concurrency"):
                await loop()
            owner.cancel()

    backend.run(main)

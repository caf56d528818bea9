"""One value of a stream: value() and first()."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import trio
from trio_parties import Generated, counted, run

import rx_trio
from rx_core import (
    ActionDisposable,
    EmptyStreamError,
    FlagDisposable,
    MaybeBase,
    MaybeObserver,
    SingleBase,
    SingleObserver,
)
from rx_testing import ManualPublisher, ManualSubscription

# -- one value ---------------------------------------------------------------------------------------------------------


class One(SingleBase[int]):
    def __init__(self, result: int | Exception) -> None:
        self.result = result

    def subscribe_actual(self, observer: SingleObserver[int], /) -> None:
        observer.on_subscribe(FlagDisposable())
        if isinstance(self.result, Exception):
            observer.on_error(self.result)
        else:
            observer.on_success(self.result)


class Empty(MaybeBase[int]):
    def subscribe_actual(self, observer: MaybeObserver[int], /) -> None:
        observer.on_subscribe(FlagDisposable())
        observer.on_complete()


def test_a_single_and_a_maybe_can_be_awaited() -> None:
    async def main() -> None:
        assert await rx_trio.value(One(7)) == 7
        with pytest.raises(ZeroDivisionError):
            await rx_trio.value(One(ZeroDivisionError()))
        with pytest.raises(EmptyStreamError):
            await rx_trio.value(Empty())
        assert await rx_trio.value(Empty(), "nothing") == "nothing"
        assert await rx_trio.value(Empty(), None) is None
        with pytest.raises(TypeError, match=r"rx_trio\.first"):
            await rx_trio.value(counted(3))  # type: ignore[call-overload]

    run(main)


def test_a_single_that_takes_its_time() -> None:
    class Later(SingleBase[str]):
        observer: SingleObserver[str]
        disposed = 0

        def subscribe_actual(self, observer: SingleObserver[str], /) -> None:
            def dispose() -> None:
                self.disposed += 1

            observer.on_subscribe(ActionDisposable(dispose))
            self.observer = observer

    async def main() -> None:
        later = Later()
        got: list[str] = []

        async def wait() -> None:
            got.append(await rx_trio.value(later))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked()
            await trio.to_thread.run_sync(lambda: later.observer.on_success("here"))
        assert got == ["here"]
        assert later.disposed == 0
        with trio.move_on_after(1) as scope:
            await rx_trio.value(later)
        assert scope.cancelled_caught
        assert later.disposed == 1

    run(main)


def test_first_asks_for_one_and_cancels() -> None:
    def answer(subscription: ManualSubscription[int], n: int) -> None:
        subscription.next(41)

    source = ManualPublisher[int](on_request=answer)

    async def main() -> None:
        assert await rx_trio.first(source) == 41
        assert source.requested == 1
        assert source.cancelled
        assert await rx_trio.first(counted(0), "none") == "none"
        with pytest.raises(EmptyStreamError):
            await rx_trio.first(counted(0))

    run(main)


def test_a_task_that_is_cancelled_already_takes_no_value_from_the_source() -> None:
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for n in range(3):
            taken.append(n)
            yield n

    async def main() -> None:
        with trio.CancelScope() as scope:
            scope.cancel()
            await rx_trio.first(Generated(numbers))
        assert scope.cancelled_caught
        source = ManualPublisher[int]()
        with trio.CancelScope() as scope:
            scope.cancel()
            await rx_trio.first(source)
        assert scope.cancelled_caught
        assert taken == []
        assert source.subscriptions == []

    run(main)

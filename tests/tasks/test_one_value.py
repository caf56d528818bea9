"""One value of a stream: value() and first()."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

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
from tests.tasks.backends import Backend
from tests.tasks.parties import Generated, counted

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


def test_a_single_and_a_maybe_can_be_awaited(backend: Backend) -> None:
    async def main() -> None:
        assert await backend.rx.value(One(7)) == 7
        with pytest.raises(ZeroDivisionError):
            await backend.rx.value(One(ZeroDivisionError()))
        with pytest.raises(EmptyStreamError):
            await backend.rx.value(Empty())
        assert await backend.rx.value(Empty(), "nothing") == "nothing"
        assert await backend.rx.value(Empty(), None) is None
        with pytest.raises(TypeError, match=rf"{backend.rx.__name__}\.first"):
            await backend.rx.value(counted(3))

    backend.run(main)


def test_a_single_that_takes_its_time(backend: Backend) -> None:
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
            got.append(await backend.rx.value(later))

        async with backend.owner() as owner:
            owner.start(wait)
            await backend.settle()
            await backend.thread(lambda: later.observer.on_success("here"))
        assert got == ["here"]
        assert later.disposed == 0
        with backend.within(0.01) as scope:
            await backend.rx.value(later)
        assert scope.cancelled_caught
        assert later.disposed == 1

    backend.run_real(main)


def test_first_asks_for_one_and_cancels(backend: Backend) -> None:
    def answer(subscription: ManualSubscription[int], n: int) -> None:
        subscription.next(41)

    source = ManualPublisher[int](on_request=answer)

    async def main() -> None:
        assert await backend.rx.first(source) == 41
        assert source.requested == 1
        assert source.cancelled
        assert await backend.rx.first(counted(0), "none") == "none"
        with pytest.raises(EmptyStreamError):
            await backend.rx.first(counted(0))

    backend.run(main)


def test_a_task_that_is_cancelled_already_takes_no_value_from_the_source(backend: Backend) -> None:
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for n in range(3):
            taken.append(n)
            yield n

    async def main() -> None:
        with backend.within(1e9) as scope:
            scope.cancel()
            await backend.rx.first(Generated(numbers))
        assert scope.cancelled_caught
        source = ManualPublisher[int]()
        with backend.within(1e9) as scope:
            scope.cancel()
            await backend.rx.first(source)
        assert scope.cancelled_caught
        assert taken == []
        assert source.subscriptions == []

    backend.run(main)

"""from_action(): async functions as Completables."""

from __future__ import annotations

from typing import Any

import pytest

from rx_core import RxError
from rx_ops import Completable, Flowable, Single
from rx_testing import TestSubscriber
from tests.tasks.backends import Backend


def action(backend: Backend, function: Any, owner: Any) -> Completable:
    return Completable.wrap(backend.rx.from_action(function, **owner.keyword))


def test_each_subscription_calls_the_function_and_its_result_is_dropped(backend: Backend) -> None:
    calls: list[float] = []

    async def act() -> int:
        await backend.sleep(1)
        calls.append(backend.now())
        return 7

    async def main() -> None:
        async with backend.owner() as owner:
            made = action(backend, act, owner)
            await backend.rx.value(made, None)
            await backend.rx.value(made, None)

    backend.run(main)
    assert len(calls) == 2


def test_what_the_function_raises_is_the_error(backend: Backend) -> None:
    async def act() -> None:
        raise ZeroDivisionError

    async def main() -> None:
        async with backend.owner() as owner:
            with pytest.raises(ZeroDivisionError):
                await backend.rx.value(action(backend, act, owner), None)

    backend.run(main)


def test_disposing_cancels_the_task(backend: Backend) -> None:
    seen: list[str] = []

    async def act() -> None:
        try:
            await backend.forever()
        except backend.cancelled:
            seen.append("cancelled")
            raise

    async def main() -> None:
        async with backend.owner() as owner:
            handle = action(backend, act, owner).subscribe(on_complete=lambda: seen.append("complete"))
            await backend.settle()
            handle.dispose()
            await backend.settle()
            assert owner.tasks == 0

    backend.run(main)
    assert seen == ["cancelled"]


def test_when_its_owner_is_cancelled_the_observer_is_told(backend: Backend) -> None:
    errors: list[Exception] = []

    async def main() -> None:
        async with backend.owner() as owner:
            action(backend, backend.forever, owner).subscribe(on_error=errors.append)
            await backend.settle()
            owner.cancel()

    backend.run(main)
    assert [type(error) for error in errors] == [RxError]


def test_a_plain_function_and_a_coroutine_are_refused(backend: Backend) -> None:
    async def act() -> None:
        pass

    async def main() -> None:
        async with backend.owner() as owner:
            with pytest.raises(TypeError, match=r"from_action\(connection\.close\)"):
                backend.rx.from_action(act(), **owner.keyword)
            with pytest.raises(TypeError, match=r"Completable\.from_action\(int\)"):
                await backend.rx.value(action(backend, int, owner), None)

    backend.run(main)


@pytest.mark.parametrize("leaves", [False, True])
def test_a_resource_is_closed_by_an_async_function(backend: Backend, leaves: bool) -> None:
    log: list[str] = []

    async def commit() -> None:
        await backend.sleep(1)
        log.append("committed")

    async def close() -> None:
        await backend.sleep(1)
        log.append("closed")

    async def main() -> None:
        async with backend.owner() as owner:
            subscriber = TestSubscriber[int](request=1)
            flow = Flowable.using_when(
                Single.just("connection"),
                lambda _it: Flowable.range(2),
                lambda _it: action(backend, commit, owner),
                on_cancel=lambda _it: action(backend, close, owner),
            )
            flow.subscribe(subscriber)
            if leaves:
                subscriber.cancel()
            else:
                subscriber.request(5)
                subscriber.assert_values(0, 1).assert_not_terminated()
        # the owner has waited for the task
        assert subscriber.is_terminated is not leaves

    backend.run(main)
    assert log == ["closed" if leaves else "committed"]

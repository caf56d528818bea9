"""``await single`` in the loop that runs."""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import pytest

from rx_core import EmptyStreamError
from rx_ops import Completable, Flowable, Maybe, Single
from tests.tasks.backends import Backend

T = TypeVar("T")


class Boom(Exception):
    pass


def test_a_single_gives_its_value(backend: Backend) -> None:
    async def main() -> None:
        assert await Single.just(5).map(lambda x: x + 1) == 6
        assert await Flowable.range(5).to_list() == [0, 1, 2, 3, 4]
        with pytest.raises(Boom):
            await Single.error(Boom())
        with pytest.raises(EmptyStreamError):
            await Flowable.empty().first()

    backend.run(main)


def test_a_maybe_gives_its_value_or_none(backend: Backend) -> None:
    async def main() -> None:
        nothing: Maybe[int] = Maybe.empty()
        assert await Maybe.just(5) == 5
        assert await nothing is None
        with pytest.raises(Boom):
            await Maybe.error(Boom())

    backend.run(main)


def test_a_completable_is_waited_for_whatever_it_is_made_of(backend: Backend) -> None:
    async def main() -> list[int]:
        done: list[int] = []
        await Completable.from_action(lambda: done.append(0))
        made: Any = Flowable.of(1, 2).do_on_next(done.append).ignore_elements()
        assert await made is None
        with pytest.raises(Boom):
            await Completable.error(Boom())
        return done

    assert backend.run(main) == [0, 1, 2]


def test_the_loop_goes_on_while_it_waits_and_cancelling_stops_the_wait(backend: Backend) -> None:
    async def main() -> None:
        async with backend.rx.open_scheduler() as scheduler:
            item = Single.just(5).delay(10.0, scheduler=scheduler)
            start = backend.now()
            with backend.within(3.0) as scope:
                await item
            assert scope.cancelled_caught
            assert backend.now() == pytest.approx(start + 3.0)
            assert await item == 5
            assert backend.now() == pytest.approx(start + 13.0)

    backend.run(main)


@pytest.mark.parametrize(
    ("source", "method"),
    [(Single.just(1), "blocking_get"), (Maybe.just(1), "blocking_get"), (Completable.complete(), "blocking_await")],
)
def test_without_a_loop_the_error_says_what_to_do(backend: Backend, source: Any, method: str) -> None:
    with pytest.raises(RuntimeError, match="was awaited, and no async library that is known runs here") as raised:
        source.__await__()
    assert f".{method}()" in str(raised.value)


def test_a_thread_beside_the_loop_has_none(backend: Backend) -> None:
    failed: list[str] = []

    def ask() -> None:
        try:
            Single.just(1).__await__()
        except RuntimeError as error:
            failed.append(str(error).splitlines()[0])

    async def main() -> None:
        await backend.thread(ask)

    backend.run(main)
    worker = threading.Thread(target=ask)
    worker.start()
    worker.join(10)
    assert len(failed) == 2

"""A StopIteration that a function raises is the user's exception: it comes out where one can be raised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rx_fusion import fusion_off
from rx_ops import Completable, Flowable, Observable

MINE = "the user's own"


def stop(_item: object) -> Any:
    raise StopIteration(MINE)


FLOWS: dict[str, Callable[[], Flowable[Any]]] = {
    "stacked": lambda: Flowable.of(1).map(stop),
    "compiled": lambda: Flowable.range(5_000).map(stop),
    "pushed": lambda: Flowable.of(1).hide().map(stop),
    "coordinating": lambda: Flowable.of(1).flat_map(stop),
    "in a loop": lambda: Flowable.range(5_000).concat_map(stop),
    "waiting": lambda: Flowable.merge(Flowable.of(1), Flowable.of(2)).map(stop),
    "signalled": lambda: Flowable.error(StopIteration(MINE)),
}

WAYS: dict[str, Callable[[Flowable[Any]], object]] = {
    "blocking_list": lambda flow: flow.blocking_list(),
    "blocking_first": lambda flow: flow.blocking_first(),
    "blocking_last": lambda flow: flow.blocking_last(),
    "blocking_for_each": lambda flow: flow.blocking_for_each(str),
    "blocking_get": lambda flow: flow.to_list().blocking_get(),
    "blocking_await": lambda flow: flow.ignore_elements().blocking_await(),
    "blocking_await, seconds": lambda flow: flow.ignore_elements().blocking_await(seconds=60),
    "observable": lambda flow: flow.to_observable().blocking_list(),
}


def leaks() -> Iterator[int]:
    """Somebody's generator with a mistake, which Python says is a RuntimeError."""
    yield 1
    next(iter(()))


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "alone"])
@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("build", FLOWS.values(), ids=list(FLOWS))
def test_who_blocks_gets_the_users_own(
    build: Callable[[], Flowable[Any]], way: Callable[[Flowable[Any]], object], fused: bool
) -> None:
    def run() -> None:
        with pytest.raises(StopIteration) as caught:
            way(build())
        assert caught.value.value == MINE

    if fused:
        run()
    else:
        with fusion_off():
            run()


@pytest.mark.parametrize("build", FLOWS.values(), ids=list(FLOWS))
def test_who_iterates_gets_a_runtime_error_with_it_as_the_cause(build: Callable[[], Flowable[Any]]) -> None:
    with pytest.raises(RuntimeError) as caught:
        list(build())
    assert isinstance(caught.value.__cause__, StopIteration)
    assert caught.value.__cause__.value == MINE


@pytest.mark.parametrize("way", [way for name, way in WAYS.items() if name != "blocking_first"])
def test_somebodys_generator_that_leaks_one_keeps_its_runtime_error(way: Callable[[Flowable[Any]], object]) -> None:
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        way(Flowable.from_iterable(leaks()))


def test_what_the_action_raises_is_left_as_it_is() -> None:
    def action(_item: int) -> None:
        raise RuntimeError("a function in the pipeline raised StopIteration") from StopIteration(MINE)

    with pytest.raises(RuntimeError):
        Flowable.of(1).blocking_for_each(action)
    with pytest.raises(StopIteration):
        Observable.of(1).blocking_for_each(stop)


def test_a_completable_gives_it_from_its_action() -> None:
    with pytest.raises(StopIteration):
        Completable.from_action(lambda: stop(1)).blocking_await()

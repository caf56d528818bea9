"""flat_map_iterable closes the iterator that it is left in, fused and un-fused, compiled and not, as from_iterable does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, Final

import pytest
from ops_parties import errors_of_the_hook

from rx_fusion import fusion_off
from rx_ops import BackpressureStrategy, Flowable, Maybe, Observable, Single
from rx_testing import TestSubscriber

Mapper = Callable[[int], Iterator[int]]
Flow = Flowable[Any]


class Failed(Exception):
    """What a close fails with."""


class Rows:
    """A cursor: an iterator with a close() of its own."""

    def __init__(self, log: list[int], number: int, error: Exception | None = None, left: int = 1000) -> None:
        self.log, self.number, self.error, self.left = log, number, error, left

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left

    def close(self) -> None:
        self.log.append(self.number)
        if self.error is not None:
            raise self.error


def rows(log: list[int]) -> Mapper:
    return lambda number: Rows(log, number)


def generators(log: list[int]) -> Mapper:
    kept = []

    def numbers(number: int) -> Iterator[int]:
        try:
            yield from range(1000)
        finally:
            log.append(number)

    def made(number: int) -> Iterator[int]:
        kept.append(numbers(number))  # the test refers to each generator, so the collector closes none
        return kept[-1]

    return made


def take(flow: Flow) -> None:
    assert len(flow.take(2).blocking_list()) == 2


def take_behind_stages(flow: Flow) -> None:
    assert len(flow.map(lambda x: x + 1).filter(bool).take(2).blocking_list()) == 2


def cancel(flow: Flow) -> None:
    got = TestSubscriber[int](on_value=lambda _x: got.cancel())
    flow.subscribe(got)
    assert len(got.values) == 1


def cancel_later(flow: Flow) -> None:
    got = TestSubscriber[int](request=2)
    flow.subscribe(got)
    assert len(got.values) == 2
    got.cancel()


def dispose(flow: Flow) -> None:
    handle: Any = None
    seen: list[int] = []
    handle = flow.on_backpressure_buffer().concat_with(Flowable.never()).take(2).subscribe(seen.append)
    handle.dispose()


def first(flow: Flow) -> None:
    flow.blocking_first()


def stop_iterating(flow: Flow) -> None:
    for _ in flow:
        break


def fail(flow: Flow) -> None:
    got = TestSubscriber[Any]()
    flow.map(lambda _x: 1 // 0).subscribe(got)
    got.assert_failure(ZeroDivisionError)
    assert got.errors  # and its traceback keeps the frames it came through


SOURCES: Final[dict[str, Callable[[], Any]]] = {
    "cold": lambda: Flowable.just(7),
    "list": lambda: Flowable.from_iterable([7]),
    "checked": lambda: Flowable.from_iterable(x for x in (7,)),
    "hidden": lambda: Flowable.just(7).hide(),
    "operator": lambda: Flowable.concat(Flowable.empty(), Flowable.just(7)),
    "single": lambda: Single.just(7),
    "maybe": lambda: Maybe.just(7).hide(),
    "observable": lambda: Observable.just(7).hide().to_flowable(BackpressureStrategy.BUFFER),
}
LEAVING = [take, take_behind_stages, cancel, cancel_later, dispose, first, stop_iterating, fail]


@pytest.mark.parametrize("off", [False, True], ids=["fused", "off"])
@pytest.mark.parametrize("leave", LEAVING, ids=lambda leave: leave.__name__)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("made", [rows, generators], ids=lambda made: made.__name__)
def test_what_is_left_early_is_closed(
    source: str, leave: Callable[[Flow], None], off: bool, made: Callable[[list[int]], Mapper]
) -> None:
    with fusion_off() if off else nullcontext():
        for _ in range(20):  # stacked at first, compiled once it is hot
            log: list[int] = []
            leave(SOURCES[source]().flat_map_iterable(made(log)))
            assert log == [7]


def test_one_inside_another_is_closed_from_the_inside_out() -> None:
    log: list[int] = []
    for _ in range(20):
        log.clear()
        flow = Flowable.just(1).flat_map_iterable(rows(log)).flat_map_iterable(lambda x: Rows(log, x, left=5))
        flow.take(7).blocking_list()
        assert log == [998, 1]  # 999 was exhausted


def test_a_list_is_left_alone_and_an_iterable_gets_no_close() -> None:
    class Closable(list[int]):
        def close(self) -> None:
            raise AssertionError("it is no iterator")

    assert Flowable.just(1).flat_map_iterable(lambda _x: Closable([1, 2, 3])).take(2).blocking_list() == [1, 2]


@pytest.mark.parametrize("hidden", [False, True], ids=["cold", "hidden"])
def test_what_its_close_raises_goes_to_the_error_hook(hidden: bool) -> None:
    error = Failed()
    source = Flowable.just(1).hide() if hidden else Flowable.just(1)
    with errors_of_the_hook() as errors:
        assert source.flat_map_iterable(lambda x: Rows([], x, error)).take(2).blocking_list() == [999, 998]
    assert errors == [error]

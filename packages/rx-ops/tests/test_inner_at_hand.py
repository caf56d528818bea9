"""Inner sources that flat_map and concat_map take without a run of their own: nobody may tell, whatever was subscribed before."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from rx_core import UNBOUNDED, Subscription
from rx_fusion import fusion_off
from rx_ops import BackpressureStrategy, Emitter, Flowable
from rx_testing import TestSubscriber

#: So many inner sources of one shape, and it is compiled; the first ones are stacked generators.
MANY = 20

BOTH = pytest.mark.parametrize("operator", ["concat_map", "flat_map"])


class Boom(Exception):
    pass


def boom(_item: object) -> Any:
    raise Boom


def enough(_item: object) -> Any:
    raise StopIteration("the user's own")


def mapped(operator: str, outer: Flowable[Any], mapper: Callable[[Any], Any], **options: Any) -> Flowable[Any]:
    made: Flowable[Any] = getattr(outer, operator)(mapper, **options)
    return made


@BOTH
@pytest.mark.parametrize("times", [1, MANY])
def test_an_inner_source_that_folds_endlessly_stops_with_a_cancel(operator: str, times: int) -> None:
    seen: list[int] = []
    got: TestSubscriber[int] = TestSubscriber()

    def look(item: int) -> int:
        seen.append(item)
        if item == 3:
            got.cancel()
        return item

    def inner(turn: int) -> Flowable[int]:
        numbers = Flowable.from_iterable(count()) if turn == times - 1 else Flowable.of(7)
        return numbers.map(look).reduce(max).to_flowable()

    mapped(operator, Flowable.range(times + 1), inner).subscribe(got)
    assert seen == [7] * (times - 1) + [0, 1, 2, 3]
    got.assert_values(*[7] * (times - 1)).assert_not_terminated()


@BOTH
@pytest.mark.parametrize("times", [1, MANY])
@pytest.mark.parametrize(
    ("inner", "note"),
    [
        (lambda fails: Flowable.just(1).map(fails), "just"),
        (lambda fails: Flowable.of(1, 2).map(fails).reduce(max).to_flowable(), "of"),
        (lambda fails: Flowable.from_iterable([1, 2]).map(fails), "from_iterable"),
        (lambda fails: fails(0), "_map("),
    ],
)
@pytest.mark.parametrize("fails", [boom, enough])
def test_what_a_users_function_raises_is_signalled_with_its_note(
    operator: str, times: int, inner: Callable[[Any], Any], note: str, fails: Callable[[object], Any]
) -> None:
    got: TestSubscriber[int] = TestSubscriber()
    mapped(operator, Flowable.range(times), lambda turn: inner(fails) if turn == times - 1 else Flowable.just(7)).subscribe(got)
    got.assert_failure(Boom if fails is boom else StopIteration, *[7] * (times - 1))
    assert got.error is not None
    assert note in got.error.__notes__[0]


@BOTH
@pytest.mark.parametrize("request_first", [0, 3])
def test_inner_sources_end_as_they_do_apart(operator: str, request_first: int) -> None:
    """What is known to be empty needs no demand, what is not known ends with the next request."""

    def inner(turn: int) -> Flowable[int]:
        return (
            Flowable.range(0),
            Flowable.range(2),
            Flowable.from_iterable([5]),
            Flowable.from_iterable([]),
            Flowable.just(3).filter(lambda x: x > 3),
        )[turn]

    def trace() -> list[object]:
        got: TestSubscriber[int] = TestSubscriber(request=request_first)
        mapped(operator, Flowable.range(5), inner).subscribe(got)
        found: list[object] = [list(got.values), got.completions]
        for _ in range(4):
            got.request(1)
            found += [list(got.values), got.completions]
        return found

    fused = trace()
    with fusion_off():
        apart = trace()
    assert fused[-2:] == apart[-2:] == [[0, 1, 5], 1]
    assert fused[::2] == apart[::2]


@BOTH
def test_a_users_generator_is_closed_with_the_cancel(operator: str) -> None:
    log: list[str] = []

    class Numbers:
        def __iter__(self) -> Iterator[int]:
            try:
                yield from range(10)
            finally:
                log.append("closed")

    got: TestSubscriber[int] = TestSubscriber(request=3)
    mapped(operator, Flowable.just(1), lambda _item: Flowable.from_iterable(Numbers())).subscribe(got)
    assert got.values == [0, 1, 2]
    assert log == []
    got.cancel()
    assert log == ["closed"]


def test_a_long_inner_source_goes_on_in_a_lane_after_its_turn() -> None:
    got: TestSubscriber[int] = TestSubscriber(request=3)
    Flowable.of(0, 10).flat_map(lambda first: Flowable.range(first, first + 5), prefetch=2, max_concurrency=1).subscribe(got)
    assert got.values == [0, 1, 2]
    got.request(100)
    got.assert_result(0, 1, 2, 3, 4, 10, 11, 12, 13, 14)


def test_with_delayed_errors_the_others_go_on() -> None:
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.range(3).flat_map(lambda turn: Flowable.just(turn).map(boom if turn == 1 else abs), delay_error=True).subscribe(got)
    got.assert_failure(Boom, 0, 2)


class _ErrorsOnly:
    """A subscriber that keeps nothing but what it puts into a list."""

    def __init__(self, errors: list[Exception]) -> None:
        self.errors = errors

    def on_subscribe(self, subscription: Subscription, /) -> None:
        subscription.request(UNBOUNDED)

    def on_next(self, _item: object, /) -> None:
        pass

    def on_error(self, error: Exception, /) -> None:
        self.errors.append(error)

    def on_complete(self) -> None:
        pass


@pytest.mark.parametrize(
    "build",
    [
        lambda fails: Flowable.just(1).concat_map(fails),
        lambda fails: Flowable.just(1).flat_map(fails),
        lambda fails: Flowable.just(1).group_by(fails),
        lambda fails: Flowable.zip(Flowable.just(1), Flowable.just(2), combiner=lambda one, _other: fails(one)),
        lambda fails: Flowable.just(1).switch_map(fails),
        lambda fails: Flowable.range(3).map(fails),
        lambda fails: Flowable.range(3).hide().map(fails),
        lambda fails: Flowable.range(3).map(fails).buffer(2),
        lambda fails: Flowable.range(3).map(fails).retry(1),
        lambda fails: Flowable.merge(Flowable.range(3).map(fails), Flowable.range(3)),
        lambda fails: Flowable.just(1).concat_map(lambda _: Flowable.range(3).map(fails)),
        lambda fails: Flowable.range(3).group_by(abs).flat_map(lambda group: group.map(fails)),
    ],
)
@pytest.mark.parametrize("requests", [False, True], ids=["callbacks", "a subscriber"])
def test_an_error_is_not_kept_by_the_frames_it_left(
    build: Callable[[Callable[[Any], Any]], Flowable[Any]], requests: bool
) -> None:
    def subscribed() -> weakref.ref[BaseException]:
        errors: list[Exception] = []
        if requests:
            build(boom).subscribe(_ErrorsOnly(errors))
        else:
            build(boom).subscribe(lambda _item: None, on_error=errors.append)
        return weakref.ref(errors.pop())

    gc.collect()
    gc.disable()
    try:
        assert subscribed()() is None
    finally:
        gc.enable()


def test_the_first_item_of_an_inner_source_that_sends_for_ever_is_enough() -> None:
    def for_ever(emitter: Emitter[int]) -> None:
        numbers = count()
        while not emitter.is_cancelled:
            emitter.on_next(next(numbers))

    source = Flowable.create(for_ever, BackpressureStrategy.DROP)
    assert Flowable.just(1).concat_map(lambda _item: source).blocking_first() == 0


class Anew:
    """Iterates what a function makes for each run."""

    def __init__(self, make: Callable[[], Iterator[int]]) -> None:
        self.make = make

    def __iter__(self) -> Iterator[int]:
        return self.make()


@pytest.mark.parametrize("mode", ["fused", "off"])
@pytest.mark.parametrize("one", [range(3), [0, 1, 2], (0, 1, 2)])
@pytest.mark.parametrize("other", [range(5), iter, "abc"])
def test_zip_of_sources_that_never_wait_ends_with_the_shortest(mode: str, one: Any, other: Any) -> None:
    asked: list[int] = []

    def numbers() -> Iterator[int]:
        for number in count():
            asked.append(number)
            yield number

    def zipped() -> None:
        got: TestSubscriber[Any] = TestSubscriber(request=2)
        theirs = Flowable.from_iterable(Anew(numbers) if other is iter else other)
        Flowable.zip(Flowable.from_iterable(one), theirs.map(lambda x: x)).subscribe(got)
        expected = list(zip(one, count() if other is iter else other, strict=False))
        assert got.values == expected[:2]
        got.request(5)
        got.assert_result(*expected)

    if mode == "fused":
        zipped()
    else:
        with fusion_off():
            zipped()
    assert mode == "off" or asked in ([], [0, 1, 2])  # apart, the second source is asked ahead

"""Operators that know where an item stands, and those whose function says whether there is one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rx_ops import Flowable, HandleEmitter, Maybe, Observable, Single, call, it, sym
from rx_testing import ManualPublisher, TestSubscriber

places = st.one_of(st.none(), st.integers(-7, 7))


@settings(max_examples=400, deadline=None, derandomize=True)
@given(size=st.integers(0, 6), start=places, stop=places, step=st.integers(1, 4), pushed=st.booleans())
def test_a_slice_is_that_of_the_list(size: int, start: int | None, stop: int | None, step: int, pushed: bool) -> None:
    source = Flowable.range(size).hide() if pushed else Flowable.range(size)
    assert source.slice(start, stop, step).blocking_list() == list(range(size))[start:stop:step]


@pytest.mark.parametrize(
    ("args", "requests", "asked"),
    [
        ((2, 9, 3), [1, 1, 1, 1], [3, 6, 9, 9]),
        ((2, 9, 3), [2, 5], [6, 9]),
        ((2, 8, 3), [5], [6]),
        ((0, None, 2), [1, 3], [1, 7]),
        ((1, 4), [2, 2], [3, 4]),
    ],
)
def test_a_foreign_source_is_asked_for_what_the_slice_needs(args: Any, requests: list[int], asked: list[int]) -> None:
    source, got = ManualPublisher[int](), TestSubscriber[int](request=0)
    Flowable.wrap(source).slice(*args).subscribe(got)
    sent = 0
    for n, total in zip(requests, asked, strict=True):
        got.request(n)
        assert source.requested == total
        while sent < total:
            source.next(sent)
            sent += 1
    assert got.values == list(range(sent))[slice(*args)]


def test_a_slice_completes_with_its_last_item() -> None:
    got = TestSubscriber[int](request=2)
    Flowable.range(100).slice(3, 8, 4).subscribe(got)
    assert got.values == [3, 7]
    assert got.completions == 1


def test_a_slice_that_ends_before_what_is_held_reads_no_further() -> None:
    read: list[int] = []
    assert Flowable.range(100).do_on_next(read.append).slice(-3, 2).blocking_list() == []
    assert read == [0, 1, 2, 3, 4]


def test_a_step_below_one_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"slice\(step=0\)"):
        Flowable.range(3).slice(0, 3, 0)


def test_places_are_counted_anew_for_each_subscription() -> None:
    flow = Flowable.of("a", "b").enumerate(1)
    assert flow.blocking_list() == flow.blocking_list() == [(1, "a"), (2, "b")]
    both = Flowable.of(5, 5).map_indexed(lambda x, at: x + at)
    assert both.blocking_list() == both.blocking_list() == [5, 6]
    assert flow.repeat(2).blocking_list() == [(1, "a"), (2, "b")] * 2


def test_symbols_of_two_arguments_are_written_into_the_loop() -> None:
    flow = Flowable.of(5, 6, 7).map_indexed(sym(lambda x, at: x * 10 + at)).filter_indexed(sym(lambda x, at: at != 1))
    assert repr(flow) == ("of(5, 6, 7).map_indexed(sym(lambda x, at: x * 10 + at)).filter_indexed(sym(lambda x, at: at != 1))")
    assert flow.blocking_list() == [50, 72]


def test_a_symbol_may_say_that_there_is_nothing() -> None:
    rows: Flowable[dict[str, int]] = Flowable.of({"a": 1}, {}, {"a": 3})
    assert rows.map_optional(it.get("a")).blocking_list() == [1, 3]
    assert rows.map_optional(call(dict.get, it, "a")).blocking_list() == [1, 3]


def test_an_item_said_together_with_the_end_comes_first() -> None:
    def last(x: int, emitter: HandleEmitter[int]) -> None:
        emitter.on_complete()
        emitter.on_next(x)

    def failing(x: int, emitter: HandleEmitter[int]) -> None:
        emitter.on_next(x)
        emitter.on_error(KeyError(x))

    got = TestSubscriber[int](request=1)
    Flowable.range(5).handle(last).subscribe(got)
    assert (got.values, got.completions) == ([0], 1)
    got = TestSubscriber[int](request=5)
    Flowable.range(5).handle(failing).subscribe(got)
    assert got.values == [0]
    assert [type(error) for error in got.errors] == [KeyError]


def test_two_items_for_one_and_none_are_errors_that_the_handler_sees() -> None:
    def twice(x: int, emitter: HandleEmitter[int]) -> None:
        emitter.on_next(x)
        emitter.on_next(x)

    def nothing(_x: int, emitter: HandleEmitter[Any]) -> None:
        emitter.on_next(None)

    with pytest.raises(RuntimeError, match=r"call emitter\.on_next once"):
        Flowable.of(1).handle(twice).blocking_list()
    with pytest.raises(TypeError, match=r"emitter.on_next\(None\)"):
        Flowable.of(1).handle(nothing).blocking_list()


def test_what_an_item_said_does_not_stay_for_the_next() -> None:
    def odd(x: int, emitter: HandleEmitter[int]) -> None:
        if x % 2:
            emitter.on_next(x)

    assert Flowable.range(6).handle(odd).blocking_list() == [1, 3, 5]
    assert Observable.range(6).handle(odd).to_list().blocking_get() == [1, 3, 5]


def test_one_item_may_turn_into_none() -> None:
    def fail(_x: int, emitter: HandleEmitter[int]) -> None:
        emitter.on_error(KeyError("no"))

    def more(x: int, emitter: HandleEmitter[int]) -> None:
        emitter.on_next(x + 1)

    assert Single.just(2).map_optional(lambda x: x * 2).blocking_get() == 4
    assert Single.just(2).map_optional(lambda _: None).blocking_get() is None
    assert Maybe.just(2).map_optional(str).blocking_get() == "2"
    assert Maybe.empty().map_optional(str).blocking_get() is None
    assert Single.just(2).handle(more).blocking_get() == 3
    assert Maybe.just(2).handle(lambda _x, _emitter: None).blocking_get() is None
    with pytest.raises(KeyError):
        Single.just(2).handle(fail).blocking_get()


def test_a_seed_is_made_for_each_subscription() -> None:
    made: list[list[int]] = []

    def fresh() -> list[int]:
        made.append([])
        return made[-1]

    def add(box: list[int], x: int) -> list[int]:
        box.append(x)
        return box

    flow = Flowable.range(3).scan_with(fresh, add)
    assert flow.blocking_list()[-1] == flow.blocking_list()[-1] == [0, 1, 2]
    assert len(made) == 2
    with pytest.raises(TypeError, match="scan_with"):
        Flowable.range(3).scan_with(lambda: None, lambda a, _b: a).blocking_list()


@pytest.mark.parametrize("places", [(2, 2), (3, 1), (-2, 0), (None, 0)])
def test_an_empty_slice_completes_without_reading(places: tuple[int | None, int]) -> None:
    source, got = ManualPublisher[int](), TestSubscriber[int](request=0)
    Flowable.wrap(source).slice(*places).subscribe(got)
    got.assert_result()
    assert source.requested == 0
    assert source.cancelled

"""on_error_continue."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from rx_core import CompositeException
from rx_fusion import fusion_off
from rx_ops import Flowable, Observable, it
from rx_testing import ManualPublisher, TestSubscriber

OOPS = ValueError("oops")


class Told:
    """A handler that keeps what it is told."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.items: list[object] = []

    def __call__(self, error: Exception, item: object) -> None:
        self.errors.append(error)
        self.items.append(item)


def tenth(n: int) -> int:
    return 10 // n


FORMS: dict[str, Any] = {
    "fused": lambda flow: flow,
    "hidden": lambda flow: flow.hide(),
    "foreign": lambda flow: Flowable.wrap(_Foreign(flow)),
}


class _Foreign:
    def __init__(self, flow: Flowable[Any]) -> None:
        self.subscribe = flow.subscribe


@pytest.mark.parametrize("off", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_an_item_whose_operators_fail_is_left_out_and_told_with_the_error(form: str, off: bool) -> None:
    told = Told()
    flow = FORMS[form](Flowable.of("1", "x", "0", "5")).map(int).map(tenth).filter(lambda n: n > 1).on_error_continue(told)
    if off:
        with fusion_off():
            assert flow.blocking_list() == [10, 2]
    else:
        assert flow.blocking_list() == [10, 2]
    assert told.items == ["x", "0"]
    assert [type(error) for error in told.errors] == [ValueError, ZeroDivisionError]
    assert told.errors[0].__notes__[0].startswith("in map(int) of ")


def test_in_the_place_of_an_item_that_is_left_out_another_is_requested() -> None:
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[int](request=1)
    Flowable.wrap(source).map(tenth).on_error_continue(Told()).subscribe(subscriber)
    assert source.requested == 1
    source.next(0)
    assert source.requested == 2
    source.next(5)
    subscriber.assert_values(2)


def test_explain_says_what_is_covered() -> None:
    flow = Flowable.of(1, 2).map(tenth).filter(bool).on_error_continue(print).map(str)
    assert flow.explain().splitlines()[0] == ("of(1, 2) → on_error_continue(map(tenth).filter(bool), print) → map(str)")


def test_what_is_behind_it_is_not_covered() -> None:
    told = Told()
    subscriber = TestSubscriber[int]()
    Flowable.of(1, 0).on_error_return(lambda _e: 1).map(abs).on_error_continue(told).map(tenth).subscribe(subscriber)
    assert isinstance(subscriber.error, ZeroDivisionError)
    assert told.items == []


def test_an_error_of_the_source_ends_the_stream() -> None:
    told = Told()
    subscriber = TestSubscriber[int]()
    Flowable.of(1).concat_with(Flowable.error(OOPS)).map(tenth).on_error_continue(told).subscribe(subscriber)
    subscriber.assert_values(10)
    assert subscriber.error is OOPS
    assert told.items == []


def test_a_function_that_gives_none_has_failed() -> None:
    told = Told()
    flow: Any = Flowable.of(1, 2)
    assert flow.map(lambda n: None if n == 1 else n).on_error_continue(told).blocking_list() == [2]
    assert told.items == [1]
    assert isinstance(told.errors[0], TypeError)


@pytest.mark.parametrize("kind", [StopIteration, GeneratorExit])
def test_exceptions_that_mean_something_to_generators_are_errors_like_others(kind: type[BaseException]) -> None:
    def stop(n: int) -> int:
        if n == 1:
            raise kind
        return n

    told = Told()
    for _ in range(20):  # stacked, then compiled
        assert Flowable.of(1, 2).map(stop).on_error_continue(told).blocking_list() == [2]
    assert {type(error) for error in told.errors} == {StopIteration if kind is StopIteration else RuntimeError}


def test_a_keyboard_interrupt_passes() -> None:
    def interrupt(_n: int) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Flowable.of(1).map(interrupt).on_error_continue(Told()).blocking_list()


def test_expressions_are_covered() -> None:
    told = Told()
    assert Flowable.of(2, 0, 5).map(10 // it).on_error_continue(told).blocking_list() == [5, 2]
    assert told.items == [0]


def test_only_the_errors_that_when_says() -> None:
    told = Told()
    subscriber = TestSubscriber[int]()
    flow = Flowable.of("0", "x").map(int).map(tenth)
    flow.on_error_continue(told, when=lambda error: isinstance(error, ZeroDivisionError)).subscribe(subscriber)
    assert isinstance(subscriber.error, ValueError)
    assert told.items == ["0"]


@pytest.mark.parametrize("where", ["handler", "when"])
def test_a_handler_that_raises_ends_the_stream_with_both(where: str) -> None:
    def fails(*_: object) -> Any:
        raise OOPS

    subscriber = TestSubscriber[int]()
    options = {"when": fails} if where == "when" else {}
    Flowable.of(0).map(tenth).on_error_continue(fails, **options).subscribe(subscriber)
    assert isinstance(subscriber.error, CompositeException)
    assert [type(error) for error in subscriber.error.exceptions] == [ZeroDivisionError, ValueError]


def test_one_behind_the_other_are_nested() -> None:
    inner, outer = Told(), Told()
    flow = Flowable.of(0, 1, 20).map(tenth).on_error_continue(inner).map(tenth).on_error_continue(outer)
    assert flow.blocking_list() == [1]
    assert (inner.items, outer.items) == ([0], [20])


def test_of_an_observable_as_well() -> None:
    told = Told()
    assert Observable.of(0, 1).map(tenth).on_error_continue(told).blocking_list() == [10]
    assert told.items == [0]


def test_it_can_be_pickled() -> None:
    flow = Flowable.of(0, 1).map(tenth).on_error_continue(print)
    assert repr(pickle.loads(pickle.dumps(flow))) == repr(flow)


# -- what is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "flow",
    [
        Flowable.of(1),
        Flowable.of(1).map(tenth).hide(),
        Flowable.of(1).map(tenth).take(3),
        Flowable.of(1).flat_map(Flowable.just),
        Flowable.of(1).scan(max),
        Observable.of(1),
    ],
    ids=repr,
)
def test_where_nothing_is_covered_it_is_refused_at_assembly(flow: Any) -> None:
    with pytest.raises(TypeError, match="cannot go on after an error") as raised:
        flow.on_error_continue(print)
    assert "flat_map(lambda x: fetch(x).on_error_complete())" in str(raised.value)


@pytest.mark.parametrize(
    ("flow", "named"),
    [
        (Flowable.of(1).scan(max).map(tenth), "scan(max)"),
        (Flowable.of(1).take_while(bool).take(2).map(tenth), "take_while(bool)"),
        (Flowable.of(1).map(tenth).flat_map_iterable(range).map(str), "flat_map_iterable(range)"),
    ],
    ids=["scan", "take_while", "flat_map_iterable"],
)
def test_a_function_in_between_that_is_not_covered_is_refused(flow: Any, named: str) -> None:
    with pytest.raises(TypeError) as raised:
        flow.on_error_continue(print)
    assert f".{named}.hide()" in str(raised.value)


STREAMS_OF_ITEMS: dict[str, Any] = {
    "flat_map": lambda flow: flow.flat_map(Flowable.just),
    "concat_map": lambda flow: flow.concat_map(Flowable.just),
    "concat_map_eager": lambda flow: flow.concat_map_eager(Flowable.just),
    "switch_map": lambda flow: flow.switch_map(Flowable.just),
    "exhaust_map": lambda flow: flow.exhaust_map(Flowable.just),
    "flat_map, with more between": lambda flow: flow.flat_map(Flowable.just).take(9),
}


@pytest.mark.parametrize("name", STREAMS_OF_ITEMS)
def test_streams_of_items_in_front_of_what_is_covered_are_refused(name: str) -> None:
    opened = STREAMS_OF_ITEMS[name](Flowable.of(1, 0))
    with pytest.raises(TypeError, match="whose errors end the stream") as raised:
        opened.map(tenth).on_error_continue(print)
    assert f".{name.partition(',')[0]}(Flowable.just).hide()" in str(raised.value)
    told = Told()
    assert opened.hide().map(tenth).on_error_continue(told).blocking_list() == [10]
    assert told.items == [0]


def test_what_makes_no_stream_of_an_item_may_be_in_front_of_what_is_covered() -> None:
    told = Told()
    flow = Flowable.of(1, 0).merge_with(Flowable.empty()).retry(3, when=bool).map(tenth).on_error_continue(told)
    assert flow.blocking_list() == [10]
    assert told.items == [0]


def test_inner_streams_go_on_by_themselves_as_the_error_says() -> None:
    def fetch(n: int) -> Flowable[int]:
        return Flowable.just(n).map(tenth)

    assert Flowable.of(1, 0, 2).flat_map(lambda n: fetch(n).on_error_complete()).blocking_list() == [10, 5]


def test_behind_hide_it_covers_what_is_there() -> None:
    told = Told()
    assert Flowable.of(1, 0).scan(min).hide().map(tenth).on_error_continue(told).blocking_list() == [10]
    assert told.items == [0]

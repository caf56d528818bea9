"""sorted(), and its first few: the same items in the same order, the same errors at the same time."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import permutations
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rx_fusion import fusion_off, without_rules
from rx_ops import Flowable, Observable, it
from rx_ops.stages import _sorted
from rx_ops.stages._sorted import first_of, first_places_of
from rx_testing import ManualPublisher, TestSubscriber

COUNT: Final = 3 * _sorted._BLOCK + 7


def test_items_come_as_requested_when_the_source_is_complete() -> None:
    source, got = ManualPublisher[int](), TestSubscriber[int](request=0)
    Flowable.wrap(source).sorted().subscribe(got)
    got.request(2)
    source.next(3, 1, 2)
    assert got.values == []
    source.complete()
    assert got.values == [1, 2]
    assert got.completions == 0
    got.request(1)
    assert got.values == [1, 2, 3]
    assert got.completions == 1


@pytest.mark.parametrize("count", [2, 5])
def test_the_end_comes_with_the_last_item(count: int) -> None:
    got = TestSubscriber[int](request=min(count, 3))
    Flowable.from_iterable([3, 1, 2]).sorted().take(count).subscribe(got)
    assert got.values == [1, 2, 3][:count]
    assert got.completions == 1


def test_equal_items_stay_in_their_order_in_both_directions() -> None:
    words = Flowable.of("bb", "a", "cc", "d")
    assert words.sorted(len).blocking_list() == ["a", "d", "bb", "cc"]
    assert words.sorted(len, reverse=True).blocking_list() == ["bb", "cc", "a", "d"]
    assert Observable.of("bb", "a").sorted(len).to_list().blocking_get() == ["a", "bb"]


def test_a_key_may_be_a_symbol() -> None:
    rows = Flowable.of({"n": 2}, {"n": 1})
    assert rows.sorted(it["n"]).map(it["n"]).blocking_list() == [1, 2]
    assert repr(rows.map(it["n"]).sorted(-it, reverse=True).take(1)).endswith(".sorted(-it, reverse=True).take(1)")


def test_the_key_is_called_when_its_item_comes() -> None:
    """An error of it ends the stream there: what comes later is not read."""
    read: list[int] = []
    flow = Flowable.range(9).do_on_next(read.append).sorted(lambda x: 1 // (2 - x))
    with pytest.raises(ZeroDivisionError) as caught:
        flow.blocking_list()
    assert read == [0, 1, 2]
    assert ".sorted(" in "\n".join(caught.value.__notes__)


class Odd:
    """An order of its own, which fails for some."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __lt__(self, other: Odd) -> bool:
        if {self.number, other.number} == {1, COUNT - 1}:
            raise ArithmeticError("these two cannot be told apart")
        return self.number < other.number


MIXTURES: Final[dict[str, Callable[[int], Any]]] = {
    "int": lambda x: x,
    "str": str,
    "bytes": lambda x: str(x).encode(),
    "float": lambda x: x / 4,
    "negative zero": lambda x: -0.0 if x % 2 else 0.0,
    "bool": lambda x: x % 2 == 0,
    "nan": lambda x: float("nan") if x % 1000 == 9 else x / 4,
    "a str late": lambda x: "late" if x == COUNT - 1 else x,
    "None late": lambda x: None if x == COUNT - 1 else x,
    "a number of another kind": lambda x: Decimal(x) if x == COUNT - 1 else x,
    "tuples": lambda x: (x % 7, x),
    "tuples with nan": lambda x: (float("nan") if x % 1000 == 9 else x % 7, x),
    "an own order": Odd,
}


def outcome(work: Callable[[], list[Any]]) -> Any:
    try:
        return [repr(each.number) if isinstance(each, Odd) else repr(each) for each in work()]
    except (TypeError, ArithmeticError) as error:
        return type(error), str(error)


@pytest.mark.slow
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("mixture", MIXTURES)
def test_the_first_few_are_those_of_sorted(mixture: str, reverse: bool) -> None:
    numbers = [(x * 7919) % COUNT for x in range(COUNT)]
    made = MIXTURES[mixture]
    keys = [made(x) for x in numbers]
    calls: list[int] = []

    def key(x: int) -> Any:
        calls.append(x)
        return made(x)

    def taken() -> list[Any]:
        return Flowable.from_iterable(numbers).sorted(key, reverse=reverse).take(5).blocking_list()

    wanted = outcome(lambda: sorted(numbers, key=made, reverse=reverse)[:5])
    assert outcome(taken) == wanted
    assert calls == numbers
    with without_rules():
        assert outcome(taken) == wanted
    if None not in keys:
        assert outcome(lambda: Flowable.from_iterable(keys).sorted(reverse=reverse).take(5).blocking_list()) == outcome(
            lambda: sorted(keys, reverse=reverse)[:5]
        )


SOME: Final = (
    st.lists(st.integers(-5, 5), min_size=1),
    st.lists(st.text("ab", max_size=2), min_size=1),
    st.lists(st.floats(width=16), min_size=1),
    st.lists(st.one_of(st.integers(0, 3), st.booleans(), st.floats(width=16), st.just("x"), st.none()), min_size=1),
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(keys=st.one_of(SOME), count=st.integers(1, 6), reverse=st.booleans())
def test_choosing_the_first_is_sorting(keys: list[Any], count: int, reverse: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sorted, "_BLOCK", 3)
        assert outcome(lambda: first_of(keys, count, reverse)) == outcome(lambda: sorted(keys, reverse=reverse)[:count])
        order = outcome(lambda: sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)[:count])
        assert outcome(lambda: first_places_of(keys, count, reverse)) == order


def test_without_looking_for_nan_the_result_would_be_another() -> None:
    orders = [list(keys) for keys in permutations([2.0, 1.0, float("nan"), 3.0, 0.0])]  # where it shows differs between Pythons
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sorted, "_BLOCK", 3)
        assert all(first_of(keys, 1, False) == sorted(keys)[:1] for keys in orders)
        patch.setattr(_sorted, "_in_total_order", lambda _keys: True)
        assert any(first_of(keys, 1, False) != sorted(keys)[:1] for keys in orders)


def test_fusion_off_gives_the_same() -> None:
    flow = Flowable.from_iterable(range(COUNT, 0, -1)).sorted().take(3)
    with fusion_off():
        assert flow.blocking_list() == [1, 2, 3]
    assert flow.blocking_list() == [1, 2, 3]


def test_a_key_that_is_no_function_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="sorted"):
        Flowable.of(1).sorted("price")  # type: ignore[call-overload]  # on purpose

"""A Single without an item fails where it became one, whatever comes after it: not only in front of an observer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import EmptyStreamError
from rx_ops import Flowable, Maybe, Single
from rx_testing import ManualPublisher, TestMaybeObserver, TestSubscriber

NONE: dict[str, Callable[[], Single[Any]]] = {
    "first": lambda: Flowable.empty().first(),
    "to_single": lambda: Maybe.empty().to_single(),
    "to_single of a stream": lambda: Flowable.range(3).filter(lambda item: item > 5).element_at(0).to_single(),
    "to_single behind a wall": lambda: Maybe.empty().hide().to_single(),
    "to_single, hidden": lambda: Maybe.empty().to_single().hide(),
    "retry_when": lambda: Single.error(OSError("oops")).retry_when(lambda errors: errors.take(0)),
    "amb": lambda: Single.amb(),
    "first_with_value": lambda: Single.first_with_value(),
}

BEHIND: dict[str, Callable[[Single[Any]], Any]] = {
    "nothing": lambda single: single,
    "map": lambda single: single.map(str),
    "flat_map": lambda single: single.flat_map(Single.just),
    "zip": lambda single: Single.zip(single, Single.just(1)),
    "to_maybe": lambda single: single.to_maybe(),
    "to_flowable": lambda single: single.to_flowable().first_element(),
    "to_observable": lambda single: single.to_observable().first_element(),
    "ignore_element": lambda single: single.ignore_element().and_then(Maybe.just(1)),
    "inner": lambda single: Flowable.of(1).flat_map(lambda _: single.to_flowable()).first_element(),
}


@pytest.mark.parametrize("behind", BEHIND.values(), ids=list(BEHIND))
@pytest.mark.parametrize("build", NONE.values(), ids=list(NONE))
def test_the_error_comes_through(build: Callable[[], Single[Any]], behind: Callable[[Single[Any]], Any]) -> None:
    got: TestMaybeObserver[Any] = TestMaybeObserver()
    behind(build()).subscribe(got)
    got.assert_failure(EmptyStreamError)


@pytest.mark.parametrize("build", NONE.values(), ids=list(NONE))
def test_what_deals_with_errors_sees_it(build: Callable[[], Single[Any]]) -> None:
    seen: list[Exception] = []

    def again(errors: Flowable[Exception]) -> Flowable[Exception]:
        return errors.do_on_next(seen.append).take(2)

    made = build()
    assert made.on_error_return(lambda error: type(error).__name__).blocking_get() == "EmptyStreamError"
    with pytest.raises(EmptyStreamError):
        made.retry_when(again).blocking_get()
    assert [type(error) for error in seen] == [EmptyStreamError] * 2


def test_a_single_that_has_its_item_lets_its_source_complete() -> None:
    ends: list[str] = []
    source: ManualPublisher[int] = ManualPublisher()
    flow = Flowable.wrap(source).do_on_complete(lambda: ends.append("complete"))
    got: TestSubscriber[int] = TestSubscriber()
    flow.element_at(0).to_single().to_flowable().subscribe(got)
    source.next(1)
    got.assert_result(1)
    assert source.cancelled  # by element_at
    hot: ManualPublisher[int] = ManualPublisher()
    got = TestSubscriber()
    Flowable.wrap(hot).do_on_complete(lambda: ends.append("complete")).reduce(max).to_single().to_flowable().subscribe(got)
    hot.next(1, 2)
    got.assert_values().assert_not_terminated()
    hot.complete()
    got.assert_result(2)
    assert ends == ["complete"]
    assert not hot.cancelled


def test_the_plan_shows_the_conversion() -> None:
    assert repr(Maybe.just(1).to_single()) == "just(1).to_single()"
    assert "not_empty" not in repr(Single.just(1).retry_when(lambda errors: errors))

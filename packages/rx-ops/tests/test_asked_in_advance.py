"""A stage that drops items and has asked for as many more (skip) in front of operators that are asked for few."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from rx_ops import Flowable
from rx_testing import TestSubscriber

Flow = Flowable[Any]

AFTERWARDS: Final[dict[str, Callable[[Flow], Flow]]] = {
    "amb": lambda flow: flow.amb_with(Flowable.never()),
    "first_with_value": lambda flow: Flowable.first_with_value(flow, Flowable.never()),
    "concat": lambda flow: flow.concat_with(Flowable.never()),
    "retry": lambda flow: flow.retry(),
    "on_error_resume_next": lambda flow: flow.on_error_resume_next(lambda _error: Flowable.never()),
    "take_until": lambda flow: flow.take_until(Flowable.never()),
    "switch_map": lambda flow: Flowable.just(0).hide().switch_map(lambda _: flow),
    "concat_map": lambda flow: Flowable.just(0).concat_map(lambda _: flow),
    "flat_map": lambda flow: Flowable.just(0).flat_map(lambda _: flow),
}


@pytest.mark.parametrize("after", AFTERWARDS)
@pytest.mark.parametrize(
    "first", [lambda flow: flow.skip(3), lambda flow: flow.element_at(3).to_flowable()], ids=["skip", "element_at"]
)
def test_no_more_items_come_than_are_requested(first: Callable[[Flow], Flow], after: str) -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    AFTERWARDS[after](first(Flowable.range(10).hide())).subscribe(got)
    got.assert_values(3)
    got.assert_valid()


def test_a_window_is_not_exceeded() -> None:
    """A skipped item was asked for in advance; it is not asked for a second time as one that left the window."""
    requested: list[int] = []
    source = Flowable.range(1_000).hide().do_on_request(requested.append)
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.merge(source.skip(3), Flowable.never(), prefetch=8).subscribe(got)
    assert requested == [11]
    got.request(6)
    assert requested == [11, 6]

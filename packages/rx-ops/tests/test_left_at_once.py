"""Stages that give several items for one, behind a source that pushes, when nothing of it is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from rx_core import Subscription
from rx_ops import Flowable
from rx_testing import TestSubscriber

Flow = Flowable[Any]


class Leaving(TestSubscriber[Any]):
    """Cancels as soon as it has its Subscription."""

    def on_subscribe(self, subscription: Subscription, /) -> None:
        super().on_subscribe(subscription)
        subscription.cancel()


EXPANDING: Final[dict[str, Callable[[Flow], Flow]]] = {
    "flat_map_iterable": lambda flow: flow.flat_map_iterable(lambda x: [x]),
    "collect, take, skip": lambda flow: flow.collect(list[Any]).to_flowable().take(3).skip(1),
}


@pytest.mark.parametrize("name", EXPANDING)
def test_do_finally_is_called_for_a_subscriber_that_leaves_at_once(name: str) -> None:
    log: list[Any] = []
    source = Flowable.range(3).hide().do_on_next(log.append).do_finally(lambda: log.append("finally"))
    EXPANDING[name](source).subscribe(Leaving())
    assert log == ["finally"]


@pytest.mark.parametrize("requested", [0, 3])
def test_take_0_does_not_start_its_source(requested: int) -> None:
    log: list[Any] = []
    source = Flowable.range(3).hide().do_on_next(log.append).group_by(str).flat_map(lambda group: group.count())
    got: TestSubscriber[Any] = TestSubscriber(request=requested)
    source.do_finally(lambda: log.append("finally")).collect(list).to_flowable().take(0).skip(0).subscribe(got)
    got.assert_result()
    assert log == ["finally"]


@pytest.mark.parametrize("requested", [0, 1])
def test_what_stages_give_behind_take_0_needs_no_source(requested: int) -> None:
    log: list[Any] = []

    def resume(_error: Exception) -> Flowable[int]:
        log.append("resumed")
        return Flowable.just(1)

    source = Flowable[int].error(ValueError("broken")).on_error_resume_next(resume).do_finally(lambda: log.append("finally"))
    got: TestSubscriber[Any] = TestSubscriber(request=requested)
    source.take(0).default_if_empty(7).buffer(2).subscribe(got)
    assert log == ["finally"]
    got.request(1)
    got.assert_result([7])
    assert log == ["finally"]


def test_a_request_that_is_wrong_ends_what_stages_give_behind_take_0() -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.range(3).hide().take(0).default_if_empty(7).buffer(2).subscribe(got)
    got.request(-1)
    got.assert_failure(ValueError)


def test_what_scan_begins_with_waits_for_a_request() -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.range(3).hide().scan(lambda a, b: a + b, 10).flat_map_iterable(lambda x: [x, x]).subscribe(got)
    got.assert_empty()
    got.request(1)
    got.assert_values(10)
    got.request(10)
    got.assert_result(10, 10, 10, 10, 11, 11, 13, 13)

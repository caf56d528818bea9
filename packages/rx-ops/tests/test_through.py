"""A coordinating operator of somebody else over a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import pytest

from rx_core import Items, Publisher, Run, Source
from rx_fusion import operator
from rx_ops import Flowable, Observable
from rx_testing import ManualPublisher, TestSubscriber

T = TypeVar("T")


@operator
def followed_by(run: Run, source: Source[T], other: Publisher[T], times: int = 1) -> Items[T]:
    yield from source
    for _ in range(times):
        yield from run.open(other)


@operator
def named_only(run: Run, source: Source[T], *, item: T) -> Iterator[T | None]:
    yield from source
    yield item


def test_its_arguments_go_by_position_or_by_name() -> None:
    flow = Flowable.of(1, 2)
    assert flow.through(followed_by, Flowable.of(7)).blocking_list() == [1, 2, 7]
    assert flow.through(followed_by, times=2, other=Flowable.of(7)).blocking_list() == [1, 2, 7, 7]
    assert Observable.of(1, 2).through(followed_by, Flowable.of(7)).map(str).blocking_list() == ["1", "2", "7"]
    assert "followed_by" in repr(flow.through(followed_by, Flowable.of(7)))


def test_it_is_asked_for_no_more_than_is_wanted() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber(request=2)
    Flowable.wrap(source).through(followed_by, Flowable.of(8, 9)).subscribe(got)
    assert source.requested == 2
    source.next(1)
    source.complete()
    got.assert_values(1, 8).assert_not_terminated()
    got.request(2)
    got.assert_result(1, 8, 9)


def test_what_is_no_operator_and_wrong_arguments_are_refused_when_the_pipeline_is_built() -> None:
    flow: Any = Flowable.of(1, 2)
    with pytest.raises(TypeError, match="@operator above its definition"):
        flow.through(lambda _run, source: source)
    with pytest.raises(TypeError, match=r"followed_by\(\): missing a required argument.*\n.*Its form"):
        flow.through(followed_by)
    with pytest.raises(TypeError, match="Its form"):
        flow.through(followed_by, Flowable.of(1), 1, 2)
    with pytest.raises(TypeError, match="item cannot be keyword-only"):
        flow.through(named_only, item=3)
    with pytest.raises(TypeError, match="operator"):
        flow.through(5)

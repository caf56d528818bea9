"""Groups that wait in a queue for their consumer: as they are, and packed into something the queue cannot look into."""

from __future__ import annotations

from typing import Any

import pytest

from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber


def _one_by_one(flow: Flowable[Any], times: int) -> list[Any]:
    subscriber = TestSubscriber[Any](request=0)
    flow.subscribe(subscriber)
    for _ in range(times):
        subscriber.request(1)
    return list(subscriber.values)


def test_a_group_that_waits_in_a_queue_keeps_its_items() -> None:
    groups = Flowable.range(9).group_by(lambda n: n % 3).hide()
    assert _one_by_one(groups.flat_map(lambda group: group.to_list()), 4) == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]


@pytest.mark.parametrize("wall", ["behind", "before"])
def test_a_group_in_a_tuple_that_waits_in_a_queue_is_abandoned_but_no_item_is_lost(wall: str) -> None:
    """Stages behind a wall belong to the source there, so the queue of flat_map is behind them as well."""
    groups = Flowable.range(6).group_by(lambda n: n % 3)
    packed = (groups.hide() if wall == "before" else groups).map(lambda group: (group.key, group))
    lists = (packed.hide() if wall == "behind" else packed).flat_map(lambda pair: pair[1].to_list())
    assert [item for part in _one_by_one(lists, 7) for item in part] == [0, 3, 1, 4, 2, 5]  # in turns: all groups are open


def test_flat_map_subscribes_to_an_inner_source_with_the_item_that_makes_it() -> None:
    inner = ManualPublisher[int]()
    subscriber = TestSubscriber[int](request=0)
    Flowable.just(1).flat_map(lambda _x: inner).subscribe(subscriber)
    assert inner.requested == 128

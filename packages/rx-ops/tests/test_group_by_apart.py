"""The source of group_by is over when the last group is, and what is to happen after that happens then."""

from __future__ import annotations

from typing import Any

from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber


def test_do_finally_before_group_by_waits_for_the_last_group() -> None:
    calls: list[str] = []
    source = ManualPublisher[int]()
    inner = TestSubscriber[int]()
    got = TestSubscriber[Any](on_value=lambda group: group.subscribe(inner))
    Flowable.wrap(source).do_finally(lambda: calls.append("over")).group_by(lambda x: x % 2).subscribe(got)
    source.next(1)
    got.cancel()
    source.next(3)
    inner.assert_values(1, 3)
    assert not calls
    inner.cancel()
    assert source.cancelled
    assert calls == ["over"]


def test_do_finally_before_group_by_comes_after_the_end() -> None:
    calls: list[str] = []
    source = ManualPublisher[int]()
    flow = Flowable.wrap(source).do_finally(lambda: calls.append("over")).group_by(lambda x: x % 2).flat_map(lambda group: group)
    flow.subscribe(lambda _x: None, on_complete=lambda: calls.append("complete"))
    source.next(1)
    source.complete()
    assert calls == ["complete", "over"]

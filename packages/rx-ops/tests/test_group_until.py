"""group_by_until: when groups end, what belongs to which, and what is left when."""

from __future__ import annotations

from typing import Any

import pytest
from ops_parties import Consumer

from rx_ops import Flowable, Maybe, Single
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

Source = ManualPublisher[Any]


class Failed(Exception):
    """What a source fails with."""


def odd(x: int) -> bool:
    return x % 2 == 1


def test_a_group_ends_when_its_source_signals_and_its_key_makes_a_new_one() -> None:
    clock, source = VirtualScheduler(), Source()
    flow = Flowable.wrap(source).group_by_until(odd, lambda _key: Flowable.timer(1.0, scheduler=clock))
    groups = Consumer(flow)
    source.next(1, 2)
    clock.advance_to(0.5)
    source.next(3)
    clock.advance_to(1.0)
    assert [each.completions for each in groups.windows] == [1, 1]
    source.next(5)
    assert [each.values for each in groups.windows] == [[1, 3], [2], [5]]
    source.complete()
    assert groups.windows[2].completions == 1
    assert groups.outer.completions == 1
    assert clock.next_due is None


@pytest.mark.parametrize("at_once", [Flowable.just, Single.just, Maybe.just, lambda _key: Flowable.empty()])
def test_a_group_whose_source_signals_at_once_has_its_first_item(at_once: Any) -> None:
    flow = Flowable.of(1, 3, 2).group_by_until(odd, at_once).concat_map(lambda group: group.to_list())
    assert flow.blocking_list() == [[1], [3], [2]]


def test_it_is_asked_once_for_each_group_with_its_key() -> None:
    keys: list[bool] = []

    def until(key: bool) -> Flowable[int]:
        keys.append(key)
        return Flowable.never()

    flow = Flowable.range(6).group_by_until(odd, until, str)
    assert flow.flat_map(lambda group: group.map(lambda x: (group.key, x))).blocking_list()[:2] == [(False, "0"), (True, "1")]
    assert keys == [False, True]


@pytest.mark.parametrize("why", ["source", "until", "raises", "none"])
def test_a_failure_ends_all_groups_and_leaves_every_source(why: str) -> None:
    source, ends = Source(), list[Source]()

    def until(key: bool) -> Any:
        if why == "raises" and not key:
            raise Failed
        if why == "none" and not key:
            return None
        ends.append(Source())
        return ends[-1]

    groups = Consumer(Flowable.wrap(source).group_by_until(odd, until))
    source.next(1)
    if why == "source":
        source.error(Failed())
    elif why == "until":
        ends[0].error(Failed())
    else:
        source.next(2)
    wanted = TypeError if why == "none" else Failed
    assert [[type(error) for error in each.errors] for each in (groups.windows[0], groups.outer)] == [[wanted], [wanted]]
    assert source.cancelled or why == "source"
    assert all(each.cancelled for each in ends) or why == "until"


def test_a_group_that_is_left_leaves_its_source_and_its_key_comes_again() -> None:
    source, ends = Source(), list[Source]()

    def until(_key: bool) -> Source:
        ends.append(Source())
        return ends[-1]

    groups = Consumer(Flowable.wrap(source).group_by_until(odd, until))
    source.next(1)
    groups.windows[0].cancel()
    assert ends[0].cancelled
    source.next(3)
    assert groups.windows[1].values == [3]
    groups.outer.cancel()
    before = source.cancelled
    groups.windows[1].cancel()
    assert (before, source.cancelled) == (False, True)
    assert ends[1].cancelled


def test_what_waits_in_groups_has_a_bound_and_a_group_that_is_not_requested_is_an_error() -> None:
    source = Source()
    groups = Consumer(Flowable.wrap(source).group_by_until(odd, lambda _key: Flowable.never(), buffer_size=4), 1, each=0)
    source.next(1, 3)
    assert source.requested == 4
    groups.windows[0].request(5)
    source.next(5)
    assert source.requested == 7
    source.next(2)
    assert "group_by_until" in str(groups.outer.errors[0])
    assert source.cancelled


def test_a_group_without_a_subscriber_holds_nothing_back() -> None:
    source, got = Source(), TestSubscriber[Any]()
    Flowable.wrap(source).group_by_until(lambda x: x, Flowable.just, buffer_size=2).subscribe(got)
    for item in range(9):
        assert source.requested > item
        source.next(item)
    assert len(got.values) == 9


def test_wrong_arguments_are_refused() -> None:
    wrong: Any = 3
    with pytest.raises(TypeError, match="until"):
        Flowable.range(3).group_by_until(odd, wrong)


def test_a_group_that_was_left_at_once_has_no_limit() -> None:
    limited: list[int] = []

    def until(key: int) -> Flowable[int]:
        limited.append(key)
        return Flowable.error(ValueError("the limit of a group that its subscriber has left"))

    groups = Flowable.of(1, 2, 1).group_by_until(lambda item: item, until)
    got: TestSubscriber[int] = TestSubscriber()
    groups.flat_map(lambda group: group.take(0)).subscribe(got)
    got.assert_result()
    assert limited == []

"""Which items go on, as which lists, and what they expand to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from ops_parties import errors_of_the_hook

from rx_fusion import fusion_off
from rx_ops import Completable, Flowable, Maybe, Observable, PublishProcessor, RecentKeys, Single
from rx_testing import ManualPublisher, TestMaybeObserver, TestSubscriber, VirtualScheduler

Source = ManualPublisher[Any]


class Failed(Exception):
    """What a source fails with."""


def even(x: int) -> bool:
    return x % 2 == 0


# -- filter_when ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [Flowable.just, Single.just, Maybe.just, Observable.just, lambda x: Flowable.of(x, not x), lambda x: Single.just(x).hide()],
)
@pytest.mark.parametrize("off", [False, True], ids=["fused", "off"])
def test_the_first_item_of_an_answer_decides(answer: Callable[[bool], Any], off: bool) -> None:
    flow = Flowable.range(6).filter_when(lambda x: answer(even(x)))
    if off:
        with fusion_off():
            assert flow.blocking_list() == [0, 2, 4]
    else:
        assert flow.blocking_list() == [0, 2, 4]


def test_no_answer_is_no() -> None:
    assert Flowable.range(3).filter_when(lambda x: Maybe.just(True) if x else Maybe.empty()).blocking_list() == [1, 2]


def test_items_stay_in_order_and_an_answer_is_left_after_its_first_item() -> None:
    answers: list[Source] = []

    def ask(_x: int) -> Source:
        answers.append(Source())
        return answers[-1]

    source, got = Source(), TestSubscriber[int]()
    Flowable.wrap(source).filter_when(ask).subscribe(got)
    source.next(1, 2)
    assert len(answers) == 1
    answers[0].next(True)
    assert answers[0].cancelled
    assert len(answers) == 2
    answers[1].error(Failed())
    got.assert_failure(Failed, 1)
    assert source.cancelled


def test_a_predicate_without_an_answer_is_told_what_to_write() -> None:
    wrong: Any = lambda x: x > 1  # noqa: E731
    with pytest.raises(TypeError, match=r"filter_when\(\) expected a function returning a publisher"):
        Flowable.range(3).filter_when(wrong).blocking_list()


def test_behind_what_hands_a_loop_over_the_items_are_those_of_the_source() -> None:
    clock, got = VirtualScheduler(), TestSubscriber[int]()
    asked = Flowable.of(5, 1).filter_when(lambda _x: Flowable.timer(1.0, scheduler=clock).map(lambda _: True))
    Flowable.concat_eager(asked, Flowable.empty()).subscribe(got)
    clock.advance_by(5.0)
    got.assert_result(5, 1)


@pytest.mark.parametrize(("yes", "items"), [(True, (7,)), (False, ())])
def test_of_a_single_it_is_a_maybe(yes: bool, items: tuple[int, ...]) -> None:
    for made in (Single.just(7), Maybe.just(7)):
        got = TestMaybeObserver[int]()
        made.filter_when(lambda _x: Single.just(yes)).subscribe(got)
        got.assert_result(*items)


# -- expand(depth_first=True) --------------------------------------------------------------------------------------------------

TREE: dict[int, list[int]] = {1: [2, 3], 2: [4, 5], 3: [6, 7]}


@pytest.mark.parametrize("of", [Flowable.from_iterable, lambda xs: Flowable.from_iterable(xs).hide(), Observable.from_iterable])
@pytest.mark.parametrize("off", [False, True], ids=["fused", "off"])
def test_depth_first_all_below_an_item_comes_before_the_next_one(of: Callable[[list[int]], Any], off: bool) -> None:
    flow = of([1, 8]).expand(lambda x: of(TREE.get(x, [])), depth_first=True)
    if off:
        with fusion_off():
            assert flow.blocking_list() == [1, 2, 4, 5, 3, 6, 7, 8]
    else:
        assert flow.blocking_list() == [1, 2, 4, 5, 3, 6, 7, 8]


def test_a_source_is_asked_for_one_item_when_all_below_the_last_was_given() -> None:
    source, below, got = Source(), Source(), TestSubscriber[int](request=1)
    Flowable.wrap(source).expand(lambda x: below if x == 1 else Flowable.empty(), depth_first=True).subscribe(got)
    assert source.requested == 1
    source.next(1)
    assert (source.requested, below.requested) == (1, 0)
    got.request(5)
    assert (source.requested, below.requested) == (1, 1)
    below.next(2)
    assert below.requested == 2
    below.complete()
    assert source.requested == 2
    source.complete()
    got.assert_result(1, 2)


def test_an_error_on_any_level_is_the_end_at_once() -> None:
    source, below, got = Source(), Source(), TestSubscriber[int]()
    Flowable.wrap(source).expand(lambda _x: below, depth_first=True).subscribe(got)
    source.next(1)
    source.error(Failed())
    got.assert_failure(Failed, 1)
    assert below.cancelled


def test_a_cancel_leaves_all_levels() -> None:
    sources = [Source(), Source(), Source()]
    rest = iter(sources[1:])
    got = TestSubscriber[int]()
    Flowable.wrap(sources[0]).expand(lambda _x: next(rest), depth_first=True).subscribe(got)
    sources[0].next(1)
    sources[1].next(2)
    got.cancel()
    assert [each.cancelled for each in sources] == [True, True, True]


def test_a_deep_tree_needs_no_deep_stack() -> None:
    deep = Flowable.just(0).expand(lambda x: Flowable.just(x + 1) if x < 20_000 else Flowable.empty(), depth_first=True)
    assert deep.count().blocking_get() == 20_001
    pushed = Flowable.just(0).expand(lambda x: Flowable.just(x + 1).hide() if x < 20_000 else Flowable.empty(), depth_first=True)
    assert pushed.count().blocking_get() == 20_001


@pytest.mark.parametrize("off", [False, True], ids=["fused", "off"])
@pytest.mark.parametrize(
    "below",
    [Flowable.empty, lambda: Flowable.empty().hide(), Maybe.empty, Observable.empty],
    ids=["known", "hidden", "maybe", "hot"],
)
def test_what_an_item_expands_to_begins_when_subscribe_of_its_source_has_returned(below: Callable[[], Any], off: bool) -> None:
    """As in Reactor's expandDeep. Until then the source has been asked for one item, and its error does not wait for more."""
    with fusion_off() if off else nullcontext():
        source = Flowable.concat(Flowable.of(1, 2, 3, 4), Flowable.error(Failed())).on_backpressure_buffer()
        got = TestSubscriber[int]()
        source.take(3).expand(lambda _x: below(), depth_first=True).subscribe(got)
        got.assert_failure(Failed, 1)


# -- interval_range ------------------------------------------------------------------------------------------------------------


def test_so_many_numbers_come_at_their_time_and_the_end_with_the_last() -> None:
    clock, came = VirtualScheduler(), list[tuple[float, int]]()
    got = TestSubscriber[int](on_value=lambda x: came.append((clock.now(), x)))
    Flowable.interval_range(5, 3, 2.0, initial=0.5, scheduler=clock).subscribe(got)
    clock.advance_to(4.5)
    assert came == [(0.5, 5), (2.5, 6), (4.5, 7)]
    got.assert_result(5, 6, 7)
    assert clock.next_due is None


def test_without_numbers_it_completes_when_the_first_would_be_due() -> None:
    clock, got = VirtualScheduler(), TestSubscriber[int]()
    Flowable.interval_range(5, 0, 2.0, scheduler=clock).subscribe(got)
    clock.advance_to(1.9)
    got.assert_not_terminated()
    clock.advance_to(2.0)
    got.assert_result()


@pytest.mark.parametrize("wrong", [("0", 1, 1.0), (0, -1, 1.0), (0, 1, -1.0), (0, 1, 1.0, -1.0)])
def test_a_range_that_is_none_is_refused(wrong: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, ValueError), match="interval_range"):
        Flowable.interval_range(*wrong[:3], initial=wrong[3] if len(wrong) > 3 else None)


# -- distinct(store=) ----------------------------------------------------------------------------------------------------------


def test_what_a_bounded_store_has_forgotten_is_new_again() -> None:
    items = Flowable.of(1, 2, 1, 3, 2, 1)
    assert items.distinct(store=lambda: RecentKeys(2)).blocking_list() == [1, 2, 3, 2, 1]
    assert items.distinct(store=lambda: RecentKeys(3)).blocking_list() == [1, 2, 3]
    assert items.distinct(even, store=set).blocking_list() == [1, 2]


def test_each_run_has_a_store_of_its_own_and_what_makes_it_may_fail() -> None:
    flow = Flowable.of(1, 1).distinct(store=lambda: RecentKeys(9))
    assert flow.blocking_list() == flow.blocking_list() == [1]
    wrong: Any = lambda: None  # noqa: E731
    with pytest.raises(TypeError, match="distinct"):
        Flowable.of(1, 1).distinct(store=wrong).blocking_list()
    with pytest.raises(TypeError, match="store"):
        Flowable.of(1).distinct(store=set())  # type: ignore[arg-type]  # it is what is tested
    with pytest.raises(ValueError, match="RecentKeys"):
        RecentKeys(0)


def test_recent_keys_keeps_what_was_seen_last() -> None:
    keys = RecentKeys(2)
    keys.add("a")
    keys.add("b")
    assert "a" in keys
    keys.add("c")
    assert [key in keys for key in "abc"] == [True, False, True]
    assert (len(keys), repr(keys)) == (2, "RecentKeys(2)")


# -- chunk_by_weight -----------------------------------------------------------------------------------------------------------


def test_a_full_list_is_given_with_its_last_item_and_a_heavy_one_alone() -> None:
    source, got = PublishProcessor[str](), TestSubscriber[list[str]]()
    source.chunk_by_weight(4, len).subscribe(got)
    for word in ("a", "bb"):
        source.on_next(word)
    got.assert_values()
    source.on_next("c")
    got.assert_values(["a", "bb", "c"])
    source.on_next("dd")
    source.on_next("eeeeee")
    got.assert_values(["a", "bb", "c"], ["dd"], ["eeeeee"])
    source.on_next("f")
    source.on_complete()
    got.assert_result(["a", "bb", "c"], ["dd"], ["eeeeee"], ["f"])


def test_two_lists_of_one_item_wait_for_their_requests() -> None:
    got = TestSubscriber[list[str]](request=1)
    Flowable.of("a", "bbbb", "c").chunk_by_weight(3, len).subscribe(got)
    got.assert_values(["a"])
    got.request(1)
    got.assert_values(["a"], ["bbbb"]).assert_not_terminated()
    got.request(2)  # the end is seen with the next request, as behind buffer
    got.assert_result(["a"], ["bbbb"], ["c"])


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "plain"])
def test_a_source_that_pushes_is_asked_for_128_items_whose_lists_its_error_overtakes(fused: bool) -> None:
    source, got = Source(), TestSubscriber[list[str]](request=1)
    with nullcontext() if fused else fusion_off():
        Flowable.wrap(source).chunk_by_weight(1, len).subscribe(got)
    assert source.requested == 128
    for word in ("a", "b", "c"):
        source.next(word)
    got.assert_values(["a"]).assert_not_terminated()
    source.error(Failed())
    got.assert_failure(Failed, ["a"])


@pytest.mark.parametrize("limit", [0, -1, "4", True, float("nan")])
def test_a_limit_that_is_none_is_refused(limit: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="chunk_by_weight"):
        Flowable.of("a").chunk_by_weight(limit, len)


# -- sample_reservoir ----------------------------------------------------------------------------------------------------------


def test_each_item_is_chosen_as_often_as_any_other() -> None:
    seen: Counter[int] = Counter()
    for seed in range(3_000):
        chosen = Flowable.range(10).sample_reservoir(3, seed=seed).blocking_get()
        assert len(set(chosen)) == 3
        seen.update(chosen)
    assert set(seen) == set(range(10))
    assert all(abs(count - 900) < 120 for count in seen.values()), seen  # five times the deviation


def test_a_seed_chooses_the_same_again_and_a_short_stream_is_all_chosen() -> None:
    sample = Flowable.range(100).sample_reservoir(5, seed=7)
    assert sample.blocking_get() == sample.blocking_get()
    assert Flowable.range(3).sample_reservoir(5).blocking_get() == [0, 1, 2]
    empty: Flowable[int] = Flowable.empty()
    assert empty.sample_reservoir(5).blocking_get() == []


# -- flat_map_iterable of one item ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Single.just, Maybe.just, lambda x: Single.just(x).hide()])
def test_the_items_of_one_item_are_a_stream(make: Callable[[int], Any]) -> None:
    got = TestSubscriber[int](request=2)
    make(4).flat_map_iterable(range).subscribe(got)
    got.assert_values(0, 1)
    got.request(9)
    got.assert_result(0, 1, 2, 3)


def test_without_an_item_there_are_none() -> None:
    assert Maybe.empty().flat_map_iterable(lambda _x: [1]).blocking_list() == []
    assert Completable.complete().to_single_default(2).flat_map_iterable(range).blocking_list() == [0, 1]


def test_nothing_of_all_this_is_dropped_into_the_hook() -> None:
    with errors_of_the_hook() as errors:
        Flowable.range(9).filter_when(lambda x: Single.just(even(x))).take(2).blocking_list()
        Flowable.just(1).expand(lambda x: Flowable.of(x, x), depth_first=True).take(9).blocking_list()
    assert errors == []

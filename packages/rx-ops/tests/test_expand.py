"""expand: level by level, as far as is wanted, in the stack of one source."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rx_core import UNBOUNDED, hooks
from rx_fusion import fusion_off
from rx_ops import Flowable, Maybe, Observable, Single
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

OOPS = ValueError("oops")
DEEP: Final = 100_000
Flow = Flowable[Any]


def down(n: int) -> Flow:
    return Flowable.just(n - 1) if n else Flowable.empty()


def binary(n: int) -> Flow:
    return Flowable.of(2 * n, 2 * n + 1) if n < 4 else Flowable.empty()


def test_a_tree_comes_level_by_level() -> None:
    assert Flowable.just(1).expand(binary).blocking_list() == [1, 2, 3, 4, 5, 6, 7]


def test_several_roots_come_before_all_they_expand_to() -> None:
    assert Flowable.of(2, 1).expand(down).blocking_list() == [2, 1, 1, 0, 0]


def test_an_empty_stream_expands_to_nothing() -> None:
    calls: list[Any] = []

    def noting(x: Any) -> Flow:
        calls.append(x)
        return Flowable.empty()

    assert Flowable.empty().expand(noting).blocking_list() == []
    assert calls == []


@pytest.mark.parametrize(
    "step",
    [
        Flowable.just,
        lambda n: Flowable.just(n).hide(),
        lambda n: Flowable.just(n).map(lambda x: x),
        lambda n: Flowable.from_callable(lambda: n),
        Single.just,
        Maybe.just,
    ],
    ids=["known", "hidden", "mapped", "callable", "single", "maybe"],
)
@pytest.mark.slow
def test_100_000_levels_need_the_stack_of_one(step: Callable[[int], Any]) -> None:
    flow = Flowable.just(0).expand(lambda n: step(n + 1) if n < DEEP else Flowable.empty())
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 120)
    try:
        assert flow.count().blocking_get() == DEEP + 1
        subscriber: TestSubscriber[Any] = TestSubscriber()
        flow.subscribe(subscriber)
    finally:
        sys.setrecursionlimit(before)
    subscriber.assert_complete()
    assert subscriber.values[-1] == DEEP


@pytest.mark.slow
def test_100_000_leaves_without_an_item_need_the_stack_of_one_and_no_demand_at_the_end() -> None:
    subscriber: TestSubscriber[Any] = TestSubscriber(request=DEEP)
    Flowable.range(DEEP).expand(lambda _n: Flowable.empty()).subscribe(subscriber)
    assert len(subscriber.values) == DEEP
    subscriber.request(1)
    subscriber.assert_complete()


def test_an_observable_expands_too() -> None:
    flow = Observable.just(1).expand(lambda n: Observable.of(2 * n, 2 * n + 1) if n < 4 else Observable.empty())
    assert flow.to_list().blocking_get() == [1, 2, 3, 4, 5, 6, 7]


# -- demand --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("off", [False, True], ids=["fused", "off"])
@pytest.mark.parametrize("size", range(1, 9))
def test_one_by_one_the_end_comes_with_the_last_item(size: int, off: bool) -> None:
    subscriber: TestSubscriber[Any] = TestSubscriber(request=0)
    with fusion_off() if off else nullcontext():
        Flowable.just(size - 1).expand(down).subscribe(subscriber)
        for at in range(size):
            subscriber.assert_not_terminated()
            subscriber.request(1)
            assert len(subscriber.values) == at + 1
    subscriber.assert_result(*range(size - 1, -1, -1))


def test_an_item_is_expanded_when_the_sources_before_its_own_are_complete_and_not_before() -> None:
    calls: list[int] = []

    def noting(n: int) -> Flow:
        calls.append(n)
        return binary(n)

    subscriber: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.just(1).expand(noting).subscribe(subscriber)
    seen = []
    for _ in range(7):
        subscriber.request(1)
        seen.append(list(calls))
    assert seen == [[1], [1], [1, 2], [1, 2], [1, 2, 3], [1, 2, 3], [1, 2, 3, 4, 5, 6, 7]]


def test_a_foreign_source_is_asked_for_what_is_wanted_and_no_more() -> None:
    root: ManualPublisher[str] = ManualPublisher()
    inner: ManualPublisher[str] = ManualPublisher()
    sources = iter([inner])
    subscriber: TestSubscriber[Any] = TestSubscriber(request=3)
    Flowable.wrap(root).expand(lambda _x: next(sources, Flowable.empty())).subscribe(subscriber)
    assert root.requested == 3
    root.next("a")
    root.complete()
    assert inner.requested == 2
    inner.next("b")
    subscriber.request(5)
    assert inner.requested == 7
    inner.complete()
    subscriber.assert_result("a", "b")


# -- errors --------------------------------------------------------------------------------------------------------------------


def test_an_error_of_the_source_comes_behind_its_items() -> None:
    flow = Flowable.of(3, 4).concat_with(Flowable.error(OOPS)).expand(down)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    flow.subscribe(subscriber)
    subscriber.assert_failure(ValueError, 3, 4)


def test_an_error_of_an_expansion_ends_the_stream() -> None:
    def failing(n: int) -> Flow:
        return down(n) if n > 1 else Flowable.error(OOPS)

    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.just(3).expand(failing).subscribe(subscriber)
    subscriber.assert_failure(ValueError, 3, 2, 1)


@pytest.mark.parametrize("error", [OOPS, StopIteration("mine"), GeneratorExit()], ids=repr)
def test_what_the_expander_raises_is_the_error(error: BaseException) -> None:
    def failing(n: int) -> Flow:
        if n == 2:
            raise error
        return down(n)

    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.just(3).expand(failing).subscribe(subscriber)
    assert subscriber.values == [3, 2]
    assert len(subscriber.errors) == 1
    assert error in (subscriber.errors[0], subscriber.errors[0].__cause__)


def test_an_expander_that_returns_no_source_is_told_what_to_write() -> None:
    with pytest.raises(TypeError, match=r"expand\(\) expected a function returning a publisher"):
        Flowable.just(3).expand(lambda n: [n]).blocking_list()  # type: ignore[arg-type,return-value]  # that is the mistake
    with pytest.raises(TypeError, match="expander"):
        Flowable.just(3).expand(3)  # type: ignore[arg-type]  # that is the mistake


# -- cancelling ----------------------------------------------------------------------------------------------------------------


def test_cancelling_cancels_the_running_source_and_expands_nothing_more() -> None:
    inner: ManualPublisher[int] = ManualPublisher()
    calls: list[int] = []

    def noting(n: int) -> Any:
        calls.append(n)
        return inner

    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.of(1, 2).expand(noting).subscribe(subscriber)
    inner.next(5)
    subscriber.cancel()
    assert inner.cancelled
    assert calls == [1]
    assert subscriber.values == [1, 2, 5]


def test_an_expander_that_cancels_is_not_called_again() -> None:
    calls: list[int] = []
    subscriber: TestSubscriber[Any] = TestSubscriber()

    def cancelling(n: int) -> Flow:
        calls.append(n)
        if n == 2:
            subscriber.cancel()
        return Flowable.empty()

    Flowable.range(1000).expand(cancelling).subscribe(subscriber)
    assert calls == [0, 1, 2]
    subscriber.assert_not_terminated()


def test_taking_some_leaves_the_rest_alone() -> None:
    endless: Flow = Flowable.just(0).expand(lambda n: Flowable.of(n + 1, n + 2))
    assert endless.take(7).blocking_list() == [0, 1, 2, 2, 3, 3, 4]


def test_each_source_is_given_back_before_the_next_one_begins() -> None:
    log: list[str] = []

    def watched(n: int) -> Flow:
        log.append(f"open {n}")
        return down(n).do_finally(lambda: log.append(f"over {n}"))

    assert Flowable.just(2).expand(watched).blocking_list() == [2, 1, 0]
    assert log == ["open 2", "over 2", "open 1", "over 1", "open 0", "over 0"]


def test_expanding_over_time() -> None:
    clock = VirtualScheduler()
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.just(2).expand(lambda n: down(n).delay(1.0, scheduler=clock)).subscribe(subscriber)
    subscriber.assert_values(2)
    clock.advance_by(1.0)
    subscriber.assert_values(2, 1)
    clock.advance_by(2.0)
    subscriber.assert_result(2, 1, 0)


def test_errors_that_come_too_late_are_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.ensure_loaded()
    lost: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: lost.append(error))
    root: ManualPublisher[int] = ManualPublisher(unchecked=True)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(root).expand(down).subscribe(subscriber)
    root.error(OOPS)
    late = ValueError("late")
    root.error(late)
    subscriber.assert_failure(ValueError)
    assert lost == [late]


# -- against the obvious computation -------------------------------------------------------------------------------------------

KINDS: Final[dict[str, Callable[[list[int]], Any]]] = {
    "known": lambda xs: Flowable.of(*xs),
    "list": Flowable.from_iterable,
    "hidden": lambda xs: Flowable.of(*xs).hide(),
    "mapped": lambda xs: Flowable.of(*xs).map(lambda x: x),
    "empty": lambda xs: Flowable.of(*xs) if xs else Flowable.empty(),
}


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    roots=st.lists(st.integers(0, 5), max_size=3),
    tree=st.dictionaries(st.integers(1, 5), st.lists(st.integers(0, 4), max_size=3)),
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4),
    demands=st.lists(st.sampled_from([1, 2, 3, UNBOUNDED]), min_size=1, max_size=3),
    off=st.booleans(),
)
def test_any_tree_in_any_steps(
    roots: list[int], tree: dict[int, list[int]], kinds: list[str], demands: list[int], off: bool
) -> None:
    def children(n: int) -> list[int]:
        return [each for each in tree.get(n, []) if each < n]  # downwards, so that it ends

    wanted = list(roots)
    for n in wanted:
        wanted += children(n)
    calls: list[int] = []

    def expander(n: int) -> Any:
        calls.append(n)
        return KINDS[kinds[len(calls) % len(kinds)]](children(n))

    subscriber: TestSubscriber[Any] = TestSubscriber(request=0)
    with fusion_off() if off else nullcontext():
        KINDS[kinds[0]](roots).expand(expander).subscribe(subscriber)
        asked = 0
        for at in range(len(wanted) + 1):
            if subscriber.is_terminated:
                break
            n = demands[at % len(demands)]
            asked = min(asked + n, UNBOUNDED)
            subscriber.request(n)
            assert len(subscriber.values) == min(asked, len(wanted))
    subscriber.assert_result(*wanted)
    assert calls == wanted

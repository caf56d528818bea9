"""concat in concat in concat: one row of sources, whatever its length, and nothing that anybody could notice."""

from __future__ import annotations

import gc
import pickle
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rx_core import UNBOUNDED, hooks
from rx_fusion import OperatorHead, fusion_off
from rx_ops import Flowable, Observable
from rx_ops.operators import Concat, ConcatHead
from rx_ops.operators._concat import Row
from rx_testing import ManualPublisher, TestSubscriber

DEEP: Final = 100_000
Flow = Flowable[Any]
Chain = Callable[[int], Flow]


def appended(count: int) -> Flow:
    flow: Flow = Flowable.just(0)
    more = Flowable.just(1)
    for _ in range(count):
        flow = flow.concat_with(more)
    return flow


def prepended(count: int) -> Flow:
    flow: Flow = Flowable.just(0)
    for _ in range(count):
        flow = flow.start_with(1)
    return flow


def around(count: int) -> Flow:
    """At both ends in turns, so that neither side of the tree is flat."""
    flow: Flow = Flowable.just(0)
    more = Flowable.just(1)
    for at in range(count):
        flow = Flowable.concat(more, flow) if at % 2 else Flowable.concat(flow, more)
    return flow


def of_foreign(count: int) -> Flow:
    """Publishers that are not ours and answer at once."""
    flow: Flow = Flowable.just(0)
    more = Flowable.wrap(Flowable.just(1).hide())
    for _ in range(count):
        flow = flow.concat_with(more)
    return flow


#: For tests that only read; what is read first is laid out flat.
made = cache(lambda chain: chain(DEEP))


@contextmanager
def shallow(extra: int = 150) -> Iterator[None]:
    """Only so many more calls inside one another than there are now."""
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + extra)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.slow
@pytest.mark.parametrize("chain", [appended, prepended, around, of_foreign])
def test_a_chain_of_100_000_runs_in_the_stack_of_one(chain: Chain) -> None:
    flow = made(chain)
    total = flow.count()
    with shallow():
        assert total.blocking_get() == DEEP + 1


@pytest.mark.slow
@pytest.mark.parametrize("chain", [appended, prepended])
def test_a_chain_of_100_000_can_be_subscribed_and_requested_from(chain: Chain) -> None:
    flow = made(chain)
    subscriber: TestSubscriber[Any] = TestSubscriber(request=0)
    with shallow():
        flow.subscribe(subscriber)
        for _ in range(10):
            subscriber.request(DEEP // 10)
        assert len(subscriber.values) == DEEP
        subscriber.request(2)
    subscriber.assert_complete()
    assert sum(subscriber.values) == DEEP


@pytest.mark.slow
def test_a_deep_chain_runs_without_fusion_too() -> None:
    flow = appended(DEEP // 20)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    with fusion_off(), shallow():
        flow.subscribe(subscriber)
    assert len(subscriber.values) == DEEP // 20 + 1


@pytest.mark.slow
def test_a_chain_of_100_000_observables() -> None:
    flow: Observable[int] = Observable.just(0)
    more = Observable.just(1)
    for _ in range(DEEP):
        flow = flow.concat_with(more)
    with shallow():
        assert flow.count().blocking_get() == DEEP + 1


@pytest.mark.slow
@pytest.mark.parametrize("chain", [appended, prepended, around])
def test_a_chain_of_100_000_can_be_shown(chain: Chain) -> None:
    flow = made(chain)
    with shallow():
        text, plan = repr(flow), flow.explain()
    assert len(text) < 200
    assert "99,992 more" in text
    assert text.startswith("concat(")
    assert len(plan.splitlines()) < 30
    assert "99,992 more" in plan


def test_ten_sources_are_all_shown() -> None:
    assert repr(appended(9)).count("just") == 10
    assert repr(appended(10)).count("just") == 9
    assert "... 2 more ..., just(1))" in repr(appended(10))


@pytest.mark.slow
@pytest.mark.parametrize("chain", [appended, prepended, around])
def test_a_chain_of_100_000_can_be_pickled(chain: Chain) -> None:
    with shallow():
        again = pickle.loads(pickle.dumps(made(chain)))
        assert again.count().blocking_get() == DEEP + 1


@pytest.mark.slow
@pytest.mark.parametrize("chain", [appended, prepended, around])
def test_a_chain_of_100_000_that_never_ran_can_be_dropped(chain: Chain) -> None:
    flow = chain(DEEP)
    gone = weakref.ref(flow)
    with shallow():
        del flow
        gc.collect()
    assert gone() is None


def test_a_run_of_a_chain_holds_no_more_than_its_own_source() -> None:
    """Sources of a run are made one by one: what is over is given back, what comes later is not there yet."""
    subscriber: TestSubscriber[Any] = TestSubscriber(request=3)
    flow = appended(1000)
    before = count_of("Source")
    flow.subscribe(subscriber)
    assert count_of("Source") <= before + 2
    subscriber.cancel()


def count_of(name: str) -> int:
    return sum(type(each).__name__ == name for each in gc.get_objects())


# -- what was put together stays as it was ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 15, 16, 17, 40])
def test_two_continuations_of_one_stream_do_not_see_each_other(size: int) -> None:
    flow = appended(size)
    a, b = flow.concat_with(Flowable.just("a")), flow.concat_with(Flowable.just("b"))
    c, d = flow.start_with("c"), Flowable.concat(flow, flow)
    same = [0] + [1] * size
    for _ in range(2):  # before and after the rows were laid out flat
        assert a.blocking_list() == [*same, "a"]
        assert b.blocking_list() == [*same, "b"]
        assert c.blocking_list() == ["c", *same]
        assert d.blocking_list() == same + same
        assert flow.blocking_list() == same


def test_sources_are_one_flat_sequence() -> None:
    x, y, z = Flowable.just(1), Flowable.just(2), Flowable.just(3)
    empty: Flow = Flowable.concat()
    flow = Flowable.concat(Flowable.concat(x), empty, Flowable.concat(y, z))
    assert tuple(flow._head.upstream) == (x, empty, y, z)
    assert flow._head.upstream[0] is x
    assert flow._head.upstream[2:] == (y, z)
    assert list(Flowable.concat()._head.upstream) == []
    assert Flowable.concat().blocking_list() == []


@given(st.recursive(st.integers(0, 9).map(lambda x: [x]) | st.just([]), lambda inner: st.lists(inner, max_size=5), max_leaves=80))
def test_a_row_is_what_its_parts_are_in_order(tree: Any) -> None:
    def row(node: Any) -> Row:
        made = Row()
        for each in node:
            made = made.join(row(each) if isinstance(each, list) else Row([each]))
        return made

    def flat(node: Any) -> list[int]:
        return [x for each in node for x in (flat(each) if isinstance(each, list) else [each])]

    assert list(row(tree)) == flat(tree)
    assert len(row(tree)) == len(flat(tree))


def test_operators_after_a_concat_and_walls_are_not_looked_through() -> None:
    inner = Flowable.concat(Flowable.of(1, 2), Flowable.of(3))
    mapped, hidden = inner.map(lambda x: x * 10), inner.hide()
    assert next(iter(mapped.concat_with(inner)._head.upstream)) is mapped
    assert next(iter(hidden.concat_with(inner)._head.upstream)) is hidden
    assert mapped.concat_with(inner).blocking_list() == [10, 20, 30, 1, 2, 3]
    limited = inner.take(2).concat_with(Flowable.just(9))
    assert limited.blocking_list() == [1, 2, 9]


def test_an_observable_in_a_flowable_stays_one_source() -> None:
    inner = Observable.concat(Observable.of(1, 2), Observable.of(3))
    flow: Flow = Flowable.concat(inner, Flowable.just(4))  # type: ignore[call-overload]  # not for checkers, but it runs
    assert next(iter(flow._head.upstream)) is inner
    assert flow.blocking_list() == [1, 2, 3, 4]


def test_what_an_assembly_hook_puts_in_its_place_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_assembly", lambda made: made.hide() if type(made._head) is ConcatHead else made)
    with monkeypatch.context() as inner:
        inner.setattr(hooks, "on_assembly", None)
        a = Flowable.concat(Flowable.just(1), Flowable.just(2)).hide()
    assert next(iter(a.concat_with(Flowable.just(3))._head.upstream))._head.upstream[0] is a


# -- the equation: nested and in a row nobody can tell the difference ----------------------------------------------------------

Tree = list[Any]  # numbers are sources, lists are concats
TREES = st.recursive(st.integers(0, 4), lambda inner: st.lists(inner, max_size=4), max_leaves=8).map(
    lambda tree: tree if isinstance(tree, list) else [tree]
)


class Observed:
    """The sources of one pipeline, each noting what happens to it."""

    def __init__(self, fails: int) -> None:
        self.log: list[str] = []
        self.fails = fails
        self.made = 0
        self.manual: list[ManualPublisher[str]] = []

    def source(self, kind: int) -> Flow:
        at, self.made = self.made, self.made + 1

        def seen(x: Any) -> str:
            self.log.append(f"{at} maps {x}")
            if self.fails == at:
                raise ValueError(f"source {at}")
            return f"{at}:{x}"

        def opened() -> Flow:
            self.log.append(f"{at} opens")
            return Flowable.range(2).hide()

        if kind == 0:
            flow: Flow = Flowable.empty()
        elif kind == 1:
            flow = Flowable.just("x").map(seen)
        elif kind == 2:
            flow = Flowable.range(3).map(seen)
        elif kind == 3:
            flow = Flowable.defer(opened).map(seen)
        else:
            manual: ManualPublisher[str] = ManualPublisher()
            self.manual.append(manual)
            flow = Flowable.wrap(manual).map(seen)
        return flow.do_finally(lambda: self.log.append(f"{at} is over"))


def in_a_row(tree: Tree, seen: Observed) -> Flow:
    return Flowable.concat(*(in_a_row(each, seen) if isinstance(each, list) else seen.source(each) for each in tree))


def nested(tree: Tree, seen: Observed) -> Flow:
    sources = tuple(nested(each, seen) if isinstance(each, list) else seen.source(each) for each in tree)
    return Flowable._from(OperatorHead(Concat, sources, many=True))


def observe(build: Callable[[Tree, Observed], Flow], tree: Tree, demands: list[int], cancel: int, fails: int) -> Any:
    seen = Observed(fails)
    flow = build(tree, seen)
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    flow.subscribe(got)
    log = seen.log
    for at in range(40):
        if at == cancel:
            got.cancel()
            log.append("cancel")
        for number, manual in enumerate(seen.manual):
            log.append(f"manual {number}: {[(each.requested, each.is_over) for each in manual.subscriptions]}")
            if any(not each.is_over and each.outstanding for each in manual.subscriptions):
                if at % 3:
                    manual.next("m")
                else:
                    manual.complete()
        got.request(demands[at % len(demands)])
        log.append(f"{at}: {got.values} {got.completions} {[str(each) for each in got.errors]}")
    return log


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    tree=TREES,
    demands=st.lists(st.sampled_from([1, 2, 3, UNBOUNDED]), min_size=1, max_size=3),
    cancel=st.integers(-1, 12),
    fails=st.integers(-1, 6),
)
def test_nested_and_in_a_row_are_the_same(tree: Tree, demands: list[int], cancel: int, fails: int) -> None:
    assert observe(in_a_row, tree, demands, cancel, fails) == observe(nested, tree, demands, cancel, fails)

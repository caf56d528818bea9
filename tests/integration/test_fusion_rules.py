"""Each rule of macro-fusion against its equation: with it and without it nobody can tell the difference.

The same pipeline runs twice, the second time without the rules. Compared are all signals in their order with all calls of user
functions between them, after each request; what a foreign source was asked for; and who was cancelled. ``RX_CHAINS=5000`` tries
more of them.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rx_core import UNBOUNDED
from rx_fusion import fusion_off, rules, without_rules
from rx_ops import Flowable, Observable
from rx_ops.stages import _sorted
from rx_testing import TestSubscriber
from tests.conformance.sources import Foreign

Flow = Flowable[Any]


@dataclass
class Seen:
    """What one run did, in order, and the functions that note it."""

    fails: int
    log: list[Any] = field(default_factory=list)
    calls: int = 0
    foreign: list[Foreign] = field(default_factory=list)
    cancels: int = -1
    subscriber: Any = None

    def f(self, name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def noted(x: Any) -> Any:
            self.calls += 1
            self.log.append((name, x))
            if self.calls == self.cancels:
                self.subscriber.cancel()
            if self.calls == self.fails:
                raise ValueError(f"call {self.calls}")
            return function(x)

        return noted

    def source(self, kind: str, items: list[int]) -> Flow:
        if kind == "range":
            return Flowable.range(len(items))
        if kind == "of":
            return Flowable.of(*items)
        if kind == "list":
            return Flowable.from_iterable(items)
        if kind == "generator":
            return Flowable.from_iterable(Generated(self, items))
        if kind == "mapped":
            return Flowable.of(*items).map(self.f("source", lambda x: x))
        if kind == "hidden":
            return Flowable.of(*items).hide()
        if kind == "failing":
            return Flowable.of(*items).concat_with(Flowable.error(KeyError("source")))
        foreign = Foreign(items)
        self.foreign.append(foreign)
        return Flowable.wrap(foreign)


class Generated:
    """An iterable of the user's that notes when it is opened, read and closed."""

    def __init__(self, seen: Seen, items: list[int]) -> None:
        self.seen, self.items = seen, items

    def __iter__(self) -> Iterator[int]:
        self.seen.log.append("iter")
        return self._each()

    def _each(self) -> Iterator[int]:
        try:
            for item in self.items:
                self.seen.log.append(("read", item))
                yield item
        finally:
            self.seen.log.append("closed")


@pytest.fixture(autouse=True, scope="module")
def short_blocks() -> Iterator[None]:
    """So that choosing the first of many begins with a few items."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sorted, "_BLOCK", 3)
        yield


Build = Callable[[Seen], Flow]
SOURCES: Final = ("range", "of", "list", "generator", "mapped", "hidden", "failing", "foreign")
AROUND: Final[dict[str, Callable[[Flow, Seen], Flow]]] = {
    "nothing": lambda flow, seen: flow,
    "map": lambda flow, seen: flow.map(seen.f("map", lambda x: x)),
    "filter": lambda flow, seen: flow.filter(seen.f("filter", lambda x: x % 3)),
    "copies": lambda flow, seen: flow.flat_map_iterable(seen.f("copies", lambda x: [x] * (x % 3))),
    "end": lambda flow, seen: flow.do_on_complete(lambda: seen.log.append("end")),
    "take": lambda flow, seen: flow.take(4),
    "skip": lambda flow, seen: flow.skip(1),
    "hide": lambda flow, seen: flow.hide(),
    "list": lambda flow, seen: flow.buffer(2).map(sum),
    "default": lambda flow, seen: flow.default_if_empty(7),
    "finally": lambda flow, seen: flow.do_finally(lambda: seen.log.append("finally")),
}

items = st.lists(st.integers(0, 5), max_size=7)
counts = st.integers(0, 6)


@st.composite
def around(draw: st.DrawFn, middle: st.SearchStrategy[Callable[[Flow, Seen], Flow]], kinds: tuple[str, ...] = SOURCES) -> Build:
    """A source, an operator or none, what the rule is about, and an operator or none."""
    kind, given_items = draw(st.sampled_from(kinds)), draw(items)
    before, after = draw(st.sampled_from(sorted(AROUND))), draw(st.sampled_from(sorted(AROUND)))
    operators = draw(middle)

    def build(seen: Seen) -> Flow:
        return AROUND[after](operators(AROUND[before](seen.source(kind, given_items), seen), seen), seen)

    return build


@st.composite
def merged(draw: st.DrawFn, kinds: tuple[str, ...]) -> Build:
    sources = draw(st.lists(st.tuples(st.sampled_from(kinds), items), max_size=4))
    prefetch, after = draw(st.sampled_from([1, 3, 128])), draw(st.sampled_from(sorted(AROUND)))

    def build(seen: Seen) -> Flow:
        made = [seen.source(kind, each) for kind, each in sources]
        return AROUND[after](Flowable.merge(*made, prefetch=prefetch), seen)

    return build


def _twice(method: str, *args: st.SearchStrategy[Any]) -> st.SearchStrategy[Callable[[Flow, Seen], Flow]]:
    def operators(first: tuple[Any, ...], second: tuple[Any, ...]) -> Callable[[Flow, Seen], Flow]:
        return lambda flow, _seen: getattr(getattr(flow, method)(*first), method)(*second)

    return st.builds(operators, st.tuples(*args), st.tuples(*args))


def _once(method: str, *args: st.SearchStrategy[Any]) -> st.SearchStrategy[Callable[[Flow, Seen], Flow]]:
    return st.tuples(*args).map(lambda drawn: lambda flow, _seen: getattr(flow, method)(*drawn))


NAN: Final = float("nan")
#: By what the items are sorted: most have a total order, some cannot be compared with one another, NaN with nothing.
KEYS: Final[dict[str, Callable[[Any], Any]]] = {
    "itself": lambda x: x,
    "same": lambda x: 0,
    "text": str,
    "float": lambda x: x / 2,
    "nan": lambda x: x / 2 if x else NAN,
    "bool": lambda x: x == 1,
    "mixed": lambda x: x if x < 4 else str(x),
    "numbers": lambda x: x if x % 2 else x / 2,
    "none": lambda x: x or None,
}


def _first_of_sorted(kind: str, reverse: bool, count: int) -> Callable[[Flow, Seen], Flow]:
    made = KEYS[kind]
    return lambda flow, seen: flow.map(lambda x: () if (key := made(x)) is None else key).sorted(reverse=reverse).take(count)


def _first_by_key(kind: str, reverse: bool, count: int) -> Callable[[Flow, Seen], Flow]:
    return lambda flow, seen: flow.sorted(seen.f("key", KEYS[kind]), reverse=reverse).take(count)


KNOWN: Final = ("range", "of")
PIPELINES: Final[dict[str, st.SearchStrategy[Build]]] = {
    "take.take": around(_twice("take", counts)),
    "distinct.distinct": around(_twice("distinct")),
    "sorted.take": around(st.builds(_first_of_sorted, st.sampled_from(sorted(KEYS)), st.booleans(), counts)),
    "sorted(key).take": around(st.builds(_first_by_key, st.sampled_from(sorted(KEYS)), st.booleans(), counts)),
    "range.skip": around(_once("skip", counts), KNOWN),
    "range.take": around(_once("take", counts), KNOWN),
    "range.count": around(st.just(lambda flow, _seen: flow.count()._as(Flowable)), KNOWN),
    "merge(just, just)": merged(("range", "of", "of", "list")),
}
DEMANDS: Final = st.lists(st.sampled_from([1, 1, 2, 3, 5, UNBOUNDED]), min_size=1, max_size=4)


def alike(x: Any) -> Any:
    """``x`` with one object for each NaN, so that what was seen can be compared."""
    if type(x) in (list, tuple):
        return type(x)(map(alike, x))
    return NAN if x != x else x


def observed(build: Build, demands: list[int], cancel: int, cancels: int, fails: int) -> list[Any]:
    """One run, step by step, until it ends or is cancelled."""
    seen = Seen(fails, cancels=cancels)
    got: TestSubscriber[Any] = TestSubscriber(request=0, on_value=lambda x: seen.log.append(("next", alike(x))))
    seen.subscriber = got
    build(seen).subscribe(got)
    for at in range(25):
        if at == cancel:
            got.cancel()
        got.request(demands[at % len(demands)])
        asked = [min(sum(each.requests), UNBOUNDED) for foreign in seen.foreign for each in foreign.subscriptions]
        over = [each.over for foreign in seen.foreign for each in foreign.subscriptions]
        errors = [(type(each), str(each)) for each in got.errors]
        seen.log.append((at, asked, over, got.completions, errors))
    return seen.log


@pytest.mark.parametrize("name", PIPELINES)
def test_a_rule_changes_nothing(name: str) -> None:
    @settings(
        max_examples=int(os.environ.get("RX_CHAINS", "120")),
        deadline=None,
        derandomize="RX_CHAINS" not in os.environ,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(
        build=PIPELINES[name],
        demands=DEMANDS,
        cancel=st.integers(-10, 12),
        cancels=st.integers(-10, 8),
        fails=st.integers(-10, 8),
    )
    def check(build: Build, demands: list[int], cancel: int, cancels: int, fails: int) -> None:
        with without_rules():
            wanted = observed(build, demands, cancel, cancels, fails)
        assert observed(build, demands, cancel, cancels, fails) == wanted

    check()


@pytest.mark.parametrize("name", PIPELINES)
def test_iterating_gives_the_same(name: str) -> None:
    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(build=PIPELINES[name], fails=st.integers(-10, 8), stop=st.integers(0, 9))
    def check(build: Build, fails: int, stop: int) -> None:
        def iterated() -> list[Any]:
            seen = Seen(fails)
            try:
                for at, x in enumerate(build(seen)):
                    seen.log.append(("next", alike(x)))
                    if at == stop:
                        break
            except (ValueError, KeyError, TypeError) as error:
                seen.log.append((type(error), str(error)))
            return [each for each in seen.log if each not in ("iter", "closed") and each[0] != "read"]

        with without_rules():
            wanted = iterated()
        assert iterated() == wanted

    check()


# -- sources that are known, inside flat_map and concat_map: no rule, but the same promise ------------------------------------


@st.composite
def nested(draw: st.DrawFn) -> Build:
    """flat_map or concat_map over some items, with inner sources of all kinds in turns."""
    outer, outer_items = draw(st.sampled_from([*SOURCES, "of"])), draw(items)
    inners = draw(
        st.lists(st.tuples(st.sampled_from([*SOURCES, *KNOWN, *KNOWN, "error", "wrong"]), items), min_size=1, max_size=3)
    )
    how, late = draw(st.sampled_from(["flat_map", "flat_map", "concat_map"])), draw(st.booleans())
    prefetch, limit = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    after = draw(st.sampled_from(sorted(AROUND)))

    def build(seen: Seen) -> Flow:
        turn = 0

        def mapper(_x: Any) -> Any:
            nonlocal turn
            kind, each = inners[turn % len(inners)]
            turn += 1
            if kind == "error":
                return Flowable.error(KeyError("inner"))
            return each if kind == "wrong" else seen.source(kind, each)

        flow, made = seen.source(outer, outer_items), seen.f("mapper", mapper)
        if how == "concat_map":
            return AROUND[after](flow.concat_map(made, prefetch=prefetch), seen)
        return AROUND[after](flow.flat_map(made, prefetch=prefetch, max_concurrency=limit, delay_error=late), seen)

    return build


# -- that each rule applies, where it is said to, and not where it must not --------------------------------------------------


def _id(x: Any) -> Any:
    return x


def _inner(x: int) -> Flow:
    return Flowable.range(x)


APPLIES: Final[dict[str, list[Flow]]] = {
    "take.take": [Flowable.from_iterable([1]).map(_id).take(3).take(2).filter(_id)],
    "distinct.distinct": [Flowable.from_iterable([1, 1]).distinct().distinct()],
    "sorted.take": [
        Flowable.from_iterable([3, 1, 2, 5, 4]).map(_id).sorted().take(2).map(_id),
        Flowable.from_iterable([3, 1, 2, 5, 4]).sorted(reverse=True).take(9),
    ],
    "sorted(key).take": [Flowable.from_iterable([3, 1, 2, 5, 4]).sorted(_id, reverse=True).take(2).map(_id)],
    "range.skip": [Flowable.range(9).skip(2), Flowable.of(1, 2).skip(1).map(_id), Flowable.empty().skip(2)],
    "range.take": [Flowable.range(9).take(2), Flowable.of(1, 2).take(1).map(_id)],
    "range.count": [Flowable.range(9).count()._as(Flowable), Flowable.of(1).count()._as(Flowable).map(_id)],
    "merge(just, just)": [Flowable.merge(Flowable.just(1), Flowable.of(2, 3))],
}
NOT: Final[dict[str, list[Flow]]] = {
    "take.take": [Flowable.range(9).take(3).hide().take(2), Flowable.range(9).take(3).map(_id).take(2)],
    "distinct.distinct": [Flowable.of(1).distinct(_id).distinct(_id), Flowable.of(1).distinct().distinct_until_changed()],
    "sorted.take": [Flowable.of(2, 1).sorted().take(0), Flowable.of(2, 1).sorted().skip(1).take(1)],
    "sorted(key).take": [Flowable.of(2, 1).sorted(_id).take(0), Flowable.of(2, 1).sorted().take(1)],
    "range.skip": [Flowable.range(9).map(_id).skip(2), Flowable.from_iterable([1, 2]).skip(1), Flowable.range(2).skip(2)],
    "range.take": [Flowable.range(9).filter(_id).take(2), Flowable.range(2).take(0), Flowable.range(2).hide().take(1)],
    "range.count": [Flowable.from_iterable([1]).count()._as(Flowable), Flowable.range(3).map(_id).count()._as(Flowable)],
    "merge(just, just)": [
        Flowable.merge(),
        Flowable.merge(Flowable.just(1), Flowable.empty()),
        Flowable.merge(Flowable.of(1, 2), Flowable.of(3), prefetch=1),
        Flowable.merge(Flowable.just(1), Flowable.just(2).hide()),
        Flowable.merge(Flowable.just(1), Flowable.just(2).map(_id)),
    ],
}


def test_every_rule_of_ours_is_tested() -> None:
    ours = {rule.name for rule in rules() if rule.apply.__module__.startswith("rx_ops.")}
    assert ours == set(PIPELINES) == set(APPLIES) == set(NOT)
    for rule in rules():
        if rule.name in ours:
            assert "=" in rule.equation
            assert rule.why


@pytest.mark.parametrize(("name", "flow"), [(name, flow) for name, flows in APPLIES.items() for flow in flows])
def test_a_rule_applies(name: str, flow: Flow) -> None:
    text = repr(flow)
    assert f"rewritten: {name}" in flow.explain()
    assert name in flow._rules_applied()
    fused = flow.blocking_list()
    with without_rules(name):
        assert name not in flow._rules_applied()
        assert f"rewritten: {name}" not in flow.explain()
        assert flow.blocking_list() == fused
    with fusion_off():
        assert flow._rules_applied() == ()
        assert flow.blocking_list() == fused
    assert repr(flow) == text


@pytest.mark.parametrize(("name", "flow"), [(name, flow) for name, flows in NOT.items() for flow in flows])
def test_a_rule_does_not_apply(name: str, flow: Flow) -> None:
    assert name not in flow._rules_applied()


def test_what_was_found_is_kept_and_not_pickled() -> None:
    flow = Flowable.range(10).take(5).take(3)
    assert flow._resolve() is flow._resolve() or flow._resolve()[0] is flow._resolve()[0]
    again = pickle.loads(pickle.dumps(flow))
    assert repr(again) == "range(10).take(5).take(3)"
    assert again.blocking_list() == [0, 1, 2]


def test_notes_on_errors_show_what_was_written() -> None:
    def fail(_x: int) -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no") as caught:
        Flowable.range(10).skip(2).map(fail).blocking_list()
    assert "range(10).skip(2).map(" in "\n".join(caught.value.__notes__)


def test_observables_are_rewritten_too() -> None:
    flow = Observable.range(10).take(5).take(3)
    assert flow._rules_applied() == ("take.take", "range.take")
    assert flow.to_list().blocking_get() == [0, 1, 2]


def test_rules_meet() -> None:
    flow = Flowable.range(1000).skip(1).skip(1).take(9).take(5).distinct().distinct()
    assert flow._rules_applied() == ("take.take", "distinct.distinct", "range.skip", "range.take")
    assert flow.blocking_list() == [2, 3, 4, 5, 6]

"""flat_map over groups: in one loop where a thread waits, pushed, and without fusion it does the same, call by call."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from rx_core import MissingBackpressureError
from rx_core.streams import Handover
from rx_fusion import fusion_enabled, fusion_off
from rx_ops import Flowable, GroupedFlowable
from rx_ops.operators import _group_loop
from rx_testing import ManualPublisher, TestSubscriber

Flow = Flowable[Any]
Group = GroupedFlowable[int, Any]
Call = tuple[str, Any]


class World:
    """User functions that write down their calls; one of them fails for one item."""

    def __init__(self, fails_at: Call | None = None) -> None:
        self.calls: list[Call] = []
        self.fails_at = fails_at

    def f(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any) -> Any:
            self.calls.append((name, str(args[-1]) if args else ""))
            if self.fails_at == (name, args[-1] if args else None):
                raise LookupError(name)
            return function(*args)

        return called


Inner = Callable[[World, Group], Any]

# fmt: off
#: What a mapper makes of a group and is nothing but stages.
PLAIN: Final[dict[str, Inner]] = {
    "itself": lambda w, g: g,
    "map": lambda w, g: g.map(w.f("map", lambda x: (g.key, x))),
    "filter": lambda w, g: g.filter(w.f("filter", lambda x: x % 4)),
    "scan": lambda w, g: g.scan(w.f("scan", max)),
    "sum": lambda w, g: g.sum().map(w.f("weight", lambda total: (g.key, total))),
    "reduce": lambda w, g: g.reduce(w.f("reduce", lambda a, b: a + b)),
    "collect": lambda w, g: g.collect(w.f("make", list), w.f("append", list.append)),
    "skip": lambda w, g: g.skip(1).map(w.f("after", str)),
    "do": lambda w, g: g.do_on_next(w.f("do", id)).distinct_until_changed(),
}
#: And what is handed over.
OTHERS: Final[dict[str, Inner]] = {
    "take": lambda w, g: g.take(2),
    "pages": lambda w, g: g.flat_map_iterable(w.f("pages", lambda x: [x] * 2)),
    "finally": lambda w, g: g.do_finally(w.f("finally", lambda: None)),
    "something else": lambda w, g: Flowable.just(g.key),
    "inside": lambda w, g: g.concat_map(w.f("inner", Flowable.just)),
    "hidden": lambda w, g: g.hide(),
    "twice": lambda w, g: Flowable.concat(g, Flowable.of(1, 2)),
}
# fmt: on
ALL: Final = PLAIN | OTHERS


def _flow(world: World, source: Flow, keys: int, names: list[str], value: bool) -> Flow:
    key = world.f("key", lambda x: x % keys)
    groups = source.group_by(key, world.f("value", lambda x: x + 1)) if value else source.group_by(key)
    return groups.flat_map(world.f("mapper", lambda group: ALL[names[group.key % len(names)]](world, group)))


Outcome = tuple[list[Any], Any, list[Call]]


def _said(error: Exception | None) -> Any:
    return None if error is None else (type(error), str(error), getattr(error, "__notes__", []))


def _pushed(make: Callable[[World], Flow], fails_at: Call | None = None) -> Outcome:
    world = World(fails_at)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    make(world).subscribe(subscriber)
    assert subscriber.is_terminated
    return subscriber.values, _said(subscriber.error), world.calls


def _iterated(make: Callable[[World], Flow], fails_at: Call | None = None) -> Outcome:
    world = World(fails_at)
    values: list[Any] = []
    error: Exception | None = None
    try:
        for item in make(world):
            values.append(item)
    except LookupError as raised:
        error = raised
    return values, _said(error), world.calls


@pytest.mark.parametrize("seed", range(150))
def test_iterated_pushed_and_without_fusion_it_is_the_same(seed: int) -> None:
    rnd = random.Random(seed)
    items = [rnd.randrange(1, 20) for _ in range(rnd.randrange(0, 25))]
    keys = rnd.randrange(1, 5)
    names = rnd.choices([*PLAIN] if seed % 3 else [*ALL], k=rnd.randrange(1, 4))
    value = rnd.random() < 0.3
    function = rnd.choice(["key", "value", "map", "filter", "append", "weight", "mapper"])
    fails_at = (function, rnd.choice(items)) if items and seed % 2 else None

    def make(world: World) -> Flow:
        return _flow(world, Flowable.from_iterable(items), keys, names, value)

    looped = _iterated(make, fails_at)
    assert looped == _pushed(make, fails_at)
    with fusion_off():
        off = _iterated(make, fails_at)
        assert off == _pushed(make, fails_at)
    assert looped[0] == off[0]
    assert looped[2] == off[2]
    assert (looped[1] is None) == (off[1] is None)


@pytest.mark.parametrize("seed", range(40))
def test_a_source_that_pushes_from_some_item_on_goes_on_where_the_loop_was(seed: int) -> None:
    rnd = random.Random(seed)
    items = [rnd.randrange(1, 20) for _ in range(12)]
    names = rnd.choices([*PLAIN], k=rnd.randrange(1, 4))
    at = rnd.randrange(13)

    def make(world: World) -> Flow:
        return _flow(
            world, Flowable.concat(Flowable.from_iterable(items[:at]), Flowable.from_iterable(items[at:]).hide()), 3, names, False
        )

    def whole(world: World) -> Flow:
        return _flow(world, Flowable.from_iterable(items), 3, names, False)

    assert _iterated(make) == _pushed(whole)


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("behind", [Flowable.never(), Flowable.of(4, 5, 6).hide()], ids=["never", "pushes"])
def test_a_loop_that_hands_over_takes_with_it_what_its_source_has_to_subscribe(name: str, behind: Flow) -> None:
    """The loop is left at the first group; what is behind the items of its source is known to that source alone."""
    source = Flowable.concat(Flowable.of(1, 2, 3), behind)
    with fusion_off():
        off = TestSubscriber[Any]()
        _flow(World(), source, 3, [name], False).concat_with(Flowable.empty()).subscribe(off)
    looped = TestSubscriber[Any]()
    _flow(World(), source, 3, [name], False).concat_with(Flowable.empty()).subscribe(looped)
    assert (looped.values, looped.completions, looped.errors) == (off.values, off.completions, off.errors)
    assert len(off.values) > 2


@pytest.mark.skipif(not fusion_enabled(), reason="without fusion nothing is looped")
def test_it_is_one_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: without this the tests above would compare what is pushed with itself."""
    handed: list[object] = []

    class Noted(Handover):
        def __init__(self, rest: Any) -> None:
            super().__init__(rest)
            handed.append(rest)

    monkeypatch.setattr(_group_loop, "Handover", Noted)
    for name in ALL:
        handed.clear()
        list(_flow(World(), Flowable.range(10), 3, [name], False))
        assert bool(handed) == (name in OTHERS), name


def test_the_order_is_that_of_the_source() -> None:
    items = [9, 12, 8, 16, 11, 3, 18, 11, 8, 18, 3, 5, 12, 4, 12]
    calls = [name for name, _ in _iterated(lambda world: _flow(world, Flowable.of(*items), 3, ["map"], False))[2]]
    assert [name for name in calls if name != "mapper"] == ["key", "map"] * len(items)


def test_more_groups_than_are_taken_at_a_time() -> None:
    counts = Flowable.range(10).group_by(lambda x: x).flat_map(lambda g: g.count(), max_concurrency=4)
    with pytest.raises(MissingBackpressureError, match="4 groups are open") as looped:
        counts.to_list().blocking_get()
    got = TestSubscriber[Any]()
    counts.subscribe(got)
    got.assert_error(MissingBackpressureError)
    assert str(got.error) == str(looped.value)


def test_leaving_the_loop_closes_the_source() -> None:
    closed: list[bool] = []

    def items() -> Iterator[int]:
        try:
            yield from range(1_000)
        finally:
            closed.append(True)

    for item in Flowable.from_iterable(items()).group_by(lambda x: x % 3).flat_map(lambda g: g.map(str)):
        if item == "4":
            break
    assert closed == [True]


def test_a_group_that_was_looped_through_has_had_its_subscriber() -> None:
    kept: list[Group] = []

    def mapper(group: Group) -> Any:
        kept.append(group)
        return group.count()

    assert list(Flowable.range(4).group_by(lambda x: x % 2).flat_map(mapper)) == [2, 2]
    late: TestSubscriber[Any] = TestSubscriber()
    kept[0].subscribe(late)
    late.assert_error(RuntimeError, match="allows one subscriber")


def test_a_mapper_that_subscribes_to_its_group_itself() -> None:
    seen: list[int] = []

    def mapper(group: Group) -> Any:
        group.subscribe(seen.append)
        return Flowable.just(group.key)

    assert list(Flowable.range(6).group_by(lambda x: x % 2).flat_map(mapper)) == [0, 1]
    assert seen == [0, 1, 2, 3, 4, 5]


def test_a_foreign_source_behind_the_loop_is_cancelled_when_all_is_left() -> None:
    """The groups that the loop has opened hold the source, as any."""
    source: ManualPublisher[int] = ManualPublisher()
    flow = Flowable.concat(Flowable.of(1, 2), Flowable.wrap(source)).group_by(lambda x: x % 2).flat_map(lambda g: g.map(str))
    inner: TestSubscriber[Any] = TestSubscriber()
    Flowable.just(0).concat_map(lambda _x: flow).subscribe(inner)
    source.next(3)
    inner.assert_values("1", "2", "3")
    inner.cancel()
    assert source.cancelled


@pytest.mark.parametrize("bad", [1, 3])
def test_a_value_that_is_none_is_the_same_error_pushed_and_iterated(bad: int) -> None:
    """Of a new group, and of one that is there already."""

    def value(item: int) -> int | None:
        return None if item == bad else item

    flow = Flowable.of(1, 3).group_by(lambda x: x % 2, value).flat_map(lambda g: g.map(str))
    with pytest.raises(TypeError, match="produced None") as looped:
        list(flow)
    pushed: TestSubscriber[Any] = TestSubscriber()
    flow.subscribe(pushed)
    assert _said(pushed.error) == _said(looped.value)


def test_a_failing_function_is_named() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        Flowable.range(3).group_by(lambda x: x % 2).flat_map(lambda g: g.map(lambda x: 1 // x)).to_list().blocking_get()
    note, way = caught.value.__notes__
    assert "flat_map" in way
    assert "in map(" in note
    assert "group(0)" in note

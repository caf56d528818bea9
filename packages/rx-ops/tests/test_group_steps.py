"""flat_map over groups: items that go straight through the stages of their group, and groups that take turns, do the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from rx_core import MissingBackpressureError
from rx_fusion import fusion_off
from rx_ops import Flowable, GroupedFlowable
from rx_ops.coordination import _flatten, _group_steps
from rx_schedulers import io
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
            self.calls.append((name, args))
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
#: And what has to take turns.
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


def _mapper(world: World, names: list[str]) -> Callable[[Group], Any]:
    """For each key another one."""
    return world.f("mapper", lambda group: ALL[names[group.key % len(names)]](world, group))


def _flow(world: World, source: Flow, keys: int, names: list[str], value: bool) -> Flow:
    key = world.f("key", lambda x: x % keys)
    groups = source.group_by(key, world.f("value", lambda x: x + 1)) if value else source.group_by(key)
    return groups.flat_map(_mapper(world, names))


def _outcome(make: Callable[[World], Flow], fails_at: Call | None = None, *, demand: int | None = None) -> tuple[Any, ...]:
    world = World(fails_at)
    subscriber: TestSubscriber[Any] = TestSubscriber() if demand is None else TestSubscriber(demand)
    make(world).subscribe(subscriber)
    error = subscriber.error
    said = None if error is None else (type(error), str(error), getattr(error, "__notes__", []))
    calls = [(name, args) for name, args in world.calls if name != "mapper"]
    return subscriber.values, said, subscriber.is_terminated, calls


def _in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_flatten, "dealt_by", lambda *_: None)


def _sources(items: list[int]) -> Iterator[Flow]:
    yield Flowable.from_iterable(items)
    yield Flowable.of(*items)
    yield Flowable.from_iterable(items).hide()
    yield Flowable.concat(Flowable.from_iterable(items[:3]), Flowable.from_iterable(items[3:]))


@pytest.mark.parametrize("seed", range(120))
def test_the_same_as_in_turns(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order among groups is free, so a function fails for an item, and not at its so-and-so-many'th call."""
    rnd = random.Random(seed)
    items = [rnd.randrange(1, 20) for _ in range(rnd.randrange(0, 25))]
    keys = rnd.randrange(1, 5)
    names = rnd.choices([*PLAIN] if seed % 3 else [*ALL], k=rnd.randrange(1, 4))
    value = rnd.random() < 0.3
    function = rnd.choice(["key", "value", "map", "filter", "append", "weight"])
    fails_at = (function, rnd.choice(items)) if items and seed % 2 else None
    for at in range(4):

        def make(world: World, at: int = at) -> Flow:
            return _flow(world, [*_sources(items)][at], keys, names, value)

        straight = _outcome(make, fails_at)
        with monkeypatch.context() as patch:
            _in_turns(patch)
            turns = _outcome(make, fails_at)
        with fusion_off():
            off = _outcome(make, fails_at)
        assert straight[1:3] == turns[1:3]
        if straight[1] is None:
            assert _sorted(straight[0]) == _sorted(turns[0])
            assert _sorted(straight[3]) == _sorted(turns[3])
            if not {"something else", "take"} & {*names}:  # when a key may come again depends on the queues between
                assert _sorted(straight[0]) == _sorted(off[0])


@pytest.mark.parametrize("name", [*PLAIN])
def test_the_order_is_that_of_the_source(name: str) -> None:
    def make(world: World) -> Flow:
        return _flow(world, Flowable.of(*items), 3, [name], False)

    items = [9, 12, 8, 16, 11, 3, 18, 11, 8, 18, 3, 5, 12, 4, 12]
    calls = [name for name, _ in _outcome(make)[3]]
    last = max(at for at, called in enumerate(calls) if called == "key")
    longest = max(len(part.split()) for part in " ".join(calls[:last]).split("key"))
    assert calls.count("key") == len(items)
    assert longest <= 2  # what is called for an item, before the key of the next one is asked


def _sorted(things: list[Any]) -> list[Any]:
    return sorted(things, key=repr)


def test_results_come_in_the_order_of_the_keys() -> None:
    sums = Flowable.of(5, 3, 4, 2, 1, 3).group_by(lambda x: x % 3).flat_map(lambda g: g.sum().map(lambda s: (g.key, s)))
    assert sums.to_list().blocking_get() == [(2, 7), (0, 6), (1, 5)]


def test_it_is_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: without this the tests above would compare turns with turns."""
    monkeypatch.setattr(_group_steps, "interleave", None)
    for name in ALL:
        subscriber: TestSubscriber[Any] = TestSubscriber()
        _flow(World(), Flowable.range(10), 3, [name], False).subscribe(subscriber)
        assert (subscriber.error is None) == (name in PLAIN), name


def test_with_demand_they_take_turns() -> None:
    def make(world: World) -> Flow:
        return _flow(world, Flowable.range(100), 3, ["map"], False)

    assert _outcome(make, demand=5)[0] == [(0, 0), (1, 1), (2, 2), (0, 3), (1, 4)]


def test_a_source_that_waits() -> None:
    publisher: ManualPublisher[int] = ManualPublisher()
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(publisher).group_by(lambda x: x % 2).flat_map(lambda g: g.scan(lambda a, b: a + b)).subscribe(subscriber)
    for item in (1, 2, 3):
        publisher.next(item)
    assert subscriber.values == [1, 2, 4]
    publisher.next(4)
    publisher.complete()
    subscriber.assert_values(1, 2, 4, 6).assert_complete()


def test_a_source_on_a_thread() -> None:
    source = Flowable.range(5_000).observe_on(io(), prefetch=16)
    sums = source.group_by(lambda x: x % 10).flat_map(lambda g: g.sum()).to_list().blocking_get()
    assert sorted(sums) == [sum(range(key, 5_000, 10)) for key in range(10)]


def test_a_cancel_stops_reading_and_closes_the_source() -> None:
    read: list[int] = []
    closed: list[bool] = []

    def items() -> Iterator[int]:
        try:
            for item in range(1_000):
                read.append(item)
                yield item
        finally:
            closed.append(True)

    class Items:
        def __iter__(self) -> Iterator[int]:
            return items()

    firsts = Flowable.from_iterable(Items()).group_by(lambda x: x % 3).flat_map(lambda g: g.map(str)).take(4)
    assert firsts.to_list().blocking_get() == ["0", "1", "2", "3"]
    assert read == [0, 1, 2, 3]
    assert closed == [True]


def test_a_cancel_from_inside_the_mapper() -> None:
    subscriber: TestSubscriber[Any] = TestSubscriber()

    def mapper(group: Group) -> Any:
        if group.key == 2:
            subscriber.cancel()
        return group.map(str)

    Flowable.range(100).group_by(lambda x: x % 4).flat_map(mapper).subscribe(subscriber)
    assert subscriber.values == ["0", "1"]
    subscriber.assert_not_terminated()


@pytest.mark.parametrize("where", ["key", "stage"])
def test_a_cancel_from_inside_a_function(where: str) -> None:
    subscriber: TestSubscriber[Any] = TestSubscriber()
    read: list[int] = []
    called: list[str] = []

    def items() -> Iterator[int]:
        for item in range(100):
            read.append(item)
            yield item

    def function(name: str, result: Any) -> Any:
        called.append(name)
        if name == where and len(read) == 3:
            subscriber.cancel()
        return result

    groups = Flowable.from_iterable(items()).group_by(lambda x: function("key", x % 2))
    groups.flat_map(lambda g: g.filter(lambda _x: function("stage", False))).subscribe(subscriber)
    assert read == [0, 1, 2]
    assert called == ["key", "stage"] * (3 if where == "stage" else 2) + ["key"] * (where == "key")


def test_a_group_has_one_subscriber() -> None:
    kept: list[Group] = []

    def mapper(group: Group) -> Any:
        kept.append(group)
        return group.count()

    assert Flowable.range(4).group_by(lambda x: x % 2).flat_map(mapper).to_list().blocking_get() == [2, 2]
    late: TestSubscriber[Any] = TestSubscriber()
    kept[0].subscribe(late)
    late.assert_error(RuntimeError)


def test_more_groups_than_are_taken_at_a_time() -> None:
    counts = Flowable.range(10).group_by(lambda x: x).flat_map(lambda g: g.count(), max_concurrency=4)
    with pytest.raises(MissingBackpressureError, match="4 groups are open"):
        counts.to_list().blocking_get()


def test_a_failing_function_is_named() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        Flowable.range(3).group_by(lambda x: x % 2).flat_map(lambda g: g.map(lambda x: 1 // x)).to_list().blocking_get()
    (note,) = caught.value.__notes__
    assert "in map(" in note
    assert "group(0)" in note

"""Expressions in pipelines: the same signals, errors and notes as the lambda gives, in every form a pipeline runs in."""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rx_fusion import _shapes as shapes
from rx_fusion import fusion_enabled, fusion_off, stage
from rx_ops import Completable, Flowable, Maybe, Observable, Single, aggregates, call, it, stages, sym
from rx_testing import ManualPublisher, TestSubscriber

needs_fusion = pytest.mark.skipif(not fusion_enabled(), reason="each operator stands alone")

ROWS: tuple[Any, ...] = ({"k": 1, "v": 2}, {"k": 2, "v": 0}, {"k": 1, "v": 5}, {"k": 3, "v": 4})

#: An operator with an expression, and the same with a lambda.
STEPS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "map": (lambda s: s.map(it * 3 + 1), lambda s: s.map(lambda x: x * 3 + 1)),
    "map, an error": (lambda s: s.map(100 // (it - 4)), lambda s: s.map(lambda x: 100 // (x - 4))),
    "map, a missing part": (lambda s: s.map(it["k"]), lambda s: s.map(lambda x: x["k"])),
    "map to None": (
        lambda s: s.map(call([None, 1, 2, 3].__getitem__, it % 4)),
        lambda s: s.map(lambda x: [None, 1, 2, 3][x % 4]),
    ),
    "map, StopIteration": (
        lambda s: s.map(call(next, call(iter, call(range, it % 3)))),
        lambda s: s.map(lambda x: next(iter(range(x % 3)))),
    ),
    "filter": (lambda s: s.filter(it % 3 != 0), lambda s: s.filter(lambda x: x % 3 != 0)),
    "take_while": (lambda s: s.take_while(it < 30), lambda s: s.take_while(lambda x: x < 30)),
    "skip_while": (lambda s: s.skip_while(it < 3), lambda s: s.skip_while(lambda x: x < 3)),
    "distinct": (lambda s: s.distinct(it % 5), lambda s: s.distinct(lambda x: x % 5)),
    "distinct, unhashable": (lambda s: s.distinct(sym(lambda x: [x])), lambda s: s.distinct(lambda x: [x])),
    "distinct_until_changed": (lambda s: s.distinct_until_changed(it // 2), lambda s: s.distinct_until_changed(lambda x: x // 2)),
    "flat_map_iterable": (
        lambda s: s.flat_map_iterable(call(range, it % 4)),
        lambda s: s.flat_map_iterable(lambda x: range(x % 4)),
    ),
    "scan": (lambda s: s.scan(sym(lambda a, b: a - b), 1), lambda s: s.scan(lambda a, b: a - b, 1)),
    "reduce": (
        lambda s: s.reduce(sym(lambda a, b: a * 2 + b)).to_flowable(),
        lambda s: s.reduce(lambda a, b: a * 2 + b).to_flowable(),
    ),
    "min": (lambda s: s.min(-it).to_flowable(), lambda s: s.min(lambda x: -x).to_flowable()),
    "any": (lambda s: s.any(it % 4 == 3).to_flowable(), lambda s: s.any(lambda x: x % 4 == 3).to_flowable()),
    "all": (lambda s: s.all(it < 5).to_flowable(), lambda s: s.all(lambda x: x < 5).to_flowable()),
    "all, an error": (lambda s: s.all(9 // (it - 4)).to_flowable(), lambda s: s.all(lambda x: 9 // (x - 4)).to_flowable()),
    "find_index": (lambda s: s.find_index(it == 2).to_flowable(), lambda s: s.find_index(lambda x: x == 2).to_flowable()),
    "average": (lambda s: s.average(it * 2).to_flowable(), lambda s: s.average(lambda x: x * 2).to_flowable()),
    "max_by": (lambda s: s.max_by(it % 3).to_flowable(), lambda s: s.max_by(lambda x: x % 3).to_flowable()),
    "to_multimap": (
        lambda s: s.to_multimap(it % 2, it + 1).to_flowable(),
        lambda s: s.to_multimap(lambda x: x % 2, lambda x: x + 1).to_flowable(),
    ),
    "group_reduce": (
        lambda s: s.group_reduce(it % 3, it + 1, sym(lambda a, b: a + b)).map(it[1]),
        lambda s: s.group_reduce(lambda x: x % 3, lambda x: x + 1, lambda a, b: a + b).map(lambda x: x[1]),
    ),
    "group_aggregate": (
        lambda s: s.group_aggregate(it % 3, total=(it + 1).sum(), n=it.count(), top=(it % 2).max(), mean=it.average()),
        lambda s: s.group_aggregate(
            lambda x: x % 3,
            total=aggregates.sum(lambda x: x + 1),
            n=aggregates.count(),
            top=aggregates.max(lambda x: x % 2),
            mean=aggregates.average(lambda x: x),
        ),
    ),
    "group_aggregate, an error": (
        lambda s: s.group_aggregate(it % 3, total=(9 // (it - 4)).sum()),
        lambda s: s.group_aggregate(lambda x: x % 3, total=aggregates.sum(lambda x: 9 // (x - 4))),
    ),
    "take": (lambda s: s.take(3), lambda s: s.take(3)),
    "concat_map": (
        lambda s: s.concat_map(sym(lambda x: call(Flowable.range, x % 3))),
        lambda s: s.concat_map(lambda x: Flowable.range(x % 3)),
    ),
    "observe the groups": (
        lambda s: s.group_by(it % 2, it + 1).flat_map(lambda g: g.map(it * 2)),
        lambda s: s.group_by(lambda x: x % 2, lambda x: x + 1).flat_map(lambda g: g.map(lambda x: x * 2)),
    ),
}


class End:
    """Everything that came, in a form that can be compared."""

    def __init__(self) -> None:
        self.signals: list[object] = []

    def on_subscribe(self, subscription: Any, /) -> None:
        self.subscription = subscription

    def on_next(self, item: Any, /) -> None:
        self.signals.append(item)

    def on_error(self, error: Exception, /) -> None:
        self.signals.append(said(error))

    def on_complete(self) -> None:
        self.signals.append("complete")


def said(error: BaseException) -> tuple[object, ...]:
    """Type, message and the operator each note names; the function's own text is what has to differ."""
    message = str(error).partition("(")[0] if "produced None" in str(error) else str(error)
    return type(error), message, [note.partition("(")[0] for note in getattr(error, "__notes__", ())]


def iterated(flow: Any) -> list[object]:
    end: list[object] = []
    try:
        end.extend(flow)
    except Exception as error:
        return [*end, said(error)]
    return [*end, "complete"]


def iterated_hot(flow: Any) -> list[object]:
    for _ in range(shapes.HOT_RUNS):
        iterated(flow)
    return iterated(flow)


def requested(window: int) -> Callable[[Any], list[object]]:
    def run(flow: Any) -> list[object]:
        end = End()
        flow.subscribe(end)
        for _ in range(200):
            end.subscription.request(window)
        return end.signals

    return run


def alone(flow: Any) -> list[object]:
    with fusion_off():
        return requested(3)(flow)


RUNS: dict[str, Callable[[Any], list[object]]] = {
    "iterated, stacked": iterated,
    "iterated, compiled": iterated_hot,
    "one by one": requested(1),
    "everything": requested(2**63 - 1),
    "fusion off": alone,
}


@pytest.mark.slow
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=4), st.lists(st.integers(-5, 40), max_size=8), st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_pipeline_of_expressions_is_the_pipeline_of_lambdas(names: list[str], items: list[int], hidden: bool) -> None:
    source: Any = Flowable.from_iterable(items)
    if hidden:
        source = source.hide()
    symbolic = plain = source
    for name in names:
        symbolic, plain = STEPS[name][0](symbolic), STEPS[name][1](plain)
    for how, run in RUNS.items():
        assert run(symbolic) == run(plain), how
    travelled = pickle.loads(pickle.dumps(symbolic)) if not hidden and "observe the groups" not in names else symbolic
    assert repr(travelled) == repr(symbolic)
    assert iterated(travelled) == iterated(plain)


@pytest.mark.parametrize("name", sorted(STEPS))
def test_pushed_through(name: str) -> None:
    got = []
    for make in STEPS[name]:
        publisher = ManualPublisher[int]()
        end = End()
        make(Flowable.wrap(publisher)).subscribe(end)
        end.subscription.request(100)
        for item in (5, 3, 4, 9):
            publisher.next(item)
        publisher.complete()
        got.append(end.signals)
    assert got[0] == got[1]


# -- in the loop -------------------------------------------------------------------------------------------------------


def frames(error: BaseException) -> list[str]:
    trace, names = error.__traceback__, []
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    return names


def failing(flow: Any) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011  # whatever it is
        for _ in flow:
            pass
    return caught.value


@needs_fusion
def test_a_compiled_loop_has_no_call() -> None:
    error = failing(Flowable.range(5_000).map(it + 1).map(1 // (it - 4_000)))
    assert frames(error)[-1].startswith("<rx map·map (pull clean)")
    assert error.__notes__ == ["in map(1 // (it - 4000)) of range(5000).map(it + 1).map(1 // (it - 4000))"]


def test_a_note_names_the_operator_whose_expression_failed() -> None:
    rows: list[Any] = [{"k": 1, "v": [1]}] * 4_000 + [{"k": [], "v": 3}]
    flow = Flowable.from_iterable(rows)
    assert failing(flow.map(it["v"]).filter(it[0] > 0)).__notes__[0].startswith("in filter(it[0] > 0) of from_iterable")
    assert failing(flow.filter(it["k"] != 1).map(it["nothing"])).__notes__[0].startswith("in map(it['nothing']) of")
    # what fails is the operator, not the expression: as for a lambda
    for key in (it["k"], lambda row: row["k"]):
        error = failing(flow.to_dict(key, it["v"]).to_flowable())
        assert isinstance(error, TypeError)
        assert error.__notes__[0].startswith("in to_dict(")


def test_an_error_inside_the_users_own_methods_is_noted_once() -> None:
    class Row:
        @property
        def price(self) -> int:
            raise KeyError("price")

    error = failing(Flowable.from_iterable([Row()] * 4_000).map(it.price))
    assert isinstance(error, KeyError)
    assert error.__notes__ == ["in map(it.price) of from_iterable(<list>).map(it.price)"]


def test_none_is_refused_with_the_expression_named() -> None:
    for count in (1, 4_000):
        error = failing(Flowable.from_iterable([{"a": 1}] * count + [{}]).map(it.get("a")))
        assert str(error).startswith("map(it.get('a')) produced None")


def test_an_expression_in_the_condition_of_an_end_is_evaluated_once() -> None:
    """``yield item`` and then ``if test: return``: a pure test may be looked at early, an expression may not."""
    calls: list[int] = []

    def noted(x: int) -> bool:
        calls.append(x)
        return x == 2

    subscriber = TestSubscriber[int](request=1)
    Flowable.range(10).stage(until, call(noted, it)).subscribe(subscriber)
    subscriber.assert_values(0)
    assert calls in ([], [0])
    subscriber.request(10)
    subscriber.assert_values(0, 1, 2).assert_complete()
    assert calls == [0, 1, 2]
    calls.clear()
    assert list(Flowable.range(10).stage(until, it == 2)) == [0, 1, 2]
    if fusion_enabled():  # pushed alone a stage gives its item after its statements, for a lambda as well
        early = TestSubscriber[object](request=1)
        Flowable.of(Touchy()).stage(until, it == 2).subscribe(early)
        assert len(early.values) == 1


class Touchy:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared before it was given")

    __hash__ = object.__hash__


@stage
def until(source: Any, done: Callable[[Any], object]) -> Iterator[Any]:
    for item in source:
        yield item
        if done(item):
            return


@stage
def renaming(source: Any, function: Callable[[Any], Any], other: Callable[[Any], Any] | None) -> Iterator[Any]:
    function_0c = 10
    other = other or function
    for item in source:
        first = function(item)
        item = first
        yield [function(each) for each in (item, function_0c)]
        yield other(function(item) + 1)


def test_a_stage_of_any_form_takes_expressions() -> None:
    plain = Flowable.range(3).stage(renaming, lambda x: x * 2 - 1, lambda x: x + 1)
    symbolic = Flowable.range(3).stage(renaming, it * 2 - 1, it + 1)
    expected = list(plain)
    for run in RUNS.values():
        assert run(symbolic) == [*expected, "complete"]
    assert iterated(Flowable.range(3).stage(renaming, it + 1, None)) == iterated(
        Flowable.range(3).stage(renaming, lambda x: x + 1, None)
    )


def test_expressions_of_one_structure_share_a_shape() -> None:
    first = Flowable.range(5).filter(it % 2 == 1).map(it + 1)
    second = Flowable.of(1, 2).filter(it % 7 == 3).map(it + 0.5)
    assert first._shape is second._shape
    assert [each.function for each in first._shape.stages] == [stages.filter_, stages.map_]
    assert pickle.loads(pickle.dumps(first))._shape is first._shape
    assert Flowable.range(5).filter(it % 2 != 1)._shape is not Flowable.range(5).filter(it % 2 == 1)._shape
    assert repr(first) == "range(5).filter(it % 2 == 1).map(it + 1)"
    assert first.explain().startswith("range(5) → filter(it % 2 == 1) → map(it + 1)\n")


def test_more_structures_than_anybody_writes_run_as_plain_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "MAX_SPECIALS", -1)
    before = len(shapes.ROOT._children)
    for number in range(20):
        flow = Flowable.from_iterable([{f"f{number}": number}]).map(getattr(it, f"get{'' if number < 5 else '_'}")("x", number))
        if number < 5:
            assert list(flow) == [number]
    assert len(shapes.ROOT._children) == before
    assert repr(Flowable.range(3).map(it.never_seen)) == "range(3).map(it.never_seen)"


def test_threads_that_assemble_the_same_get_one_shape() -> None:
    start = threading.Barrier(4)
    found: list[list[Any]] = [[] for _ in range(4)]

    def build(at: int) -> None:
        start.wait(10)
        for number in range(50):
            flow = Flowable.range(3).map(getattr(it, "real") + number).filter(it >= number)  # noqa: B009
            found[at].append(flow._shape)
            assert list(flow) == [number, number + 1, number + 2]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=build, args=(at,)) for at in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(interval)
    assert [len(each) for each in found] == [50] * 4
    assert len({id(shape) for each in found for shape in each}) == 1


# -- everywhere else ---------------------------------------------------------------------------------------------------


def test_other_types_and_operators() -> None:
    assert Single.just(3).map(it * 2).blocking_get() == 6
    assert Maybe.just(3).filter(it > 5).blocking_get() is None
    assert Single.just(3).flat_map(sym(lambda x: call(Single.just, x + 1))).blocking_get() == 4
    assert Observable.of(1, 2, 3).filter(it != 2).map(it + 1).blocking_list() == [2, 4]
    assert Flowable.from_iterable(ROWS).to_dict(it["k"], it["v"]).blocking_get() == {1: 5, 2: 0, 3: 4}
    assert list(Flowable.from_iterable(ROWS).group_by(it["k"]).map(it.key)) == [1, 2, 1, 3]  # nobody reads the groups
    assert list(Flowable.of("a", "b").map(it.upper())) == ["A", "B"]
    assert list(Flowable.range(3).retry(2).map(sym(lambda o: (o, o + 1)))) == [(0, 1), (1, 2), (2, 3)]
    assert list(Flowable.zip(Flowable.of(1, 2), Flowable.of(3, 4), combiner=sym(lambda a, b: a * b))) == [3, 8]


def test_operators_that_keep_their_function_in_objects_of_their_own_call_it() -> None:
    """A symbol that is called builds a call; in the library's own modules it is the function."""

    class Row:
        def __init__(self, inner: Any) -> None:
            self.inner = inner
            self.called: list[int] = []

    done: list[int] = []
    row = Row(Completable.from_action(lambda: done.append(1)))
    Flowable.of(row).flat_map_completable(it.inner).blocking_await()
    Flowable.of(row, row).concat_map_completable(it.inner).blocking_await()
    assert len(done) == 3
    assert list(Flowable.of(Row(Flowable.of(1, 2))).flat_map(it.inner)) == [1, 2]
    assert list(Flowable.of(Row(Flowable.of(1, 2))).switch_map(it.inner)) == [1, 2]
    assert Single.just(Row(Maybe.just(3))).flat_map_maybe(it.inner).blocking_get() == 3
    Flowable.of(1, 2).blocking_for_each(call(row.called.append, it))
    assert row.called == [1, 2]
    rows = Flowable.of(Row(Flowable.timer(0.0)))
    assert len(list(rows.delay(selector=it.inner))) == 1


def test_a_call_with_one_argument_builds_everywhere_else() -> None:
    assert repr(it.name.startswith("a")) == "it.name.startswith('a')"
    scope: dict[str, Any] = {"__name__": "rx_ops.somewhere", "symbol": it.real}
    exec("value = symbol(3)", scope)
    assert scope["value"] == 3
    scope["__name__"] = "rx_opsimistic"
    exec("value = symbol(3)", scope)
    assert repr(scope["value"]) == "it.real(3)"

"""ParallelFlowable: a source divided among rails, and the rails joined again."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ops_parties import errors_of_the_hook
from rails_parties import Several, double, failing_at

from rx_core import UNBOUNDED, CompositeException
from rx_fusion import fusion_off
from rx_ops import Flowable, Maybe, ParallelFlowable, Single
from rx_schedulers import computation
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

OOPS = ValueError("oops")

Parallel = ParallelFlowable[Any]
#: For calls that a type checker refuses.
NUMBERS: Any = Flowable.range(3)
RAILS: Any = ParallelFlowable


@pytest.fixture(params=["fused", "off"], autouse=True)
def fusion(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "off":
        with fusion_off():
            yield
    else:
        yield


def driven(
    build: Callable[[Parallel], Flowable[Any]], rails: int = 2, request: int = UNBOUNDED, prefetch: int = 128
) -> tuple[ManualPublisher[Any], TestSubscriber[Any]]:
    source: ManualPublisher[Any] = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber(request=request)
    build(Flowable.wrap(source).parallel(rails, prefetch=prefetch)).subscribe(got)
    return source, got


# -- dividing ----------------------------------------


def rails_of(parallel: Parallel, *requests: int) -> list[TestSubscriber[Any]]:
    """A subscriber for each rail, with its own demand."""
    subscribers = [TestSubscriber[Any](request=each) for each in requests]
    parallel.subscribe(*subscribers)
    return subscribers


def test_items_go_to_the_rails_in_turn() -> None:
    first, second = rails_of(Flowable.range(5).parallel(2), UNBOUNDED, UNBOUNDED)
    first.assert_result(0, 2, 4)
    second.assert_result(1, 3)


def test_an_item_goes_to_the_next_rail_that_wants_one() -> None:
    first, second, third = rails_of(Flowable.range(6).parallel(3), 0, 1, 3)
    first.assert_empty()
    second.assert_values(0)
    third.assert_values(1, 2, 3)
    first.request(5)
    first.assert_result(4, 5)
    second.assert_result(0)


def test_what_no_rail_wants_waits_in_front_of_them() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    first, second = rails_of(Flowable.wrap(source).parallel(2, prefetch=4), 1, 0)
    assert source.requested == 4
    source.next(1, 2, 3)
    first.assert_values(1)
    second.request(2)
    second.assert_values(2, 3)
    assert source.requested == 7  # replenished when three of four were taken


def test_a_source_is_subscribed_when_all_rails_have_their_subscribers() -> None:
    subscribed: list[int] = []

    def counted() -> Flowable[int]:
        subscribed.append(len(attached))
        return Flowable.range(4)

    attached: list[object] = []
    parallel = Flowable.defer(counted).parallel(3).do_on_subscribe(attached.append)
    assert sorted(parallel.sequential().blocking_list()) == [0, 1, 2, 3]
    assert subscribed == [3]


def test_a_rail_that_leaves_leaves_the_items_to_the_others() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    first, second = rails_of(Flowable.wrap(source).parallel(2), UNBOUNDED, UNBOUNDED)
    first.cancel()
    source.next(1, 2)
    second.assert_values(1, 2)
    assert not source.cancelled
    second.cancel()
    assert source.cancelled


def test_a_wrong_request_ends_its_rail_alone() -> None:
    first, second = rails_of(Flowable.range(4).parallel(2), 1, 0)
    first.request(-1)
    first.assert_failure(ValueError, 0)
    second.request(3)
    second.assert_result(1, 2, 3)


def test_another_number_of_subscribers_is_refused() -> None:
    with pytest.raises(ValueError, match=r"3 subscribers for 2 rails(.|\n)*sequential\(\)"):
        Flowable.range(3).parallel(2).subscribe(*[TestSubscriber[int]() for _ in range(3)])


def test_the_description_of_a_rail_is_used_again_by_each_run() -> None:
    parallel = Flowable.range(4).parallel(2).map(double)
    joined = parallel.sequential()
    assert joined.blocking_list() == joined.blocking_list() == [0, 2, 4, 6]
    assert parallel.sequential(ordered=True).blocking_list() == [0, 2, 4, 6]


def test_rails_within_rails() -> None:
    nested = Flowable.range(8).parallel(2).map(double).sequential().parallel(3).map(double).sequential(ordered=True)
    assert nested.blocking_list() == [item * 4 for item in range(8)]
    inner = Flowable.range(3).parallel(2).flat_map(lambda item: Flowable.range(item).parallel(2).sequential()).sequential()
    assert sorted(inner.blocking_list()) == [0, 0, 1]


def test_without_a_number_there_is_a_rail_for_each_core() -> None:
    assert Flowable.range(3).parallel().parallelism >= 1
    assert Flowable.range(3).parallel(5).map(double).parallelism == 5


# -- operators of a rail ----------------------------------------

SAME_AS_WITHOUT: dict[str, tuple[Callable[[Parallel], Parallel], Callable[[Flowable[int]], Flowable[Any]]]] = {
    "map": (lambda p: p.map(double), lambda f: f.map(double)),
    "filter": (lambda p: p.filter(lambda x: x % 3), lambda f: f.filter(lambda x: x % 3)),
    "map_optional": (lambda p: p.map_optional(lambda x: x if x % 2 else None), lambda f: f.filter(lambda x: x % 2)),
    "flat_map_iterable": (
        lambda p: p.flat_map_iterable(lambda x: [x] * (x % 4)),
        lambda f: f.flat_map_iterable(lambda x: [x] * (x % 4)),
    ),
    "flat_map": (lambda p: p.flat_map(lambda x: Flowable.of(x, -x)), lambda f: f.flat_map(lambda x: Flowable.of(x, -x))),
    "concat_map": (lambda p: p.concat_map(lambda x: Flowable.of(x, -x)), lambda f: f.concat_map(lambda x: Flowable.of(x, -x))),
    "chain": (lambda p: p.map(double).filter(bool).map(str), lambda f: f.map(double).filter(bool).map(str)),
    "flat_map of what is left": (
        lambda p: p.filter(lambda x: x % 3).flat_map(lambda x: Flowable.range(x % 4)).map(str),
        lambda f: f.filter(lambda x: x % 3).flat_map(lambda x: Flowable.range(x % 4)).map(str),
    ),
    "flat_map of what is expanded": (
        lambda p: p.flat_map_iterable(lambda x: range(x % 3)).flat_map(lambda x: Flowable.of(x, -x).filter(bool)),
        lambda f: f.flat_map_iterable(lambda x: range(x % 3)).flat_map(lambda x: Flowable.of(x, -x).filter(bool)),
    ),
    "flat_map behind concat_map": (
        lambda p: p.concat_map(lambda x: Flowable.range(x % 3)).flat_map(lambda x: Single.just(x + 1)).filter(lambda x: x > 1),
        lambda f: f.concat_map(lambda x: Flowable.range(x % 3)).flat_map(lambda x: Single.just(x + 1)).filter(lambda x: x > 1),
    ),
    "flat_map on threads": (
        lambda p: p.run_on(computation()).flat_map(lambda x: Flowable.of(x, -x)).run_on(computation(), prefetch=2).map(double),
        lambda f: f.flat_map(lambda x: Flowable.of(x, -x)).map(double),
    ),
    "flat_map of foreign sources": (lambda p: p.flat_map(Foreign), lambda f: f.flat_map(Foreign)),
    "starmap": (
        lambda p: p.map(lambda x: (x, 1)).starmap(lambda a, b: a + b),
        lambda f: f.map(lambda x: x + 1),
    ),
    "cast": (lambda p: p.cast(int).map(double), lambda f: f.map(double)),
    "of_type": (
        lambda p: p.map(lambda x: x if x % 3 else str(x)).of_type(str),
        lambda f: f.map(lambda x: x if x % 3 else str(x)).of_type(str),
    ),
    "run_on": (lambda p: p.run_on(computation()).map(double), lambda f: f.map(double)),
    "run_on twice": (lambda p: p.run_on(computation()).map(double).run_on(computation(), prefetch=2), lambda f: f.map(double)),
}


class Foreign:
    """A publisher that is not ours."""

    def __init__(self, item: int) -> None:
        self.subscribe = Flowable.range(item % 3).map(lambda at: item + at).subscribe


@pytest.mark.slow
@pytest.mark.parametrize("prefetch", [1, 4, 128])
@pytest.mark.parametrize("rails", [1, 2, 5])
@pytest.mark.parametrize("name", SAME_AS_WITHOUT)
def test_rails_together_give_what_the_stream_gives_without(name: str, rails: int, prefetch: int) -> None:
    divided, plain = SAME_AS_WITHOUT[name]
    source = Flowable.range(300)
    joined = divided(source.parallel(rails, prefetch=prefetch)).sequential(prefetch=prefetch)
    assert sorted(joined.blocking_list()) == sorted(plain(source).blocking_list())


@pytest.mark.slow
@pytest.mark.parametrize("prefetch", [1, 4, 128])
@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("name", SAME_AS_WITHOUT)
def test_in_order_they_are_the_stream_without_rails(name: str, hidden: bool, prefetch: int) -> None:
    divided, plain = SAME_AS_WITHOUT[name]
    source = Flowable.range(300).hide() if hidden else Flowable.range(300)
    joined = divided(source.parallel(3, prefetch=prefetch)).sequential(prefetch=prefetch, ordered=True)
    assert joined.blocking_list() == plain(source).blocking_list()


def test_reduce_combines_each_rail_and_then_the_rails() -> None:
    parallel = Flowable.range(10).parallel(3)
    total: Maybe[int] = parallel.reduce(lambda a, b: a + b)
    assert total.blocking_get() == 45
    assert Flowable.just(7).parallel(4).reduce(lambda a, b: a + b).blocking_get() == 7  # three rails have nothing
    assert Flowable.empty().parallel(2).reduce(lambda a, b: a).blocking_get() is None


def test_a_seed_a_supplier_or_a_collector_give_a_value_for_each_rail() -> None:
    parallel = Flowable.range(6).parallel(2)
    assert parallel.reduce(lambda total, item: total + item, 100).sequential().blocking_list() == [106, 109]
    assert parallel.reduce_with(lambda: 0, lambda total, item: total - item).sequential().blocking_list() == [-6, -9]
    assert parallel.collect(list).sequential().blocking_list() == [[0, 2, 4], [1, 3, 5]]
    kept: ParallelFlowable[list[int]] = parallel.collect(lambda: list[int](), lambda seen, item: seen.append(item))
    assert kept.sequential().blocking_list() == [[0, 2, 4], [1, 3, 5]]


def test_sorted_is_one_stream_of_all_rails() -> None:
    parallel = Flowable.of(5, 3, 9, 1, 4).parallel(2)
    assert parallel.sorted().blocking_list() == [1, 3, 4, 5, 9]
    assert parallel.run_on(computation()).sorted(reverse=True).blocking_list() == [9, 5, 4, 3, 1]
    assert parallel.sorted(lambda item: -item).take(2).blocking_list() == [9, 5]
    assert Flowable.empty().parallel(2).sorted().blocking_list() == []


def test_what_looks_on_is_called_for_each_rail() -> None:
    seen: list[Any] = []
    parallel = (
        Flowable.range(3)
        .parallel(2)
        .do_on_next(lambda item: seen.append(item))
        .do_after_next(lambda item: seen.append(-item))
        .do_on_complete(lambda: seen.append("complete"))
        .do_after_terminate(lambda: seen.append("over"))
        .do_on_request(lambda n: seen.append(n > 0))
        .do_on_cancel(lambda: seen.append("cancel"))
        .do_on_error(lambda error: seen.append(error))
    )
    assert parallel.sequential().blocking_list() == [0, 1, 2]
    assert [each for each in seen if each is not True] == [0, 0, 1, -1, 2, -2, "complete", "over", "complete", "over"]
    assert seen.count(True) >= 2


# -- the rails joined ----------------------------------------


def test_items_come_as_they_are_requested() -> None:
    made: list[int] = []
    got = TestSubscriber[int](request=0)
    Flowable.range(1_000).parallel(2, prefetch=4).do_on_next(made.append).sequential(prefetch=4).subscribe(got)
    got.assert_empty()
    assert len(made) == 8  # the windows of two rails
    got.request(3)
    assert len(got.values) == 3
    assert len(made) <= 8 + 3
    got.request(997)
    got.assert_complete()
    assert sorted(got.values) == list(range(1_000))


@pytest.mark.parametrize("ordered", [False, True])
def test_a_slow_subscriber_holds_up_the_source(ordered: bool) -> None:
    source, got = driven(lambda p: p.sequential(prefetch=2, ordered=ordered), request=0, prefetch=3)
    source.next(*range(source.requested))
    assert source.requested < 3 + 4 + 4
    got.request(1)
    got.assert_values(0)


@pytest.mark.parametrize("ordered", [False, True])
def test_a_cancel_reaches_the_source_once_and_all_rails(ordered: bool) -> None:
    cancels: list[str] = []
    source: ManualPublisher[int] = ManualPublisher()
    got = TestSubscriber[int]()
    flow = Flowable.wrap(source).do_on_cancel(lambda: cancels.append("source"))
    flow.parallel(3).do_on_cancel(lambda: cancels.append("rail")).sequential(ordered=ordered).subscribe(got)
    source.next(1)
    got.cancel()
    assert cancels.count("rail") == 3
    assert cancels.count("source") == 1
    assert source.cancelled
    got.assert_values(1)


@pytest.mark.parametrize("ordered", [False, True])
def test_take_stops_the_source(ordered: bool) -> None:
    joined = Flowable.range(10**9).parallel(2).run_on(computation()).map(double).sequential(ordered=ordered)
    assert len(joined.take(5).blocking_list()) == 5


@pytest.mark.parametrize("ordered", [False, True])
def test_an_error_of_the_source_comes_once(ordered: bool) -> None:
    with errors_of_the_hook() as dropped:
        source, got = driven(lambda p: p.sequential(ordered=ordered), rails=3)
        source.next(1, 2)
        source.error(OOPS)
    got.assert_failure(ValueError, 1, 2)
    assert got.error is OOPS
    assert not dropped


@pytest.mark.parametrize("ordered", [False, True])
def test_an_error_of_the_source_is_one_error_also_when_errors_are_delayed(ordered: bool) -> None:
    source, got = driven(lambda p: p.sequential(ordered=ordered, delay_error=True), rails=3)
    source.next(1)
    source.error(OOPS)
    assert got.error is OOPS


@pytest.mark.parametrize("ordered", [False, True])
def test_an_error_of_one_rail_ends_all(ordered: bool) -> None:
    with errors_of_the_hook() as dropped:
        source, got = driven(lambda p: p.map(failing_at(2)).sequential(ordered=ordered))
        source.next(1, 2, 3)
    got.assert_failure(ValueError, 1)
    assert source.cancelled
    assert not dropped


@pytest.mark.parametrize("ordered", [False, True])
def test_with_delay_error_the_other_rails_run_to_their_end(ordered: bool) -> None:
    source, got = driven(lambda p: p.map(failing_at(2, 3)).filter(bool).sequential(ordered=ordered, delay_error=True), rails=3)
    source.next(1, 2, 3, 4, 5)
    assert got.values == [1, 4, 5]  # by the one rail that is left
    source.complete()
    assert isinstance(got.error, CompositeException)
    assert [each.args for each in got.error.exceptions] == [(2,), (3,)]


def test_a_result_waits_for_its_turn() -> None:
    slow, fast = VirtualScheduler(), VirtualScheduler()
    got = TestSubscriber[int]()
    Flowable.range(4).parallel(2).run_on(Several(slow, fast)).map(double).sequential(ordered=True).subscribe(got)
    fast.run_due()
    got.assert_empty()
    slow.run_due()
    got.assert_result(0, 2, 4, 6)


def test_without_order_it_does_not() -> None:
    slow, fast = VirtualScheduler(), VirtualScheduler()
    got = TestSubscriber[int]()
    Flowable.range(4).parallel(2).run_on(Several(slow, fast)).map(double).sequential().subscribe(got)
    fast.run_due()
    got.assert_values(2, 6)
    slow.run_due()
    got.assert_result(2, 6, 0, 4)


def test_results_of_one_item_stay_together_in_order() -> None:
    clock = VirtualScheduler()
    got = TestSubscriber[int](request=0)
    joined = Flowable.range(4).parallel(2).run_on(clock).flat_map_iterable(lambda x: [x] * x).sequential(ordered=True)
    joined.subscribe(got)
    for _ in range(6):
        got.request(1)
        clock.run_due()
    got.assert_result(1, 2, 2, 3, 3, 3)


def test_streams_of_items_give_in_their_turn_what_they_have_so_far() -> None:
    inner: dict[int, ManualPublisher[str]] = {at: ManualPublisher() for at in range(3)}
    got = TestSubscriber[str]()
    Flowable.range(3).parallel(2).flat_map(inner.__getitem__).sequential(ordered=True).subscribe(got)
    inner[1].next("b1")
    got.assert_empty()
    inner[0].next("a1")
    inner[0].next("a2")
    got.assert_values("a1", "a2")
    inner[0].complete()
    got.assert_values("a1", "a2", "b1")
    inner[2].next("c1")
    inner[2].complete()
    inner[1].next("b2")
    got.assert_values("a1", "a2", "b1", "b2")
    inner[1].complete()
    got.assert_result("a1", "a2", "b1", "b2", "c1")


def test_an_endless_stream_of_an_item_is_heard() -> None:
    def endless(item: int) -> Flowable[int]:
        return Flowable.just(item).repeat()

    nine = Flowable.range(9).parallel(3)
    assert nine.flat_map(endless).sequential(ordered=True).take(3).blocking_list() == [0, 0, 0]
    assert nine.concat_map(endless).map(double).sequential(ordered=True).take(3).blocking_list() == [0, 0, 0]


def test_in_order_no_more_inner_streams_run_on_a_rail_than_it_was_told() -> None:
    inner: list[ManualPublisher[int]] = []

    def opened(_item: int) -> ManualPublisher[int]:
        inner.append(ManualPublisher())
        return inner[-1]

    got = TestSubscriber[int]()
    Flowable.range(20).parallel(2).flat_map(opened, max_concurrency=3).sequential(ordered=True).subscribe(got)
    assert len(inner) == 6
    inner[0].complete()
    assert len(inner) == 7


def test_of_a_stream_of_items_nothing_is_requested_that_has_no_place() -> None:
    asked: list[int] = []

    def opened(item: int) -> Flowable[int]:
        return Flowable.range(100).hide().do_on_request(lambda n: asked.append(n)).map(lambda at: item)

    got = TestSubscriber[int](request=1)
    step = Flowable.range(2).parallel(2, prefetch=1).flat_map(opened, prefetch=4)
    step.sequential(prefetch=2, ordered=True).subscribe(got)
    got.assert_values(0)
    assert sum(asked) < 40
    got.request(500)
    got.assert_result(*[0] * 100, *[1] * 100)


@pytest.mark.parametrize("delay_error", [False, True])
@pytest.mark.parametrize("method", ["flat_map", "concat_map"])
def test_an_inner_stream_that_fails_ends_all_or_waits_for_the_others(method: str, delay_error: bool) -> None:
    def opened(item: int) -> Flowable[int]:
        return Flowable.just(item).concat_with(Flowable.error(ValueError(item)) if item == 1 else Flowable.empty())

    rails = getattr(Flowable.range(6).parallel(2), method)(opened, delay_error=delay_error)
    got = TestSubscriber[int]()
    rails.sequential(ordered=True, delay_error=delay_error).subscribe(got)
    assert isinstance(got.error, ValueError)
    if delay_error:
        got.assert_values(0, 1, 2, 3, 4, 5)
    else:
        assert len(got.values) < 6


def test_what_fails_in_a_stream_of_an_item_names_the_operator() -> None:
    for method in ("flat_map", "concat_map"):
        with pytest.raises(ValueError, match=r"[01]") as raised:
            getattr(Flowable.range(3).parallel(2), method)(failing_at(0, 1)).sequential(ordered=True).blocking_list()
        (first, second) = [note for note in raised.value.__notes__ if method in note]
        assert first.startswith(f"in {method}(failing_at")
        assert re.fullmatch(rf"through {method}\(\S+\) of range\(3\)\.parallel\(2\)\.{method}\(\S+\)", second)
        with pytest.raises(TypeError, match=rf"{method}\(\) expected"):
            getattr(Flowable.range(3).parallel(2), method)(double).sequential(ordered=True).blocking_list()


def test_what_is_behind_an_item_in_order_is_called_for_each() -> None:
    seen: list[int] = []
    flow = Flowable.range(4).parallel(2).flat_map(lambda x: Flowable.of(x, -x)).filter(bool).do_after_next(seen.append)
    assert flow.sequential(ordered=True).blocking_list() == [1, -1, 2, -2, 3, -3]
    assert sorted(seen) == [-3, -2, -1, 1, 2, 3]


REFUSED: dict[str, Callable[[Parallel], Parallel]] = {
    "reduce": lambda p: p.reduce(lambda a, b: a + b, 0),
    "collect": lambda p: p.collect(set),
    "reduce_with": lambda p: p.flat_map(Flowable.just).reduce_with(list, lambda xs, x: [*xs, x]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_order_is_refused_where_it_is_assembled(name: str) -> None:
    parallel = REFUSED[name](Flowable.range(3).parallel(2))
    with pytest.raises(ValueError, match=rf"{name}\(\)(.|\n)*Right:  \.sequential\(\)"):
        parallel.sequential(ordered=True)


def test_a_failure_in_order_names_the_operator() -> None:
    joined = Flowable.range(3).parallel(2).map(failing_at(1)).filter(bool).sequential(ordered=True)
    with pytest.raises(ValueError, match="1") as raised:
        joined.blocking_list()
    assert any(re.match(r"in map\(\S*mapper\) of range\(3\)", note) for note in raised.value.__notes__)


# -- workers ----------------------------------------


def test_each_rail_has_a_worker_of_its_own() -> None:
    clocks = [VirtualScheduler() for _ in range(3)]
    got = TestSubscriber[int]()
    Flowable.range(4).parallel(3).run_on(Several(*clocks)).map(double).sequential().subscribe(got)
    got.assert_empty()
    came = []
    for clock in clocks:
        clock.run_due()
        came.append(list(got.values))
    assert came == [[0, 6], [0, 6, 2], [0, 6, 2, 4]]
    got.assert_result(0, 6, 2, 4)


def test_an_error_overtakes_what_waits_for_a_worker() -> None:
    clock = VirtualScheduler()
    source, got = driven(lambda p: p.run_on(clock).sequential())
    source.next(1, 2, 3)
    source.error(OOPS)
    clock.run_due()
    got.assert_failure(ValueError)


def test_a_scheduler_that_was_shut_down_is_an_error() -> None:
    clock = VirtualScheduler()
    clock.shutdown()
    got = TestSubscriber[int]()
    with errors_of_the_hook():
        Flowable.range(4).parallel(2).run_on(clock).sequential().subscribe(got)
    assert isinstance(got.error, RuntimeError)


# -- descriptions ----------------------------------------


def test_it_reads_as_it_was_written_and_travels() -> None:
    parallel = Flowable.range(4).parallel(2, prefetch=8).run_on(computation()).map(double)
    assert repr(parallel) == "range(4).parallel(2).run_on(computation()).map(double)"
    assert repr(parallel.sequential(ordered=True)).endswith(".sequential(ordered=True)")
    copied = pickle.loads(pickle.dumps(parallel))
    assert repr(copied) == repr(parallel)
    assert sorted(copied.sequential().blocking_list()) == [0, 2, 4, 6]
    mapped = pickle.loads(pickle.dumps(parallel.flat_map(Flowable.just).sequential(ordered=True)))
    assert mapped.blocking_list() == parallel.sequential(ordered=True).blocking_list()
    filtered = pickle.loads(pickle.dumps(parallel.filter(bool).sequential(ordered=True)))
    assert filtered.blocking_list() == [2, 4, 6]


def test_its_plan_names_rails_workers_and_queues() -> None:
    text = Flowable.range(4).parallel(2).run_on(computation()).map(double).sequential().explain()
    for part in ("sequential()", "map(double)", "run_on(computation())", "a worker of computation()", "2 rails", "range(4)"):
        assert part in text
    assert "sequential" not in Flowable.range(4).parallel(2).explain()


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: NUMBERS.parallel(0), ValueError, r"parallel\(parallelism=0\)"),
        (lambda: NUMBERS.parallel("2"), TypeError, r"parallel\(parallelism='2'\)"),
        (lambda: NUMBERS.parallel(2, prefetch=0), ValueError, "prefetch"),
        (lambda: NUMBERS.parallel(2).run_on("io"), TypeError, r"run_on\(\) expected a scheduler"),
        (lambda: NUMBERS.parallel(2).run_on(computation(), prefetch=0), ValueError, "prefetch"),
        (lambda: NUMBERS.parallel(2).sequential(prefetch=-1), ValueError, "prefetch"),
        (lambda: NUMBERS.parallel(2).map(3), TypeError, r"map\(\)"),
        (lambda: NUMBERS.parallel(2).pipe(3), TypeError, r"pipe\(\)"),
        (lambda: NUMBERS.parallel(2).take(1), AttributeError, r"Right:  \.sequential\(\)\.take\(\.\.\.\)"),
        (lambda: NUMBERS.parallel(2).nonsense(), AttributeError, "has no nonsense"),
        (lambda: NUMBERS.parallel(2).flatMap(abs), AttributeError, r"Here it is called:  \.flat_map\(\.\.\.\)"),
        (lambda: NUMBERS.parallel(2).sequentialDelayError(), AttributeError, r"written so:  \.sequential\(delay_error=True\)"),
        (lambda: NUMBERS.parallel(2).compose(abs), AttributeError, r"written so:  \.pipe\(f\)"),
        (lambda: NUMBERS.parallel(2).ordered(), AttributeError, r"written so:  \.sequential\(ordered=True\)"),
        (lambda: RAILS(NUMBERS), TypeError, r"Right:  \.parallel\(2\)"),
        (lambda: RAILS(object()), TypeError, r"Right:  Flowable\.wrap\(publisher\)\.parallel\(2\)"),
    ],
)
def test_mistakes_are_told_where_they_are_made(call: Callable[[], object], kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        call()


def test_the_description_of_a_rail_is_no_stream_of_its_own() -> None:
    got = TestSubscriber[int]()
    Flowable.range(3).parallel(2).map(double)._rail.subscribe(got)
    got.assert_failure(TypeError)
    assert "sequential()" in str(got.error)


def test_pipe_calls_a_function_with_it() -> None:
    def times(parallel: ParallelFlowable[int], factor: int) -> ParallelFlowable[int]:
        return parallel.map(lambda item: item * factor)

    assert Flowable.range(3).parallel(2).pipe(times, 3).sequential().blocking_list() == [0, 3, 6]

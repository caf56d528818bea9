"""Rails in other processes."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rails_parties import ByHand, double

from rx_core import ProcessDiedError
from rx_fusion import fusion_off
from rx_ops import Flowable, ParallelFlowable
from rx_schedulers import Processes, processes
from rx_testing import ManualPublisher, TestSubscriber

Parallel = ParallelFlowable[Any]


@pytest.fixture(scope="module")
def pool() -> Processes:
    return processes(2)


@pytest.fixture(params=["fused", "off"], autouse=True)
def fusion(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "off":
        with fusion_off():
            yield
    else:
        yield


def pid(_item: int) -> int:
    return os.getpid()


def failing_at_50(item: int) -> int:
    if item == 50:
        raise KeyError(item)
    return item


def dying_at_50(item: int) -> int:
    if item == 50:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


class Mine:
    """A class of this file, which a process cannot import."""

    def __init__(self, number: int) -> None:
        self.number = number


STAGES: dict[str, tuple[Callable[[Parallel], Parallel], Callable[[Flowable[int]], Flowable[Any]]]] = {
    "nothing": (lambda p: p, lambda f: f),
    "map": (lambda p: p.map(double), lambda f: f.map(double)),
    "lambdas": (
        lambda p: p.map(lambda x: x + 1).filter(lambda x: x % 3),
        lambda f: f.map(lambda x: x + 1).filter(lambda x: x % 3),
    ),
    "map_optional": (lambda p: p.map_optional(lambda x: x if x % 2 else None), lambda f: f.filter(lambda x: x % 2)),
    "flat_map_iterable": (
        lambda p: p.flat_map_iterable(lambda x: [x] * (x % 4)),
        lambda f: f.flat_map_iterable(lambda x: [x] * (x % 4)),
    ),
    "starmap": (lambda p: p.map(lambda x: (x, 1)).starmap(max), lambda f: f.map(lambda x: max(x, 1))),
    "of a type": (
        lambda p: p.map(lambda x: x if x % 3 else Mine(x)).of_type(Mine).cast(Mine).map(lambda mine: mine.number),
        lambda f: f.filter(lambda x: x % 3 == 0),
    ),
    "flat_map behind it": (
        lambda p: p.map(double).flat_map(lambda x: Flowable.of(x, -x)).map(str),
        lambda f: f.map(double).flat_map(lambda x: Flowable.of(x, -x)).map(str),
    ),
    "flat_map in front of it": (
        lambda p: p.flat_map(lambda x: Flowable.of(x, -x)).run_on(processes(2)).filter(lambda x: x % 3).map(double),
        lambda f: f.flat_map(lambda x: Flowable.of(x, -x)).filter(lambda x: x % 3).map(double),
    ),
    "here and there": (lambda p: p.map(double).do_on_complete(lambda: None).map(str), lambda f: f.map(double).map(str)),
}


@pytest.mark.parametrize("prefetch", [1, 128])
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("name", STAGES)
def test_rails_in_processes_give_what_the_stream_gives(pool: Processes, name: str, ordered: bool, prefetch: int) -> None:
    divided, plain = STAGES[name]
    source = Flowable.range(200)
    joined = divided(source.parallel(3).run_on(pool, prefetch=prefetch)).sequential(ordered=ordered)
    got, wanted = joined.blocking_list(), plain(source).blocking_list()
    assert got == wanted if ordered else sorted(got) == sorted(wanted)


def test_functions_run_in_the_processes_and_what_looks_on_here(pool: Processes) -> None:
    seen: list[int] = []
    joined = Flowable.range(100).parallel(2).run_on(pool).map(pid).do_on_next(seen.append).map(lambda there: (there, os.getpid()))
    came = joined.sequential().blocking_list()
    assert len({there for there, _ in came}) == 2
    assert {here for _, here in came} == {os.getpid()}
    assert sorted(seen) == sorted(there for there, _ in came)


def test_rails_are_reduced_here(pool: Processes) -> None:
    assert Flowable.range(100).parallel(2).run_on(pool).map(double).reduce(lambda a, b: a + b).blocking_get() == 9900


@pytest.mark.parametrize("ordered", [False, True])
def test_an_error_comes_back_as_it_was_raised(pool: Processes, ordered: bool) -> None:
    joined = Flowable.range(200).parallel(2).run_on(pool).map(failing_at_50).filter(lambda x: True).sequential(ordered=ordered)
    with pytest.raises(KeyError) as raised:
        joined.blocking_list()
    notes = raised.value.__notes__
    assert any(note.startswith("in map(failing_at_50) of run_on(processes(2))") for note in notes)
    assert any("in failing_at_50" in note for note in notes)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals")
def test_a_process_that_dies_ends_the_stream_with_its_name(pool: Processes) -> None:
    parallel = Flowable.range(200).parallel(2).run_on(pool)
    with pytest.raises(ProcessDiedError, match=r"rx-process-\d \(pid \d+\) was killed by SIGKILL"):
        parallel.map(dying_at_50).sequential().blocking_list()
    assert len(parallel.map(double).sequential().blocking_list()) == 200


def test_what_cannot_be_sent_is_an_error_of_the_stream(pool: Processes) -> None:
    lock = __import__("threading").Lock()
    got = TestSubscriber[Any]()
    Flowable.range(3).parallel(2).run_on(pool).map(lambda item: (item, lock)).sequential().subscribe(got)
    got.assert_failure(TypeError, match="cannot be sent to another process")


def test_a_pool_is_no_scheduler(pool: Any) -> None:
    with pytest.raises(TypeError, match=r"observe_on\(\) expected a scheduler, got processes\(2\)"):
        Flowable.range(3).observe_on(pool)


def test_its_text_and_its_plan_say_what_goes_along(pool: Processes) -> None:
    parallel = Flowable.range(3).parallel(2).run_on(pool).map(double).filter(bool).do_on_next(print).map(abs)
    assert repr(parallel) == "range(3).parallel(2).run_on(processes(2)).map(double).filter(bool).do_on_next(print).map(abs)"
    assert "processes: map·filter runs in one of them" in parallel.explain()
    assert "this process: do_on_next, which looks on, and what is behind it" in parallel.explain()
    typed = Flowable.range(3).parallel(2).run_on(pool).of_type(int).cast(int).map(lambda x: (x, x)).starmap(max)
    assert "processes: of_type·cast·map·starmap runs in one of them" in typed.explain()
    assert "this process" not in typed.explain()
    summed = Flowable.range(3).parallel(2).run_on(pool).reduce(max, 0)
    assert "processes: nothing runs there that is of this rail" in summed.explain()
    assert "this process: reduce, which is about more than one item, and what is behind it" in summed.explain()
    copied = pickle.loads(pickle.dumps(Flowable.range(3).parallel(2).run_on(pool).map(double)))
    assert copied.sequential(ordered=True).blocking_list() == [0, 2, 4]


# -- demand, with a pool that answers by hand ----------------------------------------


def by_hand(
    request: int | None = None, rails: int = 1, **options: Any
) -> tuple[ByHand, ManualPublisher[Any], TestSubscriber[Any]]:
    hand, source = ByHand(), ManualPublisher[Any]()
    got: TestSubscriber[Any] = TestSubscriber() if request is None else TestSubscriber(request=request)
    flow = Flowable.wrap(source).parallel(rails, prefetch=64).run_on(hand, prefetch=8).map(double)
    flow.sequential(prefetch=2, **options).subscribe(got)
    return hand, source, got


def test_a_process_has_two_lists_at_a_time_and_they_grow() -> None:
    hand, source, got = by_hand()
    source.next(*range(30))
    (rail,) = hand.rails
    assert rail.sent == [[0], [1]]
    rail.answer()
    assert rail.sent == [[1], [2, 3]]  # no longer than a quarter of the window, two of eight
    for _ in range(40):
        if rail.sent:
            assert len(rail.sent) <= 2
            rail.answer()
    assert got.values == [2 * item for item in range(30)]


def test_lists_that_take_long_get_short_again() -> None:
    hand, source, _ = by_hand()
    source.next(*range(30))
    (rail,) = hand.rails
    rail.answer()
    rail.answer()
    rail.answer(seconds=1.0)
    assert [len(each) for each in rail.sent] == [2, 1]


def test_without_demand_results_wait_and_nothing_more_is_sent() -> None:
    hand, source, got = by_hand(request=0)
    source.next(*range(40))
    (rail,) = hand.rails
    sent = 0
    while rail.sent:
        sent += len(rail.sent[0])
        rail.answer()
    assert sent <= 2 + 8 + 8  # two windows, and what an answer brought
    got.assert_empty()
    got.request(1)
    got.assert_values(0)


def test_a_cancel_closes_what_was_sent() -> None:
    hand, source, got = by_hand(rails=2)
    source.next(1, 2)
    got.cancel()
    assert [rail.closed > 0 for rail in hand.rails] == [True, True]
    assert source.cancelled
    hand.rails[0].answer()
    got.assert_empty()


def test_the_end_waits_for_the_answers() -> None:
    hand, source, got = by_hand()
    source.next(1, 2)
    source.complete()
    got.assert_empty()
    hand.rails[0].answer()
    got.assert_values(2)
    got.assert_not_complete()
    hand.rails[0].answer()
    got.assert_result(2, 4)


def test_in_order_results_wait_for_the_process_whose_turn_it_is() -> None:
    hand, source, got = by_hand(rails=2, ordered=True)
    source.next(1, 2)
    first, second = hand.rails
    second.answer()
    got.assert_empty()
    first.answer()
    got.assert_values(2, 4)

"""No error is lost, and none comes later than RxJava signals it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_ops import Emitter, Flowable, Observable, PublishProcessor, PublishSubject
from rx_testing import VirtualScheduler
from tests.defects.apart import printed
from tests.defects.watching import COMPLETE, ERROR, An, signals, watch

Flow = Flowable[Any]


# Kept until the end


def test_combine_latest_keeps_an_error_that_it_delays() -> None:
    failing = Flowable.just(0).map(lambda number: 1 // number)
    combined = Flowable.combine_latest(failing, Flowable.empty(), delay_error=True)
    assert signals(combined) == [An(ZeroDivisionError)]


def test_repeat_when_passes_on_the_error_of_its_source(clock: VirtualScheduler) -> None:
    failing = Flowable.concat(Flowable.just(5), Flowable.error(ERROR))
    repeated = failing.repeat_when(lambda _rounds: Flowable.just(1))
    assert signals(repeated.reduce(lambda a, b: a + b, 0).observe_on(clock), clock) == [ERROR]


def test_the_error_of_a_grouped_source_is_signalled_although_its_groups_deal_with_theirs() -> None:
    failing = Flowable.concat(Flowable.of(1, 2), Flowable.error(ERROR))
    groups = failing.group_by(lambda number: number % 2)
    got = signals(groups.flat_map(lambda group: group.on_error_return(lambda _error: -1)))
    assert got[-1] is ERROR


# At once, although items wait


def test_zip_fails_at_once_although_an_item_waits_for_its_partner() -> None:
    processor = PublishProcessor[int]()
    log = watch(Flowable.zip(processor, Flowable.never()))
    processor.on_next(1)
    processor.on_error(ERROR)
    assert log.signals == [ERROR]


def test_zip_of_observables_fails_at_once() -> None:
    left, right = PublishSubject[int](), PublishSubject[int]()
    log = watch(Observable.zip(left, right))
    left.on_next(1)
    left.on_error(ERROR)
    assert log.signals == [ERROR]
    assert not right.has_subscribers


def test_zip_signals_the_error_of_one_source_and_not_the_end_of_the_other() -> None:
    left, right = PublishProcessor[int](), PublishProcessor[int]()
    log = watch(Flowable.zip(left, right))
    right.on_next(1)
    right.on_error(ERROR)
    assert log.signals == [ERROR]
    left.on_complete()
    assert log.signals == [ERROR]


def test_zip_loses_no_error_behind_an_item_that_has_no_partner_any_more() -> None:
    left, right = PublishSubject[int](), PublishSubject[int]()
    log = watch(Observable.zip(left, right))
    left.on_next(1)
    left.on_next(2)
    left.on_error(ERROR)
    right.on_next(1)
    right.on_complete()
    assert log.signals == [ERROR]


def test_sequence_equal_fails_with_its_source_and_does_not_compare_on() -> None:
    left, right = PublishSubject[int](), PublishSubject[int]()
    log = watch(Observable.sequence_equal(left, right))
    left.on_next(1)
    left.on_error(ERROR)
    right.on_next(2)
    assert log.signals == [ERROR]


def test_observe_on_lets_an_error_overtake_items_that_wait_for_the_worker(clock: VirtualScheduler) -> None:
    processor = PublishProcessor[int]()
    log = watch(processor.observe_on(clock, delay_error=False))
    processor.on_next(1)
    processor.on_error(ERROR)
    clock.run_due()
    assert log.signals == [ERROR]


# At once, although concat_map reads an inner source

Between = Callable[[Flow, VirtualScheduler], Flow]
BETWEEN: dict[str, Between] = {
    "merge_with": lambda flow, clock: flow.merge_with(Flowable.never()),
    "delay": lambda flow, clock: flow.delay(0.5, scheduler=clock),
    "observe_on": lambda flow, clock: flow.observe_on(clock),
    "take_until": lambda flow, clock: flow.take_until(Flowable.never()),
    "do_finally": lambda flow, clock: flow.do_finally(lambda: None),
    "using": lambda flow, clock: Flowable.using(lambda: 1, lambda _resource: flow, lambda _resource: None),
    "start_with": lambda flow, clock: flow.start_with(),
    "retry": lambda flow, clock: flow.retry(0),
}


def test_concat_map_fails_with_its_source_although_an_inner_source_is_open(clock: VirtualScheduler) -> None:
    check_that_concat_map_fails_at_once(lambda flow, clock: flow, clock)


@pytest.mark.parametrize("name", BETWEEN)
def test_concat_map_fails_at_once_also_behind(name: str, clock: VirtualScheduler) -> None:
    check_that_concat_map_fails_at_once(BETWEEN[name], clock)


def check_that_concat_map_fails_at_once(between: Between, clock: VirtualScheduler) -> None:
    processor, inner = PublishProcessor[int](), PublishProcessor[int]()
    log = watch(between(processor, clock).concat_map(lambda _item: inner))
    processor.on_next(1)
    clock.advance_by(1.0)
    assert inner.has_subscribers
    processor.on_error(ERROR)
    clock.advance_by(0.0)
    assert log.signals == [ERROR]
    assert not inner.has_subscribers


OUTER: dict[str, Callable[[Observable[int]], Observable[int]]] = {
    "do_finally": lambda source: source.do_finally(lambda: None),
    "merge_with": lambda source: source.merge_with(Observable.never()),
}


@pytest.mark.parametrize("name", OUTER)
def test_concat_map_of_observables_fails_with_its_source(name: str) -> None:
    source, inner = PublishSubject[int](), PublishSubject[str]()
    log = watch(OUTER[name](source).concat_map(lambda _item: inner))
    source.on_next(1)
    source.on_next(2)
    inner.on_next("a")
    source.on_error(ERROR)
    assert (log.signals, inner.has_subscribers) == (["a", ERROR], False)


def test_concat_map_of_observables_fails_with_a_source_made_by_create() -> None:
    emitters: list[Emitter[int]] = []
    inner = PublishSubject[str]()
    log = watch(Observable.create(emitters.append).concat_map(lambda _item: inner))
    emitters[0].on_next(1)
    emitters[0].on_next(2)
    inner.on_next("a")
    emitters[0].on_error(ERROR)
    assert (log.signals, inner.has_subscribers) == (["a", ERROR], False)


# Not hidden by another error


def test_retry_backoff_without_a_scheduler_does_not_hide_why_it_wanted_to_retry(mode: str) -> None:
    program = """
        from rx_core import SchedulerNotFoundError
        from rx_ops import Flowable

        def fail(number):
            raise OSError("network down")

        failing = Flowable.of(1).map(fail)
        try:
            retried = failing.retry_backoff(3, 0.01)
        except SchedulerNotFoundError:
            print("refused when it was built")
        else:
            try:
                retried.blocking_list()
            except Exception as error:
                while error is not None and not isinstance(error, OSError):
                    error = error.__cause__ or error.__context__
                print("hidden" if error is None else "told")
    """
    assert printed(program, mode, RX_DISABLE_PLUGINS="1") in ("refused when it was built", "told")


def test_the_signals_of_a_stream_that_fails_hold_no_end() -> None:
    """A control of the above: COMPLETE is written down where it comes."""
    assert signals(Flowable.of(1)) == [1, COMPLETE]
    assert signals(Flowable.error(ERROR)) == [ERROR]

"""circuit_breaker and CircuitBreaker."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from rx_core import CompositeException
from rx_ops import CircuitBreaker, CircuitOpenError, CircuitState, Completable, Flowable, Maybe, Observable, Single
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

OOPS = ValueError("oops")
#: For arguments that a type checker refuses.
ANY: Any = CircuitBreaker


class Service:
    """Is called once for each subscription, and answers as it is told."""

    def __init__(self, **options: Any) -> None:
        self.clock = VirtualScheduler()
        self.breaker = CircuitBreaker(**{"failures": 2, "of": 3, "open_for": 10.0, **options, "scheduler": self.clock})
        self.calls = 0
        self.works = True

    def state(self) -> CircuitState:
        return self.breaker.state

    def answer(self) -> Flowable[int]:
        self.calls += 1
        return Flowable.of(1, 2) if self.works else Flowable.error(OOPS)

    def call(self, *, works: bool = True) -> TestSubscriber[int]:
        self.works = works
        subscriber = TestSubscriber[int]()
        Flowable.defer(self.answer).circuit_breaker(self.breaker).subscribe(subscriber)
        return subscriber

    def opened(self) -> Service:
        for _ in range(2):
            self.call(works=False)
        assert self.state() is CircuitState.OPEN
        return self

    def half_open(self) -> Service:
        self.opened()
        self.clock.advance_by(10.0)
        return self


def refused(subscriber: TestSubscriber[int]) -> bool:
    return isinstance(subscriber.error, CircuitOpenError)


def test_closed_it_passes_everything_on() -> None:
    service = Service()
    service.call().assert_values(1, 2).assert_complete()
    service.call(works=False).assert_failure(OOPS)
    assert service.state() is CircuitState.CLOSED


def test_it_opens_when_so_many_of_the_last_calls_failed() -> None:
    service = Service()
    for works in (False, True, True, False, True, True):
        service.call(works=works)
    assert service.state() is CircuitState.CLOSED  # two failures, but not among three calls
    service.call(works=False)
    service.call(works=False)
    assert service.state() is CircuitState.OPEN


def test_open_it_subscribes_to_nothing_and_says_for_how_long() -> None:
    service = Service().opened()
    service.clock.advance_by(4.0)
    subscriber = service.call()
    assert service.calls == 2
    assert isinstance(subscriber.error, CircuitOpenError)
    assert subscriber.error.retry_after == 6.0
    assert "open for another 6 seconds" in str(subscriber.error)


def test_a_probe_that_succeeds_closes_it() -> None:
    service = Service().half_open()
    service.call().assert_values(1, 2).assert_complete()
    assert service.state() is CircuitState.CLOSED
    service.call(works=False).assert_failure(OOPS)
    assert service.state() is CircuitState.CLOSED  # what was counted before is forgotten


def test_a_probe_that_fails_opens_it_for_as_long_again() -> None:
    service = Service().half_open()
    service.call(works=False).assert_failure(OOPS)
    service.clock.advance_by(9.9)
    assert refused(service.call())
    service.clock.advance_by(0.1)
    service.call().assert_complete()


def test_half_open_only_so_many_probes_are_let_through() -> None:
    service = Service(probes=2).half_open()
    sources = [ManualPublisher[int]() for _ in range(3)]
    probes = [TestSubscriber[int]() for _ in sources]
    for source, probe in zip(sources, probes, strict=True):
        Flowable.wrap(source).circuit_breaker(service.breaker).subscribe(probe)
    assert [refused(probe) for probe in probes] == [False, False, True]
    sources[0].complete()
    assert service.state() is CircuitState.HALF_OPEN
    sources[1].complete()
    assert service.state() is CircuitState.CLOSED


def test_a_probe_that_is_cancelled_gives_its_place_back() -> None:
    service = Service().half_open()
    probe = TestSubscriber[int]()
    Flowable.never().circuit_breaker(service.breaker).subscribe(probe)
    assert refused(service.call())
    probe.cancel()
    service.call().assert_complete()


def test_a_probe_that_is_left_after_an_item_has_succeeded() -> None:
    service = Service().half_open()
    assert Flowable.range(9).circuit_breaker(service.breaker).take(1).blocking_list() == [0]
    assert service.state() is CircuitState.CLOSED


def test_a_probe_that_hangs_loses_its_place() -> None:
    service = Service().half_open()
    hanging = ManualPublisher[int]()
    Flowable.wrap(hanging).circuit_breaker(service.breaker).subscribe(TestSubscriber[int]())
    service.clock.advance_by(9.0)
    waiting = service.call()
    assert isinstance(waiting.error, CircuitOpenError)
    assert waiting.error.retry_after == 1.0
    service.clock.advance_by(1.0)
    service.call().assert_complete()
    hanging.error(OOPS)  # its outcome comes too late to count
    assert service.state() is CircuitState.CLOSED


def test_an_error_that_is_no_failure_counts_neither_way() -> None:
    service = Service(when=lambda error: isinstance(error, OSError))
    for _ in range(5):
        service.call(works=False)
    assert service.state() is CircuitState.CLOSED
    service = Service(probes=1, when=lambda error: service.clock.now() < 5)
    service.half_open()
    service.call(works=False).assert_failure(OOPS)
    assert service.state() is CircuitState.HALF_OPEN
    service.call().assert_complete()  # the place is free
    assert service.state() is CircuitState.CLOSED


def test_what_when_raises_comes_with_the_error_and_is_a_failure() -> None:
    failure = KeyError("when")

    def when(_error: Exception) -> bool:
        raise failure

    service = Service(when=when, failures=1)
    subscriber = service.call(works=False)
    assert isinstance(subscriber.error, CompositeException)
    assert subscriber.error.exceptions == (OOPS, failure)
    assert service.state() is CircuitState.OPEN


def test_the_outcome_of_a_call_from_before_does_not_count() -> None:
    service = Service(failures=1)
    slow = ManualPublisher[int]()
    Flowable.wrap(slow).circuit_breaker(service.breaker).subscribe(TestSubscriber[int]())
    service.call(works=False)
    service.clock.advance_by(10.0)
    service.call().assert_complete()
    slow.error(OOPS)
    assert service.state() is CircuitState.CLOSED


def test_a_retry_waits_until_the_service_is_back() -> None:
    service = Service()
    subscriber = TestSubscriber[int]()

    def answer() -> Flowable[int]:
        service.calls += 1
        return Flowable.of(1) if service.clock.now() > 15 else Flowable.error(OOPS)

    flow = Flowable.defer(answer).circuit_breaker(service.breaker)
    flow.retry_backoff(None, 1.0, factor=1, jitter=0, scheduler=service.clock).subscribe(subscriber)
    service.clock.advance_by(60.0)
    subscriber.assert_values(1).assert_complete()
    assert service.calls == 4  # at 0, 1, 11 and 21


@pytest.mark.parametrize("face", [Single, Maybe, Completable, Observable])
def test_the_other_types(face: Any) -> None:
    clock = VirtualScheduler()
    breaker = CircuitBreaker(1, 1, scheduler=clock)
    errors: list[Exception] = []
    ok = Completable.complete() if face is Completable else face.just(1)
    ok.circuit_breaker(breaker).subscribe(on_error=errors.append)
    face.error(OOPS).circuit_breaker(breaker).subscribe(on_error=errors.append)
    ok.circuit_breaker(breaker).subscribe(on_error=errors.append)
    assert errors[0] is OOPS
    assert isinstance(errors[1], CircuitOpenError)
    clock.advance_by(30.0)
    ok.circuit_breaker(breaker).subscribe(on_error=errors.append)
    assert len(errors) == 2
    assert breaker.state is CircuitState.CLOSED


@pytest.mark.parametrize(
    "wrong",
    [
        {"failures": 0},
        {"failures": 2.0},
        {"of": True},
        {"failures": 11},
        {"probes": 0},
        {"open_for": 0},
        {"open_for": "1"},
        {"open_for": float("nan")},
        {"when": 5},
    ],
    ids=repr,
)
def test_a_wrong_breaker_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match="CircuitBreaker"):
        ANY(**wrong)


@pytest.mark.parametrize("face", [Flowable, Observable, Single, Maybe, Completable])
def test_what_is_no_breaker_is_refused_at_assembly(face: Any) -> None:
    with pytest.raises(TypeError, match=r"Right:  \.circuit_breaker\(CircuitBreaker\(5, 10\)\)"):
        face.never().circuit_breaker(5)


@pytest.mark.stress
def test_of_many_threads_one_is_the_probe() -> None:
    for _ in range(50):
        service = Service().half_open()
        start = threading.Barrier(4)
        outcomes: list[bool] = []

        def call(service: Service = service, start: threading.Barrier = start, outcomes: list[bool] = outcomes) -> None:
            subscriber = TestSubscriber[int]()
            start.wait(10)
            Flowable.never().circuit_breaker(service.breaker).subscribe(subscriber)
            outcomes.append(refused(subscriber))

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert sorted(outcomes) == [False, True, True, True]

"""Many threads at once: signals stay serial and no element is lost or doubled."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

import rx_schedulers
from rx_core import FlowableBase, Subscriber
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber

THREADS = 6
EACH = 400

Sources = list[ManualPublisher[Any]]


@pytest.fixture(autouse=True)
def _switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(actions: list[Callable[[], object]]) -> None:
    """Run all actions on threads of their own, started at the same moment; what one raises is raised here."""
    gate = threading.Barrier(len(actions))

    def run(action: Callable[[], object]) -> object:
        gate.wait(5)
        return action()

    with ThreadPoolExecutor(len(actions)) as pool:
        for future in [pool.submit(run, action) for action in actions]:
            future.result(20)


def feed(source: ManualPublisher[Any], number: int, count: int = EACH) -> Callable[[], None]:
    """Sends ``count`` elements as they are asked for, and completes."""
    asked = threading.Semaphore(0)
    source.on_request = lambda _subscription, n: asked.release(min(n, count))

    def send() -> None:
        for item in range(count):
            assert asked.acquire(timeout=10)
            source.next((number, item))
        source.complete()

    return send


def check(got: TestSubscriber[Any]) -> None:
    got.await_terminal(20).assert_complete()
    assert Counter(number for number, _ in got.values) == dict.fromkeys(range(THREADS), EACH)
    for number in range(THREADS):  # each source's order is kept
        assert [item for each, item in got.values if each == number] == list(range(EACH))


def _merged_behind_threads(sources: Sources) -> Flowable[Any]:
    return Flowable.merge(*[Flowable.wrap(each).observe_on(rx_schedulers.computation(), prefetch=16) for each in sources])


COMBINED: dict[str, Callable[[Sources], Flowable[Any]]] = {
    "merge": lambda sources: Flowable.merge(*sources, prefetch=8),
    "flat_map": lambda sources: Flowable.range(THREADS).flat_map(lambda at: sources[at], prefetch=8),
    "merge, observed": lambda sources: Flowable.merge(*sources).observe_on(rx_schedulers.new_thread(), prefetch=16),
    "observed, merged": _merged_behind_threads,
    "merge, stages": lambda sources: Flowable.merge(*sources).filter(lambda pair: pair[1] >= 0).map(tuple),
}


@pytest.mark.parametrize("build", COMBINED.values(), ids=list(COMBINED))
@pytest.mark.parametrize("demand", ["unbounded", "one by one"])
def test_elements_from_many_threads_arrive_serially_and_complete(
    build: Callable[[Sources], Flowable[Any]], demand: str, no_leaks: None
) -> None:
    sources: Sources = [ManualPublisher() for _ in range(THREADS)]
    got: TestSubscriber[Any]
    got = TestSubscriber() if demand == "unbounded" else TestSubscriber(request=1, request_in_on_next=1)
    senders: list[Callable[[], object]] = [feed(source, number) for number, source in enumerate(sources)]
    build(sources).subscribe(got)
    together(senders)
    check(got)


def test_requests_from_many_threads_are_all_counted() -> None:
    got: TestSubscriber[int] = TestSubscriber(request=0)
    Flowable.range(100_000).map(lambda x: x).subscribe(got)
    together([lambda: [got.request(1) for _ in range(EACH)] for _ in range(THREADS)])
    got.assert_value_sequence(range(THREADS * EACH)).assert_not_terminated()


def test_cancel_against_elements_leaves_nothing_running() -> None:
    for _ in range(50):
        source: ManualPublisher[int] = ManualPublisher()
        got: TestSubscriber[int] = TestSubscriber()
        Flowable.wrap(source).merge_with(Flowable.never()).subscribe(got)
        together([partial(source.next, *range(20)), got.cancel])
        got.assert_not_terminated()
        assert source.cancelled
        assert got.values == list(range(len(got.values)))


class _Colliding(FlowableBase[Any]):
    """What merge would be without its drain: elements pass on whatever thread they come on."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def subscribe_actual(self, subscriber: Subscriber[Any], /) -> None:
        subscriber.on_subscribe(_NoSubscription())
        for source in self._sources:
            source.subscribe(_Through(subscriber))


class _NoSubscription:
    def request(self, n: int, /) -> None:
        pass

    def cancel(self) -> None:
        pass


class _Through:
    def __init__(self, down: Subscriber[Any]) -> None:
        self.on_next, self.on_error = down.on_next, down.on_error

    def on_subscribe(self, subscription: Any, /) -> None:
        subscription.request(EACH)

    def on_complete(self) -> None:
        pass


def test_control_without_a_drain_the_check_finds_overlapping_signals() -> None:
    sources: Sources = [ManualPublisher() for _ in range(2)]
    meet = threading.Barrier(2, timeout=5)
    got: TestSubscriber[Any] = TestSubscriber(on_value=lambda _item: meet.wait())  # both inside at once, surely
    senders: list[Callable[[], object]] = [feed(source, number, 1) for number, source in enumerate(sources)]
    _Colliding(sources).subscribe(got)
    together(senders)
    with pytest.raises(AssertionError, match="violations"):
        got.assert_valid()


def test_groups_on_many_threads_give_every_element(no_leaks: None) -> None:
    got: TestSubscriber[Any] = TestSubscriber()
    scheduler = rx_schedulers.computation()
    flow = Flowable.range(3_000).group_by(lambda x: x % 5)
    flow.flat_map(lambda group: group.observe_on(scheduler, prefetch=8).map(lambda x: (group.key, x))).subscribe(got)
    got.await_terminal(20).assert_complete()
    assert sorted(x for _, x in got.values) == list(range(3_000))
    for key in range(5):
        assert [x for each, x in got.values if each == key] == list(range(key, 3_000, 5))

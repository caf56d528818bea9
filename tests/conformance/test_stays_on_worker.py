"""Everything after ``observe_on`` happens on its worker, also behind operators that have a run of their own.

Each line of the table that does not change threads itself runs behind ``observe_on``, and whoever subscribes goes on requesting
from another thread meanwhile. None of the signals may come on that thread.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

import pytest

from rx_core import DISPOSED, Disposable, Drain, Scheduler, Subscription, Worker
from rx_fusion import fusion_enabled
from rx_ops import Flowable
from rx_schedulers import io
from tests.conformance.harness import Case, Flow, Kit, switched
from tests.conformance.table import TABLE

PATIENCE: Final = 20.0

#: Lines with a source beside the one on the worker that is computed where it is asked for; peers with workers are below.
BESIDE: Final = (
    "concat", "start_with", "merge", "merge late", "merge_with", "combine_latest", "combine_latest late", "with_latest_from",
    "with_latest_from several", "amb", "amb_with", "switch_if_empty other", "zip", "zip short", "zip_with", "never",
    "timeout selector fallback", "sequence_equal", "sequence_equal several",
)  # fmt: skip
#: The source is subscribed when something else has happened, and what it has sent by then comes where that was noticed.
AFTERWARDS: Final = ("delay subscription", "delay_subscription until")
#: What is shared waits in the hub, and goes to a subscriber when it asks: on the thread that asks.
SHARED: Final = (
    "publish", "publish twice", "publish ref_count", "publish auto_connect", "share", "replay", "replay ref_count", "cache",
)  # fmt: skip
#: They change threads themselves: nothing comes before the virtual clock moves.
CHANGING: Final = (
    "skip seconds", "subscribe_on", "observe_on", "observe_on narrow", "delay", "delay 0", "delay selector", "timeout fallback",
    "delay_subscription",
)  # fmt: skip
#: Un-fused, a stage is a subscriber: it has an end without having had an item, or an item that waits at the end.
UNFUSED: Final = ("take 0", "buffer_until before")


class _Lane(Worker):
    """One thread. Who schedules from elsewhere waits until it is done: so the worker is always faster than who subscribes."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._waiting: deque[tuple[Callable[[], object], threading.Event]] = deque()
        self._work = threading.Semaphore(0)
        self._over = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            self._work.acquire()
            if not self._waiting:
                return
            action, done = self._waiting.popleft()
            try:
                if not self._over:
                    action()
            finally:
                done.set()

    def schedule(self, action: Callable[[], object], /, delay: float = 0.0) -> Disposable:
        if self._over:
            return DISPOSED
        done = threading.Event()
        self._waiting.append((action, done))
        self._work.release()
        if threading.current_thread() is not self._thread:
            assert done.wait(PATIENCE), "the worker hangs"
        return _Done()

    def now(self) -> float:
        return self._now()

    def dispose(self) -> None:
        if not self._over:
            self._over = True
            self._work.release()

    @property
    def is_disposed(self) -> bool:
        return self._over


class _Done(Disposable):
    def dispose(self) -> None:
        pass

    @property
    def is_disposed(self) -> bool:
        return True


class _Lanes(Scheduler):
    def __init__(self) -> None:
        self.made: list[_Lane] = []

    def create_worker(self) -> Worker:
        self.made.append(_Lane(self.now))
        return self.made[-1]

    @property
    def given_back(self) -> int:
        assert len(self.made) == 1
        return sum(lane.is_disposed for lane in self.made)

    def now(self) -> float:
        return 0.0

    def shutdown(self, timeout: float | None = None) -> bool:
        return True


class _Watcher:
    """Requests one at a time from the thread that subscribed, and writes down on which thread each signal came."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.threads: list[tuple[str, int]] = []
        self.over = threading.Event()
        self.subscription: Subscription | None = None

    def on_subscribe(self, subscription: Subscription, /) -> None:
        self.subscription = subscription
        subscription.request(self.first)

    def on_next(self, _item: object, /) -> None:
        self.threads.append(("on_next", threading.get_ident()))

    def on_error(self, error: Exception, /) -> None:
        self.threads.append((f"on_error({error!r})", threading.get_ident()))
        self.over.set()

    def on_complete(self) -> None:
        self.threads.append(("on_complete", threading.get_ident()))
        self.over.set()


def _watched(case: Case, make: Callable[[], Scheduler], mode: str, first: int) -> list[str]:
    """The signals that came on the thread that subscribes and requests; it goes on requesting until the end."""
    kit = Kit()
    flow = case.build(Flowable.from_iterable(list(case.items)).observe_on(make(), prefetch=2), kit)
    if mode == "hidden":
        flow = flow.hide()
    watcher = _Watcher(first)
    with switched(mode):
        flow.subscribe(watcher)
        assert watcher.subscription is not None
        for _ in range(40):
            if watcher.over.is_set():
                break
            watcher.subscription.request(1)
        else:
            assert watcher.over.wait(PATIENCE), f"no end: {watcher.threads}"
    me = threading.get_ident()
    return [signal for signal, thread in watcher.threads if thread == me]


def _two_workers(combined: Callable[[Flow, Flow], Flow]) -> Callable[[Flow, Kit], Flow]:
    return lambda s, _kit: combined(s, Flowable.of(7, 8).observe_on(_Lanes()))


# fmt: off
#: Some sources, and each has a worker.
PEERS: Final = (
    Case("merge of workers", _two_workers(lambda a, b: a.merge_with(b)), list),
    Case("concat of workers", _two_workers(lambda a, b: b.concat_with(a)), list),
    Case("zip of workers", _two_workers(lambda a, b: a.zip_with(b)), list),
    Case("combine_latest of workers", _two_workers(lambda a, b: Flowable.combine_latest(a, b)), list),
    Case("with_latest_from of workers", _two_workers(lambda a, b: a.with_latest_from(b)), list),
    Case("amb of workers", _two_workers(lambda a, b: Flowable.amb(a, b)), list),
    Case("flat_map to another worker", lambda s, _kit: s.flat_map(lambda x: Flowable.just(x).observe_on(io())), list),
    Case("two of them", lambda s, _kit: s.do_finally(list).materialize().take_until(Flowable.never()), list),
    Case("behind subscribe_on", lambda s, _kit: s.subscribe_on(_Lanes()).do_finally(list), list),
)
# fmt: on
OTHERWISE: Final = frozenset((*BESIDE, *AFTERWARDS, *SHARED, *CHANGING))
LINES: Final = (*(case for case in TABLE if not case.has("source") and case.name not in OTHERWISE), *PEERS)
MODES: Final = ("fused", "hidden", "off")
ALL: Final = 2**40


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", LINES, ids=str)
def test_a_worker_that_is_faster(case: Case, mode: str) -> None:
    if case.name in UNFUSED and (mode == "off" or not fusion_enabled()):
        return
    for first in (1, ALL):
        assert not _watched(case, _Lanes, mode, first)


@pytest.mark.parametrize("case", LINES, ids=str)
def test_threads_that_race(case: Case) -> None:
    if case.name in UNFUSED and not fusion_enabled():
        return
    for _ in range(10):
        assert not _watched(case, io, "fused", 1)


def test_control_what_nobody_lends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Drain, "follow", lambda _self, _lender: None)
    for name in ("do_finally", "flat_map", "retry"):
        case = next(case for case in LINES if case.name == name)
        assert _watched(case, _Lanes, "fused", 1)


def test_the_names_are_in_the_table() -> None:
    assert {*OTHERWISE, *UNFUSED} <= {case.name for case in TABLE}


def test_the_worker_is_given_back() -> None:
    """Once, and by the last that needs it: whoever follows may have work to do when its source is over."""
    lanes = _Lanes()
    watcher = _Watcher(1)
    Flowable.range(4).observe_on(lanes).buffer(1).flat_map(Flowable.from_iterable).do_finally(list).subscribe(watcher)
    assert watcher.subscription is not None
    assert lanes.given_back == 0  # the source is over, its items are waiting
    watcher.subscription.request(2)
    assert lanes.given_back == 0
    watcher.subscription.request(2)
    assert lanes.given_back == 1
    assert watcher.over.is_set()


@pytest.mark.parametrize("first", [1, 4])
def test_the_worker_is_given_back_after_a_cancel(first: int) -> None:
    lanes = _Lanes()
    watcher = _Watcher(first)
    Flowable.range(1000).observe_on(lanes, prefetch=2).do_finally(list).materialize().subscribe(watcher)
    assert watcher.subscription is not None
    watcher.subscription.cancel()
    assert lanes.given_back == 1

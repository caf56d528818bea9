"""No hidden threads: which threads are alive while an operator that knows time or a scheduler is at work.

What takes a scheduler, or seconds, is found on the faces, so that a new operator without a line here fails.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any, Final

import pytest

from rx_core import Scheduler
from rx_ops import Completable, Flowable, Maybe, Observable, Single
from rx_schedulers import io
from rx_testing import (
    TestMaybeObserver,
    TestObserver,
    TestSubscriber,
    VirtualScheduler,
)

Clock = Scheduler | None
Build = Callable[[Any, Clock], Any]

SOON: Final = 0.001
FAR: Final = 5.0

ENDS: Final[dict[type[Any], Callable[[], Any]]] = {
    Flowable: TestSubscriber,
    Observable: TestObserver,
    Maybe: TestMaybeObserver,
}


def _windows(windows: Any) -> Any:
    return windows.flat_map(lambda window: window)


def _shared(connectable: Any) -> Any:
    return connectable.ref_count()


def _second_time(source: Any) -> Any:
    """Fails once."""
    first = [OSError("not yet")]
    kind = type(source)
    return kind.defer(lambda: kind.error(first.pop()) if first else source)


#: By the name of the method, and what is special about this use of it behind a colon.
BUILDS: Final[dict[str, Build]] = {
    "buffer": lambda s, c: s.buffer(seconds=SOON, scheduler=c),
    "buffer: count": lambda s, c: s.buffer(seconds=SOON, count=2, scheduler=c),
    "debounce": lambda s, c: s.debounce(SOON, scheduler=c),
    "delay": lambda s, c: s.delay(SOON, scheduler=c),
    "delay_subscription": lambda s, c: s.delay_subscription(SOON, scheduler=c),
    "interval": lambda s, c: type(s).interval(SOON, scheduler=c).take(3),
    "interval_range": lambda s, c: type(s).interval_range(0, 3, SOON, scheduler=c),
    "observe_on": lambda s, c: s.observe_on(c or io()),
    "on_backpressure_timeout": lambda s, c: s.on_backpressure_timeout(FAR, scheduler=c),
    "rate_limit": lambda s, c: s.rate_limit(1, SOON, scheduler=c),
    "cache_ttl": lambda s, c: s.cache_ttl(FAR, scheduler=c),
    "replay": lambda s, c: _shared(s.replay(10, FAR, scheduler=c)),
    "retry_backoff": lambda s, c: _second_time(s).retry_backoff(3, SOON, scheduler=c),
    "sample": lambda s, c: s.sample(SOON, emit_last=True, scheduler=c),
    "skip": lambda s, c: s.skip(seconds=SOON, scheduler=c),
    "skip_last": lambda s, c: s.skip_last(seconds=SOON, scheduler=c),
    "subscribe_on": lambda s, c: s.subscribe_on(c or io()),
    "take": lambda s, c: s.take(seconds=FAR, scheduler=c),
    "take_last": lambda s, c: s.take_last(seconds=FAR, scheduler=c),
    "throttle_first": lambda s, c: s.throttle_first(SOON, scheduler=c),
    "throttle_latest": lambda s, c: s.throttle_latest(SOON, scheduler=c),
    "time_interval": lambda s, c: s.time_interval(scheduler=c),
    "timeout": lambda s, c: s.timeout(FAR, scheduler=c),
    "timeout: too late": lambda s, c: type(s).never().timeout(SOON, fallback=s, scheduler=c),
    "timer": lambda s, c: type(s).timer(SOON, scheduler=c),
    "timestamp": lambda s, c: s.timestamp(scheduler=c),
    "unsubscribe_on": lambda s, c: s.unsubscribe_on(c or io()),
    "window": lambda s, c: _windows(s.window(seconds=SOON, scheduler=c)),
    "window: count": lambda s, c: _windows(s.window(seconds=SOON, count=2, scheduler=c)),
}

#: They wait on the thread that calls.
BLOCKING: Final = {"blocking_get", "blocking_await"}


def timed(face: type[Any]) -> set[str]:
    """The methods of a face that take a scheduler or seconds."""
    return {name for name, method in inspect.getmembers(face, callable) if not name.startswith("_") and _is_timed(method)}


def _is_timed(method: Any) -> bool:
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):  # a type
        return False
    return any("seconds" in each.name or "Scheduler" in str(each.annotation) for each in parameters)


def test_every_operator_with_a_clock_is_here() -> None:
    found = set().union(*(timed(face) for face in ENDS))
    assert found - BLOCKING == {name.partition(":")[0] for name in BUILDS}


USES: Final = [
    pytest.param(face, build, id=f"{face.__name__}.{name}")
    for face in ENDS
    for name, build in BUILDS.items()
    if name.partition(":")[0] in timed(face)
]


def source_of(face: Any, clock: Clock, seen: Callable[[], object]) -> Any:
    """Comes after a while; ``seen`` is called when it ends."""
    source: Any
    if face in (Flowable, Observable):
        source = face.of(1, 2, 3)
    else:
        source = Completable.complete() if face is Completable else face.just(1)
    return source.do_finally(seen).delay_subscription(3 * SOON, scheduler=clock)


def threads_during(face: type[Any], build: Build, clock: VirtualScheduler | None) -> set[threading.Thread]:
    """All that are alive at some time between subscribing and the end."""
    alive: set[threading.Thread] = set()

    def look() -> None:
        alive.update(threading.enumerate())

    end = ENDS[face]()
    flow = build(source_of(face, clock, look), clock)
    flow.do_finally(look).subscribe(end)
    look()
    if clock is not None:
        for _ in range(100):
            if end.is_terminated:
                break
            clock.advance_by(SOON)
            look()
    end.await_terminal(10.0)
    look()
    assert not end.errors
    return alive


@pytest.mark.parametrize(("face", "build"), USES)
def test_with_a_clock_of_its_own_no_operator_has_a_thread(face: type[Any], build: Build) -> None:
    before = set(threading.enumerate())
    assert threads_during(face, build, VirtualScheduler()) <= before


@pytest.mark.parametrize(("face", "build"), USES)
def test_operators_work_on_the_threads_of_schedulers_and_on_no_others(face: type[Any], build: Build) -> None:
    before = set(threading.enumerate())
    new = threads_during(face, build, None) - before
    assert {thread.name.rpartition("-")[0] for thread in new} <= {"rx-computation", "rx-io"}


@pytest.mark.parametrize("face", [Single, Maybe, Completable])
def test_a_thread_that_waits_runs_everything_itself(face: type[Any]) -> None:
    """But for one thing: with a time limit another thread watches the clock, because a source that is busy on the waiting thread
    cannot be stopped from there. It runs nothing else, and goes with the waiting."""
    clock = VirtualScheduler()
    before = set(threading.enumerate())
    alive: set[threading.Thread] = set()
    ran_on: set[threading.Thread] = set()

    def look() -> None:
        alive.update(threading.enumerate())
        ran_on.add(threading.current_thread())

    source = Completable.complete() if face is Completable else face.just(1)
    waiting = source.do_finally(look).subscribe_on(clock)
    name = "blocking_await" if face is Completable else "blocking_get"
    with pytest.raises(TimeoutError):
        getattr(waiting, name)(seconds=SOON)  # the clock stands still
    look()
    getattr(source.do_finally(look), name)(seconds=FAR)
    getattr(source.do_finally(look), name)()
    assert ran_on == {threading.current_thread()}
    watching = alive - before
    assert all(isinstance(thread, threading.Timer) for thread in watching)
    for thread in watching:
        thread.join(FAR / 2)
        assert not thread.is_alive()


def test_control_an_operator_with_a_thread_of_its_own_is_noticed() -> None:
    def hidden(source: Any, _clock: Clock) -> Any:
        go_on = threading.Event()
        threading.Thread(target=go_on.wait, args=(10.0,), daemon=True).start()
        return source.do_finally(go_on.set)

    before = set(threading.enumerate())
    assert not threads_during(Flowable, hidden, VirtualScheduler()) <= before

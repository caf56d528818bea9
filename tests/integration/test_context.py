"""Context variables follow the data: behind each boundary functions see what the one that subscribed had set."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import Context, ContextVar, copy_context
from textwrap import dedent
from typing import Any

import pytest
import trio

import rx_asyncio
import rx_schedulers
import rx_trio
from rx_core import Scheduler, current_context, worker_of
from rx_ops import Flowable, Single
from rx_testing import TestSubscriber, VirtualScheduler
from rx_testing.racing import caught, race, rounds
from tests.integration.unserialized import LooseScheduler

LIMIT = 30.0  # seconds, for what comes soon

REQUEST: ContextVar[str] = ContextVar("request", default="none")


@pytest.fixture(autouse=True)
def nothing_set() -> Iterator[None]:
    token = REQUEST.set("none")
    yield
    REQUEST.reset(token)


def seen(_item: object) -> str:
    return REQUEST.get()


def inside(value: str, function: Callable[[], Any]) -> Any:
    """What ``function`` returns in a context in which the request is ``value``."""

    def run() -> Any:
        REQUEST.set(value)
        return function()

    return copy_context().run(run)


SCHEDULERS: dict[str, Callable[[], Scheduler]] = {
    "computation": rx_schedulers.computation,
    "io": rx_schedulers.io,
    "single": rx_schedulers.single,
    "new_thread": rx_schedulers.new_thread,
}

BOUNDARIES: dict[str, Callable[[Flowable[int], Scheduler], Flowable[str]]] = {
    "subscribe_on": lambda flow, s: flow.map(seen).subscribe_on(s),
    "observe_on": lambda flow, s: flow.observe_on(s).map(seen),
    "observe_on latest": lambda flow, s: flow.observe_on(s, latest=True).map(seen),
    "delay": lambda flow, s: flow.delay(0.001, scheduler=s).map(seen),
    "delay_subscription": lambda flow, s: flow.map(seen).delay_subscription(0.001, scheduler=s),
    "interval": lambda _flow, s: Flowable.interval(0.001, scheduler=s).take(3).map(seen),
    "timer": lambda _flow, s: Flowable.timer(0.001, scheduler=s).map(seen),
    "timeout": lambda _flow, s: Flowable.never().timeout(
        0.001, fallback=Flowable.defer(lambda: Flowable.of(seen(0))), scheduler=s
    ),
    "debounce": lambda flow, s: flow.concat_with(Flowable.never()).debounce(0.001, scheduler=s).take(1).map(seen),
    "sample": lambda flow, s: flow.concat_with(Flowable.never()).sample(0.001, scheduler=s).take(1).map(seen),
    "throttle_latest": lambda flow, s: flow.throttle_latest(0.001, scheduler=s).map(seen),
    "buffer": lambda flow, s: flow.concat_with(Flowable.never()).buffer(seconds=0.001, scheduler=s).take(1).map(seen),
    "window": lambda _flow, s: Flowable.never().window(seconds=0.001, scheduler=s).skip(1).take(1).map(seen),
    "rate_limit": lambda flow, s: flow.rate_limit(1, 0.001, scheduler=s).map(seen),
    "skip": lambda _flow, s: Flowable.interval(0.001, scheduler=s).skip(seconds=0.001, scheduler=s).take(1).map(seen),
    "retry_backoff": lambda _flow, s: failing_once(s),
    "two boundaries": lambda flow, s: flow.subscribe_on(s).observe_on(rx_schedulers.io()).map(seen),
    "inner streams": lambda flow, s: flow.flat_map(lambda n: Flowable.just(n).subscribe_on(s).map(seen)),
}


def failing_once(scheduler: Scheduler) -> Flowable[str]:
    failures = iter([True])

    def attempt() -> Flowable[str]:
        return Flowable.error(OSError()) if next(failures, False) else Flowable.of(seen(0))

    return Flowable.defer(attempt).retry_backoff(2, 0.001, scheduler=scheduler)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_functions_behind_a_boundary_see_what_the_subscriber_had_set(scheduler: str, boundary: str) -> None:
    flow = BOUNDARIES[boundary](Flowable.range(3), SCHEDULERS[scheduler]())
    assert set(inside("mine", flow.blocking_list)) == {"mine"}
    assert set(inside("yours", flow.blocking_list)) == {"yours"}


def test_a_single_carries_it_as_well() -> None:
    single = Single.just(1).delay(0.001, scheduler=rx_schedulers.io()).map(seen)
    assert inside("mine", single.blocking_get) == "mine"


def test_on_virtual_time_it_is_that_of_the_subscriber_and_not_of_who_moves_the_clock() -> None:
    clock = VirtualScheduler()
    got = TestSubscriber[str]()
    inside("mine", lambda: Flowable.timer(1.0, scheduler=clock).map(seen).subscribe(got))
    inside("other", lambda: clock.advance_by(1.0))
    got.assert_result("mine")


def test_what_is_set_behind_a_boundary_stays_there() -> None:
    def note(item: int) -> str:
        before = REQUEST.get()
        REQUEST.set(f"item {item}")
        return before

    flow = Flowable.range(3).observe_on(rx_schedulers.single()).map(note)

    def run() -> tuple[list[str], str]:
        return flow.blocking_list(), REQUEST.get()

    assert inside("mine", run) == (["mine", "item 0", "item 1"], "mine")
    assert inside("yours", run) == (["yours", "item 0", "item 1"], "yours")


def many_requests(scheduler: Scheduler, boundary: Callable[[Flowable[int], Scheduler], Flowable[str]]) -> None:
    answers: dict[str, set[str]] = {}

    def one(name: str) -> Callable[[], None]:
        def ask() -> None:
            answers[name] = set(inside(name, boundary(Flowable.range(20), scheduler).blocking_list))

        return ask

    names = [f"request {number}" for number in range(4)]
    race(*(one(name) for name in names))
    assert answers == {name: {name} for name in names}


@pytest.mark.stress
def test_subscriptions_of_several_requests_share_threads_and_no_context() -> None:
    shared = rx_schedulers.computation()
    for _ in rounds(20):
        many_requests(shared, BOUNDARIES["two boundaries"])


@pytest.mark.stress
def test_the_race_can_fail() -> None:
    def kept(flow: Flowable[int], scheduler: Scheduler) -> Flowable[str]:
        """A context that is left in the thread, as one would by hand."""
        name = REQUEST.get()
        return flow.observe_on(scheduler).do_on_next(lambda _item: LEFT.__setitem__(0, name)).map(lambda _item: LEFT[0])

    LEFT = ["none"]

    def once(_number: int) -> None:
        many_requests(rx_schedulers.computation(), kept)

    assert caught(once)


# -- event loops ----------------------------------------------------------------------------------------------------------------


async def all_of(stream: Any) -> list[str]:
    async with stream as items:
        return [item async for item in items]


async def request_of(_item: object) -> str:
    return REQUEST.get()


def test_on_asyncio() -> None:
    async def main() -> list[list[str]]:
        async def handler(name: str) -> list[str]:
            REQUEST.set(name)
            here = rx_asyncio.scheduler()
            flow = Flowable.range(3).subscribe_on(rx_schedulers.io()).observe_on(here).map(seen)
            calls = flow.compose(rx_asyncio.map_async(request_of))
            return await all_of(rx_asyncio.stream(flow)) + await all_of(rx_asyncio.stream(calls))

        return list(await asyncio.gather(handler("mine"), handler("yours")))

    assert asyncio.run(main()) == [["mine"] * 6, ["yours"] * 6]


def test_on_trio() -> None:
    answers: dict[str, list[str]] = {}

    async def handler(name: str, nursery: trio.Nursery) -> None:
        REQUEST.set(name)
        here = rx_trio.scheduler()
        flow = Flowable.range(3).subscribe_on(rx_schedulers.io()).observe_on(here).map(seen)
        calls = flow.compose(rx_trio.map_async(request_of, nursery=nursery))
        answers[name] = await all_of(rx_trio.stream(flow)) + await all_of(rx_trio.stream(calls))

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(handler, "mine", nursery)
            nursery.start_soon(handler, "yours", nursery)

    trio.run(main)
    assert answers == {"mine": ["mine"] * 6, "yours": ["yours"] * 6}


def test_a_source_on_asyncio_sees_what_another_thread_that_subscribes_had_set() -> None:
    async def main() -> list[str]:
        source = rx_asyncio.from_async_iterable(requests)
        return await asyncio.to_thread(inside, "of the thread", lambda: Flowable.wrap(source).blocking_list())

    assert asyncio.run(main()) == ["of the thread"] * 2


def test_a_source_on_trio_sees_what_another_thread_that_subscribes_had_set() -> None:
    async def main() -> list[str]:
        async with trio.open_nursery() as nursery:
            source = rx_trio.from_async_iterable(requests, nursery=nursery)
            return await trio.to_thread.run_sync(inside, "of the thread", lambda: Flowable.wrap(source).blocking_list())

    assert trio.run(main) == ["of the thread"] * 2


async def requests() -> AsyncIterator[str]:
    for _ in range(2):
        await asyncio.sleep(0) if "asyncio" in sniffed() else await trio.lowlevel.checkpoint()
        yield REQUEST.get()


def sniffed() -> str:
    return "trio" if trio.lowlevel.in_trio_run() else "asyncio"


# -- what it costs, and without it ---------------------------------------------------------------------------------------------


def test_where_nothing_is_set_the_worker_is_that_of_the_scheduler() -> None:
    clock = VirtualScheduler()
    kind = type(clock.create_worker())
    assert type(Context().run(worker_of, clock)) is kind
    assert Context().run(current_context) is None
    assert type(worker_of(clock)) is not kind


def test_it_is_a_worker_as_any_other() -> None:
    worker = worker_of(rx_schedulers.single())
    ran = threading.Event()
    worker.schedule(ran.set)
    assert ran.wait(LIMIT)
    assert worker.now() <= rx_schedulers.single().now()
    assert worker.quantum is None
    assert not worker.is_disposed
    worker.dispose()
    assert worker.is_disposed


def test_an_action_may_run_inside_another_one_of_its_worker() -> None:
    """``immediate`` runs what an action schedules at once, and a context is entered by one at a time."""
    made: list[str] = []

    def run() -> None:
        worker = worker_of(rx_schedulers.immediate())
        worker.schedule(lambda: worker.schedule(lambda: made.append(REQUEST.get())))

    inside("ann", run)
    assert made == ["ann"]


def test_actions_of_a_worker_that_is_not_serial_run_all_the_same() -> None:
    """A plugin's worker may be one; the token of an operator is what keeps its signals serial."""
    made: list[str] = []
    started = threading.Barrier(3)

    def action() -> None:
        started.wait(LIMIT)  # all of them are inside
        made.append(REQUEST.get())

    def run() -> None:
        worker = worker_of(LooseScheduler())
        for _ in range(2):
            worker.schedule(action)
        started.wait(LIMIT)
        while len(made) < 2:
            pass

    inside("ann", run)
    assert made == ["ann", "ann"]


def test_it_can_be_switched_off() -> None:
    program = """
        from contextvars import ContextVar
        import rx_schedulers
        from rx_ops import Flowable
        name = ContextVar("name", default="none")
        name.set("mine")
        print(Flowable.of(1).observe_on(rx_schedulers.io()).map(lambda _: name.get()).blocking_list())
        """
    for said, expected in (("off", "['none']\n"), ("on", "['mine']\n")):
        done = subprocess.run(
            [sys.executable, "-c", dedent(program)],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            env={"RX_CONTEXT": said, "PYTHONPATH": ":".join(sys.path)},
        )
        assert done.stdout == expected

"""Waiting for a stream in the thread of an event loop, or on a worker that others share, raises and says what to write."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import trio

from rx_core import blocking_allowed, hookimpl, manager, scheduler
from rx_ops import Completable, Flowable, Maybe, Observable, PublishProcessor, Single

SECONDS = 10.0
LOOPS: dict[str, Callable[[Callable[[], Any]], Any]] = {
    "asyncio": lambda call: asyncio.run(_calling(call)),
    "trio": lambda call: trio.run(_calling, call),
}


async def _calling(call: Callable[[], Any]) -> Any:
    return call()


@pytest.fixture(params=LOOPS)
def loop(request: pytest.FixtureRequest) -> tuple[str, Callable[[Callable[[], Any]], Any]]:
    return request.param, LOOPS[request.param]


Loop = tuple[str, Callable[[Callable[[], Any]], Any]]


def elsewhere() -> Flowable[int]:
    return Flowable.range(3).observe_on(scheduler("io"))


WAITS: dict[str, Callable[[], object]] = {
    "for": lambda: list(elsewhere()),
    "blocking_list": lambda: elsewhere().blocking_list(),
    "blocking_first": lambda: elsewhere().blocking_first(),
    "blocking_iter": lambda: list(elsewhere().blocking_iter(latest=True)),
    "blocking_for_each": lambda: elsewhere().blocking_for_each(print),
    "Observable": lambda: elsewhere().to_observable().blocking_list(),
    "Single": lambda: Single.just(1).observe_on(scheduler("io")).blocking_get(),
    "Maybe": lambda: Maybe.just(1).observe_on(scheduler("io")).blocking_get(),
    "Completable": lambda: Completable.complete().observe_on(scheduler("io")).blocking_await(),
    "handle": lambda: Flowable.never().subscribe(print).wait(),
    "a hot source": lambda: PublishProcessor[int]().first().blocking_get(),
}


@pytest.mark.parametrize("waits", WAITS.values(), ids=WAITS)
def test_what_would_wait_in_a_loop_raises_and_names_what_to_write(waits: Callable[[], object], loop: Loop) -> None:
    name, run = loop
    with pytest.raises(RuntimeError, match="this thread must not wait for it") as caught:
        run(waits)
    assert f"loop of {name} runs on it" in str(caught.value)
    assert f"rx_{name}.stream(flow)" in str(caught.value)
    assert "rx_core.blocking_allowed()" in str(caught.value)


COMPUTED: dict[str, Callable[[], object]] = {
    "a chain": lambda: Flowable.range(300).map(str).blocking_list(),
    "inner streams": lambda: Flowable.range(300).hide().flat_map(lambda n: Flowable.of(n, n).hide()).blocking_list(),
    "create": lambda: Flowable.create(lambda emitter: emitter.on_complete()).blocking_list(),
    "Observable": lambda: Observable.range(3).blocking_list(),
    "Single": lambda: Single.just(1).hide().blocking_get(),
    "Completable": lambda: Completable.complete().hide().blocking_await(),
    "an ended handle": lambda: Flowable.range(3).subscribe(lambda _: None).wait(),
    "a look": lambda: Flowable.never().subscribe(print).wait(0),
}


@pytest.mark.parametrize("computes", COMPUTED.values(), ids=COMPUTED)
def test_what_is_computed_on_the_thread_is_not_refused(computes: Callable[[], object], loop: Loop) -> None:
    loop[1](computes)


def test_a_stream_that_was_quick_elsewhere_is_refused_as_a_slow_one(loop: Loop) -> None:
    over = threading.Event()

    class Elsewhere:
        """Signals on a thread of its own, all of it before subscribe returns."""

        def subscribe(self, subscriber: Any) -> None:
            def send() -> None:
                Flowable.range(3).subscribe(subscriber)
                over.set()

            threading.Thread(target=send).start()
            assert over.wait(SECONDS)

    with pytest.raises(RuntimeError, match="this thread must not wait"):
        loop[1](lambda: Flowable.wrap(Elsewhere()).blocking_list())


def test_the_source_of_a_refused_wait_is_cancelled(loop: Loop) -> None:
    subject = PublishProcessor[int]()
    with pytest.raises(RuntimeError, match="this thread must not wait"):
        loop[1](subject.blocking_list)
    assert not subject.has_subscribers


def test_who_knows_may_wait(loop: Loop) -> None:
    def waits() -> list[int]:
        with blocking_allowed(), blocking_allowed():
            pass
        with blocking_allowed():
            return elsewhere().blocking_list()

    assert loop[1](waits) == [0, 1, 2]
    with pytest.raises(RuntimeError, match="this thread must not wait"):
        loop[1](elsewhere().blocking_list)


def test_the_environment_allows_it_everywhere() -> None:
    program = (
        "import asyncio\nfrom rx_core import scheduler\nfrom rx_ops import Flowable\n"
        "async def main():\n    return Flowable.range(3).observe_on(scheduler('io')).blocking_list()\nprint(asyncio.run(main()))"
    )
    allowed = {**os.environ, "RX_BLOCK_IN_LOOPS": "on"}
    done = subprocess.run([sys.executable, "-c", program], env=allowed, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[0, 1, 2]"


@pytest.mark.parametrize("name", ["single", "computation"])
def test_a_worker_that_others_share_must_not_wait(name: str) -> None:
    inner = Flowable.just(2).subscribe_on(scheduler(name))
    outer = Flowable.just(1).observe_on(scheduler(name)).map(lambda _: inner.blocking_list())
    with pytest.raises(RuntimeError, match=rf"other workers of {name}\(\) run on it, and the stream may need one"):
        outer.blocking_list()


@pytest.mark.parametrize("name", ["io", "new_thread"])
def test_a_worker_with_a_thread_of_its_own_may_wait(name: str) -> None:
    inner = Flowable.just(2).subscribe_on(scheduler("single"))
    assert Flowable.just(1).observe_on(scheduler(name)).map(lambda _: inner.blocking_list()).blocking_list() == [[2]]


def test_a_plugin_may_refuse_for_its_own_threads() -> None:
    class Plugin:
        @hookimpl
        def rx_waiting_refused(self) -> str | None:
            return "because of the test.\n  Right:  another thread"

    with manager().enable(Plugin()), pytest.raises(RuntimeError, match=r"must not wait for it, because of the test\.\n  Right:"):
        elsewhere().blocking_list()
    assert elsewhere().blocking_list() == [0, 1, 2]

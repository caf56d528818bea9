"""Arguments whose error would come on a worker or at the end of a stream, and go to the error hook: the caller gets it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Final

import pytest

import rx_asyncio
import rx_schedulers
from rx_core import Scheduler, _context
from rx_ops import Completable, Flowable, Maybe, Observable, Single
from rx_testing import VirtualScheduler
from rx_testing._leaks import LeakWatch

SCHEDULERS: Final[dict[str, Callable[[], Scheduler]]] = {
    "computation": lambda: rx_schedulers.ComputationScheduler(2),
    "executor": lambda: rx_schedulers.from_executor(ThreadPoolExecutor(1)),
    "immediate": rx_schedulers.ImmediateScheduler,
    "io": rx_schedulers.IoScheduler,
    "new_thread": rx_schedulers.NewThreadScheduler,
    "single": rx_schedulers.SingleScheduler,
    "trampoline": rx_schedulers.TrampolineScheduler,
    "virtual": VirtualScheduler,
}


@pytest.mark.parametrize("kind", SCHEDULERS)
@pytest.mark.parametrize("delay", [0.0, 1.0])
@pytest.mark.parametrize("watched", [False, True], ids=["", "watched"])
def test_a_worker_refuses_an_action_that_cannot_be_called(kind: str, delay: float, watched: bool) -> None:
    scheduler = SCHEDULERS[kind]()
    with LeakWatch().open() as watch:
        worker = (watch.scheduler(scheduler) if watched else scheduler).create_worker()
        try:
            with pytest.raises(TypeError, match=r"schedule\(\) expected a function .*, got None(.|\n)*Right: +worker.schedule"):
                worker.schedule(None, delay)  # type: ignore[arg-type]  # that is the mistake
            with pytest.raises(TypeError, match="expected a function"):
                scheduler.schedule_direct(5, delay)  # type: ignore[arg-type]  # that is the mistake
        finally:
            worker.dispose()
            scheduler.shutdown()


def test_a_worker_in_an_event_loop_refuses_it_too() -> None:
    async def main() -> None:
        with pytest.raises(TypeError, match=r"schedule\(\) expected a function"):
            rx_asyncio.scheduler().create_worker().schedule(None)  # type: ignore[arg-type]  # that is the mistake

    asyncio.run(main())


def test_a_worker_of_a_stream_with_a_context_refuses_it_too() -> None:
    worker = _context._CarryingWorker(VirtualScheduler().create_worker(), copy_context())
    with pytest.raises(TypeError, match=r"schedule\(\) expected a function"):
        worker.schedule(None)  # type: ignore[arg-type]  # that is the mistake


@pytest.mark.parametrize("kind", [Flowable, Observable, Single, Maybe, Completable])
@pytest.mark.parametrize("method", ["set_cancellable", "set_disposable"])
@pytest.mark.parametrize("given", [5, None])
def test_an_emitter_refuses_what_it_could_not_clean_up_with(kind: Any, method: str, given: object) -> None:
    raised: list[TypeError] = []

    def begin(emitter: Any) -> None:
        with pytest.raises(TypeError, match=rf"{method}\(\) expected (.|\n)*Right: +emitter\.{method}") as caught:
            getattr(emitter, method)(given)
        raised.append(caught.value)

    kind.create(begin).subscribe().dispose()
    assert len(raised) == 1


@pytest.mark.parametrize("kind", [Flowable, Observable])
@pytest.mark.parametrize("name", ["take", "skip", "take_last", "skip_last"])
def test_a_number_of_items_needs_no_scheduler(kind: Any, name: str) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\) needs seconds=(.|\n)*Right: +\.{name}\(3\)"):
        getattr(kind.of(1), name)(3, scheduler=VirtualScheduler())

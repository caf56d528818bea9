"""The handle of a run: waiting for its end, leaving its block, showing it, and the warnings of Python's development mode."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from textwrap import dedent

import pytest

from rx_core import CallbackObserver, FlowableBase, Handle, Subscriber
from rx_core._observers import _WAITED_FOR
from rx_testing import ManualPublisher, TestSubscriber
from rx_testing.racing import caught, race, rounds

LIMIT = 30.0  # seconds, for what comes at once
OBSERVERS = str(sys.modules[CallbackObserver.__module__].__file__)


class Manual(FlowableBase[int]):
    """A publisher as a Flowable, for its callbacks."""

    def __init__(self) -> None:
        self.source = ManualPublisher[int]()

    def subscribe_actual(self, subscriber: Subscriber[int], /) -> None:
        self.source.subscribe(subscriber)

    def __repr__(self) -> str:
        return "manual"


def test_wait_returns_when_the_stream_has_completed() -> None:
    flow = Manual()
    handle = flow.subscribe(on_complete=lambda: None)
    assert not handle.wait(0)
    flow.source.complete()
    assert handle.wait(0)
    assert handle.wait()


def test_wait_returns_behind_the_callback_of_the_end() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def completed() -> None:
        begun.set()
        assert go_on.wait(LIMIT)

    flow = Manual()
    handle = flow.subscribe(on_complete=completed)
    thread = threading.Thread(target=flow.source.complete)
    thread.start()
    assert begun.wait(LIMIT)
    assert handle.is_disposed
    assert not handle.wait(0)
    go_on.set()
    assert handle.wait(LIMIT)
    thread.join()


def test_wait_wakes_every_thread_that_waits() -> None:
    flow = Manual()
    handle = flow.subscribe()
    waiting = threading.Barrier(4)
    woken: list[bool] = []

    def wait() -> None:
        waiting.wait(LIMIT)
        woken.append(handle.wait(LIMIT))

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    waiting.wait(LIMIT)
    flow.source.complete()
    for thread in threads:
        thread.join()
    assert woken == [True, True, True]


def test_wait_does_not_raise_what_the_stream_failed_with() -> None:
    errors: list[Exception] = []
    flow = Manual()
    handle = flow.subscribe(on_error=errors.append)
    failure = ValueError("no")
    flow.source.error(failure)
    assert handle.wait(0)
    assert errors == [failure]


def test_wait_is_behind_on_error_for_a_callback_that_raised() -> None:
    seen: list[bool] = []
    flow = Manual()
    handles: list[Handle] = []
    handles.append(flow.subscribe(lambda _item: 1 // 0, on_error=lambda _error: seen.append(handles[0].wait(0))))
    flow.source.next(1)
    assert seen == [False]
    assert handles[0].wait(0)


def test_an_end_whose_callback_is_interrupted_is_over() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    flow = Manual()
    handle = flow.subscribe(on_complete=interrupted)
    with pytest.raises(KeyboardInterrupt):
        flow.source.complete()
    assert handle.wait(0)


def test_an_item_whose_callback_is_interrupted_is_over() -> None:
    def interrupted(_item: int) -> None:
        raise KeyboardInterrupt

    flow = Manual()
    handle = flow.subscribe(interrupted)
    with pytest.raises(KeyboardInterrupt):
        flow.source.next(1)
    assert handle.wait(0)


def test_disposing_is_an_end() -> None:
    handle = Manual().subscribe()
    handle.dispose()
    assert handle.wait(0)


def test_leaving_the_block_cancels() -> None:
    flow = Manual()
    with flow.subscribe() as handle:
        assert not handle.wait(0)
    assert handle.is_disposed
    assert flow.source.cancelled


def test_it_shows_what_it_is() -> None:
    flow = Manual()
    handle = flow.subscribe()
    assert repr(handle) == "<subscription to manual: running>"
    handle.dispose()
    assert repr(handle) == "<subscription to manual: over>"


def test_a_subscriber_knows_its_end_itself() -> None:
    handle = Manual().subscribe(TestSubscriber[int]())
    with pytest.raises(RuntimeError, match="on_complete"):
        handle.wait()
    with pytest.raises(RuntimeError, match="only it can cancel"), handle:
        pass
    assert repr(handle) == "<a subscription that its subscriber holds>"


# -- races ----------------------------------------------------------------------------------------------------------------------


class LooksFirst(CallbackObserver[int]):
    """Waits without a second look at whether it is over."""

    def wait(self, timeout: float | None = None) -> bool:
        if self._over:
            return True
        found = self._cell.get(_WAITED_FOR)
        event: threading.Event = threading.Event() if found is None else found
        self._cell[_WAITED_FOR] = event
        return event.wait(timeout)


def waited_and_ended(kind: type[CallbackObserver[int]]) -> None:
    for _ in range(10):
        handle = kind("race", None, None, None)
        results: list[bool] = []

        def wait(handle: CallbackObserver[int] = handle, results: list[bool] = results) -> None:
            results.append(handle.wait(2.0))

        race(wait, wait, handle.on_complete, watch=[__file__, OBSERVERS])
        assert results == [True, True]


@pytest.mark.stress
def test_an_end_is_not_missed() -> None:
    for _ in rounds(20):
        waited_and_ended(CallbackObserver)


@pytest.mark.stress
def test_the_race_can_fail() -> None:
    assert caught(lambda _number: waited_and_ended(LooksFirst))


# -- development mode ---------------------------------------------------------------------------------------------------------

PROGRAM = """
    import gc
    from rx_core import FlowableBase

    class Never(FlowableBase):
        def __init__(self, keep):
            self.keep = keep
        def subscribe_actual(self, subscriber):
            self.keep.append(subscriber)
            subscriber.on_subscribe(self)
        def request(self, n):
            pass
        def cancel(self):
            pass
        def __repr__(self):
            return "never"

    kept = []
    Never([]).subscribe(print)
    gc.collect()
    Never(kept).subscribe(print)
    with Never(kept).subscribe(print):
        pass
    Never(kept).subscribe(print).dispose()
    print("-- end")
    Never([]).subscribe(print)
    Never(kept).subscribe(print)
    """


def ran(*options: str) -> tuple[str, list[str]]:
    done = subprocess.run(
        [sys.executable, *options, "-c", dedent(PROGRAM)], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "ResourceWarning" in line]


def test_in_development_mode_a_dropped_run_and_one_that_outlives_the_program_are_told_with_their_lines() -> None:
    lines = dedent(PROGRAM).splitlines()
    dropped = [number for number, line in enumerate(lines, 1) if line == "Never([]).subscribe(print)"]
    kept = [number for number, line in enumerate(lines, 1) if line == "Never(kept).subscribe(print)"]
    assert len(dropped) == len(kept) == 2
    _, warned = ran("-X", "dev")
    shown = "ResourceWarning: <subscription to never: running>"
    never = "was dropped while it ran: nothing holds its source any more, so it never ends."
    assert warned[:2] == [f"<string>:{line}: {shown} {never}" for line in dropped]
    assert sorted(warned[2:]) == [f"<string>:{line}: {shown} when the program ends, which does not wait for it." for line in kept]


def test_elsewhere_nothing_is_watched() -> None:
    assert ran() == ("-- end\n", [])
    assert not hasattr(CallbackObserver, "__del__")


def test_a_second_subscription_is_cancelled_however_often_it_comes(caplog: pytest.LogCaptureFixture) -> None:
    source = ManualPublisher[int]()
    observer = CallbackObserver[int]("test", None, None, None)
    source.subscribe(observer)
    first = source.subscriptions[0]
    source.subscribe(observer)
    assert not first.cancelled
    assert source.subscriptions[1].cancelled  # RS 2.5
    with caplog.at_level(logging.ERROR):
        observer.dispose()
    assert not caplog.records

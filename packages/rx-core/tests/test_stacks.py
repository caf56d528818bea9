"""What threads run, seen from another one."""

from __future__ import annotations

import sys
import threading

import pytest

from rx_core.live.stacks import others_can_be_read, seen_at, shown, stack_of, threads

SECONDS = 10.0
#: Reading the frames of a thread that goes on crashes CPython.
WITH_THE_GIL = pytest.mark.skipif(not others_can_be_read(), reason="without the GIL another thread cannot be looked at")


class Waiter:
    def __init__(self) -> None:
        self.waits = threading.Event()
        self.go_on = threading.Event()

    def run(self) -> None:
        self.deeper()

    def deeper(self) -> None:
        self.waits.set()
        assert self.go_on.wait(SECONDS)


@WITH_THE_GIL
def test_the_calls_of_a_thread_come_from_the_innermost_on_with_whose_method_each_is() -> None:
    waiter = Waiter()
    thread = threading.Thread(target=waiter.run)
    thread.start()
    assert waiter.waits.wait(SECONDS)
    calls = stack_of(thread.ident or 0)
    assert thread.ident in threads()
    waiter.go_on.set()
    thread.join(SECONDS)
    names = [call.code.co_name for call in calls]
    assert names.index("deeper") + 1 == names.index("run")
    assert {call.code.co_name for call in calls if call.owner is waiter} == {"deeper", "run"}
    assert [call.owner for call in calls if call.code.co_name == "run" and call.owner is not waiter] == [thread]
    text = shown(calls)
    assert text.index(", in run\n    self.deeper()\n") < text.index(", in deeper\n    assert self.go_on.wait(SECONDS)\n")
    assert threading.__file__ in text


def test_without_the_gil_another_thread_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    waiter = Waiter()
    thread = threading.Thread(target=waiter.run)
    thread.start()
    try:
        assert waiter.waits.wait(SECONDS)
        assert stack_of(thread.ident or 0) == []
        assert seen_at(thread.ident or 0, 4) == "  (without the GIL another thread cannot be looked at)"
        assert threads() == [threading.get_ident()]
        assert "test_without_the_gil" in seen_at(threading.get_ident(), 4)
    finally:
        waiter.go_on.set()
        thread.join(SECONDS)


def test_a_thread_that_has_ended_or_not_begun_runs_nothing() -> None:
    thread = threading.Thread(target=lambda: None)
    assert stack_of(thread.ident or 0) == []
    thread.start()
    thread.join(SECONDS)
    assert stack_of(thread.ident or 0) == []
    assert shown([]) == ""


def test_of_this_thread_the_first_call_is_the_one_that_looks() -> None:
    names = [call.code.co_name for call in stack_of(threading.get_ident())]
    assert "test_of_this_thread_the_first_call_is_the_one_that_looks" in names[:4]

"""What threads run, seen from another one."""

from __future__ import annotations

import threading

from rx_core.live.stacks import shown, stack_of, threads

SECONDS = 10.0


class Waiter:
    def __init__(self) -> None:
        self.waits = threading.Event()
        self.go_on = threading.Event()

    def run(self) -> None:
        self.deeper()

    def deeper(self) -> None:
        self.waits.set()
        assert self.go_on.wait(SECONDS)


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

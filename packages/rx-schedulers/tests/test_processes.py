"""A pool of processes: what is sent, what comes back, and how a process that dies is told."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Any

import pytest

import rx_schedulers
from rx_core import Answer, ProcessDiedError, hooks
from rx_schedulers import Processes, _frames

SECONDS = 30.0


@pytest.fixture
def pool() -> Iterator[Processes]:
    made = Processes(1)
    yield made
    assert made.shutdown(SECONDS)


class Caller:
    """Calls a function in a process of the pool and waits for the answers."""

    def __init__(self, pool: Processes, function: Callable[[list[Any]], Iterable[Any]]) -> None:
        self.answers: SimpleQueue[Answer] = SimpleQueue()
        self.calls = pool.connect(function, self.answers.put)

    def __call__(self, *items: Any) -> Answer:
        self.calls.send(list(items))
        return self.answers.get(timeout=SECONDS)


def doubled(items: list[int]) -> Iterator[int]:
    for item in items:
        if item < 0:
            raise ValueError(item)
        yield item * 2


def pids(items: list[int]) -> list[int]:
    return [os.getpid() for _ in items]


def killing(items: list[int]) -> list[int]:
    os.kill(os.getpid(), signal.SIGKILL)
    return items


def leaving(items: list[int]) -> list[int]:
    os._exit(7)


def exiting(items: list[int]) -> list[int]:
    sys.exit(items[0])


def printing(items: list[str]) -> list[str]:
    for item in items:
        print(item)
    return items


def locks(items: list[int]) -> list[Any]:
    return [threading.Lock() for _ in items]


class Picky(Exception):
    def __init__(self, one: object, two: object) -> None:
        super().__init__(f"{one} and {two}")


def picky(items: list[int]) -> list[int]:
    raise Picky(*items)


def test_lists_are_answered_in_order_by_another_process(pool: Processes) -> None:
    call = Caller(pool, pids)
    first = call(1, 2)
    assert len(set(first.results)) == 1
    assert first.results[0] != os.getpid()
    assert first.size == 2
    assert call(3).results == first.results[:1]
    call = Caller(pool, doubled)
    for at in range(20):
        call.calls.send([at, at + 1])
    assert [call.answers.get(timeout=SECONDS).results for _ in range(20)] == [[2 * at, 2 * at + 2] for at in range(20)]


def test_an_error_comes_behind_the_results_before_it_with_its_traceback(pool: Processes) -> None:
    answer = Caller(pool, doubled)(1, 2, -3, 4)
    assert answer.results == [2, 4]
    assert isinstance(answer.error, ValueError)
    assert answer.error.args == (-3,)
    assert any(note.startswith("in rx-process-1:\n") and "in doubled" in note for note in answer.error.__notes__)


def test_an_exception_that_cannot_travel_comes_as_its_text(pool: Processes) -> None:
    error = Caller(pool, picky)(1, 2).error
    assert isinstance(error, RuntimeError)
    assert str(error).endswith("Picky: 1 and 2")


def test_what_is_no_exception_of_a_stream_is_told_as_one(pool: Processes) -> None:
    error = Caller(pool, exiting)(3).error
    assert isinstance(error, RuntimeError)
    assert "SystemExit in rx-process-1: 3" in str(error)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals")
def test_a_process_that_is_killed_is_named_and_the_next_list_starts_another(pool: Processes) -> None:
    error = Caller(pool, killing)(1, 2, 3).error
    assert isinstance(error, ProcessDiedError)
    assert "rx-process-1 (pid " in str(error)
    assert "was killed by SIGKILL while it had 3 items" in str(error)
    assert Caller(pool, doubled)(4).results == [8]


def test_a_process_that_ends_is_told_with_its_exit_code(pool: Processes) -> None:
    assert "ended with exit code 7" in str(Caller(pool, leaving)(1).error)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals")
def test_a_process_that_died_with_nothing_to_do_is_replaced(pool: Processes) -> None:
    call = Caller(pool, pids)
    (pid,) = call(1).results
    os.kill(pid, signal.SIGKILL)
    while (answer := call(1)).error is not None:  # until it is gone it may take a list with it
        assert isinstance(answer.error, ProcessDiedError)
    assert answer.results != [pid]


def test_what_a_function_prints_disturbs_no_answer(pool: Processes, capfd: pytest.CaptureFixture[str]) -> None:
    assert Caller(pool, printing)("one", "two").results == ["one", "two"]


def test_lambdas_and_what_is_local_travel_by_cloudpickle(pool: Processes) -> None:
    factor = 3
    assert Caller(pool, lambda items: [item * factor for item in items])(1, 2).results == [3, 6]


def test_without_cloudpickle_the_error_says_how_to_install_it(pool: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(TypeError, match=r"pip install 'rx-schedulers\[processes\]'"):
        Caller(pool, lambda items: items)
    assert Caller(pool, doubled)(1).results == [2]
    error = Caller(pool, doubled)(type("Local", (), {})()).error
    assert isinstance(error, TypeError)
    assert "Local" in str(error)
    assert "pip install" in str(error)


def test_what_the_program_itself_defines_goes_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    def mine(item: int) -> int:
        return item + 1

    mine.__module__, mine.__qualname__ = "__main__", "mine"
    monkeypatch.setattr(sys.modules["__main__"], "mine", mine, raising=False)
    assert b"__main__" in pickle.dumps(mine)  # by name, which another process would not find
    assert pickle.loads(_frames.dumps(mine))(1) == 2
    assert len(_frames.dumps(mine)) > 2 * len(pickle.dumps(mine))


def test_what_cannot_be_pickled_is_named(pool: Processes) -> None:
    lock = threading.Lock()
    with pytest.raises(TypeError, match="cannot be sent to another process"):
        Caller(pool, lambda items: [lock for _ in items])
    assert "items (lock)" in str(Caller(pool, doubled)(lock).error)
    assert "(lock)" in str(Caller(pool, locks)(1).error)


def test_nothing_is_answered_once_it_is_closed(pool: Processes) -> None:
    first, second = Caller(pool, doubled), Caller(pool, doubled)
    first.calls.send([1])
    first.calls.close()
    first.calls.close()
    first.calls.send([2])
    assert second(3).results == [6]  # behind them
    assert first.answers.qsize() <= 1


def test_what_the_receiver_raises_goes_to_the_error_hook_and_the_next_is_answered(
    pool: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    came: SimpleQueue[Answer] = SimpleQueue()
    dropped: list[Exception] = []

    def answered(answer: Answer) -> None:
        came.put(answer)
        raise LookupError("mine")

    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: dropped.append(error))
    calls = pool.connect(doubled, answered)
    calls.send([1])
    calls.send([2])
    assert [came.get(timeout=SECONDS).results for _ in range(2)] == [[2], [4]]
    assert Caller(pool, doubled)(3).results == [6]
    assert [type(error) for error in dropped] == [LookupError, LookupError]


def test_a_shutdown_ends_what_is_computed_and_is_told() -> None:
    pool = Processes(1)
    call = Caller(pool, waiting)
    call.calls.send([1])
    call.calls.send([2])
    call.calls.send([3])
    assert pool.shutdown(SECONDS)
    assert pool.shutdown(SECONDS)
    answers = [call.answers.get(timeout=SECONDS) for _ in range(3)]
    assert all(isinstance(each.error, ProcessDiedError) and "was shut down" in str(each.error) for each in answers)
    with pytest.raises(RuntimeError, match=r"processes\(1\) is shut down"):
        Caller(pool, doubled)
    call.calls.send([4])
    assert isinstance(call.answers.get(timeout=SECONDS).error, ProcessDiedError)


def waiting(items: list[int]) -> list[int]:
    threading.Event().wait()
    return items


def test_functions_take_turns_among_the_processes() -> None:
    pool = Processes(2)
    first, second, third = (Caller(pool, pids)(1).results for _ in range(3))
    assert first != second
    assert third == first
    assert pool.shutdown(SECONDS)


@pytest.mark.parametrize(("given", "kind"), [(0, ValueError), (-1, ValueError), ("2", TypeError), (True, TypeError)])
def test_another_number_is_refused(given: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"processes\(2\)"):
        rx_schedulers.processes(given)


def test_one_number_is_one_pool_that_travels() -> None:
    pool = rx_schedulers.processes(3)
    assert rx_schedulers.processes(3) is pool
    assert pickle.loads(pickle.dumps(pool)) is pool
    assert repr(pool) == "processes(3)"
    assert rx_schedulers.processes() is rx_schedulers.processes(rx_schedulers._threads.cpu_count())

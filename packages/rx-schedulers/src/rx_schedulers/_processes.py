"""A pool of processes that functions are sent to.

Each process has a thread here, which sends it lists of items and waits for the answers. One list is sent ahead of the one that is
computed, so that a process has something to do while its answer is used here.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from itertools import count
from queue import Empty, SimpleQueue
from typing import IO, Any, Final, final

from rx_core import Answer, ProcessDiedError, ProcessPool, RemoteCalls, dropped
from rx_schedulers._frames import dumps, read_frame, write_frame

#: Lists that a process has at a time.
_AHEAD: Final = 2
_START: Final = (
    "import sys, json; sys.path[:] = json.loads(sys.argv.pop()); from rx_schedulers._process_main import start; start()"
)
_numbers = count(1)

_INSTALL: Final = (
    "  Install:  pip install 'rx-schedulers[processes]'   # for lambdas and what the program's file defines\n"
    "  Or:       define it in a module that can be imported"
)


@final
class Processes(ProcessPool):
    """So many processes, each started when it is needed first. They end with this one, or with :meth:`shutdown`."""

    __slots__ = ("_shut", "_sites", "_turn")

    def __init__(self, processes: int) -> None:
        if type(processes) is not int:
            raise TypeError(f"processes({processes!r}): a whole number is needed, for example processes(2)")
        if processes < 1:
            raise ValueError(f"processes({processes}): at least one is needed, for example processes(2)")
        self._sites = tuple(_Site(f"rx-process-{number}") for number in range(1, processes + 1))
        self._turn = count()
        self._shut = False

    def connect(self, function: Callable[[list[Any]], Any], answered: Callable[[Answer], object], /) -> RemoteCalls:
        if self._shut:
            raise RuntimeError(f"{self!r} is shut down")
        try:
            data = dumps(function)
        except ImportError as error:
            raise TypeError(f"{function!r} cannot be sent to another process by pickle alone.\n{_INSTALL}") from error
        except Exception as error:
            raise TypeError(
                f"{function!r} cannot be sent to another process: {error}\n"
                f"  Make what it holds (a lock, a file, a connection) inside of the function"
            ) from error
        return _Calls(self._sites[next(self._turn) % len(self._sites)], data, answered)

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        """End the processes, whatever they compute; streams that use one get an error. False if one has not ended in time."""
        self._shut = True
        for site in self._sites:
            site.stop()
        ended = [site.join(timeout) for site in self._sites]
        return all(ended)

    def __repr__(self) -> str:
        return f"processes({len(self._sites)})"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return shared_processes, (len(self._sites),)


class _Calls(RemoteCalls):
    """One function, at one process."""

    __slots__ = ("answered", "closed", "data", "number", "site")

    def __init__(self, site: _Site, data: bytes, answered: Callable[[Answer], object]) -> None:
        self.site = site
        self.data = data
        self.answered = answered
        self.number = next(_numbers)
        self.closed = False

    def send(self, items: list[Any], /) -> None:
        self.site.put((self, items))

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.site.forget(self)

    def answer(self, answer: Answer) -> None:
        if not self.closed:
            try:
                self.answered(answer)
            except Exception as error:  # RS 2.13: this thread has no caller that could act on it
                dropped(error, self.site.name)


class _Site:
    """One process, and the thread that talks to it. All but ``put``, ``forget``, ``stop`` and ``join`` is done by that thread."""

    __slots__ = ("_child", "_known", "_lock", "_orders", "_sent", "_stopped", "_thread", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._orders: SimpleQueue[tuple[_Calls, list[Any] | None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._child: subprocess.Popen[bytes] | None = None
        #: The functions that the process has.
        self._known: set[int] = set()
        #: The lists that it was sent and has not answered.
        self._sent: deque[tuple[_Calls, int]] = deque()

    def put(self, order: tuple[_Calls, list[Any] | None]) -> None:
        self._orders.put(order)
        with self._lock:
            if self._thread is None and not self._stopped:
                self._thread = threading.Thread(target=self._serve, name=self.name, daemon=True)
                self._thread.start()
                return
        if self._stopped:
            self._refuse_all()  # published first: the thread does the same when it ends

    def forget(self, calls: _Calls) -> None:
        if self._thread is not None:
            self._orders.put((calls, None))

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            child = self._child
        self._orders.put(None)
        if child is not None:
            child.kill()

    def join(self, timeout: float | None) -> bool:
        thread = self._thread
        if thread is None:
            return True
        if thread is threading.current_thread():
            return False
        thread.join(timeout)
        return not thread.is_alive()

    # -- the thread ----------------------------------------

    def _serve(self) -> None:
        sent = self._sent
        while not self._stopped:
            if len(sent) < _AHEAD:
                try:
                    order = self._orders.get(block=not sent)
                except Empty:
                    pass
                else:
                    if order is not None:
                        self._dispatch(*order)
                    continue
            self._receive()
        self._end()
        self._refuse_all()

    def _dispatch(self, calls: _Calls, items: list[Any] | None) -> None:
        try:
            if items is None:
                if calls.number in self._known:
                    self._known.discard(calls.number)
                    self._write((calls.number, None, None))
                return
            if calls.closed:
                return
            try:
                data = dumps(items)
            except Exception as error:
                calls.answer(Answer([], _not_sendable(items, error), len(items), 0.0))
                return
            if self._child is not None and not self._sent and self._child.poll() is not None:
                self._end()  # it died when it had nothing to do
            self._sent.append((calls, len(items)))
            if self._child is None:
                self._begin()
            if calls.number not in self._known:
                self._known.add(calls.number)
                self._write((calls.number, calls.data, None))
            self._write((calls.number, None, data))
        except OSError:
            self._receive()  # it has gone: what it has answered comes first

    def _write(self, order: tuple[int, bytes | None, bytes | None]) -> None:
        write_frame(self._pipe("stdin"), pickle.dumps(order, pickle.HIGHEST_PROTOCOL))

    def _pipe(self, name: str) -> IO[bytes]:
        pipe: IO[bytes] = getattr(self._child, name)
        return pipe

    def _begin(self) -> None:
        command = [sys.executable, "-c", _START, self.name, json.dumps(sys.path)]
        with self._lock:
            if not self._stopped:
                self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self._child is None:
            raise BrokenPipeError

    def _receive(self) -> None:
        try:
            data = read_frame(self._pipe("stdout"))
        except (OSError, EOFError, AttributeError):
            self._died()
            return
        calls, size = self._sent.popleft()
        try:
            results, error, seconds = pickle.loads(data)
        except Exception as failure:
            results, error, seconds = [], TypeError(f"results of {self.name} cannot be loaded here: {failure}"), 0.0
        calls.answer(Answer(results, error, size, seconds))

    def _died(self) -> None:
        """Answer each caller whose list the process had with an error that says how it ended. The next list starts another."""
        child, how = self._child, "was not started"
        if child is not None:
            self._end()
            how = f"(pid {child.pid}) {_ended(child.returncode)}"
        waiting = list(self._sent)
        self._sent.clear()
        for calls, size in waiting:
            said = f"the process {self.name} {how} while it had {size} items to work on"
            if self._stopped:
                said = f"the process {self.name} was shut down"
            calls.answer(Answer([], ProcessDiedError(said), size, 0.0))

    def _end(self) -> None:
        child, self._child = self._child, None
        self._known.clear()
        if child is not None:
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except OSError:
                        pass  # what was not written has no reader any more
            child.wait()

    def _refuse_all(self) -> None:
        """After a shutdown."""
        waiting = list(self._sent)
        self._sent.clear()
        while True:
            try:
                order = self._orders.get(block=False)
            except Empty:
                break
            if order is not None and order[1] is not None:
                waiting.append((order[0], len(order[1])))
        for calls, size in waiting:
            calls.answer(Answer([], ProcessDiedError(f"the process {self.name} was shut down"), size, 0.0))


def _ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def _not_sendable(items: list[Any], error: Exception) -> TypeError:
    kinds = ", ".join(sorted({type(each).__qualname__ for each in items}))
    if isinstance(error, ImportError):
        return TypeError(f"items ({kinds}) cannot be sent to another process by pickle alone.\n{_INSTALL}")
    return TypeError(
        f"items ({kinds}) cannot be sent to another process: {error}\n"
        f"  Turn them into plain values before:  .map(to_values).run_on(processes(2))"
    )


_shared: dict[int, Processes] = {}


def shared_processes(number: int) -> Processes:
    """The pool of so many that the whole process shares."""
    made = _shared.get(number) if type(number) is int else None
    return _shared.setdefault(number, Processes(number)) if made is None else made


def _end_shared() -> None:
    for pool in list(_shared.values()):
        pool.shutdown(1.0)


atexit.register(_end_shared)


def _forget_shared() -> None:
    """A forked process has none of them."""
    _shared.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_shared)

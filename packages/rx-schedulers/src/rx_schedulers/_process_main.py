"""What a process of a pool runs. It is a new interpreter: nothing of the program's own script is run in it."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from time import perf_counter
from typing import IO, Any

from rx_core import as_signal
from rx_schedulers._frames import dumps, read_frame, write_frame


def main(name: str) -> None:
    """Answer what comes on the standard input, until that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group: the parent decides what becomes of this one
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what functions print is no answer
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    frames: SimpleQueue[bytes] = SimpleQueue()
    # Read by a thread, so that the parent can always write: it may have another list for this process before it reads an answer.
    threading.Thread(target=_read, args=(orders, frames), daemon=True).start()
    functions: dict[int, Callable[[list[Any]], Iterable[Any]]] = {}
    while True:
        number, data, items = pickle.loads(frames.get())
        if data is None and items is None:
            functions.pop(number, None)
        elif items is None:
            functions[number] = _loaded(data)
        else:
            write_frame(answers, _answer(functions[number], items, name))


def _read(orders: IO[bytes], frames: SimpleQueue[bytes]) -> None:
    try:
        while True:
            frames.put(read_frame(orders))
    finally:
        os._exit(0)  # the parent has gone, or wants no more: at once, whatever is computed


def _loaded(data: bytes) -> Callable[[list[Any]], Iterable[Any]]:
    """A function that cannot be loaded fails when it is called."""
    try:
        function: Callable[[list[Any]], Iterable[Any]] = pickle.loads(data)
    except Exception as error:
        failure = error

        def failing(_items: list[Any]) -> Iterable[Any]:
            raise failure

        return failing
    return function


def _answer(function: Callable[[list[Any]], Iterable[Any]], items: bytes, name: str) -> bytes:
    results: list[Any] = []
    error: Exception | None = None
    start = perf_counter()
    try:
        results.extend(function(pickle.loads(items)))  # what was given before an error stays in the list
    except Exception as raised:
        error = as_signal(raised)
        error.add_note(f"in {name}:\n{traceback.format_exc()}")
    except BaseException as raised:
        error = RuntimeError(f"{type(raised).__name__} in {name}: {raised}")
    seconds = perf_counter() - start
    try:
        return dumps((results, None if error is None else _portable(error), seconds))
    except Exception as cause:
        kinds = ", ".join(sorted({type(each).__qualname__ for each in results}))
        refused = TypeError(f"a function in {name} gave what cannot be sent to another process ({kinds}): {cause}")
        return dumps(([], refused, seconds))


def _portable(error: Exception) -> Exception:
    """``error`` if it survives the way, else its text."""
    try:
        pickle.loads(dumps(error))
    except Exception:
        replaced = RuntimeError("".join(traceback.format_exception_only(error)).strip())
        for note in getattr(error, "__notes__", ()):
            replaced.add_note(note)
        return replaced
    return error


def start() -> None:
    """For the command line of a process: its name is the first argument."""
    main(sys.argv[1])

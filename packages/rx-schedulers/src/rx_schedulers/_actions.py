"""Actions: how they are run, and where what they raise goes."""

from __future__ import annotations

import threading
from collections.abc import Callable

from rx_core import WorkerInterruptedError, dropped

Action = Callable[[], object]


def call(action: Action, /) -> None:
    """Run one action. An Exception goes to the rx_on_error hooks; other BaseExceptions pass."""
    try:
        action()
    except Exception as error:
        dropped(error)


def interrupted(error: BaseException, /) -> WorkerInterruptedError:
    """What to report when ``error`` ended an action on a thread where no caller could act on it."""
    wrapped = WorkerInterruptedError(
        f"{type(error).__name__} ended an action on thread {threading.current_thread().name!r}; "
        f"a background thread cannot end the program.\n"
        f"  To stop the stream instead:  raise an Exception, or cancel its subscription"
    )
    wrapped.__cause__ = error
    return wrapped


def report(error: Exception, /) -> None:
    """``dropped``, for places that have to go on even when a hook answers with a BaseException."""
    try:
        dropped(error)
    except BaseException:
        import logging

        logging.getLogger("rx.schedulers").exception("an rx_on_error hook was interrupted while it got %r", error)

"""Context variables across threads: what an operator does on a worker runs in the context of the one that subscribed.

Python starts a thread with an empty context, and a callback of an event loop with that of what scheduled it. A request's
identity, the span of a trace or a locale would be lost, or be another request's, behind each boundary. So the context is copied
when a subscription takes a worker, and the worker's actions run in that copy. They come one at a time, as a context demands; one
that does not has a copy of its own.
``RX_CONTEXT=off`` in the environment leaves that out.
"""

from __future__ import annotations

from contextvars import Context, copy_context
from functools import partial
from typing import TYPE_CHECKING, Final

from rx_core._schedulers import Worker
from rx_core._switches import switch

if TYPE_CHECKING:
    from rx_core._protocols import Disposable
    from rx_core._schedulers import Action, Scheduler

_CARRIED: Final = switch("RX_CONTEXT", default=True)


def current_context() -> Context | None:
    """A copy of the caller's context; None when nothing is set in it, or it is not to be carried."""
    if not _CARRIED:
        return None
    context = copy_context()
    return context if len(context) else None


def worker_of(scheduler: Scheduler, /) -> Worker:
    """A worker of ``scheduler`` whose actions run in a copy of the caller's context: for operators, when they are subscribed.

    Raises RuntimeError after the scheduler's shutdown.
    """
    worker = scheduler.create_worker()
    context = current_context()
    return worker if context is None else _CarryingWorker(worker, context)


class _CarryingWorker(Worker):
    __slots__ = ("_context", "_free", "_worker")

    def __init__(self, worker: Worker, context: Context) -> None:
        self._worker = worker
        self._context = context
        #: Holds ``context.run`` while no action is in it.
        self._free = [context.run]

    def _run(self, action: Action) -> None:
        try:
            run = self._free.pop()
        except IndexError:  # inside another action, as on ``immediate``, or beside it, on a worker that is not serial
            self._context.copy().run(action)
            return
        try:
            run(action)
        finally:
            self._free.append(run)

    @property
    def quantum(self) -> int | None:  # type: ignore[override]  # that of its worker
        return self._worker.quantum

    def schedule(self, action: Action, /, delay: float = 0.0) -> Disposable:
        return self._worker.schedule(partial(self._run, action), delay)

    def now(self) -> float:
        return self._worker.now()

    def dispose(self) -> None:
        self._worker.dispose()

    @property
    def is_disposed(self) -> bool:
        return self._worker.is_disposed

    def __repr__(self) -> str:
        return repr(self._worker)

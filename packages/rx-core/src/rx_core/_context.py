"""What an action of a worker runs in: the context variables of the one that subscribed, and what ``rx_on_schedule`` hooks put
around it.

Python starts a thread with an empty context, and a callback of an event loop with that of what scheduled it. A request's
identity, the span of a trace or a locale would be lost, or be another request's, behind each boundary. So the context is copied
when a subscription takes a worker, and the worker's actions run in that copy. They come one at a time, as a context demands; one
that does not has a copy of its own.
``RX_CONTEXT=off`` in the environment leaves that out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import Context, ContextVar, copy_context
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from rx_core import _hooks
from rx_core._schedulers import Worker, not_an_action
from rx_core._switches import switch

if TYPE_CHECKING:
    from rx_core._protocols import Disposable
    from rx_core._schedulers import Action, Scheduler

R = TypeVar("R")

_REQUIRED: Final = object()
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


def on_schedule(action: Action) -> Action:
    """What backends call on every action they accept: lets the ``rx_on_schedule`` hooks wrap it (context, tracing).

    Raises TypeError for what cannot be called, in the caller: an error on the worker would go to the error hook.
    """
    if not callable(action):
        raise not_an_action(action)
    hook = _hooks.on_schedule
    if hook is None:
        return action
    wrapped = hook(action)
    if not callable(wrapped):
        raise TypeError(f"an rx_on_schedule hook returned {wrapped!r}, which is no function")
    return wrapped


class SharedContext:
    """A context that may be wanted while it is entered, by what runs inside of it, and by other threads. They get a copy of what
    it was at the beginning."""

    __slots__ = ("_beginning", "_free")

    def __init__(self, context: Context) -> None:
        self._beginning = context.copy()  # never entered, so that any thread may copy it
        #: Holds ``context.run`` while nothing runs in it.
        self._free = [context.run]

    def run(self, function: Callable[..., R], /, *args: object) -> R:
        """``function(*args)`` in the context."""
        try:
            run = self._free.pop()
        except IndexError:
            return self._beginning.copy().run(function, *args)
        try:
            return run(function, *args)
        finally:
            self._free.append(run)


#: What ``with_context`` has set by name.
_VALUES: Final[ContextVar[Mapping[str, object]]] = ContextVar("rx_values")


def with_values(values: Mapping[str, object]) -> None:
    """Set them in the context that this runs in, beside those that are set."""
    _VALUES.set({**_VALUES.get({}), **values})


def context_value(name: str, default: object = _REQUIRED, /) -> object:
    """What ``with_context(name=...)`` further downstream has set for this function, on whichever thread it runs.

    LookupError where nothing was set and there is no ``default``. A ``ContextVar`` of your own has a type as well.
    """
    values = _VALUES.get({})
    if name in values:
        return values[name]
    if default is _REQUIRED:
        known = f"  It has set:  {', '.join(values)}\n" if values else ""
        raise LookupError(
            f"context_value({name!r}): no with_context() downstream has set it.\n{known}"
            f"  Right:  flow.with_context({name}=...)   # behind the function that reads it\n"
            f"  Or:     context_value({name!r}, default)"
        )
    return default


class _CarryingWorker(Worker):
    __slots__ = ("_run", "_worker")

    def __init__(self, worker: Worker, context: Context) -> None:
        self._worker = worker
        self._run = SharedContext(context).run

    @property
    def quantum(self) -> int | None:  # type: ignore[override]  # that of its worker
        return self._worker.quantum

    def schedule(self, action: Action, /, delay: float = 0.0) -> Disposable:
        if not callable(action):
            raise not_an_action(action)
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

"""The core of reactive streams for Python: protocols, abstract types, schedulers' contract, hooks and streams.

Importing it is cheap and pulls in neither pluggy nor an event loop; both wait for their first use.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rx_core import _hooks as hooks
from rx_core._blocking import blocking_allowed
from rx_core._buffer_watch import BufferWatch
from rx_core._context import SharedContext, context_value, current_context, on_schedule, with_values, worker_of
from rx_core._demand import (
    DEFAULT_PREFETCH,
    DEMAND,
    GROWING_PREFETCH,
    LARGEST_PREFETCH,
    UNBOUNDED,
    Growing,
    Growth,
    SettlesDemand,
    add_cap,
    after_answer,
    check_prefetch,
    invalid_request,
    mul_cap,
    request_all,
)
from rx_core._disposables import (
    DISPOSED,
    ActionDisposable,
    BaseDisposable,
    CompositeDisposable,
    FlagDisposable,
    Handle,
    SerialDisposable,
)
from rx_core._errors import (
    CompositeException,
    EmptyStreamError,
    MissingBackpressureError,
    OperatorNotFoundError,
    ProcessDiedError,
    ProtocolViolationError,
    RxError,
    SchedulerNotFoundError,
    WorkerInterruptedError,
    check_callable,
    composite,
    name_of,
    none_argument,
    none_produced,
    not_an_error,
)
from rx_core._hooks import dropped, dropped_late
from rx_core._observers import CallbackObserver, LeadsToCallbacks, callbacks_behind
from rx_core._process_pool import Answer, ProcessPool, RemoteCalls, RemoteFunction
from rx_core._protocols import (
    CompletableObserver,
    CompletableSource,
    Disposable,
    MaybeObserver,
    MaybeSource,
    ObservableSource,
    Observer,
    Processor,
    Publisher,
    SingleObserver,
    SingleSource,
    Subscriber,
    Subscription,
)
from rx_core._reactive import CompletableBase, FlowableBase, MaybeBase, ObservableBase, SingleBase
from rx_core._schedulers import Scheduler, SchedulerRegistry, Worker, current_scheduler, registry, scheduler
from rx_core._user_code import (
    OPERATOR_CODES,
    add_note,
    as_signal,
    exit_as_error,
    note_way,
    unwrap_stop,
    user_call,
    user_error,
)
from rx_core._version import __version__
from rx_core.streams import Items, Run, Source, close, tell_interrupted


def _find_plugins() -> bool:
    from rx_core._plugins import manager  # with pluggy, which costs 19 ms: only who needs plugins pays

    return manager().load_entry_points()


hooks.set_find_plugins(_find_plugins)
if os.environ.get("RX_WATCH"):
    import rx_core.live  # noqa: F401  # it looks what that says
if TYPE_CHECKING:
    from rx_core._hookspecs import hookimpl
    from rx_core._plugins import PluginManager, manager
    from rx_core.live import print_runs, runs

__all__ = [
    "DEFAULT_PREFETCH",
    "DEMAND",
    "DISPOSED",
    "GROWING_PREFETCH",
    "LARGEST_PREFETCH",
    "OPERATOR_CODES",
    "UNBOUNDED",
    "ActionDisposable",
    "Answer",
    "BaseDisposable",
    "BufferWatch",
    "CallbackObserver",
    "CompletableBase",
    "CompletableObserver",
    "CompletableSource",
    "CompositeDisposable",
    "CompositeException",
    "Disposable",
    "EmptyStreamError",
    "FlagDisposable",
    "FlowableBase",
    "Growing",
    "Growth",
    "Handle",
    "Items",
    "LeadsToCallbacks",
    "MaybeBase",
    "MaybeObserver",
    "MaybeSource",
    "MissingBackpressureError",
    "ObservableBase",
    "ObservableSource",
    "Observer",
    "OperatorNotFoundError",
    "PluginManager",
    "ProcessDiedError",
    "ProcessPool",
    "Processor",
    "ProtocolViolationError",
    "Publisher",
    "RemoteCalls",
    "RemoteFunction",
    "Run",
    "RxError",
    "Scheduler",
    "SchedulerNotFoundError",
    "SchedulerRegistry",
    "SerialDisposable",
    "SettlesDemand",
    "SharedContext",
    "SingleBase",
    "SingleObserver",
    "SingleSource",
    "Source",
    "Subscriber",
    "Subscription",
    "Worker",
    "WorkerInterruptedError",
    "__version__",
    "add_cap",
    "add_note",
    "after_answer",
    "as_signal",
    "blocking_allowed",
    "callbacks_behind",
    "check_callable",
    "check_prefetch",
    "close",
    "composite",
    "context_value",
    "current_context",
    "current_scheduler",
    "dropped",
    "dropped_late",
    "exit_as_error",
    "hookimpl",
    "hooks",
    "invalid_request",
    "manager",
    "mul_cap",
    "name_of",
    "none_argument",
    "none_produced",
    "not_an_error",
    "note_way",
    "on_schedule",
    "print_runs",
    "registry",
    "request_all",
    "runs",
    "scheduler",
    "tell_interrupted",
    "unwrap_stop",
    "user_call",
    "user_error",
    "with_values",
    "worker_of",
]


def __dir__() -> list[str]:
    return list({*__all__, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> object:
    if name == "hookimpl":  # with pluggy
        from rx_core._hookspecs import hookimpl

        return hookimpl
    if name in ("PluginManager", "manager"):
        from rx_core import _plugins

        return getattr(_plugins, name)
    if name in ("print_runs", "runs"):
        from rx_core import live

        return getattr(live, name)
    raise AttributeError(f"module 'rx_core' has no attribute {name!r}")

"""Thread schedulers for reactive streams.

The functions return schedulers that the whole process shares; they live as long as it does. To have one that you can
shut down, make it: ``IoScheduler()``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from rx_core import Scheduler
from rx_schedulers._caller import ImmediateScheduler, TrampolineScheduler
from rx_schedulers._executor import ExecutorScheduler
from rx_schedulers._threads import ComputationScheduler, IoScheduler, NewThreadScheduler, SingleScheduler
from rx_schedulers._version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = [
    "ComputationScheduler",
    "ExecutorScheduler",
    "ImmediateScheduler",
    "IoScheduler",
    "NewThreadScheduler",
    "SingleScheduler",
    "TrampolineScheduler",
    "__version__",
    "computation",
    "from_executor",
    "immediate",
    "io",
    "new_thread",
    "single",
    "trampoline",
]

S = TypeVar("S", bound=Scheduler)

_shared: dict[type[Scheduler], Scheduler] = {}


def _share(kind: type[S], make: Callable[[], S]) -> S:
    made = _shared.get(kind)
    if made is None:
        made = _shared.setdefault(kind, make())  # two threads asking at once share one; the other has no threads yet
    return cast(S, made)


def computation() -> ComputationScheduler:
    """As many threads as processors, ``rx-computation-<n>``, for busy work; the default of time operators."""
    return _share(ComputationScheduler, ComputationScheduler)


def io() -> IoScheduler:
    """A cached thread ``rx-io-<n>`` for each worker, for work that waits."""
    return _share(IoScheduler, IoScheduler)


def single() -> SingleScheduler:
    """One thread for everything, ``rx-single-1``."""
    return _share(SingleScheduler, SingleScheduler)


def new_thread() -> NewThreadScheduler:
    """A new thread ``rx-new_thread-<n>`` for each worker."""
    return _share(NewThreadScheduler, NewThreadScheduler)


def trampoline() -> TrampolineScheduler:
    """The calling thread, one action after the other; a delay blocks it."""
    return _share(TrampolineScheduler, TrampolineScheduler)


def immediate() -> ImmediateScheduler:
    """The calling thread, at once and inside ``schedule()``; a delay blocks it."""
    return _share(ImmediateScheduler, ImmediateScheduler)


def from_executor(executor: Executor, /) -> ExecutorScheduler:
    """Workers on ``executor``, which stays the caller's: make it, and shut it down, yourself.

    Raises TypeError for a ProcessPoolExecutor and for what is no executor.
    """
    return ExecutorScheduler(executor)

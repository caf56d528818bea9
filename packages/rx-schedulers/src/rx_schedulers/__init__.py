"""Thread schedulers for reactive streams.

The functions return schedulers that the whole process shares; they live as long as it does. To have one that you can
shut down, make it: ``IoScheduler()``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rx_schedulers._caller import ImmediateScheduler, TrampolineScheduler
from rx_schedulers._executor import ExecutorScheduler
from rx_schedulers._processes import Processes, shared_processes
from rx_schedulers._shared import share
from rx_schedulers._threads import ComputationScheduler, IoScheduler, NewThreadScheduler, SingleScheduler, cpu_count
from rx_schedulers._version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = [
    "ComputationScheduler",
    "ExecutorScheduler",
    "ImmediateScheduler",
    "IoScheduler",
    "NewThreadScheduler",
    "Processes",
    "SingleScheduler",
    "TrampolineScheduler",
    "__version__",
    "computation",
    "from_executor",
    "immediate",
    "io",
    "new_thread",
    "processes",
    "single",
    "trampoline",
]


def __dir__() -> list[str]:
    return list({*__all__, *(name for name in globals() if name.startswith("__"))})


def computation() -> ComputationScheduler:
    """As many threads as processors, ``rx-computation-<n>``, for busy work; the default of time operators."""
    return share(ComputationScheduler, ComputationScheduler)


def io() -> IoScheduler:
    """A cached thread ``rx-io-<n>`` for each worker, for work that waits."""
    return share(IoScheduler, IoScheduler)


def single() -> SingleScheduler:
    """One thread for everything, ``rx-single-1``."""
    return share(SingleScheduler, SingleScheduler)


def new_thread() -> NewThreadScheduler:
    """A new thread ``rx-new_thread-<n>`` for each worker."""
    return share(NewThreadScheduler, NewThreadScheduler)


def processes(number: int | None = None) -> Processes:
    """``number`` processes for ``parallel().run_on(...)``, as many as processors unless told; ``rx-process-<n>``.

    Programs with the same number share them. Functions and items are pickled: lambdas, and what the program's own file defines,
    need cloudpickle (``pip install 'rx-schedulers[processes]'``).
    """
    return shared_processes(cpu_count() if number is None else number)


def trampoline() -> TrampolineScheduler:
    """The calling thread, one action after the other; a delay blocks it."""
    return share(TrampolineScheduler, TrampolineScheduler)


def immediate() -> ImmediateScheduler:
    """The calling thread, at once and inside ``schedule()``; a delay blocks it."""
    return share(ImmediateScheduler, ImmediateScheduler)


def from_executor(executor: Executor, /) -> ExecutorScheduler:
    """Workers on ``executor``, which stays the caller's: make it, and shut it down, yourself.

    Raises TypeError for a ProcessPoolExecutor and for what is no executor.
    """
    return ExecutorScheduler(executor)

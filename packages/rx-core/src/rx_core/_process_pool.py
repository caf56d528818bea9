"""The contract of what runs functions in other processes.

It is no scheduler: an action of a Worker shares memory with who scheduled it. Here a function is sent once, then lists of items,
and lists of results come back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

#: Gives the results for a list of items, one after the other.
RemoteFunction = Callable[[list[Any]], Iterable[Any]]


class Answer(NamedTuple):
    """What came of a list of items: results, and behind them perhaps the error of the function, or of the process."""

    results: list[Any]
    error: Exception | None
    #: How many items there were, and how long the function took.
    size: int
    seconds: float


class RemoteCalls(ABC):
    """One function in another process."""

    __slots__ = ()

    @abstractmethod
    def send(self, items: list[Any], /) -> None:
        """Have the function called with ``items``. Returns at once; lists are answered one at a time, in order. Thread-safe."""

    @abstractmethod
    def close(self) -> None:
        """Nothing is answered any more; lists that wait are dropped, one that is computed is not interrupted. Thread-safe."""


class ProcessPool(ABC):
    """Processes that functions can be sent to."""

    __slots__ = ()

    @abstractmethod
    def connect(self, function: RemoteFunction, answered: Callable[[Answer], object], /) -> RemoteCalls:
        """Send ``function`` to one of the processes; ``answered`` is called on a thread of the pool, serially.

        TypeError for a function that cannot be sent, RuntimeError after :meth:`shutdown`.
        """

    @abstractmethod
    def shutdown(self, timeout: float | None = 5.0) -> bool:
        """End the processes, whatever they compute, and wait up to ``timeout`` seconds; True when they have ended."""

"""The contract of schedulers and workers, and the registry that finds them by name.

A :class:`Scheduler` is a place where work can run; a :class:`Worker` is one serial queue of it: what is scheduled on a worker
runs one action after the other, in order of due time. Backends are plugins (entry-point group ``rx``); rx_core has none of
its own, so that asking for one that is not installed can say which package to install.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, final

from rx_core import _hooks
from rx_core._errors import SchedulerNotFoundError

if TYPE_CHECKING:
    from rx_core._protocols import Disposable

Action = Callable[[], object]

#: Which distribution brings which scheduler, for the message when it is missing.
_KNOWN_PROVIDERS: Mapping[str, str] = {
    "immediate": "rx-schedulers",
    "trampoline": "rx-schedulers",
    "single": "rx-schedulers",
    "computation": "rx-schedulers",
    "io": "rx-schedulers",
    "new_thread": "rx-schedulers",
    "trio": "rx-trio",
    "asyncio": "rx-asyncio",
    "virtual": "rx-testing",
}


class Worker(ABC):
    """One serial queue of work of a scheduler.

    Actions run one at a time, by due time and then in the order they were scheduled. Disposing the worker drops what has not
    started; scheduling on a disposed worker returns a disposed Disposable and runs nothing.
    """

    __slots__ = ()

    #: Items a run may deliver in one go before it schedules itself again; None: as many as there are. Cooperative backends
    #: (an event loop) set it, so that a long stream does not starve their other tasks.
    quantum: ClassVar[int | None] = None

    @abstractmethod
    def schedule(self, action: Action, /, delay: float = 0.0) -> Disposable:
        """Run ``action`` after ``delay`` seconds; the Disposable prevents it while it has not started. Thread-safe.

        ``DISPOSED`` says that it is not taken and never runs: the worker was disposed, or its scheduler shut down. So does an
        exception. An operator then ends with an error.
        """

    @abstractmethod
    def now(self) -> float:
        """Seconds on this scheduler's monotonic clock (virtual in tests)."""

    @abstractmethod
    def dispose(self) -> None:
        """Drop waiting actions and give the thread back. Idempotent, thread-safe; a running action is not interrupted."""

    @property
    @abstractmethod
    def is_disposed(self) -> bool: ...


class Scheduler(ABC):
    """A place where work can run. Thread-safe."""

    __slots__ = ()

    @abstractmethod
    def create_worker(self) -> Worker:
        """A new worker. Raises RuntimeError after :meth:`shutdown`."""

    @abstractmethod
    def now(self) -> float:
        """Seconds on this scheduler's monotonic clock."""

    @abstractmethod
    def shutdown(self, timeout: float | None = 5.0) -> bool:
        """Stop all workers and wait up to ``timeout`` seconds for their threads to end; True when they did. Idempotent."""

    def schedule_direct(self, action: Action, /, delay: float = 0.0) -> Disposable:
        """Run one action on a worker of its own, which is given back afterwards."""
        if not callable(action):
            raise not_an_action(action)
        worker = self.create_worker()

        def run() -> None:
            try:
                action()
            finally:
                worker.dispose()

        return worker.schedule(run, delay)


@final
class SchedulerRegistry:
    """Schedulers by name. Factories come from plugins; what a factory makes for a name is made once and shared."""

    __slots__ = ("_factories", "_made")

    def __init__(self) -> None:
        self._factories: dict[str, Callable[[], Scheduler]] = {}
        self._made: dict[tuple[str, Callable[[], Scheduler]], Scheduler] = {}

    def register(self, name: str, factory: Callable[[], Scheduler]) -> None:
        """Offer a scheduler under ``name``; the last registration wins.

        What a factory has made is kept: registered again, after another one, it brings its scheduler back.
        """
        self._factories[name] = factory

    def unregister(self, name: str) -> None:
        """Offer nothing under ``name`` any more and forget what was made for it; it is not shut down."""
        self._factories.pop(name, None)
        for key in list(self._made):
            if key[0] == name:
                self._made.pop(key, None)

    def names(self) -> list[str]:
        return sorted(self._factories)

    def get(self, name: str) -> Scheduler:
        """The scheduler called ``name``. Raises SchedulerNotFoundError, naming the package to install.

        What its factory raises comes with a note that names the factory; TypeError if it makes something else.
        """
        factory = self._factories.get(name)
        if factory is None:
            raise SchedulerNotFoundError(name, self.names(), _KNOWN_PROVIDERS.get(name))
        made = self._made.get((name, factory))
        if made is None:
            made = self._made.setdefault((name, factory), _make(name, factory))  # two threads asking at once share one
        return made


def _make(name: str, factory: Callable[[], Scheduler]) -> Scheduler:
    asked = f"{factory!r}, which a plugin offers for scheduler({name!r})"
    try:
        made = factory()
    except Exception as error:
        error.add_note(f"raised by {asked}")
        raise
    if not isinstance(made, Scheduler):
        raise TypeError(
            f"{asked}, has to return a Scheduler, not {made!r}.\n"
            f"  Right:  def rx_schedulers(): return {{{name!r}: MyScheduler}}, where MyScheduler derives from rx_core.Scheduler"
        )
    return made


registry = SchedulerRegistry()


def scheduler(name: str, /) -> Scheduler:
    """The shared scheduler called ``name``, from whichever installed package provides it.

    Raises SchedulerNotFoundError (a LookupError) that names the package to install.
    """
    _hooks.ensure_loaded()
    return registry.get(name)


def current_scheduler() -> Scheduler | None:
    """The scheduler of the event loop that runs on this thread, of asyncio, trio or a plugin's; None where none does.

    Its workers run their actions in that loop, by that loop's clock. Time operators take it when they are given no scheduler.
    """
    _hooks.ensure_loaded()
    find = _hooks.current_scheduler
    found = None if find is None else find()
    if found is not None and not isinstance(found, Scheduler):
        raise TypeError(f"an rx_current_scheduler hook returned {found!r}, which is no Scheduler")
    return found


def not_an_action(action: object) -> TypeError:
    """For a worker that wraps what it hands on: it has to look first."""
    return TypeError(
        f"schedule() expected a function without arguments, got {action!r}.\n"
        f"  Wrong:  worker.schedule(f(x))\n  Right:  worker.schedule(lambda: f(x))"
    )

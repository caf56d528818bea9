"""What the shared parts ask of an async library: one event loop, its tasks, and how they are woken and cancelled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from types import TracebackType
    from typing import Self

A = TypeVar("A")
T = TypeVar("T")


class Wakeup(Protocol):
    """One task waits for it, and any thread wakes that task."""

    #: Woken, and the task has not looked yet. Reading it spares a call of :meth:`wake` on hot paths.
    woken: bool

    def wake(self) -> None:
        """Wake the waiting task, or let the next :meth:`wait` return at once. Thread-safe; nothing when the loop has ended."""

    async def wait(self) -> None:
        """Return once woken since the last wait. Always a checkpoint; when it is cancelled no wake-up is lost."""

    async def pause(self) -> None:
        """Let other tasks go on, for the caller to look once more before it parks."""


class Scope(Protocol):
    """A cancel scope: what a task does inside its block can be cancelled, and that cancellation ends with the block."""

    def cancel(self) -> None:
        """Cancel what runs inside, or what will. Called in the loop."""

    def __enter__(self) -> object: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> bool | None: ...


class Event(Protocol):
    """Something that happens once."""

    def is_set(self) -> bool: ...

    def set(self) -> object: ...

    async def wait(self) -> object: ...


class Crew(Protocol):
    """Tasks that end with the block in which they were started: leaving it waits for them, failing there cancels them."""

    def start(self, function: Callable[..., Coroutine[Any, Any, None]], /, *arguments: Any) -> None:
        """Start a task. It handles its own failures; one that does not :meth:`leave` is kept until the block ends."""

    def leave(self) -> None:
        """The task that runs now has nothing more to do."""

    def cancel(self) -> None:
        """Cancel all of them."""

    @property
    def is_cancelled(self) -> bool:
        """Whether they were cancelled from here. A task that is cancelled otherwise was cancelled from elsewhere."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> bool | None: ...


class Ending(Protocol):
    """A subscription with a task of its own, which takes its time to end."""

    @property
    def is_cancelled(self) -> bool:
        """Whether it ends, or has ended."""

    async def ended(self) -> None:
        """Return when it has ended."""

    def hurry(self) -> None:
        """The task that waits was cancelled: cancel what is still awaited in there. Called in the loop."""


class Loop(ABC):
    """One event loop of an async library. What is not said to be for any thread is called in that loop."""

    __slots__ = ()

    #: The package that users call, for messages.
    package: ClassVar[str]
    #: What owns tasks in that library: "nursery".
    owner: ClassVar[str]
    #: How its tasks are cancelled. Never a signal, and never kept from going on.
    cancelled: ClassVar[type[BaseException]]
    #: What a second task gets that wants to wait where one waits already.
    busy: ClassVar[type[Exception]]

    @classmethod
    @abstractmethod
    def here(cls, call: str, /) -> Self:
        """The loop that runs on this thread; RuntimeError, naming ``call``, when there is none."""

    @classmethod
    @abstractmethod
    def find(cls) -> Self | None:
        """The loop that runs on this thread, if there is one."""

    @classmethod
    @abstractmethod
    def run(cls, main: Callable[[Any], Coroutine[Any, Any, None]], /) -> None:
        """Run a new loop on this thread, which has none, until ``main(owner)`` has returned; then its tasks are cancelled.

        ``owner`` owns tasks, see :meth:`spawn`.
        """

    @abstractmethod
    def is_here(self) -> bool:
        """Whether this code is run by this loop, now. Any thread."""

    @abstractmethod
    def call(self, function: Callable[[A], object], argument: A, /) -> bool:
        """Call ``function(argument)`` in the loop: at once when we are there, soon otherwise; False when it has ended.

        Any thread.
        """

    @abstractmethod
    def task(self) -> Hashable | None:
        """The task that runs now; None on other threads and outside of tasks. Any thread."""

    @abstractmethod
    def wakeup(self) -> Wakeup: ...

    @abstractmethod
    def scope(self) -> Scope: ...

    @abstractmethod
    def event(self) -> Event: ...

    @abstractmethod
    def turns(self) -> AbstractAsyncContextManager[object]:
        """A lock for tasks that take turns."""

    @abstractmethod
    def crew(self) -> Crew: ...

    @abstractmethod
    def spawn(
        self, owner: Any, function: Callable[[], Coroutine[Any, Any, None]], lost: Callable[[], None], origin: object, /
    ) -> None:
        """Start ``function`` as a task that ``owner`` owns. RuntimeError when it is closed.

        ``lost`` is called when the task has ended, whether or not it was ever begun: a library may give up a task before its
        first step. What it raises is for the owner; without one it is dropped, as from ``origin``.
        """

    @abstractmethod
    async def checkpoint(self) -> None:
        """Let other tasks go on, and be cancelled."""

    @abstractmethod
    async def outlast(self, endings: Sequence[Ending], /) -> None:
        """Wait for all of them to end, also in a task that was cancelled."""

    @abstractmethod
    async def limited(self, seconds: float, awaitable: Awaitable[T], late: Callable[[], Exception], /) -> T:
        """The result of ``awaitable``, which is cancelled after ``seconds``; then what ``late`` makes is raised."""

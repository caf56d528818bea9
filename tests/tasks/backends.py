"""What the contract of streams in tasks asks of an async library to be tested in it: a clock that jumps, tasks, threads."""

from __future__ import annotations

import asyncio
import selectors
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

import rx_asyncio
import rx_trio
from rx_asyncio._loop import AsyncioLoop
from rx_asyncio._scope import Scope
from rx_core.tasks import Loop
from rx_trio._loop import TrioLoop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

T = TypeVar("T")


class Owner(ABC):
    """A nursery or a TaskGroup."""

    owner: Any
    #: How it is given to a source.
    keyword: dict[str, Any]

    @abstractmethod
    def start(self, function: Callable[..., Awaitable[object]], *arguments: Any) -> None: ...

    @abstractmethod
    def cancel(self) -> None: ...

    @property
    @abstractmethod
    def tasks(self) -> int:
        """How many of its tasks have not ended."""


class Within:
    """A block that is cancelled after a time, or from inside."""

    cancelled_caught = False

    def __init__(self, cancel: Callable[[], object]) -> None:
        self.cancel = cancel


class Backend(ABC):
    name: str
    #: The package under test.
    rx: Any
    loop: type[Loop]
    cancelled: type[BaseException]
    busy: type[Exception]
    #: What it says where no loop runs.
    absent: str

    @abstractmethod
    def run(self, main: Callable[[], Awaitable[T]]) -> T:
        """Run in a loop whose clock jumps to the next instant when nothing else is to be done."""

    @abstractmethod
    def run_real(self, main: Callable[[], Awaitable[T]]) -> T:
        """Run by the clock on the wall; for threads."""

    @abstractmethod
    def now(self) -> float: ...

    @abstractmethod
    async def sleep(self, seconds: float) -> None: ...

    @abstractmethod
    async def settle(self) -> None:
        """Return when all other tasks wait."""

    @abstractmethod
    async def checkpoint(self) -> None: ...

    @abstractmethod
    async def thread(self, function: Callable[..., T], *arguments: Any) -> T: ...

    @abstractmethod
    def owner(self) -> AbstractAsyncContextManager[Owner]: ...

    @abstractmethod
    def within(self, seconds: float) -> Any:
        """``with`` block that is cancelled after ``seconds``."""

    @abstractmethod
    def scope(self) -> Any:
        """A cancel scope that is never cancelled, to be held open."""

    @abstractmethod
    def shielded(self) -> Any:
        """``with`` block in which a cancelled task may still wait."""

    @abstractmethod
    def here(self) -> object:
        """The loop that runs this code; None elsewhere."""

    @abstractmethod
    def jump(self, seconds: float) -> None:
        """Move the clock on by so much."""

    @abstractmethod
    def counted(self, wakeup: Any) -> list[object]:
        """Count how often the wake-up calls its loop from now on."""

    async def forever(self) -> None:
        await self.sleep(1e9)

    def __str__(self) -> str:
        return self.name


# trio -----------------------------------------------------------------------------------------------------------------


class Nursery(Owner):
    def __init__(self, nursery: trio.Nursery) -> None:
        self.owner = nursery
        self.keyword = {"nursery": nursery}

    def start(self, function: Callable[..., Awaitable[object]], *arguments: Any) -> None:
        self.owner.start_soon(function, *arguments)

    def cancel(self) -> None:
        self.owner.cancel_scope.cancel()

    @property
    def tasks(self) -> int:
        return len(self.owner.child_tasks)


class Trio(Backend):
    name = "trio"
    rx = rx_trio
    loop = TrioLoop
    cancelled = trio.Cancelled
    busy = trio.BusyResourceError
    absent = "no trio run is active"

    def run(self, main: Callable[[], Awaitable[T]]) -> T:
        return trio.run(main, clock=MockClock(autojump_threshold=0))

    def run_real(self, main: Callable[[], Awaitable[T]]) -> T:
        return trio.run(main)

    def now(self) -> float:
        return trio.current_time()

    async def sleep(self, seconds: float) -> None:
        await trio.sleep(seconds)

    async def settle(self) -> None:
        await wait_all_tasks_blocked()

    async def checkpoint(self) -> None:
        await trio.lowlevel.checkpoint()

    async def thread(self, function: Callable[..., T], *arguments: Any) -> T:
        return await trio.to_thread.run_sync(function, *arguments)

    @asynccontextmanager
    async def owner(self) -> AsyncIterator[Owner]:
        async with trio.open_nursery() as nursery:
            yield Nursery(nursery)

    def scope(self) -> Any:
        return trio.CancelScope()

    def shielded(self) -> Any:
        return trio.CancelScope(shield=True)

    def here(self) -> object:
        return trio.lowlevel.current_trio_token() if trio.lowlevel.in_trio_run() else None

    def counted(self, wakeup: Any) -> list[object]:
        token, calls = wakeup.token, list[object]()

        class Counting:
            def run_sync_soon(self, function: Callable[..., object], *arguments: object) -> None:
                calls.append(function)
                token.run_sync_soon(function, *arguments)

        wakeup.token = Counting()
        return calls

    def jump(self, seconds: float) -> None:
        clock = trio.lowlevel.current_clock()
        assert isinstance(clock, MockClock)
        clock.jump(seconds)

    @contextmanager
    def within(self, seconds: float) -> Iterator[Within]:
        with trio.move_on_after(seconds) as scope:
            within = Within(scope.cancel)
            yield within
        within.cancelled_caught = scope.cancelled_caught


# asyncio --------------------------------------------------------------------------------------------------------------


class _JumpingSelector(selectors.DefaultSelector):
    """Where a loop would wait for its next timer, the clock is moved there."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if found or timeout is None:
            return found or super().select(None)  # without timers only another thread can go on
        self.seconds += max(timeout, 0.0)
        return found


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop on virtual time. Only where no other thread takes part."""

    def __init__(self) -> None:
        self.clock = _JumpingSelector()
        super().__init__(self.clock)

    def time(self) -> float:
        return self.clock.seconds

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        await super().shutdown_default_executor()  # since 3.12 there is a limit, and its threads end by another clock


class Group(Owner):
    def __init__(self, group: asyncio.TaskGroup, scope: Scope) -> None:
        self.owner = group
        self.keyword = {"group": group}
        self._scope = scope

    def start(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.owner.create_task(function(*arguments))

    def cancel(self) -> None:
        self._scope.cancel()

    @property
    def tasks(self) -> int:
        return sum(not task.done() for task in self.owner._tasks)


class Asyncio(Backend):
    name = "asyncio"
    rx = rx_asyncio
    loop = AsyncioLoop
    cancelled = asyncio.CancelledError
    busy = RuntimeError
    absent = "no event loop runs"

    def run(self, main: Callable[[], Awaitable[T]]) -> T:
        return _finished(main, JumpingLoop)

    def run_real(self, main: Callable[[], Awaitable[T]]) -> T:
        return _finished(main, asyncio.new_event_loop)

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def settle(self) -> None:
        loop: Any = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(0)
            if not loop._ready:
                await asyncio.sleep(0)  # what was found by looking at sockets
                if not loop._ready:
                    return

    async def checkpoint(self) -> None:
        await asyncio.sleep(0)

    async def thread(self, function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.to_thread(function, *arguments)

    @asynccontextmanager
    async def owner(self) -> AsyncIterator[Owner]:
        with Scope() as scope:
            async with asyncio.TaskGroup() as group:
                yield Group(group, scope)

    def scope(self) -> Any:
        return Scope()

    def shielded(self) -> Any:
        return nullcontext()  # one that was cancelled may, until it is cancelled again

    def here(self) -> object:
        return asyncio._get_running_loop()

    def counted(self, wakeup: Any) -> list[object]:
        loop, calls = wakeup.loop, list[object]()

        class Counting:
            def call_soon_threadsafe(self, function: Callable[..., object], *arguments: object) -> None:
                calls.append(function)
                loop.call_soon_threadsafe(function, *arguments)

            def __getattr__(self, name: str) -> Any:
                return getattr(loop, name)

        wakeup.loop = Counting()
        return calls

    def jump(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, JumpingLoop)
        loop.clock.seconds += seconds

    @contextmanager
    def within(self, seconds: float) -> Iterator[Within]:
        scope = Scope()
        within = Within(scope.cancel)
        timer = asyncio.get_running_loop().call_later(seconds, scope.cancel)
        try:
            with scope:
                within.cancelled_caught = True
                yield within
                within.cancelled_caught = False
        finally:
            timer.cancel()


def _finished(main: Callable[[], Awaitable[T]], make: Callable[[], asyncio.AbstractEventLoop]) -> T:
    """Run ``main`` as a program does, and see that it leaves no task behind."""

    async def checked() -> T:
        result = await main()
        await asyncio.sleep(0)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not others, f"left behind: {others}"
        return result

    with asyncio.Runner(loop_factory=make) as runner:
        return runner.run(checked())


BACKENDS = (Trio(), Asyncio())

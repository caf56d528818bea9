"""The run of a task that iterates: what a waiting thread is in rx_core, a parked trio task is here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, final

import trio

from rx_core import Run
from rx_trio._bell import Bell

if TYPE_CHECKING:
    from trio.lowlevel import TrioToken


class Ending(Protocol):
    """Something asynchronous that was opened in a run and takes its time to end."""

    async def ended(self) -> None:
        """Return when it has ended."""

    def hurry(self) -> None:
        """Whoever waits was cancelled: cancel what is still awaited in there. Called inside trio."""


@final
class TrioRun(Run):
    """Polls a pipeline's generator in a trio task. Waking is thread-safe; everything else belongs to that task.

    ``demand`` is what a source that must be asked is asked for at a time.
    """

    __slots__ = ("_demand", "_endings", "bell", "cancelled")

    def __init__(self, demand: int, call: str) -> None:
        super().__init__()
        self.cancelled = False
        self.bell = Bell(call)
        self._demand = demand
        self._endings: dict[Ending, None] = {}

    @property
    def root(self) -> TrioRun:
        return self

    @property
    def demand(self) -> int:
        return self._demand

    @property
    def token(self) -> TrioToken:
        return self.bell.token

    def wake(self) -> None:
        bell = self.bell
        if not bell.rung:
            bell.ring()

    poke = wake

    def await_end_of(self, ending: Ending, /) -> None:
        """Whoever leaves this run waits for ``ending``, unless :meth:`forget` came before."""
        self._endings[ending] = None

    def forget(self, ending: Ending, /) -> None:
        self._endings.pop(ending, None)

    def end(self) -> None:
        """Cancel what was opened. Returns at once; the finalizers of asynchronous sources are waited for by
        :meth:`ended`.
        """
        self.cancelled = True
        self.release()
        self.finalize()

    async def ended(self) -> None:
        """Wait for the asynchronous sources that :meth:`end` cancelled. Not a checkpoint when there are none."""
        try:
            await self._wait_for_all()
        except trio.Cancelled:
            for ending in list(self._endings):
                ending.hurry()
            with trio.CancelScope(shield=True):
                await self._wait_for_all()
            raise

    async def _wait_for_all(self) -> None:
        while self._endings:
            ending = next(iter(self._endings))
            await ending.ended()
            self.forget(ending)

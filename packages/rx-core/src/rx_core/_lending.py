"""Whose worker a run works on, and how long that is kept.

What comes after observe_on comes on its worker, also where a run between has none of its own: one that was given none follows its
source, which lends it the worker that its signals come on, and lends it further in turn. Who needs it last disposes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rx_core._run import Run

if TYPE_CHECKING:
    from rx_core._run import Lender
    from rx_core._schedulers import Worker


class LendingRun(Run):
    """A run with a worker of its own, or that of its source, or none.

    Its attributes, and those of the classes between, are set by :class:`~rx_core._drain.Drain`, all in one place: one is made for
    each short stream, and a call for each class would show there.
    """

    __slots__ = ("_done", "_lender", "_lends", "_worker", "follows")

    #: It has signalled its end, or was cancelled and is closed.
    _done: bool

    _worker: Worker | None
    #: Where it has none: whether its source has one to lend, None where only the run will tell; and the source that does.
    follows: bool | None
    _lender: Lender | None
    #: Who needs its worker, once it was lent: who takes out the 0 is the last.
    _lends: list[int] | None

    @property
    def worker(self) -> Worker | None:
        return self._worker

    @property
    def threaded(self) -> bool:
        return self._worker is not None

    def follow(self, lender: Lender) -> None:
        if self.follows is not False and self._lender is None and not self._done and lender.rx_lend():
            self._lender = lender

    @property
    def _rx_lender(self) -> LendingRun:
        return self

    def rx_lend(self) -> bool:
        # Who follows knows its worker only when its own source is subscribed, which is after this.
        if self._worker is None and not self.follows:
            return False
        self._lends = [0, 1]
        return True

    def rx_worker(self) -> Worker | None:
        lender = self._lender
        return self._worker if lender is None else lender.rx_worker()

    def rx_give_back(self) -> None:
        self._retire()

    def _retire(self) -> None:
        if self._lends is not None:
            try:
                if self._lends.pop():
                    return  # the other one has work to do there
            except IndexError:
                return
        if self._worker is not None:
            self._worker.dispose()
        elif self._lender is not None:
            self._lender.rx_give_back()

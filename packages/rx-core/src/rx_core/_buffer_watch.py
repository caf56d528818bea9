"""Counting what waits: the peaks of the buffers that were given up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rx_core._inbox import Inbox

#: Called with every inbox that is given up; see :class:`BufferWatch`. None: nobody counts.
watch: Callable[[Inbox[Any]], object] | None = None


class BufferWatch:
    """How many items ever waited in one buffer, over all runs that ended inside a ``with`` block, in any thread of the process.

    Costs nothing per item: an inbox counts its own peak anyway and reports it when it is given up.
    """

    __slots__ = ("_before", "peaks")

    def __init__(self) -> None:
        #: The peak of each buffer that was used, in the order they were given up.
        self.peaks: list[int] = []
        self._before: Callable[[Inbox[Any]], object] | None = None

    @property
    def peak(self) -> int:
        """The most items that waited in one buffer; 0 when no buffer was needed."""
        return max(self.peaks, default=0)

    def _report(self, inbox: Inbox[Any]) -> None:
        self.peaks.append(inbox.peak)
        if self._before is not None:
            self._before(inbox)

    def __enter__(self) -> BufferWatch:
        global watch
        self._before, watch = watch, self._report
        return self

    def __exit__(self, *_: object) -> None:
        global watch
        watch = self._before

"""Counting what waits: the peaks of the buffers that were given up."""

from __future__ import annotations

from collections.abc import Callable

#: Called with the peak of every buffer that is given up; see :class:`BufferWatch`. None: nothing watches.
watch: Callable[[int], object] | None = None


class BufferWatch:
    """How many items ever waited in one buffer, over all runs that ended inside a ``with`` block, in any thread of the process.

    Costs nothing per item: a buffer counts its own peak anyway and reports it when it is given up.
    """

    __slots__ = ("_before", "peaks")

    def __init__(self) -> None:
        #: The peak of each buffer that was used, in the order they were given up.
        self.peaks: list[int] = []
        self._before: Callable[[int], object] | None = None

    @property
    def peak(self) -> int:
        """The most items that waited in one buffer; 0 when no buffer was needed."""
        return max(self.peaks, default=0)

    def _report(self, peak: int) -> None:
        self.peaks.append(peak)
        if self._before is not None:
            self._before(peak)

    def __enter__(self) -> BufferWatch:
        global watch
        self._before, watch = watch, self._report
        return self

    def __exit__(self, *_: object) -> None:
        global watch
        watch = self._before

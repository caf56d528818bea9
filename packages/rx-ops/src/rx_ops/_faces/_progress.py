"""A bar that tells how far a stream is."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rx_ops import operators
from rx_ops._faces._core import FlowableCore

if TYPE_CHECKING:
    from rich.progress import Progress

    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableProgress(FlowableCore[T_co]):
    """A bar that tells how far a stream is."""

    __slots__ = ()

    def progress(
        self, total: int | None = None, *, description: str | None = None, bar: Progress | None = None
    ) -> Flowable[T_co]:
        """Draws a progress bar of the items that pass, and changes nothing.

        ``total`` is how many are expected; without it the bar has no end, but a count and a rate. ``description`` stands in
        front of it, or what ``named`` says there. Each subscription has its line. They are drawn on standard error, by one
        display for the process, from the first such subscription until the last is over; where that is no terminal, the last
        state is written. ``bar`` is a display of your own, started and stopped by you; it is told ten times a second at most,
        and at the end.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.
        Errors:  pass through; what the display raises goes to the error hook. ModuleNotFoundError at assembly where rich is not
                 installed (``rx-ops[rich]``), TypeError for wrong arguments.
        Memory:  one line of the display, until all are over.   Thread: the source's; rich draws on one of its own.
        Fusion:  coordinating; items go on without a queue.
        Source:  tqdm.
        """
        settings = operators.progress_settings(total, description, bar, self._run_name)
        return self._coordinate(operators.Progress, settings, shown=f"progress({'' if total is None else total})")

"""Marks by which a running stream, and the way of an error, are recognised."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rx_ops import operators, stages
from rx_ops._faces._core import FlowableCore, check_name

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableNamed(FlowableCore[T_co]):
    """Marks by which a running stream, and the way of an error, are recognised."""

    __slots__ = ()

    def named(self, name: str) -> Flowable[T_co]:
        """Gives the stream a name, by which ``rx_core.runs()`` and metrics show it, and changes nothing.

        ::  --1--2--3|  -->  --1--2--3|

        Of several names in a row the one nearest to the subscriber counts for a run.

        Demand:  passes through.   Errors: pass through; TypeError at assembly for what is no text.
        Memory:  none.   Thread: the source's.   Fusion: stage, of which nothing is left in a loop but an assignment.
        Source:  Reactor ``name``.
        """
        return self._then(stages.named, check_name(name))

    def checkpoint(self, description: str | None = None) -> Flowable[T_co]:
        """Marks an error that passes: a note on it has ``description`` and the line that this stands at.

        ::  --1--2--#  -->  --1--2--#

        Demand:  passes through.   Errors: pass through, with one note more; TypeError at assembly for what is no text.
        Memory:  none.   Thread: that of the error.   Fusion: coordinating; items go on without a queue.
        Source:  Reactor ``checkpoint``. The line is always kept: it is looked for once, at assembly.
        """
        note = operators.checkpoint_note(description)
        shown = "checkpoint()" if description is None else f"checkpoint({description!r})"
        return self._coordinate(operators.Checkpoint, note, shown=shown)

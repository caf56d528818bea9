"""What stages that give nothing before the end ask of a source that has to be asked: all of it, and not an item at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rx_core import DEMAND, UNBOUNDED, Side

if TYPE_CHECKING:
    from rx_core import Items, Run
    from rx_fusion._heads import Head
    from rx_fusion._shapes import Shape


class _Whole(Side[Any]):
    """As soon as anything is wanted, everything is. Until the end the stages keep what they need of it, and no more."""

    __slots__ = ()

    @property
    def demand(self) -> int:
        return UNBOUNDED if self._parent.demand else 0

    @property
    def outstanding(self) -> int:
        return UNBOUNDED if self._parent.outstanding else 0


def opened_for(head: Head, shape: Shape, run: Run, window: int) -> Items[Any]:
    """Start the source that ``shape`` reads. One with a window or a worker of its own asks in batches anyway."""
    if shape.takes_all and window == DEMAND and head.scheduler is None and run.demand != UNBOUNDED:
        run = _Whole(run)
    return head.open(run, window)

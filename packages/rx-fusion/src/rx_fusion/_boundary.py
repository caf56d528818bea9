"""A source that never waits, behind a boundary: the boundary's worker iterates it, and nothing on the way there ever waits.

What a boundary opens may have to wait, so what follows is written for that: a look at each item, whether it is one. When all that
the boundary does is to relay a source that can simply be iterated, the run is one of that source, on a worker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rx_core import as_signal
from rx_core.streams import EXACT
from rx_fusion._forms import Feed
from rx_fusion._pipeline import set_hint
from rx_fusion._shapes import PULL_DRAINED, PULL_INSIDE

if TYPE_CHECKING:
    from rx_core import Items
    from rx_fusion._heads import Head
    from rx_fusion._offers import OfferingDrain
    from rx_fusion._shapes import Shape

    Resolved = tuple[Head, Shape, tuple[Any, ...]]


def iterated(below: Resolved, above: Resolved, drain: OfferingDrain[Any]) -> Items[Any]:
    """The items of the source ``below`` a boundary through the stages ``above`` it."""
    head, shape, args = below
    try:
        items = head.open(drain, 0)
    except (Exception, GeneratorExit) as error:
        items = drain.failing(as_signal(error))
    if type(items) in EXACT and shape.ends_with_source and above[1].ends_with_source:
        set_hint(drain, items, head, above[1] or shape)
    if not above[1]:
        return shape.pull(items, drain, head, args, PULL_DRAINED[head.feed])
    made = shape.pull(items, drain, head, args, PULL_INSIDE[head.feed])
    head, shape, args = above
    return shape.pull(made, drain, head, args, PULL_DRAINED[Feed.CHECKED])

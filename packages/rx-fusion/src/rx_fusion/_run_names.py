"""The name that ``named`` gives a pipeline, for who looks at its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rx_fusion._described import Assembled


def run_name(head: Any, shape: Any, args: Any) -> str | None:
    """What the ``named`` stage nearest to the end says, of these or of what they read from in a straight line."""
    while True:
        at = len(args)
        for stage in reversed(shape.stages):
            at -= len(stage.parameters)
            if stage.name == "named":
                found: str = args[at]
                return found
        upstream: Any = getattr(head, "upstream", ())
        if not hasattr(upstream, "__len__") or len(upstream) != 1 or not hasattr(upstream[0], "_head"):
            return None
        source: Assembled = upstream[0]
        head, shape, args = source._head, source._shape, source._args

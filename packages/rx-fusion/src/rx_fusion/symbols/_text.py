"""An expression as text, for messages and plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rx_fusion.symbols._nodes import Node


def written(node: Node) -> str:
    """The expression as Python text, with Python's precedence. Long constants are shortened."""
    from rx_fusion.symbols._writing import shown  # brings ast: only who compiles or looks needs it

    return shown(node)

"""With fusion and without: each test here runs in both modes."""

from __future__ import annotations

from typing import Final

FUSED: Final = "fused"
UNFUSED: Final = "unfused"
MODES: Final = (FUSED, UNFUSED)

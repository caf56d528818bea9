"""Which operators Single, Maybe and Completable have: all parts of the table."""

from __future__ import annotations

from typing import Final

from tools.one_item import ends, items, signals, sources, times
from tools.one_item.rows import KINDS, Row

PARTS: Final = (sources.PART, items.PART, signals.PART, times.PART, ends.PART)
#: The rows of each type, in order.
ROWS: Final[dict[str, list[Row]]] = {kind: [row for part in PARTS for row in part.rows[kind]] for kind in KINDS}

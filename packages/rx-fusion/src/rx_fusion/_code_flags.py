"""What a code object's flags say, as in ``inspect``: importing that for five numbers costs 3 ms. A test compares them."""

from __future__ import annotations

from typing import Final

VARARGS: Final = 0x04
VARKEYWORDS: Final = 0x08
GENERATOR: Final = 0x20
COROUTINE: Final = 0x80
ASYNC_GENERATOR: Final = 0x200

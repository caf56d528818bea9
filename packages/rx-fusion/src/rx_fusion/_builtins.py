"""What is known of the iterators of built-in types."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Final

_MADE: Final[tuple[Iterable[Any], ...]] = (
    [], (), range(0), range(2**70), "", b"", {}, {}.values(), {}.items(), set(), deque(),
)  # fmt: skip
_WITHOUT_NONE: Final[tuple[Iterable[Any], ...]] = ("", "\xe9", b"", range(0), range(2**70), {}.items())

#: Their __length_hint__ is the exact number of items left, and their end runs nobody's code.
EXACT: Final = frozenset(type(iter(made)) for made in _MADE)

#: They cannot fail: nothing that they iterate can change meanwhile.
CONSTANT: Final = frozenset(type(iter(made)) for made in _MADE if isinstance(made, (tuple, range)))

#: Their items are never None.
NEVER_NONE: Final = frozenset(type(iter(made)) for made in _WITHOUT_NONE)

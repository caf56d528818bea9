"""What is measured: the same work by hand, with this library, and with its peers from PyPI."""

from __future__ import annotations

from collections.abc import Iterator

from bench._blocks import block_cases
from bench._chains import chain_cases
from bench._measure import Case


def cases(size: int) -> Iterator[Case]:
    """All cases, for ``size`` elements in the cheap ones."""
    yield from chain_cases(size)
    yield from block_cases(size // 4)

"""Switching fusion off: every operator then runs alone and talks to its neighbours through the protocol.

``RX_FUSION=off`` in the environment does it for the process, :func:`fusion_off` for a block, ``hide()`` at one place of one
pipeline. The switch is read when a pipeline is subscribed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_enabled = os.environ.get("RX_FUSION", "").lower() not in ("off", "0", "no", "false")


def fusion_enabled() -> bool:
    return _enabled


@contextmanager
def fusion_off() -> Iterator[None]:
    """No fusion for what is subscribed inside the block, in any thread of the process."""
    global _enabled
    before, _enabled = _enabled, False
    try:
        yield
    finally:
        _enabled = before

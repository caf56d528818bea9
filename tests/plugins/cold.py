"""Streams as they are in a program that is not hot yet: on CPython 3.11 other tests have made this one hot long ago."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from rx_fusion import _shapes
from rx_ops._faces import _plugged


@contextmanager
def cold() -> Iterator[None]:
    """Unknown names are looked for among the operators of plugins, whatever happens meanwhile."""
    with patch.object(_plugged._Plugged, "__getattr__", _plugged.look_for, create=True), patch.object(_shapes, "when_hot", []):
        yield

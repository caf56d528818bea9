"""Signals as items."""

from __future__ import annotations

from typing import TypeVar

from rx_core import Items, Run, Source
from rx_fusion import operator
from rx_ops._notification import Notification, OnComplete, OnError, OnNext
from rx_ops.coordination._errors import user_error

T = TypeVar("T")


@operator
def materialize(run: Run, source: Source[T]) -> Items[Notification[T]]:
    """Each signal as an item, the end included, which waits until it is wanted."""
    end: OnError | OnComplete = OnComplete()
    try:
        for item in source:
            yield None if item is None else OnNext(item)
    except Exception as raised:
        end = OnError(user_error(raised))
    run.poke()  # completion follows, and needs no demand
    yield end

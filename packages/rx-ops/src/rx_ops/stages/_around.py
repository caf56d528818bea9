"""Items that are signals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from rx_core import name_of
from rx_fusion import stage
from rx_ops._notification import Notification, OnComplete, OnError, OnNext

T = TypeVar("T")


@stage(later=True, keeps=())
def dematerialize(source: Iterable[Notification[T]], selector: Callable[[Any], Notification[T]] | None) -> Iterator[T]:
    for item in source:
        signal = item if selector is None else selector(item)
        if isinstance(signal, OnNext):
            yield signal.item
        elif isinstance(signal, OnComplete):
            return
        else:
            raise _error_of(signal, selector)


def _error_of(signal: object, selector: Callable[[Any], object] | None) -> Exception:
    if isinstance(signal, OnError):
        return signal.error
    who = "dematerialize()" if selector is None else f"dematerialize({name_of(selector)})"
    return TypeError(
        f"{who} needs notifications, got {signal!r}.\n"
        f"  Right:  OnNext(item), OnError(error) or OnComplete(); or .dematerialize(lambda item: ...) that makes one of it"
    )

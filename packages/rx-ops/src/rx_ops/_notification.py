"""Signals as values: what ``materialize`` makes and ``dematerialize`` reads.

::

    match notification:
        case OnNext(item): ...
        case OnError(error): ...
        case OnComplete(): ...
"""

from __future__ import annotations

from typing import Generic, TypeAlias, TypeVar, final

from rx_core import none_argument
from rx_core._values import Value, put

T_co = TypeVar("T_co", covariant=True)


@final
class OnNext(Value, Generic[T_co]):
    """An item came."""

    __slots__ = ("item",)
    item: T_co

    def __init__(self, item: T_co) -> None:
        if item is None:
            raise none_argument("OnNext(None)", "item")
        put(self, "item", item)


@final
class OnError(Value):
    """The stream failed."""

    __slots__ = ("error",)
    error: Exception

    def __init__(self, error: Exception) -> None:
        if not isinstance(error, Exception):
            raise TypeError(f"OnError({error!r}): an exception is needed, for example OnError(ValueError('...'))")
        put(self, "error", error)


@final
class OnComplete(Value):
    """The stream is complete."""

    __slots__ = ()


#: One signal of a stream.
Notification: TypeAlias = OnNext[T_co] | OnError | OnComplete

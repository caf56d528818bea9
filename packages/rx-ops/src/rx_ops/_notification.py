"""Signals as values: what ``materialize`` makes and ``dematerialize`` reads.

::

    match notification:
        case OnNext(item): ...
        case OnError(error): ...
        case OnComplete(): ...
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar, final

from rx_core import none_argument

T_co = TypeVar("T_co", covariant=True)


@final
@dataclass(frozen=True, slots=True)
class OnNext(Generic[T_co]):
    """An item came."""

    item: T_co

    def __post_init__(self) -> None:
        if self.item is None:
            raise none_argument("OnNext(None)", "item")


@final
@dataclass(frozen=True, slots=True)
class OnError:
    """The stream failed."""

    error: Exception

    def __post_init__(self) -> None:
        if not isinstance(self.error, Exception):
            raise TypeError(f"OnError({self.error!r}): an exception is needed, for example OnError(ValueError('...'))")


@final
@dataclass(frozen=True, slots=True)
class OnComplete:
    """The stream is complete."""


#: One signal of a stream.
Notification: TypeAlias = OnNext[T_co] | OnError | OnComplete

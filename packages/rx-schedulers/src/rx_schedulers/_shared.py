"""The schedulers that the whole process shares, one of each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from rx_core import Scheduler

S = TypeVar("S", bound=Scheduler)

_shared: dict[type[Scheduler], Scheduler] = {}


def share(kind: type[S], make: Callable[[], S]) -> S:
    """The one of this kind; made when it is first asked for."""
    made = _shared.get(kind)
    if made is None:
        made = _shared.setdefault(kind, make())  # two threads asking at once share one; the other has no threads yet
    return cast(S, made)


class Place(Scheduler):
    """A scheduler that is known by where it is, not by what is in it.

    A pipeline with a shared one in it can be pickled: where it is unpickled it runs on the one that is shared there.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        if _shared.get(type(self)) is not self:
            raise TypeError(
                f"a {type(self).__name__} of your own has threads or may have, and cannot be pickled or copied.\n"
                f"  One that every process has:  rx_schedulers.io()"
            )
        return share, (type(self), type(self))

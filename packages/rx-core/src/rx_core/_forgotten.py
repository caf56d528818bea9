"""In Python's development mode: a subscription that nothing can signal any more, or that runs when the program ends, warns.

Either is legal, and mostly a mistake: a subject that was not kept, a main thread that did not wait. The ResourceWarning
stands at the line that subscribed. Outside ``python -X dev`` nothing is watched.
"""

from __future__ import annotations

import atexit
import gc
import sys
import warnings
from typing import Final, Protocol
from weakref import WeakSet

WATCHING: Final = sys.flags.dev_mode

_DROPPED: Final = (
    "{!r} was dropped while it ran: nothing holds its source any more, so it never ends.\n"
    "  Keep the source as long as it is to signal, or end it:  with flow.subscribe(...): ..."
)
_AT_EXIT: Final = (
    "{!r} when the program ends, which does not wait for it.\n"
    "  Wait:  handle = flow.subscribe(...); handle.wait()"
)  # fmt: skip


class Watched(Protocol):
    """An observer."""

    @property
    def is_disposed(self) -> bool: ...

    def subscribed_at(self, place: tuple[str, int] | None) -> tuple[str, int] | None:
        """Keep the file and the line, and return what was kept."""


_watched: Final[WeakSet[Watched]] = WeakSet()


def watch(observer: Watched) -> None:
    """From now on, until it is collected or the program ends."""
    from rx_core.build_places import place_outside

    observer.subscribed_at(place_outside())
    _watched.add(observer)


def collected(observer: Watched) -> None:
    """Called while it is."""
    _warn(observer, _DROPPED)


def _warn(observer: Watched, message: str) -> None:
    place = observer.subscribed_at(None)
    if place is not None and not observer.is_disposed:
        warnings.warn_explicit(message.format(observer), ResourceWarning, *place)


def _exit() -> None:
    gc.collect()  # a subscription and its source mostly refer to each other: those are dropped ones
    for observer in list(_watched):
        _warn(observer, _AT_EXIT)


if WATCHING:
    atexit.register(_exit)

"""What is put off until a run is not busy: subscribing to what may send for long, and asking it for more.

What such a source sends meanwhile is to go on, so the thread that is held by it must not hold the run. A run has a queue of
actions for that (``_later``) and a list of what its threads are doing of it (``_nesting``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from rx_core._drain import Drain
    from rx_core._upstream import Upstream

#: How many actions that were put off may run inside one another.
_DEEPEST = 4


@final
class PutOff:
    """Subscribing or requesting, when the run is not busy."""

    __slots__ = ("_action", "_inbox")

    def __init__(self, inbox: Upstream[Any], action: Callable[[], object]) -> None:
        self._inbox = inbox
        self._action = action

    def __call__(self) -> None:
        self._action()

    @property
    def lets_others_in(self) -> bool:
        """Whether others need not wait until it returns: it has sent something and goes on. One that has ended or was cancelled
        returns in a moment, and what comes next begins after that."""
        inbox = self._inbox
        return bool(inbox.peak or inbox._spoke) and not (inbox._done or inbox._cancelled)


def do_later(drain: Drain[Any]) -> None:
    """Run what was put off. An action may push items, which come to this very loop again: a source that is being subscribed
    there has to be able to wait for others. But not without end: a chain of sources goes on in the outermost loop (RS 3.3),
    when the one before has returned.
    """
    me = threading.get_ident()
    nesting = drain._nesting
    inside = [action for ident, action in nesting if ident == me]
    if len(inside) == _DEEPEST or (inside and not getattr(inside[-1], "lets_others_in", True)):
        return
    while drain._later:
        try:
            action = drain._later.popleft()
        except IndexError:  # taken by another thread meanwhile
            return
        here = (me, action)
        nesting.append(here)
        try:
            action()
        finally:
            nesting.remove(here)
            drain._dirty = True  # who put it off goes on


def acts_here(drain: Drain[Any]) -> bool:
    """Whether this thread is doing something that was put off."""
    me = threading.get_ident()
    return any(ident == me for ident, _ in drain._nesting.copy())

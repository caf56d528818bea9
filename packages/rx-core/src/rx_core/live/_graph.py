"""The operators at work in this process, found among its objects, and how they hang together.

What takes part in a run refers to what it is subscribed to, as ``up`` or in the inputs that ``listening`` names. Any thread may
read that while others signal: what is read is what was so at some moment, and no two things are of the same moment.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from typing import Any, Final

from rx_core._demand import SettlesDemand
from rx_core._observers import CallbackObserver
from rx_core.streams.contracts import NULL_SUBSCRIBER
from rx_core.streams.inputs import Input
from rx_core.streams.op import Op
from rx_core.streams.waiting import Waiting

#: What a run is made of, besides the inputs of its operators.
_KINDS: Final = (SettlesDemand, CallbackObserver, Waiting)


def parts_at_work() -> list[Any]:
    """All that take part in a run that has begun and is not over."""
    kinds = _kinds()
    # not gc.get_objects(): its list would hold tuples that other threads are making just now, and ``tuple(iterator)`` fails with
    # a SystemError when something else refers to what it makes
    return [each for each in gc.get_referrers(*kinds) if type(each) in kinds and is_at_work(each)]


def _kinds() -> set[type]:
    """The classes of what a run is made of: each instance refers to its own."""
    found = set(_KINDS)
    left = list(_KINDS)
    while left:
        new: set[type] = set(left.pop().__subclasses__()) - found
        found |= new
        left += new
    return found


def is_at_work(part: Any) -> bool:
    """Whether it was subscribed, and nothing has ended it."""
    try:
        if isinstance(part, Op):
            return not part.stopped and part.down is not NULL_SUBSCRIBER
        if isinstance(part, CallbackObserver):
            return not part.is_disposed and part.up is not None
        if isinstance(part, Waiting):
            return not part.closed and not part.done and part.up is not None
        return not part.done and part.up is not None
    except AttributeError:  # another thread is making it just now; or it is no part of a run but called alike
        return False


def inputs_of(part: Any) -> list[Any]:
    """The inputs with which an operator listens; of one whose source has ended items may wait."""
    if not isinstance(part, Op):
        return []
    for _ in range(3):  # another thread may add one meanwhile
        try:
            entries: Iterable[Any] = list(part.open_inputs())
        except (RuntimeError, AttributeError):
            continue
        return [entry for entry in entries if isinstance(entry, Input) and not entry.closed]
    return []


def sources_of(part: Any) -> list[Any]:
    """The subscriptions that ``part`` has."""
    if isinstance(part, Op):
        return [entry.up for entry in inputs_of(part) if entry.up is not None and not entry.done]
    up = getattr(part, "up", None)
    return [] if up is None else [up]


def ends_of(parts: Iterable[Any]) -> Iterator[Any]:
    """Those to which nothing else is subscribed: one for each run."""
    parts = list(parts)
    below: set[int] = set()
    for part in parts:
        left = sources_of(part)
        while left:  # no recursion: chains are long
            source = left.pop()
            if id(source) not in below:
                below.add(id(source))
                left += sources_of(source)
    return (part for part in parts if id(part) not in below)

"""A value that several threads replace, each knowing what it replaced: compare-and-set for Python.

Python has no compare-and-set on an attribute, and ``x = f(x)`` loses updates on every build, with a GIL or without. One operation
that does decide atomically between several threads is ``dict.setdefault``: the first value put under a key is what all callers
get back. So every value lives in a small dict of its own, and to replace it is to link the next one to it; a thread whose link
was refused looks again. No thread ever waits for another, and a finalizer or a signal handler that runs in the middle of an
update may use the same reference, which with a Lock would be a deadlock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")

# A link of the chain: 0 is the value and never changes, 1 is the next link once there is one.
Link = dict[int, Any]


class AtomicReference(Generic[T]):
    """One value with ``compare_and_set``; "the same" means the same object.

    Thread: any, without blocking; an update is retried only when another one succeeded meanwhile.
    Memory: the value. A replaced value is free as soon as no thread is in the middle of reading it.
    Relies on: ``dict.setdefault``, ``dict.get`` and attribute writes being atomic one by one, as on every CPython build.
    Rule: the Java specs' AtomicReference, "Atomics, serialization, deferred actions".
    """

    __slots__ = ("_link",)

    def __init__(self, value: T, /) -> None:
        self._link: Link = {0: value}  # may lag behind: a hint where the end of the chain is

    def get(self) -> T:
        """The value now."""
        return last_link(self._link)[0]  # type: ignore[no-any-return]  # a link holds anything

    def set(self, value: T, /) -> None:
        """Replace the value, whatever it is."""
        self.get_and_set(value)

    def get_and_set(self, value: T, /) -> T:
        """Replace the value and return the one before. No other thread gets the same one."""
        while True:
            link = last_link(self._link)
            if self._append(link, value):
                return link[0]  # type: ignore[no-any-return]  # a link holds anything

    def compare_and_set(self, expected: T, value: T, /) -> bool:
        """Replace the value if it is ``expected``; False when it is something else."""
        while True:
            link = last_link(self._link)
            if link[0] is not expected:
                return False
            if self._append(link, value):
                return True

    def get_and_update(self, function: Callable[[T], T], /) -> T:
        """Replace the value ``x`` by ``function(x)`` and return ``x``.

        ``function`` may be called several times and must not do anything but compute. When it returns ``x`` itself nothing is
        replaced.
        """
        while True:
            link = last_link(self._link)
            old: T = link[0]
            new = function(old)
            if new is old or self._append(link, new):
                return old

    def _append(self, link: Link, value: object) -> bool:
        mine: Link = {0: value}
        if link.setdefault(1, mine) is not mine:  # the one atomic step
            return False
        advance(self, mine)
        return True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.get()!r}>"


def last_link(link: Link) -> Link:
    """The end of the chain that ``link`` is part of."""
    while (later := link.get(1)) is not None:
        link = later
    return link


def advance(reference: AtomicReference[Any], link: Link) -> None:
    """Point the hint at ``link``, and further if there is more meanwhile.

    Looking again after writing is what lets go of old values: of two threads that write the hint in the wrong order, the later
    one sees that its link is not the last.
    """
    reference._link = link
    while (later := link.get(1)) is not None:
        link = later
        reference._link = link

"""Collecting the errors of several sources until one moment, and none after it."""

from __future__ import annotations

from typing import Any, Final, final

from rx_core import _hooks
from rx_core._errors import composite
from rx_core.blocks._atomic import AtomicReference

#: A tuple no other tuple is; compared with ``is``.
_TERMINATED: Final[tuple[Any, ...]] = (object(),)


@final
class AtomicErrors:
    """Errors that arrive from any thread, given out together, once.

    ``add`` as long as it returns True; who signals the end calls ``terminate`` and gets them all. For an error that comes later
    ``add`` returns False and the caller reports it, or uses :meth:`add_or_drop`, which does.

    Thread: any. Memory: the errors, until terminated.
    Rule: RS 1.7; the specs' section "Atomic error management".
    """

    __slots__ = ("_errors",)

    def __init__(self) -> None:
        self._errors: AtomicReference[tuple[Exception, ...]] = AtomicReference(())

    def add(self, error: Exception, /) -> bool:
        """Keep ``error``; False when the end was signalled before. An error that is already there is not kept twice."""
        errors = self._errors
        while True:
            there = errors.get()
            if there is _TERMINATED:
                return False
            if any(each is error for each in there) or errors.compare_and_set(there, (*there, error)):
                return True

    def add_or_drop(self, error: Exception, origin: object = None, /) -> bool:
        """The same; an error that comes too late goes to the error hook."""
        if self.add(error):
            return True
        _hooks.dropped_late(error, origin)
        return False

    def terminate(self) -> Exception | None:
        """Take all errors and keep no further: None when there are none, one as itself, several as a CompositeException.

        Only the first call gets them.
        """
        errors = self._errors.get_and_set(_TERMINATED)
        if not errors or errors is _TERMINATED:
            return None
        return composite(errors)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to signal: no error yet, or all were taken."""
        errors = self._errors.get()
        return not errors or errors is _TERMINATED

    @property
    def is_terminated(self) -> bool:
        return self._errors.get() is _TERMINATED

    def __repr__(self) -> str:
        errors = self._errors.get()
        return f"<AtomicErrors {'terminated' if errors is _TERMINATED else list(errors)}>"

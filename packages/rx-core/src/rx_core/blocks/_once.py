"""Doing something once, whichever thread comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar, final

from rx_core import _hooks

if TYPE_CHECKING:
    from rx_core._protocols import CompletableObserver, Disposable, MaybeObserver

T = TypeVar("T")


@final
class Once:
    """Exactly one caller of :meth:`claim` gets True.

    Thread: any. Memory: one dict.
    Relies on: ``dict.pop`` being atomic.
    Rule: RS 1.7, 3.7; the specs' section "Once".
    """

    __slots__ = ("_token",)

    def __init__(self) -> None:
        self._token = {0: True}

    def claim(self) -> bool:
        """True for the first caller, False for all others."""
        return self._token.pop(0, None) is not None

    @property
    def is_claimed(self) -> bool:
        return not self._token

    def __repr__(self) -> str:
        return f"<Once {'claimed' if self.is_claimed else 'free'}>"


@final
class OnceObserver(Generic[T]):
    """Relays the first of on_success, on_error and on_complete to an observer of a Single, Maybe or Completable.

    For operators that listen to several sources and pick one of their signals. What comes later is dropped, and an error that
    comes later goes to the error hook.

    Thread: any for the three signals; on_subscribe comes before all of them.
    Memory: forgets the observer with the signal.
    Rule: RS 1.3, 1.7 for the types of at most one item; the specs' section "Once".
    """

    __slots__ = ("_cell",)

    def __init__(self, down: MaybeObserver[T], /) -> None:
        self._cell = {0: down}

    def on_subscribe(self, disposable: Disposable, /) -> None:
        """Pass it on; a source that has already answered has nothing to dispose for any more."""
        down = self._cell.get(0)
        if down is None:
            disposable.dispose()
        else:
            down.on_subscribe(disposable)

    def on_success(self, item: T, /) -> bool:
        """Relay ``item``; False when something else was relayed before."""
        down = self._cell.pop(0, None)
        if down is None:
            return False
        down.on_success(item)
        return True

    def on_error(self, error: Exception, /) -> bool:
        """Relay ``error``; False, and the error is reported, when something else was relayed before."""
        down: CompletableObserver | None = self._cell.pop(0, None)
        if down is None:
            _hooks.dropped_late(error, self)
            return False
        down.on_error(error)
        return True

    def on_complete(self) -> bool:
        """Relay completion; False when something else was relayed before."""
        down = self._cell.pop(0, None)
        if down is None:
            return False
        down.on_complete()
        return True

    @property
    def is_claimed(self) -> bool:
        return not self._cell

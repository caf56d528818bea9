"""Disposables: things that can be stopped once.

No lock is held while user code runs. Compound steps are one atomic operation of a dict or deque, so nothing here relies on the
GIL for more than CPython's own containers promise on every build.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self, final

if TYPE_CHECKING:
    from types import TracebackType

    from rx_core._protocols import Disposable as _Disposable
else:
    _Disposable = object


class BaseDisposable(_Disposable):
    """A disposable that is also a context manager: leaving the block disposes."""

    __slots__ = ()

    def dispose(self) -> None:
        raise NotImplementedError

    @property
    def is_disposed(self) -> bool:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.dispose()


class Handle(BaseDisposable):
    """What ``subscribe`` returns: one run of a stream, to be stopped, waited for and shown. Leaving its block disposes."""

    __slots__ = ()

    def wait(self, timeout: float | None = None) -> bool:
        """Block this thread until the run is over, for ``timeout`` seconds at most (None: however long it takes).

        True when it is over: it completed, failed, and the callback of that has returned, or it was disposed. False when the time
        ran out first; then it goes on. An error is not raised here: it went to ``on_error`` or to the error hook.
        Not from a callback of the same run, which would wait for itself. RuntimeError on the thread of an event loop and on a
        worker that others share, unless it is over or ``timeout`` is 0; see :func:`rx_core.blocking_allowed`.
        """
        raise NotImplementedError


@final
class ActionDisposable(BaseDisposable):
    """Runs ``action`` at the first ``dispose()``, once, on the thread that disposes."""

    __slots__ = ("_action",)

    def __init__(self, action: Callable[[], object], /) -> None:
        self._action = {0: action}

    def dispose(self) -> None:
        action = self._action.pop(0, None)  # atomic: exactly one caller gets it
        if action is not None:
            action()

    @property
    def is_disposed(self) -> bool:
        return not self._action


@final
class _Disposed(BaseDisposable):
    __slots__ = ()

    def dispose(self) -> None:
        pass

    @property
    def is_disposed(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "DISPOSED"


#: A disposable that was disposed before you got it.
DISPOSED: Final[BaseDisposable] = _Disposed()


@final
class FlagDisposable(BaseDisposable):
    """Nothing but a flag that others can read."""

    __slots__ = ("_disposed",)

    def __init__(self) -> None:
        self._disposed = False

    def dispose(self) -> None:
        self._disposed = True

    @property
    def is_disposed(self) -> bool:
        return self._disposed


@final
class SerialDisposable(BaseDisposable):
    """Holds one disposable at a time; replacing it disposes the old one, disposing this one disposes what comes later too."""

    __slots__ = ("_cell", "_disposed")

    def __init__(self, first: _Disposable | None = None, /) -> None:
        self._disposed = False
        self._cell: dict[int, _Disposable] = {} if first is None else {0: first}

    def set(self, disposable: _Disposable, /) -> None:
        """Put ``disposable`` in place and dispose the one before."""
        self._exchange(disposable, dispose_old=True)

    def replace(self, disposable: _Disposable, /) -> None:
        """Put ``disposable`` in place and leave the one before alone."""
        self._exchange(disposable, dispose_old=False)

    def _exchange(self, disposable: _Disposable, dispose_old: bool) -> None:
        taken_out: list[_Disposable] = []
        while True:
            old = self._cell.pop(0, None)
            if old is not None:
                taken_out.append(old)
            # One atomic step. When another thread put one in between, that one is taken out as well.
            if self._cell.setdefault(0, disposable) is disposable:
                break
        if self._disposed:  # publish first, look afterwards: a concurrent dispose() sees it or we do
            last = self._cell.pop(0, None)
            if last is not None:
                last.dispose()
        if dispose_old:
            for old in taken_out:
                old.dispose()

    def dispose(self) -> None:
        self._disposed = True
        current = self._cell.pop(0, None)
        if current is not None:
            current.dispose()

    @property
    def is_disposed(self) -> bool:
        return self._disposed


@final
class CompositeDisposable(BaseDisposable):
    """Many disposables disposed together. Members can be taken out again in constant time."""

    __slots__ = ("_disposed", "_members")

    def __init__(self, *members: _Disposable) -> None:
        self._disposed = False
        self._members: dict[int, _Disposable] = {id(member): member for member in members}

    def add(self, disposable: _Disposable, /) -> bool:
        """Take ``disposable`` in; when this one is disposed already, dispose it and return False."""
        self._members[id(disposable)] = disposable
        if self._disposed and self._members.pop(id(disposable), None) is not None:
            disposable.dispose()
        return not self._disposed

    def discard(self, disposable: _Disposable, /) -> bool:
        """Take it out without disposing it; False when it was not there."""
        return self._members.pop(id(disposable), None) is not None

    def remove(self, disposable: _Disposable, /) -> bool:
        """Take it out and dispose it; False when it was not there."""
        found = self._members.pop(id(disposable), None)
        if found is None:
            return False
        found.dispose()
        return True

    def clear(self) -> None:
        """Dispose all members and stay usable. One that fails does not keep the others from being disposed."""
        errors: list[Exception] = []
        while True:
            try:
                _, member = self._members.popitem()
            except KeyError:
                break
            try:
                member.dispose()
            except Exception as error:
                errors.append(error)
        if errors:
            from rx_core._errors import composite

            raise composite(errors)

    def dispose(self) -> None:
        self._disposed = True
        self.clear()

    def __len__(self) -> int:
        return len(self._members)

    @property
    def is_disposed(self) -> bool:
        return self._disposed

"""One run of a source for many subscribers: what ``publish`` and ``replay`` have in common.

A :class:`Connectable` is what ``publish()`` and ``replay()`` make: a source that runs when it is connected. The run is a
:class:`Connection`; at most one is current.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from rx_core import BaseDisposable, name_of, user_call
from rx_core.blocks import AtomicReference
from rx_core.streams import Failing, PassThrough, without_this_frame
from rx_ops.operators._mapping import as_error

if TYPE_CHECKING:
    from rx_core import Disposable, Subscriber

T = TypeVar("T")

OnConnect = Callable[["Disposable"], object]


class Described(ABC):
    """A source with slots and a run of its own: what is copied or pickled begins without a run, also while there is one."""

    __slots__ = ()

    @abstractmethod
    def _at_first(self) -> dict[str, object]:
        """The slots that belong to the run, as they are when there is none."""

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        state: Any = super().__getstate__()
        return None, state[1] | self._at_first()


class Connection(BaseDisposable, Generic[T]):
    """One run of the source of a Connectable: whom it feeds, and the Disposable that stops it."""

    __slots__ = ("_fresh", "owner")

    def __init__(self, owner: Connectable[T]) -> None:
        self.owner = owner
        self._fresh = {0: True}

    @abstractmethod
    def subscribe(self, down: Subscriber[T], /) -> None: ...

    @property
    def is_over(self) -> bool:
        """It ended or was disposed: the next ``connect()`` needs another one."""
        return self.is_disposed

    @property
    @abstractmethod
    def is_useless(self) -> bool:
        """It has no items for a subscriber that comes now."""

    @abstractmethod
    def _start(self) -> None: ...

    @abstractmethod
    def _stop(self) -> None: ...

    def connect(self, on_connect: OnConnect | None = None) -> None:
        """Subscribe to the source, the first time."""
        if on_connect is not None:
            user_call("connect", on_connect, self)
        if self._fresh.pop(0, None):
            self._start()

    def dispose(self) -> None:
        self._fresh.clear()
        self.owner.detach(self)
        self._stop()


class Connectable(Described, Generic[T]):
    """The source behind ``publish()`` and ``replay()``."""

    __slots__ = ("_current", "source", "text")

    def __init__(self, source: Any, text: str) -> None:
        self.source = source
        self.text = text
        self._current: AtomicReference[Connection[T] | None] = AtomicReference(None)

    def _at_first(self) -> dict[str, object]:
        return {"_current": AtomicReference(None)}

    @abstractmethod
    def _make(self) -> Connection[T]: ...

    def take(self, *, alive: bool = False) -> Connection[T]:
        """The current connection, or a new one where there is none; with ``alive`` also where it is over."""
        while True:
            current = self._current.get()
            if current is not None and not (alive and current.is_over):
                return current
            made = self._make()
            if self._current.compare_and_set(current, made):
                return made

    def detach(self, connection: Connection[T]) -> None:
        """A subscriber that comes from here on gets another connection."""
        self._current.compare_and_set(connection, None)

    def attach(self, connection: Connection[T]) -> None:
        """Take back a :meth:`detach`, unless there is another one by now."""
        self._current.compare_and_set(None, connection)

    def reset(self) -> None:
        """Forget a connection that is over."""
        current = self._current.get()
        if current is not None and current.is_over:
            self.detach(current)

    def subscribe(self, subscriber: Subscriber[T], /) -> None:
        self.take().subscribe(subscriber)

    def __repr__(self) -> str:
        return self.text


class Within(PassThrough[Any]):
    """``publish`` and ``replay`` with a function: it may use its argument any number of times, the source runs once.

    What the function returns is subscribed first, then the source. The connection ends with what the function returns.
    """

    __slots__ = ("connectable", "connection", "face", "name", "selector")

    gives_of: ClassVar[int] = 0  # an item that one of its subscribers does not take may be another one's
    name: str
    connectable: Callable[[Any], Connectable[Any]]
    connection: Connection[Any] | None
    #: Makes the stream that the function is given.
    face: Callable[[Connectable[Any]], Any]
    selector: Callable[[Any], Any]

    def __init__(
        self,
        down: Subscriber[Any],
        source: Any,
        name: str,
        connectable: Callable[[Any], Connectable[Any]],
        selector: Callable[[Any], Any],
        face: Callable[[Connectable[Any]], Any],
    ) -> None:
        super().__init__(down, source)
        self.name = name
        self.connectable = connectable
        self.connection = None
        self.selector = selector
        self.face = face

    def start(self) -> bool:
        try:
            self.source = self.made()
        except (Exception, GeneratorExit) as error:
            Failing(self.down, as_error(without_this_frame(error)), self.origin).start()
            return True
        super().start()
        connection = self.connection
        if connection is not None:
            connection.connect()
        return True

    def made(self) -> Any:
        """What the function makes of the shared source."""
        connectable = self.connectable(self.source)
        selector = self.selector
        made = user_call(self.name, selector, self.face(connectable))
        if not hasattr(made, "subscribe"):
            raise TypeError(
                f"{self.name}() expected a function returning a source, but {name_of(selector)} returned {made!r}.\n"
                f"  For example:  .{self.name}(lambda shared: shared.merge_with(shared.map(...)))"
            )
        self.connection = connectable.take()
        return made

    def let_go(self) -> Any:
        connection = self.connection
        if connection is not None:
            self.connection = None
            connection.dispose()
        return super().let_go()

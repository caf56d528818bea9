"""Operators that look on while everything passes (do_finally, do_on_error, using)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from rx_core import _hooks
from rx_core._demand import UNBOUNDED, SettlesDemand, after_answer, request_all
from rx_core._observers import CallbackObserver
from rx_core.streams.contracts import NULL_SUBSCRIBER, Amount, ignore
from rx_core.streams.entry import subscribe
from rx_core.streams.inputs import Input

if TYPE_CHECKING:
    from rx_core._protocols import Publisher, Subscriber, Subscription

T = TypeVar("T")

#: Stands in for a source that is not there yet.
NO_SOURCE: Final[Any] = None


class PassThrough(SettlesDemand, Generic[T]):
    """Subscriber of one source and Subscription of one subscriber, for an operator that changes neither items nor demand.

    The source is the only party that signals, and answers a wrong request itself (RS 3.9). So there is nothing to put in order,
    and no gate. A subclass overrides what it looks at.
    """

    __slots__ = ("discard", "done", "down", "emit", "origin", "source", "up")

    #: What users write, for messages; "" where it is no operator of its own.
    operator_name: ClassVar[str] = ""
    #: See Op: what comes when the subscriber has left goes to :attr:`discard`, here and in each of them.
    discards: ClassVar[bool | Callable[..., bool]] = True
    gives_of: ClassVar[int] = UNBOUNDED
    discard: Callable[[Any], object]
    source: Publisher[T]
    #: The subscriber, until it cancels (RS 3.13).
    down: Any
    #: Its ``on_next``.
    emit: Callable[[T], object]
    up: Any
    #: The source has ended, or the subscriber has left: nothing goes up or down any more.
    done: bool
    #: The pipeline this is a run of, for messages.
    origin: object

    def __init__(self, down: Subscriber[T], source: Publisher[T]) -> None:
        self.discard = ignore
        self.source = source
        self.down = down
        self.emit = down.on_next
        self.up = None
        self.done = False
        self.origin = None

    def start(self) -> bool:
        """Subscribe. What leaves it is no signal (KeyboardInterrupt, say), and counts as a cancel."""
        try:
            subscribe(self.source, self)
        except BaseException:
            self.cancel()
            raise
        return True

    # -- signals of the source, serial (RS 1.3) ----------------------------------------

    def on_subscribe(self, up: Subscription, /) -> None:
        if self.up is not None:
            up.cancel()  # RS 2.5
            return
        self.up = up
        self.down.on_subscribe(self)

    def on_next(self, item: T, /) -> None:
        emit = self.emit
        try:
            emit(item)
        except BaseException:
            self.cancel()  # RS 2.13
            raise

    def on_error(self, error: Exception, /) -> None:
        if self.done:
            _hooks.dropped_late(error, self.origin)
            return
        self.done = True
        self.let_go().on_error(error)

    def on_complete(self) -> None:
        if not self.done:
            self.done = True
            self.let_go().on_complete()

    def let_go(self) -> Any:
        """The subscriber, which is kept no longer (RS 3.13)."""
        down = self.down
        self.down = NULL_SUBSCRIBER
        self.emit = self.discard
        return down

    # -- the Subscription ----------------------------------------

    def request(self, n: Amount, /) -> None:
        if not self.done:  # RS 2.4
            try:
                self.up.request(n)
            except BaseException:  # of a source that answers on this thread: as in start
                self.cancel()
                raise

    def request_all(self) -> None:
        if not self.done:
            try:
                request_all(self.up)
            except BaseException:
                self.cancel()
                raise

    def after_answer(self, then: Callable[[], object], /) -> None:
        after_answer(self.up, then)

    def cancel(self) -> None:
        if not self.done:
            self.done = True
            self.let_go()
            if self.up is not None:
                self.up.cancel()

    def dispose(self) -> None:
        self.cancel()

    @property
    def is_disposed(self) -> bool:
        return self.done

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {'done' if self.done else 'running'} of {self.origin!r}>"


class Transparent(PassThrough[T]):
    """A PassThrough for which an item is nothing: ``on_next`` is that of downstream, where downstream cancels by itself before it
    raises. It does so if it is an operator's input, another PassThrough, or callbacks."""

    __slots__ = ("on_next",)

    on_next: Callable[[T], object]  # type: ignore[assignment]  # of downstream, in place of a method

    def __init__(self, down: Subscriber[T], source: Publisher[T]) -> None:
        super().__init__(down, source)
        kind: type[Any] = type(down)
        cancels = kind is CallbackObserver or issubclass(kind, (Input, PassThrough))
        self.on_next = down.on_next if cancels else self.guarded

    def guarded(self, item: T, /) -> None:
        emit = self.emit
        try:
            emit(item)
        except BaseException:
            self.cancel()  # RS 2.13
            raise

    def on_error(self, error: Exception, /) -> None:
        self.on_next = self.discard  # it may refer to this
        super().on_error(error)

    def on_complete(self) -> None:
        self.on_next = self.discard
        super().on_complete()

    def cancel(self) -> None:
        self.on_next = self.discard
        super().cancel()

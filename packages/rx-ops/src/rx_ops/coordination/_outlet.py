"""Where a hot source hands out its signals: an outlet, and a ticket for each subscriber.

The writer signals serially, as RS 1.3 says; subscribing, requesting and cancelling may happen on any thread. Nobody waits for
anybody: what a subscriber cannot take at once is kept or refused by its ticket, and the others go on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from rx_core import UNBOUNDED, BaseDisposable, dropped
from rx_core.blocks import NOBODY, RequestInbox, SubscriptionCell

if TYPE_CHECKING:
    from rx_core import Subscriber

T = TypeVar("T")


class End:
    """What comes behind the last item."""

    __slots__ = ("error",)

    def __init__(self, error: Exception | None) -> None:
        self.error = error

    def tell(self, down: Subscriber[Any]) -> None:
        if self.error is None:
            down.on_complete()
        else:
            down.on_error(self.error)


class Ticket(BaseDisposable, Generic[T]):
    """One subscriber of an outlet, and its Subscription (an observer's Disposable).

    Whoever has something for it (an item, a request, a cancel) publishes that, raises ``dirty`` and tries to take the token; who
    gets it moves on until nothing is left. So signals are serial whatever thread they come from (RS 1.3), and an item sent from
    inside ``on_next`` comes after it and not inside it.
    """

    __slots__ = ("__weakref__", "_down", "_outlet", "cancelled", "dirty", "inbox", "token")

    def __init__(self, outlet: Outlet[T], down: Subscriber[T], initial: int) -> None:
        self._outlet = outlet
        self._down: Subscriber[T] = down
        self.inbox = RequestInbox()
        self.inbox.demand = initial
        #: Popping it takes it, in one step. Taken until on_subscribe has returned (RS 1.3, 1.9). It says how much is wanted.
        self.token: list[int] = []
        self.dirty = False
        self.cancelled = False

    def open(self) -> None:
        """Give the subscriber its Subscription, then what there is."""
        try:
            self._down.on_subscribe(self)
        except BaseException:
            self.cancelled = True  # RS 2.13
            self._outlet.leave(self)
            raise
        finally:
            self.token.append(0)
        self.drain()

    def request(self, n: int, /) -> None:
        self.inbox.add(n)
        self.drain()

    def _rx_promise(self, n: int, /) -> Callable[[], object]:
        self.request(n)  # at once: what is sent comes on the thread that sends, whoever has asked for it
        return _nothing

    def cancel(self) -> None:
        self.cancelled = True
        self._outlet.leave(self)
        self.drain()

    def dispose(self) -> None:
        self.cancel()

    @property
    def is_disposed(self) -> bool:
        return self.cancelled

    @property
    @abstractmethod
    def has_room(self) -> bool:
        """Whether an item that comes now can be delivered at once. False while one is still on its way on another thread."""

    def drain(self) -> None:
        """Move on, unless another thread is at it."""
        self.dirty = True
        token = self.token
        while self.dirty and token:
            try:
                token.pop()
            except IndexError:  # taken this moment
                return
            try:
                while self.dirty:
                    self.dirty = False
                    self._move()
            except BaseException:
                self.broken()
                raise
            finally:
                token.append(self.inbox.demand)

    @abstractmethod
    def _move(self) -> None:
        """Deliver what can be delivered. Holds the token."""

    def _end(self, end: End) -> None:
        down = self._down
        self._over()
        self._outlet.leave(self)
        end.tell(down)

    def _fail(self, error: Exception) -> None:
        self._end(End(error))

    def broken(self) -> None:
        """The subscriber has raised, which counts as a cancel (RS 2.13)."""
        self._over()
        self._outlet.leave(self)

    def _over(self) -> None:
        """Let go of the subscriber, and of what is kept for it (RS 3.13)."""
        self.cancelled = True
        self._down = NOBODY


class Outlet(ABC, Generic[T]):
    """The subscribers of a hot source, and its end. ``asked``: whether subscribers ask, as those of an Observable do not."""

    __slots__ = ("_end", "_initial", "name", "tickets", "upstream")

    #: No None comes from it, and nothing after the end or a cancel (see rx_fusion._push).
    _rx_trusted: ClassVar[bool] = True

    def __init__(self, name: str, *, asked: bool) -> None:
        self.name = name
        self._initial = 0 if asked else UNBOUNDED
        #: In order of arrival.
        self.tickets: dict[Any, None] = {}
        #: What feeds it, where that is a stream.
        self.upstream = SubscriptionCell()
        self._end: End | None = None

    @abstractmethod
    def subscribe(self, down: Subscriber[T], /) -> None: ...

    def leave(self, ticket: Ticket[T]) -> None:
        self.tickets.pop(ticket, None)

    # -- the source --------------------------------------------------------------------------------------------------

    @abstractmethod
    def on_next(self, item: T) -> None: ...

    def offer(self, item: T) -> bool:
        """Send ``item`` if everybody can take it now."""
        if not all(ticket.has_room for ticket in list(self.tickets)):
            return False
        self.on_next(item)
        return True

    def on_error(self, error: Exception) -> None:
        if self._end is not None:
            dropped(error, self)
            return
        self.finish(End(error))

    def on_complete(self) -> None:
        if self._end is None:
            self.finish(End(None))

    def refused(self, error: TypeError) -> TypeError:
        """For a None (RS 2.13): who feeds by hand sees ``error`` and may go on; a stream that feeds is over with it."""
        if self.upstream.get() is not None and not self.is_over:
            self.upstream.cancel()
            self.on_error(error)
        return error

    def finish(self, end: End) -> None:
        self._end = end
        for ticket in list(self.tickets):
            try:
                ticket.drain()
            except Exception as error:  # RS 2.13: it has cancelled, and the others are not to suffer for it
                dropped(error, self)

    @property
    def is_over(self) -> bool:
        """Whether what it is fed is for nobody, now and later."""
        return self._end is not None

    @property
    def end(self) -> End | None:
        return self._end

    def __repr__(self) -> str:
        return f"{self.name}()"


def _nothing() -> None:
    pass

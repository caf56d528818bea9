"""The hub of a hot source that keeps nothing: an item goes to whoever is there, or has to wait for them.

It needs no log. With one subscriber, the usual case, an item takes one call on its way to that one's ``on_next``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from operator import length_hint
from typing import Any, TypeVar

from rx_core import UNBOUNDED, MissingBackpressureError, dropped, none_argument
from rx_ops.coordination._outlet import End, Outlet, Ticket

T = TypeVar("T")


class PublishTicket(Ticket[T]):
    """A subscriber that gets items as they come, or an error for one it has not requested."""

    __slots__ = ("_waiting", "push")

    def __init__(self, outlet: Outlet[T], down: Any, initial: int) -> None:
        super().__init__(outlet, down, initial)
        #: What came while it was busy: from inside its own on_next, or while another thread was at it.
        self._waiting: deque[Any] = deque()
        #: Its on_next.
        self.push: Callable[[T], object] = down.on_next

    @property
    def has_room(self) -> bool:
        return not self._waiting and self.inbox.outstanding > 0

    def give(self, item: T) -> None:
        """An item has come: deliver it at once if it is wanted and nothing else waits.

        The hub does the same where there is one subscriber, without this call.
        """
        token = self.token
        try:
            demand = token.pop()
        except IndexError:
            pass
        else:
            if demand and not self.dirty:  # what else there is has been looked at
                if demand is not UNBOUNDED:  # faster than !=; an equal one would be counted down
                    self.inbox.demand = demand = demand - 1
                try:
                    self.push(item)
                except BaseException:
                    demand = 0
                    self.broken()
                    raise
                finally:
                    token.append(demand)
                if self.dirty:
                    self.drain()  # type: ignore[unreachable]  # raised meanwhile
                return
            token.append(demand)
        self.put(item)
        self.drain()

    def put(self, item: T | End | None) -> None:
        """Let ``item`` wait for its turn."""
        self._waiting.append(item)
        self.dirty = True

    def _move(self) -> None:
        inbox, waiting = self.inbox, self._waiting
        while not self.cancelled:
            if inbox.pending:
                inbox.collect()
                if inbox.error is not None:
                    self._fail(inbox.error)
                    return
            if not waiting:
                return
            item = waiting[0]
            if type(item) is End:
                self._end(item)
                return
            if not inbox.demand:
                if inbox.pending:
                    continue
                self._fail(MissingBackpressureError(f"{self._outlet!r} sent an element that a subscriber had not requested"))
                return
            inbox.spend()  # before it goes from the queue: has_room must not see neither
            waiting.popleft()
            self.push(item)
        self._over()

    def _over(self) -> None:
        super()._over()
        self.push = _to_nobody
        self.inbox.demand = 0  # what comes from here on is not given to it
        self._waiting.clear()


def _to_nobody(_item: object) -> None:
    """It has gone while an item was on its way (RS 2.8)."""


class PublishHub(Outlet[T]):
    """Its tickets, and a picture of them for the one that sends, taken anew when somebody has come or gone."""

    __slots__ = ("_item", "_now", "_rest", "_stale", "only")

    def __init__(self, name: str, *, asked: bool) -> None:
        super().__init__(name, asked=asked)
        #: The only subscriber, as long as it is the only one and there is no end.
        self.only: PublishTicket[T] | None = None
        self._now: tuple[PublishTicket[T], ...] = ()
        self._stale = False
        #: Who still has to get the item that is being sent to several, and that item.
        self._rest: Iterator[PublishTicket[T]] = iter(())
        self._item: T | None = None

    # -- subscribers -------------------------------------------------------------------------------------------------

    def subscribe(self, down: Any, /) -> None:
        """Start ``down`` with the next item, or the end."""
        ticket: PublishTicket[T] = PublishTicket(self, down, self._initial)
        self.tickets[ticket] = None  # publish first, look afterwards: the end does the same
        self._changed()
        if self._end is not None:
            ticket.put(self._end)
        ticket.open()

    def leave(self, ticket: Ticket[T]) -> None:
        super().leave(ticket)
        self._changed()

    def _changed(self) -> None:
        self._now = ()
        self._stale = True
        self.only = None  # last: who sends to one looks at this alone, and writes it before it looks at the flag

    def _look(self) -> tuple[PublishTicket[T], ...]:
        while True:
            self._stale = False
            self._now = now = (*list(self.tickets),)  # copied in one step
            self.only = now[0] if len(now) == 1 else None
            if not self._stale:  # else somebody came or went meanwhile, and what they wrote may be overwritten
                return now

    # -- the source --------------------------------------------------------------------------------------------------

    def lend_entry(self, processor: Any, made: type[Any]) -> None:
        """Let the hub's ``on_next`` be that of ``processor``, if no subclass of ``made`` has one of its own.

        A face finds operators of plugins by ``__getattr__``, and classes that have that are slow to read attributes of: in a
        method of theirs the hub would cost as much as a call.
        """
        if type(processor).on_next is made.on_next:
            processor.__dict__["on_next"] = self.on_next

    def on_next(self, item: T, /) -> None:
        if item is None:
            raise self.refused(none_argument("on_next(None)", "item"))
        ticket = self.only
        if ticket is None:
            self._send(item)
            return
        # What ticket.give does, written out: calls are what most of the way to a subscriber is made of.
        token = ticket.token
        try:
            demand = token.pop()
        except IndexError:  # sent from inside its on_next, or another thread is at it
            self._send(item)
            return
        if not demand or ticket.dirty:
            token.append(demand)
            self._send(item)
            return
        if demand is not UNBOUNDED:
            ticket.inbox.demand = demand = demand - 1
        push = ticket.push  # apart: as a method it would be looked for in the ticket's class each time
        try:
            push(item)
        except BaseException as error:
            demand = 0
            ticket.broken()
            if not isinstance(error, Exception):
                raise
            dropped(error, self)  # RS 2.13: it has cancelled, and that is nothing to who sends
        finally:
            token.append(demand)
        if ticket.dirty:
            self._drain(ticket)  # type: ignore[unreachable]  # raised meanwhile

    def _send(self, item: T) -> None:
        """Send ``item`` to all there are now."""
        if self._end is not None:
            return
        self._catch_up()
        now = self._now
        if self._stale or not now:  # in this order: somebody may be about to raise it
            now = self._look()
        rest = self._rest = iter(now)
        self._item = item
        try:
            for ticket in rest:
                self._give(ticket, item)
        except BaseException:
            for ticket in rest:
                ticket.put(item)
            raise
        finally:
            self._item = None

    def _catch_up(self) -> None:
        """What is signalled from inside an on_next comes, for each of the others, after the item that is being sent."""
        for ticket in self._rest:
            ticket.put(self._item)  # and no more: theirs may be the next on_next that sends something

    def offer(self, item: T) -> bool:
        return not length_hint(self._rest) and super().offer(item)  # some may still have to get another item

    def _drain(self, ticket: PublishTicket[T]) -> None:
        """Something has come for ``ticket`` while an item was sent to it."""
        try:
            ticket.drain()
        except Exception as error:  # as below
            dropped(error, self)

    def _give(self, ticket: PublishTicket[T], item: Any) -> None:
        try:
            ticket.give(item)
        except Exception as error:  # RS 2.13: it has cancelled, and the others are not to suffer for it
            dropped(error, self)

    def finish(self, end: End) -> None:
        self._catch_up()
        self._end = end  # published before the tickets are looked at: see subscribe
        self.only = None
        for ticket in list(self.tickets):
            ticket.put(end)
        self._now = ()
        super().finish(end)

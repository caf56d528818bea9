"""Items after the last one: when upstream is complete and downstream has not asked for what still has to come."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Generic, TypeVar

from rx_core._errors import none_argument, none_produced
from rx_core.blocks._cells import SubscriptionCell
from rx_core.blocks._nobody import NOBODY
from rx_core.blocks._requested import Requested, request_error
from rx_core.gate import Gate

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber, Subscription

T = TypeVar("T")
R = TypeVar("R")


class _PostComplete(Gate, Generic[T, R]):
    """What both have in common: passes items on one to one, and delivers the rest through the gate once upstream has ended.

    The token is held until then, so that nothing is looked at before.
    """

    __slots__ = ("_rest", "_upstream", "_upstream_ended", "_wrong", "cancelled", "down", "produced", "requested")

    def __init__(self, down: Subscriber[R], /) -> None:
        super().__init__()
        self.token.pop()
        #: The subscriber; only for upstream's signals, and after those for the holder of the token.
        self.down: Subscriber[R] = down
        self.requested = Requested()
        #: Items delivered so far; upstream's signals are serial and no other party writes it.
        self.produced = 0
        #: Downstream has cancelled, or the stream is over.
        self.cancelled = False
        self._upstream = SubscriptionCell()
        self._upstream_ended = False
        self._rest: deque[R] = deque()
        self._wrong: Exception | None = None

    # -- upstream's signals ------------------------------------------------------------------------------------------

    def on_subscribe(self, subscription: Subscription, /) -> None:
        if self._upstream.set_once(subscription):
            self.down.on_subscribe(self)

    def on_next(self, item: T, /) -> None:
        """Pass ``item`` on; an override counts what it delivers in ``produced``."""
        if item is None:
            raise self._refuse_none(none_produced("a source"))
        self.produced += 1
        self.down.on_next(item)  # type: ignore[arg-type]  # R is T where this is not overridden

    def on_error(self, error: Exception, /) -> None:
        if error is None:
            raise self._refuse_none(none_argument("on_error(error)", "error"))
        self._upstream_ended = True
        down, self.down = self.down, NOBODY
        down.on_error(error)

    def _refuse_none(self, error: TypeError) -> TypeError:
        """``error`` ends the stream, unless it is over, and is what the source gets to see (RS 2.13)."""
        if not (self._upstream_ended or self.cancelled):
            self._upstream.cancel()
            self.on_error(error)
        return error

    def _complete_with(self, items: Iterable[R]) -> None:
        """Upstream has ended: from here on ``requested`` says what is wanted of ``items``."""
        self._upstream_ended = True
        if self.produced:
            self.requested.produced(self.produced)
            self.produced = 0
        self._rest.extend(items)
        self.token.append(0)
        self.drain()

    # -- downstream's side -------------------------------------------------------------------------------------------

    def request(self, n: int, /) -> None:
        """Downstream's: for upstream, and for what comes after it."""
        error = request_error(n)
        if error is None:
            self.requested.add(n)
        upstream = self._upstream.get()
        if upstream is not None and not self._upstream_ended:  # RS 2.3
            upstream.request(n)  # which answers a wrong n (RS 3.9), unless it has ended meanwhile
        if self._upstream_ended:
            if error is not None:
                self._wrong = error
            self.drain()

    def cancel(self) -> None:
        self.cancelled = True
        if not self._upstream_ended:  # RS 2.4
            self._upstream.cancel()
        self.drain()

    # -- the holder of the token -------------------------------------------------------------------------------------

    def look(self, held: int, /) -> int:
        rest, requested = self._rest, self.requested
        wanted, delivered = requested.get(), 0
        while True:
            if self.cancelled:
                self._clear()
                return held
            if self._wrong is not None:
                self._end(self._wrong)
                return held
            if not rest:
                self._end(None)
                return held
            if delivered == wanted:
                if not delivered:
                    return held
                wanted, delivered = requested.produced(delivered), 0
                continue
            delivered += 1
            self.down.on_next(rest.popleft())

    def look_failed(self, _error: BaseException, /) -> BaseException | None:
        """RS 2.13: a subscriber that raised has cancelled."""
        self.cancelled = True
        self._clear()
        return None

    def _end(self, error: Exception | None) -> None:
        down = self.down
        self.cancelled = True
        self._clear()
        if error is None:
            down.on_complete()
        else:
            down.on_error(error)

    def _clear(self) -> None:
        self._rest.clear()
        self.down = NOBODY


class SinglePostComplete(_PostComplete[T, R]):
    """Base of operators that pass items on and add one at the end (on_error_return, materialize): ``complete(last)`` does it.

    ``last`` is delivered at once if downstream has asked for more than it got, otherwise by the request that does.

    Thread: upstream's signals serial, ``request`` and ``cancel`` any. Memory: ``last``.
    Relies on: the gate (``rx_core.gate``). Cost: one addition per item, one account per request.
    Rule: RS 1.1, 1.3, 3.9; the specs' section "Single-element post-complete".
    """

    __slots__ = ()

    def complete(self, last: R, /) -> None:
        """Upstream has ended: deliver ``last`` when it is wanted, and complete. Call it from on_complete or on_error."""
        self._complete_with((last,))

    def on_complete(self) -> None:
        """Complete without a last item; override it with ``self.complete(...)``."""
        self._upstream_ended = True
        down, self.down = self.down, NOBODY
        down.on_complete()


class MultiPostComplete(_PostComplete[T, R]):
    """The same for any number of items (buffer with overlapping lists): ``complete(items)`` delivers them on request.

    Thread: upstream's signals serial, ``request`` and ``cancel`` any. Memory: the items; they are dropped on cancel.
    Relies on: the gate (``rx_core.gate``).
    Rule: RS 1.1, 1.3, 3.3, 3.9; the specs' section "Multi-element post-complete".
    """

    __slots__ = ()

    def complete(self, items: Iterable[R] = (), /) -> None:
        """Upstream has ended: deliver ``items`` as they are wanted, and complete. Call it from on_complete or on_error."""
        self._complete_with(items)

    def on_complete(self) -> None:
        """Complete without further items; override it with ``self.complete(items)``."""
        self.complete()

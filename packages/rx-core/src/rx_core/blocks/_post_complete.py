"""Elements after the last one: when upstream is complete and downstream has not asked for what still has to come."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Generic, TypeVar

from rx_core._errors import none_argument, none_produced
from rx_core.blocks._cells import SubscriptionCell
from rx_core.blocks._nobody import NOBODY
from rx_core.blocks._requested import Requested, request_error

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber, Subscription

T = TypeVar("T")
R = TypeVar("R")


class _PostComplete(Generic[T, R]):
    """What both have in common: passes elements on one to one and counts what is left to deliver when upstream ends."""

    __slots__ = ("_upstream", "cancelled", "down", "produced", "requested")

    def __init__(self, down: Subscriber[R], /) -> None:
        #: Whom to signal; only from upstream's signals.
        self.down: Subscriber[R] = down
        self.requested = Requested()
        #: Elements delivered so far; upstream's signals are serial and nobody else writes it.
        self.produced = 0
        #: Downstream has cancelled, or the stream is over.
        self.cancelled = False
        self._upstream = SubscriptionCell()

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
        down, self.down = self.down, NOBODY
        down.on_error(error)

    def _refuse_none(self, error: TypeError) -> TypeError:
        """``error`` ends the stream, unless it is over, and is what the source gets to see (RS 2.13)."""
        if self.down is not NOBODY and not self.cancelled:
            self._upstream.cancel()
            self.on_error(error)
        return error

    def request(self, n: int, /) -> None:
        """Downstream's: for upstream, and for what comes after it."""
        error = request_error(n)
        if error is None:
            self.requested.add(n)
        if self._offer(error):
            return
        upstream = self._upstream.get()
        if upstream is not None:
            upstream.request(n)  # a wrong n is answered by upstream as long as it is there (RS 3.9)

    def _offer(self, error: Exception | None) -> bool:
        """Something was requested. True if upstream has ended and it was dealt with here."""
        raise NotImplementedError

    def cancel(self) -> None:
        self.cancelled = True
        self._upstream.cancel()

    def _account(self) -> None:
        """Upstream has ended: from here on ``requested`` says what is left for the rest."""
        if self.produced:
            self.requested.produced(self.produced)
            self.produced = 0


class SinglePostComplete(_PostComplete[T, R]):
    """Base of operators that pass elements on and add one at the end (on_error_return, materialize): ``complete(last)`` does it.

    ``last`` is delivered at once if downstream has asked for more than it got, otherwise by the request that does.

    Thread: upstream's signals serial, ``request`` and ``cancel`` any. Memory: ``last``.
    Relies on: ``dict.pop`` being atomic. Cost: one addition per element, one account per request.
    Rule: RS 1.1, 1.3, 3.9; the specs' section "Single-element post-complete".
    """

    __slots__ = ("_last",)

    def __init__(self, down: Subscriber[R], /) -> None:
        super().__init__(down)
        #: Empty, then {0: last}; who takes it out signals it.
        self._last: dict[int, R] = {}

    def complete(self, last: R, /) -> None:
        """Upstream has ended: deliver ``last`` when it is wanted, and complete. Call it from on_complete or on_error."""
        self._account()
        self._last[0] = last  # publish, then look; a request does the same the other way round
        if self.cancelled:
            self._last.clear()
        elif self.requested.get() > 0:
            self._emit()

    def on_complete(self) -> None:
        """Complete without a last element; override it with ``self.complete(...)``."""
        down, self.down = self.down, NOBODY
        down.on_complete()

    def _offer(self, error: Exception | None) -> bool:
        if error is None:
            return self._emit()
        if self._last.pop(0, None) is None:
            return False
        self._over().on_error(error)
        return True

    def _emit(self) -> bool:
        last = self._last.pop(0, None)
        if last is None:
            return False
        if not self.cancelled:
            self.down.on_next(last)
            if not self.cancelled:
                self._over().on_complete()
        return True

    def _over(self) -> Subscriber[R]:
        self.cancelled = True
        down, self.down = self.down, NOBODY
        return down

    def cancel(self) -> None:
        super().cancel()
        self._last.clear()


class MultiPostComplete(_PostComplete[T, R]):
    """The same for any number of elements (buffer with overlapping lists): ``complete(items)`` delivers them on request.

    Thread: upstream's signals serial, ``request`` and ``cancel`` any. Memory: the items; they are dropped on cancel.
    Relies on: ``dict.pop`` being atomic.
    Rule: RS 1.1, 1.3, 3.3, 3.9; the specs' section "Multi-element post-complete".
    """

    __slots__ = ("_dirty", "_rest", "_token", "_wrong")

    def __init__(self, down: Subscriber[R], /) -> None:
        super().__init__(down)
        self._rest: deque[R] = deque()
        #: Empty until upstream has ended; then the token of the drain.
        self._token: dict[int, bool] = {}
        self._dirty = False
        self._wrong: Exception | None = None

    def complete(self, items: Iterable[R] = (), /) -> None:
        """Upstream has ended: deliver ``items`` as they are wanted, and complete. Call it from on_complete or on_error."""
        self._account()
        self._rest.extend(items)
        self._token[0] = True  # from here on requests may drain
        self._drain()

    def on_complete(self) -> None:
        """Complete without further elements; override it with ``self.complete(items)``."""
        self.complete()

    def _offer(self, error: Exception | None) -> bool:
        if error is not None and self._wrong is None:
            self._wrong = error
        return self._drain()

    def _drain(self) -> bool:
        token = self._token
        self._dirty = True
        drained = False
        while self._dirty and token.pop(0, None) is not None:
            drained = True
            try:
                while self._dirty:
                    self._dirty = False
                    self._work()
            except BaseException:
                self.cancel()  # RS 2.13
                self._clear()
                raise
            finally:
                token[0] = True
        return drained

    def _work(self) -> None:
        rest, requested = self._rest, self.requested
        wanted, delivered = requested.get(), 0
        while True:
            if self.cancelled:
                self._clear()
                return
            if self._wrong is not None:
                self._end(self._wrong)
                return
            if not rest:
                self._end(None)
                return
            if delivered == wanted:
                if not delivered:
                    return
                wanted, delivered = requested.produced(delivered), 0
                continue
            delivered += 1
            self.down.on_next(rest.popleft())

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

    def cancel(self) -> None:
        super().cancel()
        self._drain()

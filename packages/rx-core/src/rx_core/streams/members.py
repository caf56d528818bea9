"""Members: the subscribers that one Op has together, each of which requests for itself (publish, parallel)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from rx_core._demand import UNBOUNDED, invalid_request
from rx_core.streams.contracts import NULL_SUBSCRIBER, Amount, ignore

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber

T = TypeVar("T")


class Shared(Protocol):
    """The Op that members have together."""

    def drain(self) -> None:
        """Have it look at what a member has requested."""

    def leave(self, member: Any, /) -> None:
        """A member has cancelled. Any thread."""


class Member(Generic[T]):
    """One subscriber of an Op that has several, and its Subscription. The Op's holder of the token signals it.

    What it requests it publishes; the holder takes that into the account with :meth:`collect`, and says what all want together.
    """

    __slots__ = ("demand", "down", "emit", "op", "requests", "stopped")

    #: A ``Shared``. Any: subclasses know more of it, and compiled code has one type for an attribute.
    op: Any
    #: The subscriber, until its end or a cancel (RS 3.13), and its ``on_next``.
    down: Any
    emit: Callable[[Any], object]
    #: What it wants by the Op's last look; only the holder of the token writes it.
    demand: int
    #: What it requested since, in order. Any: a list, whose pop and append are atomic.
    requests: Any
    stopped: bool

    def __init__(self, op: Shared, down: Subscriber[T], demand: int) -> None:
        self.op = op
        self.down = down
        self.emit = down.on_next
        self.demand = demand
        self.requests = []
        self.stopped = False

    # -- Subscription ----------------------------------------

    def request(self, n: Amount, /) -> None:
        if not self.stopped:
            self.requests.append(n)
            self.op.drain()

    def cancel(self) -> None:
        self.let_go()
        self.op.leave(self)

    def dispose(self) -> None:
        self.cancel()

    @property
    def is_disposed(self) -> bool:
        return self.stopped

    # -- the holder of the token ----------------------------------------

    def let_go(self) -> Any:
        """The subscriber, for its last signal."""
        self.stopped = True
        down = self.down
        self.down = NULL_SUBSCRIBER
        self.emit = ignore
        return down

    def collect(self) -> Exception | None:
        """Take what was requested into the account. An error for a wrong number (RS 3.9)."""
        requests = self.requests
        while requests:
            n = requests.pop(0)
            if type(n) is not int or n < 1:
                return invalid_request(n)
            self.demand = UNBOUNDED if n >= UNBOUNDED - self.demand else self.demand + n
        return None

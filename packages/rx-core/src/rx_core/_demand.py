"""Counting demand, and the windows that a queue asks for.

Demand is the sum of what was requested minus what was delivered. It is capped at :data:`UNBOUNDED`, which means "as much as
there is" (RS 3.17).
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from time import perf_counter
from typing import Any, Final, final

from rx_core._advice import right_call

#: An account of demand holds this very object, so that ``is`` tells it: to compare numbers of its size costs as much as a call.
#: It is no literal: of one, compiled code makes an object of its own in each module.
UNBOUNDED: Final[int] = pow(2, 63) - 1


class SettlesDemand:
    """A Subscription of this library, which can be told that its demand is settled."""

    __slots__ = ()

    def request_all(self) -> None:
        """Everything is wanted, for good: the subscriber sends no wrong request, which would be a signal (RS 3.9), and cancels by
        itself before it raises. So a source that is the only one to signal may send without a gate from then on."""
        raise NotImplementedError

    def after_answer(self, then: Callable[[], object], /) -> None:
        """Once, inside of on_subscribe and behind a request for everything: ``then`` is called when the source has sent what it
        sends for that on this thread, unless it has ended.

        RxJava's sources send it from inside of the request, where those of this library wait until on_subscribe has returned
        (RS 1.3). This is for a subscriber that goes on after its request as it does there, with another source perhaps.
        """
        then()


def after_answer(up: Any, then: Callable[[], object]) -> None:
    """:meth:`SettlesDemand.after_answer` of any subscription; a foreign one has answered."""
    wait = getattr(up, "after_answer", None)
    if wait is None:
        then()
    else:
        wait(then)


def request_all(up: Any) -> None:
    """Request everything of ``up``, for a subscriber that keeps :meth:`SettlesDemand.request_all`."""
    if isinstance(up, SettlesDemand):
        up.request_all()
    else:
        up.request(UNBOUNDED)


def add_cap(a: int, b: int, /) -> int:
    """``a + b``, never above UNBOUNDED."""
    total = a + b
    return total if total < UNBOUNDED else UNBOUNDED


def mul_cap(a: int, b: int, /) -> int:
    """``a * b``, never above UNBOUNDED."""
    total = a * b
    return total if total < UNBOUNDED else UNBOUNDED


def invalid_request(n: object, /) -> Exception:
    """The error for a request that is not a positive whole number (RS 3.9)."""
    if type(n) is int:
        return ValueError(
            f"§3.9: request({n}) is not allowed, the number of items must be positive.\n"
            f"  For everything there is:  subscription.request(UNBOUNDED)\n"
            f"  To stop:                  subscription.cancel()"
        )
    return TypeError(f"§3.9: request() takes a positive int, not {n!r}.\n  For example:  subscription.request(1)")


@final
class Growing(int):
    """A window that the user did not give, at a thread boundary.

    It doubles, up to LARGEST_PREFETCH, when the source has sent all it was asked for and nothing is left of that, as long as a
    window lasts less than WINDOW_SECONDS. A number that the user gives does not.
    """

    __slots__ = ()


#: Window value: request what downstream wants, no more (the specs' "arbiter").
DEMAND: Final = 0

#: How many items wait at a thread boundary when the user says nothing else.
DEFAULT_PREFETCH: Final = 128

#: How far a :class:`Growing` window goes.
LARGEST_PREFETCH: Final = 4096

#: Seconds: a window that lasts longer does not grow. A hand-over between two threads takes some 50 microseconds, so a larger one
#: would hold more items and save nothing.
WINDOW_SECONDS: Final = 0.001

#: What ``prefetch`` is at a thread boundary when the user says nothing else.
GROWING_PREFETCH: Final = Growing(DEFAULT_PREFETCH)


@final
class Growth:
    """Decides when a :class:`Growing` window doubles. For the consumer of the items, all but ``feeder``.

    A hand-over between two threads takes as long as some hundred items, so the more of them come at a time the better.
    """

    __slots__ = ("_filled", "_looked", "feeder")

    def __init__(self) -> None:
        #: The thread that has woken the consumer; 0 before.
        self.feeder = 0
        #: When the consumer came back before this time.
        self._looked = 0.0
        #: The source had sent all it may once before.
        self._filled = False

    @classmethod
    def of(cls, window: int) -> Growth | None:
        """None for a window that stays as it is."""
        return cls() if type(window) is Growing else None

    def more(self, window: int, full: bool) -> int:
        """How many items to request beside those of ``window``, when the consumer comes back after it had found none.

        ``full`` says that the source has sent all it may. 0 most of the time.
        """
        if window >= LARGEST_PREFETCH:
            return 0
        now = perf_counter()
        fast = now - self._looked < WINDOW_SECONDS
        self._looked = now
        if not (fast and full) or self.feeder in (0, get_ident()):
            return 0
        if not self._filled:
            self._filled = True  # the first time says only that it is fast, not that it waits for the consumer
            return 0
        return min(window, LARGEST_PREFETCH - window)


def check_prefetch(operator: str, prefetch: int, /, name: str = "prefetch") -> None:
    """Raise at assembly when a buffer bound is not a positive int."""
    if type(prefetch) is not int and type(prefetch) is not Growing:
        raise TypeError(
            f"{operator}({name}={prefetch!r}): a whole number of items is needed, for example {right_call(operator, name, '128')}"
        )
    if prefetch < 1:
        raise ValueError(
            f"{operator}({name}={prefetch}): at least one item is needed, for example {right_call(operator, name, '128')}"
        )

"""RetryBudget: how many retries all attempts together may make."""

from __future__ import annotations

from collections import deque
from math import inf
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, final

from rx_core import scheduler as find_scheduler

if TYPE_CHECKING:
    from rx_core import Scheduler

#: A window has so many parts, and is forgotten part by part.
_PARTS: Final = 10


@final
class RetryBudget:
    """How many retries all subscriptions that share it may make: a ``share`` of what was begun, and ``per_second`` besides.

    Attempts multiply the load of a service that fails already: three retries at each of three layers make it 64 times as much.
    With a budget of 0.2 it is 1.2 times as much, however many attempts each subscription has left. Make one for each service,
    and give it to all pipelines that call it.

    What was begun counts for ``seconds``, and so does a retry. ``per_second`` is for those who call seldom: that many retries a
    second are allowed in any case, and can be saved for ``seconds``. The clock is that of ``scheduler`` (``computation``).

    Thread-safe, also without the GIL. Memory: ten numbers.
    Source: Finagle ``RetryBudget``; a first attempt deposits, a retry withdraws.
    """

    __slots__ = ("_lock", "_parts", "_per_second", "_scheduler", "_seconds", "_share")

    def __init__(
        self, share: float = 0.2, *, per_second: float = 1.0, seconds: float = 10.0, scheduler: Scheduler | None = None
    ) -> None:
        _check("share", share)
        _check("per_second", per_second)
        _check("seconds", seconds)
        if not seconds:
            raise ValueError("RetryBudget(seconds=0): a window has to last, for example RetryBudget(seconds=10.0)")
        self._share = share
        self._per_second = per_second
        self._seconds = float(seconds)
        self._scheduler = scheduler
        self._lock = Lock()
        #: For each part of the window: its number, what was begun, and retries.
        self._parts: deque[list[int]] = deque()

    def deposit(self) -> None:
        """A first attempt begins."""
        now = self._now()
        with self._lock:
            self._part(now)[1] += 1

    def withdraw(self) -> bool:
        """Take a retry out of the budget; False: there is none."""
        now = self._now()
        with self._lock:
            part = self._part(now)
            if self._left() < 1:
                return False
            part[2] += 1
            return True

    @property
    def balance(self) -> int:
        """How many retries are left just now."""
        now = self._now()
        with self._lock:
            self._part(now)
            return max(0, int(self._left()))

    def _now(self) -> float:
        clock = self._scheduler
        return (find_scheduler("computation") if clock is None else clock).now()

    def _part(self, now: float) -> list[int]:
        """The part of now; what is older than the window is forgotten. Holds the lock."""
        parts = self._parts
        number = int(now * _PARTS / self._seconds)
        while parts and parts[0][0] <= number - _PARTS:
            parts.popleft()
        if not parts or parts[-1][0] < number:  # a thread may come late with its time
            parts.append([number, 0, 0])
        return parts[-1]

    def _left(self) -> float:
        begun = sum(part[1] for part in self._parts)
        retries = sum(part[2] for part in self._parts)
        return begun * self._share + self._per_second * self._seconds - retries + 1e-9  # 0.1 is a little less than a tenth

    def __repr__(self) -> str:
        return f"RetryBudget({self._share}, per_second={self._per_second}, seconds={self._seconds})"


def _check(name: str, number: Any) -> None:
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number < inf:
        raise ValueError(
            f"RetryBudget({name}={number!r}): a number of at least 0 is needed, for example RetryBudget(0.2, per_second=1.0)"
        )

"""CircuitBreaker: what keeps calls from a service that fails."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum
from threading import Lock
from typing import TYPE_CHECKING, Any, final

from rx_core import scheduler as find_scheduler

if TYPE_CHECKING:
    from rx_core import Scheduler


class CircuitOpenError(RuntimeError):
    """A circuit breaker let no call through. ``retry_after``: for so many seconds it lets none."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message, retry_after)
        self.retry_after = retry_after

    def __str__(self) -> str:
        return str(self.args[0])


class CircuitState(Enum):
    """What a circuit breaker does with a call."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half open"


class Permit:
    """The leave for one call, whose outcome is reported once: later reports change nothing."""

    __slots__ = ("_breaker", "began", "generation", "unreported")

    unreported: Any

    def __init__(self, breaker: CircuitBreaker, generation: int, began: float) -> None:
        self._breaker = breaker
        self.generation = generation
        self.began = began
        self.unreported = [True]

    def succeeded(self) -> None:
        self._report(True)

    def failed(self, error: Exception) -> None:
        """A failure, unless the breaker's ``when(error)`` is false. What ``when`` raises is raised, and is a failure."""
        when = self._breaker._when
        try:
            fails = when is None or bool(when(error))
        except BaseException:
            self._report(False)
            raise
        self._report(False if fails else None)

    def released(self) -> None:
        """The call came to no outcome."""
        self._report(None)

    def _report(self, outcome: bool | None) -> None:
        try:
            self.unreported.pop()  # atomic: an end and a cancel may come at the same time
        except IndexError:
            return
        self._breaker._report(self, outcome)


@final
class CircuitBreaker:
    """Lets no calls through for a while when too many have failed: for ``circuit_breaker(breaker)``.

    *Closed*, it counts: when ``failures`` of the last ``of`` calls have failed it opens. *Open*, it refuses each call with a
    :class:`CircuitOpenError`, for ``open_for`` seconds. Then it is *half open*: up to ``probes`` calls are let through. When all
    of them succeed it closes and forgets what it counted; the first one that fails opens it again. A probe that has not ended
    after ``open_for`` seconds gives its place to another one, so that a call that hangs does not keep the breaker half open.

    ``when(error)`` says what is a failure; any other error, and a call that is cancelled before it gave anything, counts neither
    way. The outcome of a call that began before the breaker changed its state is not counted either. The clock is that of
    ``scheduler`` (``computation``).

    Make one for each service, and give it to all pipelines that call it. Thread-safe, also without the GIL; no function of the
    user is called while its lock is held. Memory: ``of`` truth values.
    Source: resilience4j ``CircuitBreaker``.
    """

    __slots__ = (
        "_failures",
        "_generation",
        "_lock",
        "_of",
        "_open_for",
        "_opened",
        "_passed",
        "_probes",
        "_probing",
        "_recent",
        "_scheduler",
        "_state",
        "_when",
    )

    def __init__(
        self,
        failures: int = 5,
        of: int = 10,
        *,
        open_for: float = 30.0,
        probes: int = 1,
        when: Callable[[Exception], object] | None = None,
        scheduler: Scheduler | None = None,
    ) -> None:
        for name, number in (("failures", failures), ("of", of), ("probes", probes)):
            if type(number) is not int or number < 1:
                raise ValueError(
                    f"CircuitBreaker({name}={number!r}): a number of at least 1 is needed, for example CircuitBreaker(5, 10)"
                )
        if failures > of:
            raise ValueError(
                f"CircuitBreaker({failures}, {of}): {of} calls cannot have {failures} failures.\n"
                f"  Right:  CircuitBreaker({of}, {failures})   # opens when {of} of the last {failures} calls failed"
            )
        _check_seconds(open_for)
        if when is not None and not callable(when):
            raise TypeError(
                f"CircuitBreaker(when={when!r}): a function is needed.\n"
                f"  Right:  CircuitBreaker(when=lambda error: isinstance(error, OSError))"
            )
        self._failures = failures
        self._of = of
        self._open_for = float(open_for)
        self._probes = probes
        self._when = when
        self._scheduler = scheduler
        self._lock = Lock()
        self._state = CircuitState.CLOSED
        #: Of which permits the outcome counts: those since the last change of the state.
        self._generation = 0
        #: Whether each of the last calls failed.
        self._recent: deque[bool] = deque(maxlen=of)
        self._opened = 0.0
        #: The probes that run, and how many have succeeded.
        self._probing: set[Permit] = set()
        self._passed = 0

    @property
    def state(self) -> CircuitState:
        """What becomes of the next call, but for a time that has passed: it is the next call that makes an open one half open."""
        return self._state

    def acquire(self) -> Permit:
        """The leave for a call, with which the caller reports how the call ended. Raises CircuitOpenError."""
        now = self._now()
        with self._lock:
            if self._state is CircuitState.OPEN:
                left = self._opened + self._open_for - now
                if left > 0:
                    raise CircuitOpenError(f"{self!r} is open for another {left:.3g} seconds", left)
                self._change(CircuitState.HALF_OPEN)
            permit = Permit(self, self._generation, now)
            if self._state is CircuitState.HALF_OPEN:
                for probe in [each for each in self._probing if now - each.began >= self._open_for]:
                    self._probing.remove(probe)
                if len(self._probing) + self._passed >= self._probes:
                    first = min(each.began for each in self._probing)
                    left = max(0.0, first + self._open_for - now)
                    raise CircuitOpenError(f"{self!r} is half open, and all of its probes are running", left)
                self._probing.add(permit)
            return permit

    def _report(self, permit: Permit, outcome: bool | None) -> None:
        now = self._now()
        with self._lock:
            if permit.generation != self._generation:
                return
            if self._state is CircuitState.HALF_OPEN:
                if permit not in self._probing:
                    return  # it took too long
                self._probing.remove(permit)
                if outcome:
                    self._passed += 1
                    if self._passed >= self._probes:
                        self._change(CircuitState.CLOSED)
            elif outcome is not None:
                self._recent.append(not outcome)
            if outcome is False and (self._state is CircuitState.HALF_OPEN or sum(self._recent) >= self._failures):
                self._opened = now
                self._change(CircuitState.OPEN)

    def _change(self, state: CircuitState) -> None:
        """Holds the lock."""
        self._state = state
        self._generation += 1
        self._probing.clear()
        self._passed = 0
        self._recent.clear()

    def _now(self) -> float:
        clock = self._scheduler
        return (find_scheduler("computation") if clock is None else clock).now()

    def __repr__(self) -> str:
        return f"CircuitBreaker({self._failures}, {self._of}, open_for={self._open_for}, probes={self._probes})"


def _check_seconds(seconds: Any) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        raise ValueError(
            f"CircuitBreaker(open_for={seconds!r}): seconds above 0 are needed, for example CircuitBreaker(open_for=30.0)"
        )

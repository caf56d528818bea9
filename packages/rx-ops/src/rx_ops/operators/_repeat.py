"""Subscribing to the same source again, after its end or after an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import composite, name_of, user_call, worker_of
from rx_fusion import op
from rx_ops.operators._clock import scheduled
from rx_ops.operators._mapping import as_error
from rx_ops.operators._rounds import Asking, Handler, Rounds, shorten

if TYPE_CHECKING:
    from rx_core import Publisher, Scheduler, Subscriber, Worker
    from rx_ops._budget import RetryBudget

T = TypeVar("T")


@op("repeat")
class Repeat(Rounds[T]):
    """Subscribes again after completion, with the demand that is left."""

    __slots__ = ("times",)

    def __init__(self, down: Subscriber[T], source: Publisher[T], times: int | None) -> None:
        super().__init__(down, source)
        self.times = times

    def open(self) -> None:
        if self.times != 0:
            super().open()

    def step(self, demand: int) -> int:
        return self.finish() if self.times == 0 else super().step(demand)

    def source_ended(self, error: Exception | None, demand: int) -> int:
        if error is not None or self.rounds + 1 == self.times:
            return self.finish(error)
        return self.again(demand)


@op("repeat_until")
class RepeatUntil(Rounds[T]):
    """The same, until ``stop()`` is true after a completion."""

    __slots__ = ("stop",)

    def __init__(self, down: Subscriber[T], source: Publisher[T], stop: Callable[[], object]) -> None:
        super().__init__(down, source)
        self.stop = stop

    def source_ended(self, error: Exception | None, demand: int) -> int:
        if error is not None:
            return self.finish(error)
        try:
            over = bool(user_call("repeat_until", self.stop))
        except Exception as failure:
            return self.finish(as_error(failure))
        return self.finish() if over else self.again(demand)


# -- retry -----------------------------------------------------------------------------------------------------------------------


@op("retry")
class Retry(Rounds[T]):
    """Subscribes again after an error, with what is left of demand, while ``predicate(error)`` is true and ``budget`` has one."""

    __slots__ = ("budget", "name", "predicate", "times")

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        times: int | None,
        predicate: Callable[[Exception], object] | None = None,
        budget: RetryBudget | None = None,
        name: str = "retry",
    ) -> None:
        super().__init__(down, source)
        self.times = times
        self.predicate = predicate
        self.budget = budget
        self.name = name

    def open(self) -> None:
        if self.budget is not None:
            self.budget.deposit()
        super().open()

    def source_ended(self, error: Exception | None, demand: int) -> int:
        if error is None or (self.times is not None and self.rounds >= self.times):
            return self.finish(error)
        if self.predicate is not None:
            try:
                agreed = bool(user_call(self.name, self.predicate, error))
            except Exception as second:
                return self.finish(composite([error, as_error(second)]))
            if not agreed:
                return self.finish(error)
        if not self.agreed(error):
            return self.finish(error)
        shorten(error)
        return self.again(demand)

    def agreed(self, error: Exception) -> bool:
        """Whether there may be one more attempt, of which this asks last: what it answers is spent."""
        if self.budget is None or self.budget.withdraw():
            return True
        note = f"{self.name}(): not tried again, nothing is left of {self.budget!r}"
        if note not in getattr(error, "__notes__", ()):  # one exception may come to many subscribers
            error.add_note(note)
        return False


@op("retry_until")
class RetryUntil(Retry[T]):
    """The same, until ``stop()`` is true after an error."""

    __slots__ = ()

    def __init__(self, down: Subscriber[T], source: Publisher[T], stop: Callable[[], object]) -> None:
        def goes_on(_error: Exception) -> bool:
            return not stop()

        goes_on.__qualname__ = name_of(stop)  # in notes it is the user's function
        super().__init__(down, source, None, goes_on, name="retry_until")


@op("retry_backoff")
class RetryBackoff(Retry[T]):
    """As retry, after a pause on a worker that grows with each attempt."""

    __slots__ = ("pause", "scheduler", "waiting", "worker")

    scheduler: Scheduler
    #: Made for the first pause: without an error no scheduler is needed.
    worker: Worker | None
    #: A pause runs.
    waiting: bool

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        times: int | None,
        first: float,
        longest: float,
        factor: float,
        jitter: float,
        predicate: Callable[[Exception], object] | None,
        scheduler: Scheduler,
        budget: RetryBudget | None = None,
    ) -> None:
        super().__init__(down, source, times, predicate, budget, "retry_backoff")
        self.pause = _pauses(first, longest, factor, jitter)
        self.scheduler = scheduler
        self.worker = None
        self.waiting = False

    def again(self, demand: int) -> int:
        if self.worker is None:
            self.worker = worker_of(self.scheduler)
        seconds = self.pause(self.rounds)
        self.rounds += 1
        self.waiting = True
        scheduled(self, self.worker, self._wake, seconds)
        return demand

    def source_ended(self, error: Exception | None, demand: int) -> int:
        try:
            return super().source_ended(error, demand)
        except Exception as failure:  # no scheduler is there
            failure.__cause__ = error
            return self.finish(failure)

    def _wake(self) -> None:
        self.waiting = False
        self.drain()

    def step(self, demand: int) -> int:
        if self.current is None and self.items is None and not self.waiting:
            self.switch_to(self.source, demand)
        return super().step(demand)

    def close(self) -> None:
        super().close()
        if self.worker is not None:
            self.worker.dispose()


def _pauses(first: float, longest: float, factor: float, jitter: float) -> Callable[[int], float]:
    def pause(failures: int) -> float:
        try:
            plain = min(longest, first * factor**failures)
        except OverflowError:
            plain = longest
        if not jitter:
            return plain
        from random import uniform  # hashlib and more come with it: only who asks for jitter pays

        return min(longest, uniform(plain * (1 - jitter), plain * (1 + jitter)))

    return pause


@op("repeat_when")
class RepeatWhen(Asking[T]):
    """After each completion the handler's stream is told its number."""

    __slots__ = ()

    def __init__(self, down: Subscriber[T], source: Publisher[T], handler: Handler, face: Callable[[Any], Any]) -> None:
        super().__init__(down, source, handler, face, "repeat_when", "completions")

    def source_ended(self, error: Exception | None, demand: int) -> int:
        return self.ask(self.rounds + 1, demand) if error is None else self.finish(error)


@op("retry_when")
class RetryWhen(Asking[T]):
    """After each error the handler's stream is told the error."""

    __slots__ = ()

    def __init__(self, down: Subscriber[T], source: Publisher[T], handler: Handler, face: Callable[[Any], Any]) -> None:
        super().__init__(down, source, handler, face, "retry_when", "errors")

    def source_ended(self, error: Exception | None, demand: int) -> int:
        if error is None:
            return self.finish()
        shorten(error)
        return self.ask(error, demand)

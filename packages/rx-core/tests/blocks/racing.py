"""What the races of the blocks share: threads that stumble inside the blocks, and parties that record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rx_core import UNBOUNDED, Subscription, blocks, gate
from rx_testing import racing
from rx_testing.racing import caught, rounds

__all__ = ["Probe", "Upstream", "caught", "every_round", "in_turn", "interrupted", "race", "repeat", "rounds"]

_WATCHED = (str(Path(blocks.__file__).parent), gate.__file__, str(Path(__file__).parent))


def race(*workers: Callable[[], object], often: float = 0.02, seconds: float = 30.0) -> None:
    racing.race(*workers, watch=_WATCHED, often=often, seconds=seconds)


def interrupted(call: Callable[[], object], *others: tuple[int, Callable[[], object]]) -> int:
    return racing.interrupted(call, *others, watch=_WATCHED)


def every_round(check: Callable[[int], object]) -> None:
    """Run ``check`` in every round."""
    for number in rounds():
        check(number)


def repeat(times: int, call: Callable[..., object], *arguments: object) -> Callable[[], None]:
    """A worker that makes the same call so many times."""

    def work() -> None:
        for _ in range(times):
            call(*arguments)

    return work


def in_turn(*calls: Callable[[], object]) -> None:
    for call in calls:
        call()


class Probe:
    """A subscriber that records, and counts signals that overlap or come when they must not.

    Recording takes a few steps on purpose, so that an overlapping signal has time to come.
    """

    def __init__(self, request: int = UNBOUNDED) -> None:
        self.subscription: Subscription | None = None
        self.values: list[object] = []
        self.errors: list[Exception] = []
        self.completions = 0
        self.overlaps = 0
        self.late = 0
        self._request = request
        self._inside: str | None = None
        self.on_value: Callable[[object], object] | None = None

    def _enter(self, signal: str) -> str | None:
        before, self._inside = self._inside, signal
        if before is not None:
            self.overlaps = len(self.values) + 1
        if self.errors or self.completions:
            self.late = len(self.values) + 1
        for _ in range(3):  # room for another thread
            pass
        return before

    def on_subscribe(self, subscription: Subscription, /) -> None:
        before = self._enter("on_subscribe")
        self.subscription = subscription
        if self._request:
            subscription.request(self._request)
        self._inside = before

    def on_next(self, item: object, /) -> None:
        before = self._enter("on_next")
        self.values.append(item)
        if self.on_value is not None:
            self.on_value(item)
        self._inside = before

    def on_success(self, item: object, /) -> None:
        before = self._enter("on_success")
        self.values.append(item)
        self.completions = 1
        self._inside = before

    def on_error(self, error: Exception, /) -> None:
        before = self._enter("on_error")
        self.errors.append(error)
        self._inside = before

    def on_complete(self) -> None:
        before = self._enter("on_complete")
        self.completions = self.completions + 1
        self._inside = before

    def assert_serial(self) -> None:
        assert not self.overlaps, f"RS 1.3: signals overlapped, first around element {self.overlaps}"
        assert not self.late, f"RS 1.7: signals after the end, first after element {self.late}"
        assert len(self.errors) + self.completions <= 1, "RS 1.7: several terminal signals"


class Upstream:
    """A Subscription that records; ``answer`` is called in each request."""

    def __init__(self, answer: Callable[[int], object] | None = None) -> None:
        self.requests: list[int] = []
        self.cancels = 0
        self.overlaps = 0
        self.answer = answer
        self._inside = False

    def request(self, n: int, /) -> None:
        if self._inside:
            self.overlaps = len(self.requests) + 1
        self._inside = True
        self.requests.append(n)
        if self.answer is not None:
            self.answer(n)
        self._inside = False

    def cancel(self) -> None:
        self.cancels += 1

    @property
    def total(self) -> int:
        return sum(self.requests)

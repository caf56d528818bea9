"""Subscribers that write down every signal, in order and with its time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rx_core import UNBOUNDED
from rx_ops import Completable, Flowable, Maybe, Observable, Single
from rx_testing import VirtualScheduler

COMPLETE: Final = "complete"
#: The error of a source in most tests: signals are compared by identity.
ERROR: Final = ValueError("of the source")


@dataclass(frozen=True)
class Success:
    """The item of a Single or a Maybe."""

    item: object


@dataclass(frozen=True)
class An:
    """Equal to every error of this kind: ``signals == [1, An(TimeoutError)]``."""

    kind: type[Exception]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.kind)

    def __hash__(self) -> int:
        return hash(self.kind)


class Log:
    """The signals of one subscription."""

    def __init__(self, request: int = UNBOUNDED, clock: VirtualScheduler | None = None) -> None:
        self.initial, self.clock = request, clock
        self.signals: list[Any] = []
        #: The same with the seconds on the clock.
        self.timed: list[tuple[float, Any]] = []
        self.upstream: Any = None

    def on_subscribe(self, upstream: Any, /) -> None:
        self.upstream = upstream
        if self.initial and hasattr(upstream, "request"):
            upstream.request(self.initial)

    def on_next(self, item: Any, /) -> None:
        self._note(item)

    def on_success(self, item: Any, /) -> None:
        self._note(Success(item))

    def on_error(self, error: Exception, /) -> None:
        self._note(error)

    def on_complete(self) -> None:
        self._note(COMPLETE)

    def _note(self, signal: Any) -> None:
        self.signals.append(signal)
        self.timed.append((0.0 if self.clock is None else round(self.clock.now(), 6), signal))


class _OfOne(Log):
    """The observer of a stream of one item at most has no ``on_next``."""

    on_next = None  # type: ignore[assignment]  # nothing may call it


Stream = Flowable[Any] | Observable[Any] | Single[Any] | Maybe[Any] | Completable


def watch(stream: Stream, *, request: int = UNBOUNDED, clock: VirtualScheduler | None = None) -> Log:
    """Subscribe; on a Flowable request so many items."""
    log = Log(request, clock) if isinstance(stream, Flowable | Observable) else _OfOne(request, clock)
    stream.subscribe(log)
    return log


def signals(
    stream: Stream, clock: VirtualScheduler | None = None, *, seconds: float = 20.0, request: int = UNBOUNDED
) -> list[Any]:
    """All signals of a stream, those included that come while the clock moves on for some seconds."""
    log = watch(stream, request=request, clock=clock)
    if clock is not None:
        clock.advance_by(seconds)
    return log.signals


def timed(stream: Stream, clock: VirtualScheduler, *, seconds: float = 20.0) -> list[tuple[float, Any]]:
    """All signals of a stream with their times."""
    log = watch(stream, clock=clock)
    clock.advance_by(seconds)
    return log.timed

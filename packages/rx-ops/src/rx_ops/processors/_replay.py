"""What was before, then what comes."""

from __future__ import annotations

from typing import TypeVar

from rx_core import Scheduler
from rx_core.streams import Log, ReplayHub
from rx_ops._faces._core import check_count, check_seconds, default_scheduler
from rx_ops.processors._multicast import FlowableProcessor, Subject

T = TypeVar("T")


def _hub(name: str, size: int | None, seconds: float | None, scheduler: Scheduler | None, *, asked: bool) -> ReplayHub[T]:
    if size is not None:
        check_count(name, size, 1, "size")
    if seconds is not None:
        check_seconds(name, seconds)
    return ReplayHub(name, Log(size, seconds, default_scheduler(scheduler, name)), patient=True, asked=asked)


class ReplayProcessor(FlowableProcessor[T]):
    """Sends to who subscribes what was before, and then what comes: everything, the last ``size`` items, those of the last
    ``seconds``, or what fits both. Also after the end.

    Demand:  each subscriber has its own pace; what it has not requested waits.
    Errors:  go to all behind the items; after the end to the error hook. ValueError or TypeError for a bad bound.
    Memory:  all items, or ``size``, or those of ``seconds`` (looked at with each signal), and beyond that what the slowest
             subscriber has not taken yet.
    Thread:  that of the signal, from one thread at a time (else :meth:`to_serialized`), or the one that requests. ``seconds``
             are those of ``scheduler`` (default: computation).
    Fusion:  hot source, stages are pushed through without a queue.   Source: RxJava ``ReplayProcessor``.
    """

    __slots__ = ("_replay",)

    def __init__(self, size: int | None = None, seconds: float | None = None, *, scheduler: Scheduler | None = None) -> None:
        self._replay: ReplayHub[T] = _hub("ReplayProcessor", size, seconds, scheduler, asked=True)
        super().__init__(self._replay)

    @property
    def values(self) -> list[T]:
        """What a subscriber that comes now would get first."""
        return list(self._replay.log.kept())


class ReplaySubject(Subject[T]):
    """Sends to who subscribes what was before, and then what comes: everything, the last ``size`` items, those of the last
    ``seconds``, or what fits both. Also after the end.

    Demand:  none.
    Errors:  go to all behind the items; after the end to the error hook. ValueError or TypeError for a bad bound.
    Memory:  all items, or ``size``, or those of ``seconds`` (looked at with each signal).
    Thread:  that of the signal, from one thread at a time (else :meth:`to_serialized`); what was before comes on the one that
             subscribes. ``seconds`` are those of ``scheduler`` (default: computation).
    Fusion:  hot source, stages are pushed through without a queue.   Source: RxJava ``ReplaySubject``.
    """

    __slots__ = ("_replay",)

    def __init__(self, size: int | None = None, seconds: float | None = None, *, scheduler: Scheduler | None = None) -> None:
        self._replay: ReplayHub[T] = _hub("ReplaySubject", size, seconds, scheduler, asked=False)
        super().__init__(self._replay)

    @property
    def values(self) -> list[T]:
        """What an observer that comes now would get first."""
        return list(self._replay.log.kept())

"""One run of a stream for many subscribers, who get what came before, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import FlowableBase, Scheduler, name_of
from rx_fusion import SourceHead
from rx_ops import operators
from rx_ops._faces._connect import FlowableConnect
from rx_ops._faces._core import check_callable, check_count, check_seconds, default_scheduler

if TYPE_CHECKING:
    from rx_ops._faces._results import ConnectableFlowable, Flowable

R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableReplay(FlowableConnect[T_co]):
    """One run of a stream for many subscribers, who get what came before, too."""

    __slots__ = ()

    @overload
    def replay(
        self, size: int | None = ..., seconds: float | None = ..., *, scheduler: Scheduler | None = ...
    ) -> ConnectableFlowable[T_co]: ...
    @overload
    def replay(
        self,
        size: int | None = ...,
        seconds: float | None = ...,
        *,
        selector: Callable[[Flowable[T_co]], FlowableBase[R]],
        scheduler: Scheduler | None = ...,
    ) -> Flowable[R]: ...
    def replay(
        self,
        size: int | None = None,
        seconds: float | None = None,
        *,
        selector: Callable[[Flowable[T_co]], FlowableBase[Any]] | None = None,
        scheduler: Scheduler | None = None,
    ) -> Any:
        """Like :meth:`publish`, and who comes late gets what was before.

        That is everything, or the last ``size`` items, or those of the last ``seconds``, or what fits both.

        ::  --1--2--3|  -->  --1--2--3|     (a later subscriber: -----(12)--3|)

        Demand:  each subscriber has its own pace; the source is asked for what the one that wants most has requested in all.
        Errors:  pass through, behind the items, to late subscribers too; ValueError or TypeError at assembly for a bad bound.
        Memory:  all items, or ``size``, or those of ``seconds`` (looked at with each signal), and beyond that what the slowest
                 subscriber has not taken yet. Held until ``reset()`` or the connection is disposed.
        Thread:  that of the source, or the one that requests. ``seconds`` are those of ``scheduler`` (default: computation).
        Fusion:  a wall for what follows, pushed through without a queue.
        Source:  RxJava ``replay``.
        """
        if size is not None:
            check_count("replay", size, 1, "size")
        if seconds is not None:
            check_seconds("replay", seconds)
        clock = default_scheduler(scheduler, "replay")
        bounds = ", ".join(f"{name}={value}" for name, value in (("size", size), ("seconds", seconds)) if value is not None)
        text = f"{self!r}.replay({bounds})"
        if selector is None:
            return self._connectable("replay", operators.Replay(self, size, seconds, clock, text))
        check_callable("replay", "selector", selector)
        return self._selected(operators.ReplayWithin, "replay", operators.replayed(size, seconds, clock, text), selector)

    def cache(self) -> Flowable[T_co]:
        """All items for all who subscribe, whenever they come; the first starts the stream, which then runs to its end.

        ::  --1--2--3|  -->  --1--2--3|     (a later subscriber: -----(12)--3|)

        Demand:  the source is asked for everything at the first subscription; each subscriber has its own pace.
        Errors:  pass through, behind the items, to late subscribers too.
        Memory:  all items, as long as this pipeline is referenced. Leaving subscribers do not stop the source.
        Thread:  that of the source, or the one that requests.   Fusion:  a wall for what follows, pushed through without a queue.
        Source:  RxJava ``cache``, Reactor ``cache``.
        """
        text = f"{self!r}.cache()"
        said = ("queue: all items, kept for later subscribers",)
        return self._from(SourceHead("cache", operators.cached(self, default_scheduler(None), text), text, (self,), said))

    def cache_ttl(
        self,
        seconds: float | Callable[[T_co], float],
        *,
        errors: bool | Callable[[Exception], float] = False,
        empty: float | Callable[[], float] | None = None,
        scheduler: Scheduler | None = None,
    ) -> Flowable[T_co]:
        """:meth:`cache` for ``seconds`` from the end on: the first who subscribes then starts the stream again.

        While the stream runs all who subscribe share that run, whatever it takes: there is never a second one at the same time.
        ``seconds`` may be a function of an item, as for an answer that says how long it holds; the shortest time of all items
        counts. Without an item it is ``empty`` (as ``seconds``; nothing where that is a function).
        An error reaches those who are there, and is not kept; with ``errors=True`` it is, for as long as a result would be, or
        for the seconds that a function of the error gives.

        ::  --1--2|  -->  --1--2|     (later: (12)|, and when that is stale: --3--4|)

        Demand:  the source is asked for everything at the first subscription; each subscriber has its own pace.
        Errors:  pass through, behind the items; with ``errors`` to late subscribers too. What a function raises, or TypeError or
                 ValueError for what it returns, ends the run and is not kept.
        Memory:  all items, also stale ones, until a subscriber comes for whom there are fresh ones; no timer waits for the time.
                 Leaving subscribers do not stop the source.
        Thread:  that of the source, or the one that requests. ``seconds`` are those of ``scheduler`` (default: computation).
        Fusion:  a wall for what follows, pushed through without a queue.
        Source:  Reactor ``Mono.cache(Duration)``, ``cache(ttlForValue, ttlForError, ttlForEmpty)``. Reactor's
                 ``Flux.cache(history, ttl)``, whose items age one by one and which runs its source once, is
                 ``replay(history, seconds).auto_connect()``.
        """
        return self._from(refreshed_head(self, self, seconds, errors, empty, scheduler))


def refreshed_head(
    shown: object,
    source: object,
    seconds: float | Callable[[Any], float],
    errors: bool | Callable[[Exception], float],
    empty: float | Callable[[], float] | None,
    scheduler: Scheduler | None,
) -> SourceHead:
    """The head of ``cache_ttl``, for all reactive types. ``source`` has the items of what is ``shown``."""
    if not callable(seconds):
        check_seconds("cache_ttl", seconds)
        seconds = float(seconds)
    if empty is not None and not callable(empty):
        check_seconds("cache_ttl", empty, "empty")
    if not isinstance(errors, bool) and not callable(errors):
        raise TypeError(
            f"cache_ttl(errors={errors!r}): True, False or a function of the error is needed.\n"
            f"  Right:  .cache_ttl(60.0, errors=lambda error: 5.0)"
        )
    if errors is True and callable(seconds):
        raise TypeError(
            f"cache_ttl({name_of(seconds)}, errors=True): seconds is a function of an item, which says nothing of an error.\n"
            f"  Right:  .cache_ttl({name_of(seconds)}, errors=lambda error: 5.0)"
        )
    text = f"{shown!r}.cache_ttl({name_of(seconds) if callable(seconds) else seconds})"
    lifetimes: operators.Lifetimes[Any] = operators.Lifetimes(seconds, errors, empty)
    shared: operators.Refreshed[Any] = operators.Refreshed(source, lifetimes, default_scheduler(scheduler, "cache_ttl"), text)
    return SourceHead("cache_ttl", shared, text, (shown,), ("one run for all, its result kept until it is stale",))

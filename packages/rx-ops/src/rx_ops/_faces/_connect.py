"""One run of a stream for many subscribers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import DEFAULT_PREFETCH, FlowableBase, Scheduler, check_prefetch, name_of
from rx_fusion import OperatorHead, SourceHead
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable, check_count, check_seconds, default_scheduler
from rx_ops.operators import (
    Connectable,
    Publish,
    PublishWithin,
    RefCount,
    Replay,
    ReplayWithin,
    Within,
    cached,
    published,
    replayed,
)

if TYPE_CHECKING:
    from rx_ops._faces._results import ConnectableFlowable, Flowable

R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableConnect(FlowableCore[T_co]):
    """One run of a stream for many subscribers."""

    __slots__ = ()

    @overload
    def publish(self, /, *, prefetch: int = ...) -> ConnectableFlowable[T_co]: ...
    @overload
    def publish(self, selector: Callable[[Flowable[T_co]], FlowableBase[R]], /, *, prefetch: int = ...) -> Flowable[R]: ...
    def publish(
        self,
        selector: Callable[[Flowable[T_co]], FlowableBase[Any]] | None = None,
        /,
        *,
        prefetch: int = DEFAULT_PREFETCH,
    ) -> Any:
        """One run of this stream for all who subscribe, started by ``connect()``, or for all uses of it in ``selector``.

        ::  --1--2--3|  -->  --1--2--3|     (a later subscriber: -----2--3|)

        Demand:  that of the slowest subscriber; with none the stream waits. The source is asked for ``prefetch`` elements and
                 replenished at 75 %.
        Errors:  pass through, to all; who subscribes after the end gets the end, until ``reset()``. What ``selector`` raises ends
                 the stream.
        Memory:  ``prefetch`` items.
        Thread:  that of the source, or the one whose request was the last to be waited for.
        Fusion:  a wall for what follows, pushed through without a queue.
        Source:  RxJava ``publish``. What it gives to ``selector`` ends with the stream that ``selector`` returns.
        """
        check_prefetch("publish", prefetch)
        if selector is None:
            return self._connectable("publish", Publish(self, prefetch, f"{self!r}.publish()"))
        check_callable("publish", "selector", selector)
        return self._selected(PublishWithin, "publish", published(prefetch, f"{self!r}.publish()"), selector)

    def share(self, /, *, prefetch: int = DEFAULT_PREFETCH) -> Flowable[T_co]:
        """One run of this stream for all who subscribe; the first starts it, the last to leave stops it.

        ::  --1--2--3|  -->  --1--2--3|     (a later subscriber: -----2--3|)

        Demand:  that of the slowest subscriber. The source is asked for ``prefetch`` elements and replenished at 75 %.
        Errors:  pass through, to all. Who subscribes after the end starts the stream again.
        Memory:  ``prefetch`` items.
        Thread:  that of the source, or the one whose request was the last to be waited for.
        Fusion:  a wall for what follows, pushed through without a queue.
        Source:  RxJava ``share``: ``publish().ref_count()``.
        """
        check_prefetch("share", prefetch)
        text = f"{self!r}.share()"
        shared: RefCount[T_co] = RefCount(Publish(self, prefetch, text), 1, 0.0, default_scheduler(None))
        return self._from(SourceHead("share", shared, text, (self,), ("one run for all subscribers",)))

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
            return self._connectable("replay", Replay(self, size, seconds, clock, text))
        check_callable("replay", "selector", selector)
        return self._selected(ReplayWithin, "replay", replayed(size, seconds, clock, text), selector)

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
        return self._from(SourceHead("cache", cached(self, default_scheduler(None), text), text, (self,), said))

    def _connectable(self, name: str, connectable: Connectable[Any]) -> ConnectableFlowable[Any]:
        said = ("runs when connected, once for all subscribers",)
        return _results.ConnectableFlowable(SourceHead(name, connectable, connectable.text, (self,), said), connectable)

    def _selected(
        self, within: type[Within], name: str, make: Callable[[Any], Connectable[Any]], selector: Callable[[Any], Any]
    ) -> Flowable[Any]:
        def face(connectable: Connectable[Any]) -> Flowable[Any]:
            return self._from(SourceHead(name, connectable, connectable.text))

        return self._from(OperatorHead(within, (self,), (name, make, selector, face), shown=f"{name}({name_of(selector)})"))

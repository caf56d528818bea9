"""One run of a stream for many subscribers, who get what comes while they are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import DEFAULT_PREFETCH, FlowableBase, check_prefetch
from rx_fusion import SourceHead
from rx_ops import operators
from rx_ops._faces._connect import FlowableConnect
from rx_ops._faces._core import check_callable, default_scheduler

if TYPE_CHECKING:
    from rx_ops._faces._results import ConnectableFlowable, Flowable

R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowablePublish(FlowableConnect[T_co]):
    """One run of a stream for many subscribers, who get what comes while they are there."""

    __slots__ = ()

    @overload
    def publish(self, *, prefetch: int = ...) -> ConnectableFlowable[T_co]: ...
    @overload
    def publish(self, selector: Callable[[Flowable[T_co]], FlowableBase[R]], *, prefetch: int = ...) -> Flowable[R]: ...
    def publish(
        self,
        selector: Callable[[Flowable[T_co]], FlowableBase[Any]] | None = None,
        *,
        prefetch: int = DEFAULT_PREFETCH,
    ) -> Any:
        """One run of this stream for all who subscribe, started by ``connect()``, or for all uses of it in ``selector``.

        ::  --1--2--3|  -->  --1--2--3|     (a later subscriber: -----2--3|)

        Demand:  that of the slowest subscriber; with none the stream waits. The source is asked for ``prefetch`` items and
                 replenished at 75 %.
        Errors:  pass through, to all; who subscribes after the end gets the end, until ``reset()``. For ``selector`` they
                 overtake items that wait, and what it raises ends the stream.
        Memory:  ``prefetch`` items.
        Thread:  that of the source, or the one whose request was the last to be waited for.
        Fusion:  a wall for what follows, pushed through without a queue.
        Source:  RxJava ``publish``. What it gives to ``selector`` ends with the stream that ``selector`` returns.
        """
        check_prefetch("publish", prefetch)
        if selector is None:
            return self._connectable("publish", operators.Publish(self, prefetch, f"{self!r}.publish()"))
        check_callable("publish", "selector", selector)
        return self._selected(operators.PublishWithin, "publish", operators.published(prefetch, f"{self!r}.publish()"), selector)

    def share(self, *, prefetch: int = DEFAULT_PREFETCH) -> Flowable[T_co]:
        """One run of this stream for all who subscribe; the first starts it, the last to leave stops it.

        ::  --1--2--3|  -->  --1--2--3|     (a later subscriber: -----2--3|)

        Demand:  that of the slowest subscriber. The source is asked for ``prefetch`` items and replenished at 75 %.
        Errors:  pass through, to all. Who subscribes after the end starts the stream again.
        Memory:  ``prefetch`` items.
        Thread:  that of the source, or the one whose request was the last to be waited for.
        Fusion:  a wall for what follows, pushed through without a queue.
        Source:  RxJava ``share``: ``publish().ref_count()``.
        """
        check_prefetch("share", prefetch)
        text = f"{self!r}.share()"
        shared: operators.RefCount[T_co] = operators.RefCount(
            operators.Publish(self, prefetch, text), 1, 0.0, default_scheduler(None)
        )
        return self._from(SourceHead("share", shared, text, (self,), ("one run for all subscribers",)))

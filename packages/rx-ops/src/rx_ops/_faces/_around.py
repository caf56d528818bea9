"""What is around a stream: a resource for each run, and its signals as items."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import FlowableBase, Publisher, name_of
from rx_fusion import OperatorHead
from rx_ops import operators, stages
from rx_ops._faces._core import FlowableCore, check_callable
from rx_ops._notification import Notification

if TYPE_CHECKING:
    from rx_ops._faces._inference import Supplier
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableAround(FlowableCore[T_co]):
    """What is around a stream: a resource for each run, and its signals as items."""

    __slots__ = ()

    @classmethod
    def using(
        cls,
        supplier: Supplier[R],
        factory: Callable[[R], Publisher[T]],
        cleanup: Callable[[R], object],
        *,
        eager: bool = True,
    ) -> Flowable[T]:
        """The stream that ``factory`` makes of a resource, which each run gets from ``supplier`` and gives to ``cleanup``.

        ``cleanup`` runs exactly once: before the end is signalled (with ``eager=False`` after it), or when the run is cancelled.

        ::  --1--2|

        Demand:  passes through.
        Errors:  of the stream; what one of the functions raises. When ``cleanup`` fails as well, both as a CompositeException;
                 after the end or a cancel, its error goes to the error hook.
        Memory:  the resource.   Thread: ``supplier`` and ``factory`` on the one that subscribes, ``cleanup`` on that of the end.
        Fusion:  coordinating; items go on without a queue.
        Source:  RxJava ``using``, Python ``with``.
        """
        check_callable("using", "supplier", supplier)
        check_callable("using", "factory", factory)
        check_callable("using", "cleanup", cleanup)
        return cls._from(using_head(supplier, factory, cleanup, eager))

    def materialize(self) -> Flowable[Notification[T_co]]:
        """Each signal as an item: OnNext for an item, OnError or OnComplete as the last one; then completion.

        ::  --1--2--#  -->  --a--b--c|      (OnNext(1), OnNext(2), OnError)

        Demand:  passes through; the last notification waits until it is wanted.   Errors: none, they are items.
        Memory:  one notification.   Thread: that of the source.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``materialize``.
        """
        return self._coordinate(operators.Materialize)

    @overload
    def dematerialize(self: FlowableBase[Notification[T]]) -> Flowable[T]: ...
    @overload
    def dematerialize(self: FlowableBase[T], selector: Callable[[T], Notification[R]]) -> Flowable[R]: ...
    def dematerialize(self: Any, selector: Any = None) -> Any:
        """Items that are notifications, or of which ``selector`` makes one, as the signals they stand for.

        ::  --a--b--c--d|  -->  --1--2--#      (OnNext(1), OnNext(2), OnError, what is left out)

        Demand:  passes through.
        Errors:  the one in an OnError; what ``selector`` raises; TypeError for an item that is no notification.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, stops.
        Source:  RxJava ``dematerialize``.
        """
        if selector is not None:
            check_callable("dematerialize", "selector", selector)
        return self._then(stages.dematerialize, selector)


def using_head(supplier: Any, factory: Any, cleanup: Any, eager: bool, kind: str = "") -> OperatorHead:
    """The head of ``using``, for all reactive types."""
    shown = f"using({', '.join(map(name_of, (supplier, factory, cleanup)))})"
    return OperatorHead(operators.Using, (), (supplier, factory, cleanup, eager, kind), shown=shown)

"""A stream chosen by the first signal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rx_core import FlowableBase, MaybeBase, Publisher, SingleBase, name_of
from rx_ops import operators
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_callable
from rx_ops._notification import Notification

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableSwitchOnFirst(FlowableCore[T_co]):
    """A stream chosen by the first signal."""

    __slots__ = ()

    def switch_on_first(
        self: FlowableBase[T],
        transformer: Callable[[Notification[T], Flowable[T]], Publisher[R] | SingleBase[R] | MaybeBase[R]],
    ) -> Flowable[R]:
        """What ``transformer`` makes of the first signal and of the whole stream, which begins with that signal.

        The first signal is an OnNext, or for a stream without an item its end: OnComplete or OnError. The whole stream allows one
        subscriber. When what ``transformer`` made is over, this stream is cancelled.

        ::  --1---2-3|  -->  --a---b-c|

        Demand:  one item is asked for in advance; then what is requested of the whole stream passes through.
        Errors:  of what ``transformer`` makes; what it raises, TypeError when it returns no source. An error of this stream is
                 given to the subscriber of the whole stream.
        Memory:  the first item.   Thread: that of the stream; ``transformer`` runs on that of the first signal.
        Fusion:  coordinating; items go on without a queue.
        Source:  Reactor ``switchOnFirst``.
        """
        check_callable("switch_on_first", "transformer", transformer)
        shown = f"switch_on_first({name_of(transformer)})"
        made = self._coordinate(operators.SwitchOnFirst, transformer, _results.Flowable, shown=shown)  # type: ignore[attr-defined]  # self names the base
        return made  # type: ignore[no-any-return]  # as above

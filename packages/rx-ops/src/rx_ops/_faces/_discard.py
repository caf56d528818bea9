"""Hearing of what is thrown away, and what that cannot stand behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import name_of
from rx_fusion import NotCovered, OperatorHead, reached
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_callable

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableDiscard(FlowableCore[T_co]):
    """Hearing of what is thrown away."""

    __slots__ = ()

    def do_on_discard(self, action: Callable[[Any], object]) -> Flowable[T_co]:
        """Calls ``action`` with each item that the operators in front of this throw away: once, and with none that was delivered.

        That is what waits in a queue when the stream is left or fails, what comes too late, and what ``filter``, ``skip``,
        ``debounce`` and the like leave out, unless another function of theirs hears of it. An item that a function has made
        something of is that function's. It reaches back to the sources, and ends at ``hide()``, at what is shared, at types of
        one item, and at another ``do_on_discard``; :meth:`explain` says where. Sources that a function makes, as that of
        ``flat_map``, have their own.

        ::  --1--2--3--4|  -->  --1--2--#      (the 3 and the 4 waited: action(3), action(4))

        Demand:  passes through.
        Errors:  what ``action`` raises goes to the error hook. TypeError at assembly where an operator in front of this could not
                 say what it throws away.
        Memory:  none.   Thread: any, also several at once: whichever finds the item.
        Fusion:  coordinating; what it covers runs operator by operator.
        Source:  Reactor ``doOnDiscard``, at best effort there, and of one type; look at the item's type in ``action``.
        """
        check_callable("do_on_discard", "action", action)
        discard = operators.Discarded(action)
        shown = f"do_on_discard({name_of(action)})"
        return self._from(OperatorHead(operators.DoOnDiscard, (in_reach(self, discard),), (discard,), shown=shown))


def in_reach(pipeline: Any, discard: operators.Discarded) -> Any:
    """``pipeline`` so that ``discard`` hears of what it throws away. TypeError where an operator in it could not say that."""
    try:
        return reached(pipeline, discard)
    except NotCovered as found:
        operator = found.operator
    raise TypeError(
        f"do_on_discard(): {operator} does not tell what it throws away, so it cannot stand in front of this.\n"
        f"  For what is in front of it:  .do_on_discard(f).{operator}\n"
        f"  For what is behind it:       .{operator}.hide(), with more operators and .do_on_discard(f) behind that"
    )

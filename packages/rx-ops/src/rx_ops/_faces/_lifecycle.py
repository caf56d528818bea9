"""Operators that look on at the protocol itself: subscriptions, requests, cancels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import Subscription
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_callable

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableLifecycle(FlowableCore[T_co]):
    """Operators that look on at the protocol itself."""

    __slots__ = ()

    def do_on_subscribe(self, action: Callable[[Subscription], object]) -> Flowable[T_co]:
        """Calls ``action`` with the subscription, for each one, before downstream has it.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: what ``action`` raises ends the stream. The source is cancelled; behind an operator
        that waits or joins streams it is not subscribed in the first place, so a shared one does not start.
        Memory:  none.   Thread: the one that subscribes.   Fusion: none; what comes before and behind meets by the protocol.
        Source:  RxJava ``doOnSubscribe``.
        """
        check_callable("do_on_subscribe", "action", action)
        return self._coordinate(operators.DoOnSubscribe, action)

    def do_on_request(self, action: Callable[[int], object]) -> Flowable[T_co]:
        """Calls ``action`` with the number of each request that comes here, before it goes on.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through; 2**63 - 1 is everything.   Errors: what ``action`` raises goes to the error hook.
        Memory:  none.   Thread: the one that requests.   Fusion: none; what comes before and behind meets by the protocol.
        Source:  RxJava ``doOnRequest``.
        """
        check_callable("do_on_request", "action", action)
        return self._coordinate(operators.DoOnRequest, action)

    def do_on_cancel(self, action: Callable[[], object]) -> Flowable[T_co]:
        """Calls ``action`` when downstream cancels, ``take`` for example, before the cancel goes on.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: what ``action`` raises goes to the error hook.
        Memory:  none.   Thread: the one that cancels.   Fusion: none; what comes before and behind meets by the protocol.
        Source:  RxJava ``doOnCancel``. Once for each subscription, and not after its end: see also :meth:`do_finally`.
        """
        check_callable("do_on_cancel", "action", action)
        return self._coordinate(operators.DoOnCancel, action)

    def do_on_lifecycle(
        self,
        *,
        on_subscribe: Callable[[Subscription], object] | None = None,
        on_request: Callable[[int], object] | None = None,
        on_cancel: Callable[[], object] | None = None,
    ) -> Flowable[T_co]:
        """:meth:`do_on_subscribe`, :meth:`do_on_request` and :meth:`do_on_cancel`, those of them that are given, in this order.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: what ``on_subscribe`` raises ends the stream; of the others it goes to the error hook.
        Memory:  none.   Thread: the one that subscribes, requests or cancels.
        Fusion:  none; what comes before and behind meets by the protocol.
        Source:  RxJava ``doOnLifecycle``.
        """
        made: Flowable[T_co] = looking_on(self, on_subscribe=on_subscribe, on_request=on_request, on_cancel=on_cancel)
        return made

    def on_terminate_detach(self) -> Flowable[T_co]:
        """Keeps no reference to its subscriber and its source from the end or a cancel on.

        For a Subscription that is kept longer than its stream, or a source that keeps its subscribers: neither keeps alive what
        is on the other side of this.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: pass through.
        Memory:  none.   Thread: that of the source.   Fusion: none; what comes before and behind meets by the protocol.
        Source:  RxJava ``onTerminateDetach``.
        """
        return self._coordinate(operators.OnTerminateDetach)

    def do_after_next(self, action: Callable[[T_co], object]) -> Flowable[T_co]:
        """Calls ``action`` with each item when downstream has taken it.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: what ``action`` raises cancels the source and ends the stream, with a note.
        Memory:  none.   Thread: that of the item.   Fusion: none; what comes before and behind meets by the protocol.
        Source:  RxJava ``doAfterNext``.
        """
        check_callable("do_after_next", "action", action)
        return self._coordinate(operators.DoAfterNext, action)


def looking_on(source: Any, **actions: Callable[..., object] | None) -> Any:
    """``source`` behind ``do_on_subscribe`` and the like, those whose actions are given."""
    for name, action in actions.items():
        if action is not None:
            check_callable("do_on_lifecycle", name, action)
            source = getattr(source, f"do_{name}")(action)
    return source

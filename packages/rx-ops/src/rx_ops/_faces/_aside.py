"""Operators that look on: something happens beside the stream, which stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rx_ops import operators, stages
from rx_ops._faces._core import FlowableCore, check_callable
from rx_ops._notification import Notification

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableAside(FlowableCore[T_co]):
    """Operators that look on."""

    __slots__ = ()

    def do_on_next(self, action: Callable[[T_co], object]) -> Flowable[T_co]:
        """Calls ``action`` with each item before it goes on.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: what ``action`` raises ends the stream, with a note.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, one to one.
        Source:  RxJava ``doOnNext``.
        """
        return self._calling(stages.do_on_next, action)

    def do_on_complete(self, action: Callable[[], object]) -> Flowable[T_co]:
        """Calls ``action`` before the completion goes on.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: what ``action`` raises takes the place of the completion.
        Memory:  none.   Thread: that of the completion.   Fusion: stage.
        Source:  RxJava ``doOnComplete``.
        """
        return self._calling(stages.do_on_complete, action)

    def do_on_error(self, action: Callable[[Exception], object]) -> Flowable[T_co]:
        """Calls ``action`` with the error before it goes on.

        ::  --1--2--#  -->  --1--2--#

        Demand:  passes through.   Errors: the error; when ``action`` raises, both as a CompositeException.
        Memory:  none.   Thread: that of the error.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``doOnError``.
        """
        check_callable("do_on_error", "action", action)
        return self._coordinate(operators.DoOnError, action)

    def do_on_terminate(self, action: Callable[[], object]) -> Flowable[T_co]:
        """Calls ``action`` before the completion or the error goes on.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.
        Errors:  the error; when ``action`` raises, both as a CompositeException, or that alone in the place of the completion.
        Memory:  none.   Thread: that of the end.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``doOnTerminate``, whose Flowable calls it a second time for the error that it raised itself. Here it is
                 called once; not after a cancel.
        """
        check_callable("do_on_terminate", "action", action)
        return self._coordinate(operators.DoOnTerminate, action)

    def do_after_terminate(self, action: Callable[[], object]) -> Flowable[T_co]:
        """Calls ``action`` when the completion or the error was signalled, and not after a cancel.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: what ``action`` raises goes to the error hook.
        Memory:  none.   Thread: that of the end.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``doAfterTerminate``. After a cancel as well: :meth:`do_finally`.
        """
        check_callable("do_after_terminate", "action", action)
        return self._coordinate(operators.DoAfterTerminate, action)

    def do_on_each(self, action: Callable[[Notification[T_co]], object]) -> Flowable[T_co]:
        """Calls ``action`` with each signal before it goes on, as OnNext, OnError or OnComplete.

        ::  --1--2--3|  -->  --1--2--3|      (OnNext(1), OnNext(2), OnNext(3), OnComplete)

        Demand:  passes through.
        Errors:  what ``action`` raises ends the stream, with a note, and as the signal that goes on then ``action`` is called
                 with it, too. When it raises for an error, both as a CompositeException.
        Memory:  one notification.   Thread: that of the signal.   Fusion: coordinating; items go on without a queue.
        Source:  RxJava ``doOnEach``.
        """
        check_callable("do_on_each", "action", action)
        return self._coordinate(operators.DoOnEach, action)

    def do_finally(self, action: Callable[[], object]) -> Flowable[T_co]:
        """Calls ``action`` exactly once after the end was signalled, or after a cancel.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: what ``action`` raises goes to the error hook.
        Memory:  none.   Thread: that of the end, or of the run that is cancelled.
        Fusion:  coordinating; items go on without a queue.
        Source:  RxJava ``doFinally``. Several of them run the last one first.
        """
        check_callable("do_finally", "action", action)
        return self._coordinate(operators.DoFinally, action)

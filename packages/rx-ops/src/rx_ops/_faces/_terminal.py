"""Where a stream ends on the thread that wants its items."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast, overload

from rx_core import GROWING_PREFETCH, UNBOUNDED, EmptyStreamError, FlowableBase, Run, Source, check_prefetch
from rx_core.streams import Waiting
from rx_fusion import IterableHead, OperatorHead, operator_arguments, stage_arguments, stage_of
from rx_ops import stages
from rx_ops._faces._core import FlowableCore, check_callable

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_ops._faces._inference import OpClass
    from rx_ops._faces._results import Flowable

R = TypeVar("R")
T = TypeVar("T")
P = ParamSpec("P")
T_co = TypeVar("T_co", covariant=True)


class FlowableTerminal(FlowableCore[T_co]):
    """Where a stream ends on the thread that wants its items, and functions over whole streams."""

    __slots__ = ()

    def __iter__(self) -> Iterator[T_co]:
        """Iterate on this thread; see :meth:`blocking_iter`."""
        return self._iterate()

    def blocking_iter(self, *, prefetch: int = GROWING_PREFETCH, latest: bool = False) -> Iterator[T_co]:
        """The items one by one, on this thread, waiting while there is none. Leaving the loop cancels.

        With ``latest`` each turn of the loop sees the newest item: what came before it and was not taken yet is dropped. Of a
        source that is synchronous that is the last one.

        ::  --1--2--3|  -->  1 2 3

        Demand:  ``prefetch`` items at a time where the source has to be asked; with ``latest`` everything.
        Errors:  raised where the item would be.
        Memory:  ``prefetch`` items at a boundary; when none is given 128, and step by step up to 4096 while another thread sends
                 all it may each time this one has none left, within a millisecond. With ``latest`` one.
        Thread:  this one, for user functions too.
        Fusion:  one loop with a synchronous source; none with ``latest``.
        Source:  RxJava ``blockingIterable``; with ``latest`` ``blockingLatest``.
        """
        check_prefetch("blocking_iter", prefetch)
        return Waiting[T_co](UNBOUNDED, self, latest=True).items(self) if latest else self._iterate(prefetch)

    def blocking_for_each(self, action: Callable[[T_co], object], *, prefetch: int = GROWING_PREFETCH) -> None:
        """Calls ``action`` with each item on this thread and returns when the stream is complete.

        ::  --1--2--3|  -->  1 2 3

        Demand, memory, thread and fusion are those of :meth:`blocking_iter`.
        Errors:  the stream's and the action's are raised; the latter cancels.
        Source:  RxJava ``blockingForEach``.
        """
        check_callable("blocking_for_each", "action", action)
        check_prefetch("blocking_for_each", prefetch)
        self._each(self.blocking_iter(prefetch=prefetch), action)

    def blocking_list(self) -> list[T_co]:
        """All items in a list, on this thread.

        ::  --1--2--3|  -->  [1, 2, 3]

        Demand, thread and fusion are those of :meth:`blocking_iter`.   Errors: raised.   Memory: all items.
        Source:  RxJava ``toList().blockingGet()``.
        """
        return self._gathered(list, self._iterate(whole=True))

    def blocking_first(self) -> T_co:
        """The first item, on this thread; cancels the rest.

        ::  --1--2--3|  -->  1

        Demand:  one item.   Errors: raised; EmptyStreamError when there is none.
        Memory:  none.   Thread: this one.   Fusion: one loop with a synchronous source.
        Source:  RxJava ``blockingFirst``.
        """
        head = self._head
        if isinstance(head, (IterableHead, OperatorHead)):
            first = self._first()
        else:
            first = self.take(1)._first()  # type: ignore[attr-defined]  # take is another family's; these are to hear of it
        if first is None:
            raise EmptyStreamError(f"{self!r}.blocking_first()")
        return cast("T_co", first)

    def blocking_last(self) -> T_co:
        """The last item, on this thread.

        ::  --1--2--3|  -->  3

        Demand:  everything.   Errors: raised; EmptyStreamError when there is none.
        Memory:  one item.   Thread: this one.   Fusion: one loop with a synchronous source.
        Source:  RxJava ``blockingLast``.
        """
        last: deque[T_co] = self._gathered(_last, self._iterate())
        if not last:
            raise EmptyStreamError(f"{self!r}.blocking_last()")
        return last[0]

    def pipe(self, operator: Callable[Concatenate[Flowable[T_co], P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """``operator(self, *args, **kwargs)``: a user's function in a chain, exactly typed.

        ::  --1--2--3|  -->  --a--b--c|      (whatever the function makes of it)

        Demand, errors, memory, thread and fusion are those of the function.
        Source:  pandas ``pipe``; for several functions chain several calls.
        """
        check_callable("pipe", "operator", operator)
        return operator(cast("Flowable[T_co]", self), *args, **kwargs)

    def compose(self, transformer: Callable[[Flowable[T_co]], FlowableBase[R]]) -> Flowable[R]:
        """What ``transformer`` makes of this stream, called once at assembly.

        ::  --1--2--3|  -->  --a--b--c|

        Demand, errors, memory, thread and fusion are those of the result.
        Source:  RxJava ``compose``.
        """
        check_callable("compose", "transformer", transformer)
        made = transformer(cast("Flowable[T_co]", self))
        return self.wrap(made)  # type: ignore[attr-defined,no-any-return]  # wrap is another family's

    def stage(
        self, function: Callable[Concatenate[Iterable[T_co], P], Iterator[R]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Flowable[R]:
        """A user's stage in this stream: a generator function decorated with ``rx_ops.stage``, and its arguments.

        ::  --1--2--3|  -->  --a--b--c|      (whatever the stage makes of it)

        Demand:  passes through, or as the stage's ``request`` says.
        Errors:  what the stage raises, with a note; TypeError when it yields None (RS 2.13). StageError or TypeError at assembly
                 for a function that is no stage or takes other arguments.
        Memory:  the stage's.   Thread: the one that requests.   Fusion: a stage like those of this package.
        Source:  ours. For an operator that needs more than a loop over items see :meth:`lift`.
        """
        if not callable(function):
            raise TypeError(
                f"stage() expected a stage, got {function!r}.\n  Write:  @stage above the definition of a generator function"
            )
        staged = self._then(function, *stage_arguments(function, args, kwargs))
        return staged._then(stages.not_none, stage_of(function).name)

    @overload
    def through(
        self: FlowableBase[T],
        operator: Callable[Concatenate[Run, Source[T], P], Iterator[R | None]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Flowable[R]: ...
    @overload
    def through(
        self: FlowableBase[T],
        operator: OpClass[R, T, P],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Flowable[R]: ...
    def through(self, operator: Callable[..., object], /, *args: Any, **kwargs: Any) -> Flowable[Any]:
        """A user's coordinating operator over this stream, and its arguments.

        It is an Op decorated with ``rx_fusion.op``, or a function decorated with ``rx_fusion.operator``.

        ::  --1--2--3|  -->  --a--b--c|      (whatever the operator makes of it)

        Demand:  the operator's; it is resumed when items are wanted.
        Errors:  what the operator raises. TypeError at assembly for a function that is no operator or takes other arguments.
        Memory:  the operator's.   Thread: the one that requests, or wakes.
        Fusion:  coordinating; a queue in front of it where this stream pushes.
        Source:  ours; see the guide to writing operators. For a loop over items see :meth:`stage`.
        """
        if not callable(operator):
            raise TypeError(
                f"through() expected an operator, got {operator!r}.\n  Write:  @operator above the definition of a function"
            )
        return self._coordinate(operator, *operator_arguments(operator, args, kwargs))

    def lift(self, operator: Callable[[Subscriber[R]], Subscriber[T_co]]) -> Flowable[R]:
        """A hand-written operator: from the subscriber downstream to the one this stream is subscribed with, for each run.

        ::  --1--2--3|  -->  --a--b--c|

        Demand, errors and memory are those of the operator, which has to keep the rules itself.
        Thread:  unchanged.   Fusion: a wall.
        Source:  RxJava ``lift``.
        """
        check_callable("lift", "operator", operator)
        return self._lifted(operator)  # type: ignore[attr-defined,no-any-return]  # the face knows how


def _last(items: Iterable[T]) -> deque[T]:
    return deque(items, maxlen=1)

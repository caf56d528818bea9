"""Streams of what calls back: listeners, values that change, APIs that answer later."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import check_prefetch, name_of
from rx_fusion import OperatorHead
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_callable, check_future, right_call
from rx_ops.operators import BackpressureStrategy

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rx_ops._faces._results import Flowable
    from rx_ops.operators import BatchEmitter

T = TypeVar("T")
S = TypeVar("S")
T_co = TypeVar("T_co", covariant=True)


class FlowableListen(FlowableCore[T_co]):
    """Streams of what calls back."""

    __slots__ = ()

    @classmethod
    def generate_async(
        cls,
        initial: Callable[[], S],
        call: Callable[[S, int, BatchEmitter[T, S]], object],
        *,
        dispose: Callable[[S], object] | None = None,
    ) -> Flowable[T]:
        """The answers of an API that is asked for a number of items and calls back: ``call(state, wanted, emitter)``.

        ::  ---(12)---(34)|

        Demand:  ``call`` is called with the number of items wanted, one call at a time, and not before the items of the last
                 answer are taken; it may answer with fewer items than that, or with more, which wait.
        Errors:  what the functions raise or pass to ``emitter.on_error``; TypeError for None among the items.
        Memory:  one batch.   Thread: ``call`` runs on the one that requests, items come there or on the one that answers.
        Fusion:  none; it pushes.
        Source:  RxJava extensions ``generateAsync``. ``call`` answers once, when it likes and on whatever thread: by
                 ``emitter.on_batch(items, state)``, ``on_complete(items)`` or ``on_error(error)``.
        """
        check_callable("generate_async", "initial", initial)
        check_callable("generate_async", "call", call)
        if dispose is not None:
            check_callable("generate_async", "dispose", dispose)
        args = (initial, call, dispose)
        return cls._from(OperatorHead(operators.GenerateAsync, (), args, shown=f"generate_async({name_of(call)})"))

    @overload
    @classmethod
    def from_listener(
        cls,
        add: Callable[[Callable[[T], None]], object],
        remove: Callable[[Callable[[T], None]], object],
        strategy: BackpressureStrategy = ...,
        *,
        capacity: int | None = ...,
        on_drop: Callable[[T], object] | None = ...,
    ) -> Flowable[T]: ...
    @overload
    @classmethod
    def from_listener(
        cls,
        add: Callable[[Callable[..., None]], object],
        remove: Callable[[Callable[..., None]], object],
        strategy: BackpressureStrategy = ...,
        *,
        mapper: Callable[..., T],
        capacity: int | None = ...,
        on_drop: Callable[[T], object] | None = ...,
    ) -> Flowable[T]: ...
    @classmethod
    def from_listener(
        cls,
        add: Callable[[Callable[..., None]], object],
        remove: Callable[[Callable[..., None]], object],
        strategy: BackpressureStrategy = BackpressureStrategy.BUFFER,
        *,
        mapper: Callable[..., Any] | None = None,
        capacity: int | None = None,
        on_drop: Callable[[Any], object] | None = None,
    ) -> Flowable[Any]:
        """What a handler is called with: ``add(handler)`` registers it for each subscription, ``remove(handler)`` takes it back.

        A handler that is called with another number of arguments, or with names, needs ``mapper``, which is called with the same
        and makes the item.

        ::  --1--2--3-

        Demand:  ``strategy`` decides about an item that was not requested: BUFFER (at most ``capacity``), DROP, LATEST, ERROR.
        Errors:  what ``add`` or ``mapper`` raise; MissingBackpressureError by strategy; TypeError for None. What ``remove``
                 raises goes to the error hook.
        Memory:  ``capacity`` items, or whatever the listener is ahead.
        Thread:  the one that calls the handler, or the one that requests. Several may call it at the same time.
        Fusion:  a wall.
        Source:  RxPY ``from_event_pattern``. ``remove`` gets the very function that ``add`` got.
        """
        check_callable("from_listener", "add", add)
        check_callable("from_listener", "remove", remove)
        if mapper is not None:
            check_callable("from_listener", "mapper", mapper)
        listening = operators.Listening(add, remove, mapper)
        return cls._called_back(listening, f"from_listener({name_of(add)})", strategy, capacity, on_drop)

    @classmethod
    def from_future(cls, future: Future[T]) -> Flowable[T]:
        """The result of ``future``, which some executor computes; no thread waits for it.

        ::  --1|

        Demand:  the result waits until it is requested.
        Errors:  what the future failed with, CancelledError included; TypeError for None. TypeError at assembly for a future of
                 an event loop.
        Memory:  the result.
        Thread:  the one that ends the future, or the one that subscribes when it has ended before.
        Fusion:  a wall.
        Source:  RxJava ``fromFuture``, which blocks a thread. A cancel does not cancel the future, as there: others may wait for
                 it. To do so:  ``.do_finally(future.cancel)``.
        """
        check_future("from_future", future)
        source = operators.FutureSource(future, operators.give_stream)
        return cls._called_back(source, "from_future()", BackpressureStrategy.BUFFER, None, None)

    @classmethod
    def from_value(
        cls,
        read: Callable[[], T],
        add: Callable[[Callable[..., None]], object],
        remove: Callable[[Callable[..., None]], object],
        strategy: BackpressureStrategy = BackpressureStrategy.LATEST,
        *,
        capacity: int | None = None,
        on_drop: Callable[[T], object] | None = None,
    ) -> Flowable[T]:
        """The value of something that only says *that* it changed: now, and ``read()`` after each call of the handler.

        ::  1--2--3-

        Demand:  ``strategy`` decides about a value that was not requested. LATEST: the newest waits, so that a request gets
                 what is true now. BUFFER keeps one for each change.
        Errors:  what ``read`` or ``add`` raise; TypeError when ``read`` returns None. What ``remove`` raises goes to the hook.
        Memory:  one value, or by strategy.
        Thread:  ``read`` runs on the one that signals the change, one at a time; the first on the one that subscribes.
        Fusion:  a wall.
        Source:  no counterpart known. The handler takes any arguments and ignores them. It is registered before the first
                 ``read``, and every signal is followed by a ``read``, so the last value is never lost; a change in the middle may
                 be read twice, which ``distinct_until_changed`` removes.
        """
        check_callable("from_value", "read", read)
        check_callable("from_value", "add", add)
        check_callable("from_value", "remove", remove)
        watching = operators.Watching(read, add, remove)
        return cls._called_back(watching, f"from_value({name_of(read)})", strategy, capacity, on_drop)

    @classmethod
    def _called_back(
        cls,
        source: Callable[..., object],
        text: str,
        strategy: BackpressureStrategy,
        capacity: int | None,
        on_drop: Callable[[T], object] | None,
    ) -> Flowable[T]:
        name = text.partition("(")[0]
        if not isinstance(strategy, BackpressureStrategy):
            raise TypeError(
                f"{name}() needs a BackpressureStrategy, got {strategy!r}.\n"
                f"  Right:  {right_call(name, 'strategy', 'BackpressureStrategy.LATEST')}"
            )
        if capacity is not None:
            check_prefetch(name, capacity, "capacity")
        if on_drop is not None:
            check_callable(name, "on_drop", on_drop)
        return cls._from(operators.CreateHead(name, source, strategy, capacity, on_drop, text))

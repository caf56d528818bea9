"""Sources that are called back: listeners, holders of a value, and APIs that answer later."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rx_core import UNBOUNDED, ActionDisposable, SerialDisposable, dropped, none_produced, user_call
from rx_core.blocks import QueueDrain
from rx_core.streams import NO_ITEMS, Op
from rx_fusion import op
from rx_ops.operators._emitter import cancelling, signalled
from rx_ops.operators._mapping import as_error

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_ops.operators._emitter import Emitter

T = TypeVar("T")
S = TypeVar("S")


class Listening(Generic[T]):
    """What ``create`` calls for ``from_listener``. The handler may be called by several threads at once."""

    __slots__ = ("_add", "_mapper", "_remove")

    def __init__(
        self,
        add: Callable[[Callable[..., None]], object],
        remove: Callable[[Callable[..., None]], object],
        mapper: Callable[..., T] | None = None,
    ) -> None:
        self._add = add
        self._remove = remove
        self._mapper = mapper

    def __call__(self, emitter: Emitter[T]) -> None:
        if emitter.is_cancelled:
            return
        drain: QueueDrain[T] = QueueDrain(emitter.on_next)

        mapper = self._mapper

        def take(item: T) -> None:
            if item is None:
                drain.end(partial(emitter.on_error, none_produced("from_listener", mapper or self._add)))
            else:
                drain.offer(item)

        def map_and_take(*args: Any, **kwargs: Any) -> None:
            assert mapper is not None
            try:
                item = user_call("from_listener", mapper, *args, **kwargs)
            except Exception as error:  # of the stream, and not of the one that calls its listeners
                drain.end(partial(emitter.on_error, as_error(error)))
            else:
                take(item)

        handler: Callable[..., None] = take if mapper is None else map_and_take
        user_call("from_listener", self._add, handler)
        emitter.set_cancellable(lambda: self._remove(handler))  # afterwards: what is cancelled meanwhile is removed at once


class Watching(Generic[T]):
    """What ``create`` calls for ``from_value``. It listens first and reads then, so that no change falls in between."""

    __slots__ = ("_add", "_read", "_remove")

    def __init__(
        self,
        read: Callable[[], T],
        add: Callable[[Callable[..., None]], object],
        remove: Callable[[Callable[..., None]], object],
    ) -> None:
        self._read = read
        self._add = add
        self._remove = remove

    def __call__(self, emitter: Emitter[T]) -> None:
        if emitter.is_cancelled:
            return

        def look(_change: bool) -> None:
            try:
                value = user_call("from_value", self._read)
            except Exception as error:
                emitter.on_error(error)
                return
            if value is None:
                emitter.on_error(none_produced("from_value", self._read))
            else:
                emitter.on_next(value)

        # Each change is read after it was signalled, by one thread at a time: the value read last is the newest.
        drain: QueueDrain[bool] = QueueDrain(look)

        def changed(*_what: object) -> None:
            drain.offer(True)

        user_call("from_value", self._add, changed)
        emitter.set_cancellable(lambda: self._remove(changed))
        changed()


class BatchEmitter(Generic[T, S]):
    """What a call of ``generate_async`` answers with: one of its three methods, once, from any thread."""

    __slots__ = ("_answer", "_cleanup", "_op", "_open")

    def __init__(self, run: GenerateAsync[T, S]) -> None:
        self._op = run
        #: Holds one entry until the answer takes it out.
        self._open = [True]
        self._answer: _Answer[T, S] | None = None
        self._cleanup = SerialDisposable()

    def on_batch(self, items: Iterable[T], state: S, /) -> None:
        """These items, and the state to go on with. More than were wanted wait; none at all asks again."""
        self._give(items, state, last=False)

    def on_complete(self, items: Iterable[T] = (), /) -> None:
        """These items, and no more."""
        self._give(items, None, last=True)

    def on_error(self, error: Exception, /) -> None:
        """End with ``error``."""
        self._put(_Answer(deque(), None, True, signalled(error)))

    def set_cancellable(self, action: Callable[[], object], /) -> None:
        """Call ``action`` if the stream is cancelled before this call was answered."""
        self._cleanup.set(cancelling(action))

    @property
    def is_cancelled(self) -> bool:
        """Whether the answer is not wanted any more."""
        return self._op.stopped

    def _give(self, items: Iterable[T], state: S | None, last: bool) -> None:
        batch = deque(items)
        error = none_produced("generate_async") if any(item is None for item in batch) else None
        self._put(_Answer(batch, state, last, error))

    def _put(self, answer: _Answer[T, S]) -> None:
        try:
            self._open.pop()  # atomic: one answer
        except IndexError:
            raise RuntimeError(
                "generate_async(): a call was answered twice.\n"
                "  Right:  one of emitter.on_batch(items, state), on_complete(items), on_error(error), once for each call"
            ) from None
        self._cleanup.replace(_DONE)  # answered: there is nothing to cancel
        self._answer = answer
        self._op.drain()


class _Answer(Generic[T, S]):
    __slots__ = ("error", "items", "last", "state")

    def __init__(self, items: deque[T], state: S | None, last: bool, error: Exception | None) -> None:
        self.items = items
        self.state = state
        self.last = last
        self.error = error


_DONE = ActionDisposable(lambda: None)


@op("generate_async")
class GenerateAsync(Op[T], Generic[T, S]):
    """One call at a time, and only while items are wanted and none is left."""

    __slots__ = ("asked", "batch", "call", "last", "state", "states")

    #: The call that has not been looked at since its answer, if there is one.
    asked: BatchEmitter[T, S] | None
    #: What is left of the last answer.
    batch: deque[Any]
    #: The answer was the last one.
    last: bool
    state: Any
    #: Holds what takes the state back, until it is called.
    states: Any

    def __init__(
        self,
        down: Subscriber[T],
        initial: Callable[[], S],
        call: Callable[[S, int, BatchEmitter[T, S]], object],
        dispose: Callable[[S], object] | None,
    ) -> None:
        super().__init__(down)
        self.call = call
        self.asked = None
        self.batch = NO_ITEMS
        self.last = False
        self.state = user_call("generate_async", initial)
        self.states = [] if dispose is None else [dispose]

    def step(self, demand: int) -> int:
        while True:
            batch = self.batch
            while batch and demand:
                self.emit(batch.popleft())
                if demand is not UNBOUNDED:
                    demand -= 1
                if self.dirty:
                    return demand
            if batch:
                return demand
            if self.last:
                return self.finish()
            asked = self.asked
            if asked is None:
                if not demand:
                    return demand
                self.asked = asked = BatchEmitter(self)
                try:
                    user_call("generate_async", self.call, self.state, demand, asked)
                except Exception as error:
                    return self.finish(as_error(error))
            answer = asked._answer
            if answer is None or self.stopped:
                return demand
            self.asked = None
            if answer.error is not None:
                return self.finish(answer.error)
            self.batch = answer.items
            if answer.last:
                self.last = True
            else:
                self.state = answer.state

    def close(self) -> None:
        self.batch = NO_ITEMS
        asked, self.asked = self.asked, None
        try:
            if asked is not None:
                asked._cleanup.dispose()
        except Exception as error:  # RS 3.15: to cancel returns normally
            dropped(error, self.origin)
        if self.states:
            try:
                user_call("generate_async", self.states.pop(), self.state)
            except Exception as error:
                dropped(as_error(error), self.origin)

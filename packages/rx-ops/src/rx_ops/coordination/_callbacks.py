"""Sources that are called back: listeners, holders of a value, and APIs that answer later."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Generic, TypeVar

from rx_core import ActionDisposable, Items, Run, SerialDisposable, close, none_produced, user_call
from rx_core.blocks import QueueDrain
from rx_fusion import operator
from rx_ops.operators import Emitter

T = TypeVar("T")
S = TypeVar("S")


class Listening(Generic[T]):
    """What ``create`` calls for ``from_listener``. The handler may be called by several threads at once."""

    __slots__ = ("_add", "_remove")

    def __init__(self, add: Callable[[Callable[[T], None]], object], remove: Callable[[Callable[[T], None]], object]) -> None:
        self._add = add
        self._remove = remove

    def __call__(self, emitter: Emitter[T]) -> None:
        if emitter.is_cancelled:
            return
        drain: QueueDrain[T] = QueueDrain(emitter.on_next)

        def handler(item: T) -> None:
            if item is None:
                drain.end(partial(emitter.on_error, none_produced("from_listener", self._add)))
            else:
                drain.offer(item)

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

    __slots__ = ("_answer", "_cleanup", "_open", "_run")

    def __init__(self, run: Run) -> None:
        self._run = run
        self._open = {0: True}
        self._answer: dict[int, _Answer] = {}
        self._cleanup = SerialDisposable()

    def on_batch(self, items: Iterable[T], state: S, /) -> None:
        """These items, and the state to go on with. More than were wanted wait; none at all asks again."""
        self._give(items, state, last=False)

    def on_complete(self, items: Iterable[T] = (), /) -> None:
        """These items, and no more."""
        self._give(items, None, last=True)

    def on_error(self, error: Exception, /) -> None:
        """End with ``error``."""
        self._put(_Answer([], None, True, error))

    def set_cancellable(self, action: Callable[[], object], /) -> None:
        """Call ``action`` if the stream is cancelled before this call was answered."""
        self._cleanup.set(ActionDisposable(action))

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody waits for the answer any more."""
        return self._run.is_cancelled

    def _give(self, items: Iterable[T], state: object, last: bool) -> None:
        batch = list(items)
        error = none_produced("generate_async") if any(item is None for item in batch) else None
        self._put(_Answer([] if error else batch, state, last or error is not None, error))

    def _put(self, answer: _Answer) -> None:
        if self._open.pop(0, None) is None:
            raise RuntimeError(
                "generate_async(): a call was answered twice.\n"
                "  Right:  one of emitter.on_batch(items, state), on_complete(items), on_error(error), once for each call"
            )
        self._answer[0] = answer
        self._cleanup.replace(_DONE)  # answered: there is nothing to cancel
        self._run.poke()

    def take(self) -> _Answer | None:
        return self._answer.get(0)

    def close(self) -> None:
        if not self._answer:
            self._cleanup.dispose()


class _Answer:
    __slots__ = ("error", "items", "last", "state")

    def __init__(self, items: list[Any], state: Any, last: bool, error: Exception | None) -> None:
        self.items = items
        self.state = state
        self.last = last
        self.error = error


_DONE = ActionDisposable(lambda: None)


@operator
def generate_async(
    run: Run,
    initial: Callable[[], S],
    call: Callable[[S, int, BatchEmitter[T, S]], object],
    dispose: Callable[[S], object] | None,
) -> Items[T]:
    """One call at a time, and only while items are wanted and none is left."""
    state = user_call("generate_async", initial)
    emitter: BatchEmitter[T, S] | None = None
    try:
        while not run.is_cancelled:
            while not run.demand:
                yield None
            emitter = BatchEmitter(run)
            user_call("generate_async", call, state, run.demand, emitter)
            while (answer := emitter.take()) is None:
                yield None
            if answer.error is not None:
                raise answer.error
            left = len(answer.items)
            for item in answer.items:
                left -= 1
                if answer.last and not left:
                    run.poke()  # the end is known: it needs no further demand
                yield item
            if answer.last:
                return
            state = answer.state
    finally:
        if emitter is not None:
            close(emitter)
        if dispose is not None:
            dispose(state)


__all__ = ["BatchEmitter", "Listening", "Watching", "generate_async"]

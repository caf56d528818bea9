"""The emitter of ``create`` for a subscriber that requests: an Op treats what is not wanted by a strategy.

One for a subscriber that gets every item is in ``_straight_emitter``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from rx_core import (
    UNBOUNDED,
    ActionDisposable,
    CallbackObserver,
    Disposable,
    SerialDisposable,
    callbacks_behind,
    dropped,
    dropped_late,
    none_produced,
    not_an_error,
    tell_interrupted,
)
from rx_core.streams import GatedInput
from rx_fusion import EmittedSteps
from rx_ops.operators._backpressure import BackpressureStrategy, Overflow, policy_of

if TYPE_CHECKING:
    from rx_core import Subscriber

T = TypeVar("T")


def disposing(disposable: Disposable) -> Disposable:
    """What ``set_disposable`` was given. Looked at now: at the end of the stream its error would go to the error hook."""
    if not callable(getattr(disposable, "dispose", None)):
        raise TypeError(
            f"set_disposable() expected an object with dispose(), got {disposable!r}.\n"
            f"  Right:  emitter.set_disposable(handle)   emitter.set_cancellable(lambda: ...)   # a function"
        )
    return disposable


def cancelling(action: Callable[[], object]) -> ActionDisposable:
    """The same of ``set_cancellable``."""
    if not callable(action):
        raise TypeError(
            f"set_cancellable() expected a function without arguments, got {action!r}.\n"
            f"  Wrong:  emitter.set_cancellable(connection.close())\n  Right:  emitter.set_cancellable(connection.close)"
        )
    return ActionDisposable(action)


class Emitter(Generic[T]):
    """The pushing side of ``create``: call it from one thread at a time.

    What arrives while it is not wanted is treated by the strategy the stream was created with. After the end, or after the
    subscriber cancelled, everything is ignored except errors, which go to the error hook.
    """

    __slots__ = ("_cleanup", "_input", "_op", "_straight")

    #: What takes an item without a gate, once the demand is settled; None before.
    _straight: Callable[[T], object] | None
    _cleanup: SerialDisposable
    _op: Created[T]
    _input: GatedInput[T]

    def on_next(self, item: T, /) -> None:
        """Send one item. None is an error of the stream (RS 2.13)."""
        if item is None:
            self.try_on_error(none_produced("create"))  # told to the stream: an emitter is no subscriber, and raises nothing
            return
        straight = self._straight
        if straight is not None:
            try:
                straight(item)
            except BaseException:
                self._op.cancel()  # RS 2.13
                raise
            return
        op = self._op
        token = op.token
        try:
            demand = token.pop()
        except IndexError:
            self._wait(item)
            return
        if op.dirty or (not demand and op.policy is not None):
            token.append(demand)
            self._wait(item)
            return
        if demand:  # then nothing waits: with demand nothing stays in the queue
            op.wanted = demand
            emit = op.emit
            try:
                emit(item)
            except BaseException as error:
                try:
                    op.emit_raised(error)
                finally:
                    token += (0,)
                raise
            token.append(demand if demand is UNBOUNDED else demand - 1)
        else:
            main = self._input
            if main.closed or main.done:
                op.discard(item)
            elif main.queue:
                main.queue.append(item)
            else:
                main.put(item)
            token.append(0)
        if op.dirty:
            op.drain()  # type: ignore[unreachable]  # set meanwhile

    def _interrupted(self, error: BaseException) -> None:
        """The function that pushes was left by something that is no signal."""
        down = self._op.down
        self._op.cancel()
        tell_interrupted(down, error)

    def _wait(self, item: T) -> None:
        """Not wanted now, or the gate is taken: the holder of the token decides what becomes of it."""
        if not self._input.done:
            self._input.wait(item)
            return
        self._op.discard(item)
        if self._op.dirty:
            self._op.drain()  # a thread that found the token taken relies on this one to look

    def on_error(self, error: Exception, /) -> None:
        """End the stream with ``error``."""
        if not self.try_on_error(error):
            (dropped if self._input.done else dropped_late)(error, self._op.origin)  # a second end is a mistake of the source

    def try_on_error(self, error: Exception, /) -> bool:
        """The same; False, and nothing reported, when the subscriber has left."""
        if self.is_cancelled:
            return False
        if self._straight is not None:
            self._straight = self._op.discard
        self._input.on_error(signalled(error))
        return True

    def on_complete(self) -> None:
        """End the stream."""
        if not self.is_cancelled:
            if self._straight is not None:
                self._straight = self._op.discard
            self._input.on_complete()

    @property
    def is_cancelled(self) -> bool:
        """Whether the subscriber has left."""
        return self._op.stopped or self._input.done or self._input.closed

    @property
    def requested(self) -> int:
        """How many items are wanted now; UNBOUNDED for any number."""
        return self._op.requested()

    def set_disposable(self, disposable: Disposable, /) -> None:
        """Dispose ``disposable`` when the stream ends or is cancelled; replaces (and disposes) the one before."""
        self._cleanup.set(disposing(disposable))

    def set_cancellable(self, action: Callable[[], object], /) -> None:
        """Call ``action`` once when the stream ends or is cancelled."""
        self._cleanup.set(cancelling(action))


class _SettledEmitter(Emitter[T]):
    """In the place of another one, once everything is requested."""

    __slots__ = ()

    def __init__(self, emitter: Emitter[T]) -> None:
        self._op = emitter._op
        self._input = emitter._input
        self._cleanup = emitter._cleanup
        self._straight = None


class _StagesEmitter(_SettledEmitter[T]):
    """For stages whose subscriber wants everything: what takes an item is their function itself, which checks what is sent."""

    __slots__ = ("on_next",)

    on_next: Callable[[T], object]  # type: ignore[assignment]  # of the stages, in place of a method

    def __init__(self, emitter: Emitter[T], on_next: Callable[[T], object]) -> None:
        super().__init__(emitter)
        self.on_next = on_next


class _FunctionEmitter(_SettledEmitter[T]):
    """For an operator that passes items on to callbacks as they come (``concat``, ``retry``): an item goes to the user's function
    without the calls between."""

    __slots__ = ("_observer",)

    _observer: CallbackObserver[T]

    def __init__(self, emitter: Emitter[T], observer: CallbackObserver[T]) -> None:
        super().__init__(emitter)
        self._observer = observer

    def on_next(self, item: T, /) -> None:
        if item is None:
            self.try_on_error(none_produced("create"))
            return
        straight = self._straight
        try:
            straight(item)  # type: ignore[misc]  # there is one as long as this emitter is in use
        except BaseException as error:
            self._observer.callback_failed(error)


def signalled(error: object) -> Exception:
    """What the stream is told for ``error``: what is no Exception is a mistake of its own."""
    return error if isinstance(error, Exception) else not_an_error(error)


class Created(Overflow[T]):
    """The run of ``create`` for a subscriber that requests."""

    __slots__ = ("cleanup", "emitter", "wanted")
    name = operator_name = "create"
    waits_for = "its function to send"

    cleanup: SerialDisposable
    #: Until the end or a cancel; the two refer to each other.
    emitter: Emitter[T] | None
    #: What was wanted when the token was taken, for who asks meanwhile.
    wanted: int

    def __init__(
        self, down: Subscriber[T], strategy: BackpressureStrategy, capacity: int, on_drop: Callable[[T], object] | None
    ) -> None:
        super().__init__(down, policy_of(strategy, capacity), capacity, on_drop, True)
        self.main = GatedInput(self)
        self.cleanup = SerialDisposable()
        self.emitter = None
        self.wanted = 0

    def started(self) -> Emitter[T]:
        """Start. Nothing was pushed before, so a demand that is settled by now needs no gate any more."""
        made: Emitter[T] = Emitter()
        made._op = self
        made._input = self.main
        made._cleanup = self.cleanup
        made._straight = None
        self.start()
        if self.settled and not self.stopped:
            down = self.down
            takes: Callable[[T], object] = self.emit
            observer = callbacks_behind(down)
            if type(down) is EmittedSteps:
                made = _StagesEmitter(made, down.on_next)
            elif observer is not None and observer.function is not None:
                made = _FunctionEmitter(made, observer)
                takes = observer.function
            self.emitter = made
            made._straight = takes
            if self.stopped:
                made._straight = self.discard  # type: ignore[unreachable]  # cancelled meanwhile
        return made

    def sent_none(self) -> None:
        """None was sent past the gate."""
        if self.emitter is not None:
            self.emitter.try_on_error(none_produced("create"))

    def close(self) -> None:
        super().close()
        emitter, self.emitter = self.emitter, None
        if emitter is not None:
            emitter._straight = self.discard

    def requested(self) -> int:
        demand: int = (self.token.copy() or (self.wanted,))[0]
        for n in self.requests.copy():
            if type(n) is int and n > 0:
                demand = UNBOUNDED if n >= UNBOUNDED - demand else demand + n
        return demand

    def step(self, demand: int) -> int:
        self.wanted = demand
        return super().step(demand)

    # The user's cleanup runs when the end was signalled; at a cancel at once, on the thread that cancels.

    def cancel(self) -> None:
        self.stopped = True
        if self.emitter is not None and self.emitter._straight is not None:
            self.emitter._straight = self.discard  # before the cleanup, which may send something
        clean_up(self.cleanup, self.origin)
        self.drain()

    def abandon(self) -> None:
        super().abandon()
        clean_up(self.cleanup, self.origin)

    def finish(self, error: Exception | None = None) -> int:
        try:
            return super().finish(error)
        finally:
            clean_up(self.cleanup, self.origin)


def clean_up(cleanup: SerialDisposable, origin: object) -> None:
    """What the user has set, at the end or at a cancel."""
    try:
        cleanup.dispose()
    except Exception as error:  # RS 3.15: to cancel returns normally
        dropped(error, origin)

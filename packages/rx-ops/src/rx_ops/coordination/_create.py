"""Sources that do not simply iterate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from rx_core import (
    ActionDisposable,
    Disposable,
    Drain,
    FlowableBase,
    Items,
    PolicyInbox,
    Run,
    SerialDisposable,
    Subscriber,
    add_cap,
    name_of,
    none_argument,
    none_produced,
    unwrap_stop,
    user_call,
)
from rx_core import dropped as dropped_error
from rx_fusion import ASYNC, BOUNDARY, NONE, drain_for, fusion_enabled, operator
from rx_ops.coordination._backpressure import POLICIES, BackpressureStrategy
from rx_ops.coordination._unasked import UnaskedSubscription

T = TypeVar("T")


@operator
def defer(run: Run, supplier: Callable[[], Any]) -> Items[Any]:
    """The supplier runs at each subscription."""
    made = user_call("defer", supplier)
    if not hasattr(made, "subscribe"):
        raise TypeError(
            f"defer() expected a function returning a source, but {name_of(supplier)} returned {made!r}.\n"
            f"  For a plain value:  .from_callable({name_of(supplier)})"
        )
    return run.open(made)


@operator
def error(run: Run, supplier: Callable[[], Exception]) -> Items[Any]:
    return run.failing(user_call("error", supplier))


@operator
def never(_run: Run) -> Items[Any]:
    while True:
        yield None


def _signalled(error: object) -> Exception:
    """What the stream is told for ``error``: None is a mistake of its own."""
    return error if isinstance(error, Exception) else none_argument("on_error(None)", "error")


class Emitter(Generic[T]):
    """The pushing side of ``create``: call it from one thread at a time.

    What arrives while nobody wants it is treated by the strategy the stream was created with. After the end, or after the
    subscriber cancelled, everything is ignored except errors, which go to the error hook.
    """

    __slots__ = ("_cleanup", "_inbox", "_run")

    def __init__(self, run: Drain[T], inbox: PolicyInbox[T]) -> None:
        self._run = run
        self._inbox = inbox
        self._cleanup = SerialDisposable()

    def on_next(self, item: T, /) -> None:
        """Send one element. None is an error of the stream (RS 2.13)."""
        if item is None:
            self.try_on_error(none_produced("create"))  # told to the stream: an emitter is no subscriber, and raises nothing
        elif not self._run.cancelled:
            self._inbox.on_next(item)

    def on_error(self, error: Exception, /) -> None:
        """End the stream with ``error``."""
        if not self.try_on_error(error):
            dropped_error(error, self._run)

    def try_on_error(self, error: Exception, /) -> bool:
        """The same; False, and nothing reported, when nobody listens any more."""
        if self.is_cancelled:
            return False
        self._inbox.on_error(_signalled(error))
        return True

    def on_complete(self) -> None:
        """End the stream."""
        if not self.is_cancelled:
            self._inbox.on_complete()

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody listens any more."""
        return self._run.is_disposed

    @property
    def requested(self) -> int:
        """How many elements are wanted now; UNBOUNDED for any number."""
        return self._run.outstanding

    def set_disposable(self, disposable: Disposable, /) -> None:
        """Dispose ``disposable`` when the stream ends or is cancelled; replaces (and disposes) the one before."""
        self._cleanup.set(disposable)

    def set_cancellable(self, action: Callable[[], object], /) -> None:
        """Call ``action`` once when the stream ends or is cancelled."""
        self._cleanup.set(ActionDisposable(action))


class _Unbuffered(Emitter[T]):
    """MISSING: every element goes straight on, asked for or not. It is also what is disposed when nobody listens any more."""

    __slots__ = ("_down", "_over", "_requested")

    def __init__(self, down: UnaskedSubscription[T], origin: object) -> None:
        self._down = down
        self._over: dict[int, object] = {0: origin}  # emptied by the first end or cancel, in one atomic step
        self._requested = 0
        self._cleanup = SerialDisposable()

    def on_next(self, item: T, /) -> None:
        if item is None:
            self.on_error(none_produced("create"))
        elif self._over:
            self._down.on_next(item)

    def try_on_error(self, error: Exception, /) -> bool:
        if self._over.pop(0, None) is None:
            return False
        self._cleanup.dispose()
        self._down.on_error(_signalled(error))
        return True

    def on_error(self, error: Exception, /) -> None:
        if not self.try_on_error(error):
            dropped_error(error, self)

    def on_complete(self) -> None:
        if self._over.pop(0, None) is not None:
            self._cleanup.dispose()
            self._down.on_complete()

    @property
    def is_cancelled(self) -> bool:
        return not self._over

    is_disposed = is_cancelled

    @property
    def requested(self) -> int:
        return self._requested

    def request(self, n: int, /) -> None:
        """Only for who wants to know."""
        self._requested = add_cap(self._requested, n)

    def dispose(self) -> None:
        if self._over.pop(0, None) is not None:
            self._cleanup.dispose()


class Created(FlowableBase[T]):
    """``create``: a callback that pushes, and a policy for what nobody asked for."""

    __slots__ = ("_capacity", "_on_drop", "_source", "_strategy")
    _rx_pushes = True

    def __init__(
        self,
        source: Callable[[Emitter[T]], object],
        strategy: BackpressureStrategy,
        capacity: int,
        on_drop: Callable[[T], object] | None,
    ) -> None:
        self._source = source
        self._strategy = strategy
        self._capacity = capacity
        self._on_drop = on_drop

    def subscribe_actual(self, subscriber: Subscriber[T], /) -> None:
        if self._strategy is BackpressureStrategy.MISSING:
            straight = UnaskedSubscription(subscriber)
            unbuffered = _Unbuffered(straight, self)
            straight.on_subscribe(unbuffered)
            self._run(unbuffered)
            return
        drain = drain_for(subscriber, origin=self)
        inbox: PolicyInbox[T] = PolicyInbox(drain, POLICIES[self._strategy], capacity=self._capacity, on_drop=self._on_drop)
        emitter = Emitter(drain, inbox)
        drain.own(emitter._cleanup)
        drain.own(inbox)
        # Polling takes out of the emitter's queue: nobody is asked, and no function runs.
        drain.begin(ASYNC | BOUNDARY if fusion_enabled() else NONE, lambda _run: inbox.stream())
        # Outside the drain: what is pushed now goes straight downstream as far as it is wanted.
        self._run(emitter)

    def _run(self, emitter: Emitter[T]) -> None:
        try:
            user_call("create", self._source, emitter)
        except Exception as failure:
            original = unwrap_stop(failure)
            emitter.on_error(original if isinstance(original, Exception) else failure)

    def __repr__(self) -> str:
        return f"create({self._strategy.value})"

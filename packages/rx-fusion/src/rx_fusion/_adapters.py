"""Between the subscriber side of a run and the observers of the other four types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rx_core import UNBOUNDED, BaseDisposable, EmptyStreamError
from rx_core.queue_fusion import NONE, SYNC, ask

if TYPE_CHECKING:
    from rx_core import CompletableObserver, MaybeObserver, Observer, SingleObserver, Subscription


class _Adapter(BaseDisposable):
    """A subscriber that asks for everything and hands its observer a Disposable."""

    __slots__ = ("down", "up")

    @property
    def asks(self) -> bool:
        """Whether there is something to request: not of a run that is polled."""
        return True

    def __init__(self, down: Any) -> None:
        self.down = down
        self.up: Subscription | None = None

    def on_subscribe(self, subscription: Subscription, /) -> None:
        if self.up is not None:
            subscription.cancel()  # RS 2.5
            return
        self.up = subscription
        self.down.on_subscribe(self)
        if self.asks:
            subscription.request(UNBOUNDED)

    def on_error(self, error: Exception, /) -> None:
        self.up = _GONE
        self.down.on_error(error)

    def dispose(self) -> None:
        up, self.up = self.up, _GONE
        if up is not None:
            up.cancel()

    @property
    def is_disposed(self) -> bool:
        return self.up is _GONE


class _Gone:
    __slots__ = ()

    def request(self, n: int, /) -> None:
        pass

    def cancel(self) -> None:
        pass

    def poll(self) -> None:
        return None

    def poll_many(self, n: int, /) -> list[Any]:
        return []

    def is_empty(self) -> bool:
        return True

    def clear(self) -> None:
        pass


_GONE = _Gone()


class ToObserver(_Adapter):
    """Observable: the same signals. An observer that speaks the fusion protocol may poll the run instead of that."""

    __slots__ = ("mode", "on_next")

    on_next: Callable[[Any], object]
    #: The mode that was granted: NONE, or how the observer polls.
    mode: int

    def __init__(self, down: Observer[Any]) -> None:
        super().__init__(down)
        self.on_next = down.on_next
        self.mode = NONE

    @property
    def asks(self) -> bool:
        return self.mode != SYNC

    def on_complete(self) -> None:
        if self.mode == NONE:
            self.up = _GONE  # else what waits may still be polled
        self.down.on_complete()

    def on_error(self, error: Exception, /) -> None:
        if self.mode == NONE:
            self.up = _GONE
        self.down.on_error(error)

    # -- as a queue ----------------------------------------

    def rx_serves(self, consumer: object, /) -> bool:
        return consumer is self.down

    def request_fusion(self, mode: int, /) -> int:
        if self.mode != NONE:
            return NONE
        self.mode = ask(self.up, self, mode)
        return self.mode

    @property
    def _queue(self) -> Any:
        return self.up

    def poll(self) -> Any:
        return self._queue.poll()

    def poll_many(self, n: int, /) -> list[Any]:
        batch: list[Any] = self._queue.poll_many(n)
        return batch

    def is_empty(self) -> bool:
        return bool(self._queue.is_empty())

    def clear(self) -> None:
        self._queue.clear()


class ToMaybe(_Adapter):
    """Maybe: the item, if there was one, arrives as ``on_success`` when the run is complete."""

    __slots__ = ("_value",)

    def __init__(self, down: MaybeObserver[Any]) -> None:
        super().__init__(down)
        self._value: Any = None

    def on_next(self, item: Any, /) -> None:
        self._value = item

    def on_complete(self) -> None:
        self.up = _GONE
        value, self._value = self._value, None
        if value is not None:
            self.down.on_success(value)
        else:
            self.empty()

    def empty(self) -> None:
        self.down.on_complete()


class ToSingle(ToMaybe):
    """Single: a run without an item is an error."""

    __slots__ = ("_origin",)

    def __init__(self, down: SingleObserver[Any], origin: object) -> None:
        super().__init__(down)  # type: ignore[arg-type]  # on_complete is never called: empty() is overridden
        self._origin = origin

    def empty(self) -> None:
        self.down.on_error(EmptyStreamError(repr(self._origin)))


class ToCompletable(_Adapter):
    """Completable: items are dropped."""

    __slots__ = ()

    def __init__(self, down: CompletableObserver) -> None:
        super().__init__(down)

    def on_next(self, item: Any, /) -> None:
        pass

    def on_complete(self) -> None:
        self.up = _GONE
        self.down.on_complete()

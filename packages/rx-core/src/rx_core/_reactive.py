"""The five abstract reactive types.

``subscribe`` is final: it takes a subscriber or callbacks, applies the ``rx_on_subscribe`` hooks and calls
``subscribe_actual``, which is all a subclass writes. A user's own source or operator subclasses these and needs nothing else of
this library; the fluent types of rx_ops subclass them too.

=============  =======================  ==========================================================
type           items                    signals
=============  =======================  ==========================================================
Flowable       0..n, with backpressure  ``on_subscribe on_next* (on_error | on_complete)?``
Observable     0..n, no backpressure    the same, ``on_subscribe`` gives a Disposable
Single         exactly 1                ``on_subscribe (on_success | on_error)?``
Maybe          0 or 1                   ``on_subscribe (on_success | on_error | on_complete)?``
Completable    0                        ``on_subscribe (on_error | on_complete)?``
=============  =======================  ==========================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar, final

from rx_core import _forgotten, _hooks
from rx_core._awaiting import awaiting
from rx_core._disposables import Handle
from rx_core._errors import EXHAUSTION
from rx_core._observers import CallbackObserver

if TYPE_CHECKING:
    from rx_core._protocols import (
        CompletableObserver,
        CompletableSource,
        MaybeObserver,
        MaybeSource,
        ObservableSource,
        Observer,
        Publisher,
        SingleObserver,
        SingleSource,
        Subscriber,
    )

T_co = TypeVar("T_co", covariant=True)


class _Nothing:
    """A base at run time where there is no type variable to declare."""

    __slots__ = ()


if TYPE_CHECKING:
    # Nominal for type checkers, so that they infer unions of sources; plain classes at run time, because a Protocol base makes
    # every isinstance slow.
    _Publisher = Publisher
    _ObservableSource = ObservableSource
    _SingleSource = SingleSource
    _MaybeSource = MaybeSource
    _CompletableSource = CompletableSource
else:
    _Publisher = _ObservableSource = _SingleSource = _MaybeSource = Generic
    _CompletableSource = _Nothing

OnError = Callable[[Exception], object]


@final
class _HeldBySubscriber(Handle):
    """What ``subscribe(subscriber)`` returns: the handle is the Subscription that the subscriber got."""

    __slots__ = ()

    def dispose(self) -> None:
        raise RuntimeError(
            "subscribe(subscriber) gave the Subscription to the subscriber; only it can cancel (RS 3.1).\n"
            "  In the subscriber:  self.subscription.cancel()\n"
            "  With callbacks:     handle = flow.subscribe(on_next, on_error=...); handle.dispose()"
        )

    def wait(self, timeout: float | None = None) -> bool:
        raise RuntimeError(
            "subscribe(subscriber) tells the subscriber of its end; only it knows.\n"
            "  In the subscriber:  def on_complete(self): self.over.set()      # a threading.Event\n"
            "  With callbacks:     handle = flow.subscribe(on_next, on_error=...); handle.wait()"
        )

    def __enter__(self) -> Self:
        self.dispose()  # says what to do, and not only when the block is left
        return self

    @property
    def is_disposed(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "<a subscription that its subscriber holds>"


_HELD = _HeldBySubscriber()


class _NothingGiven:
    def __repr__(self) -> str:
        return "..."


#: Items have no callback: the stream is run for its side effects. None is refused (RS 1.9), so it cannot say this.
_NOTHING_GIVEN: Any = _NothingGiven()

#: What is no subscriber, whatever attributes it may have.
_FUNCTIONS: Final = frozenset({FunctionType, MethodType, BuiltinFunctionType})


def _subscribe(source: Any, subscriber: Any, on_error: Any, on_complete: Any, first: str = "on_next") -> Handle:
    """The shared body of the five ``subscribe`` methods."""
    handle: Handle = _HELD
    if not hasattr(subscriber, "on_subscribe"):
        if not callable(subscriber) or on_error is not None or on_complete is not None:
            _check_callbacks(source, {first: subscriber, "on_error": on_error, "on_complete": on_complete})
            if subscriber is _NOTHING_GIVEN:
                subscriber = None
        subscriber = handle = made = CallbackObserver(source, subscriber, on_error, on_complete)
        if _forgotten.WATCHING:
            _forgotten.watch(made)
    elif on_error is not None or on_complete is not None:
        kind = type(source).__name__
        raise TypeError(f"{kind}.subscribe(): a subscriber brings its own on_error and on_complete; leave them out")
    if not _hooks.loaded:
        _hooks.ensure_loaded()
    if _hooks.on_subscribe is not None:
        subscriber = _hooks.on_subscribe(source, subscriber)
    try:
        source.subscribe_actual(subscriber)
    except EXHAUSTION as error:
        if not isinstance(handle, CallbackObserver):
            raise
        handle.subscribing_failed(error)
    return handle


def _check_callbacks(source: object, callbacks: Mapping[str, object]) -> None:
    kind = type(source).__name__
    if next(iter(callbacks.values())) is None:
        # RS 1.9: the only thing subscribe() itself may raise for.
        raise TypeError(
            f"{kind}.subscribe(None): a subscriber or a function is needed (RS 1.9).\n"
            f"  With callbacks:    source.subscribe(print)\n"
            f"  With none:         source.subscribe()\n"
            f"  With a subscriber: source.subscribe(subscriber)"
        )
    for name, callback in callbacks.items():
        if callback is not None and callback is not _NOTHING_GIVEN and not callable(callback):
            raise TypeError(
                f"{kind}.subscribe(): {name} must be a function or a subscriber with on_subscribe, got {callback!r}\n"
                f"  Right:  .subscribe({name}=lambda{'' if name == 'on_complete' else ' item'}: ...)"
            )


class FlowableBase(_Publisher[T_co], ABC):
    """0..n items with backpressure."""

    __slots__ = ()

    @final
    def subscribe(
        self,
        on_next: Subscriber[T_co] | Callable[[T_co], object] = _NOTHING_GIVEN,
        on_error: OnError | None = None,
        on_complete: Callable[[], object] | None = None,
    ) -> Handle:
        """Start a run for a subscriber, or for callbacks, which request everything; without any, for its side effects.

        Returns the handle of the run (callbacks only; a subscriber cancels its own Subscription): ``dispose()`` cancels,
        ``wait()`` blocks until it is over, and leaving ``with flow.subscribe(f):`` cancels. Raises TypeError for None or
        something that is neither (RS 1.9); everything else is signalled, an error without ``on_error`` to the error hook.
        Thread: signals come on whatever thread the operators say, on the caller's when they say nothing.
        """
        if on_error is None and on_complete is None and _hooks.loaded and _hooks.on_subscribe is None:
            # the same with fewer calls: short streams are subscribed often
            if type(on_next) in _FUNCTIONS:
                made: CallbackObserver[T_co] = CallbackObserver(self, on_next, None, None)  # type: ignore[arg-type]  # a function
                if _forgotten.WATCHING:
                    _forgotten.watch(made)
                try:
                    self.subscribe_actual(made)
                except EXHAUSTION as error:
                    made.subscribing_failed(error)
                return made
            if hasattr(on_next, "on_subscribe"):
                self.subscribe_actual(on_next)  # type: ignore[arg-type]  # it is the subscriber of the two
                return _HELD
        return _subscribe(self, on_next, on_error, on_complete)

    @abstractmethod
    def subscribe_actual(self, subscriber: Subscriber[T_co], /) -> None:
        """Call ``subscriber.on_subscribe`` and then signal what is requested. Hooks were applied."""


class ObservableBase(_ObservableSource[T_co], ABC):
    """0..n items without backpressure."""

    __slots__ = ()

    @final
    def subscribe(
        self,
        on_next: Observer[T_co] | Callable[[T_co], object] = _NOTHING_GIVEN,
        on_error: OnError | None = None,
        on_complete: Callable[[], object] | None = None,
    ) -> Handle:
        """Start a run for an observer, or for callbacks; returns the handle that disposes (callbacks only)."""
        return _subscribe(self, on_next, on_error, on_complete)

    @abstractmethod
    def subscribe_actual(self, observer: Observer[T_co], /) -> None: ...


class SingleBase(_SingleSource[T_co], ABC):
    """Exactly one item, or an error."""

    __slots__ = ()

    @final
    def subscribe(
        self,
        on_success: SingleObserver[T_co] | Callable[[T_co], object] = _NOTHING_GIVEN,
        on_error: OnError | None = None,
    ) -> Handle:
        """Start a run for an observer, or for callbacks; returns the handle that disposes (callbacks only)."""
        return _subscribe(self, on_success, on_error, None, "on_success")

    @abstractmethod
    def subscribe_actual(self, observer: SingleObserver[T_co], /) -> None: ...

    def __await__(self) -> Generator[object, object, T_co]:
        """The item, in the async library that runs here; a plugin knows it. RuntimeError when there is none."""
        return awaiting(self, ".blocking_get()")


class MaybeBase(_MaybeSource[T_co], ABC):
    """One item or none, or an error."""

    __slots__ = ()

    @final
    def subscribe(
        self,
        on_success: MaybeObserver[T_co] | Callable[[T_co], object] = _NOTHING_GIVEN,
        on_error: OnError | None = None,
        on_complete: Callable[[], object] | None = None,
    ) -> Handle:
        """Start a run for an observer, or for callbacks; with callbacks ``on_complete`` runs after a value too."""
        return _subscribe(self, on_success, on_error, on_complete, "on_success")

    @abstractmethod
    def subscribe_actual(self, observer: MaybeObserver[T_co], /) -> None: ...

    def __await__(self) -> Generator[object, object, T_co | None]:
        """The item or None, in the async library that runs here; a plugin knows it. RuntimeError when there is none."""
        return awaiting(self, ".blocking_get()")


class CompletableBase(_CompletableSource, ABC):
    """No items, only the end."""

    __slots__ = ()

    @final
    def subscribe(
        self,
        on_complete: CompletableObserver | Callable[[], object] = _NOTHING_GIVEN,
        on_error: OnError | None = None,
    ) -> Handle:
        """Start a run for an observer, or for callbacks; returns the handle that disposes (callbacks only)."""
        given: Any = on_complete
        if given is None or hasattr(given, "on_subscribe"):
            return _subscribe(self, given, on_error, None)
        return _subscribe(self, _NOTHING_GIVEN, on_error, None if given is _NOTHING_GIVEN else given)

    @abstractmethod
    def subscribe_actual(self, observer: CompletableObserver, /) -> None: ...

    def __await__(self) -> Generator[object, object, None]:
        """Until the end, in the async library that runs here; a plugin knows it. RuntimeError when there is none."""
        return awaiting(self, ".blocking_await()")

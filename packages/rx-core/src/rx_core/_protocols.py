"""The protocols of Reactive Streams and of the four types derived from it.

Any object that has the methods is a publisher or a subscriber: nothing here has to be inherited. The protocols are
not ``runtime_checkable`` on purpose, a check costs 3–7 µs; where the library must decide at run time it looks for a method.

Signals follow ``on_subscribe on_next* (on_error | on_complete)?`` (RS 1.9, 1.7), one at a time (RS 1.3).
"""

from __future__ import annotations

from typing import Protocol, TypeVar

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)
T_co = TypeVar("T_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class Disposable(Protocol):
    """Something that can be stopped once; later calls do nothing. Safe from any thread."""

    def dispose(self) -> object: ...

    @property
    def is_disposed(self) -> bool: ...


class Subscription(Protocol):
    """One subscriber's handle on one run of a publisher (RS §3). Both methods return at once and never raise."""

    def request(self, n: int, /) -> object:
        """Allow ``n`` more items. ``n`` < 1 is answered with ``on_error(ValueError)`` (RS 3.9)."""

    def cancel(self) -> object:
        """Ask the publisher to stop and to forget the subscriber (RS 3.5, 3.12, 3.13)."""


class Subscriber(Protocol[T_contra]):
    """Receives the signals of one subscription (RS §2)."""

    def on_subscribe(self, subscription: Subscription, /) -> object: ...
    def on_next(self, item: T_contra, /) -> object: ...
    def on_error(self, error: Exception, /) -> object: ...
    def on_complete(self) -> object: ...


class Publisher(Protocol[T_co]):
    """A source of items that sends only what was requested (RS §1)."""

    def subscribe(self, subscriber: Subscriber[T_co], /) -> object: ...


class Processor(Subscriber[T_contra], Publisher[R_co], Protocol[T_contra, R_co]):
    """Both sides at once (RS §4)."""


class Observer(Protocol[T_contra]):
    """Receives the signals of an observable: like a subscriber, without demand."""

    def on_subscribe(self, disposable: Disposable, /) -> object: ...
    def on_next(self, item: T_contra, /) -> object: ...
    def on_error(self, error: Exception, /) -> object: ...
    def on_complete(self) -> object: ...


class SingleObserver(Protocol[T_contra]):
    """Receives exactly one of ``on_success`` and ``on_error``."""

    def on_subscribe(self, disposable: Disposable, /) -> object: ...
    def on_success(self, item: T_contra, /) -> object: ...
    def on_error(self, error: Exception, /) -> object: ...


class MaybeObserver(Protocol[T_contra]):
    """Receives exactly one of ``on_success``, ``on_error`` and ``on_complete`` (empty)."""

    def on_subscribe(self, disposable: Disposable, /) -> object: ...
    def on_success(self, item: T_contra, /) -> object: ...
    def on_error(self, error: Exception, /) -> object: ...
    def on_complete(self) -> object: ...


class CompletableObserver(Protocol):
    """Receives exactly one of ``on_complete`` and ``on_error``."""

    def on_subscribe(self, disposable: Disposable, /) -> object: ...
    def on_error(self, error: Exception, /) -> object: ...
    def on_complete(self) -> object: ...


class ObservableSource(Protocol[T_co]):
    def subscribe(self, observer: Observer[T_co], /) -> object: ...


class SingleSource(Protocol[T_co]):
    def subscribe(self, observer: SingleObserver[T_co], /) -> object: ...


class MaybeSource(Protocol[T_co]):
    def subscribe(self, observer: MaybeObserver[T_co], /) -> object: ...


class CompletableSource(Protocol):
    def subscribe(self, observer: CompletableObserver, /) -> object: ...

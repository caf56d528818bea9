"""The receiving ends for tests, one for each kind of source."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rx_core import UNBOUNDED, add_cap
from rx_testing._recorder import Recorder

T = TypeVar("T")

if TYPE_CHECKING:
    from typing import Self

    from rx_core import Disposable, MaybeObserver, Observer, Subscriber, Subscription

    class _SubscriberEnd(Recorder[T], Subscriber[T]): ...

else:
    _SubscriberEnd = Recorder  # nominal for type checkers only: at run time the methods decide


class TestSubscriber(_SubscriberEnd[T]):
    """A Subscriber that records, asks for what the test wants, and checks the rules of Reactive Streams.

    ::

        subscriber = TestSubscriber[int](request=2)
        Flowable.range(10).subscribe(subscriber)
        subscriber.assert_values(0, 1).assert_not_terminated()
        subscriber.request(100)
        subscriber.assert_complete()

    Checked while signals arrive: more items than requested (§1.1), signals that overlap (§1.3) or come after the end
    (§1.7) or before on_subscribe (§1.9), a second on_subscribe (§2.12), None (§2.13). What is wrong makes every
    assertion fail.

    ``request`` items are asked for in on_subscribe (0: none, default: everything). ``request_in_on_next`` asks for
    so many more in each on_next, ``cancel_after`` cancels in the on_next of that item, ``on_value`` is called with
    each item after it was recorded; what it raises goes to the source, as from any subscriber.
    """

    def __init__(
        self,
        request: int = UNBOUNDED,
        *,
        request_in_on_next: int = 0,
        cancel_after: int | None = None,
        on_value: Callable[[T], object] | None = None,
    ) -> None:
        super().__init__()
        self.subscription: Subscription | None = None
        self._requested = request
        self._unsent = [request] if request else []  # asked for before there was a subscription
        self._in_on_next = request_in_on_next
        self._cancel_after = cancel_after
        self._on_value = on_value

    def on_subscribe(self, subscription: Subscription, /) -> None:
        depth = self._enter("on_subscribe")
        try:
            if not self._subscribe_with(subscription):
                subscription.cancel()  # RS 2.5
                return
            with self._lock:
                self.subscription = subscription
                unsent, self._unsent = self._unsent, []
                self._wake()
            if self._cancelled:
                subscription.cancel()
            else:
                for n in unsent:
                    subscription.request(n)
        finally:
            self._leave(depth)

    def on_next(self, item: T, /) -> None:
        depth = self._enter("on_next")
        try:
            if not self._accept("on_next", item):
                return
            count = len(self.values) + 1
            if count > self._requested:  # noted before the item counts: a test that waits for it has to see the violation
                self._violated(f"§1.1: on_next({item!r}) is item {count}, only {self._requested} were requested")
            self._record(item)
            if self._on_value is not None:
                self._on_value(item)
            if self._cancel_after is not None and count >= self._cancel_after:
                self.cancel()
            elif self._in_on_next:
                self.request(self._in_on_next)
        finally:
            self._leave(depth)

    def request(self, n: int) -> Self:
        """Ask for ``n`` more; before on_subscribe: as soon as it comes. A wrong ``n`` is passed on as it is (§3.9)."""
        with self._lock:
            if type(n) is int and n > 0:
                self._requested = add_cap(self._requested, n)
            subscription = self.subscription
            if subscription is None:
                self._unsent.append(n)
        if subscription is not None:
            subscription.request(n)
        return self

    @property
    def requested(self) -> int:
        """The sum of all requests, capped at UNBOUNDED."""
        return self._requested

    def cancel(self) -> None:
        """Cancel the subscription; before on_subscribe: as soon as it comes."""
        self._cancelled = True
        subscription = self.subscription
        if subscription is not None:
            subscription.cancel()

    def _details(self) -> list[str]:
        return ["requested unbounded" if self._requested == UNBOUNDED else f"requested {self._requested}"]


class _Disposing(Recorder[T]):
    """The receiving ends that get a Disposable instead of a Subscription."""

    def __init__(self) -> None:
        super().__init__()
        self.disposable: Disposable | None = None

    def on_subscribe(self, disposable: Disposable, /) -> None:
        depth = self._enter("on_subscribe")
        try:
            if not self._subscribe_with(disposable):
                disposable.dispose()
                return
            self.disposable = disposable
            if self._cancelled:
                disposable.dispose()
        finally:
            self._leave(depth)

    def cancel(self) -> None:
        """Dispose the stream; before on_subscribe: as soon as it comes."""
        self._cancelled = True
        disposable = self.disposable
        if disposable is not None:
            disposable.dispose()

    def dispose(self) -> None:
        """The same as :meth:`cancel`."""
        self.cancel()


if TYPE_CHECKING:

    class _ObserverEnd(_Disposing[T], Observer[T]): ...

    class _MaybeEnd(_Disposing[T], MaybeObserver[T]): ...

else:
    _ObserverEnd = _MaybeEnd = _Disposing


class TestObserver(_ObserverEnd[T]):
    """An Observer that records and checks: like :class:`TestSubscriber`, without demand.

    ``cancel_after`` disposes in the on_next of that item; ``on_value`` is called with each item after it was
    recorded.
    """

    def __init__(self, *, cancel_after: int | None = None, on_value: Callable[[T], object] | None = None) -> None:
        super().__init__()
        self._cancel_after = cancel_after
        self._on_value = on_value

    def on_next(self, item: T, /) -> None:
        depth = self._enter("on_next")
        try:
            if not self._accept("on_next", item):
                return
            self._record(item)
            if self._on_value is not None:
                self._on_value(item)
            if self._cancel_after is not None and len(self.values) >= self._cancel_after:
                self.cancel()
        finally:
            self._leave(depth)


class TestMaybeObserver(_MaybeEnd[T]):
    """Records and checks a Single, a Maybe or a Completable: one class, because a test knows which of them it looks at.

    ``assert_result(value)`` is on_success, ``assert_result()`` is on_complete, ``assert_failure(type)`` is on_error. A
    second signal of whatever kind is a violation.
    """

    def __init__(self) -> None:
        super().__init__()
        self._success = False

    def on_success(self, item: T, /) -> None:
        depth = self._enter("on_success")
        try:
            if not self._accept("on_success", item):
                return
            with self._lock:
                self.terminal_thread = threading.current_thread().name
                self._record(item)
                self._success = True
        finally:
            self._leave(depth)

    @property
    def is_terminated(self) -> bool:
        return self._success or super().is_terminated

    def assert_complete(self) -> Self:
        """Ended without an error: by on_success or by on_complete."""
        __tracebackhide__ = True
        self.assert_no_error()
        if not self.is_terminated:
            self.fail("expected a result, nothing came")
        return self

    def assert_not_complete(self) -> Self:
        """Neither on_success nor on_complete came."""
        __tracebackhide__ = True
        self.assert_valid()
        if self._success or self.completions:
            self.fail("expected no result")
        return self

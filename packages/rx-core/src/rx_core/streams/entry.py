"""The border: how a source that is not of this library is subscribed.

An operator's input trusts its source: no None, no signal after the end, no more than it asked for. Sources of this library keep
that; between any other one and the input stands an :class:`Entry`, which checks and adapts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from rx_core import _hooks
from rx_core._demand import UNBOUNDED, SettlesDemand
from rx_core._errors import MissingBackpressureError, none_argument, none_produced
from rx_core._user_code import as_signal
from rx_core.queue_fusion import ASYNC, ask
from rx_core.streams.contracts import NULL_SUBSCRIBER, Stream

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber

T = TypeVar("T")


def subscribe(source: Any, subscriber: Any) -> None:
    """Subscribe one of this library's subscribers, one that requests, to any source of any of the five types.

    What goes wrong is signalled (RS 1.9). TypeError is signalled for what is no source.
    """
    if isinstance(source, Stream):
        hook = _hooks.on_subscribe
        source._subscribe_items(subscriber if hook is None else hook(source, subscriber))  # type: ignore[arg-type]  # a hook gives a subscriber
        return
    entry: Entry[Any] = Entry(subscriber, source)
    if not hasattr(source, "subscribe"):
        entry.fail(TypeError(f"a source with subscribe() is needed, got {source!r}"))
        return
    try:
        source.subscribe(entry)
    except (Exception, GeneratorExit) as error:
        if error is not entry.refused:  # else it is ours, on its way through a source that signalled None
            entry.fail(as_signal(error))


class _NoDemand:
    """The Subscription of an observable, a Single, a Maybe or a Completable: it cannot be asked."""

    __slots__ = ("disposable",)

    disposable: Any

    def __init__(self, disposable: Any) -> None:
        self.disposable = disposable

    def request(self, _n: int, /) -> None:
        pass

    def cancel(self) -> None:
        self.disposable.dispose()


class _NotThere:
    """The Subscription of a source that failed before it gave one."""

    __slots__ = ()

    def request(self, _n: int, /) -> None:
        pass

    def cancel(self) -> None:
        pass


_NOT_THERE: Final[Any] = _NotThere()


class Entry(SettlesDemand, Generic[T]):
    """Subscriber and observer of a foreign source of any type, and the Subscription of what is behind it.

    A None raises TypeError at who signals it, and is the error of the stream as well (RS 2.13). An item that was not requested is
    a MissingBackpressureError (RS 1.1). What comes after the end is dropped, an error reported.
    """

    __slots__ = ("asked", "done", "down", "origin", "polled", "refused", "up", "wanted")

    down: Any
    up: Any
    origin: object
    done: bool
    #: What was requested and not yet counted; appended by who requests, taken by who sends.
    asked: Any
    #: What may still come; UNBOUNDED: whatever comes.
    wanted: int
    #: ASYNC was granted: ``on_next`` says that there is something to poll, and what it carries is no item.
    polled: bool
    #: What a source was told that signalled None. It may come back, raised or as its on_error, and is no news then.
    refused: TypeError | None

    def __init__(self, down: Subscriber[T], origin: object) -> None:
        self.down = down
        self.origin = origin
        self.up = None
        self.done = False
        self.asked = []
        self.wanted = 0
        self.polled = False
        self.refused = None

    # -- signals ----------------------------------------

    def on_subscribe(self, subscription: Any, /) -> None:
        if subscription is None:
            raise self.refuse(none_argument("on_subscribe(None)", "subscription"))
        if self.up is not None:
            (subscription.cancel if hasattr(subscription, "cancel") else subscription.dispose)()  # RS 2.5
            return
        if hasattr(subscription, "request"):
            self.up = subscription
        else:
            self.up = _NoDemand(subscription)
            self.wanted = UNBOUNDED
        self.down.on_subscribe(self)

    def on_next(self, item: T, /) -> None:
        if item is None and not self.polled:
            raise self.refuse(none_produced(f"a source ({type(self.origin).__name__})"))
        if self.done:
            return
        if self.wanted != UNBOUNDED:
            self.count()
            if self.done:
                return  # type: ignore[unreachable]  # set meanwhile
        try:
            self.down.on_next(item)
        except BaseException:
            self.cancel()  # RS 2.13
            raise

    def count(self) -> None:
        """One item less is wanted; one that nobody requested ends the stream."""
        asked = self.asked
        while asked:
            n = asked.pop(0)
            self.wanted = UNBOUNDED if n >= UNBOUNDED - self.wanted else self.wanted + n
        if self.wanted == UNBOUNDED:
            return
        if self.wanted:
            self.wanted -= 1
            return
        self.fail(MissingBackpressureError("RS 1.1: a source sent an element that it had not been asked for"))

    def on_success(self, item: T, /) -> None:
        """Single and Maybe: the only item and the end at once."""
        self.on_next(item)
        self.on_complete()

    def on_error(self, error: Exception, /) -> None:
        if error is None:
            raise self.refuse(none_argument("on_error(None)", "error"))
        if self.done:
            if error is not self.refused:
                _hooks.dropped(error, self.origin)
            return
        self.end_without_subscription()
        self.done = True
        self.down.on_error(error)

    def on_complete(self) -> None:
        if not self.done:
            self.end_without_subscription()
            self.done = True
            self.down.on_complete()

    def end_without_subscription(self) -> None:
        if self.up is None:
            self.up = _NOT_THERE
            self.down.on_subscribe(self)  # RS 1.9

    def fail(self, error: Exception) -> None:
        """The stream ends with ``error``, which is not the source's own signal."""
        if self.done:
            _hooks.dropped(error, self.origin)
            return
        self.end_without_subscription()
        if self.done:  # cancelled in on_subscribe
            _hooks.dropped(error, self.origin)  # type: ignore[unreachable]  # set meanwhile
            return
        self.done = True
        self.stop_source()
        self.down.on_error(error)

    def refuse(self, error: TypeError) -> TypeError:
        """For a None: ``error`` ends the stream, unless it is over, and is what the source gets to see."""
        if not self.done:
            self.refused = error
            self.fail(error)
        return error

    def stop_source(self) -> None:
        try:
            self.up.cancel()
        except Exception as error:  # RS 3.15: cancel returns normally
            _hooks.dropped(error, self.origin)

    # -- the Subscription ----------------------------------------

    def ask_to_poll(self, mode: int) -> int:
        """Micro-fusion: asks the source for ``mode`` on behalf of the input, inside ``on_subscribe``. See :attr:`queue`."""
        granted = ask(self.queue, self, mode)
        if granted == ASYNC:
            self.polled = True
            self.wanted = UNBOUNDED
        return granted

    @property
    def queue(self) -> Any:
        """What is polled once a mode has been granted."""
        up = self.up
        return up.disposable if type(up) is _NoDemand else up

    def request(self, n: int, /) -> None:
        if self.done:
            return
        if type(n) is int and n > 0:
            self.asked.append(n)
        try:
            self.up.request(n)  # a wrong n is answered by the source (RS 3.9), serially with its other signals
        except Exception as error:  # RS 3.16
            if error is not self.refused:
                self.fail(as_signal(error))

    def request_all(self) -> None:
        self.request(UNBOUNDED)

    def cancel(self) -> None:
        done = self.done
        self.done = True
        self.down = NULL_SUBSCRIBER  # RS 3.13
        if not done and self.up is not None:
            self.stop_source()

"""Border: what the subscriber of a foreign source owes it, written once.

A foreign source is called as Reactive Streams says, whatever is done downstream: no request and no cancel inside its end or after
it (RS 2.3, 2.4), one request at a time (2.7), none of less than one item (3.9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from rx_core import _hooks
from rx_core._demand import UNBOUNDED, SettlesDemand, add_cap, after_answer, invalid_request
from rx_core._errors import none_argument, not_an_error
from rx_core._user_code import as_signal
from rx_core.gate import LOOK_FIRST, Gate
from rx_core.streams.contracts import NULL_SUBSCRIBER, Amount

if TYPE_CHECKING:
    from collections.abc import Callable

    from rx_core._protocols import Subscriber

T = TypeVar("T")


class NoDemand:
    """The Subscription of an observable, a Single, a Maybe or a Completable: it cannot be asked."""

    __slots__ = ("disposable",)

    disposable: Any

    def __init__(self, disposable: Any) -> None:
        self.disposable = disposable

    def request(self, _n: int, /) -> None:
        pass

    def cancel(self) -> None:
        self.disposable.dispose()


def give_back(subscription: Any) -> None:
    """Cancel what a source of any type has given to its subscriber: a Subscription, or a Disposable."""
    (subscription.cancel if hasattr(subscription, "cancel") else subscription.dispose)()


class _NotThere:
    """The Subscription of a source that failed before it gave one, or is over."""

    __slots__ = ()

    def request(self, _n: int, /) -> None:
        pass

    def cancel(self) -> None:
        pass


NOT_THERE: Final[Any] = _NotThere()


class Border(Gate, SettlesDemand, Generic[T]):
    """Subscriber of a foreign source and Subscription of what is behind it; a subclass writes ``on_next``.

    *Requests* pass a gate (RS 2.7): the thread that holds the token requests, other threads leave their numbers to it.

    *A wrong request* is answered here, serially with the source's signals (RS 1.3). Each signal raises ``busy`` and then looks at
    ``done``; the wrong request sets ``done`` and then looks at ``busy``. So at least one of them sees the other: nothing goes
    down any more, and the error goes out at once, or behind the signal that is on its way.
    """

    __slots__ = ("busy", "done", "down", "granted", "origin", "pending", "permit", "refused", "up", "wrong")

    #: Takes the place of the subscriber when that has left.
    gone: ClassVar[Any] = NULL_SUBSCRIBER
    down: Any
    up: Any
    origin: object
    #: The stream is over: no signal goes down any more.
    done: bool
    #: What a source was told that signalled None. It may come back, raised or as its on_error, and is no news then.
    refused: TypeError | None
    #: A signal of the source is on its way; the end leaves it so.
    busy: bool
    #: The answer to a wrong request.
    wrong: Exception | None
    #: Holds one entry, for the party that ends the stream with an error that is not the source's.
    permit: Any
    #: What is requested while another request is under way.
    pending: Any
    #: How many items the source was asked for; UNBOUNDED: for all. Only the holder of the token writes it, before it requests.
    granted: int

    def __init__(self, down: Subscriber[T], origin: object) -> None:
        self.down = down
        self.origin = origin
        self.up = None
        self.done = False
        self.refused = None
        self.busy = False
        self.wrong = None
        self.permit = [True]
        self.granted = 0

    # -- signals ----------------------------------------

    def on_subscribe(self, subscription: Any, /) -> None:
        if subscription is None:
            raise self.refuse(none_argument("on_subscribe(None)", "subscription"))
        if self.up is not None:
            give_back(subscription)  # RS 2.5
            return
        self.connect(subscription if hasattr(subscription, "request") else NoDemand(subscription))

    def connect(self, up: Any) -> None:
        """The source is there."""
        self.up = up
        if type(up) is NoDemand:
            self.granted = UNBOUNDED
        self.token = [0]
        self.dirty = False
        self.later = ()
        self.pending = []
        before = self.busy
        self.busy = True
        try:
            self.down.on_subscribe(self)
        except BaseException:
            self.cancel()  # RS 2.13
            raise
        finally:
            self.busy = before
        if self.wrong is not None and not before:
            self.answer()

    def leave(self, before: bool) -> None:
        """A signal has gone down; ``before``: from inside another one."""
        self.busy = before
        if self.wrong is not None and not before:
            self.answer()

    def enter(self) -> bool:
        """A signal of the end comes. False: the stream is over, and the signal is to be dropped."""
        if self.up is None:
            self.connect(NOT_THERE)  # RS 1.9
        before = self.busy
        self.busy = True
        if not LOOK_FIRST:
            self.fence()
        if self.done:
            self.leave(before)
            return False
        return True

    def on_error(self, error: Exception, /) -> None:
        if not isinstance(error, Exception):
            raise self.refuse(not_an_error(error))  # RS 2.13; what is no Exception would end threads that are not its own
        if self.done or not self.enter():
            if error is not self.refused:
                _hooks.dropped_late(error, self.origin)
            return
        self.done = True
        self.let_go().on_error(error)

    def on_complete(self) -> None:
        if not self.done and self.enter():
            self.done = True
            self.let_go().on_complete()

    def let_go(self) -> Any:
        """The subscriber, for its end. It refers to this as well, and each of many rounds would leave such a circle."""
        down, self.down = self.down, self.gone
        return down

    def fail(self, error: Exception) -> None:
        """The stream ends with ``error``, which is not the source's own signal."""
        if self.up is None and not self.done:
            self.connect(NOT_THERE)
        if self.done or not self.take_permit():  # perhaps in on_subscribe
            _hooks.dropped_late(error, self.origin)
            return
        self.done = True
        self.stop_source()
        self.down.on_error(error)

    def take_permit(self) -> bool:
        """The right to end the stream with an error that is not the source's."""
        try:
            self.permit.pop()  # atomic: one of them
        except IndexError:
            return False
        return True

    def refuse(self, error: TypeError) -> TypeError:
        """For a None: ``error`` ends the stream, unless it is over, and is what the source gets to see."""
        if not self.done:
            self.refused = error
            if self.up is None:
                self.connect(NOT_THERE)  # RS 1.9
            if not self.done:  # perhaps in on_subscribe
                self.fail(error)
        return error

    def stop_source(self) -> None:
        try:
            self.up.cancel()
        except Exception as error:  # RS 3.15: cancel returns normally
            _hooks.dropped(error, self.origin)

    # -- the Subscription ----------------------------------------

    def request(self, n: Amount, /) -> None:
        if self.done:
            return
        if type(n) is not int or n < 1:
            self.reject(n)
            return
        self.ask(n)

    def ask(self, n: int) -> None:
        """Request ``n``, unless another thread requests just now, or this one further up its stack: then that goes on."""
        token = self.token
        if LOOK_FIRST and not token:
            self.pending.append(n)
            self.drain()
            return
        try:
            token.pop()
        except IndexError:
            self.pending.append(n)
            self.drain()
            return
        try:
            self.pass_on(n)
        finally:
            token.append(0)
        if self.dirty:
            self.drain()

    def look(self, held: int, /) -> int:
        pending = self.pending
        n = 0
        while pending:
            n = add_cap(n, pending.pop(0))
        if n:
            self.pass_on(n)
        return held

    def pass_on(self, n: int) -> None:
        """Holds the token."""
        granted = self.granted
        self.granted = UNBOUNDED if n >= UNBOUNDED - granted else granted + n
        try:
            if not self.done:
                self.up.request(n)
        except Exception as error:  # RS 3.16
            if error is not self.refused:
                self.fail(as_signal(error))

    def reject(self, n: object) -> None:
        """Any thread: a wrong request ends the stream (RS 3.9)."""
        self.wrong = invalid_request(n)
        self.done = True
        self.stop_source()
        if not LOOK_FIRST:
            self.fence()
        if not self.busy:
            self.answer()

    def answer(self) -> None:
        down = self.down
        if down is not self.gone and self.take_permit():
            self.down = self.gone
            down.on_error(self.wrong)

    def fence(self) -> None:
        """Without the GIL: what was published before is seen before anything is looked at afterwards; a list has a lock."""
        self.permit.copy()

    def request_all(self) -> None:
        self.request(UNBOUNDED)

    def after_answer(self, then: Callable[[], object], /) -> None:
        after_answer(self.up, then)

    def cancel(self) -> None:
        done = self.done
        self.done = True
        self.down = self.gone  # RS 3.13
        if not done and self.up is not None:
            self.stop_source()

"""The Drain: one token, one inbox of demand, one generator.

It subscribes one subscriber to one generator of items and is that subscriber's Subscription. Every operator that coordinates
runs under it (or inside another generator that does), so the queue-drain loop, the accounting of demand, cancellation, the
closing of resources and the terminal signals exist once, here.

How it stays serial (RS 1.3) without a lock: whoever has something to say first *publishes* it (appends to a deque, sets a
flag), then raises ``_dirty``, then tries to take the token out of a list, one atomic operation. Who gets it works until
``_dirty`` stays down; who does not leaves, because the owner looks at ``_dirty`` again after putting the token back.

The parts it is made of are classes that build on each other, each in a module of its own: whose worker it works on (_lending.py),
how it ends (_ends.py), and what it delivers (_delivery.py). Here is what makes it one: the attributes, the Subscription, and the
token. What it puts off until it is not busy is in _later.py, what goes past it in _direct.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import _hooks
from rx_core._delivery import DeliveringRun, Promise
from rx_core._disposables import DISPOSED
from rx_core._later import acts_here, do_later
from rx_core._run import Items, as_generator, unhurried
from rx_core._user_code import as_signal

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber
    from rx_core._schedulers import Worker

T = TypeVar("T")


class Drain(DeliveringRun[T]):
    """Runs a generator for one subscriber, as fast as it requests and never faster.

    With ``worker``, everything but ``request`` and ``cancel`` runs there: this is what observe_on is. ``synchronous`` says that
    the generator never yields None, which allows a tighter loop; ``hint`` tells how many items a built-in iterator has left.
    ``origin`` is the pipeline it is a run of, for messages.
    """

    __slots__ = ("_awaited", "_nesting", "_token", "passing", "pipeline", "woken")

    def __init__(
        self,
        subscriber: Subscriber[T],
        *,
        worker: Worker | None = None,
        synchronous: bool = False,
        origin: object = None,
    ) -> None:
        self.last = False
        self._owned = {}
        self._after = []
        self.pipeline = self if origin is None else origin
        # Whose worker: see LendingRun.
        self._worker = worker
        self.follows = False
        self._lender = None
        self._lends = None
        self._done = False
        # What ends with it: see EndingRun.
        self.cancelled = False
        self._down = subscriber
        self._gen = None
        self._hint = None
        self._bare = None
        self._stash = None
        self.direct = None
        # What is wanted: see DeliveringRun.
        self._demand = 0
        self._requests = deque()
        self._promise = None
        self._dirty = False
        self._poked = False
        self._suspended = False
        self._idle = False
        self._synchronous = synchronous
        self._later = deque()
        #: What was put off and runs now, each with its thread.
        self._nesting: list[tuple[int, Callable[[], object]]] = []
        #: Taken: start() gives it back. It says how many items may go past the generator as things are (see _direct.py).
        self._token: list[int] = []
        #: Raised by who wakes, before the attempt to take the token; lowered before whoever has it looks, and when it is given
        #: back. So who sees it raised is sure of a look that comes.
        self.woken = False
        #: Whether the worker was told to come here, and has not done so yet.
        self._awaited = False
        #: The operator that gives items on as they came, until it is asked for its items.
        self.passing: object = None

    @property
    def root(self) -> Drain[T]:
        return self

    @property
    def dropped_one(self) -> Callable[[], object] | None:  # type: ignore[override]  # passed on, not kept
        return getattr(self._down, "_rx_dropped", None)

    def later(self, action: Callable[[], object], /) -> None:
        self._later.append(action)
        self._dirty = True

    def _unhurried(self, items: Items[Any]) -> Items[Any]:
        # Opened while nothing is wanted (after a poke): its items are not to be pulled yet.
        return unhurried(self, items) if self._gen is not None and not self._demand else items

    def straight(self) -> Drain[T] | None:
        if self.passing is not True:
            return None
        self.passing = None
        return self

    # -- Subscription --------------------------------------------------------------------------------------------------

    def request(self, n: int, /) -> None:
        self._requests.append(n)  # validated by the owner: the error is a signal and has to be serial (RS 3.9, 3.16)
        if self._lender is None:
            self.wake()
        else:
            self._wake_there()

    def _rx_promise(self, n: int, /) -> Callable[[], object]:
        """``n`` will be requested in a moment, by another thread: what is returned does that. Called in on_subscribe.

        Until then it counts as requested, and what comes by itself is delivered; but nothing is computed for it on this thread.
        """
        promise = self._promise = Promise(self, n)
        return promise.keep

    def cancel(self) -> None:
        self.cancelled = True  # RS 3.5: returns at once; the owner closes, here or wherever it is running
        self.wake()

    def dispose(self) -> None:
        self.cancel()

    # -- the token -----------------------------------------------------------------------------------------------------

    def wake(self) -> None:
        self.woken = True
        self._dirty = True
        if self._take():
            if self._worker is None or (self._nesting and acts_here(self)):
                self._loop()  # on a worker: what is put off there pushes on its thread, which is the one to go on
            else:
                self._submit()

    def poke(self) -> None:
        self._poked = True
        self.wake()

    def _wake_there(self) -> None:
        """As :meth:`wake`, for who requests: what is to be delivered comes on the worker of the source, not on this thread.

        The token stays where it is: what the source sends before the worker gets to this is delivered as it comes.
        """
        self._dirty = True
        if self._token and not self._awaited:
            self._awaited = True
            worker = self.rx_worker()
            if worker is None or worker.schedule(self._come) is DISPOSED:
                self._awaited = False
                self.wake()

    def _come(self) -> None:
        self._awaited = False  # before looking
        try:
            self.wake()
        except Exception as error:  # as in _on_own_thread
            _hooks.dropped(error, self.origin)

    def _take(self) -> bool:
        """Take the token, unless another thread has it, or this one."""
        token = self._token
        if token:
            try:
                token.pop()
            except IndexError:  # taken this moment
                return False
            return True
        return False

    def start(self, body: Callable[[Drain[T]], Items[T]]) -> bool:
        """Hand out the Subscription, open the generator, then let go of the token. False: it was cancelled before it was opened.

        The token is held meanwhile, so nothing is emitted before on_subscribe returned (RS 1.3, 1.9). What is put off happens
        then, on this thread: sources are subscribed by who subscribes, also when a worker deals with what they send, and one that
        sends for long keeps nobody else busy.
        """
        down = self._down
        assert down is not None
        put_off = self._later
        try:
            down.on_subscribe(self)
            opened = self._gen is not None or not self.cancelled
            if self._gen is None and not (self.cancelled or self._done):  # else opened by who asked to poll
                try:
                    self._gen = as_generator(body(self))
                except (Exception, GeneratorExit) as error:
                    self._finish(as_signal(error))
        except BaseException:
            # RS 2.13: a subscriber that throws is considered cancelled; its error is its caller's to see.
            self.cancelled = True
            self._close()
            raise
        finally:
            if put_off and self._worker is not None:
                self._later = deque()  # not for the worker, which may begin at once
            self._token.append(0)
            self.woken = False
        if put_off:
            if self._worker is None:
                do_later(self)
            else:
                for action in put_off:
                    action()
        if self._lender is None or self.cancelled:
            self.wake()
        else:
            self._wake_there()
        if self._promise is not None:
            self._promise.is_open = True
        return opened

    def _submit(self) -> None:
        worker = self._worker
        assert worker is not None
        if worker.schedule(self._loop) is DISPOSED:
            # The scheduler does not take it any more: end here rather than hang.
            try:
                if not self.cancelled:
                    self._finish(RuntimeError(f"{worker!r} was shut down while a stream was running on it"))
                self._close()
            finally:
                self._token.append(0)
                self.woken = False

    def _loop(self) -> None:
        """Holds the token. Work until nothing new was published since the last look."""
        token = self._token
        while True:
            try:
                while self._dirty:
                    self.woken = self._dirty = False  # before reading, or what arrives meanwhile is lost
                    self._drain()
                    if self._suspended:
                        break
            except BaseException as error:
                if not self._on_own_thread(error):
                    raise
            finally:
                suspended, self._suspended = self._suspended, False
                if not suspended:
                    token.append(self._demand if self._idle else 0)
                    self.woken = False
            if self._later and not suspended:
                do_later(self)
            if suspended:  # a cooperative worker wants its turn; the token stays ours
                self._submit()
                return
            if not self._dirty or not self._take():
                return

    def __repr__(self) -> str:
        state = "cancelled" if self.cancelled else "done" if self._done else f"demand={self._demand}"
        return f"<{type(self).__name__} {state}>"

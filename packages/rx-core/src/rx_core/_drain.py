"""The Drain: one token, one inbox of demand, one generator.

It subscribes one subscriber to one generator of items and is that subscriber's Subscription. Every operator that coordinates
runs under it (or inside another generator that does), so the queue-drain loop, the accounting of demand, cancellation, the
closing of resources and the terminal signals exist once, here.

How it stays serial (RS 1.3) without a lock: whoever has something to say first *publishes* it (appends to a deque, sets a
flag), then raises ``_dirty``, then tries to take the token out of a dict, one atomic operation. Who gets it works until
``_dirty`` stays down; who does not leaves, because the owner looks at ``_dirty`` again after putting the token back.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from operator import length_hint
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from rx_core import _hooks
from rx_core._demand import UNBOUNDED, add_cap, invalid_request
from rx_core._disposables import DISPOSED
from rx_core._errors import WorkerInterruptedError
from rx_core._run import Items, Run, as_generator, close, unhurried
from rx_core._user_code import as_signal

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber
    from rx_core._run import Lender
    from rx_core._schedulers import Worker

T = TypeVar("T")

_END: Any = object()

#: How many actions that were put off may run inside one another.
_DEEPEST = 4


@final
class _Promise:
    """What a boundary will request as soon as its worker gets to it.

    A clock or whoever else sends by itself need not wait for that, and must not be told that nobody wants its items.
    """

    __slots__ = ("_drain", "amount", "is_kept", "is_open")

    def __init__(self, drain: Drain[Any], amount: int) -> None:
        self._drain = drain
        self.amount = amount
        #: It was requested.
        self.is_kept = False
        #: The stream has started: who pokes it has something to deliver.
        self.is_open = False

    def keep(self) -> None:
        self.is_kept = True
        self._drain.wake()


class Drain(Run, Generic[T]):
    """Runs a generator for one subscriber, as fast as it requests and never faster.

    With ``worker``, everything but ``request`` and ``cancel`` runs there: this is what observe_on is. ``synchronous`` says that
    the generator never yields None, which allows a tighter loop; ``hint`` tells how many items a built-in iterator has left.
    ``origin`` is the pipeline it is a run of, for messages.
    """

    __slots__ = (
        "_awaited",
        "_bare",
        "_demand",
        "_dirty",
        "_done",
        "_down",
        "_gen",
        "_hint",
        "_idle",
        "_later",
        "_lender",
        "_lends",
        "_nesting",
        "_poked",
        "_promise",
        "_requests",
        "_stash",
        "_suspended",
        "_synchronous",
        "_token",
        "_worker",
        "cancelled",
        "direct",
        "follows",
        "passing",
        "pipeline",
        "woken",
    )

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
        #: Read by running stages and operators: stop, nobody listens. Set from any thread.
        self.cancelled = False
        self._down: Subscriber[T] | None = subscriber
        self._worker = worker
        #: Where it has none: whether its source has one to lend, None where only the run will tell; and the source that does.
        self.follows: bool | None = False
        self._lender: Lender | None = None
        #: Whether the worker was told to come here, and has not done so yet.
        self._awaited = False
        #: Who needs its worker, once it was lent: who takes out the 0 is the last.
        self._lends: list[int] | None = None
        self._synchronous = synchronous
        self.pipeline = self if origin is None else origin
        self._gen: Items[T] | None = None
        self._hint: Callable[[], int] | None = None
        self._bare: Iterator[T] | None = None
        self._requests: deque[int] = deque()
        self._later: deque[Callable[[], object]] = deque()
        self._nesting: list[tuple[int, Callable[[], object]]] = []
        self._promise: _Promise | None = None
        self._demand = 0
        #: Taken: start() gives it back. It says how many items may go past the generator as things are (see _direct.py).
        self._token: list[int] = []
        self._dirty = False
        #: Raised by who wakes, before the attempt to take the token; lowered before whoever has it looks, and when it is given
        #: back. So who sees it raised is sure of a look that comes.
        self.woken = False
        self._poked = False
        self._stash: T | None = None
        self._suspended = False
        self._done = False
        #: Where an item may go that need not pass through the generator (see _direct.py): the subscriber's ``on_next``, or the
        #: stages before it. None: every item passes through.
        self.direct: Callable[[Any], object] | None = None
        #: The operator that gives items on as they came, until it is asked for its items.
        self.passing: object = None
        #: The generator waits for its sources, and nothing else is to be done before they have something.
        self._idle = False

    # -- what operators see ------------------------------------------------------------------------------------------

    @property
    def root(self) -> Drain[T]:
        return self

    @property
    def demand(self) -> int:
        return self._demand

    @property
    def outstanding(self) -> int:
        # What goes into the demand first: the owner adds before it takes out, so it is counted twice for a moment, never missed.
        promise = self._promise
        requests = self._requests.copy()
        demand = self._demand if promise is None else add_cap(self._demand, promise.amount)
        for n in requests:
            if type(n) is int and n > 0:
                demand = add_cap(demand, n)
        return demand

    @property
    def worker(self) -> Worker | None:
        return self._worker

    @property
    def threaded(self) -> bool:
        return self._worker is not None

    @property
    def dropped_one(self) -> Callable[[], object] | None:  # type: ignore[override]  # passed on, not kept
        return getattr(self._down, "_rx_dropped", None)

    def later(self, action: Callable[[], object], /) -> None:
        self._later.append(action)
        self._dirty = True

    def _unhurried(self, items: Items[Any]) -> Items[Any]:
        # Opened while nothing is wanted (after a poke): its items are not to be pulled yet.
        return unhurried(self, items) if self._gen is not None and not self._demand else items

    # -- Subscription ------------------------------------------------------------------------------------------------

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
        promise = self._promise = _Promise(self, n)
        return promise.keep

    def cancel(self) -> None:
        self.cancelled = True  # RS 3.5: returns at once; the owner closes, here or wherever it is running
        self.wake()

    def dispose(self) -> None:
        self.cancel()

    @property
    def is_disposed(self) -> bool:
        return self.cancelled or self._done

    def wake(self) -> None:
        self.woken = True
        self._dirty = True
        if self._take():
            if self._worker is None or (self._nesting and self._acts_here()):
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

    # -- a worker for what comes after -------------------------------------------------------------------------------

    def follow(self, lender: Lender) -> None:
        if self.follows is not False and self._lender is None and not self._done and lender.rx_lend():
            self._lender = lender

    @property
    def _rx_lender(self) -> Drain[T]:
        return self

    def rx_lend(self) -> bool:
        # Who follows knows its worker only when its own source is subscribed, which is after this.
        if self._worker is None and not self.follows:
            return False
        self._lends = [0, 1]
        return True

    def rx_worker(self) -> Worker | None:
        lender = self._lender
        return self._worker if lender is None else lender.rx_worker()

    def rx_give_back(self) -> None:
        self._retire()

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

    # -- the owner's part --------------------------------------------------------------------------------------------

    def start(self, body: Callable[[Drain[T]], Items[T]]) -> None:
        """Hand out the Subscription, open the generator, then let go of the token.

        The token is held meanwhile, so nothing is emitted before on_subscribe returned (RS 1.3, 1.9). What is put off happens
        then, on this thread: sources are subscribed by who subscribes, also when a worker deals with what they send, and one that
        sends for long keeps nobody else busy.
        """
        down = self._down
        assert down is not None
        put_off = self._later
        try:
            down.on_subscribe(self)
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
                self._do_later()
            else:
                for action in put_off:
                    action()
        if self._lender is None or self.cancelled:
            self.wake()
        else:
            self._wake_there()
        if self._promise is not None:
            self._promise.is_open = True

    def set_hint(self, hint: Callable[[], int], bare: Iterator[T] | None = None) -> None:
        """Say how to ask a built-in iterator for the number of items it has left.

        ``bare`` is that iterator, when the generator has nothing to do but to give its items, and it cannot fail.
        """
        self._hint = hint
        self._bare = bare

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
                self._do_later()
            if suspended:  # a cooperative worker wants its turn; the token stays ours
                self._submit()
                return
            if not self._dirty or not self._take():
                return

    def _do_later(self) -> None:
        """Run what was put off. An action may push items, which come to this very loop again: a source that is being subscribed
        there has to be able to wait for others. But not without end: a chain of sources goes on in the outermost loop (RS 3.3),
        when the one before has returned.
        """
        me = threading.get_ident()
        nesting = self._nesting
        inside = [action for ident, action in nesting if ident == me]
        if len(inside) == _DEEPEST or (inside and not getattr(inside[-1], "lets_others_in", True)):
            return
        while self._later:
            try:
                action = self._later.popleft()
            except IndexError:  # taken by another thread meanwhile
                return
            here = (me, action)
            nesting.append(here)
            try:
                action()
            finally:
                nesting.remove(here)
                self._dirty = True  # who put it off goes on

    def _acts_here(self) -> bool:
        """Whether this thread is doing something that was put off."""
        me = threading.get_ident()
        return any(ident == me for ident, _ in self._nesting.copy())

    def _drain(self) -> None:
        self._idle = False
        requests = self._requests
        while True:
            gen = self._gen
            if self.cancelled:
                self._close()
                return
            if gen is None:
                requests.clear()
                return
            if self._promise is not None:
                self._look_at_promise(self._promise)
            while requests:
                n = requests[0]
                if type(n) is not int or n < 1:
                    close(gen)
                    self._finish(invalid_request(n))
                    return
                self._demand = add_cap(self._demand, n)
                requests.popleft()
            try:
                if self._demand:
                    if self._stash is not None:
                        item, self._stash = self._stash, None
                        self._spend(1)
                        self._down.on_next(item)  # type: ignore[union-attr]  # there while there is a generator
                        continue
                    ended, idle = self._emit_all(gen) if self._synchronous else self._emit_some(gen)
                    if ended:
                        if not self.cancelled:
                            self._finish(None)
                        continue
                    if idle:
                        self._idle = self.direct is not None and not self._later and self._promise is None
                        return
                elif not self._settle(gen):
                    return
            except BaseException as error:
                self._failed(gen, error)

    def _look_at_promise(self, promise: _Promise) -> None:
        if promise.is_kept or (promise.is_open and self._poked):
            self._demand = add_cap(self._demand, promise.amount)
            self._promise = None

    def _emit_all(self, gen: Items[T]) -> tuple[bool, bool]:
        """The synchronous loop: nothing but items comes, so the batch is counted by islice and not by us."""
        down: Any = self._down
        on_next: Callable[[Any], object] = down.on_next
        feed: Callable[[Iterator[Any]], object] | None = getattr(down, "_rx_feed", None)
        source: Iterator[Any] = gen if self._bare is None else self._bare
        demand = self._demand
        quantum = None if self._worker is None else self._worker.quantum
        demand_now = demand
        if quantum is not None and quantum < demand:
            self._dirty = self._suspended = True
            demand_now = quantum
        if demand_now < UNBOUNDED:
            source = islice(source, demand_now)
        if feed is not None:
            feed(source)
        elif self._bare is None:
            for item in source:
                on_next(item)
        else:
            for item in source:
                on_next(item)
                if self.cancelled:  # which a generator looks at itself
                    break
        if self.cancelled:
            self._suspended = False
            return False, False
        if demand_now == UNBOUNDED or has_ended(gen) or (self._bare is not None and not length_hint(self._bare)):
            self._suspended = False
            return True, False
        self._spend(demand_now)
        return False, self._suspended

    def _emit_some(self, gen: Items[T]) -> tuple[bool, bool]:
        """The careful loop: a None means nothing now, and each item is one less to want."""
        on_next: Callable[[T], object] = self._down.on_next  # type: ignore[union-attr]  # there while there is a generator
        # It is resumed, and looks. An operator that gives items before it has looked at all it was poked for pokes again before
        # it yields (delay, sample). To resume it once more in any case, when the demand is used up, would mostly have it compute
        # an item that nobody wants.
        self._poked = False
        quantum = None if self._worker is None else self._worker.quantum
        if self._demand == UNBOUNDED and quantum is None:
            for item in gen:
                if item is None:
                    return False, True
                on_next(item)
                if self.cancelled:
                    return False, False
            return True, False
        left = self._demand if quantum is None else min(self._demand, quantum)
        for item in gen:
            if item is None:
                return False, True
            self._spend(1)
            on_next(item)
            left -= 1
            if not left or self.cancelled:
                if self._demand and not self.cancelled:
                    self._dirty = self._suspended = True
                return False, self._suspended
        return True, False

    def _settle(self, gen: Items[T]) -> bool:
        """Nothing is wanted. Complete if the end is known without pulling an item; deal with a poke. True: look again."""
        if self._stash is not None:
            return False  # an item waits for demand: the end comes after it
        if self.last:
            # By the mark no item comes any more, but stages behind the one that stopped have an end of their own to see.
            if next(gen, _END) is not _END:
                close(gen)
            if not self.cancelled:
                self._finish(None)
            return True
        if not self._poked and (self._hint is None or self._hint() != 0):
            return False
        self._poked = False
        item = next(gen, _END)
        if item is _END:
            if not self.cancelled:
                self._finish(None)
            return True
        # One item at most, and only after a poke: it waits for the next request. An operator with several sources looks what it
        # was poked for before it goes on (interleave), so none is computed for that. A stage does not know of pokes: in the
        # middle of what it makes of one item (flat_map_iterable) it gives the next.
        self._stash = item
        return bool(self._requests) or (self._poked and item is None)

    def _spend(self, n: int) -> None:
        if self._demand < UNBOUNDED:
            self._demand -= n

    # -- past the generator ------------------------------------------------------------------------------------------

    def straight(self) -> Drain[T] | None:
        if self.passing is not True:
            return None
        self.passing = None
        return self

    def broken(self) -> None:
        """The subscriber has raised for an item that went past the generator: it is considered cancelled (RS 2.13)."""
        self._idle = False
        self.cancelled = True
        self._close()

    def fail(self, error: Exception) -> None:
        """A stage behind the generator has failed. Holds the token."""
        self._idle = False
        close(self._gen)
        if self.cancelled:
            self._close()
            _hooks.dropped(error, self.origin)
        else:
            self._finish(error)

    def dropped(self) -> None:
        """A stage behind the generator has dropped the item, which was not the one that is wanted. Holds the token."""
        if self._demand < UNBOUNDED:
            self._demand += 1

    # -- ends --------------------------------------------------------------------------------------------------------

    def _failed(self, gen: Items[T], error: BaseException) -> None:
        """Tell the pipeline's errors from the subscriber's: a generator that raised is dead, one that yielded is not."""
        if isinstance(error, ValueError) and getattr(gen, "gi_running", False):
            # The run was dropped and is being collected: its generator's own ``finally`` woke it. Nobody is left to tell.
            self.cancelled = True
            self._gen = self._down = self.direct = None
            return
        if not has_ended(gen):
            self.cancelled = True  # RS 2.13
            self._close()
            raise error
        error = as_signal(error)
        if isinstance(error, Exception):
            if self.cancelled:
                self._gen = None
                self._close()
                _hooks.dropped(error, self.origin)
            else:
                self._finish(error)
            return
        # KeyboardInterrupt, SystemExit and their like are nobody's signal. Close before they propagate, so that no later
        # request finds a dead generator and takes it for a completed one.
        self.interrupted(error)
        raise error

    def interrupted(self, error: BaseException) -> None:
        """A function of the pipeline was left by ``error``, which is nobody's signal. Holds the token."""
        down = self._down
        self.cancelled = True
        self._close()
        if down is not None:
            tell_interrupted(down, error, self._worker is not None)

    def _on_own_thread(self, error: BaseException) -> bool:
        """On a worker a subscriber's exception has no caller that could see it: it goes to the hook (RS 2.13)."""
        if self._worker is not None and isinstance(error, Exception):
            _hooks.dropped(error, self.origin)
            return True
        return False

    def _finish(self, error: Exception | None) -> None:
        """Signal the end, once; give everything back first, so that nothing of ours outlives the signal (RS 3.13)."""
        down, self._down, self._gen, self._hint = self._down, None, None, None
        self._bare = self.direct = None
        if self._done or down is None:
            return
        self._done = True
        self.release()
        try:
            if error is None:
                down.on_complete()
            else:
                down.on_error(error)
        finally:
            self.finalize()
            self._retire()

    def _close(self) -> None:
        """Cancelled: close the generator on the owner's thread and drop every reference to the subscriber (RS 3.13)."""
        gen, self._gen, self._down, self._hint = self._gen, None, None, None
        self._bare = self.direct = None
        self._stash = None
        if gen is not None:
            close(gen)
        if not self._done:
            self._done = True
            self.release()
            self.finalize()
            self._retire()

    def _retire(self) -> None:
        if self._lends is not None:
            try:
                if self._lends.pop():
                    return  # the other one has work to do there
            except IndexError:
                return
        if self._worker is not None:
            self._worker.dispose()
        elif self._lender is not None:
            self._lender.rx_give_back()

    def __repr__(self) -> str:
        state = "cancelled" if self.cancelled else "done" if self._done else f"demand={self._demand}"
        return f"<{type(self).__name__} {state}>"


def tell_interrupted(down: Subscriber[Any], error: BaseException, on_worker: bool = False) -> None:
    """``error`` is nobody's signal. But where nobody can act on it, who waits for the stream must not wait for ever."""
    if on_worker or threading.current_thread() is not threading.main_thread():
        interrupted = WorkerInterruptedError(f"{type(error).__name__} ended the stream: {error}")
        interrupted.__cause__ = error
        down.on_error(interrupted)


def has_ended(gen: object) -> bool:
    """Whether a generator is over. Not a flag of ours: one killed by an exception must look dead, whatever killed it."""
    return getattr(gen, "gi_frame", _END) is None

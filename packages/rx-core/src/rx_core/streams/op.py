"""Op: the gate and the Subscription of one operator at work for one subscriber.

The gate (``rx_core.gate``) keeps every operator serial (RS 1.3) and its recursion bounded (RS 3.3). What an operator adds:

1. *The token carries the demand.* Its holder owns the account of what downstream wants, so no other thread changes it.
2. *Subscribing and requesting happen after the token is put back* (``later``). A source that answers on the same thread finds the
   gate free, so that its items need no queue and its answers no recursion.
3. *The token is held during on_subscribe*: nothing is signalled before it returned.
4. Only the holder of the token closes sources and signals the end. What comes after the end is dropped, or reported if it is an
   error.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from threading import get_ident
from types import GeneratorType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, Union

from rx_core import _hooks
from rx_core._demand import UNBOUNDED, SettlesDemand, after_answer, invalid_request
from rx_core._errors import EXHAUSTION, WorkerInterruptedError
from rx_core._observers import CallbackObserver, callbacks_behind
from rx_core._user_code import as_signal, note_way
from rx_core.gate import Gate
from rx_core.streams.contracts import (
    NULL_SUBSCRIBER,
    Amount,
    Handover,
    Listening,
    Stream,
    SubscriberFailed,
    Subscribing,
    close_between_items,
    ignore,
    is_exhausted,
)

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber

T = TypeVar("T")

#: How far :meth:`Op.give` came with a passive source.
Outcome = Union[bool, "Failed", Stream[Any]]


class Failed:
    """What a passive source raised. It is taken out once: from Python 3.12 on the frames in its traceback keep those that called
    them, with their variables, and an error in one of these would keep itself."""

    __slots__ = ("error",)

    error: Exception | None

    def __init__(self, error: Exception) -> None:
        self.error = error

    def take(self) -> Exception:
        error = self.error
        assert error is not None
        self.error = None
        return error


class _EndsWith:
    """Takes the place of a request: what ends the stream, to be signalled by the holder of the token."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


def _call(then: Callable[[], object]) -> None:
    then()


class Op(Gate, SettlesDemand, Generic[T]):
    """One operator for one subscriber: its Subscription, its account of demand, and the gate that all its signals pass.

    A subclass writes :meth:`step` and :meth:`close`, and :meth:`open` if it subscribes to sources at once. All three run while
    the token is held, except ``open``, during which other threads may already run ``step``.
    """

    __slots__ = (
        "beneath",
        "discard",
        "down",
        "emit",
        "emit_unguarded",
        "giver",
        "giving",
        "opened",
        "opening",
        "origin",
        "pending",
        "requests",
        "settled",
        "stopped",
    )

    #: What users write, for messages; "" where it is no operator of its own.
    operator_name: ClassVar[str] = ""
    #: What it waits for where no source of its own is to send, in words: see rx_core.live.
    waits_for: ClassVar[str] = "an item"
    #: It runs streams that a function makes. An error that comes through it is noted: the notes of an inner stream do not say
    #: in which operator of which pipeline it ran.
    opens_sources: ClassVar[bool] = False
    #: Whether it works on a worker only: what leaves a function there by a BaseException has no caller that could act on it.
    on_worker: ClassVar[bool] = False
    #: It has one source, and RxJava's operator calls on_subscribe when the source does: see :meth:`after_answer`.
    relays: ClassVar[bool] = False
    #: Whether each item that it was given goes on, into a function, or to :attr:`discard`: see do_on_discard.
    discards: ClassVar[bool | Callable[..., bool]] = False
    #: How many of its sources give items, the first ones; the others only say when.
    gives_of: ClassVar[int] = UNBOUNDED
    #: What becomes of an item that is neither given nor taken: nothing, or a function of do_on_discard hears of it. Any thread.
    discard: Callable[[Any], object]
    #: The subscriber, until the end or a cancel (RS 3.13).
    down: Any
    #: Its ``on_next``. To be called while the token is held and demand is left. What does so for each item reads it into a
    #: variable first: CPython 3.11 is slower where the function of a slot is called as a method is, ``self.emit(item)``.
    emit: Callable[[Any], object]
    #: The same for an input that emits past :meth:`step`: of callbacks the function itself, without what guards it. To be called
    #: in a ``try``; what it raises is for :meth:`unguarded_raised`.
    emit_unguarded: Callable[[Any], object]
    #: Iterators that hold something open and are read as well: that of an outer source, or those beneath what is given.
    beneath: tuple[Any, ...]
    #: The iterator whose item is being given, where it is a generator or something is ``beneath``; and the thread that gives it,
    #: which is written first.
    giving: Any
    giver: int
    #: What was requested and not looked at, in order.
    requests: Any
    #: Everything was requested, see :meth:`request_all`.
    settled: bool
    #: Cancelled by downstream, or the end was signalled.
    stopped: bool
    #: A source is being subscribed, see :meth:`subscribe_later`; and, until it was looked at, that ``subscribe`` has returned.
    opening: bool
    opened: bool
    #: What is to be subscribed next; None most of the time.
    pending: Any
    #: The pipeline this is a run of, for messages.
    origin: object

    def __init__(self, down: Subscriber[T], origin: object = None) -> None:
        self.discard = ignore
        self.down = down
        self.emit = self.emit_unguarded = down.on_next
        self.token = [0]
        self.token.pop()  # held until on_subscribe has returned; see Gate.token
        self.dirty = False
        self.giving = None
        self.beneath = ()
        self.requests = []
        self.settled = False
        self.stopped = False
        self.later = []
        self.opening = False
        self.opened = False
        self.pending = None
        self.origin = origin

    def start(self) -> bool:
        """Hand out the Subscription, then subscribe to what has to be subscribed at once.

        False: the subscriber has left while it was given the Subscription, and no source was subscribed.
        """
        try:
            self.down.on_subscribe(self)
        except BaseException:
            self.stopped = True  # RS 2.13: a subscriber that throws is considered cancelled
            self.close()
            self.down = NULL_SUBSCRIBER
            self.emit = self.emit_unguarded = self.discard
            raise
        down, emit = self.down, self.emit
        callbacks = callbacks_behind(down)
        if callbacks is None or emit != down.on_next:  # a subclass may have an emit of its own
            self.emit_unguarded = emit
        else:
            self.emit_unguarded = callbacks.function or emit
        self.token.append(0)
        opened = not self.stopped
        if opened:
            try:
                self.open()
            except (Exception, GeneratorExit) as error:
                if self.stopped:
                    raise  # the subscriber's, for an item that came meanwhile (RS 2.13)
                self.requests.append(_EndsWith(without_this_frame(error)))  # RS 1.9
                if isinstance(error, EXHAUSTION):
                    self.drain()
                    raise  # operators further down the stack may wait for what was lost here: see exhausted()
        self.drain()
        return opened

    # -- what an operator writes ----------------------------------------

    def open(self) -> None:
        """Subscribe to the sources that are subscribed together with the operator."""

    def step(self, demand: int) -> int:
        """Look at all that was published, emit at most ``demand`` items, and give back what is still wanted.

        Called by the holder of the token. It returns soon after ``dirty`` is raised again, and 0 from :meth:`finish`.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Give back all sources: cancel them, clear queues. Called at the end or after a cancel, perhaps several times.

        It closes what :meth:`listening` names, and is written out: a loop over that would cost a short stream 2 %.
        """

    def listening(self) -> Iterable[Listening]:
        """The inputs that are subscribed to a source, for any thread: see :meth:`cancel`."""
        return ()

    def open_inputs(self) -> Iterable[Listening]:
        """What it listens with, for any thread to look at. More than :meth:`listening` where a cancel leaves the sources to
        others, as those of a group."""
        return self.listening()

    def open_demand(self) -> int | None:
        """How many items are requested and not given, for any thread to look at; None: a thread is just changing that."""
        held: list[int] = self.token[-1:]  # one step
        return held[0] if held and not self.requests else None

    def is_held(self) -> bool:
        """Whether a thread is at work here, for any thread to look at."""
        return not self.token

    def refuse_request(self, error: Exception) -> None:
        """A request was not a positive number (RS 3.9). Where a source signals past the gate, the source has to say so."""
        self.finish(error)

    # -- Subscription ------------------------------------------------------------

    def request(self, n: Amount, /) -> None:
        """Thread-safe; ``n`` is looked at by the holder of the token, because a wrong one is a signal (RS 3.9, 3.16)."""
        self.requests.append(n)
        self.drain()

    def request_all(self) -> None:
        self.settled = True  # before it is looked at
        self.request(UNBOUNDED)

    def cancel(self) -> None:
        """Thread-safe, returns at once (RS 3.5): the holder of the token closes.

        Where that is this thread, inside of an item that it gives, the sources are cancelled before the subscriber goes on, and
        the generator or file that gives the item, which waits for the next one, is closed: what it runs next, another round or
        another source, finds their resources released.
        """
        self.stopped = True
        if not self.token:
            for entry in self.listening():
                entry.stop()
            if self.giving is not None and self.giver == get_ident():
                for items in (self.giving, *self.beneath):
                    close_between_items(items)
        self.drain()

    def dispose(self) -> None:
        self.cancel()

    @property
    def is_disposed(self) -> bool:
        return self.stopped

    def after_answer(self, then: Callable[[], object], /) -> None:
        if self.relays:
            self.put_off(partial(self.after_source, then))
        else:
            then()

    def after_source(self, then: Callable[[], object]) -> None:
        """:meth:`after_answer` of the only source, which is subscribed, and asked, behind what is put off already."""
        if self.later:
            self.put_off(partial(self.after_source, then))
            return
        up = next((entry.up for entry in self.listening()), None)
        if up is None:
            then()  # it was passive, and this operator has given its items
        else:
            after_answer(up, then)

    def put_off(self, then: Callable[[], object]) -> None:
        """Call ``then`` once the token is put back, behind all that has been put off."""
        self.later.append((_call, then))
        self.drain()

    def end_with(self, error: Exception) -> None:
        """End the stream with ``error``, unless it is over. Any thread."""
        if not self.stopped:
            self.requests.append(_EndsWith(error))
            self.drain()

    # -- the gate ----------------------------------------

    def drain_on_worker(self) -> None:
        """:meth:`drain` as a worker's action: what a subscriber raises has no caller there and goes to the error hook."""
        try:
            self.drain()
        except Exception as error:  # RS 2.13
            _hooks.dropped(error, self.origin)

    def look(self, demand: int, /) -> int:
        """Holds the token. Take requests into the account, notice a cancel, or step."""
        requests = self.requests
        while requests:
            n = requests.pop(0)
            if type(n) is not int or n < 1:
                if isinstance(n, _EndsWith):
                    self.finish(n.error)
                elif isinstance(n, EXHAUSTION):
                    self.finish(without_this_frame(n))
                elif not self.stopped:
                    self.refuse_request(invalid_request(n))
                continue
            demand = UNBOUNDED if n >= UNBOUNDED - demand else demand + n
        if self.stopped:
            self.close()
            self.down = NULL_SUBSCRIBER
            self.emit = self.emit_unguarded = self.discard
            return 0
        if self.opened:
            self.open_next()
        return self.step(demand)

    def look_failed(self, error: BaseException, /) -> BaseException | None:
        if isinstance(error, EXHAUSTION):
            self.exhausted(error)
            return None
        down = self.down
        self.abandon()
        if isinstance(error, SubscriberFailed):
            return error.error
        if not isinstance(error, Exception):
            tell_interrupted(down, error, self.on_worker)
        return None

    def abandon(self) -> None:
        """The subscriber raised, which counts as a cancel (RS 2.13). Holds the token."""
        self.stopped = True
        self.close()
        self.down = NULL_SUBSCRIBER
        self.emit = self.emit_unguarded = self.discard

    def exhausted(self, error: Exception) -> None:
        """There is no stack left, or no memory. That is no choice of the subscriber's, who is to hear of it.

        It raises on as any error of a subscriber does. Who gets the token next signals it, most likely the thread that raises,
        further down its stack; or a source does that caught it there, so nothing is to be closed here.
        """
        if not self.stopped:
            self.requests.append(error)

    def emit_raised(self, error: BaseException) -> None:
        """For an input that emitted past :meth:`step` and got ``error``. It puts the token back itself, in a ``finally`` and not
        by a call: where no stack is left this is not even entered, and the error needs a free gate to be signalled."""
        if isinstance(error, EXHAUSTION):
            self.exhausted(error)
        else:
            self.abandon()

    def unguarded_raised(self, error: BaseException) -> bool:
        """As :meth:`emit_raised`, for what :attr:`emit_unguarded` raised. True: a callback did, and its subscriber is told, which
        has cancelled: the input drains and returns. False: the input raises on."""
        emit: Any = self.emit
        if self.emit_unguarded is emit:
            self.emit_raised(error)
            return False
        callbacks: CallbackObserver[Any] = emit.__self__  # also where what stands before them has let go of them meanwhile
        try:
            callbacks.callback_failed(error)
        except BaseException as failure:
            self.emit_raised(failure)
            raise
        return True

    def abandon_token(self) -> None:
        """As :meth:`abandon`, for an input that has the token, and gives it back so."""
        try:
            self.abandon()
        finally:
            self.token.append(0)

    # -- for step ----------------------------------------

    def finish(self, error: Exception | None = None) -> int:
        """Give everything back, then signal the end, once. For ``return self.finish()``."""
        down = self.down
        if self.stopped:  # cancelled meanwhile
            if error is not None:
                _hooks.dropped_late(error, self.origin)
            return 0
        self.stopped = True
        try:
            self.close()
        except EXHAUSTION:
            self.stopped = False  # nothing was signalled: see exhausted()
            raise
        self.down = NULL_SUBSCRIBER
        self.emit = self.emit_unguarded = self.discard
        if error is None:
            down.on_complete()
        else:
            if self.opens_sources:
                note_way(error, self.origin)
            down.on_error(error)
        return 0

    def give(self, items: Iterator[Any], demand: int) -> tuple[int, Outcome]:
        """The one loop over what is passive: emit while items are wanted and nothing new was published.

        Gives what is still wanted, and the outcome: False, there may be more; True, the source is known to be exhausted; Failed;
        a Stream, the rest of it has to be subscribed.
        """
        if (type(items) is GeneratorType or self.beneath) and self.giving is None:
            return self.give_noted(items, demand)
        emit = self.emit
        try:
            if demand == UNBOUNDED:
                for item in items:
                    try:
                        emit(item)
                    except BaseException as error:
                        self.emit_failed(error)
                    if self.dirty:
                        break
                else:
                    return demand, True
            elif demand:
                for item in items:
                    try:
                        emit(item)
                    except BaseException as error:
                        self.emit_failed(error)
                    demand -= 1
                    if not demand or self.dirty:
                        break
                else:
                    return demand, True
        except Handover as handover:
            return demand, handover.rest
        except (Exception, GeneratorExit) as error:
            if self.stopped and isinstance(error, EXHAUSTION):
                raise  # the subscriber's, which has left: emit_failed could not be called
            return demand, Failed(without_this_frame(error))
        return demand, is_exhausted(items)

    def give_noted(self, items: Iterator[Any], demand: int) -> tuple[int, Outcome]:
        """:meth:`give`, and :meth:`cancel` knows meanwhile what is given, and by which thread."""
        self.giver = get_ident()
        self.giving = items
        try:
            return self.give(items, demand)
        finally:
            self.giving = None

    def emit_failed(self, error: BaseException) -> None:
        """For :meth:`give` and what emits in its place: the subscriber raised, which is told apart from what a source raises."""
        raise SubscriberFailed(error) from error

    def subscribe_later(self, source: Any, entry: Subscribing) -> None:
        """Subscribe ``entry`` to ``source`` once the token is put back, and ``subscribe`` of the one before has returned.

        So a chain of synchronous sources is a loop and does not deepen the stack (RS 3.3). Meanwhile ``opening`` is true.
        """
        if self.opening:
            if self.pending is None:
                self.pending = []
            self.pending.append((source, entry))
        else:
            self.opening = True
            self.later.append((self.subscribe_now, (source, entry)))

    def subscribe_now(self, pair: tuple[Any, Subscribing]) -> None:
        """Without the token."""
        source, entry = pair
        try:
            if not self.stopped:
                entry.open(source)
        except (Exception, GeneratorExit) as error:
            if self.stopped:
                raise  # the subscriber's, for an item that came meanwhile (RS 2.13)
            self.requests.append(_EndsWith(without_this_frame(error)))  # RS 1.9 says that a source does not; foreign ones do
            if isinstance(error, EXHAUSTION):
                raise
        finally:
            self.opened = True
            self.dirty = True  # looked at by drain(), further down this stack: to drain here would deepen it

    def open_next(self) -> None:
        """``subscribe`` has returned: the next source may be subscribed. Holds the token."""
        self.opened = False
        if self.pending:
            self.later.append((self.subscribe_now, self.pending.pop(0)))
        else:
            self.opening = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {'stopped' if self.stopped else 'running'} of {self.origin!r}>"


def without_this_frame(error: Exception | GeneratorExit) -> Exception:
    """What is signalled for ``error``, caught just now. Its traceback keeps neither the frame that caught it nor the operator."""
    trace = error.__traceback__
    if trace is not None:
        error.__traceback__ = trace.tb_next
    return as_signal(error)


def interruption(error: BaseException, on_worker: bool = False) -> WorkerInterruptedError | None:
    """A KeyboardInterrupt, SystemExit or the like is not signalled. On a worker and off the main thread no caller can act on it,
    so this is the signal in its place, and threads that wait for the stream do not hang."""
    if not on_worker and threading.current_thread() is threading.main_thread():
        return None
    interrupted = WorkerInterruptedError(f"{type(error).__name__} ended the stream: {error}")
    interrupted.__cause__ = error
    return interrupted


def tell_interrupted(down: Any, error: BaseException, on_worker: bool = False) -> None:
    """Signal :func:`interruption` to ``down``, where there is one."""
    interrupted = interruption(error, on_worker)
    if interrupted is not None:
        down.on_error(interrupted)

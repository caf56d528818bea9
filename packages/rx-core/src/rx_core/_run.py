"""What a running operator sees of its run.

A *coordinating operator* is a generator that yields an item, or ``None`` for "nothing now, I will be woken". Its
:class:`Run` tells it how much is wanted, opens further sources for it, and owns what must be given back at the end. The same
generator runs under a :class:`~rx_core._drain.Drain` (a subscriber that requests), under a
:class:`~rx_core._blocking.BlockingRun` (a thread that waits), or inside another operator's generator, without a queue between.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar, final

from rx_core import _hooks
from rx_core._demand import DEFAULT_PREFETCH, DEMAND
from rx_core._inbox import Inbox, WalledInbox
from rx_core._user_code import OPERATOR_CODES, as_signal, traced_as_before
from rx_core.queue_fusion import fusion_enabled

if TYPE_CHECKING:
    from rx_core._drain import Drain
    from rx_core._protocols import Disposable, Publisher
    from rx_core._schedulers import Worker

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

#: What iterating a running source gives: an item, or None for "nothing now".
Items = Iterator[T | None]

#: What :meth:`Side.poll` gives once its source is complete.
END: Final[Any] = object()

#: An iterator that is over, for whatever is not open.
NOTHING: Final[Iterator[Any]] = iter(())


#: From what is to be called when a stage fails, and the drain whose ``direct`` comes after: what an item is given to that has to
#: pass through stages first.
Through = Callable[[Callable[[Exception], object], "Drain[Any]"], Callable[[Any], object]]


class Openable(Protocol[T_co]):
    """A publisher that can run inside somebody else's run, without a queue between.

    ``window`` is how many items may wait where a queue is needed after all (DEMAND: as many as are requested).
    """

    def _rx_open(self, run: Run, window: int, /) -> Iterator[T_co | None]: ...


class Lender(Protocol):
    """A subscription whose signals come on a worker; who has one as its source may lend it, to work there as well.

    It is found as ``_rx_lender`` of the subscription, and disposed when both are over.
    """

    def rx_lend(self) -> bool:
        """Keep the worker until :meth:`rx_give_back`; False: there is none. At most once, from inside on_subscribe."""

    def rx_worker(self) -> Worker | None:
        """The worker. Known as soon as the source is subscribed."""

    def rx_give_back(self) -> None: ...


class Run(ABC):
    """One run of a pipeline, as its operators see it. Everything but ``wake`` and ``poke`` is for the owner of the run."""

    __slots__ = ("_after", "_owned", "announced", "last")

    #: The iterator below what was opened last in this run, when it says itself how many items are left, and none can come after.
    announced: Iterator[object] | None

    #: See Drain.
    passing: object = None

    #: Whether it was woken and has not looked yet, so that another :meth:`wake` would tell it nothing. Read it after publishing.
    woken: bool = False

    #: Whether the queue behind a source that pushes is to be behind the stages that follow it: they are part of that source then.
    queues_last: bool = False

    #: What to call where an item is dropped on its way here, for a run that looks at the clock. Only of a root.
    dropped_one: Callable[[], object] | None = None

    #: Whether its source is read in step with others, so that it should not be far ahead of them.
    in_step: bool = False

    def __init__(self) -> None:
        #: Set by an operator that knows, before it yields, that this item is its last.
        self.last = False
        self._owned: dict[int, Disposable] = {}
        self._after: list[Callable[[], object]] = []

    @property
    @abstractmethod
    def root(self) -> Run:
        """The outermost run: the one whose ``cancelled`` counts."""

    @property
    @abstractmethod
    def demand(self) -> int:
        """How many items downstream still wants; UNBOUNDED for all there are. 0 while resumed by :meth:`poke` alone."""

    @abstractmethod
    def wake(self) -> None:
        """Something arrived: look again when items are wanted. Thread-safe, returns at once where the run has its own thread."""

    @abstractmethod
    def poke(self) -> None:
        """Something happened that needs no demand to be dealt with (an end, an error, an item to drop). Thread-safe."""

    @property
    def _one_at_a_time(self) -> bool:
        """Whether it is for one source after another, and not for some that are asked at the same time."""
        return False

    def _waits_outside(self, _source: Any) -> bool:
        """Whether this thread is to have left the run when a queue is subscribed, however little it asks for."""
        return False

    @property
    def is_cancelled(self) -> bool:
        """Nobody listens any more. An operator that can go round without yielding has to look at it."""
        return getattr(self.root, "cancelled", False)

    @property
    def stopped(self) -> bool:
        """As :attr:`is_cancelled`, by the name under which compiled stages look at it."""
        return getattr(self.root, "cancelled", False)

    @property
    def origin(self) -> object:
        """The pipeline this is a run of, for messages."""
        return getattr(self.root, "pipeline", self.root)

    @property
    def outstanding(self) -> int:
        """What is wanted, requests not yet looked at included. Readable from any thread; never less than the truth."""
        return self.demand

    @property
    def worker(self) -> Worker | None:
        """The worker this run has to itself, if it was given one."""
        return None

    @property
    def threaded(self) -> bool:
        """Whether this run polls its sources on a thread of its own, so that requesting has to happen there as well."""
        return False

    def follow(self, lender: Lender, /) -> None:
        """Its source sends on a worker. Where this run has none and nobody else who works for it, it works there as well: what
        comes after observe_on comes on a worker, also when it waits here while somebody requests from another thread.
        """
        root = self.root
        if root is not self:
            root.follow(lender)

    def later(self, action: Callable[[], object], /) -> None:
        """Call ``action`` on this thread as soon as the run is not busy: for subscribing to what may push without being asked."""
        action()

    @property
    def puts_off(self) -> bool:
        """Something waits for this thread to leave the run: yield None before going on to open further sources."""
        return bool(getattr(self.root, "_later", ()))

    def straight(self) -> Drain[Any] | None:
        """For an operator that gives items on as they come, asked first of all: the drain whose subscriber gets them, if there is
        nothing between. It is given to the Side or the Lanes that they come from."""
        return None

    def open(self, source: Publisher[T] | Openable[T], window: int = DEMAND, *, eager_error: bool = False) -> Items[T]:
        """Subscribe to ``source`` and iterate what it gives: items, and None while there is nothing.

        Ours open without a queue; any other publisher gets an :class:`Inbox` of at most ``window`` items, replenished at 75 %,
        whose error waits behind the items unless ``eager_error``. The iterator raises the source's error, that of subscribing
        included, and ends when the source completes. Close it to cancel.
        """
        opener = getattr(source, "_rx_open", None)
        try:
            if opener is not None:
                items: Items[T] = opener(self, window)
                return self._unhurried(items)
            call = getattr(source, "rx_call", None)
            if call is not None and fusion_enabled():
                return self._unhurried(self._called(call, getattr(source, "rx_scalar", None)))
            return self.open_queued(source, window, eager_error=eager_error)  # type: ignore[arg-type]  # not Openable
        except (Exception, GeneratorExit) as error:
            return self.failing(as_signal(error))

    def open_queued(
        self,
        source: Publisher[T],
        window: int = DEMAND,
        *,
        eager_error: bool = False,
        wall: bool = False,
        gate: Drain[Any] | None = None,
        through: Through | None = None,
    ) -> Items[T]:
        """The same, always through an inbox: for boundaries and for walls, through which nothing is polled either.

        A source that may send for long while it is subscribed is subscribed when this thread has left the run (see
        :meth:`later`), so that its items go on as they come and who has enough can stop it.
        """
        if not hasattr(source, "subscribe"):
            raise TypeError(f"a publisher is needed, got {source!r}.\n  For plain items use:  Flowable.from_iterable(...)")
        kind: type[Inbox[T]] = WalledInbox if wall else Inbox
        inbox = kind(self, window, eager_error=eager_error)
        if gate is not None:
            inbox.shorten(gate, through)
        self.own(inbox)
        if (
            self.threaded
            or getattr(source, "_rx_pushes", False)
            or (not window and self.outstanding > DEFAULT_PREFETCH)
            or self._waits_outside(source)
            # Without fusion ours are streams of their own, some of which go on for ever without giving anything. Then this thread
            # does not come back, and others have to find the run free: one that cancels, or brings the next source. Only those
            # that have one source at a time: of several that answer at once the order is that of their windows.
            or (not fusion_enabled() and self.outstanding and (not window or self._one_at_a_time))
            or self.puts_off  # sources are subscribed in the order in which they are opened
        ):
            inbox.subscribe_later(source)
        else:
            inbox.subscribe_to(source)
        return inbox.stream()

    def _open_straight(self, source: Publisher[T] | Openable[T], window: int, gate: Drain[Any] | None) -> Items[T]:
        """As :meth:`open`; what is pushed may go straight to the subscriber of ``gate``, if no stage in between has a state."""
        if gate is not None and getattr(source, "rx_call", None) is None:
            opener: Callable[[Run, int, Drain[Any]], Items[T] | None] | None = getattr(source, "_rx_straight", None)
            try:
                if opener is not None:
                    items = opener(self, window, gate)
                    if items is not None:
                        return items
                elif not hasattr(source, "_rx_open"):
                    return self.open_queued(source, window, gate=gate)
            except (Exception, GeneratorExit) as error:
                return self.failing(as_signal(error))
        return self.open(source, window)

    def _called(self, call: Callable[[], T | None], scalar: Callable[[], T | None] | None) -> Items[T]:
        """A source of at most one item that computes it for who asks, without a subscription between."""
        if scalar is not None and scalar() is None:
            self.poke()  # known to be empty: that needs no demand
        return _only(self, call)

    def failing(self, error: Exception, /) -> Items[T]:
        """A source that has nothing but ``error``, which needs no demand."""
        self.poke()
        self.after(traced_as_before(error))
        return _failing(error)

    def _unhurried(self, items: Items[T]) -> Items[T]:
        return items

    def own(self, resource: Disposable, /) -> None:
        """Dispose ``resource`` when this run ends, unless it is given back with :meth:`disown` before."""
        self._owned[id(resource)] = resource

    def disown(self, resource: Disposable, /) -> None:
        self._owned.pop(id(resource), None)

    def after(self, action: Callable[[], object], /) -> None:
        """Call ``action`` once after this run has signalled its end, or was cancelled."""
        self._after.append(action)

    def release(self) -> None:
        """Dispose what is owned. A resource that fails does not keep the others from being released."""
        owned = self._owned
        while owned:
            _, resource = owned.popitem()
            try:
                resource.dispose()
            except Exception as error:  # RS 3.15: cancel returns normally
                _hooks.dropped(error, self.origin)

    def finalize(self) -> None:
        """Run the ``after`` actions, the last registered first; a failing one is reported and the rest still run."""
        actions = self._after
        while actions:
            try:
                actions.pop()()
            except Exception as error:
                _hooks.dropped(error, self.origin)


def _failing(error: Exception) -> Items[Any]:
    yield from ()
    raise error


def _only(run: Run, call: Callable[[], T | None]) -> Items[T]:
    item = call()
    if item is not None:
        run.poke()  # nothing comes after it, and that needs no demand
        yield item


OPERATOR_CODES.update((_failing.__code__, _only.__code__))


def as_generator(items: Items[T]) -> Items[T]:
    """Only a generator tells whether it is over; anything else that iterates gets one around it."""
    return items if hasattr(items, "gi_frame") else _relay(items)


def _relay(items: Items[T]) -> Items[T]:
    try:
        yield from items
    finally:
        close(items)


def close(items: object) -> None:
    """Close an iterator that can be closed; a failure in somebody's finalizer is reported, not raised (RS 3.15)."""
    if items is NOTHING:
        return
    closer = getattr(items, "close", None)
    if closer is not None:
        try:
            closer()
        except Exception as error:
            _hooks.dropped(error, items)


@final
class Source(Generic[T]):
    """A source of a coordinating operator as something to iterate, again and again: each ``iter()`` subscribes anew.

    The first subscription was made together with the operator's own, so that a hot source misses nothing (:meth:`prime`).
    """

    __slots__ = ("_eager_error", "_first", "_run", "_window", "publisher")

    def __init__(self, run: Run, publisher: Publisher[T], window: int = DEMAND, *, eager_error: bool = False) -> None:
        self._run = run
        #: What is subscribed, for operators that do it themselves.
        self.publisher = publisher
        self._window = window
        self._eager_error = eager_error
        self._first: Items[T] | None = None

    def prime(self) -> None:
        """Subscribe now; the next ``iter()`` gives this subscription."""
        self._first = self._open()

    def __iter__(self) -> Items[T]:
        first = self._first
        if first is None:
            return self._open()
        self._first = None
        return first

    def _open(self) -> Items[T]:
        return self._run.open(self.publisher, self._window, eager_error=self._eager_error)

    def apart(self) -> Items[T]:
        """Subscribe through a queue, in a run of its own if it is ours."""
        return self._run.open_queued(self.publisher, self._window, eager_error=self._eager_error)

    def open_in(self, side: Run) -> Items[T]:
        """Subscribe anew, in a run of the operator's own; see :class:`Side`."""
        return side.open(self.publisher, self._window, eager_error=self._eager_error)


def unhurried(run: Run, items: Items[T]) -> Items[T]:
    """Answer the first poll with None: for sources opened while nothing is wanted, so that none of their items is pulled.

    Not when something is wanted by then: in sources that open sources the None of the inner one would look like an idle source.
    """
    return chain(_pause(run), items)


def _pause(run: Run) -> Items[Any]:
    if not run.demand:
        yield None

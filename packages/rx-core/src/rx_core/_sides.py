"""Runs inside a run: a source of an operator on its own (:class:`Side`), many alike ones at the same time (:class:`Lanes`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from operator import length_hint
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from rx_core._demand import DEMAND, UNBOUNDED
from rx_core._run import END, NOTHING, Items, Openable, Run, Source, as_generator, close

if TYPE_CHECKING:
    from rx_core._drain import Drain
    from rx_core._protocols import Publisher

T = TypeVar("T")


class Side(Run, Generic[T]):
    """A source of an operator in a run of its own: what it owns goes with it, and it says when something came.

    For operators that subscribe to one source after another, and for those that listen to a few at a time which are not alike
    (many alike sources are :class:`Lanes`)::

        side = Side(run)
        side.start(source)
        ...                     # iterate side.items, or side.poll()
        side.close()            # its source is given back and the run goes on; it may be opened again
        side.dispose()          # the operator is over

    ``wanted`` is what its source may be asked for; None: what the run wants. With ``quiet`` items do not wake the run, for a
    source whose items are only looked at when another one has some.
    """

    __slots__ = ("_gate", "_opening", "_parent", "_quiet", "_root", "items", "stirred", "urgent", "wanted")

    def __init__(self, run: Run, wanted: int | None = None, *, quiet: bool = False, gate: Drain[Any] | None = None) -> None:
        self.last = False
        self._owned = {}
        self._after = []
        self._parent = run
        self._root = run.root
        self._quiet = quiet
        self._gate = gate
        self._opening = False
        self.wanted = wanted
        #: What its source gives.
        self.items: Items[T] = NOTHING
        self.announced = None
        #: Something came since it was polled last.
        self.stirred = False
        #: Something came that needs no demand: an end, an error, an item to drop.
        self.urgent = False
        run.own(self)  # a generator that was never started runs no finally

    @property
    def root(self) -> Run:
        return self._root

    @property
    def _one_at_a_time(self) -> bool:
        return type(self) is Side  # those with a name of their own are used some at a time

    @property
    def demand(self) -> int:
        return self._parent.demand if self.wanted is None else self.wanted

    @property
    def outstanding(self) -> int:
        return self._parent.outstanding if self.wanted is None else self.wanted

    @property
    def threaded(self) -> bool:
        return self._parent.threaded

    def wake(self) -> None:
        self.stirred = True
        if not self._quiet:
            self._parent.wake()

    def poke(self) -> None:
        self.stirred = self.urgent = True
        if not self._opening:  # else start() passes it on, once
            self._parent.poke()

    def later(self, action: Callable[[], object], /) -> None:
        self._parent.later(action)

    def _unhurried(self, items: Items[Any]) -> Items[Any]:
        return items if self._opening or self.wanted is not None else self._parent._unhurried(items)

    def start(self, source: Source[T] | Publisher[T] | Openable[T], window: int = DEMAND) -> None:
        """Subscribe; called by the run's owner. What needs no demand, an error at once say, is to be looked at in any case."""
        self._opening = True
        self.announced = None
        try:
            items = source.open_in(self) if isinstance(source, Source) else self._open_straight(source, window, self._gate)
        finally:
            self._opening = False
        if self.urgent:  # published before _opening was lowered, or it was passed on
            self._parent.poke()
            self.items = items
        else:
            self.items = self._unhurried(items)

    @property
    def left(self) -> int | None:
        """How many items its source has left at most, if it just began and says so: then nothing comes after them."""
        return None if self.announced is None else length_hint(self.announced)

    def poll(self) -> Any:
        """The next item, None while there is none, END when the source is complete. Raises its error."""
        self.stirred = self.urgent = False  # before polling: what comes from here on is either polled now or marks it again
        return next(self.items, END)

    def close(self) -> None:
        """The source is over or not wanted any more, and the run goes on: give back all that belongs to it."""
        self._stop()
        if self._after:
            self.finalize()

    def dispose(self) -> None:
        """The run ends, and this with it: what is to happen after the end happens after the run's end."""
        self._stop()
        self._parent.disown(self)
        if self._after:
            for action in self._after:
                self._parent.after(action)
            self._after.clear()

    @property
    def is_disposed(self) -> bool:
        return id(self) not in self._parent._owned

    def _stop(self) -> None:
        items, self.items = self.items, NOTHING
        self.stirred = self.urgent = False
        close(items)
        if self._owned:
            self.release()


@final
class Lane(Run, Generic[T]):
    """One of many sources that an operator runs at the same time; when it is woken it puts itself into ``lanes.ready``."""

    __slots__ = ("_items", "_lanes", "_queued", "_root", "_urged", "_window", "key")

    def __init__(self, lanes: Lanes[T], window: int) -> None:
        self.last = False
        self._owned = {}
        self._after = []
        self._lanes = lanes
        self._root = lanes.run.root
        self._window = window
        self._queued = False
        self._urged = False
        self._items: Items[T] = NOTHING
        #: For the operator's own use (an index, a key).
        self.key: Any = None

    @property
    def root(self) -> Run:
        return self._root

    @property
    def demand(self) -> int:
        return UNBOUNDED if self._window == DEMAND else self._window

    @property
    def threaded(self) -> bool:
        return self._lanes.run.threaded

    def later(self, action: Callable[[], object], /) -> None:
        self._root.later(action)

    @property
    def is_open(self) -> bool:
        return self in self._lanes.open_lanes

    @property
    def items(self) -> Items[T]:
        """What there is now, up to the next None. Reading it is what un-marks the lane: later arrivals queue it again."""
        self._queued = self._urged = False  # before polling: what arrives from here on is either polled now or queues the lane
        return self._items

    def wake(self) -> None:
        if not self._queued:
            self._queued = True
            self._lanes.ready.append(self)
        self._lanes.run.wake()

    def poke(self) -> None:
        if not self._urged:  # marked once, however often its source says so before it is looked at
            self._urged = True
            self._lanes.urgent.append(self)
        self._lanes.run.poke()

    def requeue(self) -> None:
        """There is more: take another turn later."""
        if not self._queued:
            self._queued = True
            self._lanes.ready.append(self)

    def start(self, source: Publisher[T]) -> None:
        self._queued = True  # a source that emits while it is being subscribed must not queue the lane twice
        self._lanes.open_lanes[self] = None
        self._items = as_generator(self._open_straight(source, self._window, self._lanes.gate))
        self._lanes.ready.append(self)

    def stop(self) -> None:
        """The source ended, or is not wanted any more."""
        self._lanes.open_lanes.pop(self, None)
        items, self._items = self._items, NOTHING
        close(items)
        if self._owned:
            self.release()
        if self._after:
            self.finalize()


@final
class Lanes(Generic[T]):
    """The lanes of one operator: those that are open, those that have items (``ready``), and those with something that needs no
    demand, an end or an error (``urgent``)."""

    __slots__ = ("_hurried", "gate", "open_lanes", "ready", "run", "urgent")

    def __init__(self, run: Run, gate: Drain[Any] | None = None) -> None:
        self.run = run
        #: See :meth:`Run.straight`.
        self.gate = gate
        self.ready: deque[Lane[T]] = deque()
        self.urgent: deque[Lane[T]] = deque()
        self.open_lanes: dict[Lane[T], None] = {}
        self._hurried = False
        run.own(self)  # a generator that was never started runs no finally

    def open(self, source: Publisher[T], window: int, key: object = None) -> Lane[T]:
        """Subscribe to ``source`` in a lane of its own; ready at once, because a synchronous source has its items now."""
        lane: Lane[T] = Lane(self, window)
        lane.key = key
        lane.start(source)
        return lane

    def take(self, items: Items[T], window: int) -> None:
        """The rest of a source that began without a lane, because it could simply be iterated."""
        lane: Lane[T] = Lane(self, window)
        self.open_lanes[lane] = None
        lane._items = as_generator(items)
        lane.requeue()

    def next(self) -> Lane[T] | None:
        """The next lane with something to say: with an end or an error in any case, with items only when they are wanted."""
        ready, urgent, opened = self.ready, self.urgent, self.open_lanes
        while True:
            wanted = bool(ready) and self.run.demand > 0
            if urgent and not (wanted and self._hurried):  # in turns: one that is always urgent must not stop the others
                lane = urgent.popleft()
                self._hurried = True
            elif wanted:
                lane = ready.popleft()
                self._hurried = False
            else:
                # Ended meanwhile: ready is to say whether an item waits, and who reads it may have to see another source's end.
                while ready and ready[0] not in opened:
                    ready.popleft()
                return None
            if lane in opened:
                return lane

    def __len__(self) -> int:
        return len(self.open_lanes)

    def close(self) -> None:
        for lane in list(self.open_lanes):
            lane.stop()
        self.run.disown(self)

    def dispose(self) -> None:
        self.close()

    @property
    def is_disposed(self) -> bool:
        return not self.open_lanes

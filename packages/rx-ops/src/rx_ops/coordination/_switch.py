"""Several sources of which one counts at a time: the newest, the first to speak, the one that is not empty."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from rx_core import END, UNBOUNDED, Items, Publisher, Run, Side, Source, close, user_call
from rx_fusion import operator
from rx_ops.coordination._errors import user_error

T = TypeVar("T")


@operator(eager="none")
def switch_if_empty(run: Run, source: Source[T], other: Source[T]) -> Items[T]:
    """``other`` when the source completes without an item."""
    side: Side[T] = Side(run)
    side.start(source)
    return _or_else(side, other)


def _or_else(side: Side[T], other: Source[T]) -> Items[T]:
    try:
        for item in side.items:
            yield item
            if item is not None:
                yield from side.items
                return
        side.close()
        side.start(other)
        yield from side.items
    finally:
        side.dispose()


# -- until -------------------------------------------------------------------------------------------------------------------


class Trigger(Side[T]):
    """A source of which one signal is needed, whether or not items are wanted."""

    __slots__ = ()

    def __init__(self, run: Run, source: Source[T] | Publisher[T]) -> None:
        super().__init__(run, UNBOUNDED)
        self.start(source)
        self.poke()  # a synchronous one has its signal now

    def wake(self) -> None:
        self.poke()

    @property
    def fired(self) -> bool:
        """Whether an item or its completion came. Raises its error."""
        return self.stirred and self.poll() is not None


@operator
def take_until_true(run: Run, source: Source[T], predicate: Callable[[T], object]) -> Items[T]:
    """Up to the first item for which ``predicate`` is true. The end is known before that item goes on, and needs no demand."""
    items = iter(source)
    failure: Exception | None = None
    try:
        for item in items:
            if item is None:
                yield None
                continue
            try:
                over = bool(user_call("take_until", predicate, item))
            except Exception as raised:
                failure, over = user_error(raised), True
            if over:
                run.poke()
                yield item
                break
            yield item
    finally:
        close(items)
    if failure is not None:
        raise failure


@operator(eager="none")
def skip_until(run: Run, source: Source[T], other: Source[Any]) -> Items[T]:
    """Nothing until ``other`` signals an item or completes."""
    trigger: Trigger[Any] = Trigger(run, other)
    side: Side[T] = Side(run)
    side.start(source)
    return _skipped_until(run, side, trigger)


def _skipped_until(run: Run, side: Side[T], trigger: Trigger[Any]) -> Items[T]:
    try:
        while not trigger.fired:
            item = side.poll() if run.demand or side.urgent else None
            if item is END or run.is_cancelled:
                return
            if item is None:
                yield None
        trigger.dispose()
        while not (run.demand or side.urgent):
            yield None  # opened while nothing is wanted
        yield from side.items
    finally:
        trigger.dispose()
        side.dispose()


# -- the first to speak ------------------------------------------------------------------------------------------------------


class _Rival(Side[T]):
    """One of many that race; they line up as their signals come."""

    __slots__ = ("_arrivals", "arrived")

    def __init__(self, run: Run, arrivals: deque[_Rival[T]]) -> None:
        super().__init__(run)
        self._arrivals = arrivals
        #: Whether it stands in the line.
        self.arrived = False

    def wake(self) -> None:
        self._line_up()
        super().wake()

    def poke(self) -> None:
        self._line_up()
        super().poke()

    def _line_up(self) -> None:
        if not self.arrived:
            self.arrived = True
            self._arrivals.append(self)


@operator(eager="none")
def amb(run: Run, sources: Sequence[Source[T]]) -> Items[T]:
    """The first source with a signal of any kind; the others are cancelled."""
    arrivals: deque[_Rival[T]] = deque()
    rivals: list[_Rival[T]] = []
    for source in sources:
        rival = _Rival(run, arrivals)
        rivals.append(rival)
        rival.start(source)
        if rival.arrived and not run.threaded:  # while it was subscribed: those behind it come too late
            item = rival.poll()
            if item is not None:
                return _won(run, rivals, rival, item)
    return _raced(run, rivals, arrivals)


def _raced(run: Run, rivals: list[_Rival[T]], arrivals: deque[_Rival[T]]) -> Items[T]:
    try:
        while rivals:
            for rival in [*_arrived(arrivals), *rivals]:  # each is asked, and may answer at once
                if not (run.demand or rival.urgent):
                    continue
                item = rival.poll()
                if item is not None:
                    yield from _won(run, rivals, rival, item)
                    return
            yield None
    finally:
        for rival in rivals:
            rival.dispose()


def _won(run: Run, rivals: list[_Rival[T]], winner: _Rival[T], item: Any) -> Items[T]:
    try:
        for loser in rivals:
            if loser is not winner:
                loser.dispose()
        if item is not END:
            while not run.outstanding:
                yield None
            yield item
            yield from winner.items
    finally:
        winner.dispose()


def _arrived(arrivals: deque[_Rival[T]]) -> list[_Rival[T]]:
    """Those in the line, in order; they may line up again."""
    line = [arrivals.popleft() for _ in range(len(arrivals))]
    for rival in line:
        rival.arrived = False
    return line

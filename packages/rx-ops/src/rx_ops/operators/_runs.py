"""Windows that begin and end where the items say so: window_until, window_while, window_until_changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from operator import ne
from typing import TYPE_CHECKING, Any, Final

from rx_core import UNBOUNDED, user_call
from rx_core.streams import takes_requests
from rx_fusion import op
from rx_ops.operators._mapping import as_error
from rx_ops.operators._part import Part
from rx_ops.operators._pieces import CutInput, Cutter
from rx_ops.operators._window import Window, WindowCut, WindowHead

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription
    from rx_fusion import Head

#: What an item does: it goes into the window that is open, or a new one; or ends that first; or is the last in it; or is in none.
JOINS: Final = 0
BEGINS: Final = 1
ENDS: Final = 2
BETWEEN: Final = 3

#: Made for each run; says it for each item.
Rule = Callable[[Any], int]


def ends_where(function: Callable[[Any], object]) -> Rule:
    return lambda item: ENDS if user_call("window_until", function, item) else JOINS


def begins_where(function: Callable[[Any], object]) -> Rule:
    return lambda item: BEGINS if user_call("window_until", function, item) else JOINS


def lasts_while(function: Callable[[Any], object]) -> Rule:
    return lambda item: JOINS if user_call("window_while", function, item) else BETWEEN


class begins_with_change:  # a rule as the others
    __slots__ = ("before", "key_of")

    def __init__(self, key_of: Callable[[Any], object]) -> None:
        self.key_of = key_of
        #: The key of the item before, if there was one.
        self.before: tuple[object, ...] = ()

    def __call__(self, item: Any) -> int:
        key = user_call("window_until_changed", self.key_of, item)
        before = self.before
        self.before = (key,)
        return BEGINS if before and user_call("window_until_changed", ne, key, before[0]) else JOINS


class BoundedParts(WindowCut):
    """Parts of a source that is asked for ``prefetch`` items, and for more when parts have given theirs."""

    __slots__ = ("bounded", "returned")

    @staticmethod
    def discards(*_args: object) -> bool:
        return False

    main: ReplenishedInput
    #: How many items left their parts after they had waited there; appended by any thread.
    returned: deque[int]
    #: Whether the source is asked for so many at a time, or for everything.
    bounded: bool

    def __init__(self, down: Subscriber[Any], source: Publisher[Any], face: Callable[..., Any], prefetch: int) -> None:
        super().__init__(down, source, face, None, Cutter)
        self.bounded = takes_requests(source) and prefetch != UNBOUNDED
        self.main = ReplenishedInput(self, prefetch if self.bounded else UNBOUNDED)
        self.returned = deque()

    def credit(self, count: int) -> None:
        """``count`` items left their part after they had waited there. Any thread."""
        self.returned.append(count)
        self.drain()

    def deal(self) -> None:
        returned = self.returned
        while returned:
            self.main.took(returned.popleft())
        super().deal()

    def abandon_unclaimed(self, part: Part) -> bool:
        """What the part keeps then for a late subscriber holds the source no longer."""
        if not part.try_abandon():
            return False
        if part.queue:
            self.main.took(len(part.queue))
        return True


class WindowRuns(BoundedParts):
    """One window after another.

    A window that is not requested waits, with the items that it gets meanwhile; so the windows that wait have a bound, too.
    """

    __slots__ = ("ended", "new", "rule")

    rule: Rule
    #: Windows that have begun and were not given away.
    new: deque[Window]
    #: The source is complete, and windows wait.
    ended: bool

    def __init__(
        self,
        down: Subscriber[Any],
        source: Publisher[Any],
        face: Callable[[Head], Any],
        prefetch: int,
        rule: Callable[[Callable[[Any], Any]], Rule],
        function: Callable[[Any], Any],
    ) -> None:
        super().__init__(down, source, face, prefetch)
        self.rule = rule(function)
        self.new = deque()
        self.ended = False

    def deal(self) -> None:
        self.give_new(abandon=True)
        if not self.ended:
            super().deal()
        elif not self.new and not self.over:
            self.stop()
            if not self.stopped:
                self.wanted = self.finish()

    def put(self, item: Any) -> None:
        try:
            does = self.rule(item)
        except Exception as error:
            self.source_ended(as_error(error))
            return
        live = self.live
        if live and does in (BEGINS, BETWEEN):
            self.end(live[0])
        if does == BETWEEN:
            self.main.took(1)
            return
        fresh = not live
        window = self.begin() if fresh else live[0]
        if window is None:  # of those that subscribe to windows none is left
            self.main.took(1)
            return
        try:
            straight = window.push(item)
        except Exception as error:  # its subscriber's. The source takes that for a cancel (RS 2.13)
            self.source_ended(error)
            raise
        if straight:
            self.main.took(1)
        if fresh and window not in self.new:
            self.abandon_unclaimed(window)
        if does == ENDS:
            self.end(window)

    def begin(self) -> Window | None:
        if self.stopped:
            return None
        window = Window(self.holders, self.origin, self.number)
        if self.bounded:
            window.taken = self.credit
        self.number += 1
        self.live.append(window)
        self.new.append(window)
        self.give_new(abandon=False)
        return window

    def give_new(self, abandon: bool) -> None:
        """Give away windows that wait, as far as they are requested."""
        new = self.new
        while new and not self.stopped and self.has_demand():
            if self.wanted != UNBOUNDED:
                self.wanted -= 1
            window = new.popleft()
            try:
                self.emit(self.face(WindowHead(window)))
            except BaseException:
                self.end(window)
                raise
            if abandon:
                self.abandon_unclaimed(window)

    def source_ended(self, error: Exception | None) -> None:
        if self.over or (self.ended and error is None):
            return
        if error is None and self.new and not self.stopped:
            self.ended = True  # the windows that wait are given first
            while self.live:
                self.end(self.live[0])
            return
        super().source_ended(error)

    def close(self) -> None:
        new = self.new
        while new:
            self.end(new.popleft())  # it will not be given away
        super().close()


@op("window_until")
class WindowUntil(WindowRuns):
    """An item is the last one of its window, or the first."""

    __slots__ = ()


@op("window_while")
class WindowWhile(WindowRuns):
    """Neighbours that the predicate agrees to."""

    __slots__ = ()


@op("window_until_changed")
class WindowUntilChanged(WindowRuns):
    """Neighbours with the same key."""

    __slots__ = ()


def run_notes(prefetch: int) -> tuple[str]:
    """What a plan says of such an operator."""
    bound = "whatever the source is ahead" if prefetch == UNBOUNDED else f"{prefetch} items"
    return (f"queue: {bound} in all windows together",)


class ReplenishedInput(CutInput):
    """A source that is cut, asked for ``window`` items, and for more when 75 % of these were taken."""

    __slots__ = ("left", "limit", "window")

    def __init__(self, op: BoundedParts, window: int) -> None:
        super().__init__(op)
        self.window = window
        self.left = self.limit = window - (window >> 2)

    def subscribed(self, up: Subscription) -> None:
        up.request(self.window)

    def took(self, count: int) -> None:
        """Holds the token."""
        left = self.left - count
        if left > 0:
            self.left = left
            return
        self.left = self.limit
        if not self.done and not self.closed:
            self.up.request(self.limit - left)

"""Items of a loop for a subscriber that does not want everything, where what the loop stands for asks its source for more.

Operators that run several inner sources (flat_map, group_by in front of it, concat_map_eager) ask their source for a window
beyond what is requested, and what RxJava's do with it can be seen: an error is signalled ahead of items that wait, the end behind
the last of them without a request, and functions are called for items that wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rx_core import DEFAULT_PREFETCH, UNBOUNDED
from rx_core.streams import Failed, Handover, OneAtATime, throw_away, without_this_frame

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_core.streams import Outcome


class ReadAhead(OneAtATime[Any]):
    """Gives the items of :attr:`items` as they are requested, and reads up to 128 of them ahead when nothing is wanted. Where the
    loop meets what has to be subscribed, the rest, which asks for its windows itself. A subclass says in ``open`` what the items
    are."""

    __slots__ = ("over", "waiting")

    #: What was read ahead.
    waiting: deque[Any]
    #: There is nothing behind it.
    over: bool

    def __init__(self, down: Subscriber[Any]) -> None:
        super().__init__(down)
        self.waiting = deque()
        self.over = False

    def step(self, demand: int) -> int:
        waiting = self.waiting
        while waiting:
            current = self.current
            if current is not None and current.done and current.error is not None:
                return self.finish(current.error)
            if not demand or self.dirty:
                break
            item = waiting.popleft()
            if demand is not UNBOUNDED:
                demand -= 1
            self.emit(item)
            if self.stopped:
                return 0
        else:
            if self.over:
                return self.finish()
            demand = super().step(demand)
        if not demand and self.items is not None and not self.dirty and not self.stopped:
            outcome = self.read_ahead(self.items)
            if outcome is not False:
                self.items = None
                return self.ended(outcome)
        return demand

    def read_ahead(self, items: Iterator[Any]) -> Outcome:
        """As ``give``, into the window."""
        waiting = self.waiting
        try:
            for item in items:
                waiting.append(item)
                if len(waiting) >= DEFAULT_PREFETCH or self.dirty:
                    return False
        except Handover as handover:
            rest: Outcome = handover.rest
            return rest
        except (Exception, GeneratorExit) as error:
            return Failed(without_this_frame(error))
        return True

    def ended(self, outcome: Outcome) -> int:
        """The loop is over, and nothing is wanted."""
        if isinstance(outcome, Failed):
            return self.finish(outcome.take())
        if outcome is not True:
            self.subscribe_current(outcome)
        elif self.waiting:
            self.over = True
        else:
            return self.finish()
        return 0

    def source_ended(self, error: Exception | None, _demand: int) -> int:
        return self.finish(error)

    def close(self) -> None:
        super().close()
        throw_away(self.waiting, self.discard)

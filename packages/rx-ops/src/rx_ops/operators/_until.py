"""Until another source signals: take_until, skip_until."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core.streams import GatedInput, Op, Trigger
from rx_fusion import op

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber

T = TypeVar("T")


@op("take_until")
class TakeUntil(Op[T]):
    """Until ``other`` signals an item or completes; ``lost`` makes the error of a stream that has to have an item."""

    __slots__ = ("lost", "main", "other", "source", "trigger")

    def __init__(
        self, down: Subscriber[T], source: Publisher[T], other: Publisher[Any], lost: Callable[[], Exception] | None
    ) -> None:
        super().__init__(down)
        self.source = source
        self.other = other
        self.lost = lost
        self.main: GatedInput[T] = GatedInput(self)
        self.trigger = Trigger(self)

    def open(self) -> None:
        self.trigger.open(self.other)
        if not self.stopped and not self.trigger.done:
            self.main.open(self.source)

    def step(self, demand: int) -> int:
        main, trigger = self.main, self.trigger
        if trigger.done:
            return self.finish(trigger.error if trigger.error is not None or self.lost is None else self.lost())
        done = main.done  # before taking: what came before the end is taken now
        demand = main.take(demand)
        if self.stopped:
            return 0
        if done:
            return self.finish(main.error)
        main.ask(demand)
        return demand

    def refuse_request(self, error: Exception) -> None:
        self.finish(error)

    def close(self) -> None:
        self.main.close()
        self.trigger.close()

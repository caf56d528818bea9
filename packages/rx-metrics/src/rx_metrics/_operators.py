"""What stands behind ``named`` while streams are measured: a stage that counts items, and an operator that sees the rest.

The stage becomes a part of the loop that the stream is, and the operator does nothing to an item: so most of an item's cost is
one subtraction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import OPERATOR_CODES, UNBOUNDED
from rx_core.streams import Stopping, Stream, Transparent
from rx_fusion import Loop, OperatorHead, op, stage

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_metrics._meter import Meter

T = TypeVar("T")


@stage(name="")
def counted(source: Iterable[T], meter: Meter) -> Iterator[T]:
    items = meter.passing()
    for item in source:
        items.left -= 1
        if not items.left:
            items.look()
        yield item


def measured_loop(head: OperatorHead, run: Stopping | None) -> Loop | None:
    """The same where the source is pulled."""
    source = head.upstream[0]
    items: Iterator[Any] | None = source._passive_items(run) if isinstance(source, Stream) else None
    return None if items is None else (_followed(items, *head.args), None, None)


def _followed(items: Iterator[T], meter: Meter, of_one: bool) -> Iterator[T]:
    began = meter.began()
    over = False
    try:
        if of_one:  # who takes the only item asks for no end
            for item in items:
                over = True
                meter.over(began, "completed")
                yield item
        else:
            yield from items
    except BaseException as error:
        if not over:
            cancelled = isinstance(error, GeneratorExit)
            meter.over(began, "cancelled" if cancelled else "failed", None if cancelled else error)
        raise
    if not over:
        meter.over(began, "completed")


OPERATOR_CODES.add(_followed.__code__)


@op("measured", loop=measured_loop)
class Measured(Transparent[T]):
    """Tells ``meter`` of the subscription, of what is requested, and of the end. ``of_one``: an item is the end."""

    __slots__ = ("began", "meter", "told")

    meter: Meter
    began: float
    #: The meter was told of the end.
    told: bool

    def __init__(self, down: Subscriber[T], source: Publisher[T], meter: Meter, of_one: bool) -> None:
        super().__init__(down, source)
        self.meter = meter
        self.began = meter.began()
        self.told = False
        if of_one:
            self.on_next = self.end_with

    def end_with(self, item: T, /) -> None:
        self.tell("completed")
        self.guarded(item)

    def tell(self, outcome: str, error: Exception | None = None) -> None:
        if not (self.done or self.told):
            self.told = True
            self.meter.over(self.began, outcome, error)

    def request(self, n: Any, /) -> None:
        if not self.done and type(n) is int and n > 0:
            self.meter.asked(n)
        super().request(n)

    def request_all(self) -> None:
        if not self.done:
            self.meter.asked(UNBOUNDED)
        super().request_all()

    def on_error(self, error: Exception, /) -> None:
        self.tell("failed", error)
        super().on_error(error)

    def on_complete(self) -> None:
        self.tell("completed")
        super().on_complete()

    def cancel(self) -> None:
        self.tell("cancelled")
        super().cancel()

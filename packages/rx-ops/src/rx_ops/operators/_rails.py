"""Rails: each on a worker of its own, and joined to one stream again, as their items come or in the order of the source."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import UNBOUNDED, composite
from rx_core.streams import MergedInput, Op, QueuedInput
from rx_fusion import Pipeline, op
from rx_ops.operators._flat_map import Merge
from rx_ops.operators._observe_on import ObserveOn
from rx_ops.operators._parallel import rails_of

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_core.streams import Listening

T = TypeVar("T")


@op("run_on")
class RunOn(ObserveOn[T]):
    """A rail on a worker of its own."""

    __slots__ = ()


class _JoinedInput(MergedInput[T]):
    """A rail. An error of the source comes by all of them, and was signalled with the first."""

    __slots__ = ()

    def on_error(self, error: Exception, /) -> None:
        if self.closed and error is self.op.told:
            return
        super().on_error(error)


@op("sequential")
class Sequential(Merge[T]):
    """All rails side by side, as a merge has it; then what divides the source is connected."""

    __slots__ = ("rail", "told")

    #: What the stream ended with.
    told: Exception | None

    def __init__(self, down: Subscriber[T], rail: Pipeline[T], prefetch: int, delay_error: bool) -> None:
        super().__init__(down, (), prefetch, delay_error)
        self.rail = rail
        self.told = None

    def new_input(self, items: Iterator[T] | None = None, hint: Callable[[], int] | None = None) -> MergedInput[T]:
        made: MergedInput[T] = _JoinedInput(self, self.prefetch)  # rails are never passive
        self.inputs[made] = None
        return made

    def open(self) -> None:
        split, self.sources = rails_of(self.rail)
        super().open()
        if not self.stopped:
            split.connect()

    def fail(self, error: Exception) -> bool:
        if any(error is each for each in self.errors):
            return not self.delay_error
        return super().fail(error)

    def finish(self, error: Exception | None = None) -> int:
        self.told = error  # before the other rails are cancelled
        return super().finish(error)


# -- in the order of the source ----------------------------------------


class _OrderedInput(QueuedInput[Any]):
    """A rail, from which the results of its next item are taken when that is the source's next."""

    __slots__ = ()

    def on_error(self, error: Exception, /) -> None:
        if self.closed and error is self.op.told:
            return
        self.error = error
        self.op.failed = True  # behind the error: who sees this finds it
        self.done = True
        self.op.drain()


@op("sequential")
class Ordered(Op[T]):
    """All rails, in the order of the source. What divides the source notes which rail got an item, and each rail gives one list
    for each, so the next list is that of the rail that got the next item."""

    __slots__ = ("all_lists", "current", "delay_error", "failed", "feeding", "inputs", "order", "prefetch", "rail", "told")

    #: The description of a rail that gives lists; or the items themselves, where there is nothing between.
    rail: Pipeline[Any]
    all_lists: bool
    #: The numbers of the rails that got the next items.
    order: deque[int]
    inputs: Sequence[_OrderedInput]
    #: What is left of the results of the item whose turn it is, and the rail that they are from.
    current: deque[Any]
    feeding: _OrderedInput | None
    #: A rail has failed.
    failed: bool
    told: Exception | None

    def __init__(
        self, down: Subscriber[T], _described: Pipeline[T], rail: Pipeline[Any], all_lists: bool, prefetch: int, delay_error: bool
    ) -> None:
        super().__init__(down)
        self.rail = rail
        self.all_lists = all_lists
        self.prefetch = prefetch
        self.delay_error = delay_error
        self.order = deque()
        self.inputs = ()
        self.current = deque()
        self.feeding = None
        self.failed = False
        self.told = None

    def open(self) -> None:
        split, rails = rails_of(self.rail, self.order)
        self.inputs = inputs = [_OrderedInput(self, self.prefetch) for _ in rails]
        for entry, rail in zip(inputs, rails, strict=True):
            if self.stopped:
                return
            entry.open(rail)
            if self.stopped:
                entry.close()  # type: ignore[unreachable]  # set meanwhile
        split.connect()

    def step(self, demand: int) -> int:
        current = self.current
        while not self.stopped:
            if self.failed and not self.delay_error:
                return self.finish(self.failure())
            while current:
                if not demand or self.dirty:
                    return demand
                if demand != UNBOUNDED:
                    demand -= 1
                self.emit(current.popleft())
            if self.feeding is not None:
                feeding, self.feeding = self.feeding, None
                feeding.took()  # its results are out
            if self.dirty:
                return demand
            ended = bool(self.inputs) and all(entry.done for entry in self.inputs)  # before the order, and that before the queue
            if not self.order:
                return self.finish(self.failure()) if ended else demand
            entry = self.inputs[self.order[0]]
            done = entry.done
            if entry.queue:
                self.order.popleft()
                results = entry.queue.popleft()
                self.feeding = entry
                if self.all_lists:
                    current.extend(results)
                else:
                    current.append(results)
            elif done:
                self.order.popleft()  # the rail was left before this item's turn
            else:
                return demand
        return 0

    def failure(self) -> Exception | None:
        """What the stream ends with: what failed, each once; the source's error comes by all rails."""
        errors = list({id(entry.error): entry.error for entry in self.inputs if entry.error is not None}.values())
        return composite(errors) if errors else None

    def finish(self, error: Exception | None = None) -> int:
        self.told = error  # before the other rails are cancelled
        return super().finish(error)

    def listening(self) -> Iterable[Listening]:
        return self.inputs

    def close(self) -> None:
        for entry in self.inputs:
            entry.close()
        self.current.clear()
        self.feeding = None

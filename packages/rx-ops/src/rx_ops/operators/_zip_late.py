"""The row of sources of at most one item each, once all of them are over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import UNBOUNDED, composite, none_produced
from rx_core.streams import Op, QueuedInput
from rx_fusion import op
from rx_ops.operators._mapping import mapper_failure

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_core.streams import Listening

R = TypeVar("R")


class _Late(QueuedInput[Any]):
    """One of the sources. Its item waits until all sources have ended."""

    __slots__ = ()

    def on_error(self, error: Exception, /) -> None:
        if not self.closed:
            self.op.errors.append(error)
        super().on_error(error)


@op("zip")
class ZipLate(Op[R]):
    """The row of sources of at most one item each, once all of them have ended: what failed keeps none from running to its end.

    Errors come before emptiness: of a source that failed and one that has no item, the error is signalled.
    """

    __slots__ = ("combiner", "errors", "inputs", "sources")

    inputs: list[_Late]
    #: As they came. A list, whose append is atomic: each source may be on a thread of its own.
    errors: list[Exception]

    def __init__(self, down: Subscriber[R], sources: Sequence[Publisher[Any]], combiner: Callable[..., R]) -> None:
        super().__init__(down)
        self.sources = sources
        self.combiner = combiner
        self.errors = []
        self.inputs = [_Late(self, UNBOUNDED) for _ in sources]

    def open(self) -> None:
        for entry, source in zip(self.inputs, self.sources, strict=True):
            if self.stopped:
                return
            entry.open(source)

    def step(self, demand: int) -> int:
        inputs = self.inputs
        for entry in inputs:
            if not entry.done:
                return demand
        if self.errors:
            errors, self.errors = self.errors, []  # not kept: the frames in their tracebacks may hold this
            return self.finish(composite(errors))
        if not inputs or not all(entry.queue for entry in inputs):
            return self.finish()
        if not demand:
            return 0
        row = [entry.queue[0] for entry in inputs]
        try:
            value = self.combiner(*row)
        except (Exception, GeneratorExit) as error:
            return self.finish(mapper_failure("zip", self.combiner, error))
        if value is None:
            return self.finish(none_produced("zip", self.combiner))
        self.emit(value)
        return self.finish()

    def listening(self) -> Iterable[Listening]:
        return self.inputs

    def close(self) -> None:
        for entry in self.inputs:
            entry.close()

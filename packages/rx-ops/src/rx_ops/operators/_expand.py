"""What items expand to: expand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rx_fusion import op
from rx_ops.operators._concat_map import ConcatMap
from rx_ops.operators._mapping import Named

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber

T = TypeVar("T")


_START: Final = object()


class _SourceOf(Named):
    """The operator's source for the first item, the expander's for all others."""

    __slots__ = ("source",)

    def __init__(self, source: Publisher[Any], expander: Callable[[Any], Any]) -> None:
        super().__init__("expand", expander)
        self.source = source

    def __call__(self, item: Any) -> Any:
        return self.source if item is _START else self.mapper(item)


@op("expand")
class Expand(ConcatMap[T]):
    """The source's items, then those of what each of them expands to, and so on: breadth first, one source after another."""

    __slots__ = ("waiting",)

    operator: ClassVar[str] = "expand"

    #: Items that were emitted and not expanded yet; not their sources, which would hold more.
    waiting: deque[T]

    def __init__(self, down: Subscriber[T], source: Publisher[T], expander: Callable[[T], Any]) -> None:
        super().__init__(down, source, _SourceOf(source, expander))
        waiting: deque[T] = deque()
        self.waiting = waiting
        on_next = self.emit

        def emit_and_keep(item: T) -> None:
            waiting.append(item)
            on_next(item)

        self.emit = emit_and_keep
        self.outer.items = self.levels()

    def open(self) -> None:
        pass

    def levels(self) -> Iterator[Any]:
        yield _START
        waiting = self.waiting
        while waiting:
            yield waiting.popleft()

    def close(self) -> None:
        super().close()
        self.waiting.clear()

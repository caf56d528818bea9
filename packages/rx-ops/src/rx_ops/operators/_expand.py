"""Sources of sources of sources: expand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rx_core import UNBOUNDED, dropped_late
from rx_core.streams import END, AskedInput, Op, without_this_frame
from rx_fusion import op
from rx_ops.operators._concat_map import ConcatMap
from rx_ops.operators._mapping import Named, mapper_failure, not_a_source, pulled

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_core.streams import Listening

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


@op("expand")
class ExpandDeep(Op[T]):
    """The same depth first: the sources on the way down to the item that was given last, the deepest one in use."""

    __slots__ = ("expander", "failure", "levels", "source")

    discards: ClassVar[bool] = True
    opens_sources: ClassVar[bool] = True

    levels: list[_Level]
    #: What a source failed with that is not the deepest one; only sources write it.
    failure: Exception | None

    def __init__(self, down: Subscriber[T], source: Publisher[T], expander: Callable[[T], Any]) -> None:
        super().__init__(down)
        self.source = source
        self.expander = expander
        self.levels = []
        self.failure = None

    def open(self) -> None:
        self.go_down(self.source)

    def go_down(self, source: Any) -> None:
        level = _Level(self)
        items = pulled(source, self, 0)
        if items is not None:
            level.items = items
        self.levels.append(level)
        if items is None:
            self.subscribe_later(source, level)

    def step(self, demand: int) -> int:
        levels = self.levels
        while levels:
            if self.failure is not None:
                return self.finish(self.failure)
            level = levels[-1]
            if self.opening and level.items is not None:
                return demand  # as a source that has to be subscribed: it begins when subscribe of the one above has returned
            if not demand and not level.ended:
                return demand
            try:
                item = level.poll()
            except (Exception, GeneratorExit) as error:
                return self.finish(without_this_frame(error))
            if item is None:
                level.ask()
                return demand
            if item is END:
                levels.pop()
                level.close()
                continue
            self.emit(item)
            if demand is not UNBOUNDED:
                demand -= 1
            if self.stopped:
                return 0
            try:
                source = self.expander(item)
            except (Exception, GeneratorExit) as error:
                return self.finish(mapper_failure("expand", self.expander, error))
            refused = not_a_source("expand", self.expander, source)
            if refused is not None:
                return self.finish(refused)
            self.go_down(source)
            if self.dirty:
                return demand
        return self.finish(self.failure)

    def listening(self) -> Iterable[Listening]:
        return list(self.levels)

    def close(self) -> None:
        levels = self.levels
        while levels:
            levels.pop().close()


class _Level(AskedInput[Any]):
    """A source of :class:`ExpandDeep`, asked for its next item when all below the one before has been given and it is wanted.

    Its error is the end at once, also while items below one of its own are given.
    """

    __slots__ = ("asked",)

    #: It was asked for an item, which was not taken yet.
    asked: bool

    def __init__(self, op: ExpandDeep[Any]) -> None:
        super().__init__(op)
        self.asked = False

    def ask(self) -> None:
        up = self.up
        if up is not None and not (self.asked or self.unasked or self.done):
            self.asked = True
            self.op.later.append((up.request, 1))

    def took(self) -> None:
        self.asked = False

    def on_error(self, error: Exception, /) -> None:
        op = self.op
        if self.closed or op.failure is not None:
            dropped_late(error, op.origin)
            return
        op.failure = error
        self.on_complete()

"""The loops of operators that run one inner source after another over passive sources; see rx_fusion._loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, final

from rx_core import user_error
from rx_core.streams import Handover, OneAtATime, Stream, close, without_this_frame
from rx_fusion import Feed, IterableHead, Loop, OperatorHead, PlainFlow, PlainObserved, RestOf, is_observed, op, outer_items
from rx_fusion._source_run import failing
from rx_ops.operators._mapping import Named, named, not_a_source
from rx_ops.operators._read_ahead import ReadAhead

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_core.streams import Stopping

_FIRST: Final = object()
#: Operators with a loop that run several inner sources side by side.
_RUNNING_SEVERAL: Final = frozenset(("flat_map", "concat_map_eager", "concat_eager"))


def flat_map_loop(head: OperatorHead, run: Stopping | None) -> Loop | None:
    return None if head.args[3] else _mapped(head, run)  # with errors delayed the others go on


def concat_map_loop(head: OperatorHead, run: Stopping | None) -> Loop | None:
    return None if head.args[1:2] == (True,) else _mapped(head, run)


def _mapped(head: OperatorHead, run: Stopping | None) -> Loop | None:
    source = head.upstream[0]
    mapper = head.args[0]
    if not isinstance(source, Stream):
        return None
    items: Iterator[Any] | None = source._passive_items(run)
    if items is None:
        source = source._unrelayed()
        items = source._passive_items(run)
    if items is not None:
        return _one_after_another(head, items, items, mapper, run)
    items = source._loop_items(run)
    if items is None:
        return None
    return _one_after_another(head, outer_items(items, partial(_rest, head, mapper=mapper)), items, mapper, run, source)


def concat_loop(head: OperatorHead, run: Stopping | None) -> Loop | None:
    if head.args[:1] == (True,):
        return None  # with errors delayed the others go on
    sources = iter(head.upstream)
    return _one_after_another(head, sources, sources, None, run)


def item_loop(head: OperatorHead, run: Stopping | None) -> Loop | None:
    items = pulled_by_loop(head.upstream[0], run)
    return None if items is None else (items, None, None)


def pulled_by_loop(source: Any, run: Stopping | None) -> Iterator[Any] | None:
    """The items of ``source`` where it can be pulled."""
    if not isinstance(source, Stream):
        return None
    items: Iterator[Any] | None = source._passive_items(run)
    return source._loop_items(run) if items is None else items


def _one_after_another(
    head: OperatorHead,
    outer: Iterator[Any],
    left: Iterator[Any],
    mapper: Callable[[Any], Any] | None,
    run: Stopping | None,
    looped: Any = None,
) -> Loop:
    """The loop over the items of ``outer``. What is left of them when it hands over is in ``left``.

    ``looped``: the outer source, where it is a loop too. It may meet a source that pushes, which must not be subscribed as late
    as the operator has a use for its items.
    """

    def rest(made: Any) -> PlainFlow[Any]:
        """What is left: the inner source that is open, and those of the outer items that are left, which belong to it now."""
        remaining = InFront(made if mapper is None else _FIRST, left)
        return _rest(head, items_left(head, head.name, remaining, looped), mapper, made)

    def source_opener(source: Any) -> Iterable[Any]:
        items = pulled_by_loop(source, run)
        if items is None:
            raise RestOf(rest(source))
        return items

    if mapper is None:
        return outer, source_opener, rest

    def opener(item: Any) -> Iterable[Any]:
        try:
            made = mapper(item)
        except (Exception, GeneratorExit) as error:
            name, function = named(head.name, mapper)
            failure = user_error(name, function, error)
            try:
                if failure is error:
                    raise
                raise failure from error
            finally:
                del failure  # this frame is in its traceback, and is not to keep it
        if isinstance(made, Stream):  # as pulled_by_loop, without the call: inner sources are many
            items: Iterator[Any] | None = made._passive_items(run)
            if items is None:
                items = made._loop_items(run)
            if items is not None:
                return items
        else:
            refused = not_a_source(head.name, mapper, made)
            if refused is not None:
                raise refused
        raise RestOf(rest(made))

    return outer, opener, rest


def items_left(head: OperatorHead, name: str, items: Iterator[Any], looped: Any) -> PlainFlow[Any]:
    """What the loop of ``head`` has not taken of ``items``, for an operator that goes on with it. They are those of ``looped``,
    where that is a loop, which may raise Handover."""
    if looped is None:
        return PlainFlow(IterableHead(name, Once(items), feed=Feed.CLEAN))
    if _asks_for_more(looped):
        return _face(head)(OperatorHead(_RestAhead, (), (items,)))
    return _face(head)(OperatorHead(_RestOfOuter, (), (items, _may_push(looped))))


def _face(head: OperatorHead) -> type[PlainFlow[Any]]:
    return PlainObserved if is_observed(head) else PlainFlow


def _rest(head: OperatorHead, source: PlainFlow[Any], mapper: Callable[[Any], Any] | None, first: Any = None) -> PlainFlow[Any]:
    """The operator over what is left: over ``source``, whose first item stands for the inner source ``first``."""
    face = _face(head)
    if mapper is None:  # concat: the items are its sources
        sources: Any = source._head
        return face(RestHead(head, sources._items, head.args, many=True))
    return face(RestHead(head, (source,), (_Continued(head.name, mapper, first), *head.args[1:])))


def _may_push(source: Any) -> bool:
    """Whether one of the sources that ``source`` is written with has to be subscribed."""
    head = getattr(source, "_head", None)
    if head is None or head.feed is not Feed.RUNNING:
        return head is None
    return not isinstance(head, OperatorHead) or head.operator.loop is None or any(map(_may_push, head.upstream))


def _asks_for_more(source: Any) -> bool:
    """Whether the operator that ``source`` is asks its own source for more than is requested: see :mod:`._read_ahead`."""
    head = source._head
    if not isinstance(head, OperatorHead) or head.operator.name not in _RUNNING_SEVERAL:
        return False
    return head.operator.name != "flat_map" or head.args[1] != 1


@final
class RestHead(OperatorHead):
    """What is left of the operator ``whole``, which is what messages show."""

    __slots__ = ("whole",)

    def __init__(self, whole: OperatorHead, upstream: Sequence[Any], args: tuple[Any, ...], *, many: bool = False) -> None:
        super().__init__(whole.function, upstream, args, many=many)
        self.whole = whole

    @property
    def shown(self) -> str:
        return self.whole.shown

    def __repr__(self) -> str:
        return repr(self.whole)


@op("")
class _RestOfOuter(OneAtATime[Any]):
    """Outer items that are left of a loop, as a source that is asked for some of them ahead.

    ``looks_ahead``: a source that pushes is behind them, and is subscribed at their end, which a loop knows only when it is asked
    for one more item. That waits then; and so does an error, which comes later than from a source that is not pulled.
    """

    __slots__ = ("looked", "looks_ahead")

    def __init__(self, down: Subscriber[Any], items: Iterator[Any], looks_ahead: bool) -> None:
        super().__init__(down)
        self.items = items
        self.looks_ahead = looks_ahead
        self.looked = False

    def open(self) -> None:
        pass

    def step(self, demand: int) -> int:
        self.looked = self.looked and not demand
        demand = super().step(demand)
        items = self.items
        if items is not None and self.looks_ahead and not (demand or self.looked or self.stopped):
            self.looked = True
            try:
                self.items = InFront(next(items), items)
            except StopIteration:
                return self.finish()
            except Handover as handover:
                self.items = None
                self.subscribe_current(handover.rest)
            except (Exception, GeneratorExit) as error:
                self.items = failing(without_this_frame(error))
        return demand

    def source_ended(self, error: Exception | None, demand: int) -> int:
        return self.finish(error)


@op("")
class _RestAhead(ReadAhead):
    """The same of an outer source that asks for more than is requested."""

    __slots__ = ()

    def __init__(self, down: Subscriber[Any], items: Iterator[Any]) -> None:
        super().__init__(down)
        self.items = items

    def open(self) -> None:
        pass


@final
class InFront(chain[Any]):
    """``first`` and what is left of ``items``, which are closed with it: a chain by itself is not closed."""

    __slots__ = ("items",)

    items: Iterator[Any]

    def __new__(cls, first: Any, items: Iterator[Any]) -> InFront:
        made = super().__new__(cls, (first,), items)
        made.items = items
        return made

    def close(self) -> None:
        close(self.items)


@final
class Once:
    """Items of a loop that has begun: iterated once, by who subscribes to the rest."""

    __slots__ = ("items",)

    def __init__(self, items: Iterator[Any]) -> None:
        self.items = items

    def __iter__(self) -> Iterator[Any]:
        return self.items


class _Continued(Named):
    """A mapper that gives the inner source met already for the first item."""

    __slots__ = ("calls", "first")

    def __init__(self, name: str, calls: Callable[..., Any], first: Any) -> None:
        super().__init__(*named(name, calls))
        self.calls = calls  # which may be one with a name, and do more than the user's function
        self.first = first

    def __call__(self, item: Any) -> Any:
        return self.first if item is _FIRST else self.calls(item)

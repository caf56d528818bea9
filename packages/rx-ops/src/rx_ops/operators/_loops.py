"""The loops of operators that run one inner source after another over passive sources; see rx_fusion._loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, final

from rx_core import user_error
from rx_core.streams import Stream
from rx_fusion import Feed, IterableHead, Loop, OperatorHead, PlainFlow, PlainObserved, RestOf, is_observed, outer_items
from rx_ops.operators._mapping import Named, named, not_a_source

if TYPE_CHECKING:
    from rx_core.streams import Stopping

_FIRST: Final = object()


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
    if items is not None:
        return _one_after_another(head, items, items, mapper, run)
    items = source._loop_items(run)
    if items is None:
        return None
    return _one_after_another(head, outer_items(items, partial(_rest, head, mapper=mapper)), items, mapper, run)


def concat_loop(head: OperatorHead, run: Stopping | None) -> Loop | None:
    if head.args[:1] == (True,):
        return None  # with errors delayed the others go on
    sources = iter(head.upstream)
    return _one_after_another(head, sources, sources, None, run)


def item_loop(head: OperatorHead, run: Stopping | None) -> Loop | None:
    items = pulled_by_loop(head.upstream[0], run)
    return None if items is None else Loop(items, None, None)


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
) -> Loop:
    """The loop over the items of ``outer``. What is left of them when it hands over is in ``left``."""

    def rest(made: Any) -> PlainFlow[Any]:
        """What is left: the inner source that is open, and those of the outer items that are left, which belong to it now."""
        remaining = chain((made if mapper is None else _FIRST,), left)
        return _rest(head, PlainFlow(IterableHead(head.name, Once(remaining), feed=Feed.CLEAN)), mapper, made)

    def opener(item: Any) -> Iterable[Any]:
        if mapper is None:
            made = item
        else:
            try:
                made = mapper(item)
            except (Exception, GeneratorExit) as error:
                name, function = named(head.name, mapper)
                failure = user_error(name, function, error)
                if failure is error:
                    raise
                raise failure from error
        if isinstance(made, Stream):
            items: Iterator[Any] | None = made._passive_items(run)
            if items is None:
                items = made._loop_items(run)
            if items is not None:
                return items
        elif mapper is not None:
            refused = not_a_source(head.name, mapper, made)
            if refused is not None:
                raise refused
        raise RestOf(rest(made))

    return Loop(outer, opener, rest)


def _rest(head: OperatorHead, source: PlainFlow[Any], mapper: Callable[[Any], Any] | None, first: Any = None) -> PlainFlow[Any]:
    """The operator over what is left: over ``source``, whose first item stands for the inner source ``first``."""
    face: type[PlainFlow[Any]] = PlainObserved if is_observed(head) else PlainFlow
    if mapper is None:  # concat: the items are its sources
        sources: Any = source._head
        return face(OperatorHead(head.function, sources._items, head.args, many=True))
    return face(OperatorHead(head.function, (source,), (_Continued(head.name, mapper, first), *head.args[1:])))


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

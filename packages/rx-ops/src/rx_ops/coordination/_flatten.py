"""Sources made of items: one at a time, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Final, TypeVar

from rx_core import (
    END,
    OPERATOR_CODES,
    UNBOUNDED,
    Items,
    Lanes,
    Run,
    Side,
    Source,
    Waiting,
    close,
    composite,
    name_of,
    user_call,
    user_error,
)
from rx_fusion import (
    Freely,
    Looped,
    OperatorHead,
    Pipeline,
    at_hand,
    at_once,
    opened,
    operator,
    operator_of,
    outside,
    planned,
)
from rx_ops.coordination._combine import interleave
from rx_ops.coordination._group_steps import dealt_by, through_groups
from rx_ops.coordination._in_the_loop import concat_mapped, flat_mapped
from rx_ops.coordination._known import known_items
from rx_ops.coordination._outer import Outer, can_be_heard, outer_of

T = TypeVar("T")
R = TypeVar("R")


def _concat_map_can_loop(head: OperatorHead) -> bool:
    """Errors are not delayed, and messages show no other name than the operator's."""
    args = head.args
    return not (len(args) > 1 and args[1]) and type(args[0]) is not Named and isinstance(head.upstream[0], Pipeline)


def _concat_map_freely(head: OperatorHead, waiting: Waiting) -> Looped | None:
    mapper = head.args[0]
    plan = planned(head.upstream[0], waiting)
    if plan is None:
        return None

    def inner(made: Any) -> Iterable[Any]:
        if not isinstance(made, Pipeline):
            check_inner("concat_map", mapper, made)
            return opened(made, waiting)
        items = at_once(made, waiting)
        return opened(made, waiting) if items is None else items

    return plan, concat_mapped, (mapper, inner)


@operator(eager="none", freely=Freely(_concat_map_can_loop, _concat_map_freely))
def concat_map(
    run: Run, source: Source[T], mapper: Callable[[T], Any], delay_error: bool = False, till_the_end: bool = True
) -> Items[Any]:
    """Inner sources one at a time, in order, each with the demand that is left."""
    if delay_error:
        return _with_errors_last(run, _outer(run, source, heard=not till_the_end), mapper, till_the_end)
    return _in_order(run, _outer(run, source), mapper)


def _outer(run: Run, source: Source[Any], *, heard: bool = True) -> Outer:
    """The source of sources, subscribed together with the operator."""
    return outer_of(run, source) if heard and can_be_heard(source) else Outer(_bare(source), None)


def _bare(source: Source[Any]) -> Items[Any]:
    """The outer items; without the generator that looks for a cancel before each, where the operator looks itself."""
    items = iter(source)
    known = known_items(source.publisher)
    return iter(known) if known and hasattr(items, "gi_frame") else items  # else it is to answer None first, or is empty


def _in_order(run: Run, outer: Outer, mapper: Callable[[T], Any]) -> Items[Any]:
    inner: Side[Any] | None = None
    heard = outer.is_heard
    opened = False
    operator_name, function = named("concat_map", mapper)
    root: Any = run.root
    endless = run.demand == UNBOUNDED  # then it stays so
    try:
        for item in outer.items:
            if item is None:
                yield None
                continue
            if root.cancelled:
                return
            if opened:
                inner.close()  # type: ignore[union-attr]  # it is open
                opened = False
            try:  # user_call without its frame
                made = function(item)
            except (StopIteration, GeneratorExit) as error:
                raise user_error(operator_name, function, error) from error
            except Exception as error:
                user_error(operator_name, function, error)
                raise
            items = at_hand(made, run) if (endless or run.demand) and not root.cancelled else None
            if items is not None:
                yield from outer.heard(items) if heard else items
                continue
            check_inner(operator_name, function, made)
            if inner is None:
                inner = Side(run)
            opened = True
            inner.start(made)
            yield from outer.heard(inner.items) if heard else inner.items
    finally:
        if inner is not None:
            inner.dispose()
        outer.close()


OPERATOR_CODES.add(_in_order.__code__)


def _with_errors_last(run: Run, outer: Outer, mapper: Callable[[T], Any], till_the_end: bool) -> Items[Any]:
    errors: list[Exception] = []
    inner: Side[Any] = Side(run)
    try:
        while True:
            try:
                if outer.failed:
                    outer.fail()
                item = next(outer.items, END)
            except Exception as raised:
                errors.append(raised)
                break
            if item is END:
                break
            if item is None:
                yield None
                continue
            inner.close()
            try:
                inner.start(inner_source("concat_map", mapper, item))
            except Exception as raised:  # of the mapper: that is the end, as there is nothing to go on with
                errors.append(raised)
                break
            try:
                yield from inner.items
            except Exception as raised:
                errors.append(raised)
                if not till_the_end:
                    break
    finally:
        inner.dispose()
        outer.close()
    if errors:
        raise composite(errors)


def _flat_map_can_loop(head: OperatorHead) -> bool:
    args = head.args
    return not args[3] and type(args[0]) is not Named and isinstance(head.upstream[0], Pipeline)


def _flat_map_freely(head: OperatorHead, waiting: Waiting) -> Looped | None:
    """Sources that need not wait come to their end before the next one is asked for. With the first that has to wait, all that
    is left is run in the ordinary way: it may be one of many that are to wait at the same time."""
    mapper, max_concurrency, prefetch, _ = head.args
    outer = outside(head.upstream[0], waiting)
    if outer is None:
        return None

    def inner(made: Any) -> Iterable[Any]:
        if isinstance(made, Pipeline):
            items = at_once(made, waiting)
            if items is not None:
                return items
        else:
            check_inner("flat_map", mapper, made)
        run = waiting.run
        sources = chain((made,), _mapped(run, outer.rest, mapper))
        return interleave(run, sources, Lanes(run), prefetch, False, max_concurrency)

    return outer.plan, flat_mapped, (mapper, inner)


@operator(eager="none", passes=True, freely=Freely(_flat_map_can_loop, _flat_map_freely))
def flat_map(
    run: Run, source: Source[T], mapper: Callable[[T], Any], max_concurrency: int, prefetch: int, delay_error: bool
) -> Items[Any]:
    """Inner sources at the same time, at most ``max_concurrency`` of them, their items as they come."""
    lanes: Lanes[Any] = Lanes(run, run.straight())
    dealt = None if delay_error else dealt_by(run, source.publisher, max_concurrency)
    if dealt is not None:
        return through_groups(run, dealt, mapper, _mapped, lanes, prefetch, max_concurrency)
    outer = _outer(run, source, heard=not delay_error)
    inners = _mapped(run, outer.items, mapper)
    return interleave(run, inners, lanes, prefetch, delay_error, max_concurrency, outer)


def _mapped(run: Run, outer: Items[T], mapper: Callable[[T], Any]) -> Iterator[Any]:
    operator_name, function = named("flat_map", mapper)
    root: Any = run.root
    try:
        for item in outer:
            if item is None:
                yield None
                continue
            if root.cancelled:
                return
            try:  # user_call without its frame
                made = function(item)
            except (StopIteration, GeneratorExit) as error:
                raise user_error(operator_name, function, error) from error
            except Exception as error:
                user_error(operator_name, function, error)
                raise
            if not isinstance(made, Pipeline):
                check_inner(operator_name, function, made)
            yield made
    finally:
        close(outer)


OPERATOR_CODES.add(_mapped.__code__)


#: What is known of the two, so that nobody has to look it up for each stream.
CONCAT_MAP: Final = operator_of(concat_map)
FLAT_MAP: Final = operator_of(flat_map)


class Named:
    """A mapper of an operator that another one runs: messages show the name that the user wrote."""

    __slots__ = ("mapper", "name")

    def __init__(self, name: str, mapper: Callable[..., Any]) -> None:
        self.name = name
        self.mapper = mapper

    def __call__(self, item: Any) -> Any:
        return self.mapper(item)


def inner_source(operator_name: str, mapper: Callable[[T], Any], item: T) -> Any:
    """What ``mapper`` made of ``item``, refused with both calls shown when it is no source."""
    operator_name, mapper = named(operator_name, mapper)
    made = user_call(operator_name, mapper, item)
    check_inner(operator_name, mapper, made)
    return made


def named(operator_name: str, mapper: Callable[..., Any]) -> tuple[str, Callable[..., Any]]:
    """The name that messages show, and the user's function."""
    return (mapper.name, mapper.mapper) if type(mapper) is Named else (operator_name, mapper)


def check_inner(operator_name: str, mapper: Callable[..., Any], made: Any) -> None:
    """Refuse what is no source, with both calls shown."""
    if isinstance(made, Pipeline) or hasattr(made, "subscribe"):
        return
    function = name_of(mapper)
    if made is not None and hasattr(made, "__iter__"):
        right = f".flat_map_iterable({function})   # plain iterables need no {operator_name}"
    else:
        right = f".map({function})   # for a plain value"
    raise TypeError(
        f"{operator_name}() expected a function returning a publisher, but {function} returned {made!r}.\n"
        f"  Wrong:  .{operator_name}({function})\n  Right:  {right}"
    )


@operator
def relay(_run: Run, source: Source[T]) -> Items[T]:
    """Nothing but its source: for sources that are not ours and have no demand."""
    return iter(source)


@operator(eager="none")
def behind_wall(run: Run, source: Source[T]) -> Items[T]:
    """Its source through a queue, although it could be opened without one: what ``hide`` is for."""
    return run.open_queued(source.publisher, 1)


class _Heeded(Side[T]):
    """A source that is listened to whether or not items are wanted: none of its items goes on."""

    __slots__ = ()

    def wake(self) -> None:
        self.poke()


@operator(eager="none")
def ignore_items(run: Run, source: Source[T]) -> Items[T]:
    """Only the end of its source, which needs no demand: everything is asked for."""
    side: Side[T] = _Heeded(run, UNBOUNDED)
    side.start(source)
    side.poke()  # a synchronous one has its items now
    return _only_the_end(run, side)


def _only_the_end(run: Run, side: Side[T]) -> Items[T]:
    try:
        while (item := side.poll()) is not END:
            if item is None:
                yield None
            elif run.is_cancelled:
                return
    finally:
        side.dispose()

"""Outer sources, of whose items flat_map, concat_map_eager and switch_map make their inner sources.

How one that pushes ends is the same for all. What is passive, flat_map pulls: its outer source, and inner sources of an outer
one that pushes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, final

from rx_core import UNBOUNDED, dropped_late
from rx_core.streams import (
    EXACT,
    LOOK_FIRST,
    Failed,
    Handover,
    Input,
    Stream,
    SubscriberFailed,
    close,
    computed,
    computed_at_once,
    is_exhausted,
    without_this_frame,
)
from rx_ops.operators._mapping import mapper_failure, not_a_source, opened, pulled

if TYPE_CHECKING:
    from rx_core.streams import MergedInput, Outcome


class OuterInput(Input[Any]):
    """A source of sources that pushes: a subclass maps and subscribes. Its end goes into the operator's ``ended``, once."""

    __slots__ = ()

    #: Of the interface of ``ended``: nothing waits here.
    queue: ClassVar[tuple[()]] = ()

    def fail(self, error: Exception) -> None:
        """The mapper failed: that is the source's error from here on."""
        self.error = error
        self.up.cancel()
        self.on_complete()

    def on_error(self, error: Exception, /) -> None:
        if self.closed or self.done:
            dropped_late(error, self.op.origin)
            return
        self.error = error
        self.on_complete()

    def on_complete(self) -> None:
        if not self.done:
            self.done = True
            self.op.ended.append(self)
            self.op.drain()


@final
class PassiveInput:
    """A passive source that waits for its turn: nothing is subscribed, so there is no queue, and nothing to stop."""

    __slots__ = ("hint", "items", "left", "limit")

    up: Any = None  # of what listens

    items: Iterator[Any]
    #: How many items are left, where this is known.
    hint: Callable[[], int] | None
    #: How many are to be taken before it is the turn of the next input, and after how many it is then.
    left: int
    limit: int

    def __init__(self, items: Iterator[Any], hint: Callable[[], int] | None, window: int) -> None:
        self.items = items
        self.hint = hint
        self.left = self.limit = window - (window >> 2)  # as of one with a queue

    def stop(self) -> None:
        """The iterator looks at the operator, see Stopping."""

    def close(self) -> None:
        close(self.items)


@final
class KnownInput:
    """A source of one item, which is known, that waits for its turn."""

    __slots__ = ("item",)

    up: Any = None  # as above

    item: Any

    def __init__(self, item: Any) -> None:
        self.item = item

    def stop(self) -> None:
        """There is nothing to stop."""

    def close(self) -> None:
        """And nothing is open."""


def pull(op: Any, demand: int) -> tuple[int, bool]:
    """Map items of flat_map's passive outer source. What is still wanted, and whether ``step`` is to go on here and now."""
    outer = op.outer_items
    mapper: Callable[[Any], Any] = op.mapper
    while True:
        try:
            item = next(outer, op)
            if item is op:
                op.outer_items = None
                op.fed = False
                return demand, True
        except Handover as handover:
            op.outer_items = None
            op.subscribe_later(handover.rest, op.outer)
            return demand, False
        except (Exception, GeneratorExit) as error:
            return _failed(op, demand, without_this_frame(error))
        try:
            source = mapper(item)
        except (Exception, GeneratorExit) as error:
            close(outer)
            return _failed(op, demand, mapper_failure(op.operator, mapper, error))
        wanted = 0 if op.ready else demand  # what waits goes first
        if isinstance(source, Stream):
            known = source._known_item()
            if known is not None:
                if not wanted:
                    op.wait_for_turn(known)
                    if len(op.inputs) >= op.max_concurrency:
                        return demand, False
                else:
                    op.emit(known)
                    if wanted is not UNBOUNDED:
                        demand -= 1
                if op.stopped or op.dirty:
                    return demand, False
                continue
        if wanted == UNBOUNDED:
            items = pulled(source, op, wanted)
            hint = None
        else:
            op.hint = None
            items = opened(source, op, wanted)
            hint = op.hint
        if not wanted and items is not None and type(items) not in EXACT and computed_at_once(source):
            hint = None
            made = computed(items)
            if isinstance(made, Failed):
                if op.fail(made.take()):
                    return op.finish(op.failure()), False
                items = iter(())
            else:
                items = made
        if items is None:
            refused = not_a_source(op.operator, mapper, source)
            if refused is not None:
                close(outer)
                return _failed(op, demand, refused)
            op.subscribe_later(source, op.new_input())
            return demand, False
        if wanted:
            demand, outcome = op.give(items, demand) if demand == UNBOUNDED else op.give_some(items, hint, demand)
            if outcome is False:
                op.take_turn(items, hint)
            elif isinstance(outcome, Failed):
                if op.fail(outcome.take()):
                    return op.finish(op.failure()), False
            elif outcome is not True:
                op.subscribe_later(outcome, op.new_input())
                return demand, False
        elif not is_exhausted(items):
            op.take_turn(items, hint)
        if op.stopped or op.dirty or len(op.inputs) >= op.max_concurrency:
            return demand, False


def push_known(op: Any, item: Any, outer: Any) -> bool:
    """The only item, which is known, of an inner source of a pushing outer one. False: the gate is taken, or others go first."""
    token = op.token
    try:
        demand = token.pop()
    except IndexError:
        return False
    if op.dirty or op.stopped or (demand and op.ready):
        token.append(demand)
        return False
    if demand:
        emit = op.emit_unguarded
        try:
            emit(item)
        except BaseException as error:
            try:
                told = op.unguarded_raised(error)
            finally:
                token += (0,)
            if not told:
                raise
            op.drain()
            return True
        token.append(demand if demand is UNBOUNDED else demand - 1)
        outer.use()
    else:  # there is nothing to do but wait
        op.wait_for_turn(item)
        if op.in_line:
            op.dirty = True  # it may be the first
        token.append(0)
        if outer.used:
            outer.flush()
    if op.dirty:
        op.drain()
    return True


def push_passive(op: Any, source: Any, items: Iterator[Any], outer: Any) -> None:
    """A passive inner source of a pushing outer one: emitted at once where the gate is free and items are wanted."""
    hint = op.hint
    token = op.token
    demand = 0
    if not (LOOK_FIRST and not token):
        try:
            demand = token.pop()
        except IndexError:
            demand = -1
        if demand > 0 and not op.dirty and not op.stopped and not op.ready:
            failed: BaseException | None = None
            outcome: Outcome = False
            try:
                demand, outcome = op.give(items, demand) if demand == UNBOUNDED else op.give_some(items, hint, demand)
            except SubscriberFailed as failure:
                failed = failure.error
            if failed is not None:
                try:
                    op.emit_raised(failed)
                finally:
                    token += (0,)
                raise failed
            token.append(demand)
            if outcome is True:
                outer.use()
                if op.dirty:
                    op.drain()  # set meanwhile
                return
            if isinstance(outcome, Failed):
                _push_failed(op, outcome.take(), outer)
                return
        elif demand >= 0:
            token.append(demand)
    if type(items) not in EXACT and computed_at_once(source):
        try:
            made = computed(items)
        except BaseException as error:
            outer.interrupted(error)
            raise
        if isinstance(made, Failed):
            _push_failed(op, made.take(), outer)
            return
        items, hint = made, None
    if is_exhausted(items):
        outer.use()
        op.drain()
        return
    if outer.used:
        outer.flush()
    op.take_turn(items, hint)
    op.drain()


def _push_failed(op: Any, error: Exception, outer: Any) -> None:
    entry: MergedInput[Any] = op.new_input()
    entry.up = outer  # ended below: it is never asked
    entry.on_error(error)


def _failed(op: Any, demand: int, error: Exception) -> tuple[int, bool]:
    op.outer_items = None
    op.fed = False
    if op.fail(error):
        return op.finish(op.failure()), False
    return demand, True

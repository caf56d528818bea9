"""Inner sources one after another: concat_map, filter_when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rx_core import UNBOUNDED, MaybeBase, SingleBase, composite
from rx_core.streams import (
    CLOSABLE,
    END,
    LOOK_FIRST,
    DirectInput,
    Failed,
    GatedInput,
    Handover,
    Op,
    RelayedInput,
    Stream,
    close,
    computed,
    end_of_one,
    without_demand,
    without_this_frame,
)
from rx_fusion import Pipeline, op, operator_of
from rx_ops.operators._loops import concat_map_loop
from rx_ops.operators._mapping import Named, mapper_failure, not_a_source, opened, pulled
from rx_ops.operators._part import PartsInput

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_core.streams import Listening

T = TypeVar("T")
R = TypeVar("R")


class _Outer(PartsInput):
    """An item that finds nothing waiting and no inner source at work is mapped as it comes. Of a source whose only item is known
    that goes on at once; any other waits for ``step``."""

    __slots__ = ()

    def on_next(self, item: Any, /) -> None:
        op = self.op
        token = op.token
        if (
            self.queue
            or self.closed
            or (LOOK_FIRST and not token)
            or op.inner is not None
            or op.items is not None
            or op.opening
            or op.made is not None  # not looked at yet
            or isinstance(item, Pipeline)  # a part, perhaps
        ):
            super().on_next(item)
            return
        try:
            source = op.mapped(item)
        except Exception as error:  # no stack is left, most likely: who gets the token next signals it
            op.exhausted(error)
            raise
        except BaseException as error:
            self.interrupted(error)
            raise
        known = source._known_item() if isinstance(source, Stream) else None
        try:
            demand = token.pop()
        except IndexError:
            demand = 0
        else:
            if known is None or not demand or op.dirty or self.closed:
                token.append(demand)
                demand = 0
        if not demand:
            op.made = source
            op.drain()
            return
        emit = op.emit_unguarded
        try:
            # Before it goes on, as in RxJava.
            if self.left > 1 and not source._without_demand:  # as took_of, without its calls
                self.left -= 1
            else:
                op.took_of(source)
            emit(known)
        except BaseException as error:
            try:
                told = op.unguarded_raised(error)
            finally:
                token += (0,)
            if not told:
                raise
            op.drain()
            return
        token.append(demand if demand is UNBOUNDED else demand - 1)
        if op.dirty:
            op.drain()


@op("concat_map", loop=concat_map_loop)
class ConcatMap(Op[R]):
    """Inner sources one at a time, in order, each with the demand that is left.

    The next item is mapped and its source subscribed when the one before is over, wanted or not, as in RxJava. A passive outer
    source is pulled; any other is asked for ``prefetch`` items. A passive inner source is emitted as it is; one that pushes is
    relayed, through the gate where the outer source may fail meanwhile.

    ``delay_error`` keeps errors until all is over, or, without ``till_the_end``, until the inner source that runs is.
    """

    __slots__ = (
        *("delay_error", "errors", "failing", "hint", "inner", "items", "last", "made", "mapper"),
        *("outer", "passive", "refused", "source", "till_the_end"),
    )

    discards: ClassVar[bool] = True
    opens_sources: ClassVar[bool] = True

    operator: ClassVar[str] = "concat_map"

    outer: PartsInput
    #: The source that the outer source's thread has made of an item; END where that failed.
    made: Any
    #: The inner source that pushes, while it runs.
    inner: RelayedInput[R] | GatedInput[R] | None
    #: The items of a passive inner source.
    items: Iterator[R] | None
    #: And that source; how many items it has left, where this is known; and set by a stage before it gives its last item.
    passive: Any
    hint: Callable[[], int] | None
    last: bool
    errors: list[Exception]
    #: The outer source's error was noted.
    failing: bool
    #: A wrong request: it was handed to the inner source, which answers it serially with its other signals (RS 3.9).
    refused: Exception | None

    def __init__(
        self,
        down: Subscriber[R],
        source: Publisher[T],
        mapper: Callable[[T], Any],
        delay_error: bool = False,
        till_the_end: bool = True,
        prefetch: int = 2,
    ) -> None:
        super().__init__(down)
        self.source = source
        self.mapper = mapper
        self.delay_error = delay_error
        self.till_the_end = till_the_end
        self.outer = _Outer(self, prefetch)
        self.made = None
        self.inner = None
        self.items = None
        self.passive = None
        self.hint = None
        self.last = False
        self.errors = []
        self.failing = False
        self.refused = None

    def open(self) -> None:
        source = self.source
        items = source._passive_items(self) if isinstance(source, Stream) else None
        if items is None:
            self.outer.open(source)
        else:
            self.outer.items = items
            if type(items) in CLOSABLE:
                self.beneath = (items,)

    def refuse_request(self, error: Exception) -> None:
        inner = self.inner
        if isinstance(inner, RelayedInput) and inner.up is not None and not inner.done:
            self.refused = error
            self.later.append((inner.up.request, 0))
        else:
            self.finish(error)

    def step(self, demand: int) -> int:
        outer = self.outer
        if outer.error is not None and self.outer_failed() and not self.delay_error:  # most often there is none: a call less
            return self.finish(outer.error)
        inner = self.inner
        if inner is not None:
            done = inner.done  # before taking: what came before the end is taken now
            demand = inner.take(demand)
            if self.stopped:
                return 0
            if not done:
                inner.ask(demand)
                return demand
            if self.refused is not None:
                return self.finish(self.refused)
            if inner.waits:
                return demand
            demand = inner.settle(demand)
            error = inner.error
            self.inner = None
            inner.close()  # the source may be kept, and is to keep no subscriber of ours (RS 3.13)
            if error is not None and self.failed(error):
                return self.finish(self.failure())
        if self.opening:
            return demand  # what comes next begins when subscribe of the source before has returned
        while True:
            if self.items is not None:
                before = demand
                demand, outcome = self.give(self.items, demand)
                if outcome is False:
                    if self.stopped or not self.is_over(demand != before):
                        return demand
                    outcome = end_of_one(self.items)
                self.items = None
                if isinstance(outcome, Failed):
                    if self.failed(outcome.take()):
                        return self.finish(self.failure())
                elif outcome is not True:
                    return self.subscribe_inner(outcome, demand)
                if self.dirty or self.stopped:
                    self.dirty = True  # to go on here after looking
                    return demand
            source = self.next_source()
            if source is None:
                return demand
            if source is END:
                return self.finish(self.failure())
            if self.dirty and outer.error is not None and self.outer_failed() and not self.delay_error:
                return self.finish(outer.error)  # which came as it was asked for more
            known = source._known_item() if demand and isinstance(source, Stream) else None
            if known is not None:
                self.emit(known)
                if demand is not UNBOUNDED:
                    demand -= 1
                if self.dirty or self.stopped:
                    self.dirty = True  # as above
                    return demand
                if outer.done or outer.queue or outer.items is not None or outer.current is not None:
                    continue
                return demand  # next_source would find none
            self.last = False
            self.hint = None
            self.items = pulled(source, self, demand) if demand == UNBOUNDED else opened(source, self, demand)
            self.passive = source
            if self.items is None:
                return self.subscribe_inner(source, demand)
            if not demand and without_demand(source):
                made = computed(self.items)
                self.last = False
                self.hint = None
                if not isinstance(made, Failed):
                    self.items = made
                else:
                    self.items = None
                    if self.failed(made.take()):
                        return self.finish(self.failure())

    def is_over(self, has_given: bool) -> bool:
        """Whether only the end of the passive source can follow, which needs no demand."""
        hint = self.hint
        return self.last or (not hint() if hint is not None else has_given and self.passive._gives_one)

    def next_source(self) -> Any:
        """The source of the next outer item; None while there is none; END after the last, or when an error ends the stream."""
        outer = self.outer
        if outer.error is not None and self.outer_failed() and not self.till_the_end:
            return END
        source = self.made
        if source is not None:
            self.made = None
        else:
            try:
                item = outer.poll()
            except Handover as handover:
                outer.items = None
                self.subscribe_later(handover.rest, outer)
                return None
            except (Exception, GeneratorExit) as error:
                self.errors.append(without_this_frame(error))
                return END
            if item is None:
                return None
            if item is END:
                self.outer_failed()
                return END
            source = self.mapped(item)
        if source is not END and outer.items is None:
            self.took_of(source)
        return source

    def mapped(self, item: Any) -> Any:
        """The source of an outer item; END, and the error is noted, where there is none."""
        mapper = self.mapper
        try:
            source = mapper(item)
        except (Exception, GeneratorExit) as error:
            self.errors.append(mapper_failure(self.operator, mapper, error))
            return END
        if not isinstance(source, Stream):
            refused = not_a_source(self.operator, mapper, source)
            if refused is not None:
                self.errors.append(refused)
                return END
        return source

    def took_of(self, source: Any) -> None:
        """An item of an outer source that pushes became ``source``: it may send another one."""
        outer = self.outer
        if without_demand(source):
            outer.ask_by_halves()
        outer.took()

    def outer_failed(self) -> bool:
        """Whether the outer source has failed. Its error is noted as soon as that is seen, before the later errors of inner
        sources."""
        outer = self.outer
        if not self.failing and outer.done and outer.error is not None:
            self.failing = True
            self.errors.append(outer.error)
        return self.failing

    def subscribe_inner(self, source: Any, demand: int) -> int:
        """Relay what pushes. Only a pushing outer source that is not delayed can signal besides it."""
        inner: RelayedInput[R] | GatedInput[R]
        of_one = not self.settled and without_demand(source)
        if of_one or (self.outer.items is None and not self.delay_error):
            inner = GatedInput(self, of_one)
        else:
            inner = DirectInput(self) if self.settled else RelayedInput(self)
        self.inner = inner
        self.subscribe_later(source, inner)
        return demand

    def failed(self, error: Exception) -> bool:
        """An inner source has failed. True: the stream ends with it now."""
        self.errors.append(error)
        return not (self.delay_error and self.till_the_end)

    def failure(self) -> Exception | None:
        """What the stream ends with. It is not kept: the frames in its traceback may hold this."""
        errors = self.errors
        self.errors = []
        return composite(errors) if errors else None

    def listening(self) -> Iterable[Listening]:
        inner = self.inner
        return (self.outer,) if inner is None else (self.outer, inner)

    def close(self) -> None:
        self.outer.close()
        items = self.items
        if items is not None:
            self.items = None
            close(items)
        inner = self.inner
        if inner is not None:
            inner.close()


class Deciding(Named):
    """The mapper of filter_when: a source of the item, if the first item of what the user's function makes of it is true."""

    __slots__ = ("types",)

    def __init__(self, predicate: Callable[[Any], Any], types: Any) -> None:
        super().__init__("filter_when", predicate)
        #: The module of the reactive types.
        self.types = types

    def __call__(self, item: Any) -> Any:
        made = self.mapper(item)
        if not_a_source(self.name, self, made) is not None:
            return made  # which is refused
        return self.answer_of(made).filter(bool).map(_Always(item))

    def answer_of(self, made: Any) -> Any:
        """Its first item, as a Maybe."""
        types = self.types
        if not isinstance(made, Pipeline):
            if isinstance(made, SingleBase):
                made = types.Single.wrap(made)
            elif isinstance(made, MaybeBase):
                made = types.Maybe.wrap(made)
            else:
                made = types.Flowable.wrap(made)
        return made if without_demand(made) else made.first_element()


class _Always:
    __slots__ = ("item",)

    def __init__(self, item: Any) -> None:
        self.item = item

    def __call__(self, _answer: object) -> Any:
        return self.item


#: What is known of it, so that it need not be looked up for each stream.
CONCAT_MAP: Final = operator_of(ConcatMap)

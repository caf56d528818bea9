"""From a description to a stream: one line for each source and operator, with the traits that decide what is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from rx_fusion import stage
from rx_ops import Emitter, Flowable, GenerateEmitter, HandleEmitter, UnicastProcessor, aggregates
from rx_testing import ManualPublisher, ManualSubscription, VirtualScheduler
from tests.conformance.sources import Foreign
from tests.invisible.describe import Fn, Op, Pipeline, nested, num
from tests.invisible.recording import Log
from tests.invisible.theirs import TheirMap, TheirPass

Flow = Flowable[Any]
Function = Callable[[Any], Any]


class World:
    """What one run of a pipeline needs around it: the log, the clock, and sources that send when they are told to."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.clock = VirtualScheduler()
        self.pumps: list[Callable[[], bool]] = []
        #: Put between all operators: the identity, or a wall.
        self.between: Callable[[Flow], Flow] = lambda flow: flow
        #: Iterators of users' iterables that were not closed.
        self.open_iterators = 0

    def settle(self) -> None:
        """Let everything happen that needs no further request."""
        while sum(pump() for pump in self.pumps) or self.tick():  # all of them
            pass

    def tick(self) -> bool:
        self.log.on_worker = True
        try:
            return self.clock.run_due() > 0
        finally:
            self.log.on_worker = False

    def f(self, fn: Fn) -> Callable[..., Any]:
        return self.log.function(fn)

    def build(self, pipeline: Pipeline) -> Flow:
        flow = self.between(SOURCES[pipeline.source.name](self, *pipeline.source.args))
        for op in pipeline.ops:
            flow = self.between(OPERATORS[op.name](self, flow, *op.args))
        return flow


# -- sources -------------------------------------------------------------------------------------------------------------------


class Logged:
    """A user's iterable: each step of its iterators is seen, and whether they are closed."""

    def __init__(self, world: World, name: str, items: Sequence[Any], failing: bool) -> None:
        self.world, self.name, self.items, self.failing = world, name, items, failing

    def __iter__(self) -> Iterator[Any]:
        return self.steps()

    def steps(self) -> Iterator[Any]:
        self.world.open_iterators += 1
        try:
            for at, item in enumerate(self.items):
                self.world.log.call(self.name, at)
                yield item
            self.world.log.call(self.name, len(self.items))
            if self.failing:
                raise ValueError(self.name)
        finally:
            self.world.open_iterators -= 1


def _manual(world: World, items: Sequence[Any], failing: bool) -> Flow:
    """Somebody's publisher that sends later, from outside of request."""
    publisher: ManualPublisher[Any] = ManualPublisher(unchecked=True)
    sent: dict[ManualSubscription[Any], int] = {}

    def pump() -> bool:
        moved = False
        for each in list(publisher.subscriptions):
            at = sent.get(each, 0)
            while at < len(items) and each.outstanding > 0 and not each.cancelled:
                at += 1
                sent[each] = at
                each.next(items[at - 1])
                at, moved = sent[each], True
            if at == len(items) and not each.cancelled:
                sent[each], moved = at + 1, True
                each.error(ValueError("source")) if failing else each.complete()
        return moved

    world.pumps.append(pump)
    return Flowable.wrap(publisher)


def _created(items: Sequence[Any], failing: bool) -> Flow:
    def push(emitter: Emitter[Any]) -> None:
        for item in items:
            emitter.on_next(item)
        emitter.on_error(ValueError("source")) if failing else emitter.on_complete()

    return Flowable.create(push)


def _unicast(items: Sequence[Any], failing: bool) -> Flow:
    """A processor that everything came to before anybody subscribed; filled anew for each subscription."""

    def make() -> Flow:
        processor: UnicastProcessor[Any] = UnicastProcessor()
        processor.on_subscribe(_Ignoring())
        for item in items:
            processor.on_next(item)
        processor.on_error(ValueError("source")) if failing else processor.on_complete()
        return processor

    return Flowable.defer(make)


class _Ignoring:
    def request(self, _n: int, /) -> None:
        pass

    def cancel(self) -> None:
        pass


def _generated(world: World, fn: Fn, size: int) -> Flow:
    function = world.f(fn)

    def step(at: int, emitter: GenerateEmitter[Any]) -> int:
        if at == size:
            world.log.call(fn.name, at)
            emitter.on_complete()
        else:
            emitter.on_next(function(at))
        return at + 1

    return Flowable.generate(lambda: 0, step)


def _deferred(world: World, fn: Fn, inner: Pipeline) -> Flow:
    function = world.f(fn)
    flow = world.build(inner)
    return Flowable.defer(lambda: None if function() is None else flow)  # type: ignore[arg-type,return-value]  # on purpose


def _using(world: World, name: str, inner: Pipeline) -> Flow:
    flow = world.build(inner)
    log = world.log
    return Flowable.using(lambda: log.opened(name), lambda _: flow, lambda _: log.closed(name))


SOURCES: Final[dict[str, Callable[..., Flow]]] = {
    "range": lambda w, n: Flowable.range(n),
    "of": lambda w, *items: Flowable.of(*items),
    "just": lambda w, item: Flowable.just(item),
    "list": lambda w, *items: Flowable.from_iterable(list(items)),
    "empty": lambda w: Flowable.empty(),
    "error": lambda w, name: Flowable.error(lambda: ValueError(name)),
    "never": lambda w: Flowable.never(),
    "logged": lambda w, *args: Flowable.from_iterable(Logged(w, *args)),
    "foreign": lambda w, items, failing: Flowable.wrap(Foreign(items, ValueError("source") if failing else None)),
    "manual": _manual,
    "created": lambda w, *args: _created(*args),
    "unicast": lambda w, *args: _unicast(*args),
    "hidden": lambda w, *items: Flowable.from_iterable(list(items)).hide(),
    "from_callable": lambda w, fn: Flowable.from_callable(w.f(fn)),
    "generate": _generated,
    "defer": _deferred,
    "using": _using,
}


# -- operators -----------------------------------------------------------------------------------------------------------------


@stage
def their_pairwise(source: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """A stage that is not the library's."""
    empty = True
    previous: Any = 0
    for item in source:
        if empty:
            empty = False
            previous = item
        else:
            pair = (previous, item)
            previous = item
            yield pair


def saying(function: Callable[[Any], Any]) -> Callable[[Any, HandleEmitter[Any]], None]:
    """A handler that says what it says by the value that ``function`` returns."""

    def handler(x: Any, emitter: HandleEmitter[Any]) -> None:
        value = function(x)
        if value is None:
            return
        kind = num(value) % 5
        if kind in (2, 3):
            emitter.on_complete()
        if kind == 4:
            emitter.on_error(ValueError("handled"))
        if kind != 3:
            emitter.on_next(value)

    return handler


def aggregated(flow: Flow, key: Function, value: Function, other: Function) -> Flow:
    total, low, there, mean = aggregates.sum(value), aggregates.min(other), aggregates.count(other), aggregates.average(value)
    return flow.group_aggregate(key, total=total, low=low, there=there, mean=mean)


def _mapper(world: World, fn: Fn, inner: tuple[Op, ...]) -> Callable[[Any], Any]:
    function = world.f(fn)

    def mapper(x: Any) -> Any:
        value = function(x)
        return None if value is None else world.build(Pipeline(Op("range", (value,)), inner))

    return mapper


def _resuming(world: World, fn: Fn, other: Pipeline) -> Callable[[Exception], Any]:
    function, flow = world.f(fn), world.build(other)
    return lambda error: None if function(error) is None else flow


def _counted(world: World, flow: Flow, fn: Fn) -> Flow:
    groups: Flow = flow.group_by(world.f(fn))
    return of_one(groups.flat_map(lambda group: group.count().map(lambda n: (group.key, n))).collect(by_repr))


def of_one(answer: Any) -> Flow:
    """The stage that made it, in a stream like any other: how it fuses with its neighbours is the matter here. ``to_flowable`` of
    a Single or Maybe computes the item when it is subscribed; the pipelines of ``push`` have that."""
    made: Flow = answer._as(Flowable)
    return made


def by_repr(items: Iterable[Any]) -> list[Any]:
    return sorted(items, key=repr)


def _finally(world: World, flow: Flow) -> Flow:
    world.log.opened("finally")
    return flow.do_finally(lambda: world.log.closed("finally"))


OPERATORS: Final[dict[str, Callable[..., Flow]]] = {
    "map": lambda w, s, fn: s.map(w.f(fn)),
    "their_map": lambda w, s, fn: Flowable.wrap(TheirMap(s, w.f(fn))),
    "starmap": lambda w, s, fn: s.starmap(w.f(fn)),
    "filter": lambda w, s, fn: s.filter(w.f(fn)),
    "take_while": lambda w, s, fn: s.take_while(w.f(fn)),
    "take": lambda w, s, n: s.take(n),
    "skip": lambda w, s, n: s.skip(n),
    "skip_while": lambda w, s, fn: s.skip_while(w.f(fn)),
    "distinct": lambda w, s, *fn: s.distinct(*map(w.f, fn)),
    "distinct_until_changed": lambda w, s, *fn: s.distinct_until_changed(*map(w.f, fn)),
    "element_at": lambda w, s, n: of_one(s.element_at(n)),
    "first": lambda w, s, *default: of_one(s.first(*default)),
    "any": lambda w, s, *fn: of_one(s.any(*map(w.f, fn))),
    "all": lambda w, s, *fn: of_one(s.all(*map(w.f, fn))),
    "contains": lambda w, s, value: of_one(s.contains(value)),
    "is_empty": lambda w, s: of_one(s.is_empty()),
    "find_index": lambda w, s, fn: of_one(s.find_index(w.f(fn))),
    "last": lambda w, s, *default: of_one(s.last(*default)),
    "last_element": lambda w, s: of_one(s.last_element()),
    "single": lambda w, s, *default: of_one(s.single(*default)),
    "single_element": lambda w, s: of_one(s.single_element()),
    "scan": lambda w, s, fn, *seed: s.scan(w.f(fn), *seed),
    "reduce": lambda w, s, fn, *seed: of_one(s.reduce(w.f(fn), *seed)),
    "reduce_with": lambda w, s, supplier, reducer: of_one(s.reduce_with(w.f(supplier), w.f(reducer))),
    "average": lambda w, s, *fn: of_one(s.average(*map(w.f, fn))),
    "min_by": lambda w, s, fn: of_one(s.min_by(w.f(fn))),
    "max_by": lambda w, s, fn: of_one(s.max_by(w.f(fn))),
    "to_multimap": lambda w, s, key, value: of_one(s.to_multimap(w.f(key), w.f(value))),
    "collect": lambda w, s, supplier, collector: of_one(s.collect(w.f(supplier), w.f(collector))),
    "collect_into": lambda w, s, fn: of_one(s.collect(w.f(fn))),
    "to_list": lambda w, s: of_one(s.to_list()),
    "to_dict": lambda w, s, key, value: of_one(s.to_dict(w.f(key), w.f(value))),
    "count": lambda w, s: of_one(s.count()),
    "sum": lambda w, s: of_one(s.sum()),
    "min": lambda w, s, *fn: of_one(s.min(*map(w.f, fn))),
    "max": lambda w, s, *fn: of_one(s.max(*map(w.f, fn))),
    "ignore_elements": lambda w, s: s.ignore_elements().to_flowable(),
    "group_reduce": lambda w, s, *fns: s.group_reduce(*map(w.f, fns)),
    "group_aggregate": lambda w, s, *fns: aggregated(s, *map(w.f, fns)),
    "sorted": lambda w, s, reverse, *fn: s.sorted(*map(w.f, fn), reverse=reverse),
    "buffer": lambda w, s, *sizes: s.buffer(*sizes),
    "chunk_by_weight": lambda w, s, limit, fn: s.chunk_by_weight(limit, w.f(fn)),
    "sample_reservoir": lambda w, s: of_one(s.sample_reservoir(1_000)),
    "distinct_in": lambda w, s, fn: s.distinct(w.f(fn), store=set),
    "buffer_until": lambda w, s, fn: s.buffer_until(w.f(fn)),
    "buffer_before": lambda w, s, fn: s.buffer_until(w.f(fn), cut_before=True),
    "buffer_while": lambda w, s, fn: s.buffer_while(w.f(fn)),
    "buffer_until_changed": lambda w, s, *fn: s.buffer_until_changed(*map(w.f, fn)),
    "flat_map_iterable": lambda w, s, fn: s.flat_map_iterable(w.f(fn)),
    "of_type": lambda w, s, kind: s.of_type(kind),
    "cast": lambda w, s, kind: s.cast(kind),
    "default_if_empty": lambda w, s, item: s.default_if_empty(item),
    "do_on_next": lambda w, s, fn: s.do_on_next(w.f(fn)),
    "do_on_complete": lambda w, s, fn: s.do_on_complete(w.f(fn)),
    "pairwise": lambda w, s: s.pairwise(),
    "their_pairwise": lambda w, s: s.stage(their_pairwise),
    "enumerate": lambda w, s, start: s.enumerate(start),
    "map_indexed": lambda w, s, fn: s.map_indexed(w.f(fn)),
    "filter_indexed": lambda w, s, fn: s.filter_indexed(w.f(fn)),
    "slice": lambda w, s, *places: s.slice(*places),
    "slice_last": lambda w, s, *places: s.slice(*places),
    "map_optional": lambda w, s, fn: s.map_optional(w.f(fn)),
    "handle": lambda w, s, fn: s.handle(saying(w.f(fn))),
    "scan_with": lambda w, s, *fns: s.scan_with(*map(w.f, fns)),
    "dematerialize": lambda w, s: s.dematerialize(),
    "hide": lambda w, s: s.hide(),
    "their_pass": lambda w, s: Flowable.wrap(TheirPass(s)),
    "do_finally": _finally,
    "concat_with": lambda w, s, other: s.concat_with(w.build(other)),
    "start_with": lambda w, s, *items: s.start_with(*items),
    "concat": lambda w, s, a, b: Flowable.concat(w.build(a), s, w.build(b)),
    "concat_map": lambda w, s, fn, *inner: s.concat_map(_mapper(w, fn, inner)),
    "flat_map": lambda w, s, fn, *inner: s.flat_map(_mapper(w, fn, inner)),
    "merge_delayed": lambda w, s, other: Flowable.merge(s, w.build(other), delay_error=True),
    "merge_with": lambda w, s, other: s.merge_with(w.build(other)),
    "zip_with": lambda w, s, other, fn: s.zip_with(w.build(other), w.f(fn)),
    "zipped_with": lambda w, s, other, fn: Flowable.zip(w.build(other), s, combiner=w.f(fn)),
    "sequence_equal": lambda w, s, other: Flowable.sequence_equal(s, w.build(other)).to_flowable(),
    "amb_with": lambda w, s: s.amb_with(Flowable.never()),
    "switch_if_empty": lambda w, s, other: s.switch_if_empty(w.build(other)),
    "repeat": lambda w, s, times: s.repeat(times),
    "retry": lambda w, s, times, *when: s.retry(times, when=w.f(when[0]) if when else None),
    "on_error_return": lambda w, s, fn: s.on_error_return(w.f(fn)),
    "on_error_resume_next": lambda w, s, fn, other: s.on_error_resume_next(_resuming(w, fn, other)),
    "do_on_error": lambda w, s, fn: s.do_on_error(w.f(fn)),
    "materialize": lambda w, s: s.materialize(),
    "windows": lambda w, s, count: s.window(count).concat_map(lambda window: window.to_list()),
    "counted_groups": _counted,
    "observe_on": lambda w, s, prefetch: s.observe_on(w.clock, prefetch=prefetch, delay_error=True),
    "subscribe_on": lambda w, s: s.subscribe_on(w.clock),
    "parallel": lambda w, s, rails: s.parallel(rails).sequential(ordered=True, delay_error=True),
}

#: The methods of streams that sources and operators call, where their names do not say so.
CALLED: Final = {
    "buffer_before": "buffer_until",
    "collect_into": "collect",
    "counted_groups": "group_by",
    "created": "create",
    "distinct_in": "distinct",
    "foreign": "wrap",
    "hidden": "hide",
    "list": "from_iterable",
    "logged": "from_iterable",
    "manual": "wrap",
    "merge_delayed": "merge",
    "slice_last": "slice",
    "their_map": "wrap",
    "their_pairwise": "stage",
    "their_pass": "wrap",
    "unicast": "wrap",
    "windows": "window",
    "zipped_with": "zip",
}

#: Sources whose items are sent by somebody: at once, or when they are told to.
PUSHED: Final = frozenset(("foreign", "manual", "created", "unicast", "hidden"))

#: Walls: what comes before is reached through the protocol.
WALLS: Final = frozenset(("hide", "their_pass", "their_map", "observe_on", "subscribe_on", "parallel"))

#: Run alone behind a wall these need no queue: one item in, at most one out.
ONE_BY_ONE: Final = frozenset(
    (
        *("map", "their_map", "starmap", "filter", "take_while", "take", "skip", "skip_while", "distinct"),
        *("distinct_until_changed", "element_at", "of_type", "cast", "do_on_next", "do_on_complete", "pairwise"),
        *("their_pairwise", "enumerate", "map_indexed", "filter_indexed", "slice", "map_optional", "handle"),
        *("distinct_in", "sample_reservoir"),
        *("first", "reduce", "collect", "collect_into", "to_list", "to_dict", "count", "sum", "min", "max", "buffer"),
        *("buffer_until", "buffer_before", "buffer_while", "buffer_until_changed"),
        *("default_if_empty", "dematerialize", "hide", "their_pass", "any", "all", "contains", "is_empty", "find_index"),
        *("last", "last_element", "single", "single_element", "reduce_with", "average", "min_by", "max_by", "to_multimap"),
    )
)  # fmt: skip

#: What is a stage, and fuses with its neighbours into one loop.
STAGES: Final = (
    ONE_BY_ONE.union(
        ("chunk_by_weight", "flat_map_iterable", "scan", "group_reduce", "group_aggregate", "sorted", "slice_last", "scan_with")
    )
    - WALLS
)

#: Of these, what gives something at the end of its source; and what does something there.
GIVING_AT_THE_END: Final = frozenset(
    (
        *("sample_reservoir", "reduce", "collect", "collect_into", "to_list", "to_dict", "count", "sum", "min", "max", "buffer"),
        *("buffer_until", "buffer_before", "buffer_while", "buffer_until_changed", "default_if_empty", "any", "all", "contains"),
        *("is_empty", "find_index", "last", "last_element", "single", "single_element", "reduce_with", "average", "min_by"),
        *("max_by", "to_multimap", "first", "chunk_by_weight", "group_reduce", "group_aggregate", "sorted", "slice_last"),
    )
)
ACTING_AT_THE_END: Final = GIVING_AT_THE_END | {"do_on_complete"}

#: And what has something to do behind an item that it gave. No loop over inner sources can be left there.
ACTING_BEHIND_AN_ITEM: Final = frozenset(("handle", "slice"))

#: A thread that waits pulls these, too, where their sources are passive.
LOOPED: Final = frozenset(("concat_map", "flat_map", "concat", "concat_with", "start_with"))

#: Sources at the same time: in a row where all of them are iterated.
SIDE_BY_SIDE: Final = frozenset(("merge_with", "merge_delayed", "zip_with", "zipped_with", "sequence_equal"))

#: They look at their source before anything is wanted of them: an end that needs no demand, a window that is filled.
LOOKING_AHEAD: Final = frozenset(
    ("ignore_elements", "windows", "counted_groups", "observe_on", "subscribe_on", "amb_with", "parallel")
)


def everything(pipeline: Pipeline) -> Iterator[Op]:
    for op in (pipeline.source, *pipeline.ops):
        yield op
        for inner in nested(op):
            yield from everything(inner)
        yield from (argument for argument in op.args if isinstance(argument, Op))


def waits(op: Op) -> bool:
    """Its items may come later than they are asked for."""
    return op.name in LOOKING_AHEAD or op.name in WALLS or op.name in PUSHED or op.name in ("error", "never", "materialize")


def pushes(op: Op, polled: bool) -> bool:
    """It sends its items, requested or not by now, to an operator that reads it; ``polled``: by a thread that waits."""
    if polled and op.name in LOOPED:  # unless it is written with a source that sends by itself
        return op.name.startswith("concat") and any(pushes(each, polled) for inner in nested(op) for each in everything(inner))
    return waits(op) or op.name in ("defer", "using") or (op.name in OPERATORS and op.name not in STAGES)


def may_poke(op: Op) -> bool:
    """Something may happen in it that needs no demand, and one item may be computed ahead meanwhile (decision 0006)."""
    return waits(op) or op.name in ("defer", "using") or (op.name in OPERATORS and op.name not in STAGES)


def queues(op: Op) -> bool:
    """Alone behind a wall it needs a queue: one item in may be several out."""
    overlaps = op.name == "buffer" and len(op.args) == 2 and op.args[1] < op.args[0]
    return overlaps or op.name not in ONE_BY_ONE

"""The table: one line for each form of each operator.

A line says how to build the operator over a source, what the result is as an obvious computation over a list, and by flags how it
differs from "a synchronous operator that passes errors on". The other modules run each line through the same list of tests.

Flags::

    early       ends by itself before the source has to
    fold        reads its source to the end before it gives anything
    unordered   only the set of items is promised
    none        None returned by the user's function is an error
    recovers    does something about an error of the source
    at_end      its user functions are called after the items
    quiet       an error of its user function goes to the error hook and not downstream
    source      is a source itself: the given one is not used
    hot         does not wait for demand: MissingBackpressureError where nothing is requested
    lossy       drops items when demand is small
    apart       runs behind a boundary of its own: demand towards the source is not what is requested downstream
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, dropwhile, groupby, pairwise, takewhile
from typing import Any, Final

from rx_core import Disposable, Items, Run, Source, Subscriber, none_produced, user_call
from rx_fusion import operator, stage
from rx_ops import (
    BackpressureStrategy,
    BatchEmitter,
    Completable,
    Emitter,
    Flowable,
    GenerateEmitter,
    HandleEmitter,
    OnComplete,
    OnNext,
    Single,
)
from tests.conformance.harness import ITEMS, Case, Flow, Kit
from tests.conformance.sources import Foreign


class Oops(Exception):
    """The failure in lines about errors."""


OOPS: Final = Oops("oops")


def _same(xs: list[Any]) -> list[Any]:
    return xs


def _nothing(_xs: list[Any]) -> list[Any]:
    return []


def _times(n: int) -> Callable[[Any], Any]:
    return lambda x: x * n


def _plus(a: Any, b: Any) -> Any:
    return a + b


def _odd(x: int) -> int:
    return x % 2


def _odd_only(x: int) -> int | None:
    return x if x % 2 else None


def _even_place(_x: Any, at: int) -> bool:
    return at % 2 == 0


def _handled(x: int, emitter: HandleEmitter[int]) -> None:
    if x >= 5:
        emitter.on_complete()
    elif x % 2:
        emitter.on_next(x * 2)


def _small(x: int) -> bool:
    return x < 5


def _big(x: int) -> bool:
    return x >= 5


def _is(value: int) -> Callable[[int], bool]:
    return lambda x: x == value


def _equal(a: object, b: object) -> bool:
    return a == b


def _opposite(a: int, b: int) -> bool:
    return a == -b


def _lists_by(xs: list[Any], key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    return {found: [x * 2 for x in xs if key(x) == found] for found in dict.fromkeys(map(key, xs))}


def _each(xs: list[Any], function: Callable[[Any], Iterable[Any]]) -> list[Any]:
    return [inner for x in xs for inner in function(x)]


def _pairs(xs: list[Any], ys: Iterable[Any]) -> list[Any]:
    return list(zip(xs, ys, strict=False))


def _copies(x: Any) -> list[Any]:
    return [x] * (x % 3)


def _chunks(xs: list[Any], count: int, skip: int) -> list[Any]:
    return [xs[at : at + count] for at in range(0, len(xs), skip)]


def _whole(xs: list[Any], count: int, skip: int) -> list[Any]:
    return [chunk for chunk in _chunks(xs, count, skip) if len(chunk) == count]


def _unique(xs: list[Any], key: Callable[[Any], Any] = lambda x: x) -> list[Any]:
    return [x for at, x in enumerate(xs) if key(x) not in [key(each) for each in xs[:at]]]


def _changes(xs: list[Any], key: Callable[[Any], Any] = lambda x: x) -> list[Any]:
    return [next(run) for _, run in groupby(xs, key)]


def _groups(xs: list[Any]) -> list[Any]:
    return [(key, [x for x in xs if _odd(x) == key]) for key in _unique([_odd(x) for x in xs])]


def _group_sums(xs: list[Any]) -> list[Any]:
    return [(key, sum(each) * 10) for key, each in _groups(xs)]


def _keyed(group: Any) -> Flow:
    made: Flow = group.map(lambda x: (group.key, x))
    return made


def _listed(group: Any) -> Single[Any]:
    made: Single[Any] = group.to_list().map(lambda each: (group.key, each))
    return made


def _generated(k: Kit) -> Flow:
    def step(state: int, emitter: GenerateEmitter[int]) -> int:
        emitter.on_next(state) if state < 4 else emitter.on_complete()
        return state + 1

    return Flowable.generate(lambda: 1, k.f(step))


def _created(k: Kit) -> Flow:
    def push(emitter: Emitter[int]) -> None:
        for item in (1, 2, 3):
            emitter.on_next(item)
        emitter.on_complete()

    return Flowable.create(k.f(push), BackpressureStrategy.BUFFER)


def _failing(s: Flow) -> Flow:
    return s.concat_with(Flowable.error(OOPS))


def _flaky(s: Flow, k: Kit, failures: int) -> Flow:
    """Fails ``failures`` times after its items, then completes; counted anew for each subscription."""

    def make() -> Flow:
        left = iter(range(failures))
        ending = Flowable.defer(lambda: Flowable.empty() if next(left, None) is None else Flowable.error(OOPS))
        return s.concat_with(ending).retry(when=k.f(lambda error: error is OOPS))

    return Flowable.defer(make)


def _auto(s: Flow) -> Flow:
    """It does not stop by itself when its subscriber leaves."""
    stops: list[Disposable] = []
    shared = s.publish().auto_connect(on_connect=stops.append)
    return shared.do_finally(lambda: [stop.dispose() for stop in stops])


def _batches(k: Kit) -> Flow:
    """Batches of two, up to six."""

    def call(state: int, _wanted: int, emitter: BatchEmitter[int, int]) -> None:
        emitter.on_batch([state, state + 1], state + 2) if state < 4 else emitter.on_complete([state, state + 1])

    return Flowable.generate_async(lambda: 0, k.f(call))


def _listened(k: Kit) -> Flow:
    def add(handler: Callable[[int], None]) -> None:
        for item in (1, 2, 3):
            handler(item)

    return Flowable.from_listener(k.f(add), lambda _handler: None)


def _looked_at(k: Kit) -> Flow:
    values = iter((1, 2, 3))

    def add(handler: Callable[[], None]) -> None:
        handler()
        handler()

    return Flowable.from_value(k.f(lambda: next(values, 9)), add, lambda _handler: None, BackpressureStrategy.BUFFER)


def _until_fourth(s: Flow, k: Kit) -> Flow:
    """Stops after four rounds; counted anew for each subscription."""

    def make() -> Flow:
        rounds = iter((False, False, False, True))
        return s.repeat_until(k.f(lambda: next(rounds)))

    return Flowable.defer(make)


@stage
def _every(source: Iterable[Any], n: int) -> Iterator[Any]:
    at = 0
    for item in source:
        at += 1
        if at == n:
            at = 0
            yield item


@stage
def _tagged(source: Iterable[Any], function: Callable[[Any], Any]) -> Iterator[Any]:
    for item in source:
        yield function(item)


@operator
def _added(run: Run, source: Source[Any], function: Callable[[Any], Any], end: Any) -> Items[Any]:
    for item in source:
        if item is None:
            yield None
            continue
        value = user_call("through", function, item)
        if value is None:
            raise none_produced("through", function)
        yield value
    run.poke()
    yield end


class _Pass:
    """A hand-written operator that changes nothing."""

    def __init__(self, down: Subscriber[Any]) -> None:
        self.on_subscribe, self.on_next = down.on_subscribe, down.on_next
        self.on_error, self.on_complete = down.on_error, down.on_complete


def _two(x: Any) -> list[Any]:
    return [x, x]


def _up(x: int) -> Flow:
    return Flowable.range(x)


def _single_row(x: Any) -> tuple[Any, int]:
    return x, 1


def _fallback(_error: Exception) -> Flow:
    return Flowable.of(8, 9)


def _odd_error(error: Exception) -> bool:
    return error is OOPS


def _both(x: Any) -> Flow:
    return Flowable.of(x, -x)


def _halves(x: int) -> Flow:
    return Flowable.of(x // 2, 1) if x > 3 else Flowable.empty()


def _expanded(xs: list[Any], function: Callable[[Any], Iterable[Any]]) -> list[Any]:
    """Breadth first: what an item expands to comes after all that was there before."""
    out = list(xs)
    for x in out:
        out += function(x)
    return out


def _twice(x: Any) -> Foreign:
    return Foreign([x, x])


def _single(x: Any) -> Single[Any]:
    return Single.just(x)


def _done(_x: Any) -> Completable:
    return Completable.complete()


def _single_of(x: Any) -> Flow:
    return Flowable.just(x)


def _soon(k: Kit) -> Callable[[Any], Flow]:
    return lambda _x: Flowable.timer(1.0, scheduler=k.clock)


def _ends(xs: list[Any]) -> list[Any]:
    return [*xs[:1], *xs[-1:]] if len(xs) > 1 else xs


def _cut_at_3(xs: list[Any]) -> list[Any]:
    """Full lists of three, and what is left, be it nothing."""
    return [xs[at : at + 3] for at in range(0, len(xs) // 3 * 3 + 1, 3)]


def _runs(xs: list[Any], rest: int = 1) -> list[Any]:
    """Lists that end with a big item, and one of what is left."""
    made: list[Any] = []
    batch: list[Any] = []
    for x in xs:
        batch.append(x)
        if _big(x):
            made.append(batch)
            batch = []
    return [*made, batch] if batch and rest else made


def _odd_runs(xs: list[Any]) -> list[Any]:
    return [list(run) for odd, run in groupby(xs, _odd) if odd]


def _runs_before(xs: list[Any]) -> list[Any]:
    """Lists that begin with a big item, and one of what is before the first."""
    made: list[Any] = []
    for x in xs:
        if _big(x) or not made:
            made.append([])
        made[-1].append(x)
    return made


def _lists(windows: Flow) -> Flow:
    return windows.flat_map(lambda window: window.to_list())


L = list
LATE = "none unordered apart"  # opens sources of its own

# fmt: off
# ruff: noqa: E501  # one line per operator, whatever its length
TRANSFORM: Final = (
    Case("map", lambda s, k: s.map(k.f(_times(10))), lambda xs: [x * 10 for x in xs], flags="none"),
    Case("starmap", lambda s, k: s.map(lambda x: (x, 1)).starmap(k.f(_plus)), lambda xs: [x + 1 for x in xs], flags="none"),
    Case("flat_map_iterable", lambda s, k: s.flat_map_iterable(k.f(_copies)), lambda xs: _each(xs, _copies)),
    Case("scan", lambda s, k: s.scan(k.f(_plus)), lambda xs: L(accumulate(xs)), flags="none"),
    Case("scan seed", lambda s, k: s.scan(k.f(_plus), 10), lambda xs: L(accumulate(xs, initial=10)), flags="none"),
    Case("buffer", lambda s, k: s.buffer(3), lambda xs: _chunks(xs, 3, 3), lambda xs: _whole(xs, 3, 3)),
    Case("buffer gaps", lambda s, k: s.buffer(2, 3), lambda xs: _chunks(xs, 2, 3), lambda xs: _whole(xs, 2, 3)),
    Case("buffer time", lambda s, k: s.buffer(seconds=1.0, scheduler=k.clock), lambda xs: [xs], _nothing, "hot apart"),
    Case("buffer time count", lambda s, k: s.buffer(seconds=1.0, count=3, scheduler=k.clock), _cut_at_3, lambda xs: _cut_at_3(xs)[:-1], "hot apart"),
    Case("buffer every", lambda s, k: s.buffer(seconds=1.0, every=2.0, scheduler=k.clock), lambda xs: [xs], _nothing, "hot apart"),
    Case("buffer restart", lambda s, k: s.buffer(seconds=1.0, count=3, restart=True, scheduler=k.clock), _cut_at_3, lambda xs: _cut_at_3(xs)[:-1], "hot apart"),
    Case("buffer closing", lambda s, k: s.buffer(closing=k.f(lambda: Flowable.never())), lambda xs: [xs], _nothing, "hot apart none"),
    Case("buffer opening", lambda s, k: s.buffer(opening=Flowable.just(1), closing=k.f(lambda _x: Flowable.never())), lambda xs: [xs], _nothing, "hot apart none"),
    Case("buffer boundary", lambda s, k: s.buffer(boundary=Flowable.never()), lambda xs: [xs], _nothing, "hot apart"),
    Case("window", lambda s, k: _lists(s.window(3)), lambda xs: _chunks(xs, 3, 3), lambda xs: _whole(xs, 3, 3), "unordered apart"),
    Case("window gaps", lambda s, k: _lists(s.window(2, 3)), lambda xs: _chunks(xs, 2, 3), lambda xs: _whole(xs, 2, 3), "unordered apart"),
    Case("window overlap", lambda s, k: _lists(s.window(3, 2)), lambda xs: _chunks(xs, 3, 2), lambda xs: _whole(xs, 3, 2), "unordered apart"),
    Case("window items", lambda s, k: s.window(3).concat_map(lambda w: w), _same, None, "apart"),
    Case("window time", lambda s, k: _lists(s.window(seconds=1.0, scheduler=k.clock)), lambda xs: [xs], _nothing, "apart"),
    Case("window time count", lambda s, k: _lists(s.window(seconds=1.0, count=3, scheduler=k.clock)), _cut_at_3, lambda xs: _cut_at_3(xs)[:-1], "unordered apart"),
    Case("window every", lambda s, k: _lists(s.window(seconds=1.0, every=2.0, scheduler=k.clock)), lambda xs: [xs], _nothing, "apart"),
    Case("window restart", lambda s, k: _lists(s.window(seconds=1.0, count=3, restart=True, scheduler=k.clock)), _cut_at_3, lambda xs: _cut_at_3(xs)[:-1], "unordered apart"),
    Case("window closing", lambda s, k: _lists(s.window(closing=k.f(lambda: Flowable.never()))), lambda xs: [xs], _nothing, "apart none"),
    Case("window opening", lambda s, k: _lists(s.window(opening=Flowable.just(1), closing=k.f(lambda _x: Flowable.never()))), lambda xs: [xs], _nothing, "apart none"),
    Case("window boundary", lambda s, k: _lists(s.window(boundary=Flowable.never())), lambda xs: [xs], _nothing, "apart"),
    Case("buffer overlap", lambda s, k: s.buffer(3, 2), lambda xs: _chunks(xs, 3, 2), lambda xs: _whole(xs, 3, 2)),
    Case("buffer_until", lambda s, k: s.buffer_until(k.f(_big)), _runs, lambda xs: _runs(xs, 0)),
    Case("buffer_until before", lambda s, k: s.buffer_until(k.f(_big), cut_before=True), _runs_before, lambda xs: _runs_before(xs)[:-1]),
    Case("buffer_while", lambda s, k: s.buffer_while(k.f(_odd)), _odd_runs, lambda xs: _odd_runs(xs)[: -1 if xs and _odd(xs[-1]) else None]),
    Case("buffer_until_changed", lambda s, k: s.buffer_until_changed(k.f(_odd)), lambda xs: [L(run) for _, run in groupby(xs, _odd)], lambda xs: [L(run) for _, run in groupby(xs, _odd)][:-1]),
    Case("buffer_until_changed itself", lambda s, k: s.buffer_until_changed(), lambda xs: [L(run) for _, run in groupby(xs)], lambda xs: [L(run) for _, run in groupby(xs)][:-1], items=(1, 1, 2, 2, 2, 1, 3, 3)),
    Case("flat_map", lambda s, k: s.flat_map(k.f(_both)), lambda xs: _each(xs, lambda x: (x, -x)), None, LATE),
    Case("flat_map narrow", lambda s, k: s.flat_map(k.f(_up), max_concurrency=1), lambda xs: _each(xs, range), None, "none apart"),
    Case("flat_map single", lambda s, k: s.flat_map(k.f(_single)), _same, None, LATE),
    Case("flat_map foreign", lambda s, k: s.flat_map(k.f(_twice)), lambda xs: _each(xs, _two), None, LATE),
    Case("flat_map late", lambda s, k: s.flat_map(k.f(_twice), delay_error=True), lambda xs: _each(xs, _two), None, LATE),
    Case("concat_map", lambda s, k: s.concat_map(k.f(_up)), lambda xs: _each(xs, range), None, "none apart"),
    Case("concat_map foreign", lambda s, k: s.concat_map(k.f(_twice)), lambda xs: _each(xs, _two), None, "none apart"),
    Case("expand", lambda s, k: s.expand(k.f(_halves)), lambda xs: _expanded(xs, _halves), _same, "none apart"),
    Case("expand foreign", lambda s, k: s.expand(k.f(lambda x: Foreign([x // 2, 1] if x > 3 else []))), lambda xs: _expanded(xs, lambda x: [x // 2, 1] if x > 3 else []), _same, "none apart"),
    Case("concat_map late", lambda s, k: s.concat_map(k.f(_up), delay_error=True), lambda xs: _each(xs, range), None, "none apart"),
    Case("concat_map late foreign", lambda s, k: s.concat_map(k.f(_twice), delay_error=True, till_the_end=False), lambda xs: _each(xs, _two), None, "none apart"),
    Case("flat_map_completable", lambda s, k: s.flat_map_completable(k.f(_done)).to_flowable(), _nothing, flags="none fold"),
    Case("concat_map_completable", lambda s, k: s.concat_map_completable(k.f(_done)).to_flowable(), _nothing, flags="none fold"),
    Case("switch_map_completable", lambda s, k: s.switch_map_completable(k.f(_done)).to_flowable(), _nothing, flags="none fold"),
    Case("switch_map single", lambda s, k: s.switch_map(k.f(_single)), _same, None, "none apart lossy"),
    Case("switch_map", lambda s, k: s.switch_map(k.f(_both)), lambda xs: _each(xs, lambda x: (x, -x)), None, "none apart lossy"),
    Case("switch_map foreign", lambda s, k: s.switch_map(k.f(_twice), delay_error=True), lambda xs: _each(xs, _two), None, "none apart lossy"),
    Case("materialize", lambda s, k: s.materialize(), lambda xs: [*map(OnNext, xs), OnComplete()], flags="recovers"),
    Case("dematerialize", lambda s, k: s.materialize().dematerialize(), _same),
    Case("dematerialize selector", lambda s, k: s.dematerialize(k.f(OnNext)), _same),
    Case("group_by", lambda s, k: s.group_by(k.f(_odd)).flat_map(_keyed), lambda xs: [(_odd(x), x) for x in xs], None, "unordered apart"),
    Case("group_by value", lambda s, k: s.group_by(_odd, k.f(_times(10))).flat_map(_keyed), lambda xs: [(_odd(x), x * 10) for x in xs], None, LATE),
    Case("group_by lists", lambda s, k: s.group_by(k.f(_odd)).flat_map(_listed), _groups, _nothing, "unordered apart"),
    Case("group_reduce", lambda s, k: s.group_reduce(k.f(_odd), k.f(_times(10)), k.f(_plus)), _group_sums, _nothing, "fold"),
    Case("scan_with", lambda s, k: s.scan_with(k.f(lambda: 10), _plus), lambda xs: L(accumulate(xs, initial=10)), flags="none"),
    Case("scan_with function", lambda s, k: s.scan_with(lambda: 10, k.f(_plus)), lambda xs: L(accumulate(xs, initial=10)), flags="none"),
    Case("enumerate", lambda s, k: s.enumerate(1), lambda xs: L(enumerate(xs, 1))),
    Case("map_indexed", lambda s, k: s.map_indexed(k.f(_plus)), lambda xs: [x + at for at, x in enumerate(xs)], flags="none"),
    Case("pairwise", lambda s, k: s.pairwise(), lambda xs: L(pairwise(xs))),
    Case("map_optional", lambda s, k: s.map_optional(k.f(_odd_only)), lambda xs: [x for x in xs if _odd(x)]),
    Case("handle", lambda s, k: s.handle(k.f(_handled)), lambda xs: [x * 2 for x in takewhile(_small, xs) if _odd(x)], flags="early"),
    Case("sorted", lambda s, k: s.sorted(), sorted, _nothing, "fold", items=(3, 1, 2, 3, 9, 1)),
    Case("sorted key", lambda s, k: s.sorted(k.f(_odd), reverse=True), lambda xs: sorted(xs, key=_odd, reverse=True), _nothing, "fold"),
    Case("cast", lambda s, k: s.cast(int), _same),
    Case("do_on_subscribe", lambda s, k: s.do_on_subscribe(lambda _subscription: None), _same),
    Case("do_on_request", lambda s, k: s.do_on_request(lambda _n: None), _same),
    Case("do_on_cancel", lambda s, k: s.do_on_cancel(lambda: None), _same),
    Case("do_after_next", lambda s, k: s.do_after_next(lambda _item: None), _same),
    Case("hide", lambda s, k: s.hide(), _same),
    Case("lift", lambda s, k: s.lift(_Pass), _same),
    Case("stage", lambda s, k: s.stage(_every, 2), lambda xs: xs[1::2]),
    Case("stage function", lambda s, k: s.stage(_tagged, k.f(_times(2))), lambda xs: [x * 2 for x in xs], flags="none"),
    Case("through", lambda s, k: s.through(_added, k.f(_times(2)), end=0), lambda xs: [*(x * 2 for x in xs), 0], lambda xs: [x * 2 for x in xs], "none"),
    Case("compose", lambda s, k: s.compose(lambda flow: flow.map(k.f(_times(2)))), lambda xs: [x * 2 for x in xs]),
    Case("pipe", lambda s, k: s.pipe(lambda flow, n: flow.map(k.f(_times(n))), 2), lambda xs: [x * 2 for x in xs]),
)

FILTER: Final = (
    Case("filter", lambda s, k: s.filter(k.f(_odd)), lambda xs: [x for x in xs if _odd(x)]),
    Case("filter_indexed", lambda s, k: s.filter_indexed(k.f(_even_place)), lambda xs: xs[::2]),
    Case("slice", lambda s, k: s.slice(1, 6, 2), lambda xs: xs[1:6:2], flags="early"),
    Case("slice without end", lambda s, k: s.slice(2, None, 3), lambda xs: xs[2::3]),
    Case("slice but last", lambda s, k: s.slice(1, -2, 2), lambda xs: xs[1:-2:2]),
    Case("slice last", lambda s, k: s.slice(-4, None, 2), lambda xs: xs[-4::2], _nothing, "fold"),
    Case("slice last before", lambda s, k: s.slice(-100, 3), lambda xs: xs[-100:3], _nothing, "fold"),
    Case("of_type", lambda s, k: s.map(lambda x: x if _odd(x) else str(x)).of_type(int), lambda xs: [x for x in xs if _odd(x)]),
    Case("take", lambda s, k: s.take(3), lambda xs: xs[:3], flags="early"),
    Case("take 0", lambda s, k: s.take(0), _nothing, flags="early"),
    Case("take more", lambda s, k: s.take(100), _same),
    Case("skip", lambda s, k: s.skip(3), lambda xs: xs[3:]),
    Case("skip more", lambda s, k: s.skip(100), _nothing),
    Case("take seconds", lambda s, k: s.take(seconds=1e6, scheduler=k.clock), _same),
    Case("skip seconds", lambda s, k: s.delay_subscription(2.0, scheduler=k.clock).skip(seconds=1.0, scheduler=k.clock), _same),
    Case("take_last", lambda s, k: s.take_last(3), lambda xs: xs[-3:], _nothing, "fold"),
    Case("take_last 0", lambda s, k: s.take_last(0), _nothing, flags="fold"),
    Case("take_last seconds", lambda s, k: s.take_last(seconds=1e6, scheduler=k.clock), _same, _nothing, "fold apart"),
    Case("take_last seconds late", lambda s, k: s.take_last(seconds=1e6, count=2, scheduler=k.clock, delay_error=True), lambda xs: xs[-2:], None, "fold apart"),
    Case("skip_last", lambda s, k: s.skip_last(3), lambda xs: xs[:-3]),
    Case("skip_last seconds", lambda s, k: s.skip_last(seconds=1e6, scheduler=k.clock), _nothing, flags="apart"),
    Case("take_while", lambda s, k: s.take_while(k.f(_small)), lambda xs: L(takewhile(_small, xs)), flags="early"),
    Case("skip_while", lambda s, k: s.skip_while(k.f(_small)), lambda xs: L(dropwhile(_small, xs))),
    Case("distinct", lambda s, k: s.distinct(), _unique),
    Case("distinct key", lambda s, k: s.distinct(k.f(_small)), lambda xs: _unique(xs, _small)),
    Case("distinct_until_changed", lambda s, k: s.distinct_until_changed(), _changes, items=(1, 1, 2, 2, 2, 1, 3, 3)),
    Case("distinct_until_changed key", lambda s, k: s.distinct_until_changed(k.f(_odd)), lambda xs: _changes(xs, _odd)),
    Case("element_at", lambda s, k: s.element_at(2).to_flowable(), lambda xs: xs[2:3], flags="early"),
    Case("element_at beyond", lambda s, k: s.element_at(100).to_flowable(), _nothing),
    Case("first", lambda s, k: s.first(0).to_flowable(), lambda xs: xs[:1] or [0], flags="early"),
    Case("first or error", lambda s, k: s.first().on_error_return(k.f(lambda e: 77)).to_flowable(), lambda xs: xs[:1] or [77], None, "early recovers"),
    Case("last", lambda s, k: s.last(0).to_flowable(), lambda xs: xs[-1:] or [0], _nothing, "fold"),
    Case("last or error", lambda s, k: s.default_if_empty(77).last().to_flowable(), lambda xs: xs[-1:] or [77], _nothing, "fold"),
    Case("last_element", lambda s, k: s.last_element().to_flowable(), lambda xs: xs[-1:], _nothing, "fold"),
    Case("single", lambda s, k: s.filter(_is(9)).single(0).to_flowable(), lambda xs: [x for x in xs if x == 9] or [0], _nothing, "fold"),
    Case("single or error", lambda s, k: s.filter(_is(9)).default_if_empty(77).single().to_flowable(), lambda xs: [9] if 9 in xs else [77], _nothing, "fold"),
    Case("single_element", lambda s, k: s.filter(_is(9)).single_element().to_flowable(), lambda xs: [x for x in xs if x == 9], _nothing, "fold"),
    Case("first_element", lambda s, k: s.first_element().to_flowable(), lambda xs: xs[:1], flags="early"),
)

CONDITIONAL: Final = (
    Case("any", lambda s, k: s.any().to_flowable(), lambda xs: [any(xs)], lambda xs: [True] if any(xs) else [], "early"),
    Case("any predicate", lambda s, k: s.any(k.f(_big)).to_flowable(), lambda xs: [any(map(_big, xs))], lambda xs: [True] if any(map(_big, xs)) else [], "early"),
    Case("all", lambda s, k: s.all().to_flowable(), lambda xs: [all(xs)], lambda xs: [] if all(xs) else [False], "fold"),
    Case("all predicate", lambda s, k: s.all(k.f(_small)).to_flowable(), lambda xs: [all(map(_small, xs))], lambda xs: [] if all(map(_small, xs)) else [False], "early"),
    Case("contains", lambda s, k: s.contains(5).to_flowable(), lambda xs: [5 in xs], lambda xs: [True] if 5 in xs else [], "early"),
    Case("contains comparer", lambda s, k: s.contains(-5, k.f(_opposite)).to_flowable(), lambda xs: [5 in xs], lambda xs: [True] if 5 in xs else [], "early"),
    Case("is_empty", lambda s, k: s.is_empty().to_flowable(), lambda xs: [not xs], lambda xs: [False] if xs else [], "early"),
    Case("find_index", lambda s, k: s.find_index(k.f(_is(5))).to_flowable(), lambda xs: [xs.index(5) if 5 in xs else -1], lambda xs: [xs.index(5)] if 5 in xs else [], "early"),
    Case("sequence_equal", lambda s, k: Flowable.sequence_equal(s, Flowable.of(*ITEMS), comparer=k.f(_equal)).to_flowable(), lambda xs: [xs == L(ITEMS)], _nothing, "fold apart"),
    Case("sequence_equal several", lambda s, k: Flowable.sequence_equal(Foreign(ITEMS), s, Flowable.of(*ITEMS)).to_flowable(), lambda xs: [xs == L(ITEMS)], _nothing, "fold apart"),
)

AGGREGATE: Final = (
    Case("reduce", lambda s, k: s.reduce(k.f(_plus)).to_flowable(), lambda xs: [sum(xs)] if xs else [], _nothing, "none fold"),
    Case("reduce seed", lambda s, k: s.reduce(k.f(_plus), 5).to_flowable(), lambda xs: [5 + sum(xs)], _nothing, "fold"),
    Case("reduce_with", lambda s, k: s.reduce_with(k.f(int), k.f(_plus)).to_flowable(), lambda xs: [sum(xs)], _nothing, "none fold"),
    Case("collect", lambda s, k: s.collect(k.f(L), L.append).to_flowable(), lambda xs: [xs], _nothing, "none fold"),
    Case("collect into", lambda s, k: s.collect(k.f(sorted)).to_flowable(), lambda xs: [sorted(xs)], _nothing, "none fold at_end"),
    Case("to_list", lambda s, k: s.to_list().to_flowable(), lambda xs: [xs], _nothing, "fold"),
    Case("to_dict", lambda s, k: s.to_dict(k.f(_odd), k.f(_times(2))).to_flowable(), lambda xs: [{_odd(x): x * 2 for x in xs}], _nothing, "fold"),
    Case("to_dict pairs", lambda s, k: s.map(_single_row).to_dict().to_flowable(), lambda xs: [dict.fromkeys(xs, 1)], _nothing, "fold"),
    Case("to_multimap", lambda s, k: s.to_multimap(k.f(_odd), k.f(_times(2))).to_flowable(), lambda xs: [_lists_by(xs, _odd)], _nothing, "fold"),
    Case("average", lambda s, k: s.default_if_empty(7).average().to_flowable(), lambda xs: [sum(xs or [7]) / len(xs or [7])], _nothing, "fold"),
    Case("average key", lambda s, k: s.default_if_empty(7).average(k.f(_times(2))).to_flowable(), lambda xs: [2 * sum(xs or [7]) / len(xs or [7])], _nothing, "fold"),
    Case("count", lambda s, k: s.count().to_flowable(), lambda xs: [len(xs)], _nothing, "fold"),
    Case("sum", lambda s, k: s.sum().to_flowable(), lambda xs: [sum(xs)], _nothing, "fold"),
    Case("min", lambda s, k: s.min().to_flowable(), lambda xs: sorted(xs)[:1], _nothing, "fold"),
    Case("max", lambda s, k: s.max().to_flowable(), lambda xs: sorted(xs)[-1:], _nothing, "fold"),
    Case("min key", lambda s, k: s.min(k.f(_times(-1))).to_flowable(), lambda xs: sorted(xs)[-1:], _nothing, "fold"),
    Case("max key", lambda s, k: s.max(k.f(_times(-1))).to_flowable(), lambda xs: sorted(xs)[:1], _nothing, "fold"),
    Case("min_by", lambda s, k: s.min_by(k.f(_odd)).to_flowable(), lambda xs: [[x for x in xs if _odd(x) == min(map(_odd, xs))]], _nothing, "fold"),
    Case("max_by", lambda s, k: s.max_by(k.f(_odd)).to_flowable(), lambda xs: [[x for x in xs if _odd(x) == max(map(_odd, xs))]], _nothing, "fold"),
    Case("ignore_elements", lambda s, k: s.ignore_elements().to_flowable(), _nothing, flags="fold"),
)

COMBINE: Final = (
    Case("concat", lambda s, k: Flowable.concat(Flowable.of(7, 8), s, s), lambda xs: [7, 8, *xs, *xs], lambda xs: [7, 8, *xs]),
    Case("concat_with", lambda s, k: s.concat_with(Flowable.of(7, 8)), lambda xs: [*xs, 7, 8], _same),
    Case("start_with", lambda s, k: s.start_with(7, 8), lambda xs: [7, 8, *xs]),
    Case("merge", lambda s, k: Flowable.merge(s, Flowable.of(7, 8)), lambda xs: [*xs, 7, 8], None, "unordered apart"),
    Case("merge late", lambda s, k: Flowable.merge(s, Foreign([7, 8]), delay_error=True), lambda xs: [*xs, 7, 8], None, "unordered apart"),
    Case("merge_with", lambda s, k: s.merge_with(Flowable.of(7, 8)), lambda xs: [*xs, 7, 8], None, "unordered apart"),
    Case("combine_latest", lambda s, k: Flowable.combine_latest(Flowable.just(7), s, combiner=k.f(_plus)), lambda xs: [7 + x for x in xs], None, "none apart"),
    Case("combine_latest late", lambda s, k: Flowable.combine_latest(Foreign([7]), s, delay_error=True), lambda xs: [(7, x) for x in xs], None, "apart"),
    Case("with_latest_from", lambda s, k: s.with_latest_from(Flowable.of(5, 7), combiner=k.f(_plus)), lambda xs: [x + 7 for x in xs], flags="none"),
    Case("with_latest_from several", lambda s, k: s.with_latest_from(Flowable.just(7), Foreign([5, 8])), lambda xs: [(x, 7, 8) for x in xs]),
    Case("amb", lambda s, k: Flowable.amb(Flowable.never(), s), _same),
    Case("amb empty", lambda s, k: Flowable.amb(), _nothing, flags="source"),
    Case("amb_with", lambda s, k: s.amb_with(Flowable.never()), _same),
    Case("take_until", lambda s, k: s.take_until(Flowable.never()), _same),
    Case("take_until predicate", lambda s, k: s.take_until(predicate=k.f(_big)), lambda xs: [*takewhile(_small, xs), *L(dropwhile(_small, xs))[:1]], flags="early"),
    Case("skip_until", lambda s, k: s.skip_until(Flowable.just(1)), _same),
    Case("skip_until never", lambda s, k: s.skip_until(Flowable.never()), _nothing),
    Case("switch_if_empty", lambda s, k: s.filter(_small).switch_if_empty(Flowable.of(7, 8)), lambda xs: [x for x in xs if _small(x)] or [7, 8], lambda xs: [x for x in xs if _small(x)]),
    Case("switch_if_empty other", lambda s, k: Flowable.empty().switch_if_empty(s), _same),
    Case("default_if_empty", lambda s, k: s.default_if_empty(7), lambda xs: xs or [7], _same),
    Case("zip", lambda s, k: Flowable.zip(s, Flowable.range(100), combiner=k.f(_plus)), lambda xs: [a + b for b, a in enumerate(xs)], None, "none apart"),
    Case("zip short", lambda s, k: Flowable.zip(s, Flowable.of(7, 8)), lambda xs: _pairs(xs, (7, 8)), None, "early apart"),
    Case("zip_with", lambda s, k: s.zip_with(Foreign([7, 8]), k.f(_plus)), lambda xs: [a + b for a, b in _pairs(xs, (7, 8))], None, "early none apart"),
)

ERRORS: Final = (
    Case("on_error_return", lambda s, k: _failing(s).on_error_return(k.f(lambda e: 99)), lambda xs: [*xs, 99], None, "recovers none at_end"),
    Case("on_error_resume_next", lambda s, k: _failing(s).on_error_resume_next(k.f(_fallback)), lambda xs: [*xs, 8, 9], None, "recovers none at_end"),
    Case("retry", lambda s, k: _flaky(s, k, 2), lambda xs: xs * 3, None, "recovers"),
    Case("do_on_error", lambda s, k: _failing(s).do_on_error(k.f(_odd_error)).on_error_return(lambda e: 99), lambda xs: [*xs, 99], None, "recovers"),
)

REPEAT: Final = (
    Case("repeat", lambda s, k: s.repeat(2), lambda xs: xs * 2, _same),
    Case("repeat_until", lambda s, k: _until_fourth(s, k), lambda xs: xs * 4, _same, "at_end recovers"),
    Case("repeat_when", lambda s, k: s.repeat_when(k.f(lambda ends: ends.take(2))), lambda xs: xs * 2, _same, "none"),
    Case("retry_when", lambda s, k: _failing(s).retry_when(k.f(lambda errors: errors.take(2))), lambda xs: xs * 2, None, "none recovers"),
    Case("retry_until", lambda s, k: _failing(s).retry_until(k.f(lambda: True)).on_error_return(lambda e: 9), lambda xs: [*xs, 9], None, "recovers at_end"),
    Case("retry_backoff", lambda s, k: s.retry_backoff(2, 1.0, scheduler=k.clock), _same, lambda xs: xs * 3),
)

ASIDE: Final = (
    Case("do_on_next", lambda s, k: s.do_on_next(k.f(_times(2))), _same),
    Case("do_on_complete", lambda s, k: s.do_on_complete(k.f(L)), _same, None, "at_end"),
    Case("do_finally", lambda s, k: s.do_finally(k.f(L)), _same, None, "quiet"),
)

THREADS: Final = (
    Case("subscribe_on", lambda s, k: s.subscribe_on(k.clock), _same),
    Case("observe_on", lambda s, k: s.observe_on(k.clock, delay_error=True), _same, flags="apart"),
    Case("observe_on narrow", lambda s, k: s.observe_on(k.clock, prefetch=1, delay_error=True), _same, flags="apart"),
    Case("delay", lambda s, k: s.delay(1.0, scheduler=k.clock, delay_error=True), _same, flags="apart"),
    Case("delay 0", lambda s, k: s.delay(0, scheduler=k.clock, delay_error=True), _same, flags="apart"),
    Case("delay selector", lambda s, k: s.delay(selector=k.f(_soon(k))), _same, flags="none unordered apart"),
    Case("delay subscription", lambda s, k: s.delay(selector=k.f(_single_of), subscription=Flowable.empty()), _same, flags="none unordered apart"),
    Case("timeout selector", lambda s, k: s.timeout(selector=k.f(lambda _x: Flowable.never()), first=Flowable.never()), _same, flags="none"),
    Case("timeout selector fallback", lambda s, k: Flowable.never().timeout(selector=_single_of, first=Flowable.empty(), fallback=s), _same),
    Case("timeout", lambda s, k: s.timeout(1e6, scheduler=k.clock), _same),
    Case("timeout fallback", lambda s, k: Flowable.never().timeout(1.0, fallback=s, scheduler=k.clock), _same),
    Case("interval", lambda s, k: Flowable.interval(1.0, scheduler=k.clock).take(4), lambda xs: [0, 1, 2, 3], None, "source hot"),
    Case("timer", lambda s, k: Flowable.timer(1.0, scheduler=k.clock), lambda xs: [0], None, "source hot"),
)

CONNECT: Final = (
    Case("publish", lambda s, k: s.publish(k.f(lambda shared: shared.map(_times(2)))), lambda xs: [x * 2 for x in xs], None, "none apart"),
    Case("publish twice", lambda s, k: s.publish(lambda shared: Flowable.zip(shared, shared)), lambda xs: _pairs(xs, xs), None, "apart"),
    Case("publish ref_count", lambda s, k: s.publish(prefetch=2).ref_count(), _same, flags="apart"),
    Case("publish auto_connect", lambda s, k: Flowable.defer(lambda: _auto(s)), _same, flags="apart"),
    Case("share", lambda s, k: s.share(), _same, flags="apart"),
    Case("replay", lambda s, k: s.replay(selector=k.f(lambda shared: shared.map(_times(2)))), lambda xs: [x * 2 for x in xs], None, "none apart"),
    Case("replay ref_count", lambda s, k: s.replay(2, 100.0, scheduler=k.clock).ref_count(), _same, flags="apart"),
    Case("cache", lambda s, k: Flowable.defer(lambda: s.cache()), _same, flags="apart"),
)

TIME: Final = (
    Case("debounce", lambda s, k: s.debounce(1.0, scheduler=k.clock), lambda xs: xs[-1:], _nothing, "hot apart"),
    Case("debounce drop", lambda s, k: s.debounce(1.0, scheduler=k.clock, on_drop=k.f(str)), lambda xs: xs[-1:], _nothing, "hot apart"),
    Case("debounce selector", lambda s, k: s.debounce(selector=k.f(_soon(k))), lambda xs: xs[-1:], _nothing, "hot apart none"),
    Case("debounce selector at once", lambda s, k: s.debounce(selector=k.f(_single_of)), _same, flags="hot apart none"),
    Case("sample", lambda s, k: s.sample(1.0, scheduler=k.clock, emit_last=True), lambda xs: xs[-1:], _nothing, "hot apart"),
    Case("sample sampler", lambda s, k: s.sample(sampler=Flowable.never(), emit_last=True), lambda xs: xs[-1:], _nothing, "hot apart"),
    Case("throttle_first", lambda s, k: s.throttle_first(1.0, scheduler=k.clock), lambda xs: xs[:1], None, "hot apart"),
    Case("throttle_first 0", lambda s, k: s.throttle_first(0, scheduler=k.clock), _same, flags="hot apart"),
    Case("throttle_latest", lambda s, k: s.throttle_latest(1.0, scheduler=k.clock), lambda xs: xs[:1], None, "hot apart"),
    Case("throttle_latest last", lambda s, k: s.throttle_latest(1.0, emit_last=True, scheduler=k.clock), _ends, lambda xs: xs[:1], "hot apart"),
    Case("delay_subscription", lambda s, k: s.delay_subscription(1.0, scheduler=k.clock), _same),
    Case("delay_subscription until", lambda s, k: s.delay_subscription(until=Foreign([1])), _same),
    Case("timestamp", lambda s, k: s.timestamp(scheduler=k.clock).map(lambda each: each.value), _same),
    Case("time_interval", lambda s, k: s.time_interval(scheduler=k.clock).map(lambda each: each.value), _same),
)

BACKPRESSURE: Final = (
    Case("to_observable", lambda s, k: s.to_observable().to_flowable(BackpressureStrategy.BUFFER), _same, flags="apart"),
    Case("on_backpressure_buffer", lambda s, k: s.on_backpressure_buffer(), _same, flags="apart"),
    Case("on_backpressure_buffer bounded", lambda s, k: s.on_backpressure_buffer(100), _same, flags="apart"),
    Case("on_backpressure_drop", lambda s, k: s.on_backpressure_drop(), _same, flags="apart lossy"),
    Case("on_backpressure_latest", lambda s, k: s.on_backpressure_latest(), _same, flags="apart lossy"),
)

SOURCES: Final = (
    Case("just", lambda s, k: Flowable.just(5), lambda xs: [5], flags="source"),
    Case("of", lambda s, k: Flowable.of(1, 2), lambda xs: [1, 2], flags="source"),
    Case("range", lambda s, k: Flowable.range(2, 9, 3), lambda xs: L(range(2, 9, 3)), flags="source"),
    Case("from_iterable", lambda s, k: Flowable.from_iterable({1: 2, 3: 4}), lambda xs: [1, 3], flags="source"),
    Case("from_callable", lambda s, k: Flowable.from_callable(k.f(lambda: 7)), lambda xs: [7], None, "source none"),
    Case("using", lambda s, k: Flowable.using(k.f(L), k.f(lambda _r: s), L.clear), _same),
    Case("using late", lambda s, k: Flowable.using(k.f(L), k.f(lambda _r: s), L.clear, eager=False), _same),
    Case("generate", lambda s, k: _generated(k), lambda xs: [1, 2, 3], flags="source"),
    Case("defer", lambda s, k: Flowable.defer(k.f(lambda: s)), _same, flags="none"),
    Case("create", lambda s, k: _created(k), lambda xs: [1, 2, 3], flags="source"),
    Case("generate_async", lambda s, k: _batches(k), lambda xs: [0, 1, 2, 3, 4, 5], flags="source"),
    Case("from_listener", lambda s, k: _listened(k).take(3), lambda xs: [1, 2, 3], flags="source"),
    Case("from_value", lambda s, k: Flowable.defer(lambda: _looked_at(k).take(3)), lambda xs: [1, 2, 3], None, "source none"),
    Case("wrap", lambda s, k: Flowable.wrap(Foreign([1, 2, 3])), lambda xs: [1, 2, 3], flags="source"),
    Case("empty", lambda s, k: Flowable.empty(), _nothing, flags="source"),
    Case("error", lambda s, k: Flowable.error(k.f(lambda: OOPS)).on_error_return(lambda e: 1), lambda xs: [1], None, "source recovers"),
    Case("never", lambda s, k: Flowable.never().merge_with(s).take(3), lambda xs: xs[:3], None, "early apart endless"),
)
# fmt: on

TABLE: Final = (
    *TRANSFORM,
    *FILTER,
    *CONDITIONAL,
    *AGGREGATE,
    *COMBINE,
    *ERRORS,
    *REPEAT,
    *ASIDE,
    *THREADS,
    *TIME,
    *CONNECT,
    *BACKPRESSURE,
    *SOURCES,
)

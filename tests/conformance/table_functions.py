"""What the lines of the table are built with: functions that fail, inner sources, and obvious computations over lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from itertools import groupby
from typing import Any, Final

from rx_core import (
    Answer,
    Disposable,
    Items,
    ProcessPool,
    RemoteCalls,
    Run,
    Source,
    Subscriber,
    as_signal,
    none_produced,
    user_call,
)
from rx_fusion import operator, stage
from rx_ops import (
    BackpressureStrategy,
    BatchEmitter,
    Completable,
    Emitter,
    Flowable,
    GenerateEmitter,
    HandleEmitter,
    Single,
)
from tests.conformance.harness import Flow, Kit
from tests.conformance.sources import Foreign


class Oops(Exception):
    """The failure in lines about errors."""


OOPS: Final = Oops("oops")


def _all_of_it(_first: object, flow: Flow) -> Flow:
    return flow


def _no_order(_x: Any) -> int:
    return 0


def _without_end(_x: Any) -> Flow:
    return Flowable.never()


def _window_of(_x: Any, window: Flow) -> Flow:
    return window


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


def _group_rows(xs: list[Any]) -> list[Any]:
    return [(key, sum(each) * 10, len(each)) for key, each in _groups(xs)]


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


def _future_of(value: int) -> Future[int]:
    made: Future[int] = Future()
    made.set_result(value)
    return made


def _below_two(number: int) -> bool:
    return number < 2


def _once(errors: Flow) -> Flow:
    """An answer to the first error, and the end for the second one."""
    return errors.map(lambda _error: 1).scan(lambda one, other: one + other).take_while(_below_two)


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
    """It does not stop by itself when its subscriber leaves, which may be before it connects."""
    stops: list[Disposable] = []
    left: list[bool] = []

    def connecting(stop: Disposable) -> None:
        stops.append(stop)
        if left:
            stop.dispose()

    def leave() -> None:
        left.append(True)
        for stop in stops:
            stop.dispose()

    return s.publish().auto_connect(on_connect=connecting).do_finally(leave)


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


def _light(xs: list[Any], rest: int = 1) -> list[Any]:
    """Lists of 6 together at most, and one of what is left."""
    made: list[Any] = []
    batch: list[Any] = []
    for x in xs:
        if batch and sum(batch) + x > 6:
            made.append(batch)
            batch = []
        batch.append(x)
        if sum(batch) >= 6:
            made.append(batch)
            batch = []
    return [*made, batch] if batch and rest else made


def _deep(x: Any) -> list[Any]:
    """An item, and all that it expands to, depth first."""
    return [x, *_each([x // 2, 1], _deep)] if x > 3 else [x]


def _lists(windows: Flow) -> Flow:
    return windows.flat_map(lambda window: window.to_list())


L = list
LATE = "none unordered apart"  # opens sources of its own


def _over_one(x: int) -> int:
    """Fails for 1."""
    return 60 // (x - 1)


def _ignored(_error: Exception, _item: object) -> None:
    pass


class AtOnce(ProcessPool):
    """A pool that computes in this process, before ``send`` returns."""

    def connect(self, function: Callable[[list[Any]], Iterable[Any]], answered: Callable[[Answer], object], /) -> RemoteCalls:
        return _AtOnce(function, answered)

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        return True

    def __repr__(self) -> str:
        return "AtOnce()"


class _AtOnce(RemoteCalls):
    def __init__(self, function: Callable[[list[Any]], Iterable[Any]], answered: Callable[[Answer], object]) -> None:
        self._function = function
        self._answered = answered

    def send(self, items: list[Any], /) -> None:
        results: list[Any] = []
        error: Exception | None = None
        try:
            results.extend(self._function(items))
        except (Exception, GeneratorExit) as raised:
            error = as_signal(raised)
        self._answered(Answer(results, error, len(items), 0.0))

    def close(self) -> None:
        pass

"""The parts that the cliffs are looked for between: sources, what stands in the middle, and endings.

Each part says in plain Python what it makes of a list, so that a combination is known to be right before it is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from threading import Lock
from typing import Any, Final, NamedTuple

from bench._common import add_one, always
from bench._parallel import Foreign
from rx_core import Subscription
from rx_ops import BackpressureStrategy, Emitter, Flowable, GenerateEmitter, PublishProcessor, PublishSubject
from rx_schedulers import single

Items = list[Any]

#: How long an ending waits for a stream that may never end.
SECONDS: Final = 10.0


class Kind(Enum):
    """How a source hands over its items."""

    #: It is passive: its consumer iterates it.
    PULLED = "pulled"
    #: It calls ``on_next`` when it has something.
    PUSHING = "pushing"


class Made(NamedTuple):
    """A flow, and what pushes its items once it is subscribed; a cold flow needs no such thing."""

    flow: Flowable[int]
    feed: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Source:
    """A flow of the numbers below ``n``, in order."""

    name: str
    make: Callable[[int], Made]
    kind: Kind = Kind.PUSHING
    #: The program pushes once it has subscribed, so nothing can follow that waits for the end on the same thread.
    hot: bool = False
    #: It emits whether or not there is demand: what follows on another thread is overrun.
    regardless: bool = False


@dataclass(frozen=True, slots=True)
class Middle:
    """An operator, or several that belong together; what comes out are numbers again."""

    name: str
    apply: Callable[[Flowable[int]], Flowable[int]]
    plain: Callable[[Items], Items] = list
    #: What comes out pushes, whatever the source does: it is a coordinating operator.
    pushes: bool = False
    #: What comes out comes on another thread.
    threaded: bool = False


@dataclass(frozen=True, slots=True)
class Ending:
    """How a flow ends: what consumes it, with an operator before it that belongs to the ending.

    ``run`` subscribes, calls the function that pushes the items, and gives what arrived.
    """

    name: str
    run: Callable[[Flowable[int], Callable[[], None]], Items]
    plain: Callable[[Items], Items] = list
    #: The items arrive on another thread.
    threaded: bool = False
    #: It waits for the end in the call that subscribes.
    blocking: bool = False


# -- sources ---------------------------------------------------------------------------------------------------------------


def _range(n: int) -> Flowable[int]:
    return Flowable.range(n)


def _hidden(n: int) -> Flowable[int]:
    return Flowable.range(n).hide()


def _same(item: int) -> int:
    return item


def _generated(n: int) -> Flowable[int]:
    def step(at: int, emitter: GenerateEmitter[int]) -> int:
        emitter.on_next(at)
        if at == n - 1:
            emitter.on_complete()
        return at + 1

    return Flowable.generate(lambda: 0, step)


def _created(n: int) -> Flowable[int]:
    def emit(emitter: Emitter[int]) -> None:
        for item in range(n):
            emitter.on_next(item)
        emitter.on_complete()

    return Flowable.create(emit)


def _processor(n: int) -> Made:
    processor = PublishProcessor[int]()
    return Made(processor, lambda: _push(processor, n))


def _subject(n: int) -> Made:
    subject = PublishSubject[int]()
    return Made(subject.to_flowable(BackpressureStrategy.BUFFER), lambda: _push(subject, n))


def _push(into: PublishProcessor[int] | PublishSubject[int], n: int) -> None:
    for item in range(n):
        into.on_next(item)
    into.on_complete()


def _nothing() -> None:
    pass


def _cold(name: str, make: Callable[[int], Flowable[int]], kind: Kind = Kind.PUSHING) -> Source:
    return Source(name, lambda n: Made(make(n), _nothing), kind)


def _first(one: int, _other: int) -> int:
    return one


def _itself(item: Any) -> Any:
    return item


def _tenth(item: int) -> int:
    return item % 10


def _tens(n: int) -> Flowable[int]:
    """The first numbers of each ten below n, which is a multiple of ten."""
    return Flowable.range(0, n, 10)


def _ten(start: int) -> Flowable[int]:
    return Flowable.range(start, start + 10)


def _ten_hidden(start: int) -> Flowable[int]:
    return Flowable.range(start, start + 10).hide()


SOURCES: Final = (
    _cold("range", _range, Kind.PULLED),
    _cold("from_iterable", lambda n: Flowable.from_iterable(list(range(n))), Kind.PULLED),
    _cold("generate", _generated, Kind.PULLED),
    _cold("range.map.filter", lambda n: Flowable.range(n).map(_same).filter(always), Kind.PULLED),
    _cold("flat_map_iterable", lambda n: _tens(n).flat_map_iterable(lambda at: range(at, at + 10)), Kind.PULLED),
    _cold("zip of ranges", lambda n: Flowable.zip(_range(n), _range(n), combiner=_first)),
    _cold("hidden", _hidden),
    _cold("foreign", lambda n: Flowable.wrap(Foreign(n, _same))),
    _cold("create", _created),
    Source("processor", _processor, hot=True, regardless=True),
    Source("subject", _subject, hot=True),
    _cold("share", lambda n: _hidden(n).share()),
    _cold("cache", lambda n: _range(n).cache()),
    _cold("observe_on", lambda n: _range(n).observe_on(single())),
    _cold("concat of hidden", lambda n: Flowable.concat(_hidden(n // 2), Flowable.range(n // 2, n).hide())),
    _cold("merge of hidden", lambda n: Flowable.merge(_hidden(n), Flowable.range(0).hide())),
    _cold("flat_map(just)", lambda n: _range(n).flat_map(Flowable.just)),
    _cold("flat_map to ranges", lambda n: _tens(n).flat_map(_ten)),
    _cold("concat_map to hidden", lambda n: _tens(n).concat_map(_ten_hidden)),
    _cold("switch_map", lambda n: Flowable.just(n).hide().switch_map(_hidden)),
    _cold("retry", lambda n: _hidden(n).retry()),
    _cold("take_until", lambda n: _hidden(n).take_until(Flowable.never())),
    _cold("timeout", lambda n: _hidden(n).timeout(60.0)),
    _cold("on_backpressure_buffer", lambda n: _hidden(n).on_backpressure_buffer()),
    _cold("window flattened", lambda n: _range(n).window(10).concat_map(_itself)),
    _cold("group_by flattened", lambda n: _range(n).group_by(_tenth).flat_map(_itself)),
    _cold("zip of hidden", lambda n: Flowable.zip(_hidden(n), _hidden(n), combiner=_first)),
)


# -- in the middle -----------------------------------------------------------------------------------------------------------


def _empty() -> Flowable[int]:
    return Flowable.range(0).hide()


def _is_a_ten(item: int) -> bool:
    return item % 10 == 0


def _running_maximum(one: int, other: int) -> int:
    return max(one, other)


def _maxima(items: Items) -> Items:
    found: Items = []
    for item in items:
        found.append(item if not found else max(found[-1], item))
    return found


def _alone(item: int) -> tuple[int]:
    return (item,)


NOTHING: Final = Middle("–", _itself)

MIDDLES: Final = (
    NOTHING,
    Middle("map", lambda flow: flow.map(add_one), plain=lambda items: [item + 1 for item in items]),
    Middle("filter", lambda flow: flow.filter(always)),
    Middle(
        "filter, one of ten", lambda flow: flow.filter(_is_a_ten), plain=lambda items: [item for item in items if item % 10 == 0]
    ),
    Middle("scan", lambda flow: flow.scan(_running_maximum), plain=_maxima),
    Middle("take", lambda flow: flow.take(1_000_000_000)),
    Middle("do_on_next", lambda flow: flow.do_on_next(always)),
    Middle("hide", lambda flow: flow.hide(), pushes=True),
    Middle("buffer(10).flat_map_iterable", lambda flow: flow.buffer(10).flat_map_iterable(_itself)),
    Middle("flat_map_iterable", lambda flow: flow.flat_map_iterable(_alone)),
    Middle("take_last", lambda flow: flow.take_last(1_000_000_000)),
    Middle("sorted", lambda flow: flow.sorted()),
    Middle("concat_map(just)", lambda flow: flow.concat_map(Flowable.just), pushes=True),
    Middle("flat_map(just)", lambda flow: flow.flat_map(Flowable.just), pushes=True),
    Middle("merge_with", lambda flow: flow.merge_with(_empty()), pushes=True),
    Middle("observe_on", lambda flow: flow.observe_on(single()), pushes=True, threaded=True),
    Middle("share", lambda flow: flow.share(), pushes=True),
)


# -- endings -----------------------------------------------------------------------------------------------------------------


class _Windows:
    """A subscriber that asks for 128 at a time."""

    __slots__ = ("_ended", "_error", "_got", "_left", "_subscription")

    def __init__(self) -> None:
        self._got: Items = []
        self._left = 128
        self._error: Exception | None = None
        self._ended = Lock()
        self._ended.acquire()

    def on_subscribe(self, subscription: Subscription, /) -> None:
        self._subscription = subscription
        subscription.request(128)

    def on_next(self, item: int, /) -> None:
        self._got.append(item)
        self._left -= 1
        if not self._left:
            self._left = 128
            self._subscription.request(128)

    def on_error(self, error: Exception, /) -> None:
        self._error = error
        self._ended.release()

    def on_complete(self) -> None:
        self._ended.release()

    def result(self) -> Items:
        return _result(self._got, self._ended, [] if self._error is None else [self._error])


def _result(got: Items, ended: Any, errors: list[Exception]) -> Items:
    if not ended.acquire(timeout=SECONDS):
        raise TimeoutError(f"no end within {SECONDS:g} seconds, after {len(got)} items")
    for error in errors:
        raise error
    return got


def into_callbacks(flow: Flowable[Any], feed: Callable[[], None]) -> Items:
    """Subscribe with functions; wait for the end, which is there already unless the flow has a thread of its own."""
    got: Items = []
    errors: list[Exception] = []
    ended = Lock()
    ended.acquire()

    def failed(error: Exception) -> None:
        errors.append(error)
        ended.release()

    flow.subscribe(got.append, on_error=failed, on_complete=ended.release)
    feed()
    return _result(got, ended, errors)


def _in_windows(flow: Flowable[int], feed: Callable[[], None]) -> Items:
    end = _Windows()
    flow.subscribe(end)
    feed()
    return end.result()


def _iterated(flow: Flowable[int], _feed: Callable[[], None]) -> Items:
    got: Items = []
    for item in flow:
        got.append(item)
    return got


def _reduced(flow: Flowable[int], _feed: Callable[[], None]) -> Items:
    return [flow.reduce(_add, 0).blocking_get(seconds=SECONDS)]


def _listed(flow: Flowable[int], _feed: Callable[[], None]) -> Items:
    return flow.to_list().blocking_get(seconds=SECONDS)


def _then(operator: Callable[[Flowable[int]], Flowable[Any]]) -> Callable[[Flowable[int], Callable[[], None]], Items]:
    return lambda flow, feed: into_callbacks(operator(flow), feed)


def _add(one: int, other: int) -> int:
    return one + other


def _tuples(items: Items) -> Items:
    return [(item, at) for at, item in enumerate(items)]


def _in_tens(items: Items) -> Items:
    return [items[at : at + 10] for at in range(0, len(items), 10)]


def _inner(name: str, flatten: Callable[[Flowable[int], Callable[[int], Flowable[int]]], Flowable[int]]) -> Ending:
    """The flow as the only inner source."""
    return Ending(f"inner of {name}", _then(lambda flow: flatten(Flowable.just(0).hide(), lambda _item: flow)))


def _endings() -> Iterator[Ending]:
    yield CALLBACKS
    yield Ending("request(128)", _in_windows)
    yield Ending("map.filter", _then(lambda flow: flow.map(add_one).filter(always)), lambda items: [item + 1 for item in items])
    yield Ending("buffer(10)", _then(lambda flow: flow.buffer(10)), _in_tens)
    yield Ending("reduce.blocking_get", _reduced, lambda items: [sum(items)], blocking=True)
    yield Ending("to_list.blocking_get", _listed, blocking=True)
    yield Ending("for", _iterated, blocking=True)
    yield _inner("flat_map", lambda outer, mapper: outer.flat_map(mapper))
    yield _inner("concat_map", lambda outer, mapper: outer.concat_map(mapper))
    yield _inner("switch_map", lambda outer, mapper: outer.switch_map(mapper))
    yield Ending("merge_with", _then(lambda flow: flow.merge_with(_empty())))
    yield Ending("concat_with", _then(lambda flow: flow.concat_with(Flowable.just(-1))), lambda items: [*items, -1])
    yield Ending("zip with range", _then(lambda flow: flow.zip_with(Flowable.range(1_000_000_000))), _tuples)
    yield Ending("with_latest_from", _then(_latest), lambda items: [(item, 0) for item in items])
    yield Ending("take_until(never)", _then(lambda flow: flow.take_until(Flowable.never())))
    yield Ending("retry", _then(lambda flow: flow.retry()))
    yield Ending("observe_on", _then(lambda flow: flow.observe_on(single())), threaded=True)
    yield Ending("share", _then(lambda flow: flow.share()))
    yield Ending("group_by flattened", _then(lambda flow: flow.group_by(_tenth).flat_map(_itself)))
    yield Ending("window flattened", _then(lambda flow: flow.window(10).concat_map(_itself)))
    yield Ending("flat_map(just)", _then(lambda flow: flow.flat_map(Flowable.just)))


def _latest(flow: Flowable[int]) -> Flowable[Any]:
    return flow.with_latest_from(Flowable.just(0).concat_with(Flowable.never()))


#: What every other cost is the difference to.
CALLBACKS: Final = Ending("callbacks", into_callbacks)

ENDINGS: Final = tuple(_endings())

#: The sources behind which a part is measured alone.
BASES: Final = {Kind.PULLED: SOURCES[0], Kind.PUSHING: SOURCES[6]}


def fits(source: Source, middle: Middle, ending: Ending) -> bool:
    """Whether these three can work together: see :attr:`Source.hot` and :attr:`Source.regardless`."""
    if source.hot and ending.blocking:
        return False
    return not source.regardless or not (middle.threaded or ending.threaded)

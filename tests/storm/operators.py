"""Every coordinating operator, with sources fed by threads, and what may come out of it.

``build`` gets the face (Flowable or Observable) and one stream of it for each source. A case works with every number of sources
in its range, and with both faces unless it is about demand.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import rx_schedulers
from rx_ops import (
    BehaviorProcessor,
    BehaviorSubject,
    Completable,
    Flowable,
    Observable,
    PublishProcessor,
    PublishSubject,
    ReplayProcessor,
    ReplaySubject,
    Single,
    UnicastProcessor,
    UnicastSubject,
)
from tests.storm import judging
from tests.storm.feeding import EACH, Item
from tests.storm.judging import Judge

Build = Callable[[Any, list[Any]], Any]

#: How far ahead those read that are told so.
PREFETCH: Final = 4


@dataclass(frozen=True)
class Case:
    name: str
    build: Build
    judge: Judge = judging.everything
    #: How many sources there may be.
    sources: tuple[int, int] = (2, 8)
    #: Whether it gives no more than is requested; others fail with MissingBackpressureError.
    keeps: bool = True
    #: The most that a source may be asked for ahead.
    window: int | None = None
    #: How many times a source ends, and how, before it is through.
    pieces: int = 1
    failing: bool = True
    #: Whether it leaves its sources when its subscriber leaves it.
    leaves: bool = True
    #: Whether it is the same stream for a subscriber that comes when the sources have begun already.
    late: bool = True
    faces: tuple[Any, ...] = (Flowable, Observable)

    def __str__(self) -> str:
        return self.name


def number_of(item: Item) -> int:
    return item[0]


def place_of(item: Item) -> int:
    return item[1]


def group_join(rx: Any, sources: list[Any]) -> Any:
    left, right = sources
    windows = left.group_join(
        right, lambda _: rx.never(), lambda _: rx.never(), lambda item, window: window.map(lambda other: (item, other))
    )
    return windows.flat_map(lambda window: window)


# -- several sources ---------------------------------------------------------------------------------------------------------


def merge_with(rx: Any, sources: list[Any]) -> Any:
    merged = sources[0]
    for source in sources[1:]:
        merged = merged.merge_with(source)
    return merged


def concat_with(rx: Any, sources: list[Any]) -> Any:
    joined = sources[0]
    for source in sources[1:]:
        joined = joined.concat_with(source)
    return joined


def flat_map(rx: Any, sources: list[Any]) -> Any:
    return rx.range(len(sources)).flat_map(lambda at: sources[at], **prefetching(rx))


def prefetching(rx: Any) -> dict[str, int]:
    """An Observable has no window."""
    return {"prefetch": PREFETCH} if rx is Flowable else {}


def flat_map_fed(rx: Any, sources: list[Any]) -> Any:
    """Each item of the first source says which of the others is subscribed; its own items do not come."""
    return fed(rx, sources, "flat_map")


def concat_map_fed(rx: Any, sources: list[Any]) -> Any:
    return fed(rx, sources, "concat_map")


def fed(rx: Any, sources: list[Any], name: str) -> Any:
    def inner(item: Item) -> Any:
        return sources[1 + item[1]] if item[1] + 1 < len(sources) else rx.empty()

    own = rx.from_iterable([(0, at) for at in range(EACH)])  # so that nothing is missing
    return rx.concat(getattr(sources[0], name)(inner), own)


def switch_map(rx: Any, sources: list[Any]) -> Any:
    """The first source switches between the others, and ends with the last of them."""

    def inner(item: Item) -> Any:
        at = item[1]
        return sources[1 + at] if at < len(sources) - 2 else sources[-1] if at == EACH - 1 else rx.empty()

    return sources[0].switch_map(inner)


def exhaust_map(rx: Any, sources: list[Any]) -> Any:
    """The first source opens the others, as far as none is open."""
    others = iter(range(1, len(sources)))

    def inner(_item: Item) -> Any:
        at = next(others, None)
        return rx.empty() if at is None else sources[at]

    return sources[0].exhaust_map(inner)


def switch_on_first(rx: Any, sources: list[Any]) -> Any:
    """Each with all the others, subscribed when its first item comes."""
    return sources[0].switch_on_first(lambda first, whole: rx.merge(whole, *sources[1:]))


def using_when(rx: Any, sources: list[Any]) -> Any:
    """The stream has several signallers, and each thread may be the one that subscribes to the cleanup."""
    return rx.using_when(Single.just(1), lambda _resource: rx.merge(*sources), lambda _resource: Completable.complete())


def first_of_several(rx: Any, sources: list[Any]) -> Any:
    return rx.merge(*sources).switch_on_first(lambda first, whole: whole)


def map_completable(name: str) -> Build:
    def build(rx: Any, sources: list[Any]) -> Any:
        seen: list[Item] = []
        answers = [source.do_on_next(seen.append).ignore_elements() for source in sources]
        done = getattr(rx.range(len(sources)), name)(lambda at: answers[at])
        return done.and_then(Flowable.defer(lambda: Flowable.from_iterable(seen)))

    return build


def expand_deep(rx: Any, sources: list[Any]) -> Any:
    root = (0, -1)

    def inner(item: Item) -> Any:
        return rx.merge(*sources) if item == root else rx.empty()

    return rx.just(root).expand(inner, depth_first=True).filter(lambda item: item != root)


def filter_when(rx: Any, sources: list[Any]) -> Any:
    """Each item of the others, when it is looked up on another thread."""
    merged = rx.merge(*sources)
    return merged.filter_when(lambda _item: rx.just(True).subscribe_on(rx_schedulers.computation()))


def expand(rx: Any, sources: list[Any]) -> Any:
    root = (-1, 0)
    return rx.just(root).expand(lambda item: rx.merge(*sources) if item == root else rx.empty()).filter(lambda item: item != root)


def combine_latest(rx: Any, sources: list[Any]) -> Any:
    return rx.combine_latest(*sources)


def with_latest_from(rx: Any, sources: list[Any]) -> Any:
    others = [source.start_with((number, -1)) for number, source in enumerate(sources[1:], 1)]
    return sources[0].with_latest_from(*others)


def delay_subscription(rx: Any, sources: list[Any]) -> Any:
    """The others wait for the first item of the last one, whose items come as well."""
    *others, last = sources
    return last.publish(lambda shared: rx.merge(shared, rx.merge(*others).delay_subscription(until=shared)))


def sequence_equal(rx: Any, sources: list[Any]) -> Any:
    places = [source.map(lambda item: item[1]) for source in sources]
    return to_many(rx, rx.sequence_equal(*places))


def to_many(rx: Any, single: Any) -> Any:
    return single.to_flowable() if rx is Flowable else single.to_observable()


SEVERAL: Final = (
    Case("merge", lambda rx, s: rx.merge(*s, **prefetching(rx)), window=PREFETCH),
    Case("merge_with", merge_with),
    Case(
        "merge_ordered",
        lambda rx, s: rx.merge_ordered(*s, key=place_of, **prefetching(rx)),
        judging.everything_in_order,
        window=PREFETCH,
    ),
    Case("merge_priority", lambda rx, s: rx.merge_priority(*s, key=place_of, **prefetching(rx)), window=PREFETCH),
    Case("join", lambda rx, s: s[0].join(s[1], lambda _: rx.never(), lambda _: rx.never()), judging.pairs, (2, 2), keeps=False),
    Case("group_join", group_join, judging.pairs, (2, 2), keeps=False),
    Case("flat_map", flat_map, window=PREFETCH),
    Case("flat_map, two at a time", lambda rx, s: rx.range(len(s)).flat_map(lambda at: s[at], max_concurrency=2)),
    Case("flat_map of a fed source", flat_map_fed),
    Case("flat_map_completable", map_completable("flat_map_completable")),
    Case("concat", lambda rx, s: rx.concat(*s), judging.everything_in_turn),
    Case("concat_with", concat_with, judging.everything_in_turn),
    Case("concat_map", lambda rx, s: rx.range(len(s)).concat_map(lambda at: s[at]), judging.everything_in_turn),
    Case("concat_map of a fed source", concat_map_fed),
    Case("concat_eager", lambda rx, s: rx.concat_eager(*s, **prefetching(rx)), judging.everything_in_turn, window=PREFETCH),
    Case(
        "concat_map_eager",
        lambda rx, s: rx.range(len(s)).concat_map_eager(lambda at: s[at], **prefetching(rx)),
        judging.everything_in_turn,
        window=PREFETCH,
    ),
    Case(
        "concat_map_eager, two at a time",
        lambda rx, s: rx.range(len(s)).concat_map_eager(lambda at: s[at], max_concurrency=2),
        judging.everything_in_turn,
    ),
    Case("concat_map_eager of a fed source", lambda rx, s: fed(rx, s, "concat_map_eager")),
    Case("concat_map_completable", map_completable("concat_map_completable"), judging.everything_in_turn),
    Case("switch_map", switch_map, judging.switched, (3, 8)),
    Case("exhaust_map", exhaust_map, judging.exhausted, (3, 8)),
    Case("switch_on_first", switch_on_first),
    Case("switch_on_first, the first is one of several", first_of_several),
    Case("using_when", using_when),
    Case("expand", expand),
    Case("expand depth first", expand_deep),
    Case("filter_when", filter_when),
    Case("zip", lambda rx, s: rx.zip(*s, **prefetching(rx)), judging.rows, window=PREFETCH),
    Case("zip, errors late", lambda rx, s: rx.zip(*s, **prefetching(rx), delay_error=True), judging.rows, window=PREFETCH),
    Case(
        "zip of Singles, errors late",
        lambda rx, s: to_many(rx, Single.zip(*[source.last() for source in s], delay_error=True)),
        judging.last_of_all,
    ),
    Case("zip_latest", lambda rx, s: rx.zip_latest(*s), judging.rows_of_newest),
    Case("fork_join", lambda rx, s: to_many(rx, rx.fork_join(*s)), judging.last_of_all),
    Case("zip_with", lambda rx, s: s[0].zip_with(s[1]), judging.rows, (2, 2)),
    Case("combine_latest", combine_latest, judging.latest_rows),
    Case("with_latest_from", with_latest_from, judging.each_with_latest, (2, 4)),
    Case("amb", lambda rx, s: rx.amb(*s), judging.of_the_first),
    Case("first_with_value", lambda rx, s: rx.first_with_value(rx.empty(), *s), judging.of_the_first),
    Case("amb_with", lambda rx, s: s[0].amb_with(s[1]), judging.of_the_first, (2, 2)),
    Case("sequence_equal", sequence_equal, judging.answer(True)),
    Case("take_until", lambda rx, s: rx.merge(*s[:-1]).take_until(s[-1]), judging.beginning_of_each),
    Case("skip_until", lambda rx, s: rx.merge(*s[:-1]).skip_until(s[-1]), judging.end_of_each),
    Case("delay_subscription", delay_subscription),
)


# -- one source, which several threads feed ----------------------------------------------------------------------------------


def after_merge(step: Callable[[Any, Any], Any]) -> Build:
    """A step behind a merge of all sources."""
    return lambda rx, sources: step(rx, rx.merge(*sources))


def rails(rx: Any, merged: Any) -> Any:
    parallel = merged.parallel(3, prefetch=PREFETCH).run_on(rx_schedulers.computation(), prefetch=PREFETCH)
    return parallel.map(lambda item: item).sequential(prefetch=PREFETCH)


def rails_in_order(rx: Any, merged: Any) -> Any:
    parallel = merged.parallel(3, prefetch=PREFETCH).run_on(rx_schedulers.computation(), prefetch=PREFETCH)
    return parallel.map_optional(lambda item: item).sequential(prefetch=PREFETCH, ordered=True)


def streams_of_rails_in_order(rx: Any, merged: Any) -> Any:
    parallel = merged.parallel(3, prefetch=PREFETCH).run_on(rx_schedulers.computation(), prefetch=PREFETCH)
    inner = parallel.flat_map(lambda item: rx.of(item).observe_on(rx_schedulers.computation()), max_concurrency=2)
    return inner.sequential(prefetch=PREFETCH, ordered=True)


def beside_last(step: Callable[[Any, Any, Any], Any]) -> Build:
    """A step behind a merge of all sources but the last, which says when, and never that it is over: its items do not come."""

    def build(rx: Any, sources: list[Any]) -> Any:
        *fed, last = sources
        rest = rx.from_iterable([(len(fed), at) for at in range(EACH)])  # so that nothing is missing
        return rx.concat(step(rx, rx.merge(*fed), last.concat_with(rx.never())), rest)

    return build


def flat(parts: Any) -> Any:
    return parts.flat_map_iterable(list)


def joined(rx: Any, parts: Any) -> Any:
    """One after the other; those that come before their turn are requested."""
    return parts.concat_map(lambda part: part, **({"prefetch": 1024} if rx is Flowable else {}))


def head(window: Any) -> Any:
    return window.take(2)


def each_again(step: Callable[[Any], Any]) -> Build:
    """A step behind each source, that subscribes it again."""
    return lambda rx, sources: rx.merge(*(step(source) for source in sources))


def some(group: Any) -> Any:
    return group.take(3)


def observed(source: Any) -> Any:
    return source.observe_on(rx_schedulers.computation())


def short(rx: Any) -> Callable[[object], Any]:
    """Groups end on another thread while their items come."""
    return lambda _key: rx.timer(1e-4)


def twice(ends: Any) -> Any:
    return ends.enumerate().take_while(lambda end: end[0] < 2)


def never_late(source: Any) -> Any:
    return source.timeout(60.0)


CUT: Final = (
    Case("group_by", after_merge(lambda rx, m: m.group_by(number_of).flat_map(lambda group: group))),
    Case("group_by, a group on its thread", after_merge(lambda rx, m: m.group_by(number_of).flat_map(observed))),
    Case(
        "group_by, groups that are left",
        after_merge(lambda rx, m: m.group_by(number_of).flat_map(some)),
        judging.some_of_each,  # a group that is left loses what it has not delivered
    ),
    Case("group_by_until", after_merge(lambda rx, m: m.group_by_until(number_of, short(rx)).flat_map(lambda group: group))),
    Case("window by count", after_merge(lambda rx, m: joined(rx, m.window(5)))),
    Case("window by count, left early", after_merge(lambda rx, m: m.window(5).flat_map(head)), judging.some_of_each),
    Case("window_until", after_merge(lambda rx, m: joined(rx, m.window_until(lambda item: item[1] % 3 == 0, **prefetching(rx))))),
    Case("window by boundary", beside_last(lambda rx, m, last: joined(rx, m.window(boundary=last))), keeps=False),
    # A thread that stumbles takes milliseconds for a cut: with shorter windows it would do nothing else.
    Case("window by time", after_merge(lambda rx, m: joined(rx, m.window(seconds=20e-3))), keeps=False),
    Case("buffer by count", after_merge(lambda rx, m: flat(m.buffer(5)))),
    Case("buffer by boundary", beside_last(lambda rx, m, last: flat(m.buffer(boundary=last))), keeps=False),
    Case("buffer by closing", beside_last(lambda rx, m, last: flat(m.buffer(closing=lambda: last))), keeps=False),
    Case("buffer by time", after_merge(lambda rx, m: flat(m.buffer(seconds=5e-3))), keeps=False),
)

LOSSY: Final = (
    Case("sample", beside_last(lambda rx, m, last: m.sample(sampler=last)), judging.some_of_each, keeps=False),
    Case("sample by time", after_merge(lambda rx, m: m.sample(1e-3)), judging.some_of_each, keeps=False),
    Case("debounce", after_merge(lambda rx, m: m.debounce(selector=rx.just)), keeps=False),
    Case("debounce by time", each_again(lambda s: s.debounce(1e-4)), judging.some_and_the_last_of_each, keeps=False),
    Case("throttle_first", after_merge(lambda rx, m: m.throttle_first(1e-3)), judging.some_of_each, keeps=False),
    Case(
        "throttle_latest",
        each_again(lambda s: s.throttle_latest(1e-3, emit_last=True)),
        judging.some_and_the_last_of_each,
        keeps=False,
    ),
    Case("on_backpressure_drop", after_merge(lambda rx, m: m.on_backpressure_drop()), judging.some_of_each, faces=(Flowable,)),
    Case(
        "on_backpressure_latest",
        each_again(lambda s: s.on_backpressure_latest()),
        judging.some_and_the_last_of_each,
        faces=(Flowable,),
    ),
    Case(
        "on_backpressure_reduce",
        each_again(lambda s: s.on_backpressure_reduce(max)),
        judging.some_and_the_last_of_each,
        faces=(Flowable,),
    ),
    Case(
        "on_backpressure_reduce from a start",
        each_again(lambda s: s.on_backpressure_reduce(max, supplier=lambda: (0, -1))),
        judging.some_and_the_last_of_each,
        faces=(Flowable,),
    ),
    Case(
        "observe_on, the latest",
        each_again(lambda s: s.observe_on(rx_schedulers.computation(), latest=True)),
        judging.some_and_the_last_of_each,
    ),
)

AGAIN: Final = (
    Case("retry", each_again(lambda s: s.retry()), pieces=3),
    Case("retry_when", each_again(lambda s: s.retry_when(lambda errors: errors)), pieces=3),
    Case("retry_until", each_again(lambda s: s.retry_until(lambda: False)), pieces=3),
    Case("retry_backoff", each_again(lambda s: s.retry_backoff(None, 1e-5)), pieces=3),
    Case("repeat", each_again(lambda s: s.repeat(3)), pieces=3, failing=False),
    Case("repeat_when", each_again(lambda s: s.repeat_when(twice)), pieces=3, failing=False),
    Case("on_error_resume_next", each_again(lambda s: s.on_error_resume_next(lambda _: s)), pieces=2),
    Case("switch_if_empty", each_again(lambda s: s.take(0).switch_if_empty(s))),
)

THREADS: Final = (
    Case("observe_on", after_merge(lambda rx, m: m.observe_on(rx_schedulers.computation(), **prefetching(rx)))),
    Case("observe_on, merge", each_again(observed)),
    Case("parallel", after_merge(rails), judging.everything_unordered, faces=(Flowable,)),
    Case("parallel, ordered", after_merge(rails_in_order), faces=(Flowable,)),
    Case("parallel, streams of items, ordered", after_merge(streams_of_rails_in_order), faces=(Flowable,)),
    Case("subscribe_on", each_again(lambda s: s.subscribe_on(rx_schedulers.io()))),
    Case("delay", each_again(lambda s: s.delay(1e-4))),
    Case("delay by selector", after_merge(lambda rx, m: m.delay(selector=rx.just))),
    Case("timeout", each_again(never_late)),
    Case("timeout by selector", after_merge(lambda rx, m: m.timeout(selector=lambda _: rx.never()))),
    Case("rate_limit", after_merge(lambda rx, m: m.rate_limit(30, 1e-3))),
    Case("on_backpressure_timeout", after_merge(lambda rx, m: m.on_backpressure_timeout(60.0)), faces=(Flowable,)),
    Case("on_backpressure_buffer", after_merge(lambda rx, m: m.on_backpressure_buffer()), faces=(Flowable,)),
)


# -- shared streams and processors -------------------------------------------------------------------------------------------


def processor(made: Callable[[], Any]) -> Build:
    """Every source sends to one serialized entry; the one that is through last completes it."""

    def build(rx: Any, sources: list[Any]) -> Any:
        hub = made()
        entry = hub.to_serialized()
        left = iter(range(len(sources) - 1, -1, -1))
        lock = threading.Lock()

        def done() -> None:
            with lock:
                last = next(left) == 0
            if last:
                entry.on_complete()

        for source in sources:
            source.subscribe(entry.on_next, on_error=entry.on_error, on_complete=done)
        return hub

    return build


#: With what they are for demand: whether they keep what is not requested yet.
PROCESSORS: Final[dict[Any, bool]] = {
    PublishProcessor: False,
    BehaviorProcessor: False,
    ReplayProcessor: True,
    UnicastProcessor: True,
}
#: With whether a late subscriber gets what was before.
SUBJECTS: Final[dict[Any, bool]] = {PublishSubject: False, BehaviorSubject: False, ReplaySubject: True, UnicastSubject: True}

SHARED: Final = (
    Case("share", after_merge(lambda rx, m: m.share())),
    Case("publish with a selector", after_merge(lambda rx, m: m.publish(lambda shared: shared.map(lambda item: item)))),
    Case("publish, ref_count", after_merge(lambda rx, m: m.publish().ref_count())),
    Case("replay, ref_count", after_merge(lambda rx, m: m.replay().ref_count())),
    Case("replay with a selector", after_merge(lambda rx, m: m.replay(selector=lambda shared: shared))),
    Case("cache", after_merge(lambda rx, m: m.cache()), leaves=False),
    Case("cache_ttl", after_merge(lambda rx, m: m.cache_ttl(60.0)), leaves=False),
    *(
        Case(made.__name__, processor(made), keeps=keeps, leaves=False, late=keeps, faces=(Flowable,))
        for made, keeps in PROCESSORS.items()
    ),
    *(Case(made.__name__, processor(made), leaves=False, late=late, faces=(Observable,)) for made, late in SUBJECTS.items()),
)

CASES: Final = (*SEVERAL, *CUT, *LOSSY, *AGAIN, *THREADS, *SHARED)

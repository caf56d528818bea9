"""The forty programs that are compared with reactivex. Plain Rx: what the chapters of an introduction show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bench._by_hand import (
    ByHand,
    EmitterByHand,
    SharedByHand,
    filtering,
    looking_on,
    map_filter_map,
    mapping,
    scanning,
    starting_with,
    to_list,
)
from bench._common import add_one, always, double, is_odd, operators, reactivex
from bench._measure import Case
from bench._programs import Program, Result, case_of, created, emitting, emitting_theirs, pushed, ranged
from rx_ops import Flowable


def program_cases(size: int) -> Iterator[Case]:
    """A case for each program, with ``size`` items where an item is cheap."""
    for program in programs():
        yield case_of(program, size)


def programs() -> Iterator[Program]:
    yield into_a_callback()
    yield from _each_source_into_one_operator()
    yield from _chains()
    yield from _several_subscribers()
    yield from _several_sources()
    yield from _inner_sources()


# -- one source ------------------------------------------------------------------------------------------------------------


def into_a_callback() -> Program:
    """``create`` into a function, and nothing between: a row of its own, since reactivex has next to nothing to do there."""

    def ours(size: int) -> Result:
        total = 0

        def add(item: int) -> None:
            nonlocal total
            total += item

        Flowable.create(emitting(size)).subscribe(add)
        return [total]

    def theirs(size: int) -> Result:
        total = 0

        def add(item: int) -> None:
            nonlocal total
            total += item

        reactivex.create(emitting_theirs(size)).subscribe(add)
        return [total]

    def by_hand(size: int) -> Result:
        total = 0

        def add(item: int) -> None:
            nonlocal total
            total += item

        emitting(size)(EmitterByHand(add, _ignore, _finally))
        return [total]

    reason = "reactivex calls the function with no more than one call between, and checks nothing"
    return Program("create into a callback", ours, theirs, by_hand, reason=reason, share=(1.0, 0.8))


def _each_source_into_one_operator() -> Iterator[Program]:
    several: dict[str, tuple[Callable[[Flowable[int]], Flowable[Any]], Callable[[Any], Any]]] = {
        "map": (lambda flow: flow.map(add_one), lambda stream: stream.pipe(operators.map(add_one))),
        "filter": (lambda flow: flow.filter(is_odd), lambda stream: stream.pipe(operators.filter(is_odd))),
        "scan": (lambda flow: flow.scan(_add), lambda stream: stream.pipe(operators.scan(_add))),
        "buffer(10)": (lambda flow: flow.buffer(10), lambda stream: stream.pipe(operators.buffer_with_count(10))),
        # Only with few keys: reactivex compares an item with all that it has seen.
        "distinct": (lambda flow: flow.distinct(_tenth), lambda stream: stream.pipe(operators.distinct(_tenth))),
    }
    by_hand: dict[str, ByHand] = {"map": mapping(add_one), "filter": filtering(is_odd), "scan": scanning(_add)}
    for name, (ours, theirs) in several.items():
        yield created(f"create.{name}", ours, theirs, by_hand=by_hand.get(name))
        yield pushed(f"subject.{name}", ours, theirs)
        yield ranged(f"range.{name}", ours, theirs)


def _chains() -> Iterator[Program]:
    def three(flow: Flowable[int]) -> Flowable[int]:
        return flow.map(add_one).filter(is_odd).map(double)

    def their_three(stream: Any) -> Any:
        return stream.pipe(operators.map(add_one), operators.filter(is_odd), operators.map(double))

    yield created("create.map.filter.map", three, their_three, by_hand=map_filter_map(add_one, is_odd, double))
    yield pushed("subject.map.filter.map", three, their_three)
    yield ranged("range.map.filter.map", three, their_three)

    def twenty(flow: Flowable[int]) -> Flowable[int]:
        for _ in range(10):
            flow = flow.map(add_one).filter(always)
        return flow

    def their_twenty(stream: Any) -> Any:
        return stream.pipe(*[operators.map(add_one), operators.filter(always)] * 10)

    yield pushed("subject, 20 operators", twenty, their_twenty, heavy=True)
    yield created("create.retry", lambda flow: flow.retry(), lambda stream: stream.pipe(operators.retry()), by_hand=EmitterByHand)
    yield created(
        "create.start_with",
        lambda flow: flow.start_with(-1),
        lambda stream: stream.pipe(operators.start_with(-1)),
        by_hand=starting_with(-1),
    )
    yield created("create.to_list", lambda flow: flow.to_list(), lambda stream: stream.pipe(operators.to_list()), by_hand=to_list)
    yield created(
        "create.do_on_next.do_finally",
        lambda flow: flow.do_on_next(_ignore).do_finally(_finally),
        lambda stream: stream.pipe(operators.do_action(_ignore), operators.finally_action(_finally)),
        by_hand=looking_on(_ignore, _finally),
    )


# -- several subscribers, several sources ----------------------------------------------------------------------------------


def _several_subscribers() -> Iterator[Program]:
    yield pushed(
        "subject.share.map",
        lambda flow: flow.share().map(add_one),
        lambda stream: stream.pipe(operators.share(), operators.map(add_one)),
    )
    yield created(
        "create.publish.ref_count",
        lambda flow: flow.publish().ref_count(),
        lambda stream: stream.pipe(operators.publish(), operators.ref_count()),
        by_hand=SharedByHand,
    )
    yield created(
        "create.replay(10).ref_count",
        lambda flow: flow.replay(10).ref_count(),
        lambda stream: stream.pipe(operators.replay(10), operators.ref_count()),
    )


def _several_sources() -> Iterator[Program]:
    yield pushed("merge of two subjects", Flowable.merge, lambda *both: reactivex.merge(*both), sources=2)
    yield pushed(
        "zip of two subjects",
        lambda one, other: Flowable.zip(one, other, combiner=_add),
        lambda one, other: reactivex.zip(one, other).pipe(operators.starmap(_add)),
        sources=2,
        heavy=True,
    )
    yield pushed(
        "zip of a subject with itself", lambda flow: Flowable.zip(flow, flow), lambda stream: reactivex.zip(stream, stream)
    )
    yield pushed(
        "combine_latest of two subjects", Flowable.combine_latest, lambda *both: reactivex.combine_latest(*both), sources=2
    )
    yield pushed(
        "subject.with_latest_from(subject)",
        lambda one, other: one.with_latest_from(other),
        lambda one, other: one.pipe(operators.with_latest_from(other)),
        sources=2,
    )
    yield pushed(
        "subject.take_until(never)",
        lambda flow: flow.take_until(Flowable.never()),
        lambda stream: stream.pipe(operators.take_until(reactivex.never())),
    )
    yield created(
        "concat of two creates",
        Flowable.concat,
        lambda *both: reactivex.concat(*both),
        by_hand=EmitterByHand,
        sources=2,
    )


# -- sources of sources ----------------------------------------------------------------------------------------------------


def _inner_sources() -> Iterator[Program]:
    yield pushed(
        "flat_map to two subjects",
        lambda *both: Flowable.of(*both).flat_map(_itself),
        lambda *both: reactivex.of(*both).pipe(operators.flat_map(_itself)),
        sources=2,
    )
    yield pushed(
        "subject.flat_map(just)",
        lambda flow: flow.flat_map(Flowable.just),
        lambda stream: stream.pipe(operators.flat_map(lambda item: reactivex.just(item))),
        heavy=True,
    )
    yield pushed(
        "subject.concat_map(just)",
        lambda flow: flow.concat_map(Flowable.just),
        lambda stream: stream.pipe(operators.concat_map(lambda item: reactivex.just(item))),
        heavy=True,
    )
    yield pushed(
        "subject.switch_map(just)",
        lambda flow: flow.switch_map(Flowable.just),
        lambda stream: stream.pipe(operators.switch_map(lambda item: reactivex.just(item))),
        heavy=True,
    )
    yield pushed(
        "subject.group_by(10).flat_map",
        lambda flow: flow.group_by(_tenth).flat_map(_itself),
        lambda stream: stream.pipe(operators.group_by(_tenth), operators.flat_map(_itself)),
        heavy=True,
    )
    yield pushed(
        "subject.window(10).flat_map",
        lambda flow: flow.window(10).flat_map(_itself),
        lambda stream: stream.pipe(operators.window_with_count(10), operators.flat_map(_itself)),
        heavy=True,
    )


def _add(one: int, other: int) -> int:
    return one + other


def _tenth(item: int) -> int:
    return item % 10


def _ignore(_item: object) -> None:
    pass


def _finally() -> None:
    pass


def _itself(item: Any) -> Any:
    return item

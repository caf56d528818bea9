"""One source for several subscribers: publish and share, of a source that iterates and of a hot one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench._common import Counting, operators, reactivex
from bench._hot import Hub
from bench._measure import Case, Way, absent, at_most
from rx_ops import Flowable, PublishProcessor


def shared_cases(size: int) -> Iterator[Case]:
    for count, of_range, of_hot in ((1, 2.0, 2.75), (2, 2.0, 2.5)):
        yield _published(size, count, of_range)
        yield _shared(size, count, of_hot)


def _by_hand(size: int, count: int, *, behind: bool) -> Callable[[], int]:
    """A fan-out, ``behind`` a processor of its own where ours has one as well."""

    def run() -> int:
        ends = [Counting() for _ in range(count)]
        first = hub = Hub()
        for end in ends:
            hub.subscribe(end)
        if behind:
            first = Hub()
            first.subscribe(hub)
        for item in range(size):
            first.on_next(item)
        return sum(end.total for end in ends)

    return run


def _case(
    name: str, size: int, count: int, ours: Callable[[], int], theirs: Callable[[], int], target: float, *, behind: bool = False
) -> Case:
    expected = count * (size * (size - 1) // 2)
    return Case(
        f"{name}, {count} subscriber{'s' if count > 1 else ''}",
        size,
        {
            "hand-written fan-out": Way(_by_hand(size, count, behind=behind), expected=expected),
            "rx": Way(ours, expected=expected),
            "reactivex": absent("reactivex") if reactivex is None else Way(theirs, expected=expected, slow=True),
        },
        [at_most("rx", target)],
        note="the fan-out by hand knows neither demand nor a second thread",
    )


def _published(size: int, count: int, target: float) -> Case:
    def ours() -> int:
        ends = [Counting() for _ in range(count)]
        flow = Flowable.range(size).publish().auto_connect(count)
        for end in ends:
            flow.subscribe(end)
        return sum(end.total for end in ends)

    def theirs() -> int:
        ends = [Counting() for _ in range(count)]
        flow = reactivex.range(0, size).pipe(operators.publish())
        for end in ends:
            flow.subscribe(end.on_next)
        flow.connect()
        return sum(end.total for end in ends)

    return _case("publish of a range", size, count, ours, theirs, target)


def _shared(size: int, count: int, target: float) -> Case:
    def ours() -> int:
        ends = [Counting() for _ in range(count)]
        source = PublishProcessor[int]()
        flow = source.share()
        for end in ends:
            flow.subscribe(end)
        for item in range(size):
            source.on_next(item)
        return sum(end.total for end in ends)

    def theirs() -> int:
        ends = [Counting() for _ in range(count)]
        source = reactivex.Subject()
        flow = source.pipe(operators.share())
        for end in ends:
            flow.subscribe(end.on_next)
        for item in range(size):
            source.on_next(item)
        return sum(end.total for end in ends)

    return _case("share of a hot source", size, count, ours, theirs, target, behind=True)

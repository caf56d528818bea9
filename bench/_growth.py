"""How cost grows: with the elements, with the operators, with the inner streams that are open at once.

What matters is that the cost per element stays flat and memory bounded. So each pipeline is run at sizes that are powers of ten
(of two for operators), and the table gives nanoseconds of processor time (of all threads) per element, with the peak that
tracemalloc saw in a run of its own. Where that would take too long it gives by how much the process has grown beyond the largest
it ever was.
"""

from __future__ import annotations

import gc
import resource
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any, Final

from bench._common import Counting, add_one, double, is_odd, subscribed
from bench._report import heading
from bench._threads import queued
from rx_ops import Flowable, PublishProcessor

#: Tracing allocations makes a run some twenty times slower; up to so many elements it is worth it.
TRACED: Final = 100_000
#: A point that takes less than so many elements is run several times within a measurement.
ENOUGH: Final = 100_000


@dataclass(frozen=True, slots=True)
class Work:
    """What is run for one point of a line: it returns ``result``, and makes ``elements`` times ``parts`` steps.

    With ``prepare`` that is called before each run, not timed, and gives what is run.
    """

    run: Callable[[], object] | None
    elements: int
    result: object
    parts: int = 1
    prepare: Callable[[], Callable[[], object]] | None = None

    def ready(self) -> Callable[[], object]:
        run = self.run if self.prepare is None else self.prepare()
        assert run is not None
        return run


@dataclass(frozen=True, slots=True)
class Growth:
    """One table: how each line behaves at each point of an axis."""

    name: str
    axis: str
    points: Sequence[int]
    lines: Mapping[str, Callable[[int], Work]]
    unit: str = "ns per element"


@dataclass(frozen=True, slots=True)
class Point:
    line: str
    at: int
    nanoseconds: float
    #: Most memory held at once during the run, beyond what was there before; None where it was not traced.
    peak_kilobytes: float | None
    #: By how much the run made the process larger than it had ever been; noticed where what is held grows with the elements.
    grown_kilobytes: float = 0.0


def growths(largest: int) -> Iterator[Growth]:
    """All tables, with up to ``largest`` elements, and with a hundredth of that where the axis is another."""
    elements = [10**power for power in range(4, 9) if 10**power <= largest] or [largest]
    yield Growth("elements", "elements", elements, _by_elements())
    fixed = max(largest // 100, 1_000)
    yield Growth("operators", "operators", (1, 2, 4, 8, 16, 32), _by_operators(fixed), "ns per element and operator")
    inners = [10**power for power in range(5) if 10**power <= fixed]
    yield Growth("inner streams", "open at once", inners, _by_inners(fixed))
    yield Growth("opening inner streams", "open at once", inners, _opening(), "ns per inner stream")


def measure_growth(growth: Growth, rounds: int) -> list[Point]:
    """Raises AssertionError when a run gives something else than it should."""
    return [_point(name, at, line(at), rounds) for name, line in growth.lines.items() for at in growth.points]


def _point(name: str, at: int, work: Work, rounds: int) -> Point:
    def once() -> float:
        run = work.ready()
        started = process_time()
        result = run()
        spent = process_time() - started
        assert result == work.result, f"{name} at {at}: {result!r}, not {work.result!r}"
        return spent

    if work.elements <= TRACED:
        once()  # the warm-up; what is long warms itself up
    # what is short is run often, what is long once
    times = max(rounds if work.elements <= 10 * ENOUGH else 1, min(ENOUGH // work.elements, 10 * rounds))
    gc.collect()
    before = _largest()
    taken = [once() for _ in range(times)]
    grown = _largest() - before
    peak = _peak(work) if work.elements <= TRACED else None
    return Point(name, at, median(taken) / work.elements / work.parts * 1e9, peak, grown)


def _largest() -> float:
    """The most kilobytes this process ever had in memory."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / 1024 if sys.platform == "darwin" else size


def _peak(work: Work) -> float:
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        work.ready()()
        return (tracemalloc.get_traced_memory()[1] - before) / 1024
    finally:
        tracemalloc.stop()


# -- lines -------------------------------------------------------------------------------------------------------------------


def _by_elements() -> dict[str, Callable[[int], Work]]:
    def wanted(size: int) -> int:
        # the odd numbers of 1..size, doubled
        return 2 * ((size + 1) // 2) ** 2

    def chained(flow: Flowable[int]) -> Flowable[int]:
        return flow.map(add_one).filter(is_odd).map(double)

    def by_hand(size: int) -> Work:
        def run() -> int:
            total = 0
            for item in range(size):
                value = add_one(item)
                if is_odd(value):
                    total += double(value)
            return total

        return Work(run, size, wanted(size))

    def hidden(size: int) -> Work:
        flow = Flowable.range(size).hide().map(add_one).hide().filter(is_odd).hide().map(double).hide()
        return Work(subscribed(flow), size, wanted(size))

    def inner(size: int) -> Work:
        flow = Flowable.range(size // 10).concat_map(lambda _item: Flowable.range(10)).sum()
        return Work(flow.blocking_get, size, size // 10 * 45)

    return {
        "loop by hand": by_hand,
        "fused, sum": lambda size: Work(chained(Flowable.range(size)).sum().blocking_get, size, wanted(size)),
        "fused, request(128)": lambda size: Work(subscribed(chained(Flowable.range(size)), 128), size, wanted(size)),
        "hide() between all": hidden,
        "concat_map to range(10)": inner,
        "queued to a thread": lambda size: Work(queued(size, 128), size, size * (size - 1) // 2),
    }


def _by_operators(size: int) -> dict[str, Callable[[int], Work]]:
    """Source and consumer count as one operator more."""

    def work(more: Callable[[Flowable[int]], Flowable[int]], hot: bool = False) -> Callable[[int], Work]:
        def of(operators: int) -> Work:
            total = size * (size - 1) // 2 + size * operators
            processor = PublishProcessor[int]()
            flow: Flowable[int] = processor if hot else Flowable.range(size)
            for _ in range(operators):
                flow = more(flow)

            def fed() -> int:
                end = Counting()
                flow.subscribe(end)
                for item in range(size):
                    processor.on_next(item)
                end.cancel()
                return end.total

            return Work(fed if hot else subscribed(flow), size, total, operators + 1)

        return of

    return {
        "map, fused": work(lambda flow: flow.map(add_one)),
        "map, pushed by a processor": work(lambda flow: flow.map(add_one), hot=True),
        "map and hide()": work(lambda flow: flow.map(add_one).hide()),
    }


def _by_inners(size: int) -> dict[str, Callable[[int], Work]]:
    """The sources take turns; opening them is not timed, closing them is."""
    total = size * (size - 1) // 2

    def fed(subscribe: Callable[[list[PublishProcessor[int]], Counting], object]) -> Callable[[int], Work]:
        def line(inners: int) -> Work:
            def prepare() -> Callable[[], object]:
                end, sources = Counting(), [PublishProcessor[int]() for _ in range(inners)]
                subscribe(sources, end)

                def run() -> int:
                    for item in range(size):
                        sources[item % inners].on_next(item)
                    return end.total

                return run

            return Work(None, size, total, prepare=prepare)

        return line

    def flattened(sources: list[PublishProcessor[int]], end: Counting) -> None:
        Flowable.from_iterable(sources).flat_map(_same, max_concurrency=len(sources)).subscribe(end)

    def merged(sources: list[PublishProcessor[int]], end: Counting) -> None:
        Flowable.merge(*sources).subscribe(end)

    def apart(sources: list[PublishProcessor[int]], end: Counting) -> None:
        for source in sources:
            source.subscribe(end)

    def grouped(groups: int) -> Work:
        count = max(size, 10 * groups)  # a group is opened by its first item, which the others have to outweigh
        flow = Flowable.range(count).group_by(lambda item: item % groups).flat_map(_same, max_concurrency=groups).sum()
        return Work(flow.blocking_get, count, count * (count - 1) // 2)

    return {
        "processors alone": fed(apart),
        "flat_map of processors": fed(flattened),
        "merge of processors": fed(merged),
        "group_by and flat_map": grouped,
    }


def _opening() -> dict[str, Callable[[int], Work]]:
    def hot(inners: int) -> Work:
        def prepare() -> Callable[[], object]:
            end, sources = Counting(), [PublishProcessor[int]() for _ in range(inners)]

            def run() -> int:
                Flowable.from_iterable(sources).flat_map(_same, max_concurrency=inners).subscribe(end)
                for source in sources:
                    source.on_complete()
                return end.total

            return run

        return Work(None, inners, 0, prepare=prepare)

    def cold(inners: int) -> Work:
        flow = Flowable.range(inners).flat_map(Flowable.just, max_concurrency=inners)
        return Work(subscribed(flow), inners, inners * (inners - 1) // 2)

    def hidden(inners: int) -> Work:
        flow = Flowable.range(inners).flat_map(lambda item: Flowable.just(item).hide(), max_concurrency=inners)
        return Work(subscribed(flow), inners, inners * (inners - 1) // 2)

    return {"processors, ended": hot, "just": cold, "just, hidden": hidden}


def _same(source: Any) -> Any:
    return source


# -- reports -----------------------------------------------------------------------------------------------------------------


def growth_table(growth: Growth, points: Sequence[Point]) -> str:
    """Rows are points; the last row says how much dearer the last point of a line is than its cheapest."""
    lines = list(growth.lines)
    found = {(point.line, point.at): point for point in points}
    rows = [
        f"{growth.name}: {growth.unit} (peak kilobytes, or + those by which the process grew)",
        "",
        f"| {growth.axis} | " + " | ".join(lines) + " |",
        "| ---: |" + " ---: |" * len(lines),
    ]
    rows += [f"| {at:,} | " + " | ".join(_cell(found[line, at]) for line in lines) + " |" for at in growth.points]
    rows.append("| last / cheapest | " + " | ".join(f"{flatness(points, line):.2f}" for line in lines) + " |")
    return "\n".join(rows)


def _cell(point: Point) -> str:
    memory = f"+{point.grown_kilobytes:,.0f}" if point.peak_kilobytes is None else f"{point.peak_kilobytes:,.0f}"
    return f"{point.nanoseconds:,.0f} ({memory})"


def flatness(points: Sequence[Point], line: str) -> float:
    """About 1.0 when the cost per element does not rise to the last point."""
    costs = [point.nanoseconds for point in points if point.line == line]
    return costs[-1] / min(costs)


def growth_json(growth: Growth, points: Sequence[Point]) -> dict[str, Any]:
    return {
        "name": growth.name,
        "axis": growth.axis,
        "unit": growth.unit,
        "lines": [
            {
                "line": line,
                "last_to_cheapest": flatness(points, line),
                "points": [
                    {
                        "at": point.at,
                        "nanoseconds": point.nanoseconds,
                        "peak_kilobytes": point.peak_kilobytes,
                        "grown_kilobytes": point.grown_kilobytes,
                    }
                    for point in points
                    if point.line == line
                ],
            }
            for line in growth.lines
        ],
    }


def growth_report(measured: Sequence[tuple[Growth, Sequence[Point]]]) -> str:
    return "\n\n".join([heading(), *(growth_table(growth, points) for growth, points in measured)])

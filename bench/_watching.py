"""What it costs to be watched: a name, metrics, runs that are counted, and looking for runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import rx_metrics
from bench._common import add_one, double, is_odd
from bench._measure import Case, Way, at_most
from rx_core import Handle, runs
from rx_core.live import watch
from rx_ops import Flowable, PublishProcessor


def watching_cases(size: int) -> Iterator[Case]:
    yield _chain(size)
    yield _hot(size // 4)
    yield _looking()


def _measured(build: Callable[[], Any]) -> Any:
    rx_metrics.start()
    try:
        return build()
    finally:
        rx_metrics.stop()


def _chain(size: int) -> Case:
    def chain() -> Flowable[int]:
        return Flowable.range(size).map(add_one).filter(is_odd).map(double)

    def counted(stream: Flowable[int]) -> int:
        with watch():
            return stream.sum().blocking_get()

    def into_callbacks(stream: Flowable[int]) -> int:
        total = 0

        def add(item: int) -> None:
            nonlocal total
            total += item

        stream.subscribe(add)
        return total

    measured: Flowable[int] = _measured(lambda: chain().named("bench"))
    plain, named = chain(), chain().named("bench")
    return Case(
        "metrics of a chain",
        size,
        {
            "sum": plain.sum().blocking_get,
            "named, sum": named.sum().blocking_get,
            "measured, sum": measured.sum().blocking_get,
            "watched, sum": lambda: counted(plain),
            "callbacks": lambda: into_callbacks(plain),
            "measured, callbacks": lambda: into_callbacks(measured),
        },
        goals=(
            at_most("named, sum", 1.05),
            at_most("measured, sum", 2.0),
            at_most("measured, callbacks", 2.0, of="callbacks"),
        ),
    )


def _hot(size: int) -> Case:
    def sent(build: Callable[[PublishProcessor[int]], Flowable[int]]) -> Callable[[], int]:
        subject = PublishProcessor[int]()
        total = 0

        def add(item: int) -> None:
            nonlocal total
            total += item

        build(subject).subscribe(add)

        def run() -> int:
            nonlocal total
            total = 0
            send = subject.on_next
            for item in range(size):
                send(item)
            return total

        return run

    return Case(
        "metrics of a hot source",
        size,
        {
            "map": sent(lambda subject: subject.map(add_one)),
            "map, measured": sent(lambda subject: _measured(lambda: subject.map(add_one).named("bench"))),
        },
        goals=(at_most("map, measured", 2.0),),
    )


def _looking() -> Case:
    handles: list[Handle] = []

    def looked() -> int:
        if not handles:  # with the warm-up; they live as long as this
            handles.extend(PublishProcessor[int]().map(add_one).subscribe(print) for _ in range(100))
        return min(len(runs()), 100)

    return Case("runs() with a hundred live runs", 100, {"runs()": Way(looked, 100, 100)}, note="ns per run")

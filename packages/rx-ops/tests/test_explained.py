"""What explain() says of clocks, and of stages that cannot be compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

import rx_schedulers
from rx_fusion import stage
from rx_ops import Flowable, Single
from rx_testing import ManualPublisher, TestSubscriber

TIMED: dict[str, Callable[[], Any]] = {
    "interval": lambda: Flowable.interval(1.0),
    "timer": lambda: Flowable.timer(1.0).map(str),
    "single timeout": lambda: Single.never().timeout(1.0),
    "debounce": lambda: Flowable.never().debounce(1.0),
    "timeout": lambda: Flowable.never().timeout(1.0),
    "delay": lambda: Flowable.never().delay(1.0),
}


@pytest.mark.parametrize("built", TIMED.values(), ids=list(TIMED))
def test_an_operator_with_a_clock_names_the_thread(built: Callable[[], Any]) -> None:
    assert "worker of computation()" in built().explain()


def test_the_clock_that_was_given_is_named() -> None:
    lines = Flowable.interval(1.0, scheduler=rx_schedulers.io()).map(str).explain().splitlines()
    assert "      · thread: what is due comes on a worker of io()" in lines


def adding(amount: int) -> Callable[..., Iterator[int]]:
    @stage
    def added(source: Iterable[int]) -> Iterator[int]:
        for item in source:
            yield item + amount

    return added


def test_a_stage_that_uses_a_variable_around_it_says_which() -> None:
    flow = Flowable.range(3)._then(adding(2))
    assert flow.blocking_list() == [2, 3, 4]
    assert flow.explain() == "range(3) → added()\n   · stacked generators: added uses amount of the function around it"


def test_a_stage_without_text_says_so() -> None:
    names: dict[str, Any] = {"stage": stage}
    exec("@stage\ndef added(source):\n    for item in source:\n        yield item + 1\n", names)
    flow = Flowable.range(3)._then(names["added"])
    assert flow.blocking_list() == [1, 2, 3]
    assert "stacked generators: added has no source text to compile" in flow.explain()


def test_stages_in_front_of_the_queue_of_an_operator_run_when_the_item_comes() -> None:
    source = ManualPublisher[int]()
    seen: list[int] = []
    stages = Flowable.wrap(source).do_on_next(seen.append)
    zipped: Flowable[tuple[int, int]] = Flowable.zip(stages, Flowable.never())
    zipped.subscribe(TestSubscriber[tuple[int, int]]())
    source.next(1)
    assert seen == [1]
    assert "1 stage in one call per item, pushed through, no queue" in zipped.explain()

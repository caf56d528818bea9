"""Operators under threads that stumble between two instructions of the library: signals stay serial, nothing is lost.

A nightly test, ``RX_STRESS=1``: of the first 28 runs one failed without leaving a trace of why, so it is not yet a gate.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rx_core
import rx_ops
import rx_schedulers
from rx_core import UNBOUNDED, Drain
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber
from rx_testing.racing import caught, race, rounds

pytestmark = [
    pytest.mark.stress,
    pytest.mark.skipif(not os.environ.get("RX_STRESS"), reason="a nightly test: RX_STRESS=1 runs it"),
]

THREADS = 4
EACH = 12
ROUNDS = 15
WATCHED = [str(Path(rx_core.__file__).parent), str(Path(rx_ops.__file__).parent / "coordination")]

Sources = list[ManualPublisher[Any]]


def _observed(sources: Sources) -> Flowable[Any]:
    computation = rx_schedulers.computation()
    return Flowable.merge(*[Flowable.wrap(source).observe_on(computation) for source in sources])


BUILDS: dict[str, Callable[[Sources], Flowable[Any]]] = {
    "merge": lambda sources: Flowable.merge(*sources),
    "flat_map": lambda sources: Flowable.range(THREADS).flat_map(lambda at: sources[at]),
    "observe_on": lambda sources: Flowable.merge(*sources).observe_on(rx_schedulers.computation()),
    "observe_on, merge": _observed,
    "zip": lambda sources: Flowable.zip(*sources),
    "group_by, flat_map": lambda sources: Flowable.merge(*sources).group_by(_kind).flat_map(lambda group: group),
}


def _kind(item: tuple[int, int]) -> int:
    return item[1] % 3


def _feed(source: ManualPublisher[Any], number: int) -> Callable[[], None]:
    def work() -> None:
        for at in range(EACH):
            source.next((number, at))
        source.complete()

    return work


def _run(build: Callable[[Sources], Flowable[Any]], one_by_one: bool, elements: int) -> None:
    sources: Sources = [ManualPublisher(unchecked=True) for _ in range(THREADS)]
    got = TestSubscriber[Any](1 if one_by_one else UNBOUNDED)
    build(sources).subscribe(got)
    workers: list[Callable[[], object]] = [_feed(source, number) for number, source in enumerate(sources)]
    if one_by_one:
        workers.append(lambda: [got.request(1) for _ in range(elements)])
    race(*workers, watch=WATCHED)
    got.await_terminal(20).assert_complete().assert_valid().assert_value_count(elements)


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize("one_by_one", [False, True], ids=["unbounded", "requests from another thread"])
def test_every_element_arrives_and_signals_stay_serial(name: str, one_by_one: bool) -> None:
    elements = EACH if name == "zip" else EACH * THREADS
    for _ in rounds(ROUNDS):
        _run(BUILDS[name], one_by_one, elements)


def test_control_a_token_that_everybody_gets_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    class Generous(dict[int, bool]):
        """As if the token were not taken: the run is entered by every thread that wakes it."""

        def pop(self, *_: Any) -> Any:
            return True

    def broken(_number: int) -> None:
        sources: Sources = [ManualPublisher(unchecked=True) for _ in range(THREADS)]
        got = TestSubscriber[Any]()
        start = Drain.start

        def generous(drain: Drain[Any], body: Any) -> None:
            start(drain, body)
            drain._token = Generous({0: True})

        with monkeypatch.context() as patch:
            patch.setattr(Drain, "start", generous)
            Flowable.merge(*sources).subscribe(got)
        try:
            race(*[_feed(source, number) for number, source in enumerate(sources)], watch=WATCHED, seconds=10)
        except Exception as error:  # whatever it looks like when two threads run one generator
            raise AssertionError("two threads were in one run") from error
        assert len(got.values) == EACH * THREADS
        got.assert_complete().assert_valid()

    assert caught(broken, 30)

"""Eight threads feed one merge, flat_map, observe_on, processor: signals stay serial, exactly what was sent arrives, and nobody
gets more than was requested.

Each target takes a hundred rounds at full speed, over switch intervals from 1 µs to 5 ms, and some in which the threads stumble
between two instructions of the library (see `rx_testing.racing`). Each has a control: what it is without its serializer has to be
caught by the very same check.
"""

from __future__ import annotations

import sys
import sysconfig
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import rx_core
import rx_ops
import rx_schedulers
from rx_core import UNBOUNDED
from rx_core.streams import Op
from rx_ops import (
    AsyncProcessor,
    AsyncSubject,
    BehaviorProcessor,
    BehaviorSubject,
    Flowable,
    PublishProcessor,
    PublishSubject,
    ReplayProcessor,
    ReplaySubject,
    UnicastProcessor,
    UnicastSubject,
)
from rx_ops.operators import ObserveOn
from rx_testing import ManualPublisher, TestObserver, TestSubscriber
from rx_testing.racing import caught, race, rounds
from tests.integration.unserialized import LooseScheduler, failing, without_tokens

pytestmark = pytest.mark.stress

THREADS = 8
EACH = 10
ALL = THREADS * EACH
PREFETCH = 4
#: Rounds in which the threads stumble: each is worth a hundred of the others and takes ten times as long.
STUMBLING = 6
WATCHED = (str(Path(rx_core.__file__).parent), str(Path(rx_ops.__file__).parent))

Sources = list[ManualPublisher[Any]]
Build = Callable[[Sources], Flowable[Any]]
Item = tuple[int, int]


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_on_a_free_threaded_python_the_threads_run_at_the_same_time() -> None:
    """An extension module that is not made for it turns the GIL on again, and then these races prove less than they seem to."""
    assert not getattr(sys, "_is_gil_enabled", lambda: True)()


# -- operators ---------------------------------------------------------------------------------------------------------------


class Source:
    """A publisher fed by one thread, which sends what it is asked for and not more."""

    def __init__(self, number: int, patience: float) -> None:
        self.publisher: ManualPublisher[Any] = ManualPublisher(on_request=self._asked)
        #: The most that was asked for and not sent.
        self.ahead = 0
        self._number = number
        self._patience = patience
        self._asks = threading.Semaphore(0)

    def _asked(self, subscription: Any, n: int) -> None:
        self.ahead = max(self.ahead, min(subscription.outstanding, EACH))
        self._asks.release(min(n, EACH))

    def feed(self) -> None:
        for at in range(EACH):
            assert self._asks.acquire(timeout=self._patience), "nothing more is requested"
            self.publisher.next((self._number, at))
        self.publisher.complete()


def ask_in_turns(got: TestSubscriber[Any]) -> Sequence[Callable[[], object]]:
    """Two workers that request as many as there are, one by one and three by three."""
    half = ALL // 2

    def threes() -> None:
        for _ in range(half // 3):
            got.request(3)
        got.request(half % 3)

    return [lambda: [got.request(1) for _ in range(half)], threes]


def run_operator(build: Build, bounded: bool, watch: Sequence[str] = (), patience: float = 20.0) -> None:
    sources = [Source(number, patience) for number in range(THREADS)]
    got = TestSubscriber[Any](request=0 if bounded else UNBOUNDED)
    build([source.publisher for source in sources]).subscribe(got)
    asking = ask_in_turns(got) if bounded else ()
    race(*(source.feed for source in sources), *asking, watch=watch, seconds=1.5 * patience)
    got.await_terminal(patience).assert_complete()  # which also says: serial, and no more than was requested
    check_items(got.values)
    assert max(source.ahead for source in sources) <= PREFETCH


def check_items(values: list[Item]) -> None:
    """All that was sent, once, and what one thread sent in its order."""
    assert sorted(values) == [(number, at) for number in range(THREADS) for at in range(EACH)]
    for number in range(THREADS):
        assert [at for sender, at in values if sender == number] == list(range(EACH))


def _merge(sources: Sources) -> Flowable[Any]:
    return Flowable.merge(*sources, prefetch=PREFETCH)


def _flat_map(sources: Sources) -> Flowable[Any]:
    return Flowable.range(THREADS).flat_map(lambda at: sources[at], prefetch=PREFETCH)


def _observe_on(sources: Sources) -> Flowable[Any]:
    return _merge(sources).observe_on(rx_schedulers.computation(), prefetch=PREFETCH)


def _all_observed(sources: Sources) -> Flowable[Any]:
    computation = rx_schedulers.computation()
    observed = [Flowable.wrap(source).observe_on(computation, prefetch=PREFETCH) for source in sources]
    return Flowable.merge(*observed, prefetch=PREFETCH)


OPERATORS: dict[str, Build] = {
    "merge": _merge,
    "flat_map": _flat_map,
    "observe_on": _observe_on,
    "observe_on, merge": _all_observed,
}
DEMANDS = pytest.mark.parametrize("bounded", [False, True], ids=["unbounded", "requests from two more threads"])


@DEMANDS
@pytest.mark.parametrize("name", OPERATORS)
def test_eight_threads_feed_an_operator(name: str, bounded: bool) -> None:
    for _ in rounds(100):
        run_operator(OPERATORS[name], bounded)


@DEMANDS
@pytest.mark.parametrize("name", OPERATORS)
def test_eight_stumbling_threads_feed_an_operator(name: str, bounded: bool) -> None:
    for _ in rounds(STUMBLING):
        run_operator(OPERATORS[name], bounded, WATCHED)


# -- processors and subjects -------------------------------------------------------------------------------------------------

#: Those that give every item, and those of them that keep what is not requested yet.
PROCESSORS: list[Any] = [PublishProcessor, BehaviorProcessor, ReplayProcessor, UnicastProcessor]
SUBJECTS: list[Any] = [PublishSubject, BehaviorSubject, ReplaySubject, UnicastSubject]
KEEPING: list[Any] = [ReplayProcessor, UnicastProcessor]


def run_processor(source: Any, entry: Any, end: Any, watch: Sequence[str] = (), patience: float = 20.0) -> None:
    """Eight threads send to ``entry``; ``end`` has what ``source`` gives. The thread that is ready last completes it."""
    source.subscribe(end)
    ready: list[int] = []

    def send(number: int) -> Callable[[], None]:
        def work() -> None:
            for at in range(EACH):
                entry.on_next((number, at))
            ready.append(number)
            if len(ready) == THREADS:  # more than one may see that: the first to complete counts
                entry.on_complete()

        return work

    asking = ask_in_turns(end) if isinstance(end, TestSubscriber) and not end.requested else ()
    race(*(send(number) for number in range(THREADS)), *asking, watch=watch, seconds=1.5 * patience)
    end.await_terminal(patience).assert_complete()
    check_items(end.values)


def end_for(made: Any) -> Any:
    return TestObserver() if made in SUBJECTS else TestSubscriber()


@pytest.mark.parametrize("made", PROCESSORS + SUBJECTS)
def test_eight_threads_feed_a_serialized_processor(made: Any) -> None:
    for _ in rounds(100):
        source = made()
        run_processor(source, source.to_serialized(), end_for(made))


@pytest.mark.parametrize("made", PROCESSORS + SUBJECTS)
def test_eight_stumbling_threads_feed_a_serialized_processor(made: Any) -> None:
    for _ in rounds(STUMBLING):
        source = made()
        run_processor(source, source.to_serialized(), end_for(made), WATCHED)


@pytest.mark.parametrize("made", KEEPING)
def test_eight_threads_feed_a_serialized_processor_while_two_more_request(made: Any) -> None:
    for number in rounds(100):
        source = made()
        watch = WATCHED if number % 10 == 9 else ()
        run_processor(source, source.to_serialized(), TestSubscriber[Any](request=0), watch)


@pytest.mark.parametrize("made", [AsyncProcessor, AsyncSubject])
def test_the_last_of_eight_threads_is_what_an_async_processor_gives(made: Any) -> None:
    for number in rounds(50):
        source = made()
        entry = source.to_serialized()
        end: Any = TestSubscriber() if made is AsyncProcessor else TestObserver()
        source.subscribe(end)

        def send(sender: int, entry: Any = entry) -> Callable[[], object]:
            return lambda: [entry.on_next((sender, at)) for at in range(EACH)]

        race(*(send(sender) for sender in range(THREADS)), watch=WATCHED if number % 10 == 9 else ())
        end.assert_empty()
        entry.on_complete()
        end.assert_complete().assert_value_count(1)
        assert end.values[0][1] == EACH - 1  # the last item of one of them


# -- controls: without the serializer ----------------------------------------------------------------------------------------


def _observed_loosely(sources: Sources) -> Flowable[Any]:
    return _merge(sources).observe_on(LooseScheduler(), prefetch=PREFETCH)


@pytest.mark.parametrize("build", [_merge, _flat_map, _observed_loosely])
def test_control_an_operator_whose_token_every_thread_gets_is_caught(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(op: Op[Any]) -> bool:
        return build is not _observed_loosely or isinstance(op, ObserveOn)

    def broken(_number: int) -> None:
        with without_tokens(monkeypatch, chosen):
            run_operator(build, False, WATCHED, patience=0.4)

    assert caught(broken, 600)  # one try in sixty finds two threads at work, with the GIL


def test_with_its_token_observe_on_needs_no_serial_worker() -> None:
    """So it is the token that is missing in the control above, and not the worker."""
    for _ in rounds(10):
        run_operator(_observed_loosely, False, WATCHED)


@pytest.mark.parametrize("made", PROCESSORS + SUBJECTS)
def test_control_a_processor_that_is_not_serialized_is_caught(made: Any) -> None:
    def broken(_number: int) -> None:
        source = made()
        with failing():
            run_processor(source, source, end_for(made), WATCHED, patience=0.4)

    assert caught(broken, 150)  # without the GIL 30 are not always enough

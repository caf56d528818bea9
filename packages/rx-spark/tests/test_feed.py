"""The feed with tasks and jobs played by the test: no Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from rx_ops import Flowable
from rx_ops.processors import PublishProcessor
from rx_spark import SparkConfig, SparkJobError
from rx_spark._columns._rows import Kind, RowType, SchemaError, tuple_row, value_row
from rx_spark._jobs._feed_op import CHUNKS_AHEAD, FeedOp
from rx_spark._jobs._job import SparkJob
from rx_spark._plans._plan import FeedSource, Plan
from rx_spark._plans._targets import Lazy
from rx_spark._transport import _feed as feed_module
from rx_spark._transport._feed import FIRST_SIZE, Feed, FeedReader
from rx_spark._transport._place import Place
from rx_spark._transport._sink import CreditSink
from rx_spark._transport._wire import CHUNK, FEED, FeedClosed, SinkAddress, connect
from rx_testing import TestSubscriber
from rx_testing.racing import caught, race, rounds

PATIENCE = 10.0
LOOPBACK = Place("127.0.0.1", "127.0.0.1")
ROW = value_row(Kind(int))
WRITTEN = "written"


class PlayedJob(SparkJob):
    """A job with a listener and without Spark: it is over when the test says so, or when it is told to stop."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.listening = threading.Event()
        self.killed = threading.Event()
        self.over = threading.Event()

    def _submit(self) -> None:
        self._sink = sink = CreditSink(LOOPBACK, self._on_ready, self._kill, holds_errors=True, feed=self._feed)
        sink.thread.start()
        sink.expect(None, None)
        if self._given_up is not None:
            sink.give_up(self._given_up)
        self.listening.set()
        assert self.over.wait(PATIENCE)
        if self.killed.is_set():
            raise SparkJobError("cancelled")
        sink.deliver([WRITTEN])

    def _kill(self) -> None:
        self.killed.set()
        self.over.set()

    @property
    def address(self) -> SinkAddress:
        assert self.listening.wait(PATIENCE), "there is no job"
        assert self._sink is not None
        return self._sink.address


class PlayedOp(FeedOp):
    __slots__ = ("made",)

    made: list[PlayedJob]

    def make_job(self) -> SparkJob:
        job = PlayedJob(self.config, self.plan, on_ready=self.arrived, feed=self.feed.connect)
        self.made.append(job)
        return job


class Run:
    """A stream that is being fed to tasks of the test."""

    def __init__(self, source: Any, kind: type[PlayedOp] = PlayedOp, row: RowType = ROW) -> None:
        self.subscriber: TestSubscriber[Any] = TestSubscriber()
        plan = Plan(FeedSource()).into(Lazy(), row)
        self.op = kind(self.subscriber, source, SparkConfig(), plan, row, None, "the test")
        self.op.made = []
        self.op.start()

    @property
    def job(self) -> PlayedJob:
        assert wait_until(lambda: bool(self.op.made)), "no job begins"
        return self.op.made[0]

    def task(self) -> Iterator[int]:
        ((_, items),) = FeedReader(self.job.address).blocks((), 0)
        return (value for (value,) in items)

    def finish(self) -> None:
        self.job.over.set()

    def threads_end(self) -> bool:
        threads = [self.op.feed.thread, *(thread for job in self.op.made for thread in job._threads())]
        for thread in threads:
            if thread.ident is not None:
                thread.join(PATIENCE)
        return not any(thread.is_alive() for thread in threads)


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    pause = threading.Event()
    for _ in range(int(seconds / 0.002)):
        if condition():
            return True
        pause.wait(0.002)
    return condition()


@pytest.fixture
def feed() -> Iterator[Callable[..., Run]]:
    """Starts runs; at the end all their threads must be gone."""
    runs: list[Run] = []

    def begin(source: Any, **named: Any) -> Run:
        runs.append(Run(source, **named))
        return runs[-1]

    yield begin
    for run in runs:
        run.op.cancel()
        assert run.threads_end()


def counted(counts: list[int], source: Flowable[int]) -> Flowable[int]:
    def count_one(item: int) -> int:
        counts[0] += 1
        return item

    return source.map(count_one)


SOURCES: dict[str, Callable[[Flowable[int]], Flowable[int]]] = {
    "iterated": lambda flow: flow,
    "hidden": lambda flow: flow.hide(),
    "pushed": lambda flow: Flowable.merge(flow.hide(), Flowable.empty().hide()),
}


@pytest.mark.parametrize("form", SOURCES.values(), ids=SOURCES)
def test_all_items_reach_the_task_in_order(form: Callable[[Flowable[int]], Flowable[int]], feed: Callable[..., Run]) -> None:
    run = feed(form(Flowable.range(10_000)))
    assert list(run.task()) == list(range(10_000))
    run.subscriber.assert_not_terminated()  # the job has not committed
    run.finish()
    run.subscriber.await_terminal(PATIENCE)
    run.subscriber.assert_values(WRITTEN)


@pytest.mark.parametrize("form", SOURCES.values(), ids=SOURCES)
def test_the_source_is_ahead_of_the_task_by_some_chunks(
    form: Callable[[Flowable[int]], Flowable[int]], feed: Callable[..., Run]
) -> None:
    emitted, ahead = [0], 0
    run = feed(form(counted(emitted, Flowable.from_iterable(count()))))
    for taken, _ in enumerate(run.task(), 1):
        ahead = max(ahead, emitted[0] - taken)
        if taken == 50_000:
            break
    # a chunk that the task works on, one that is on its way, and the window of a source that pushes
    assert FIRST_SIZE <= ahead <= (2 + CHUNKS_AHEAD) * CHUNK


def test_nothing_begins_on_spark_before_there_is_an_item(feed: Callable[..., Run]) -> None:
    source: PublishProcessor[int] = PublishProcessor()
    run = feed(source)
    assert run.op.feed.thread.is_alive()
    assert not run.op.made
    source.on_next(1)
    assert next(run.task()) == 1


def test_an_empty_source_is_written_too(feed: Callable[..., Run]) -> None:
    run = feed(Flowable.empty())
    assert list(run.task()) == []
    run.finish()
    run.subscriber.await_terminal(PATIENCE)
    run.subscriber.assert_values(WRITTEN)


def test_slow_items_are_sent_as_they_come(feed: Callable[..., Run]) -> None:
    source: PublishProcessor[int] = PublishProcessor()
    run = feed(source)
    source.on_next(0)
    task = run.task()
    for number in range(5):
        assert next(task) == number  # nothing else was emitted by now
        source.on_next(number + 1)
    source.on_complete()
    assert list(task) == [5]


def test_an_error_before_the_first_item_needs_no_job(feed: Callable[..., Run]) -> None:
    error = ValueError("at once")
    run = feed(Flowable.error(error).hide())
    run.subscriber.await_terminal(PATIENCE)
    assert run.subscriber.error is error
    assert not run.op.made


def test_an_error_of_an_iterator_comes_as_itself_when_the_job_is_gone(feed: Callable[..., Run]) -> None:
    error = ValueError("in the second chunk")

    def failing() -> Iterator[int]:
        yield from range(FIRST_SIZE)
        raise error

    run = feed(Flowable.from_iterable(failing()))
    with pytest.raises(FeedClosed):
        list(run.task())
    run.subscriber.await_terminal(PATIENCE)
    assert run.subscriber.error is error
    assert run.job.killed.is_set()


def test_an_error_of_a_hot_source_comes_as_itself_when_the_job_is_gone(feed: Callable[..., Run]) -> None:
    error = ValueError("in the middle")
    source: PublishProcessor[int] = PublishProcessor()
    run = feed(source)
    source.on_next(1)
    task = run.task()
    assert next(task) == 1
    source.on_error(error)
    with pytest.raises(FeedClosed):
        list(task)
    run.subscriber.await_terminal(PATIENCE)
    assert run.subscriber.error is error
    assert run.job.killed.is_set()


def test_an_item_that_does_not_fit_ends_source_and_job(feed: Callable[..., Run]) -> None:
    left = threading.Event()
    source = Flowable.from_iterable(count()).map(lambda n: n if n < 3000 else threading.Lock()).do_on_cancel(left.set)
    run = feed(source.hide())
    with pytest.raises(FeedClosed):
        list(run.task())
    run.subscriber.await_terminal(PATIENCE)
    assert run.subscriber.error is not None
    assert "cannot be sent between processes" in str(run.subscriber.error)
    assert left.wait(PATIENCE)
    assert run.job.killed.is_set()


def test_an_item_without_the_columns_is_told_with_its_value(feed: Callable[..., Run]) -> None:
    run = feed(Flowable.of((1, 2), (3, 4, 5)), row=tuple_row([Kind(int), Kind(int)]))
    with pytest.raises(FeedClosed):
        list(run.task())
    run.subscriber.await_terminal(PATIENCE)
    assert isinstance(run.subscriber.error, SchemaError)
    assert str(run.subscriber.error).startswith("(3, 4, 5) is no tuple")


def test_a_second_attempt_of_the_task_fails_the_job(feed: Callable[..., Run]) -> None:
    left = threading.Event()
    run = feed(Flowable.from_iterable(count()).hide().do_on_cancel(left.set))
    first = run.task()
    assert next(first) == 0
    with pytest.raises(FeedClosed):
        next(run.task())
    run.subscriber.await_terminal(PATIENCE)
    assert isinstance(run.subscriber.error, SparkJobError)
    assert "ran again" in str(run.subscriber.error)
    assert left.wait(PATIENCE)
    assert run.job.killed.is_set()


def test_a_connection_without_the_token_gets_nothing(feed: Callable[..., Run]) -> None:
    run = feed(Flowable.range(3))
    address = run.job.address
    with connect(SinkAddress(address.host, address.port, b"x" * 32), FEED, 0) as stranger:
        assert stranger.recv(1) == b""
    assert list(run.task()) == [0, 1, 2]


def test_a_listener_that_feeds_nothing_hangs_up() -> None:
    sink = CreditSink(LOOPBACK, lambda: None, lambda: None)
    sink.thread.start()
    with connect(sink.address, FEED, 0) as task:
        assert task.recv(1) == b""
    sink.job_over(None)
    sink.thread.join(PATIENCE)


def test_cancelling_cancels_source_and_job(feed: Callable[..., Run]) -> None:
    left = threading.Event()
    run = feed(Flowable.from_iterable(count()).hide().do_on_cancel(left.set))
    task = run.task()
    assert next(task) == 0
    run.op.cancel()
    with pytest.raises(FeedClosed):
        list(task)
    assert left.wait(PATIENCE)
    assert run.job.killed.wait(PATIENCE)
    run.subscriber.assert_not_terminated()


def test_cancelling_ends_the_job_while_the_source_computes(feed: Callable[..., Run]) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow() -> Iterator[int]:
        yield from range(16)
        inside.set()
        assert go_on.wait(PATIENCE)
        yield 16

    run = feed(Flowable.from_iterable(slow()))
    task = run.task()
    assert next(task) == 0
    assert inside.wait(PATIENCE)
    run.op.cancel()
    assert run.job.killed.wait(PATIENCE)
    go_on.set()


def test_the_source_is_left_when_the_job_wants_none_of_it(feed: Callable[..., Run]) -> None:
    left = threading.Event()
    run = feed(Flowable.from_iterable(count()).hide().do_on_cancel(left.set))
    run.finish()  # mode="ignore": what is there stays, and no task begins
    run.subscriber.await_terminal(PATIENCE)
    run.subscriber.assert_values(WRITTEN)
    assert left.wait(PATIENCE)


# --- races ------------------------------------------------------------------------------------------------------------


def _race_items_and_asks(kind: type[PlayedOp], seconds: float = PATIENCE) -> None:
    """A source that emits one item after the other while the task asks for more: each ask is answered."""
    source: PublishProcessor[int] = PublishProcessor()
    run = Run(source, kind)
    try:
        source.on_next(0)
        task = run.task()
        found: list[int] = [next(task)]

        def emit() -> None:
            for number in range(1, 40):
                source.on_next(number)
            source.on_complete()

        def take() -> None:
            with suppress(FeedClosed):
                found.extend(task)

        taker = threading.Thread(target=take, daemon=True)
        taker.start()
        race(emit, watch=WATCHED)
        taker.join(seconds)
        assert found == list(range(40))
    finally:
        run.op.cancel()
        assert run.threads_end()


WATCHED = [feed_module.__file__, str(Path(feed_module.__file__).with_name("_feed_op.py"))]


class Deaf(PlayedOp):
    """Control: does not say that it was asked, so that only an item is a reason to look."""

    __slots__ = ()

    def asked(self) -> None:
        if not self.feed._connection:
            super().asked()


@pytest.mark.stress
def test_no_ask_is_lost_while_items_arrive() -> None:
    for _ in rounds(10):
        _race_items_and_asks(PlayedOp)


@pytest.mark.stress
def test_control_a_lost_ask_is_found() -> None:
    assert caught(lambda _: _race_items_and_asks(Deaf, 0.2), 20)


def _race_cancel_and_end(kind: type[PlayedOp], number: int) -> None:
    """A cancel while the source fails and the task takes: at most one signal, and nothing is left at work."""
    source: PublishProcessor[int] = PublishProcessor()
    run = Run(source, kind)
    source.on_next(0)
    task = run.task()
    next(task)

    def take() -> None:
        with suppress(FeedClosed):
            list(task)

    ends: list[Callable[[], object]] = [
        lambda: source.on_error(ValueError("late")),
        source.on_complete,
        lambda: source.on_next(1),
    ]
    taker = threading.Thread(target=take, daemon=True)
    taker.start()
    race(run.op.cancel, ends[number % 3], watch=WATCHED)
    run.op.feed.thread.join(0.5 if kind is Staying else PATIENCE)
    alive = run.op.feed.thread.is_alive()
    Feed.stop(run.op.feed)
    taker.join(PATIENCE)
    assert run.threads_end()
    assert not alive
    assert not taker.is_alive()
    assert run.subscriber.values == []


class Silent(Feed):
    def stop(self) -> None:
        pass


class Staying(PlayedOp):
    """Control: does not hang up."""

    __slots__ = ()

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.feed = Silent(self, ROW)


@pytest.mark.stress
def test_a_cancel_races_with_the_end() -> None:
    for number in rounds(12):
        _race_cancel_and_end(PlayedOp, number)


@pytest.mark.stress
def test_control_a_feed_that_stays_is_found() -> None:
    assert caught(lambda number: _race_cancel_and_end(Staying, number), 6)

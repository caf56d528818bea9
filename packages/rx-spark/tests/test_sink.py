"""The credit sink with tasks played by the test: no Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from played import LOOPBACK, PATIENCE, Driver, impatient, striped

from rx_ops import aggregates
from rx_ops._group_aggregate import aggregates_of
from rx_spark._columns._arrow import arrow_schema, made_rows, pack_rows, unpack_rows, write_batch
from rx_spark._columns._observed import GATHERED, Observed, Observing, observe
from rx_spark._columns._rows import row_type
from rx_spark._errors import SparkJobError
from rx_spark._transport import _credits, _sink
from rx_spark._transport._credits import WINDOW
from rx_spark._transport._rounds import Finished
from rx_spark._transport._sink import CreditSink, Tasks
from rx_spark._transport._wire import (
    DATA,
    DONE,
    END,
    ERROR,
    REPORT,
    SEEN,
    WITNESS,
    Link,
    SinkAddress,
    dump_items,
    dumps,
    loads,
    pack_error,
)
from rx_spark._workers._blocks import UnreadRows
from rx_spark._workers._passes import Witness, _deliver, _Input


class Number(NamedTuple):
    n: int


@pytest.fixture
def driver() -> Iterator[Driver]:
    driver = Driver()
    yield driver
    driver.stop()


def noting(computed: list[int]) -> Callable[[int], int]:
    def note(item: int) -> int:
        computed.append(item)
        return item

    return note


def test_blocks_of_several_tasks_come_in_order_and_the_end_needs_no_word_from_spark(driver: Driver) -> None:
    tasks = striped(50_000, 300, 3)
    driver.sink.expect(3, sum(map(len, tasks)))
    for partition, blocks in enumerate(tasks):
        driver.task(partition, blocks)
    assert driver.items() == list(range(50_000))
    assert driver.sink.buffered == 0
    assert 0 < driver.sink.max_buffered <= (3 * WINDOW + 1) * 1024


def test_a_consumer_that_stops_stops_the_tasks(driver: Driver) -> None:
    pulled = []

    def endless() -> Iterator[int]:
        number = 0
        while True:
            pulled.append(number)
            yield number
            number += 1

    driver.sink.expect(1, 1)
    driver.task(0, {0: endless()})  # type: ignore[dict-item]  # a block is any iterable
    assert driver.items(5_000)[:5_000] == list(range(5_000))
    assert len(pulled) <= 5_000 + (WINDOW + 2) * 1024


def test_without_order_tasks_take_turns_and_their_ends_make_the_end(driver: Driver) -> None:
    driver.sink.expect(2, None)
    driver.task(0, {0: list(range(0, 9000, 2))})
    driver.task(1, {1: list(range(1, 9000, 2))})
    items = driver.items()
    assert sorted(items) == list(range(9000))
    assert [item for item in items if item % 2] == list(range(1, 9000, 2))  # the order of one task is kept


def test_nothing_is_lost_or_doubled_when_a_task_runs_again(driver: Driver) -> None:
    driver.sink.expect(1, 2)
    first = Link(driver.sink.address, 0, 0)
    for block, index, items in [(0, 0, [0, 1, 2]), (0, 3, [3])]:
        assert first.acquire()
        first.send(DATA, block, index, len(items), dump_items(items))
    first.send(DONE, 0, 4)
    assert driver.items(3) == [0, 1, 2]
    assert first.acquire()
    first.send(DATA, 1, 4, 1, dump_items([4]))
    assert driver.items(2) == [3, 4]
    driver.task(0, {0: [0, 1, 2, 3], 1: [4, 5, 6, 7]}, attempt=1)  # the same elements, other chunks
    assert driver.items() == [5, 6, 7]
    assert not first.acquire() or first.send(DATA, 1, 5, 1, dump_items(["late"]))
    first.finish()


def sent(link: Link, index: int, items: list[int]) -> None:
    assert link.acquire()
    link.send(DATA, 0, index, len(items), dump_items(items))


def test_of_two_attempts_the_earlier_one_goes_on_when_the_later_one_is_lost(driver: Driver) -> None:
    """Spark has both run, and runs no third one as long as one of them is alive. The earlier one may come last: its Python worker
    had to be started."""
    driver.sink.expect(1, None)
    later = Link(driver.sink.address, 0, 1)
    sent(later, 0, [0, 1])
    assert driver.items(2) == [0, 1]
    earlier = driver.task(0, {0: [0, 1, 2, 3]}, attempt=0)
    sent(later, 2, [2])
    assert driver.items(1) == [2]
    later.finish()
    assert driver.items() == [3]
    earlier.join(PATIENCE)


def test_what_an_attempt_sends_that_was_replaced_is_not_lost(driver: Driver) -> None:
    """It had been asked for; the later attempt, which is lost, has not sent it."""
    driver.sink.expect(1, None)
    earlier, later = Link(driver.sink.address, 0, 0), Link(driver.sink.address, 0, 1)
    assert later.acquire()
    sent(earlier, 0, [0, 1])
    assert driver.items(2) == [0, 1]
    later.send(DATA, 0, 0, 1, dump_items([0]))
    later.finish()
    for at in (2, 3, 4):
        sent(earlier, at, [at])
        assert driver.items(1) == [at]
    earlier.send(DONE, 0, 5)
    earlier.send(END, 0, 5)
    assert driver.items() == []
    earlier.finish()


def test_rows_that_go_as_they_are_come_once_when_a_task_runs_again(driver: Driver) -> None:
    row = row_type(Number)
    batch = write_batch([Number(n) for n in range(3_000)], row, arrow_schema(row))
    driver.sink.expect(1, None)

    def take(most: int | None = None) -> list[Number]:
        found: list[Number] = []
        while most is None or len(found) < most:
            frame = driver.frame()
            if frame.kind == END:
                break
            found += made_rows(unpack_rows(frame.payload).slice(frame.skip), row)
            driver.sink.taken(frame.count - frame.skip)
        return found

    first = Link(driver.sink.address, 0, 0)
    assert first.acquire()
    first.send(DATA, 0, 0, 700, pack_rows(batch.slice(0, 700)))
    assert take(700) == [Number(n) for n in range(700)]
    blocks: Any = {0: UnreadRows(batch), 1: UnreadRows(batch.slice(0, 5))}
    driver.task(0, blocks, attempt=1)
    assert take() == [Number(n) for n in (*range(700, 3_000), *range(5))]
    assert driver.sink.max_buffered <= (WINDOW + 1) * 1024
    first.finish()


def test_of_rows_that_go_as_they_are_no_more_are_sent_than_the_limit(driver: Driver) -> None:
    row = row_type(Number)
    batch = write_batch([Number(n) for n in range(3_000)], row, arrow_schema(row))
    driver.sink.expect(1, None)
    blocks: Any = {0: UnreadRows(batch)}
    driver.task(0, blocks, limit=1_500)
    counts = []
    while (frame := driver.frame()).kind == DATA:
        counts.append(frame.count)
        driver.sink.taken(frame.count)
    assert frame.kind == END
    assert sum(counts) == 1_500


def test_an_error_comes_after_the_elements_before_it(driver: Driver) -> None:
    def failing() -> Iterator[int]:
        yield from range(100)
        raise KeyError("here")

    driver.sink.expect(2, 3)
    driver.task(1, {1: failing()})  # type: ignore[dict-item]  # a block is any iterable
    driver.task(0, {0: [-2, -1], 2: [1000]})
    assert driver.items(102) == [-2, -1, *range(100)]
    frame = driver.frame()
    assert frame.kind == ERROR


def test_a_report_is_seen_at_once_in_an_ordered_job_and_in_one_without_order(driver: Driver) -> None:
    driver.sink.expect(2, None)
    link = Link(driver.sink.address, REPORT, 7)
    link.send(ERROR, 0, 0, payload=pack_error(ValueError("early")))
    assert driver.frame().kind == ERROR
    link.finish()


def test_none_in_a_chunk_is_an_error_after_what_came_before(driver: Driver) -> None:
    driver.sink.expect(1, 1)
    driver.task(0, {0: [1, 2, 3, 4, 5, 6, 7, None, 9]})
    assert driver.items(7) == [1, 2, 3, 4, 5, 6, 7]
    assert driver.frame().kind == ERROR


def test_the_limit_ends_a_task_early(driver: Driver) -> None:
    driver.sink.expect(1, None)
    driver.task(0, {0: list(range(100)), 1: list(range(100))}, limit=130)
    assert len(driver.items()) == 130


def test_a_connection_without_the_token_is_refused(driver: Driver, caplog: pytest.LogCaptureFixture) -> None:
    driver.sink.expect(1, 1)
    good = driver.sink.address
    stranger = Link(SinkAddress(good.host, good.port, b"0" * 32), 0, 9)
    assert not stranger.acquire()
    stranger.finish()
    assert "token" in caplog.text
    driver.task(0, {0: ["mine"]})
    assert driver.items() == ["mine"]


def test_success_with_missing_tasks_is_an_error_not_a_short_stream() -> None:
    driver = Driver()
    driver.sink.expect(2, 4)
    driver.task(0, {0: [0], 2: [2]})
    assert driver.items(1) == [0]
    driver.sink.job_over(None)
    driver.sink.thread.join(PATIENCE)
    with pytest.raises(SparkJobError, match=r"of 2 tasks delivered"):
        driver.items(1)
    driver.sink.dispose()


def test_the_failure_of_the_job_comes_out(driver: Driver) -> None:
    driver.sink.job_over(SparkJobError("no executors"))
    with pytest.raises(SparkJobError, match="no executors"):
        driver.frame()
    driver.killed.set()


def test_tasks_stop_quietly_when_the_consumer_cancels() -> None:
    driver = Driver()
    driver.sink.expect(1, 1)
    driver.task(0, {0: list(range(100_000))})
    driver.items(1)
    driver.stop()


def test_items_come_task_by_task_where_each_has_the_next_part_of_an_order(driver: Driver) -> None:
    driver.sink.expect(None, None, in_turn=True)
    parts: list[list[int]] = [list(range(3_000)), [], list(range(3_000, 9_000))]
    tasks = [driver.task(partition, {partition: parts[partition]}) for partition in (2, 0, 1)]
    assert driver.items(9_000) == list(range(9_000))
    for task in tasks:
        task.join(PATIENCE)
    driver.sink.job_over(None)
    assert driver.frame().kind == END
    driver.killed.set()


@pytest.mark.parametrize("attempts", [1, 2])
def test_tasks_that_hold_the_slots_order_needs_leave_and_a_further_round_goes_on(
    attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Order needs block 0, whose task can only start when the other one has ended, of which two attempts may run."""
    impatient(monkeypatch)
    driver = Driver(Tasks(attempts, 1))
    driver.sink.expect(2, 40, rounds=True)
    blocks = {at // 500: list(range(at, at + 500)) for at in range(0, 20_000, 500)}

    def one_slot() -> None:
        tasks = striped(20_000, 500, 2)
        waiting = Link(driver.sink.address, 1, 0) if attempts == 2 else None
        driver.task(1, tasks[1], attempt=1).join(PATIENCE)
        if waiting is not None:
            waiting.finish()  # as Spark ends it
        driver.task(0, tasks[0]).join(PATIENCE)
        left = driver.sink.next_round()
        assert left is not None
        driver.sink.expect(1, 40, rounds=True)
        driver.task(0, {block: blocks[block] for block in left.of_task(0, 1)})

    threading.Thread(target=one_slot, daemon=True).start()
    assert driver.items() == list(range(20_000))
    assert driver.sink.slots == 1
    assert driver.sink.spilled <= 500
    assert driver.sink.max_buffered <= (3 * WINDOW + 1) * 1024
    driver.stop()


def test_a_task_leaves_in_the_middle_of_a_block_that_is_too_large_to_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    impatient(monkeypatch)
    monkeypatch.setattr(_credits, "SPOOLED_BYTES", 1000)
    driver = Driver(Tasks(1, 1))
    driver.sink.expect(2, 2, rounds=True)
    blocks = {0: list(range(10_000)), 1: list(range(10_000, 30_000))}
    computed: list[int] = []

    def one_slot() -> None:
        driver.task(1, {1: map(noting(computed), blocks[1])}).join(PATIENCE)  # type: ignore[dict-item]  # any iterable
        driver.task(0, {0: blocks[0]}).join(PATIENCE)
        left = driver.sink.next_round()
        assert left is not None
        assert list(left.of_task(0, 1)) in ([1], [0, 1])
        driver.sink.expect(1, 2, rounds=True)
        driver.task(0, {block: blocks[block] for block in left.of_task(0, 1)})

    threading.Thread(target=one_slot, daemon=True).start()
    assert driver.items() == list(range(30_000))
    assert 0 < len(computed) < 20_000
    driver.stop()


def test_a_task_that_runs_again_leaves_with_its_window_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it sends first is here already: the credit for that is given back although the window is full."""
    impatient(monkeypatch)
    driver = Driver(Tasks(1, 1))
    block = list(range(30))
    lost = Link(driver.sink.address, 1, 0)
    for at in (0, 10):
        assert lost.acquire()
        lost.send(DATA, 1, at, 10, dump_items(block[at : at + 10]))
    driver.sink.expect(2, 2, rounds=True)

    def one_slot() -> None:
        lost._socket.close()
        driver.task(1, {1: block}, attempt=1).join(PATIENCE)
        driver.task(0, {0: [-1]}).join(PATIENCE)
        left = driver.sink.next_round()
        assert left is not None
        driver.sink.expect(1, 2, rounds=True)
        driver.task(0, {number: [[-1], block][number] for number in left.of_task(0, 1)})

    threading.Thread(target=one_slot, daemon=True).start()
    assert driver.items() == [-1, *block]
    driver.stop()


def test_a_job_without_waiting_tasks_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that takes its time is no reason to stop the tasks that are ahead of it."""
    impatient(monkeypatch)
    driver = Driver(Tasks(2, 0))
    asked = threading.Semaphore(0)
    driver.asked = asked.release
    driver.sink.expect(2, 40, rounds=True)
    tasks = striped(20_000, 500, 2)
    driver.task(1, tasks[1])
    go_on = threading.Event()

    def slowly() -> Iterator[int]:
        assert go_on.wait(PATIENCE)
        yield from tasks[0][0]

    driver.task(0, {**tasks[0], 0: slowly()})  # type: ignore[dict-item]  # a block is any iterable
    driver.ready.clear()
    assert driver.sink.take() is None
    for _ in range(3):
        assert asked.acquire(timeout=PATIENCE)
    go_on.set()
    assert driver.items() == list(range(20_000))
    assert driver.sink.spilled == 0
    assert driver.sink.next_round() is None
    driver.stop()


def test_tasks_leave_when_there_are_more_cores_than_the_round_was_cut_for(monkeypatch: pytest.MonkeyPatch) -> None:
    impatient(monkeypatch)
    monkeypatch.setattr(_sink, "COUNTED", 0.05)
    driver = Driver(Tasks(1, 0))
    driver.sink.expect(1, 40, rounds=True)
    blocks = {at // 500: list(range(at, at + 500)) for at in range(0, 20_000, 500)}
    cut = threading.Event()

    def more_cores() -> None:
        driver.task(0, blocks).join(PATIENCE)
        left = driver.sink.next_round()
        assert left is not None
        assert len(left) > 30
        driver.grown.clear()
        driver.sink.expect(2, 40, rounds=True)
        for task in range(2):
            driver.task(task, {block: blocks[block] for block in left.of_task(task, 2)})
        cut.set()

    threading.Thread(target=more_cores, daemon=True).start()
    assert driver.items(500) == list(range(500))
    driver.grown.set()
    assert cut.wait(PATIENCE)
    assert driver.items() == list(range(500, 20_000))
    assert driver.sink.slots == 0, "the next round is cut for the cores that there are"
    driver.stop()


def test_a_stream_goes_on_when_spark_does_not_say_what_tasks_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    impatient(monkeypatch)
    driver = Driver()
    refused = threading.Semaphore(0)

    def stopped() -> None:
        refused.release()
        raise ConnectionError("the session has stopped")

    driver.asked = stopped
    driver.sink.expect(1, 1)
    assert driver.sink.take() is None
    for _ in range(2):
        assert refused.acquire(timeout=PATIENCE)
    driver.task(0, {0: [1, 2, 3]})
    assert driver.items() == [1, 2, 3]
    driver.stop()


def test_a_task_that_runs_again_begins_with_the_first_block_that_is_not_here(driver: Driver) -> None:
    blocks = {at // 500: list(range(at, at + 500)) for at in range(0, 5_000, 500)}
    driver.sink.expect(1, 10)

    def lost() -> Iterator[int]:
        yield from blocks[4][:300]
        raise ConnectionError("as if the executor was gone")

    def first_attempt() -> None:
        work = {**blocks, 4: lost()}
        source = _Input(iter(()))
        source.failed = True
        try:
            _deliver(iter(work.items()), None, Link(driver.sink.address, 0, 0), source)
        except ConnectionError:
            pass

    threading.Thread(target=first_attempt, daemon=True).start()
    assert driver.items(2_300) == list(range(2_300))
    computed: list[int] = []
    driver.task(0, {block: map(noting(computed), items) for block, items in blocks.items()}, attempt=1)  # type: ignore[misc]
    assert driver.items() == list(range(2_300, 5_000))
    assert computed == list(range(2_000, 5_000))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 60), st.lists(st.integers(0, 59)), st.integers(1, 7))
def test_what_is_left_is_read_once_and_in_order_by_each_task(total: int, done: list[int], tasks: int) -> None:
    finished = Finished()
    for block in {block for block in done if block < total}:
        finished.add(block)
    left = finished.remaining(total)
    parts = [list(left.of_task(task, tasks)) for task in range(tasks)]
    assert all(part == sorted(part) for part in parts)
    assert sorted(block for part in parts for block in part) == sorted(set(range(total)) - set(done))
    assert len(left) == sum(map(len, parts))
    together = [part[at] for at in range(total) for part in parts if at < len(part)]
    assert together == sorted(together), "tasks take turns"


def test_a_job_that_gets_no_slot_relieves_the_other_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two streams that are read in turn, with slots for one: the first goes to disk so that the second can run."""
    impatient(monkeypatch)
    first, second = Driver(), Driver(Tasks(0, 1))
    items = list(range(20_000))
    first.sink.expect(1, 1)
    second.sink.expect(1, 1)
    slot = first.task(0, {0: items})
    assert first.items(1) == [0]

    def then_the_second() -> None:
        slot.join(PATIENCE)
        second.task(0, {0: items})

    threading.Thread(target=then_the_second, daemon=True).start()
    assert second.items() == items
    assert first.sink.spilled > 5_000
    assert first.items() == items[1:]
    first.stop()
    second.stop()


def test_a_failing_on_ready_does_not_stop_the_sink(caplog: pytest.LogCaptureFixture) -> None:
    told = threading.Event()

    def broken() -> None:
        told.set()
        raise RuntimeError("in on_ready")

    make: Callable[..., CreditSink] = CreditSink
    sink = make(LOOPBACK, broken, lambda: None)
    sink.thread.start()
    sink.expect(1, 0)
    assert told.wait(PATIENCE)
    frame = sink.take()
    assert frame is not None
    assert frame.kind == END
    sink.job_over(None)
    sink.thread.join(PATIENCE)
    assert not sink.thread.is_alive()
    assert "on_ready failed" in caplog.text
    sink.dispose()


def test_a_sink_that_fails_ends_the_job_and_the_stream(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(CreditSink, "_store", broken)
    driver = Driver()
    driver.sink.expect(1, 1)
    task = driver.task(0, {0: list(range(10))})
    with pytest.raises(RuntimeError, match="a bug of ours"):
        driver.frame()
    assert driver.killed.wait(PATIENCE), "Spark was not asked to cancel"
    task.join(PATIENCE)
    assert not task.is_alive()
    driver.sink.dispose()
    assert "the credit sink failed" in caplog.text


# --- what tasks have seen ---------------------------------------------------------------------------------------------


def test_what_a_task_has_seen_is_kept_once_however_often_it_ran(driver: Driver) -> None:
    driver.sink.expect(None, None)
    for partition, attempt in ((0, 0), (1, 1), (0, 2)):
        link = Link(driver.sink.address, WITNESS, attempt)
        link.send(SEEN, partition, 7, payload=f"of {partition}".encode())
        link.send(END, 0, 0)
        link.finish()  # the driver hangs up when it has all
    assert driver.sink.seen == {(7, 0): b"of 0", (7, 1): b"of 1"}
    assert driver.sink.silent  # nothing was sent that would be an item


@pytest.mark.parametrize("limit", [None, 13])
def test_a_block_is_told_when_it_is_whole_and_one_that_a_limit_cut_is_told_to_be_none(driver: Driver, limit: int | None) -> None:
    seen = Observing(Observed("numbers"), aggregates_of("observe", {"total": aggregates.sum(lambda number: number)}))
    travelled: Observing = loads(dumps(seen))
    GATHERED.clear()
    driver.sink.expect(1, 2)
    blocks = ((number, observe(iter(range(number * 10, number * 10 + 10)), travelled)) for number in range(2))
    link = Link(driver.sink.address, 0, 0)
    task = threading.Thread(target=_deliver, args=(blocks, limit, link, _Input(iter(())), Witness(3, None)))
    task.start()
    assert driver.items() == list(range(limit or 20))
    task.join(PATIENCE)
    told = {key: loads(payload) for key, payload in driver.sink.seen.items()}
    assert told == {(3, 0): {seen.token: [45]}, (3, 1): {seen.token: [145]} if limit is None else None}

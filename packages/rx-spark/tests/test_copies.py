"""Copies of what tasks give to a shuffle, with tasks played by the test: no Spark."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest
from played import Driver

from rx_spark._columns._frames import Files, FrameSource, Given
from rx_spark._columns._rows import plain_row
from rx_spark._jobs._compile import _has_fixed_tasks
from rx_spark._plans._plan import RangeSource
from rx_spark._transport import _kept
from rx_spark._transport._kept import OVERHEAD, Copies, copied
from rx_spark._transport._wire import SinkAddress
from rx_spark._workers._shuffle import Row

ROWS = [(n % 2, 0, n, 0, b"cell of %d" % n) for n in range(5)]
STAGE, TASK = 3, 7


@pytest.fixture
def driver() -> Iterator[Driver]:
    driver = Driver()
    driver.sink.expect(1, 1)
    yield driver
    driver.stop()


def refused(row: Row) -> Row:
    raise AssertionError(f"computed again: {row}")


def uncomputed() -> Iterator[Row]:
    return map(refused, ROWS)


def test_a_task_that_ran_to_its_end_is_not_computed_again(driver: Driver) -> None:
    assert list(copied(iter(ROWS), driver.sink.address, STAGE, TASK)) == ROWS
    for _ in range(2):
        assert list(copied(uncomputed(), driver.sink.address, STAGE, TASK)) == ROWS
    for stage, task in ((STAGE, TASK + 1), (STAGE + 1, TASK)):
        assert list(copied(iter(ROWS[:2]), driver.sink.address, stage, task)) == ROWS[:2], "of another task"
    assert driver.sink.silent, "copies are no items"


def test_a_task_without_rows_is_not_computed_again_either(driver: Driver) -> None:
    assert list(copied(iter(()), driver.sink.address, STAGE, TASK)) == []
    assert list(copied(uncomputed(), driver.sink.address, STAGE, TASK)) == []


def test_of_a_task_that_did_not_end_there_is_no_copy(driver: Driver) -> None:
    def failing() -> Iterator[Row]:
        yield from ROWS[:3]
        raise ValueError("the user's")

    with pytest.raises(ValueError, match="the user's"):
        list(copied(failing(), driver.sink.address, STAGE, TASK))
    left = copied(iter(ROWS), driver.sink.address, STAGE, TASK)
    assert next(left) == ROWS[0]
    left.close()  # type: ignore[attr-defined]  # a generator
    assert list(copied(iter(ROWS), driver.sink.address, STAGE, TASK)) == ROWS


def test_a_large_copy_arrives_whole(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_kept, "COPY_BYTES", 32 << 20)
    rows = [(0, 0, n, 0, bytes(1 << 20)) for n in range(20)]  # more than the buffers of a socket
    assert list(copied(iter(rows), driver.sink.address, STAGE, TASK)) == rows
    assert list(copied(uncomputed(), driver.sink.address, STAGE, TASK)) == rows


def test_a_task_with_too_much_sends_no_copy(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    size = sum(len(row[-1]) + OVERHEAD for row in ROWS)
    monkeypatch.setattr(_kept, "COPY_BYTES", size - 1)
    assert list(copied(iter(ROWS), driver.sink.address, STAGE, TASK)) == ROWS
    with pytest.raises(AssertionError, match="computed again"):
        list(copied(uncomputed(), driver.sink.address, STAGE, TASK))
    monkeypatch.setattr(_kept, "COPY_BYTES", size)
    assert list(copied(iter(ROWS), driver.sink.address, STAGE, TASK)) == ROWS
    assert list(copied(uncomputed(), driver.sink.address, STAGE, TASK)) == ROWS


def test_the_driver_takes_what_it_has_room_for_and_the_first_of_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_kept, "JOB_BYTES", 10)
    copies = Copies()
    copies.put(1, b"sixsix")
    copies.put(1, b"four")
    copies.put(2, b"fives")
    copies.put(3, b"four")
    assert [copies.get(key) for key in (1, 2, 3)] == [b"sixsix", b"", b"four"]
    copies.clear()
    copies.put(4, b"tententen!")
    assert copies.get(1) == b""
    assert copies.get(4) == b"tententen!"


def test_copies_are_for_tasks_that_have_the_same_items_whenever_they_run() -> None:
    files = FrameSource(Files("parquet", ("folder",)), plain_row(()))
    assert _has_fixed_tasks(RangeSource(0, 9))
    assert _has_fixed_tasks(files)
    assert not _has_fixed_tasks(replace(files, shuffled=True))
    assert not _has_fixed_tasks(replace(files, origin=Given(None)))  # type: ignore[arg-type]  # any DataFrame


def test_without_a_driver_a_task_gives_what_it_computes() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert list(copied(iter(ROWS), SinkAddress("127.0.0.1", port, b"0" * 32), STAGE, TASK)) == ROWS


def test_a_driver_that_is_over_has_no_copy() -> None:
    driver = Driver()
    driver.sink.expect(1, 1)
    address = driver.sink.address
    assert list(copied(iter(ROWS), address, STAGE, TASK)) == ROWS
    driver.stop()
    assert list(copied(iter(ROWS[:1]), address, STAGE, TASK)) == ROWS[:1]

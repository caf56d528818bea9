"""A full disk: under the driver's temporary file, under Spark's, under what is written."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from played import PATIENCE, Driver, impatient, striped
from standalone import eventually

import rx_spark
from rx_spark import SparkConfig, SparkJobError
from rx_spark._jobs._disk_errors import disk_error
from rx_spark._session._session import engine
from rx_spark._transport._credits import Frame
from rx_spark._transport._sink import Tasks
from rx_spark._transport._spool import Spool
from rx_spark._transport._wire import DATA, loads

ROOM = 4_000  # bytes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The driver's folder for temporary files; in the end none is there, nor open."""
    made = tmp_path / "temporary"
    made.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(made))
    yield made
    assert list(made.iterdir()) == []
    assert eventually(lambda: open_below(made) == [], 5.0)


def open_below(folder: Path) -> list[str]:
    """Files there that this process has open, those without a name too."""
    found = []
    for each in Path("/proc/self/fd").iterdir():
        try:
            found.append(os.readlink(each))
        except OSError:
            pass  # it was that of the folder itself
    return [name for name in found if name.startswith(str(folder))]


@pytest.fixture
def full(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That folder with room for some bytes of a file."""
    real = os.pwrite

    def pwrite(file: int, data: Any, offset: int) -> int:
        if offset >= ROOM:
            raise OSError(28, "No space left on device")
        return real(file, data[: ROOM - offset], offset)

    monkeypatch.setattr(os, "pwrite", pwrite)
    return folder


# --- the driver's -----------------------------------------------------------------------------------------------------


def test_a_payload_that_does_not_fit_names_the_folder_and_what_to_set(full: Path) -> None:
    spool = Spool()
    first = spool.put(b"a" * 3_000)
    with pytest.raises(SparkJobError) as caught:
        spool.put(b"b" * 3_000)
    assert str(caught.value) == (
        f"the disk under {full}, where this process keeps what tasks have sent and the stream has not asked for, is full: "
        f"No space left on device (6,000 bytes were to be there).\n"
        f"  Another folder:  TMPDIR=/large/tmp, in the environment before this process starts"
    )
    assert isinstance(caught.value.__cause__, OSError)
    assert spool.take(*first) == b"a" * 3_000
    spool.close()


def test_a_device_that_is_always_full_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool()
    with Path("/dev/full").open("r+b") as device:
        monkeypatch.setattr(tempfile, "TemporaryFile", lambda prefix: device)
        with pytest.raises(SparkJobError, match="is full: No space left on device"):
            spool.put(b"a")
    spool.close()


def test_a_folder_that_takes_no_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(SparkJobError, match=f"the disk under {tmp_path}/none, where .*, cannot be written to: No such file"):
        Spool().put(b"a")


def played(monkeypatch: pytest.MonkeyPatch) -> Driver:
    """One slot, and order needs the task that has none: the other one's blocks go to the file."""
    impatient(monkeypatch)
    driver = Driver(Tasks(1, 1))
    driver.sink.expect(2, 40)
    tasks = striped(20_000, 500, 2)
    slot = driver.task(1, tasks[1])

    def then_the_other() -> None:
        slot.join(PATIENCE)
        driver.task(0, tasks[0])

    driver.begin.append(threading.Thread(target=then_the_other, daemon=True))
    driver.begin[-1].start()
    return driver


def taken(frame: Frame) -> list[int]:
    assert frame.kind == DATA, "an end, although items were lost"
    return list(loads(frame.payload))


def test_a_full_disk_ends_the_stream_and_its_tasks(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = played(monkeypatch)
    assert driver.killed.wait(PATIENCE), "Spark was not asked to cancel the job"
    driver.all_begun()
    for task in driver.tasks:
        task.join(PATIENCE)
        assert not task.is_alive()
    driver.sink.job_over(None)  # the tasks have ended as if all was well
    items: list[int] = []
    with pytest.raises(SparkJobError, match="is full: No space left on device"):
        items.extend(each for frame in iter(driver.frame, None) for each in taken(frame))
    assert items == list(range(len(items))), "only what came before the loss, in its order"
    assert len(items) < 20_000
    driver.stop()


def test_a_job_whose_items_were_lost_has_no_further_round(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = played(monkeypatch)
    assert driver.killed.wait(PATIENCE)
    assert driver.sink.lost
    with driver.sink._lock:
        driver.sink._leaving = True
    assert driver.sink.next_round() is None
    driver.stop()


def test_a_cancel_after_the_job_is_over_closes_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = played(monkeypatch)
    assert eventually(lambda: len(driver.tasks) == 2 and not driver.tasks[0].is_alive(), PATIENCE)
    assert open_below(folder) != []
    driver.sink.job_over(None)
    driver.sink.thread.join(PATIENCE)
    driver.sink.cancel()
    assert open_below(folder) == []
    driver.killed.set()


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.engine("embedded")
def test_a_stream_of_spark_ends_with_the_error_and_its_job_with_it(full: Path, spark_config: SparkConfig) -> None:
    tracker = engine(spark_config).session.sparkContext.statusTracker()
    flow = rx_spark.range(50_000_000, config=replace(spark_config, parallelism=20))  # four more tasks than there are slots
    items: list[int] = []
    with pytest.raises(SparkJobError, match=f"the disk under {full}, .* is full: No space left on device"):
        items.extend(flow)
    assert items == list(range(len(items)))
    assert eventually(lambda: not tracker.getActiveJobsIds(), 5.0)


# --- Spark's ----------------------------------------------------------------------------------------------------------

LOST = (
    "org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times, most recent failure: "
)
SHUFFLE = """Lost task 1.3 in stage 0.0 (TID 6) ({where}): java.io.IOException: No space left on device
\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)
\tat org.apache.spark.storage.TimeTrackingOutputStream.write(TimeTrackingOutputStream.java:59)
\tat org.apache.spark.shuffle.sort.BypassMergeSortShuffleWriter.write(BypassMergeSortShuffleWriter.java:185)

Driver stacktrace:
\tat org.apache.hadoop.util.Other.run(Other.java:1)
"""
OPENED = """Lost task 0.0 in stage 0.0 (TID 0) (localhost executor driver): java.io.FileNotFoundException: \
/data/tmp/blockmgr-1-2/0c/temp_shuffle_3 (Disk quota exceeded)
\tat org.apache.spark.storage.DiskBlockObjectWriter.open(DiskBlockObjectWriter.scala:161)
"""
SPILLED = """Lost task 0.0 in stage 0.0 (TID 0) (localhost executor driver): org.apache.spark.memory.SparkOutOfMemoryError: \
error while calling spill() on org.apache.spark.util.collection.unsafe.sort.UnsafeExternalSorter@1 : No space left on device
\tat org.apache.spark.memory.TaskMemoryManager.acquireExecutionMemory(TaskMemoryManager.java:204)
"""
TARGET = """org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows to \
file:/data/.out.new-0123456789abcdef/_temporary/0/part.csv. SQLSTATE: 58030
\tat org.apache.spark.util.Utils$.tryWithSafeFinally(Utils.scala:97)
Caused by: org.apache.hadoop.fs.FSError: java.io.IOException: No space left on device
\tat org.apache.hadoop.fs.RawLocalFileSystem$LocalFSFileOutputStream.write(RawLocalFileSystem.java:549)
"""


@pytest.mark.parametrize(
    ("text", "said", "to_do"),
    [
        (
            SHUFFLE.format(where="10.0.0.7 executor 2"),
            "spark.local.dir of 10.0.0.7, where Spark",
            "SPARK_LOCAL_DIRS of the workers",
        ),
        (SHUFFLE.format(where="localhost executor driver"), "/large, where Spark", '("spark.local.dir", "/large/tmp")'),
        (OPENED, "/data/tmp, where Spark keeps what shuffles and sorts have written, is full: Disk quota", "spark.local.dir"),
        (SPILLED, "/large, where Spark", "spark.local.dir"),
    ],
    ids=["of an executor", "here", "with its file", "memory that is spilled"],
)
def test_a_full_disk_under_a_shuffle_is_named(text: str, said: str, to_do: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "/large")
    error = disk_error(LOST + text)
    assert error is not None
    assert str(error).startswith(f"the disk under {said}")
    assert to_do in str(error).splitlines()[1]


def test_a_full_disk_under_what_is_written_is_named() -> None:
    error = disk_error(TARGET)
    assert error is not None
    assert str(error).startswith("the disk under /data/out is full: No space left on device.")


@pytest.mark.parametrize(
    "text",
    [
        "PythonException: OSError: [Errno 28] No space left on device",
        "java.io.IOException: Broken pipe\n\tat org.apache.spark.storage.X.y(X.java)",
        "java.io.IOException: No space left on device\n\tat com.example.Theirs.run(Theirs.java:1)",
    ],
    ids=["a function's", "another error", "what something else writes"],
)
def test_other_errors_stay_what_they_are(text: str) -> None:
    assert disk_error(text) is None


SESSION = """
import operator, os, resource, sys
import rx_spark
from rx_spark import SparkConfig
from rx_spark._session._session import engine

config = SparkConfig("local[2]", settings=(("spark.local.dir", sys.argv[1]),))
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # of this process, and of the JVM that it starts
here = engine(config)
numbers = rx_spark.range(1_000_000, config=config)
jobs = {
    "shuffle": numbers.group_reduce(lambda n: n, lambda n: n, operator.add).count(),
    "write": rx_spark.write_csv(rx_spark.dataframe(here.application.range(1_000_000)), sys.argv[2]),
}
for name, job in jobs.items():
    try:
        job.blocking_get()
    except rx_spark.SparkJobError as error:
        print(name, str(error).splitlines()[0])
print("there", os.path.exists(sys.argv[2]))
"""


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.engine("embedded")
def test_spark_without_room_for_files_says_so(tmp_path: Path) -> None:
    """In a process of its own, of which no file may have more than a megabyte."""
    local, out = tmp_path / "local", tmp_path / "out"
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_DIRS"}
    ran = subprocess.run(
        [sys.executable, "-c", SESSION, str(local), str(out)], env=environment, capture_output=True, text=True, timeout=240
    )
    assert ran.stdout.splitlines() == [
        f"shuffle the disk under {local}, where Spark keeps what shuffles and sorts have written, is full: File too large.",
        f"write the disk under {out} is full: File too large. Nothing is left of what the job wrote.",
        "there False",
    ], ran.stderr

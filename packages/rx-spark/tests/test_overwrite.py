"""Overwriting: what is there stays until the new data is committed, and takes its place then."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from frames import CITIES, ROWS, Fare, Trip, refused, to_fare
from holding import Held, until

import rx_spark
from rx_fusion.symbols import it
from rx_ops import Flowable
from rx_spark import SparkConfig, SparkJobError, Written
from rx_spark._plans._replacing import Replacement
from rx_spark._plans._storage import Storage
from rx_spark._session._session import engine

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

PATIENCE = 40.0
OLD = [{"city": "Ulm", "cents": 1}, {"city": "Ulm", "cents": 2}]


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Path]:
    """A folder with data, in a folder in which nothing else is left behind."""
    made = tmp_path / "results" / "out"
    made.mkdir(parents=True)
    fill(made, OLD)
    yield made
    assert [each.name for each in made.parent.iterdir()] == ["out"]


def fill(folder: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / "old.parquet")


def read(path: Path) -> list[dict[str, Any]]:
    """With pyarrow alone; partition folders are columns again."""
    rows: list[dict[str, Any]] = ds.dataset(path, partitioning="hive").to_table().to_pylist()
    return sorted(rows, key=repr)


def cents(path: Path) -> list[int]:
    return sorted(row["cents"] for row in read(path))


def siblings(out: Path) -> list[str]:
    return [each.name for each in out.parent.iterdir() if each != out]


def numbered(count: int, first: int = 0) -> Flowable[Fare]:
    return rx_spark.from_iterable([Fare(CITIES[number % 3], first + number) for number in range(count)])


# --- what fails -------------------------------------------------------------------------------------------------------


def test_a_function_that_fails_leaves_the_old_rows(source: Flowable[Trip], out: Path) -> None:
    before = {file: file.read_bytes() for file in out.rglob("*")}
    with pytest.raises(ValueError, match="has no fare"):
        rx_spark.write_parquet(source.map(refused), out, mode="overwrite").blocking_get()
    assert {file: file.read_bytes() for file in out.rglob("*")} == before


@pytest.mark.nightly
def test_a_stream_of_the_driver_that_fails_leaves_the_old_rows(out: Path) -> None:
    broken = Flowable.from_iterable([Fare("Ulm", number) for number in range(5000)]).concat_with(Flowable.error(OSError("gone")))
    with pytest.raises(OSError, match="gone"):
        rx_spark.write_parquet(broken, out, mode="overwrite", schema=Fare).blocking_get()
    assert read(out) == OLD


def test_a_cancel_leaves_the_old_rows(source: Flowable[Trip], out: Path, held: Callable[[int], Held]) -> None:
    hold = held(ROWS - 5)
    single = rx_spark.write_parquet(source.map(hold).map(to_fare), out, mode="overwrite")
    running = single.subscribe(lambda _written: None, on_error=lambda _error: None)
    assert until(lambda: bool(hold.reached()))
    assert siblings(out)  # it is being written there
    running.dispose()
    assert until(lambda: not siblings(out))
    assert read(out) == OLD


def test_an_error_between_the_two_renames_puts_the_old_folder_back(
    out: Path, spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = replacement(out, spark_config)
    fill(Path(staged.path.removeprefix("file:")), [{"city": "Ulm", "cents": 3}])
    move = Storage.move

    def broken(self: Storage, source: str, target: str) -> None:
        if source == staged.path:
            raise OSError("the name node is in safe mode")
        move(self, source, target)

    monkeypatch.setattr(Storage, "move", broken)
    with pytest.raises(SparkJobError, match=f"could not take the place of {out}: the name node is in safe mode"):
        staged.commit()
    assert read(out) == OLD
    staged.discard()


@pytest.mark.nightly
def test_a_job_whose_files_cannot_take_their_place_fails_and_leaves_none(
    out: Path, spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Storage, source: str, target: str) -> None:
        raise OSError("the name node is in safe mode")

    monkeypatch.setattr(Storage, "move", broken)
    with pytest.raises(SparkJobError, match=f"could not take the place of {out}: the name node is in safe mode"):
        rx_spark.write_parquet(numbered(3), out, mode="overwrite", schema=Fare).blocking_get()
    assert read(out) == OLD


def test_an_old_folder_that_cannot_be_put_back_is_told(
    tmp_path: Path, spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever happens the old data is somewhere, and the error says where."""
    fill(tmp_path / "out", OLD)
    staged = replacement(tmp_path / "out", spark_config)
    fill(Path(staged.path.removeprefix("file:")), [{"city": "Ulm", "cents": 3}])
    move = Storage.move

    def broken(self: Storage, source: str, target: str) -> None:
        if not source.endswith("/out"):
            raise OSError("the name node is in safe mode")
        move(self, source, target)

    monkeypatch.setattr(Storage, "move", broken)
    with pytest.raises(SparkJobError, match="safe mode") as caught:
        staged.commit()
    (kept,) = (each for each in tmp_path.iterdir() if ".old-" in each.name)
    assert caught.value.__notes__ == [f"What was at {tmp_path}/out is now at {kept}: rename it."]
    assert read(kept) == OLD


# --- what replaces ----------------------------------------------------------------------------------------------------


def test_all_files_are_replaced_also_those_of_other_partitions(source: Flowable[Trip], out: Path) -> None:
    first = rx_spark.write_parquet(source.map(to_fare), out, mode="overwrite", partition_by="city").blocking_get()
    assert (first.files, first.rows) == (len(list(out.rglob("*.parquet"))), ROWS)
    assert {row["city"] for row in read(out)} == set(CITIES)
    ulm = source.filter(it.city == "Ulm").map(to_fare)
    written = rx_spark.write_parquet(ulm, out, mode="overwrite", partition_by="city").blocking_get()
    assert [folder.name for folder in out.iterdir() if folder.is_dir()] == ["city=Ulm"]
    files = list(out.rglob("*.parquet"))
    assert written == Written(len(files), ROWS // 3, sum(file.stat().st_size for file in files))
    assert len(read(out)) == ROWS // 3


@pytest.mark.nightly
def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    rx_spark.write_parquet(numbered(3), tmp_path / "results" / "out", mode="overwrite", schema=Fare).blocking_get()
    assert cents(tmp_path / "results" / "out") == [0, 1, 2]
    assert siblings(tmp_path / "results" / "out") == []


def test_what_is_read_can_be_overwritten(out: Path, spark_config: SparkConfig) -> None:
    """Spark alone refuses it, or deletes what it is about to read."""
    there = rx_spark.parquet(out, schema=Fare, config=spark_config)
    assert rx_spark.write_parquet(there.map(dear), out, mode="overwrite").blocking_get().rows == 2
    assert cents(out) == [101, 102]
    rx_spark.write_parquet(there.filter(it.cents > 101), out, mode="overwrite").blocking_get()
    assert cents(out) == [102]


def dear(fare: Fare) -> Fare:
    return Fare(fare.city, fare.cents + 100)


def test_two_overwrites_at_once_end_with_one_of_them_whole(out: Path) -> None:
    done = threading.Semaphore(0)
    written: list[Written] = []
    for first in (0, 1000):
        single = rx_spark.write_parquet(numbered(40, first), out, mode="overwrite", schema=Fare)
        single.do_finally(done.release).subscribe(written.append)
    assert done.acquire(timeout=PATIENCE)
    assert done.acquire(timeout=PATIENCE)
    assert [each.rows for each in written] == [40, 40]
    assert cents(out) in (list(range(40)), list(range(1000, 1040)))


@pytest.mark.nightly
def test_a_folder_that_appears_between_the_two_renames_is_replaced_too(
    out: Path, spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program overwrote the same folder, and was through a moment earlier."""
    move = Storage.move
    theirs = iter([True])

    def late(self: Storage, source: str, target: str) -> None:
        if ".new-" in source and next(theirs, False):
            fill(out, [{"city": "Bonn", "cents": 7}])
        move(self, source, target)

    monkeypatch.setattr(Storage, "move", late)
    rx_spark.write_parquet(numbered(3), out, mode="overwrite", schema=Fare).blocking_get()
    assert cents(out) == [0, 1, 2]


@pytest.mark.nightly
def test_a_link_to_a_folder_stays_a_link(out: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(out)
    rx_spark.write_parquet(numbered(3), tmp_path / "link", mode="overwrite", schema=Fare).blocking_get()
    assert (tmp_path / "link").is_symlink()
    assert cents(out) == [0, 1, 2]


@pytest.mark.nightly
def test_a_cached_dataframe_of_the_folder_is_read_anew(out: Path, spark_config: SparkConfig) -> None:
    session = engine(spark_config).application
    cached = session.read.parquet(str(out)).cache()
    try:
        assert cached.count() == 2
        rx_spark.write_parquet(numbered(3), out, mode="overwrite", schema=Fare).blocking_get()
        assert session.read.parquet(str(out)).count() == 3
    finally:
        cached.unpersist()


@pytest.mark.nightly
@pytest.mark.parametrize("said", ["session", "option"])
def test_dynamic_partitions_are_left_to_spark_which_keeps_the_others(said: str, out: Path, spark_config: SparkConfig) -> None:
    (out / "old.parquet").unlink()
    rx_spark.write_parquet(numbered(6), out, mode="overwrite", schema=Fare, partition_by="city").blocking_get()
    session = engine(spark_config).application
    options = {"PartitionOverwriteMode": "Dynamic"} if said == "option" else {}
    if said == "session":
        session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        ulm = rx_spark.from_iterable([Fare("Ulm", 9)])
        rx_spark.write_parquet(ulm, out, mode="overwrite", schema=Fare, partition_by="city", options=options).blocking_get()
        assert sorted((row["city"], row["cents"]) for row in read(out)) == [
            ("Bonn", 2), ("Bonn", 5), ("Köln", 1), ("Köln", 4), ("Ulm", 9)
        ]  # fmt: skip
        rx_spark.write_parquet(ulm, out, mode="overwrite", schema=Fare, options=options).blocking_get()
        assert read(out) == [{"city": "Ulm", "cents": 9}]  # without partitions there are no others
    finally:
        session.conf.unset("spark.sql.sources.partitionOverwriteMode")


# --- renaming ---------------------------------------------------------------------------------------------------------


def replacement(path: Path, config: SparkConfig) -> Replacement:
    made = Replacement.of(Storage(engine(config).session, str(path)))
    assert made is not None
    return made


def test_the_new_folder_is_hidden_and_beside_the_old_one(tmp_path: Path, spark_config: SparkConfig) -> None:
    staged = replacement(tmp_path / "a b=ü:%20", spark_config)
    assert staged.path.startswith(f"file:{tmp_path}/.a b=ü:%20.new-")
    long = Path(replacement(tmp_path / ("ü" * 127), spark_config).path)
    assert long.name.startswith("." + "ü" * 100 + ".new-")
    assert len(long.name.encode()) <= 255


def test_a_root_has_nothing_beside_it(spark_config: SparkConfig) -> None:
    assert Replacement.of(Storage(engine(spark_config).session, "/")) is None


def test_a_disk_that_is_mounted_there_is_told_before_anything_runs(
    out: Path, spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.path.ismount", str(out).__eq__)
    with pytest.raises(SparkJobError, match=f"another disk is mounted there.\n  Right:  a folder in it, such as {out}/data"):
        rx_spark.write_parquet(numbered(3), out, mode="overwrite", schema=Fare).blocking_get()
    assert read(out) == OLD


class StillWritten:
    """As Hadoop's file system where a task writes a last file into a folder that is being deleted, ``times`` times."""

    def __init__(self, real: Any, times: int) -> None:
        self.real, self.times = real, times

    def delete(self, name: Any, recursive: bool) -> bool:
        deleted = bool(self.real.delete(name, recursive))
        if not self.times:
            return deleted
        self.times -= 1
        fill(Path(name.toUri().getPath()), OLD)
        return False

    def exists(self, name: Any) -> bool:
        return bool(self.real.exists(name))


@pytest.mark.parametrize("times", [0, 1, 3])
def test_a_folder_into_which_a_file_comes_while_it_is_deleted_is_deleted_once_more(
    times: int, tmp_path: Path, spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    storage = Storage(engine(spark_config).session, str(tmp_path))
    monkeypatch.setattr(storage, "_system", StillWritten(storage._system, times))
    fill(tmp_path / "new", OLD)
    storage.delete(f"{tmp_path}/new")
    storage.delete(f"{tmp_path}/none")
    assert list(tmp_path.iterdir()) == []
    assert not caplog.records


def test_a_folder_that_cannot_be_deleted_is_told(
    tmp_path: Path, spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    storage = Storage(engine(spark_config).session, str(tmp_path))
    monkeypatch.setattr(storage, "_system", StillWritten(storage._system, 100))
    fill(tmp_path / "new", OLD)
    storage.delete(f"{tmp_path}/new")
    assert [each.getMessage() for each in caplog.records] == [
        f"{tmp_path}/new is still there: something writes to it, or it may not be deleted"
    ]


@pytest.mark.parametrize("context", [True, False], ids=["FileContext", "FileSystem"])
def test_no_folder_is_moved_into_another(
    context: bool, tmp_path: Path, spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(engine(spark_config).session, str(tmp_path))
    if not context:
        monkeypatch.setattr(storage, "_context", lambda: None)
    fill(tmp_path / "new", OLD)
    fill(tmp_path / "there", OLD)
    with pytest.raises(FileExistsError):
        storage.move(f"{tmp_path}/new", f"{tmp_path}/there")
    with pytest.raises(FileNotFoundError):
        storage.move(f"{tmp_path}/none", f"{tmp_path}/other")
    storage.move(f"{tmp_path}/new", f"{tmp_path}/other")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other", "there"]
    assert read(tmp_path / "other") == OLD

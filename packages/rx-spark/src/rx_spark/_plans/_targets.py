"""Where results stay on the cluster: files, tables, databases. What a job writes there, and what it tells of it.

Rows go from the executors to Spark's writer, and Spark commits them when the job is over: a job that fails leaves nothing behind.
What is overwritten stays until then: see docs/decisions/0031-overwriting.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

from rx_core import name_of
from rx_spark._columns._frames import rebound
from rx_spark._plans._given_up import PLACES
from rx_spark._plans._job_numbers import numbers_of, wait_for_tasks
from rx_spark._plans._replacing import Replacement
from rx_spark._plans._staging import Addition, set_for_one_job, staged
from rx_spark._plans._storage import Storage
from rx_spark._plans._tables import TableReplacement, qualified, table_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

Mode: TypeAlias = Literal["error", "append", "overwrite", "ignore"]
MODES: tuple[Mode, ...] = ("error", "append", "overwrite", "ignore")


@dataclass(frozen=True)
class Written:
    """What a job has written: files, rows, bytes. Zero where the target has no such thing (a database has no files)."""

    files: int
    rows: int
    bytes: int


class Target(Protocol):
    """Where rows are written."""

    @property
    def shown(self) -> str: ...

    def write(self, frame: DataFrame, tag: str) -> None: ...


@dataclass(frozen=True)
class FileTarget:
    """Files of a format below a path."""

    format: str
    path: str
    mode: Mode = "error"
    partition_by: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    @property
    def shown(self) -> str:
        by = f", partition_by={self.partition_by}" if self.partition_by else ""
        return f"write_{self.format}({self.path!r}{by})"

    def write(self, frame: DataFrame, tag: str) -> None:
        storage = Storage(frame.sparkSession, self.path, self.options)
        keeps = self._keeps_partitions()
        replacement = Replacement.of(storage) if self.mode == "overwrite" and not keeps else None
        if replacement is not None:
            self._write_beside(frame, tag, replacement)
            return
        with PLACES.writing(storage.path, tag):
            if PLACES.is_first(storage.path, tag):
                self._write_into(frame, tag, storage, keeps)
            elif self.mode == "append":
                self._write_beside(frame, tag, Addition(storage))
            else:
                if not keeps:  # Spark has to find the folder of the job before, or none
                    PLACES.wait_for(lambda: storage.exists(self.path), storage.path, tag)
                self._write_into(frame, tag, storage, keeps)

    def _write_into(self, frame: DataFrame, tag: str, storage: Storage, keeps: bool) -> None:
        session, there = frame.sparkSession, storage.exists(self.path)
        try:
            with staged(storage, session, tag, marked=there and self.mode == "append") as settings:
                # Partitions that are replaced have a folder of the job's own in any case.
                self._save(frame.write.mode(self.mode), self.path, {_PARTITION_MODE: "dynamic"} if keeps else settings)
        except Exception:
            # Spark takes its files back and leaves the folder; and a task that was just being stopped may write once more.
            # Where no job of ours has run, or another one was successful meanwhile, what is there belongs to that one.
            if wait_for_tasks(session, tag):
                there = there or storage.exists(f"{self.path}/_SUCCESS") or PLACES.is_shared(storage.path, tag)
                if not there:
                    storage.delete(self.path)
            raise

    def _write_beside(self, frame: DataFrame, tag: str, beside: Replacement | Addition) -> None:
        try:
            self._save(frame.write.mode("error"), beside.path, {})
            beside.commit()
        except Exception:
            wait_for_tasks(frame.sparkSession, tag)  # one that was just being stopped may write once more
            beside.discard()
            raise
        frame.sparkSession.catalog.refreshByPath(self.path)  # for what is cached, as Spark does itself

    def _save(self, writer: DataFrameWriter, path: str, more: dict[str, str]) -> None:
        if self.partition_by:
            writer = writer.partitionBy(*self.partition_by)
        writer.format(self.format).options(**dict(self.options)).options(**more).save(path or None)

    def _keeps_partitions(self) -> bool:
        """Whether only the partitions that get rows are replaced, which Spark does by itself."""
        if not self.partition_by or self.mode != "overwrite":
            return False
        given = {name.lower(): value for name, value in self.options}.get(_PARTITION_MODE.lower())
        return str(given or _partition_mode()).lower() == "dynamic"


_PARTITION_MODE: Final = "partitionOverwriteMode"


def _partition_mode() -> str:
    """What the application's session says; jobs run in sessions of their own."""
    return _application().conf.get(f"spark.sql.sources.{_PARTITION_MODE}") or ""


def _application() -> SparkSession:
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


@dataclass(frozen=True)
class TableTarget:
    """A table of the session's catalog."""

    name: str
    mode: Mode = "error"
    partition_by: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return f"write_table({self.name!r})"

    def write(self, frame: DataFrame, tag: str) -> None:
        session, application = frame.sparkSession, _application()
        name = qualified(application, self.name)
        replacement = TableReplacement.of(session, name) if self.mode == "overwrite" else None
        if replacement is None:
            with PLACES.writing(name, tag):
                self._write_into(frame, tag, name)
            application.catalog.refreshTable(name)  # its session may know the files that there were
            return
        try:
            self._save(frame.write.mode("error"), replacement.sql)
            session.sparkContext.removeJobTag(tag)  # a cancel comes too late; and what renames runs jobs that write nothing
            replacement.commit()
        except Exception:
            wait_for_tasks(session, tag)
            replacement.discard()
            raise
        finally:
            session.sparkContext.addJobTag(tag)
        application.catalog.refreshTable(name)

    def _write_into(self, frame: DataFrame, tag: str, name: str) -> None:
        folder = table_folder(frame.sparkSession, name) if self.mode == "append" else None
        if folder is None:
            self._save(frame.write.mode(self.mode), name)
            return
        session = frame.sparkSession
        with staged(Storage(session, folder), session, tag, marked=True) as settings:
            # Options would be those of a table that is made; what the committer is told has to be in the session.
            self._save(rebound(frame, set_for_one_job(session, settings)).write.mode("append"), name)

    def _save(self, writer: DataFrameWriter, name: str) -> None:
        if self.partition_by:
            writer = writer.partitionBy(*self.partition_by)
        writer.saveAsTable(name)


@dataclass(frozen=True)
class JdbcTarget:
    """A table of a database."""

    url: str
    table: str
    mode: Mode = "append"
    options: tuple[tuple[str, str], ...] = ()

    @property
    def shown(self) -> str:
        return f"write_jdbc({self.table!r})"

    def write(self, frame: DataFrame, tag: str) -> None:
        frame.write.format("jdbc").options(url=self.url, dbtable=self.table, **dict(self.options)).mode(self.mode).save()


@dataclass(frozen=True)
class Effects:
    """A function that gets the items of each task, for its effects; nothing is left of them."""

    function: Callable[[Iterator[Any]], object]

    @property
    def shown(self) -> str:
        return f"foreach_partition({name_of(self.function)})"

    def write(self, frame: DataFrame, tag: str) -> None:
        frame.collect()


@dataclass(frozen=True)
class Lazy:
    """A DataFrame for the application, which decides when it runs."""

    shown: str = "to_dataframe()"

    def write(self, frame: DataFrame, tag: str) -> None:
        raise AssertionError("the application runs it")


#: How the application's session has files written. Jobs run in sessions of their own, which are told of it.
_SETTINGS: Final = (
    "spark.sql.parquet.compression.codec",
    "spark.sql.orc.compression.codec",
    "spark.sql.files.maxRecordsPerFile",
    "spark.sql.parquet.outputTimestampType",
    "spark.sql.sources.default",
)


def _like_the_application(session: SparkSession) -> None:
    ours, theirs = session.conf, _application().conf
    for name in _SETTINGS:
        wanted = theirs.get(name)
        if wanted is not None and ours.get(name) != wanted:
            ours.set(name, wanted)


def written(target: Target, frame: DataFrame, tag: str) -> Written:
    """Write, on the thread of the job whose tag is ``tag``, and tell what was written."""
    _like_the_application(frame.sparkSession)
    target.write(frame, tag)
    files, rows, size = numbers_of(frame.sparkSession, tag)
    return Written(files, rows, size)


#: What a job does with its DataFrame: (frame, tag of the job) to the items of the stream.
Action: TypeAlias = Callable[[Any, str], list[Any]]

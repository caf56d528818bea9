"""Overwriting a table: the new one is made under another name, and the two are renamed when Spark has committed."""

from __future__ import annotations

import logging
import secrets
import threading
from typing import TYPE_CHECKING, Any, Final

from rx_spark._columns._rows import quoted
from rx_spark._errors import SparkJobError
from rx_spark._plans._storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG: Final = logging.getLogger("rx.spark")
_CATALOG: Final = "spark_catalog"
#: Formats whose tables Spark's committer writes as it writes files.
_FORMATS: Final = frozenset(("avro", "csv", "json", "orc", "parquet", "text"))

_swapping = threading.Lock()  # two overwrites of this process rename one after the other


def qualified(application: SparkSession, name: str) -> str:
    """``name`` as the application means it: jobs have sessions of their own, with current databases of their own."""
    named = _parts(application, name)
    catalog = application.catalog.currentCatalog()
    if len(named) == 1:
        named = [application.catalog.currentDatabase(), *named]
        if catalog != _CATALOG:
            named = [catalog, *named]
    return ".".join(map(quoted, named))


def _parts(session: SparkSession, name: str) -> list[str]:
    own: Any = session
    parts = own._jsparkSession.sessionState().sqlParser().parseMultipartIdentifier(name)
    return [parts.apply(at) for at in range(parts.size())]


def table_folder(session: SparkSession, name: str) -> str | None:
    """Where the files of a qualified table are. None: there is no such table, or Spark's committer does not write to it."""
    parts = _parts(session, name)
    if len(parts) > 2 and parts[0] != _CATALOG:
        return None
    own: Any = session
    state = own._jsparkSession.sessionState()
    try:
        table = state.catalog().getTableMetadata(state.sqlParser().parseTableIdentifier(".".join(map(quoted, parts[-2:]))))
        location = table.location().toString()
    except Exception:  # that there is none, as py4j wraps it
        return None
    provider = table.provider()
    return str(location) if provider.isDefined() and str(provider.get()).lower() in _FORMATS else None


class TableReplacement:
    """What is to become the table ``name`` of a database; the job writes it to the table :attr:`sql`."""

    def __init__(self, session: SparkSession, database: str, name: str) -> None:
        token = secrets.token_hex(8)
        self._session, self._database, self._name = session, database, name
        self._new, self._old = (f"{name[:80]}__rx_{which}_{token}" for which in ("new", "old"))

    @staticmethod
    def of(session: SparkSession, name: str) -> TableReplacement | None:
        """None where there is no table, or one of a catalog that is not Spark's own, which knows best how to replace it."""
        if session.conf.get(f"spark.sql.catalog.{_CATALOG}", "builtin") != "builtin":
            return None
        try:
            there = session.catalog.getTable(name)
        except Exception:
            return None
        if there.catalog != _CATALOG or there.tableType not in ("MANAGED", "EXTERNAL") or not there.namespace:
            return None
        return TableReplacement(session, there.namespace[0], there.name)

    @property
    def sql(self) -> str:
        return self._spelled(self._new)

    @property
    def shown(self) -> str:
        """The name of the table that is replaced."""
        return f"{self._database}.{self._name}"

    def commit(self) -> None:
        """Put it in its place, and drop the old table; or give that its name again, and raise SparkJobError."""
        try:
            with _swapping:
                self._swap()
        except Exception as error:
            failed = SparkJobError(f"what was written could not take the place of table {self.shown}: {error}")
            for note in getattr(error, "__notes__", ()):
                failed.add_note(note)
            raise failed from error
        self._drop(self._old)

    def discard(self) -> None:
        """The job has failed. Spark writes the files of a table before it knows the table."""
        self._drop(self._new)
        try:
            location = self._session.catalog.getDatabase(self._database).locationUri
            Storage(self._session, location).delete(f"{location}/{self._new}")
        except Exception as error:
            LOG.warning("the files of table %s could not be deleted: %s", self._new, error)

    def _swap(self) -> None:
        try:
            self._rename(self._name, self._old)
        except Exception as error:
            if not str(error).startswith("[TABLE_OR_VIEW_NOT_FOUND]"):
                raise
            self._rename(self._new, self._name)  # the old one was dropped meanwhile
            return
        try:
            self._rename(self._new, self._name)
        except Exception as error:
            try:
                self._rename(self._old, self._name)
            except Exception:
                error.add_note(f"The table that was {self.shown} is now {self._spelled(self._old)}: rename it.")
            raise

    def _rename(self, source: str, target: str) -> None:
        self._session.sql(f"ALTER TABLE {self._spelled(source)} RENAME TO {self._spelled(target)}")
        try:
            self._find_partitions(self._spelled(target))
        except Exception:
            self._session.sql(f"ALTER TABLE {self._spelled(target)} RENAME TO {self._spelled(source)}")
            raise

    def _find_partitions(self, table: str) -> None:
        """Spark's catalog in memory moves the folder of a table, and lists its partitions where they were: the table would be
        empty, and dropping it would delete what stands there by then."""
        if self._session.conf.get("spark.sql.catalogImplementation") != "in-memory":
            return
        catalog = self._session.catalog
        if catalog.getTable(table).tableType != "MANAGED":
            return
        if any(column.isPartition for column in catalog.listColumns(table)):
            self._session.sql(f"MSCK REPAIR TABLE {table} SYNC PARTITIONS")

    def _drop(self, name: str) -> None:
        try:
            self._session.sql(f"DROP TABLE IF EXISTS {self._spelled(name)}")
        except Exception as error:
            LOG.warning("table %s could not be dropped: %s", self._spelled(name), error)

    def _spelled(self, name: str) -> str:
        return f"{quoted(self._database)}.{quoted(name)}"

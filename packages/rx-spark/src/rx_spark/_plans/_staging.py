"""Several jobs that write to one folder at a time: what one has not committed yet is out of the others' way.

Hadoop's committer keeps the files of finished tasks in ``_temporary/0`` of the folder, for all jobs. The first of them that ends
deletes ``_temporary``; what another one has finished by then is gone, and the commit of that one does not miss it.
"""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING, Any, Final

from rx_spark._errors import SparkJobError
from rx_spark._plans._storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Formats whose tables Spark's committer writes as it writes files.
_FORMATS: Final = frozenset(("avro", "csv", "json", "orc", "parquet", "text"))

#: What Spark writes behind all other files.
_SUCCESS: Final = "_SUCCESS"
#: Held while a mark is made and while a folder without one is removed.
_marking = threading.Lock()


class Staging:
    """A number in place of the 0, and a commit that leaves the other numbers alone.

    A job that fails deletes them all the same. So does one of another program; where the folder is there before the job, a file
    beside the finished ones shows that.
    """

    def __init__(self, storage: Storage, *, marked: bool) -> None:
        self._storage = storage
        self._number = 1 + secrets.randbelow((1 << 31) - 1)  # to Hadoop, which attempt of an application this is
        self._all = f"{storage.path}/_temporary"
        self._own = f"{self._all}/{self._number}"
        self._mark = f"{self._own}/_temporary/.rx" if marked else None  # where the committer looks for no files

    @property
    def settings(self) -> dict[str, str]:
        """What tells Hadoop's committer."""
        return {
            "mapreduce.job.application.attempt.id": str(self._number),
            "mapreduce.fileoutputcommitter.cleanup.skipped": "true",
        }

    def begin(self) -> None:
        if self._mark is not None:
            with _marking:
                self._storage.touch(self._mark)

    def check(self) -> None:
        """Spark has committed. SparkJobError where some of it may be missing."""
        if self._mark is not None and not self._storage.exists(self._mark):
            raise self._lost()

    def explained(self, error: Exception) -> Exception:
        """What to raise for ``error``: the commit found nothing at all, and Spark says of a file which."""
        missing = "FileNotFoundException" in str(error) and f"_temporary/{self._number}" in str(error)
        return self._lost() if missing else error

    def _lost(self) -> SparkJobError:
        return SparkJobError(
            f"another job that wrote to {self._storage.shown} has deleted what this one had not committed yet, as jobs do that "
            f"fail, and those of other programs: only some of its rows may be there.\n"
            f"  Right:  one job after the other, or a folder for each"
        )

    def remove(self) -> None:
        """The job is over, and none of its tasks runs any more."""
        self._storage.delete(self._own)
        with _marking:
            self._storage.delete_empty(self._all)


class Addition:
    """A job that writes to a folder while another one does: into a folder beside it, whose files are moved when all are there."""

    def __init__(self, storage: Storage) -> None:
        token = f".added-{secrets.token_hex(8)}"
        self._storage = storage
        self.path = storage.beside(".", token) or f"{storage.path}/{token}"

    def commit(self) -> None:
        """Move the files. SparkJobError, and nothing is left of them, where one cannot be moved."""
        storage, moved = self._storage, list[str]()
        try:
            files = storage.files(self.path)
            storage.make_folder(storage.path)
            for file in files:
                target = f"{storage.path}/{file}"
                if file == _SUCCESS:
                    continue
                if "/" in file:
                    storage.make_folder(target.rpartition("/")[0])
                storage.move(f"{self.path}/{file}", target)
                moved.append(target)
            if _SUCCESS in files:
                storage.touch(f"{storage.path}/{_SUCCESS}")  # every job has one, and all of the same name
        except OSError as error:
            for target in moved:
                storage.delete(target)
            raise SparkJobError(f"what was written could not be moved to {storage.shown}: {error}") from error
        finally:
            self.discard()

    def discard(self) -> None:
        self._storage.delete(self.path)


def table_folder(session: SparkSession, name: str) -> str | None:
    """Where the files of a table are. None: there is no such table, or it is not Spark's committer that writes to it."""
    own: Any = session
    state = own._jsparkSession.sessionState()
    try:
        table = state.catalog().getTableMetadata(state.sqlParser().parseTableIdentifier(name))
        location = table.location().toString()
    except Exception:  # as py4j wraps it; a table of another catalog has more parts in its name
        return None
    provider = table.provider()
    return str(location) if provider.isDefined() and str(provider.get()).lower() in _FORMATS else None


def set_for_one_job(session: SparkSession, settings: dict[str, str]) -> SparkSession:
    """A session as this one is, and with these settings. Takes 5 to 10 ms."""
    from pyspark.sql import SparkSession

    own: Any = session
    made: Any = SparkSession
    copy: SparkSession = made(session.sparkContext, own._jsparkSession.cloneSession())
    for setting, value in settings.items():
        copy.conf.set(setting, value)
    return copy

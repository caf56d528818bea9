"""Several jobs that write to one folder at a time: what one has not committed yet is out of the others' way.

Hadoop's committer keeps the files of finished tasks in ``_temporary/0`` of the folder, for all jobs. The first of them that ends
deletes ``_temporary``; what another one has finished by then is gone, and the commit of that one does not miss it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from rx_spark._errors import SparkJobError
from rx_spark._plans._job_numbers import wait_for_tasks
from rx_spark._plans._storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
            raise self.lost()

    def found_nothing(self, error: Exception) -> bool:
        """Whether ``error`` is Spark's for a commit that finds no folder at all."""
        return "FileNotFoundException" in str(error) and f"_temporary/{self._number}" in str(error)

    def lost(self) -> SparkJobError:
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


@contextmanager
def staged(storage: Storage, session: SparkSession, tag: str, *, marked: bool) -> Iterator[dict[str, str]]:
    """For the job with ``tag``, which writes meanwhile: settings for the committer. SparkJobError where rows may be missing."""
    staging = Staging(storage, marked=marked)
    try:
        staging.begin()
        yield staging.settings
        staging.check()
    except Exception as error:
        wait_for_tasks(session, tag)
        if staging.found_nothing(error):
            raise staging.lost() from error
        raise
    finally:
        staging.remove()


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
        self.discard()  # the folders that are left

    def discard(self) -> None:
        self._storage.delete(self.path)


def set_for_one_job(session: SparkSession, settings: dict[str, str]) -> SparkSession:
    """A session as this one is, and with these settings. Takes 5 to 10 ms."""
    from pyspark.sql import SparkSession

    own: Any = session
    made: Any = SparkSession
    copy: SparkSession = made(session.sparkContext, own._jsparkSession.cloneSession())
    for setting, value in settings.items():
        copy.conf.set(setting, value)
    return copy

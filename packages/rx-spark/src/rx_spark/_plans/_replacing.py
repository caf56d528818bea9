"""Overwriting: new data is written beside the old, which stays until Spark has committed, and takes its place by renaming."""

from __future__ import annotations

import logging
import secrets
import threading
from typing import Final
from weakref import WeakValueDictionary

from rx_spark._errors import SparkJobError
from rx_spark._plans._storage import Storage

LOG: Final = logging.getLogger("rx.spark")
#: How often in a row another program may have overwritten the same folder in between.
TRIES: Final = 10

_guard = threading.Lock()
#: Two overwrites of a path in this process rename one after the other.
_swapping: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()


def _lock_of(path: str) -> threading.Lock:
    with _guard:
        lock = _swapping.get(path)
        if lock is None:
            lock = _swapping[path] = threading.Lock()
        return lock


class Replacement:
    """What is to stand at the path of ``storage``; the job writes it to :attr:`path`, which readers of the folder around it
    leave out."""

    def __init__(self, storage: Storage, path: str, token: str) -> None:
        self._storage, self.path, self._token = storage, path, token

    @staticmethod
    def of(storage: Storage) -> Replacement | None:
        """None: there is no place beside it. SparkJobError where it could not be renamed."""
        token = secrets.token_hex(8)
        path = storage.beside(".", f".new-{token}")
        if path is None:
            return None
        if storage.is_mount:
            raise SparkJobError(
                f"{storage.shown} cannot be overwritten as a whole, because another disk is mounted there.\n"
                f"  Right:  a folder in it, such as {storage.shown}/data"
            )
        return Replacement(storage, path, token)

    def commit(self) -> None:
        """Put it in its place, and delete the old data; or put that back, and raise SparkJobError."""
        olds: list[str] = []
        try:
            with _lock_of(self._storage.path):
                self._swap(olds)
        except OSError as error:
            failed = SparkJobError(f"what was written could not take the place of {self._storage.shown}: {error}")
            for note in getattr(error, "__notes__", ()):
                failed.add_note(note)
            raise failed from error
        finally:
            for old in olds:
                self._delete(old)

    def discard(self) -> None:
        """The job has failed."""
        self._delete(self.path)

    def _swap(self, olds: list[str]) -> None:
        storage = self._storage
        for tried in range(TRIES):
            old = storage.beside(".", f".old-{self._token}-{tried}") or ""
            moved = self._move_aside(old)
            try:
                storage.move(self.path, storage.path)
                olds += moved
                return
            except FileExistsError:
                olds += moved  # another program has overwritten it in between, and this is the later one
            except Exception as error:
                if moved:
                    self._put_back(old, error)
                raise
        raise FileExistsError(f"{storage.shown} was overwritten {TRIES} times while its old data was being moved aside")

    def _move_aside(self, old: str) -> list[str]:
        """Where what was there is now; nowhere when nothing was there."""
        storage = self._storage
        try:
            storage.move(storage.path, old)
        except FileNotFoundError:
            return []
        except Exception as error:
            if storage.exists(old):  # a copy, on an object store
                error.add_note(f"Some of what was at {storage.shown} may be at {storage.shown_as(old)}.")
            raise
        return [old]

    def _put_back(self, old: str, error: Exception) -> None:
        storage = self._storage
        try:
            storage.move(old, storage.path)
        except FileExistsError:
            self._delete(old)  # another overwrite has put its own there
        except Exception:
            error.add_note(f"What was at {storage.shown} is now at {storage.shown_as(old)}: rename it.")

    def _delete(self, path: str) -> None:
        try:
            self._storage.delete(path)
        except Exception as error:  # the data is as it was asked for, and readers do not see this folder
            LOG.warning("%s could not be deleted: %s", self._storage.shown_as(path), error)

"""The file system that a path is on, as Hadoop sees it: what is there, deleting, renaming."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from rx_spark._java_classes import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG: Final = logging.getLogger("rx.spark")
#: How often a folder is deleted that is there again, or still.
TRIES: Final = 5
_ERRORS: Final = {
    "org.apache.hadoop.fs.FileAlreadyExistsException": FileExistsError,
    "java.io.FileNotFoundException": FileNotFoundError,
}


class Storage:
    """Where ``path`` is. ``options`` are those of the reader or writer: Hadoop's settings may be among them, as in Spark."""

    def __init__(self, session: SparkSession, path: str, options: Iterable[tuple[str, str]] = ()) -> None:
        own: Any = session
        self._jvm: Any = own._jvm
        self._gateway: Any = own.sparkContext._gateway
        self._settings = own._jsparkSession.sessionState().newHadoopConf()
        for name, value in options:
            self._settings.set(name, str(value))
        name = self._path(path)
        self._system = name.getFileSystem(self._settings)
        self._name = self._followed(self._system.makeQualified(name))

    @property
    def path(self) -> str:
        """The path with its file system; of a local link what it leads to."""
        return str(self._name.toString())

    @property
    def shown(self) -> str:
        return self.shown_as(self.path)

    def shown_as(self, path: str) -> str:
        """Another path there, as a user would write it."""
        return path.removeprefix("file:") if path.startswith("file:") else path

    def beside(self, beginning: str, end: str) -> str | None:
        """The path of a neighbour with a similar name. None: a root has no neighbours."""
        parent = self._name.getParent()
        name = str(self._name.getName()).encode()[:200].decode(errors="ignore")  # a name may have 255 bytes
        return None if parent is None else f"{parent.toString()}/{beginning}{name}{end}"

    @property
    def is_mount(self) -> bool:
        """Whether another disk begins there, so that it cannot be renamed."""
        return str(self._name.toUri().getScheme()) == "file" and os.path.ismount(self._name.toUri().getPath())

    def exists(self, path: str) -> bool:
        return bool(self._system.exists(self._path(path)))

    def delete(self, path: str) -> None:
        """With all that is below it; nothing is done where nothing is.

        Hadoop answers no where a file comes into a folder while it deletes that: then once more. A warning tells what stays.
        """
        name = self._path(path)
        for _ in range(TRIES):
            if self._system.delete(name, True) or not self._system.exists(name):
                return
        LOG.warning("%s is still there: something writes to it, or it may not be deleted", self.shown_as(path))

    def delete_empty(self, path: str) -> None:
        """A folder with nothing in it; another one stays."""
        with suppress(Exception):  # that it is not empty, as py4j wraps it
            self._system.delete(self._path(path), False)

    def files(self, path: str) -> list[str]:
        """All below a folder, in order of their names, with the folders they are in; not those of checksums."""
        top = f"{self._path(path).toUri().getPath()}/"
        found = self._system.listFiles(self._path(path), True)
        named: list[str] = []
        while found.hasNext():
            named.append(str(found.next().getPath().toUri().getPath()).removeprefix(top))
        return sorted(named)

    def make_folder(self, path: str) -> None:
        """With those above it; nothing is done where it is."""
        self._system.mkdirs(self._path(path))

    def touch(self, path: str) -> None:
        """Make an empty file, and the folders above it."""
        self._system.create(self._path(path)).close()

    def move(self, source: str, target: str) -> None:
        """Rename a file or folder: at once on HDFS and on disks; an object store copies all of it.

        Errors: FileExistsError where the target is there (Hadoop's older call would move the source into it),
        FileNotFoundError where the source is not, OSError.
        """
        context = self._context()
        if context is None:
            self._move_slowly(source, target)
            return
        try:
            none = self._gateway.new_array(java_class(self._jvm, "org.apache.hadoop.fs.Options$Rename"), 0)
            context.rename(self._path(source), self._path(target), none)
        except Exception as error:
            raise _as_os_error(error) from error

    def _move_slowly(self, source: str, target: str) -> None:
        """For file systems that have only Hadoop's older interface, which answers no to everything."""
        for path, wanted in ((source, True), (target, False)):
            if self.exists(path) != wanted:
                raise (FileNotFoundError if wanted else FileExistsError)(path)
        if not self._system.rename(self._path(source), self._path(target)):
            raise OSError(f"{source} could not be renamed to {target}")

    def _context(self) -> Any:
        """Hadoop's newer interface, which does not move into what is there; None where the file system has none."""
        try:
            contexts = java_class(self._jvm, "org.apache.hadoop.fs.FileContext")
            return contexts.getFileContext(self._name.toUri(), self._settings)
        except Exception:  # UnsupportedFileSystemException, as py4j wraps it
            return None

    def _followed(self, name: Any) -> Any:
        local = name.toUri().getPath()
        if name.toUri().getScheme() == "file" and os.path.islink(local):
            return self._path(f"file:{os.path.realpath(local)}")
        return name

    def _path(self, path: str) -> Any:
        return java_class(self._jvm, "org.apache.hadoop.fs.Path")(path)


def _as_os_error(error: Exception) -> OSError:
    """What Python would raise for what Java raised, which py4j has wrapped."""
    java: Any = getattr(error, "java_exception", None)
    if java is None:
        return OSError(str(error))
    return _ERRORS.get(java.getClass().getName(), OSError)(str(java.getMessage()))

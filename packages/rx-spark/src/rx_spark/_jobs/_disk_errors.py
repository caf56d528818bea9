"""What is raised where Spark found a disk full: which one, on which machine, and which setting names another."""

from __future__ import annotations

import os
import re
from typing import Final

from rx_spark._errors import SparkJobError

_FULL: Final = re.compile(
    r"\b(?:java\.io|org\.apache)\.[\w.$]+: "
    r"(?P<said>[^\n]*?(?P<why>No space left on device|Disk quota exceeded|File too large)[^\n]*)"
    r"(?P<frames>(?:\n\s+at [^\n]*)*)"
)
_HOST: Final = re.compile(r"Lost task \S+ in stage \S+ \(TID \d+\) \((?P<host>\S+) executor (?P<executor>\w+)\)")
_TARGET: Final = re.compile(r"\[TASK_WRITE_FAILED\] Task failed while writing rows to (?P<path>\S+?)\.? SQLSTATE")
#: Parts of Spark that write into its temporary folders, and what writes anywhere else.
_WRITER: Final = re.compile(r"at org\.apache\.(?P<of>hadoop|parquet|spark\.(?:shuffle|storage|memory|io|util\.collection))\.")
_REPLACING: Final = re.compile(r"/\.([^/]+)\.new-[0-9a-f]{16}$")  # see rx_spark._plans._replacing
_FOLDER: Final = re.compile(r"(/\S*?)/(?:blockmgr|spark)-\S* \(")


def disk_error(text: str) -> SparkJobError | None:
    """What is to be raised for what Spark says of a full disk; None where it speaks of something else."""
    for found in _FULL.finditer(text):
        writer = _WRITER.search(found["frames"])
        if writer is not None:
            return _of_target(text, found["why"]) if writer["of"] in ("hadoop", "parquet") else _of_spark(text, found)
    return None


def _of_spark(text: str, found: re.Match[str]) -> SparkJobError:
    ran, named = _HOST.search(text), _FOLDER.search(found["said"])
    here = ran is None or ran["executor"] == "driver"
    folder = named[1] if named is not None else _folder() if here else "spark.local.dir"
    machine = "" if ran is None or here else f" of {ran['host']}"
    if here:
        setting = 'SparkConfig(settings=(("spark.local.dir", "/large/tmp"),)), when the session is made, or SPARK_LOCAL_DIRS'
    else:
        setting = "SPARK_LOCAL_DIRS of the workers; on YARN yarn.nodemanager.local-dirs, on Kubernetes a volume"
    return SparkJobError(
        f"the disk under {folder}{machine}, where Spark keeps what shuffles and sorts have written, is full: {found['why']}.\n"
        f"  Another folder:  {setting}"
    )


def _of_target(text: str, why: str) -> SparkJobError:
    target = _TARGET.search(text)
    path = "that is written to"
    if target is not None:
        folder = target["path"].partition("/_temporary")[0].removeprefix("file:")
        path = f"under {_REPLACING.sub(_named, folder)}"
    return SparkJobError(
        f"the disk {path} is full: {why}. Nothing is left of what the job wrote.\n"
        f"  Right:  room for the new files, with mode='overwrite' beside the old ones"
    )


def _named(hidden: re.Match[str]) -> str:
    return f"/{hidden[1]}"


def _folder() -> str:
    """Where Spark keeps such files on this machine."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    said = None if context is None else context.getConf().get("spark.local.dir")
    return os.environ.get("SPARK_LOCAL_DIRS") or said or "/tmp"

"""Spark's archives on the path of its Python workers: what they cost each process, and how to do without them."""

from __future__ import annotations

import os
import re
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

_SPARK_CORE: Final = re.compile(r"spark-core_.*\.jar")


def leave_archives(path: list[str]) -> None:
    """Take off ``path`` what Spark puts in front of it and no worker needs: a jar that holds no Python, and pyspark.zip where the
    same installation is found without it, in folders.

    From the zip pyspark is compiled anew in each process, and the lists of both, of thousands of files, are read again by each
    worker, once its job has files of its own: 0.3 s of the processor for a new worker.
    """
    before = list(path)
    path[:] = [entry for entry in before if not _SPARK_CORE.fullmatch(os.path.basename(entry))]
    without_zip = [entry for entry in path if os.path.basename(entry) != "pyspark.zip"]
    zips = {*path} - {*without_zip}
    found = PathFinder.find_spec("pyspark", without_zip)
    if found is not None and found.origin is not None:
        folder = Path(found.origin).parent
        # As pip installs it, and as it stands in Spark's own distribution; Spark names its home without links.
        same = {os.path.realpath(lib / "pyspark.zip") for lib in (folder / "python" / "lib", folder.parent / "lib")}
        if same.issuperset(map(os.path.realpath, zips)):
            path[:] = without_zip
    for entry in {*before} - {*path}:
        sys.path_importer_cache.pop(entry, None)

"""The versions that take part in a job: those of the driver go with it, and a worker compares its own first."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Final, TypeAlias

from rx_spark._errors import VersionsError

#: Names and versions.
Versions: TypeAlias = tuple[tuple[str, str], ...]
#: Both sides pickle with the one and exchange batches with the other: releases of the same major version understand each other.
_OUTSIDE: Final = ("cloudpickle", "pyarrow")
#: They have classes that travel, so they have to be the same.
_OURS: Final = ("rx_core", "rx_fusion", "rx_ops", "rx_spark")


def versions_here() -> Versions:
    """Those of this process: what is missing has an empty one."""
    python = ".".join(map(str, sys.version_info[:2]))
    return (("Python", python), *((name, _version(name)) for name in (*_OURS, *_OUTSIDE)))


def differences(theirs: Versions, ours: Versions, where: str) -> str:
    """What of the driver's versions does not go with those of an executor, in one text; empty: nothing."""
    here = dict(ours)
    found = [
        f"{name} {here.get(name) or 'is missing'} (the driver has {version})"
        for name, version in theirs
        if not _compatible(name, version, here.get(name, ""))
    ]
    return "" if not found else f"an executor on {where} does not go with the driver: {', '.join(found)}"


def check_versions(theirs: Versions, where: str) -> None:
    """Raise VersionsError on an executor that does not go with the driver."""
    text = differences(theirs, versions_here(), where) if theirs else ""
    if text:
        raise VersionsError(
            f"{text}.\n"
            f"  Right:  install the same there, or send an environment along (spark.archives, PYSPARK_PYTHON=./env/bin/python)"
        )


def _compatible(name: str, driver: str, executor: str) -> bool:
    if name in _OUTSIDE:
        return _major((driver,)) == _major((executor,))
    return driver == executor


def _major(versions: Iterable[str]) -> list[str]:
    return [version.partition(".")[0] for version in versions]


def _version(name: str) -> str:
    try:
        return str(getattr(import_module(name), "__version__", ""))
    except ImportError:
        return ""

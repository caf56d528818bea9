"""A PATH on which programs find what they need of this machine, and no Java."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

#: What the scripts call that start Spark's JVM and the workers.
TOOLS: Final = ("bash", "sh", "dirname", "cat", "env", "ps", "uname", "readlink", "ls", "grep", "sed", "cut", "hostname")


def tools_without_java(folder: Path) -> Path:
    folder.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        if found:
            (folder / name).symlink_to(found)
    return folder

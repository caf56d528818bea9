"""mypy with our plugin: operators of other distributions are methods with exact types, and what is wrong stays wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugins.places import DATA, MYPY, PACKAGES, ROOT, Place

pytestmark = pytest.mark.slow

CODE = re.compile(r"(\w+\.py):(\d+): error: .*\[([\w-]+)\]$")
MARK = re.compile(r"# ([\w-]+) \| (\w+)$")


def expected(column: int) -> set[tuple[str, int, str]]:
    lines = (DATA / "mistakes.py").read_text(encoding="utf-8").splitlines()
    found = {("mistakes.py", at, mark[column]) for at, line in enumerate(lines, 1) if (mark := MARK.search(line))}
    assert len(found) > 10
    return found


def errors(output: list[str]) -> set[tuple[str, int, str]]:
    return {(found[1], int(found[2]), found[3]) for line in output if (found := CODE.search(line))}


def test_uses_have_exact_types_and_mistakes_are_refused(with_pairs: Place) -> None:
    with_pairs.copy("uses.py", "mistakes.py")
    output = with_pairs.mypy("uses.py", "mistakes.py")
    assert errors(output) == expected(1), "\n".join(output)
    text = "\n".join(output)
    assert '"Flowable[int]" has no attribute "pears"' in text
    assert 'Unexpected keyword argument "stepp" for "pairs"; did you mean "step"?' in text
    assert 'Argument 1 to "pairs" has incompatible type "str"; expected "int"' in text
    assert 'Invalid self argument "Flowable[str]" to attribute function "total"' in text
    assert '"pairs" of rx-pairs is called on a stream, not on the class Flowable' in text
    assert 'Cannot assign to "pairs", an operator of rx-pairs' in text


def test_without_the_distribution_every_use_is_refused(place: Place) -> None:
    place.copy("uses.py")
    uses = [("uses.py", at) for at, line in enumerate((DATA / "uses.py").read_text().splitlines(), 1) if ".pairs(" in line]
    assert {found[:2] for found in errors(place.mypy("uses.py"))} >= set(uses)


WORDS = {"Flowable.words": "rx_words._impl:words"}
IMPL = """\
from rx_ops import Flowable

def words(flow: Flowable[str], limit: {limit}) -> Flowable[list[str]]:
    return flow.buffer(2)
"""
FILES = {"rx_words/__init__.py": "", "rx_words/py.typed": "", "rx_words/_impl.py": IMPL.format(limit="int")}
CHANGED = {**FILES, "rx_words/_impl.py": IMPL.format(limit="bytes")}
APP = """\
from typing import assert_type

from rx_ops import Flowable

def app(flow: Flowable[str]) -> None:
    assert_type(flow.words(3), Flowable[list[str]])
"""
WRONG_ARGUMENT = 'app.py:6: error: Argument 1 to "words" has incompatible type "int"; expected "bytes"  [arg-type]'
UNKNOWN = 'app.py:6: error: "Flowable[str]" has no attribute "words"  [attr-defined]'


@pytest.mark.timeout(240)  # mypy runs four times
def test_a_second_run_notices_what_changed(place: Place) -> None:
    place.write("app.py", APP)
    place.install("rx-words", WORDS, FILES)
    assert place.mypy("app.py") == ["Success: no issues found in 1 source file"]
    place.install("rx-words", WORDS, CHANGED)
    assert WRONG_ARGUMENT in place.mypy("app.py")
    place.uninstall("rx-words")
    assert UNKNOWN in place.mypy("app.py")
    place.install("rx-words", WORDS, FILES)
    assert place.mypy("app.py") == ["Success: no issues found in 1 source file"]


@pytest.mark.nightly
def test_a_cache_without_a_record_of_plugins_notices_it_too(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.write("app.py", APP)
    place.install("rx-words", {}, FILES)
    assert UNKNOWN in place.mypy("--no-sqlite-cache", "app.py")
    records = list(place.cache.rglob("@plugins_snapshot*"))
    assert records
    for record in records:
        record.unlink()
    place.install("rx-words", WORDS, {})
    assert place.mypy("--no-sqlite-cache", "app.py") == ["Success: no issues found in 1 source file"]


@pytest.mark.nightly
def test_the_daemon_notices_it_too(place: Place) -> None:
    def check() -> str:
        return "\n".join(place.call(*dmypy, "run", "--timeout", "100", "--", "--python-executable", str(place.python), "app.py"))

    dmypy = [sys.executable, "-m", "mypy.dmypy", "--status-file", "daemon.json"]
    place.write("app.py", APP)
    place.install("rx-words", WORDS, FILES)
    try:
        assert "Success" in check()
        place.install("rx-words", WORDS, CHANGED)
        assert WRONG_ARGUMENT in check()
        place.uninstall("rx-words")
        assert UNKNOWN in check()
    finally:
        subprocess.run([*dmypy, "stop"], cwd=place.folder, capture_output=True, check=False)


BROKEN = {
    "Flowable.gone": "rx_gone._impl:gone",
    "Flowable.absent": "rx_half._impl:absent",
    "Flowable.number": "rx_half._impl:number",
    "Flowable.bare": "rx_half._impl:bare",
    "Flowable.wrapped": "rx_half._impl:wrapped",
    "Flowable.either": "rx_half:either",
    "Flowable.inner": "rx_half._impl:Group.inner",
    "Flowable.map": "rx_half._impl:number",
    "Flowable._hidden": "rx_half._impl:bare",
    "Nothing.bare": "rx_half._impl:bare",
    "Flowable.odd.name": "rx_half._impl:bare",
}
HALF = """\
from collections.abc import Callable
from typing import Any, TypeVar, overload

from rx_ops import Flowable, Single

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
number = 3

def bare(flow): return flow
def same(function: F) -> F: return function

@same
def wrapped(flow: Flowable[T]) -> Flowable[set[T]]: ...

@overload
def either(flow: Flowable[int]) -> Single[int]: ...
@overload
def either(flow: Flowable[str], separator: str) -> Single[str]: ...
def either(flow: Any, separator: Any = None) -> Any: ...

class Group:
    @staticmethod
    def inner(flow: Flowable[T]) -> Flowable[list[T]]: ...
"""
APP_OF_BROKEN = """\
from rx_ops import Flowable

numbers, words = Flowable.range(3), Flowable.of("a")
reveal_type(numbers.gone())
reveal_type(numbers.absent())
reveal_type(numbers.number())
reveal_type(numbers.bare())
reveal_type(numbers.wrapped())
reveal_type(numbers.either())
reveal_type(words.either(", "))
words.either()
reveal_type(numbers.inner())
reveal_type(numbers.map(str))
numbers._hidden()
reveal_type(numbers.untyped())
"""


def test_distributions_with_mistakes_are_named_and_do_not_spoil_the_others(place: Place) -> None:
    files = {"rx_half/__init__.py": "from rx_half._impl import either", "rx_half/py.typed": "", "rx_half/_impl.py": HALF}
    place.install("rx-half", BROKEN, files)
    place.install("rx-untyped", {"Flowable.untyped": "rx_untyped:untyped"}, {"rx_untyped.py": "def untyped(flow): ..."})
    place.write("app.py", APP_OF_BROKEN)
    sources = ":".join(str(ROOT / folder) for folder in PACKAGES)
    place.write("mypy.ini", f"{MYPY}mypy_path = {sources}\n")  # rx_ops is a source here: what is wrong in it is reported
    flow = r"rx_ops\._faces\._flowable\.Flowable\["
    wanted = [
        '4: error: "gone" of rx-half: cannot find module "rx_gone._impl"',
        '5: error: "absent" of rx-half: module "rx_half._impl" has no "absent"',
        '6: error: "number" of rx-half is no function: rx_half._impl:number',
        '7: note: Revealed type is "Any"',
        f'8: note: Revealed type is "{flow}(builtins.)?set',
        r'9: note: Revealed type is "rx_ops\._faces\._generated_single\.Single\[(builtins\.)?int\]"',
        r'10: note: Revealed type is "rx_ops\._faces\._generated_single\.Single\[(builtins\.)?str\]"',
        r"11: error: (Missing positional argument|No overload variant|Too few arguments|All overload)",
        f'12: note: Revealed type is "{flow}(builtins.)?list',
        f'13: note: Revealed type is "{flow}(builtins.)?str',
        r'14: error: "Flowable\[int\]" has no attribute "_hidden"',
        '15: error: "untyped" of rx-untyped has no types: module "rx_untyped" is installed, but missing py.typed marker',
    ]
    output = place.mypy("app.py", str(ROOT / "packages/rx-ops/src/rx_ops/_faces/_plugged.py"))
    for line in wanted:
        assert any(re.match(rf"app\.py:{line}", each) for each in output), f"{line}\n{chr(10).join(output)}"
    assert not [line for line in output if not line.startswith("app.py:") and not line.startswith("Found")]

"""What errors show as right is a program: it is run here, as far as assembly, with the names that a reader has.

``...`` among the arguments of a call stands for those that stay as they were.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from frames import Trip

import rx_spark
from rx_ops import Flowable, it
from rx_spark._plans import _plan as _plans

pytestmark = pytest.mark.spark

#: Without their types: a checker refuses what is wrong here.
SPARK: Final[Any] = rx_spark
#: A line that begins so says in words what to do.
PROSE: Final = ("int, float, str", "one of these", "spark://")


def advice(text: str) -> Iterator[str]:
    """The pieces of code behind ``Right:`` and ``Or:``; what is indented as deep belongs to the one before it."""
    lines = text.splitlines()
    pieces: list[str] = []
    for line in lines:
        code = re.split(r" {3,}", line[10:])[0].rstrip()
        if line.startswith(("  Right:  ", "  Or:     ")):
            pieces.append(code)
        elif line.startswith(" " * 10) and pieces:
            pieces[-1] += "\n" + code
    yield from (piece for piece in pieces if not piece.startswith(PROSE))


class Others(ast.NodeTransformer):
    """The other arguments, where ``...`` stands for them, and paths in a folder: Spark does not ask where this process is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str) and node.value.startswith("trips/"):
            return ast.Constant(str(self.folder / node.value))
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        for at, each in enumerate(node.args):
            if isinstance(each, ast.Constant) and each.value is ...:
                node.args[at] = ast.Name("given", ast.Load())
        return node


def run(code: str, names: dict[str, Any], folder: Path) -> None:
    tree = ast.parse(f"flow{code}" if code.startswith(".") else code)
    exec(compile(ast.fix_missing_locations(Others(folder).visit(tree)), "<advice>", "exec"), names)


def yields(items: Iterator[Any]) -> Iterator[Any]:
    yield from items


def once(_flow: Any) -> None:
    flow = SPARK.from_iterable(iter([1]))
    flow.blocking_list()
    flow.blocking_list()


#: The mistake, made with a stream of rows, and how many pieces of code are shown.
MISTAKES: Final[dict[str, tuple[Callable[[Any], object], int]]] = {
    "checking a number": (lambda flow: SPARK.check(3), 1),
    "shipping nothing": (lambda flow: rx_spark.ship(), 1),
    "a number for a name": (lambda flow: SPARK.Observed(3), 1),
    "a path for a tuple": (lambda flow: _plans.TextSource("lines.txt"), 1),  # type: ignore[arg-type]  # what is wrong is the point
    "writing to a number": (lambda flow: SPARK.write_parquet(flow, 3), 1),
    "writing what has no columns": (lambda flow: SPARK.write_parquet(flow.map(lambda trip: object()), "out"), 2),
    "observing with a number": (lambda flow: SPARK.observe(flow, 3, n=it.count()), 1),
    "observing nothing": (lambda flow: SPARK.observe(flow, rx_spark.Observed("seen")), 1),
    "a function that is a generator": (lambda flow: SPARK.foreach_partition(flow, yields), 1),
    "a number for statistics": (lambda flow: SPARK.text("lines.txt", stats=3), 1),
    "bytes for a path": (lambda flow: SPARK.text(b"lines.txt"), 1),
    "an iterator that is read twice": (once, 1),
    "a list for a DataFrame": (lambda flow: SPARK.dataframe([1]), 1),
    "a number for a file": (lambda flow: SPARK.parquet(3), 1),
    "a number for bad records": (lambda flow: SPARK.text("lines.txt", on_bad="skip", bad=3), 1),
    "nowhere to collect": (lambda flow: SPARK.text("lines.txt", on_bad="collect"), 1),
    "bad records, and none is left out": (lambda flow: SPARK.text("lines.txt", bad=rx_spark.BadRecords()), 1),
    "rows of numbers": (lambda flow: SPARK.write_parquet(flow, "out", schema=int), 1),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_said_to_be_right_is_accepted(
    mistake: str, source: Flowable[Trip], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, pieces = MISTAKES[mistake]
    with pytest.raises((TypeError, ValueError, RuntimeError)) as caught:
        make(source)
    shown = list(advice(str(caught.value)))
    assert len(shown) == pieces, caught.value
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "module.py").write_text("NUMBER = 1\n")
    for name in ("2026", "2027"):
        (tmp_path / "trips").mkdir(exist_ok=True)
        (tmp_path / "trips" / name).symlink_to(folder)
    (tmp_path / "lines.txt").write_text("1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {name: getattr(rx_spark, name) for name in rx_spark.__all__} | {
        **vars(__import__("typing")),
        "rx_spark": rx_spark, "it": it, "Trip": Trip, "TextSource": _plans.TextSource,
        "flow": source, "f": abs, "function": abs, "items": [1], "seen": rx_spark.Observed("again"), "bad": rx_spark.BadRecords(),
        "given": "out" if "writing" in mistake else "lines.txt",
        "spark": SimpleNamespace(table=lambda _name: rx_spark.to_dataframe(source)),
    }  # fmt: skip
    for code in shown:
        run(code, names, tmp_path)

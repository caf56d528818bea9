"""The input: Python files as rows in Parquet. This is where a team's data would be there already."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from metrics.model import SourceFile

ROWS_PER_FILE = 500
SCHEMA = pa.schema(
    [
        ("package", pa.string()),
        ("path", pa.string()),
        ("lines", pa.int32()),
        ("longest_line", pa.int32()),
        ("functions", pa.int32()),
    ]
)


def source_files(root: Path) -> Iterator[SourceFile]:
    """The Python files below ``root``, in the order of their names; the package is the first folder, "." for files beside it."""
    for path in sorted(root.rglob("*.py")):
        inner = path.relative_to(root)
        if "site-packages" in inner.parts:
            continue
        data = path.read_bytes()
        lines = data.decode("utf-8", "replace").splitlines()
        longest = max(map(len, lines), default=0)
        package = inner.parts[0] if len(inner.parts) > 1 else "."
        yield SourceFile(package, str(inner), len(lines), longest, _functions(data))


def _functions(data: bytes) -> int | None:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(tree))


def export(rows: list[SourceFile], folder: Path) -> int:
    """Write the rows as Parquet files; how many files."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [rows[at : at + ROWS_PER_FILE] for at in range(0, len(rows), ROWS_PER_FILE)]
    for at, part in enumerate(parts):
        pq.write_table(pa.Table.from_pylist([asdict(row) for row in part], SCHEMA), folder / f"part-{at:04}.parquet")
    return len(parts)

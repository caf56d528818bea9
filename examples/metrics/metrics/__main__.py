"""``python examples/metrics``: export, run, show."""

from __future__ import annotations

import argparse
import sys
import sysconfig
import tempfile
from pathlib import Path

import pyarrow.dataset as ds

from metrics.export import export, source_files
from metrics.job import run_here, run_on_spark, totals
from metrics.model import SourceFile, Total


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="metrics", description="Size and density of Python packages, as a batch job on Spark.")
    parser.add_argument("--input", type=Path, default=Path(sysconfig.get_path("stdlib")), help="a folder of Python sources")
    parser.add_argument("--output", type=Path, help="where the result is written; default: a temporary folder")
    parser.add_argument("--master", help="a Spark cluster; default: Spark inside this process")
    parser.add_argument("--explain", action="store_true", help="print the plan and stop")
    options = parser.parse_args(arguments)
    if not options.input.is_dir():
        parser.error(f"{options.input} is no folder")
    with tempfile.TemporaryDirectory(prefix="rx-metrics-") as scratch:
        return _run(options, Path(scratch))


def _run(options: argparse.Namespace, scratch: Path) -> int:
    import rx_spark

    rows = list(source_files(options.input))
    if not rows:
        print(f"no Python files in {options.input}", file=sys.stderr)
        return 1
    source = scratch / "files"
    export(rows, source)
    if options.explain:
        print(totals(rx_spark.parquet(source, schema=SourceFile, master=options.master)).explain())
        return 0
    target = options.output or scratch / "totals"
    written = run_on_spark(source, target, options.master)
    found = sorted(read(target), key=lambda total: (-total.lines, total.package))
    for total in found[:15]:
        print(f"{total.package:20} {total.size:8} {total.files:5} files {total.lines:8,} lines {total.functions:7,} functions")
    print(f"{written.rows} rows in {written.files} files")
    if sorted(found, key=repr) != sorted(run_here(rows), key=repr):
        print("the answer in this thread is another", file=sys.stderr)
        return 1
    return 0


def read(folder: Path) -> list[Total]:
    """What was written, with pyarrow alone."""
    return [Total(**row) for row in ds.dataset(folder, partitioning="hive").to_table().to_pylist()]


if __name__ == "__main__":
    sys.exit(main())

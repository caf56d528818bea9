"""The same job in PySpark alone, to compare with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metrics.model import SourceFile, measured


def run_plain(session: Any, source: Path, target: Path) -> None:
    """Parquet to partitioned Parquet: the mapper has to be carried over Arrow batches by hand."""
    from pyspark.sql import functions

    def mapped(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            rows = [measured(SourceFile(**row)) for row in batch.to_pylist()]
            yield pa.RecordBatch.from_pydict(
                {
                    "package": pa.array([row.package for row in rows], pa.string()),
                    "size": pa.array([row.size for row in rows], pa.string()),
                    "lines": pa.array([row.lines for row in rows], pa.int64()),
                    "functions": pa.array([row.functions for row in rows], pa.int64()),
                }
            )

    columns = functions.col
    frame = session.read.parquet(str(source))
    frame = frame.where((columns("lines") > 0) & (columns("longest_line") < 2_000))
    frame = frame.select("package", "path", "lines", "longest_line", "functions")
    rows = frame.mapInArrow(mapped, "package string, size string, lines bigint, functions bigint")
    grouped = rows.groupBy("package", "size").agg(
        functions.count("*").alias("files"),
        functions.sum("lines").alias("lines"),
        functions.sum("functions").alias("functions"),
        functions.max("lines").alias("longest"),
    )
    grouped.write.partitionBy("size").parquet(str(target))

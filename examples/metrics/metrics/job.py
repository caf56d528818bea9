"""The job. The pipeline is one function: over rows of this process, over Spark inside it, over a cluster."""

from __future__ import annotations

from pathlib import Path

import rx_spark
from metrics.model import SIZES, SourceFile, Total, measured
from rx_ops import Flowable, Row, it


def totals(files: Flowable[SourceFile]) -> Flowable[Row]:
    """Files, lines and functions for each package and size: filters as columns, the mapper in Python, then a shuffle."""
    return (
        files.filter(it.lines > 0)
        .filter(it.longest_line < 2_000)  # generated
        .map(measured)
        .group_aggregate(
            (it.package, it.size),
            files=it.count(),
            lines=it.lines.sum(),
            functions=it.functions.sum(),
            longest=it.lines.max(),
        )
    )


def run_on_spark(source: Path, target: Path, master: str | None = None) -> rx_spark.Written:
    """Parquet to partitioned Parquet, on the executors."""
    files = rx_spark.parquet(source, schema=SourceFile, master=master)
    return rx_spark.write_parquet(totals(files), target, schema=Total, partition_by="size").blocking_get()


def run_here(files: list[SourceFile]) -> list[Total]:
    """The same in this thread."""
    return totals(Flowable.from_iterable(files)).map(lambda row: Total(*row)).to_list().blocking_get()


__all__ = ["SIZES", "run_here", "run_on_spark", "totals"]

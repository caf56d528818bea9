"""Sources of rows without a session: descriptions that can be looked at, and are not run."""

from __future__ import annotations

from typing import Any

from frames import Trip

from rx_ops import Flowable
from rx_spark import SparkConfig
from rx_spark._columns._frames import Files, FrameSource
from rx_spark._columns._rows import row_type
from rx_spark._pipelines._head import SparkHead
from rx_spark._plans._plan import Plan


def described_rows(*paths: str, schema: type[Any] = Trip) -> Flowable[Any]:
    """What ``rx_spark.parquet(*paths, schema=Trip)`` is, once it has looked at the files."""
    named = paths or ("trips",)
    source = FrameSource(Files("parquet", named), row_type(schema))
    return Flowable._from(SparkHead("parquet", f"rx_spark.parquet({', '.join(map(repr, named))})", Plan(source), SparkConfig()))

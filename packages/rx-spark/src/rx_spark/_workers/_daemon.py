"""The process from which Spark forks its Python workers in an embedded session.

Spark's own, with what every worker needs imported beforehand: new workers are then ready at once instead of after some
0.5 s, and workers are new at the start and after jobs that had to be killed. Linux only: the one thread that these
imports start belongs to pyarrow's allocator, which takes care of forks there.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads, which do not survive a fork

import cloudpickle  # noqa: F401  # imported for the workers
import pandas  # noqa: F401
import pyarrow  # noqa: F401
from pyspark.daemon import manager

import rx_ops.stages  # noqa: F401
import rx_spark._workers._passes
import rx_spark._workers._runner  # noqa: F401

if __name__ == "__main__":
    manager()

"""The process from which Spark forks its Python workers in an embedded session.

Spark's own, with what every worker needs imported beforehand: new workers are then ready at once instead of after a
second, and workers are new at the start and after jobs that had to be killed. Linux only: the one thread that these
imports start belongs to pyarrow's allocator, which takes care of forks there.
"""

from __future__ import annotations

import os
import sys

from rx_spark._workers._archives import leave_archives

leave_archives(sys.path)  # before anything of pyspark is imported
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads, which do not survive a fork

import cloudpickle  # noqa: E402, F401  # imported for the workers
import pandas  # noqa: E402, F401
import pyarrow  # noqa: E402, F401
import pyspark.worker  # noqa: E402, F401
from pyspark.daemon import manager  # noqa: E402

import rx_ops.stages  # noqa: E402, F401
import rx_spark._workers._passes  # noqa: E402
import rx_spark._workers._runner  # noqa: E402, F401

if __name__ == "__main__":
    manager()

"""Rows again, behind functions of Python: what comes then are columns."""

from __future__ import annotations

from typing import Any, TypeVar

from rx_ops import Flowable
from rx_spark._columns._fitting import as_rows as as_rows_
from rx_spark._columns._fitting import fit_of

T = TypeVar("T")


def as_rows(flow: Flowable[Any], schema: type[T], /) -> Flowable[T]:
    """The same items, which are rows of ``schema`` from here on: ``it`` expressions behind it are columns again.

    ::  --Fare('Ulm', 3)--Fare('Bern', 4)|  -->  --Fare('Ulm', 3)--Fare('Bern', 4)|

    ``rx_spark.parquet(...).map(to_fare).as_rows(Fare).sorted(it.cents)`` sorts on the cluster; without ``as_rows`` Spark does not
    know what the function has made, and the driver sorts. The tasks write the items into Arrow columns of the class, which costs
    about what reading them does: worth it in front of ``sorted``, of groups with many keys, of ``distinct``, not in front of a
    filter. The class is a dataclass, a NamedTuple or a TypedDict, as for :func:`parquet`.

    An item has to be of exactly this class, with values of exactly these types: one that columns would change is an error, with
    Spark and without it. A ``__post_init__`` runs again when items come back, and a ``Decimal`` has 18 digits behind the point.
    Items of Spark have no order behind it, as those of a DataFrame, until a ``sorted``.

    Demand:  passes through; on Spark the tasks run ahead as for any rows.
    Errors:  SchemaError, naming field and value, for an item of another class, or with a value of another type, more than 64
             bits, a moment that is not in UTC, more digits than decimal(38,18), text that UTF-8 cannot encode. TypeError at
             assembly for a class that describes no rows, or whose objects are more than their columns.
    Memory:  one batch of rows per task.   Thread: the one that requests; on Spark the tasks'.
    Fusion:  stage; on Spark the end of a pass.
    Source:  Spark ``Dataset.as``, ``createDataset``.
    """
    made: Flowable[T] = flow._then(as_rows_, fit_of(schema))
    return made

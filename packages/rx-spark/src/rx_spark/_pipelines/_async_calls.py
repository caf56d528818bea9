"""``map_async`` and ``filter_async`` over a pipeline of Spark: the tasks make the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rx_core.tasks import AsyncMapped
from rx_fusion import Head, Pipeline, PublisherHead, Rule
from rx_spark._pipelines._head import SparkHead

if TYPE_CHECKING:
    from rx_fusion import Shape


def _called_by_tasks(head: Head, shape: Shape, args: tuple[Any, ...]) -> tuple[Head, Shape, tuple[Any, ...]] | None:
    if not isinstance(head, PublisherHead) or not isinstance(head.publisher, AsyncMapped):
        return None
    flow = head.publisher.upstream
    if not isinstance(flow, Pipeline):
        return None
    spark, rest, _ = flow._resolve()
    if not isinstance(spark, SparkHead) or rest or spark.closed:
        return None
    return spark.with_calls(head.publisher.operator), shape, args


ASYNC_CALLS: Final = Rule(
    "async_calls",
    "spark.compose(map_async(f)) = the results of f, which the tasks call, in order",
    "streaming every item back to call it here",
    _called_by_tasks,
    heads=("wrap",),
    again=False,
)

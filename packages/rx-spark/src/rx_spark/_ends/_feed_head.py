"""A stream of the driver, written by one task of Spark: the description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rx_fusion import PushHead
from rx_spark._jobs._feed_op import CHUNKS_AHEAD, FeedOp
from rx_spark._plans._plan import FeedSource, Plan
from rx_spark._transport._wire import CHUNK

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_ops import Flowable
    from rx_spark._columns._rows import RowType
    from rx_spark._jobs._stats import JobStats
    from rx_spark._plans._targets import Target
    from rx_spark._session._session import SparkConfig


@dataclass(frozen=True, repr=False, eq=False)
class FeedHead(PushHead):
    """``flow`` written to ``target`` as columns of ``output``. ``why`` it is not Spark that computes it.

    Demand: the source is asked for two chunks ahead, and again as the task takes them.
    Errors: those of the source, and of the job; nothing is committed then.
    Memory: three chunks of at most CHUNK items here, ROWS_WRITTEN items in the task.
    Thread: the source's own; one that is iterated runs on the feed's.
    """

    name: str
    flow: Flowable[Any]
    target: Target
    output: RowType
    config: SparkConfig
    why: str
    stats: JobStats | None = None

    @property
    def upstream(self) -> Sequence[Any]:  # type: ignore[override]  # known when it is asked for
        return (self.flow,)

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self.subscribe_for(subscriber, self)

    def subscribe_for(self, subscriber: Subscriber[Any], origin: object, /) -> None:
        # Plain tuples are sent, so that the task needs no class of the user's.
        plan = Plan(FeedSource()).into(self.target, self.output.as_tuples)
        FeedOp(subscriber, self.flow, self.config, plan, self.output, self.stats, origin).start()

    def notes(self) -> Sequence[str]:
        return (
            f"driver feeds one task: {self.why}",
            f"the task asks for a chunk of at most {CHUNK:,} items at a time; {CHUNKS_AHEAD} more wait here",
            f"written by the executors: {self.target.shown}",
        )

    def __repr__(self) -> str:
        return f"{self.flow!r}.{self.target.shown}"

"""Telling what was observed: when Spark's action has returned, and before the stream completes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rx_spark._columns._observed import observed_now
from rx_spark._transport._wire import loads

if TYPE_CHECKING:
    from pyspark.sql import Observation

    from rx_spark._columns._frames import Observe
    from rx_spark._columns._observed import Partial
    from rx_spark._plans._plan import Plan


def tell_observed(plan: Plan, seen: Mapping[tuple[int, int], bytes]) -> None:
    """What passed in Python. ``seen`` has, by stage and task or block, what was gathered; without a task nothing passed.

    Where a task did not look at all of its items, because no more were wanted, nothing is told.
    """
    for number, stage in enumerate(plan.observing):
        gathered: list[dict[int, Partial] | None] = [loads(seen[key]) for key in sorted(seen) if key[0] == number]
        whole = [each for each in gathered if each is not None]
        if len(whole) == len(gathered):
            for observing in stage:
                observing.tell(observing.merged(each.get(observing.token) for each in whole))


def tell_asked(step: Observe, observation: Observation) -> None:
    """What passed in columns, as Spark's observation says."""
    found = observed_now(observation)
    if found:
        step.tell(found)

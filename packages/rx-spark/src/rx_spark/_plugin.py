"""What rx-spark adds to every pipeline of the process: the rule that moves ``group_by`` and a reduction into Spark.

Loaded with all plugins, also in programs that never use Spark, therefore light.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rx_core import hookimpl

if TYPE_CHECKING:
    from rx_fusion import Head, Shape


@hookimpl
def rx_fusion_rules() -> Sequence[object]:
    from rx_fusion import Rule

    # The heads are named, or every pipeline of a program without Spark would be asked about.
    return (
        Rule(
            "reduced_groups",
            "spark.group_by(k).flat_map(g -> g.reduce(f)) = spark.group_reduce(k, f), and what else follows in the group",
            "streaming every element back to reduce it here",
            reduced_groups,
            heads=("flat_map", "concat_map"),
            again=False,
        ),
    )


def reduced_groups(head: Head, shape: Shape, args: tuple[Any, ...]) -> tuple[Head, Shape, tuple[Any, ...]] | None:
    """``group_by(key).flat_map(lambda group: group.reduce(...)...)`` over a Spark source; see rx_spark._rules."""
    if "rx_spark._head" not in sys.modules or not head.upstream:
        return None  # no Spark source was ever made here
    from rx_spark._rules import absorb_groups

    absorbed = absorb_groups(head)
    return None if absorbed is None else (absorbed, shape, args)

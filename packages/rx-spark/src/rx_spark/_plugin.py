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
    return (reduced_groups,)


def reduced_groups(head: Head, shape: Shape, args: tuple[Any, ...]) -> tuple[Head, Shape, tuple[Any, ...]] | None:
    """``group_by(key).flat_map(lambda group: group.reduce(...)...)`` over a Spark source; see rx_spark._rules."""
    if "rx_spark._head" not in sys.modules or not head.upstream:
        return None  # no Spark source was ever made here
    from rx_spark._rules import absorb_groups

    absorbed = absorb_groups(head)
    return None if absorbed is None else (absorbed, shape, args)

"""The coordinating operators, one Op each, in the families of the faces; see docs/guides/writing-operators.md."""

from typing import Final

from rx_fusion import operator_of
from rx_ops.operators._combine import Zip, row_of
from rx_ops.operators._concat import ConcatHead, concat_head, in_a_row
from rx_ops.operators._concat_map import Concat, ConcatMap
from rx_ops.operators._conditional import Amb, SequenceEqual
from rx_ops.operators._expand import Expand
from rx_ops.operators._flat_map import FlatMap, Merge
from rx_ops.operators._latest import CombineLatest, WithLatestFrom
from rx_ops.operators._mapping import Named
from rx_ops.operators._repeat import Repeat, RepeatUntil, RepeatWhen, Retry, RetryBackoff, RetryUntil, RetryWhen
from rx_ops.operators._switch_map import SwitchMap
from rx_ops.operators._until import SkipUntil, TakeUntil, TakeUntilTrue

#: What is known of the two, so that it need not be looked up for each stream.
CONCAT_MAP: Final = operator_of(ConcatMap)
FLAT_MAP: Final = operator_of(FlatMap)

__all__ = [
    "CONCAT_MAP",
    "FLAT_MAP",
    "Amb",
    "CombineLatest",
    "Concat",
    "ConcatHead",
    "ConcatMap",
    "Expand",
    "FlatMap",
    "Merge",
    "Named",
    "Repeat",
    "RepeatUntil",
    "RepeatWhen",
    "Retry",
    "RetryBackoff",
    "RetryUntil",
    "RetryWhen",
    "SequenceEqual",
    "SkipUntil",
    "SwitchMap",
    "TakeUntil",
    "TakeUntilTrue",
    "WithLatestFrom",
    "Zip",
    "concat_head",
    "in_a_row",
    "row_of",
]

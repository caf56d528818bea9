"""The coordinating operators, one Op each, in the families of the faces; see docs/guides/writing-operators.md."""

from rx_ops.operators._repeat import Repeat, RepeatUntil, RepeatWhen, Retry, RetryBackoff, RetryUntil, RetryWhen
from rx_ops.operators._until import TakeUntil

__all__ = [
    "Repeat",
    "RepeatUntil",
    "RepeatWhen",
    "Retry",
    "RetryBackoff",
    "RetryUntil",
    "RetryWhen",
    "TakeUntil",
]

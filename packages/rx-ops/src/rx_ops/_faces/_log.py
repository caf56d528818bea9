"""Watching a stream in the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from rx_ops import operators
from rx_ops._faces._core import FlowableCore

if TYPE_CHECKING:
    from logging import Logger

    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)


class FlowableLog(FlowableCore[T_co]):
    """Watching a stream in the log."""

    __slots__ = ()

    def log(
        self, logger: Logger | str = "rx", *, level: int = 20, levels: Mapping[str, int | None] | None = None
    ) -> Flowable[T_co]:
        """Writes each signal and each call of the subscriber to ``logger``, the logger or its name, and changes nothing.

        ``level`` is that of all but ``on_error``, which is logging.ERROR; 20 is logging.INFO. ``levels`` says it for single ones,
        by their names in the lines; None leaves one out. A number in front tells the subscriptions apart.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.
        Errors:  pass through; what a handler raises goes to the error hook. ValueError at assembly for another name in
                 ``levels``.
        Memory:  none.   Thread: that of each signal or call.   Fusion: none; what comes before and behind meets by the protocol.
        Source:  Reactor ``log``.
        """
        return self._coordinate(operators.Log, operators.log_settings("Flowable", logger, level, levels), shown="log()")

"""What operators share that wait for the signal of another source, which the user gave or selects for an item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rx_core import dropped_late
from rx_core.streams import Input, Trigger
from rx_ops.operators._mapping import mapper_failure, not_a_source

Selector = Callable[[Any], Any]


class Indicator(Trigger):
    """A source whose first signal counts. The operator's ``indicated(self)`` acts on it, on the thread that signals.

    ``subject`` is what it decides about.
    """

    __slots__ = ("subject",)

    subject: Any

    def __init__(self, op: Any, subject: Any = None) -> None:
        super().__init__(op)
        self.subject = subject

    def on_complete(self) -> None:
        op, error = self.op, self.error
        if self.done:
            return
        self.done = True
        if not op.stopped:
            op.indicated(self)
        elif error is not None:
            dropped_late(error, op.origin)


class Refused:
    """Stands for the source that a user's function should have given."""

    __slots__ = ("error",)

    error: Exception

    def __init__(self, error: Exception) -> None:
        self.error = error


def selected(main: Input[Any], operator_name: str, selector: Selector, item: Any) -> Any:
    """The source that ``selector`` gives for ``item`` of ``main``, or the error as :class:`Refused`."""
    try:
        made = selector(item)
    except (Exception, GeneratorExit) as error:
        return Refused(mapper_failure(operator_name, selector, error))
    except BaseException as error:
        main.interrupted(error)
        raise
    wrong = not_a_source(operator_name, selector, made)
    return made if wrong is None else Refused(wrong)

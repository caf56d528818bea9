"""Aggregates of the items that pass a place in a pipeline, told when the last one has passed.

The stage is the same wherever it runs. In this process it tells the :class:`Observed`; on an executor it runs once for each
block, and what it tells there is gathered in :data:`GATHERED` until the task sends it. Over columns Spark does it instead.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rx_fusion import stage
from rx_ops import Row
from rx_ops._row import row_class
from rx_ops.aggregates import Fold, fold
from rx_spark._java_classes import java_class

if TYPE_CHECKING:
    from rx_ops.aggregates import Aggregate

T = TypeVar("T")

#: What a partial result is: plain values, or nothing where no item has passed.
Partial = list[Any] | None

_tokens: Final = itertools.count(1)


class Observed:
    """What was observed at a place of a pipeline: ``flow.observe(seen, total=it.cents.sum(), n=it.count())``.

    ``value`` is a row of the aggregates in the last run that came to its end there, None before. It is there before the stream
    completes. ``name`` is for plans and messages. A copy in another process has nothing.
    """

    __slots__ = ("_lock", "_value", "name")

    def __init__(self, name: str, /) -> None:
        given: object = name
        if not isinstance(given, str) or not given:
            raise TypeError(f"Observed({name!r}): a name is text.\n  Right:  Observed('fares')")
        self.name = name
        self._value: Row | None = None
        self._lock = threading.Lock()

    @property
    def value(self) -> Row | None:
        with self._lock:
            return self._value

    def tell(self, value: Row, /) -> None:
        """What a run has come to."""
        with self._lock:
            self._value = value

    def __reduce__(self) -> tuple[type[Observed], tuple[str]]:
        return Observed, (self.name,)

    def __repr__(self) -> str:
        return f"Observed({self.name!r})"


@dataclass(frozen=True, eq=False)
class Observing:
    """One place in a pipeline: what is computed there, and the ``seen`` that is told. A copy that has travelled ``gathers``."""

    seen: Observed
    aggregates: tuple[tuple[str, Aggregate], ...]
    #: Its name between processes.
    token: int = field(default_factory=lambda: next(_tokens))
    gathers: bool = False

    def begin(self) -> Fold:
        if self.gathers:
            GATHERED.begin()
        return self.fold()

    def end(self, partial: Partial) -> None:
        if self.gathers:
            GATHERED.end(self, partial)
        else:
            self.tell(partial)

    def tell(self, partial: Partial) -> None:
        """The partial result of all items."""
        if partial is not None:
            self.tell_values(self.fold().result(partial))
        else:
            self.tell_values([_OF_NOTHING.get(each.kind) for _, each in self.aggregates])

    def tell_values(self, values: Sequence[Any]) -> None:
        self.seen.tell(row_class(tuple(name for name, _ in self.aggregates)).__make__(tuple(values)))

    def fold(self) -> Fold:
        return fold(*(each for _, each in self.aggregates))

    def merged(self, parts: Iterable[Partial]) -> Partial:
        made: Partial = None
        for part in parts:
            if part is not None:
                made = part if made is None else self.fold().merge(made, part)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Observing, (self.seen, self.aggregates, self.token, True)

    def __repr__(self) -> str:
        return ", ".join((self.seen.name, *(f"{name}={each!r}" for name, each in self.aggregates)))


#: What is known of no items; min, max and average are None.
_OF_NOTHING: Final = {"count": 0, "sum": 0}


@stage(later=True)
def observe(source: Iterable[T], observing: Observing) -> Iterator[T]:
    folded = observing.begin()
    first = folded.first
    step = folded.step
    partial: Partial = None
    for item in source:
        partial = first(item) if partial is None else step(partial, item)
        yield item
    observing.end(partial)


class Gathered:
    """The partial results of a task, over its blocks. One task at a time runs in a process of Spark's."""

    def __init__(self) -> None:
        self._open = 0
        self._parts: dict[int, Partial] = {}
        #: There are no further blocks.
        self.exhausted = False

    def clear(self) -> None:
        self._open = 0
        self._parts.clear()
        self.exhausted = False

    def begin(self) -> None:
        self._open += 1

    def end(self, observing: Observing, partial: Partial) -> None:
        self._open -= 1
        self._parts[observing.token] = observing.merged((self._parts.get(observing.token), partial))

    def taken(self) -> dict[int, Partial] | None:
        """What was gathered of a block, if it was read to its end; then there is nothing."""
        found = None if self._open else dict(self._parts)
        self.clear()
        return found

    def whole(self) -> dict[int, Partial] | None:
        """What was gathered, if every block was read to its end."""
        return dict(self._parts) if self.exhausted and not self._open else None


GATHERED: Final = Gathered()


def observed_now(observation: Any, seconds: float = 10.0) -> dict[str, Any] | None:
    """What Spark has observed, when the job is over; None where that is not known.

    Spark tells it on a thread of its own, some milliseconds after the action has returned: ``seconds`` is far more.
    """
    jvm = observation._jvm
    try:
        told = observation._jo.future()
        patience = java_class(jvm, "scala.concurrent.duration.Duration").create(int(seconds * 1000), "ms")
        java_class(jvm, "scala.concurrent.Await").ready(told, patience)
        if not told.value().get().get().size():  # a row, of Spark 4.0 a map
            return {}  # Spark knew without reading that no row passes
        found: dict[str, Any] = observation.get
    except Exception:
        return None
    return found

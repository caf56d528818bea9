"""What all operators send their sources: everything that is scanned, and the rules that each of it breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from unittest.mock import patch

from rx_core import EmptyStreamError
from rx_ops import Flowable
from rx_testing import OperatorVerification, TestSubscriber
from rx_testing.tck import RuleViolation, TwoSourceOperatorVerification
from tests.conformance import table, table_functions
from tests.conformance.harness import Case, Flow, Kit, dropped_errors
from tests.conformance.table import TABLE
from tests.tck.cases import moves
from tests.tck.upstream.endings import BLOCKING, BLOCKING_SOURCES, CALLBACKS, Callbacks, Handle, SourceError
from tests.tck.upstream.two_sources import TWO_SOURCES, TwoSources

#: Seconds for a thread to come to a meeting of two requests: it takes none, but a busy machine must not look like a kept rule.
PATIENCE: Final = 20.0

#: Lines that subscribe to their source again inside its end, on purpose.
RESUBSCRIBING: Final = frozenset({
    "concat", "retry", "repeat", "repeat_until", "repeat_when", "retry_when", "retry_until", "retry_backoff"
})  # fmt: skip

#: Lines whose source goes on without a subscriber, on purpose.
KEEPING: Final = frozenset({"cache", "cache_ttl"})


@dataclass(frozen=True)
class Scanned:
    """One thing that has sources: an operator, or an ending."""

    form: str
    name: str
    violations: Callable[[], list[RuleViolation]]

    @property
    def id(self) -> str:
        return f"{self.form}: {self.name}"

    def __str__(self) -> str:
        return self.id


class _OfTheTable(OperatorVerification):
    """A line of the conformance table over a recording source; the foreign sources that it makes itself are recorded, too."""

    case: Case
    default_timeout = PATIENCE

    def create_operator(self, source: Any, /) -> Flow:
        self._kit = Kit()
        return self.case.build(Flowable.wrap(source), self._kit)

    def settle(self) -> bool:
        return moves(self._kit.clock)

    def violations(self) -> list[RuleViolation]:
        with _recorded_inner_sources(self), dropped_errors():
            return super().violations()


@contextmanager
def _recorded_inner_sources(verification: OperatorVerification) -> Iterator[None]:
    def foreign(items: Any, error: Exception | None = None) -> Any:
        return verification.inner(items, error=error)

    with patch.object(table, "Foreign", foreign), patch.object(table_functions, "Foreign", foreign):
        yield


class _WithCallbacks(_OfTheTable):
    takes_demand = False
    callbacks: Callbacks

    def subscribe(self, publisher: Any, downstream: TestSubscriber[Any], /) -> None:
        handle = Handle()
        downstream.on_subscribe(handle)
        handle.arrives(type(self).callbacks(publisher, downstream))


def _options(case: Case) -> dict[str, object]:
    return {"case": case, "resubscribes": case.name in RESUBSCRIBING, "keeps_sources": case.name in KEEPING}


def line(case: Case) -> Scanned:
    return Scanned("operator", case.name, lambda: type("Line", (_OfTheTable,), _options(case))().violations())


def _line_with_callbacks(case: Case) -> Scanned:
    options = {**_options(case), "callbacks": staticmethod(CALLBACKS["Flowable"])}
    return Scanned("into callbacks", case.name, lambda: type("Line", (_WithCallbacks,), options)().violations())


def callbacks_of(kind: str, callbacks: Callbacks) -> Scanned:
    options = {**_options(Case("itself", lambda s, k: s, lambda xs: xs)), "callbacks": staticmethod(callbacks)}
    return Scanned("callbacks of", kind, lambda: type("Line", (_WithCallbacks,), options)().violations())


def _pair(pair: TwoSources) -> Scanned:
    class Pair(TwoSourceOperatorVerification):
        resubscribes = pair.resubscribes
        default_timeout = PATIENCE

        def create_operator(self, first: Any, second: Any, /) -> Flow:
            self._kit = Kit()
            return pair.build(Flowable.wrap(first), second, self._kit)

        def settle(self) -> bool:
            return moves(self._kit.clock)

    def violations() -> list[RuleViolation]:
        with dropped_errors():
            return Pair().violations()

    return Scanned("two sources", pair.name, violations)


def _blocking(name: str) -> Scanned:
    def violations() -> list[RuleViolation]:
        found: list[RuleViolation] = []
        for script, make in BLOCKING_SOURCES.items():
            source = make()
            try:
                BLOCKING[name](Flowable.wrap(source))
            except (SourceError, EmptyStreamError):
                pass
            found += [RuleViolation(each.rule, each.text, script) for each in source.violations]
            found += [RuleViolation("2.6", repr(each), script) for each in source.subscriptions if not each.is_over]
        return found

    return Scanned("blocking", name, violations)


SCANNED: Final = (
    *(line(case) for case in TABLE if not case.has("source")),
    *(_line_with_callbacks(case) for case in TABLE if not case.has("source")),
    *(_pair(pair) for pair in TWO_SOURCES),
    *(callbacks_of(*each) for each in CALLBACKS.items()),
    *(_blocking(name) for name in BLOCKING),
)

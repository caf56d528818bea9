"""From a case, recorded or drawn, to streams of the naive reference: what the tables of sources and operators are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.invisible.push import functions as f
from tests.invisible.push.answers import Collected
from tests.invisible.push.clock import Clock
from tests.invisible.push.flattening import FlatMap
from tests.invisible.push.functions import Fn
from tests.invisible.push.looking_on import ToFlowable
from tests.invisible.push.sources import listed
from tests.invisible.push.streams import UNBOUNDED, Count, Failure, Flow, required
from tests.recorded.cases import Spec

#: A line of a table: from a spec, and the item that it is made for, to a source; for an operator also from the stream before it.
Make = Callable[["Reader", Spec, Any], Flow]
Apply = Callable[["Reader", Flow, Spec, Any], Flow]


@dataclass(frozen=True)
class Variant:
    """Where an answer may depend on how operators fetch their items.

    ``bounded``: operators prefetch a number of items, as those of a Flowable do; an Observable's are sent everything. ``pulls``:
    operators fetch one item at a time from a source that has its items at hand, as RxJava's fusion does; otherwise such a source
    is one that sends like any other.
    """

    bounded: bool = True
    pulls: bool = True


#: What RxJava does.
RXJAVA: Final = Variant()


class Reader:
    """Makes the streams of one case. ``sources`` and ``operators``: the tables, by kind of stream and by name."""

    def __init__(
        self,
        clock: Clock,
        variant: Variant,
        sources: Mapping[str, Make],
        operators: Mapping[str, Mapping[str, Apply]],
        hot: Mapping[str, Flow],
    ) -> None:
        self.clock, self.variant = clock, variant
        self.sources, self.operators, self.hot = sources, operators, hot

    def prefetch(self, n: int = 128) -> Count:
        return n if self.variant.bounded else UNBOUNDED

    def source(self, s: Spec, x: Any = None) -> Flow:
        """``x``: the item that the source is made for, inside flat_map and its like. A foreign one is not passive."""
        flow = self.sources[s["s"]](self, s, x)
        return Flow(flow.subscribe, flow.kind, flow.key) if "probe" in s else flow

    def all(self, described: list[Spec], x: Any) -> list[Flow]:
        return [self.source(s, x) for s in described]

    def maybe(self, described: Spec | None, x: Any) -> Flow | None:
        return self.source(described, x) if described else None

    def apply(self, flow: Flow, op: Spec, x: Any = None) -> Flow:
        return self.operators[flow.kind][op["o"]](self, flow, op, x)

    def pipeline(self, source: Spec, operators: Iterable[Spec], x: Any = None) -> Flow:
        flow = self.source(source, x)
        for op in operators:
            flow = self.apply(flow, op, x)
        return flow

    def selector(self, op: Spec) -> Fn:
        made = f.maker(op, lambda item: self.source(op["g"], item))
        return lambda item: required(made(item))

    def listed(self, s: Spec, x: Any) -> Flow:
        values = [f.value(v, x) for v in s["v"]]
        at = s.get("at", -1)
        failure = Failure(f"App:it{at}") if 0 <= at <= len(values) else None
        return self.iterable(values[:at] if failure else values, failure, at == len(values))

    def iterable(self, values: list[Any], failure: Failure | None = None, early: bool = False) -> Flow:
        flow = listed(values, failure, early)
        flow.passive = (flow.passive or flow) if self.variant.pulls else None
        return flow

    def merge(self, flows: list[Flow], delay_error: bool = False) -> Flow:
        if len(flows) == 1:
            return flows[0]
        return listed(list(flows)).through(FlatMap, lambda flow: flow, len(flows), self.prefetch(), delay_error)


def flowable(flow: Flow) -> Flow:
    return flow if flow.kind == "flowable" else flow.through(ToFlowable, kind="flowable")


def to_list(flow: Flow) -> Flow:
    return flow.through(Collected, list, list.append, kind="single")

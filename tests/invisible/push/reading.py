"""From a case, recorded or drawn, to streams of the naive reference: what the tables of sources and operators are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.invisible.push import functions as f
from tests.invisible.push.answers import Collected
from tests.invisible.push.clock import Clock
from tests.invisible.push.concatenating import ConcatMapEager
from tests.invisible.push.flattening import FlatMap
from tests.invisible.push.functions import Fn
from tests.invisible.push.looking_on import ToFlowable
from tests.invisible.push.sources import listed
from tests.invisible.push.streams import UNBOUNDED, Count, Failure, Flow, Stage, Subscriber, Subscription, required
from tests.recorded.cases import Spec

#: A line of a table: from a spec, and the item that it is made for, to a source; for an operator also from the stream before it.
Make = Callable[["Reader", Spec, Any], Flow]
Apply = Callable[["Reader", Flow, Spec, Any], Flow]


@dataclass(frozen=True)
class Variant:
    """Where an answer may depend on how operators fetch their items.

    ``prefetch``: how many items operators with a queue request at first; None: as many as RxJava's. ``observable``: there are
    Observables for Flowables: everything is sent without a request. ``pulls``: such operators fetch one item at a time from a
    source that has its items "at hand", as RxJava's fusion does; or "through" what is made of such sources, too; or they do
    not: then these are sources that send like any other. ``ahead``: or nothing of them is fetched or mapped before it is
    wanted. ``asks_later``: a merge asks for more sources once it is at rest. ``waiting``: of items that wait in a merge, which
    source's come first: see there. ``late``: what is requested inside of on_subscribe comes once that has returned, where that
    is :func:`unheard`. ``heeds``: a function that is called behind an item is not called once the subscriber has left with that
    item, nor a source made, nor a shared one started. ``joins_first``: who subscribes to a subject that replays is in the list
    of its subscribers before it is given its subscription, where it gets what was before. It may subscribe to the same subject
    once more behind that, as ``buffer(boundary)`` does: no rule says which of the two the next item reaches first.
    ``skips_on_request``: skip asks for the items that it drops with the first request, as the library's docstring says; in
    RxJava it does when it is subscribed. ``ends_late``: the end of what is pulled is seen when an item is wanted behind the
    last one, or through operators when any is wanted. ``drops_at_end``: ``skip_last(seconds)`` drops what is too young when its
    source completes, as the library's docstring says; in RxJava it grows old while the items before it wait for a request, and
    is given with a later one.
    ``first_at_once``: an error that ``concat_map_eager`` delays to a boundary waits for an inner source that has signalled
    nothing, too, as in RxJava's Observable; in its Flowable such a source is not looked at.
    """

    prefetch: Count | None = None
    observable: bool = False
    pulls: str | None = "at hand"
    ahead: bool = True
    asks_later: bool = False
    waiting: str = "in turn"
    late: bool = False
    heeds: bool = False
    joins_first: bool = False
    skips_on_request: bool = False
    ends_late: bool = False
    drops_at_end: bool = False
    first_at_once: bool = False


#: What RxJava does.
RXJAVA: Final = Variant()
#: And with Observables.
OBSERVABLE: Final = Variant(UNBOUNDED, observable=True)

#: Through these one may pull.
STAGES: Final = frozenset(
    (
        *("map", "filter", "take", "skip", "take_while", "skip_while", "take_until_p", "map_optional", "distinct", "scan"),
        *("distinct_until_changed", "do_on_next", "do_after_next", "do_on_error", "do_on_complete", "do_finally", "hide"),
        *("flat_map_iterable", "buffer", "skip_last", "take_last", "start_with", "scan_with", "do_on_cancel", "do_on_subscribe"),
        *("do_on_each", "do_on_terminate", "do_after_terminate", "do_on_lifecycle", "on_terminate_detach", "unsubscribe_on"),
        *("do_on_request", "remat", "materialize", "sorted", "default_if_empty", "on_error_return", "switch_if_empty", "zip"),
        *("zip_with", "concat_with", "concat_map", "flat_map", "repeat", "repeat_until", "retry", "retry_until"),
        *("on_error_resume_next", "filter_when", "circuit_breaker", "continued", "log", "checkpoint", "named"),
        *("progress", "with_context"),
    )
)  # fmt: skip
#: And of these sources.
COMPOSED: Final = frozenset(("concat", "zip", "using", "attempt", "pipe", "generate", "callable", "empty"))
#: Sources that send when they like.
LIVELY: Final = frozenset(
    (
        *(
            "hot",
            "create",
            "foreign",
            "paced",
            "timer",
            "interval",
            "interval_range",
            "never",
            "merge",
            "merge_de",
            "amb",
            "first_value",
            "combine",
            "combine_de",
        ),
        *("s_timer", "s_never", "m_timer", "m_never", "c_timer", "c_never"),
    )
)


def names(described: Any) -> Iterator[str]:
    """Of all sources and operators in a spec, or in several."""
    if isinstance(described, Mapping):
        yield from (described[key] for key in ("s", "o") if key in described)
        for each in described.values():
            yield from names(each)
    elif isinstance(described, (list, tuple)):
        for each in described:
            yield from names(each)


def pulls_through(op: Spec) -> bool:
    """``to_flowable(BUFFER)`` pulls what is behind it, where that is not lively: see its docstring."""
    return op["o"] in STAGES or (op["o"] == "via_observable" and op["strategy"] == "BUFFER")


def lively(spec: Spec) -> bool:
    return "probe" in spec or not LIVELY.isdisjoint(names(spec))


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
        return n if self.variant.prefetch is None else self.variant.prefetch

    def source(self, s: Spec, x: Any = None) -> Flow:
        """``x``: the item that the source is made for, inside flat_map and its like. A foreign one is not passive."""
        flow = self.sources[s["s"]](self, s, x)
        flow = self.asked(flow, s)
        through = self.variant.pulls == "through" and s["s"] in COMPOSED and not lively(s)
        return self.made(flow, (flow.passive or through) and (self.variant.observable or "probe" not in s))

    def made(self, flow: Flow, passive: bool, *, through: bool = False) -> Flow:
        if self.variant.observable and flow.kind == "flowable" and not passive:
            flow = flow.through(SentEverything)
        if flow.kind == "flowable" and passive:
            flow = self.ending(flow, through)
        return Flow(flow.subscribe, flow.kind, flow.key, passive)

    def ending(self, flow: Flow, through: bool = False) -> Flow:
        """Of what is pulled."""
        if not self.variant.ends_late:
            return flow
        return Flow(flow.through(EndsLate, through).subscribe, flow.kind, flow.key, flow.passive)

    def asked(self, flow: Flow, described: Spec) -> Flow:
        return flow.through(AskedLate) if self.variant.late and unheard(described) and flow.kind == "flowable" else flow

    def all(self, described: list[Spec], x: Any) -> list[Flow]:
        return [self.source(s, x) for s in described]

    def maybe(self, described: Spec | None, x: Any) -> Flow | None:
        return self.source(described, x) if described else None

    def apply(self, flow: Flow, op: Spec, x: Any = None) -> Flow:
        passive = flow.passive and self.variant.pulls == "through" and pulls_through(op) and not lively(op)
        return self.made(self.asked(self.operators[flow.kind][op["o"]](self, flow, op, x), op), passive, through=True)

    def pipeline(self, source: Spec, operators: Iterable[Spec], x: Any = None) -> Flow:
        flow = self.source(source, x)
        for op in operators:
            flow = self.apply(flow, op, x)
        return flow

    def selector(self, op: Spec, key: str = "g") -> Fn:
        made = self.maker(op, key)
        return lambda item: required(made(item))

    def maker(self, op: Spec, key: str = "g") -> Fn:
        """The same, which gives None where the operator is to find out."""
        return f.maker(op, lambda item: self.source(op[key], item))

    def listed(self, s: Spec, x: Any) -> Flow:
        values = [f.value(v, x) for v in s["v"]]
        at = s.get("at", -1)
        failure = Failure(f"App:it{at}") if 0 <= at <= len(values) else None
        return self.at_hand(values[:at] if failure else values, failure)

    def at_hand(self, values: list[Any], failure: Failure | None = None) -> Flow:
        return listed(values, failure, passive=self.variant.pulls is not None)

    def concat_eager(self, flows: list[Flow], errors: str = "at once") -> Flow:
        return listed(list(flows)).through(ConcatMapEager, lambda flow: flow, 128, self.prefetch(), errors, self.variant.ahead)

    def merge(self, flows: list[Flow], delay_error: bool = False) -> Flow:
        if len(flows) == 1 and self.variant.pulls:  # what RxJava makes of it
            return flows[0]
        return listed(list(flows)).through(
            FlatMap, lambda flow: flow, len(flows), self.prefetch(), delay_error, self.variant.waiting, self.variant.ahead
        )


class SentEverything(Stage):
    """An Observable: it sends everything, whatever is requested of it."""

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        if not self.over:
            up.request(UNBOUNDED)

    def request(self, n: Count) -> None:
        pass


class EndsLate(Stage):
    """Completes behind an item when one more is wanted; or ``always`` when one is wanted."""

    wanted: Count = 0
    held = False

    def __init__(self, down: Subscriber, always: bool) -> None:
        super().__init__(down)
        self.waits = always

    def next(self, item: Any) -> None:
        self.wanted -= 1
        self.waits = True
        self.down.on_next(item)

    def complete(self) -> None:
        self.held = self.waits and not self.wanted
        if not self.held:
            self.finish()

    def request(self, n: Count) -> None:
        self.wanted += n
        if self.held:
            self.finish()
        else:
            super().request(n)


def unheard(described: Spec) -> bool:
    """The library's sources send nothing inside of on_subscribe, where RxJava's do. An operator for which that makes a difference
    is told, but not by a foreign publisher, not of the seed of a scan alone, and not of when it joined a
    processor."""
    if "probe" in described or described.get("s") == "hot":
        return True
    return described.get("o") == "scan_with" or (described.get("o") == "scan" and "seed" in described)


class AskedLate(Stage):
    """What is requested inside of on_subscribe goes up once that has returned."""

    held: Count | None = 0

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        held, self.held = self.held, None
        if held and not self.over:
            up.request(held)

    def request(self, n: Count) -> None:
        if self.held is None:
            super().request(n)
        else:
            self.held += n


def flowable(flow: Flow) -> Flow:
    return flow if flow.kind == "flowable" else flow.through(ToFlowable, kind="flowable")


def to_list(flow: Flow) -> Flow:
    return flow.through(Collected, list, list.append, kind="single")

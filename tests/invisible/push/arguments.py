"""What drawn sources and operators take: drawing one argument, by chance but the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from tests.recorded.cases import HotSource, Spec
from tests.recorded.functions import BINARY, PREDICATES, UNARY

#: Draws one argument. None: it is left out.
Argument = Callable[["Drawer"], Any]

#: How often a function is given a fault.
FAULTY: Final = 0.12
#: Deeper than this only simple sources are drawn.
DEEPEST: Final = 2
MOST_HOT: Final = 2
HOT_KINDS: Final = ("publish", "publish", "publish", "behavior", "replay", "replay1", "async")
HORIZON: Final = 8_000
LATEST: Final = 5_000
#: In a long case: how often a source has many items, or an operator counts many, and how many those are. Operators with a queue
#: request 128 at a time: only of more items do they request again, and may a loop hand over what has begun.
SHARE_OF_MANY: Final = 0.5
LEAST_OF_MANY: Final = 100
MOST_OF_MANY: Final = 400


class Drawer:
    """Draws one case. ``sources`` and ``operators``: what is drawn, by kind of stream."""

    def __init__(self, seed: str, source: Callable[[Drawer, str], Spec], operator: Callable[[Drawer, str], Spec]) -> None:
        self.random = random.Random(seed)
        self.draw_source, self.draw_operator = source, operator
        self.hot: list[HotSource] = []
        #: Whether subscribers do not request everything.
        self.demanding = False
        #: Whether sources may have hundreds of items.
        self.long = False
        #: Whether nothing may need a clock.
        self.untimed = False
        self.depth = 0
        #: The kind of stream that an operator is drawn for.
        self.kind = "flowable"
        #: Whether an item is at hand, for a source that is made for it.
        self.for_item = False

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def pick(self, choices: Sequence[Any]) -> Any:
        return self.random.choice(choices)

    def between(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def amount(self, least: int, most: int) -> int:
        """How many items a source has, or an operator counts. What is made for an item has a few in a long case, too."""
        if self.long and not self.for_item and self.chance(SHARE_OF_MANY):
            return self.between(LEAST_OF_MANY, MOST_OF_MANY)
        return self.between(least, most)

    def times(self, size: int, least: int) -> list[int]:
        """In order. Many items come in a few bursts."""
        if size < LEAST_OF_MANY:
            return sorted(self.between(least, LATEST) for _ in range(size))
        bursts = [self.between(least, LATEST) for _ in range(self.between(1, 6))]
        return sorted(self.pick(bursts) for _ in range(size))

    def time(self, most: int = 2_500) -> int:
        return self.between(20, most)

    def value(self) -> int:
        return self.between(-1, 6)

    def number(self) -> Any:
        """A number, or the item that a source is made for."""
        return "$" if self.for_item and self.chance(0.4) else self.value()

    def numbers(self, most: int = 6) -> list[Any]:
        return [self.number() for _ in range(self.amount(0, most))]

    def fault(self) -> Spec:
        if not self.chance(FAULTY):
            return {}
        kind = self.pick(("t", "t", "c", "z"))
        return {kind: self.between(1, 3) if kind == "c" else self.value()}

    def inner(self, kind: str, for_item: bool = False) -> Spec:
        """A source inside an operator."""
        before = self.depth, self.for_item
        self.depth, self.for_item = self.depth + 1, for_item or self.for_item
        try:
            return self.draw_source(self, kind)
        finally:
            self.depth, self.for_item = before

    def script(self, most: int = 8, from_start: bool = False) -> list[list[Any]]:
        """Events: some at once (``from_start``), the others at random times; the end, if there is one, is last."""
        size = self.amount(0, most)
        times = self.times(size, 20)
        events: list[list[Any]] = [["n", self.value(), time] for time in times]
        if from_start:
            for event in events[: size if self.untimed else self.between(0, size)]:
                del event[2:]
        if self.chance(0.75):
            end = ["c", None] if self.chance(0.7) else ["e", self.pick("ABC")]
            late = [event[2] for event in events if len(event) > 2]
            events.append([*end, int(late[-1]) + self.time(1_500)] if late else end)
        return events

    def hot_source(self) -> str:
        if len(self.hot) < MOST_HOT and (not self.hot or self.chance(0.6)):
            name = f"h{len(self.hot)}"
            times = self.times(self.amount(0, 8), 1)
            script: list[tuple[Any, ...]] = [(time, "n", self.value()) for time in times]
            if self.chance(0.8):
                last = (times[-1] if times else 0) + self.time(1_500)
                script.append((last, "c") if self.chance(0.7) else (last, "e", name))
            kind = self.pick(HOT_KINDS)
            self.hot.append(HotSource(name, kind, tuple(script)))
        return str(self.pick([source.name for source in self.hot]))


def const(value: Any) -> Argument:
    return lambda d: value


def count(least: int, most: int) -> Argument:
    return lambda d: d.between(least, most)


def amount(least: int, most: int) -> Argument:
    """How many items; in a long case they may be many."""
    return lambda d: d.amount(least, most)


def one_of(*choices: Any) -> Argument:
    return lambda d: d.pick(choices)


def maybe(argument: Argument, share: float = 0.5) -> Argument:
    return lambda d: argument(d) if d.chance(share) else None


def takes(d: Drawer) -> int:
    """How many items to take. When no more is requested than that, a stream of none may end with the first request only."""
    return d.amount(1 if d.demanding else 0, 5)


def function(table: Sequence[str]) -> Argument:
    return lambda d: {"f": d.pick(table), **d.fault()}


def key_function(d: Drawer) -> Spec:
    """For a key of its own None is a value as any other."""
    return {"f": d.pick(tuple(UNARY)), **{kind: value for kind, value in d.fault().items() if kind != "z"}}


def looked_for(d: Drawer) -> int:
    """Not 0 or 1: those are False and True as well."""
    return d.between(2, 6)


def millis(d: Drawer) -> int:
    return d.time()


def value(d: Drawer) -> int:
    return d.value()


def numbers(d: Drawer) -> list[Any]:
    return d.numbers()


def source(kind: str) -> Argument:
    return lambda d: d.inner(kind)


def source_for(kind: str) -> Argument:
    """Made for an item."""
    return lambda d: d.inner(kind, for_item=True)


def sources(least: int, most: int, kind: str = "flowable") -> Argument:
    return lambda d: [d.inner(kind) for _ in range(d.between(least, most))]


def listed_for(d: Drawer) -> Spec:
    """An iterable made for an item."""
    before, d.for_item = d.for_item, True
    try:
        numbers = d.numbers(4)
        return {"v": numbers, "at": d.between(0, len(numbers))} if d.chance(FAULTY) else {"v": numbers}
    finally:
        d.for_item = before


unary: Final = function(tuple(UNARY))
key: Final = function(("x", "x%2", "x%3", "x/2"))
predicate: Final = function(tuple(PREDICATES))
binary: Final = function(tuple(BINARY))
reducer: Final = function((*BINARY, "pair"))
combiner: Final = function(("pair", "pair", "sum"))
yes: Final = maybe(const(True), 0.3)
flattened: Final = one_of("flat", "concat", "switch", "flat_list", "concat_list", "take", "reduce", "scan", "only")
grouped: Final = one_of("flat", "flat_list", "take", "reduce", "scan", "tag", "tag", "tag_list", "count")
tried_again: Final = one_of("take", "timer", "timer", "zip", "error", "empty", "never", "throw", "just", "delay", "then_error")
read_twice: Final = one_of("merge", "merge_r", "concat", "zip", "until", "with")
shared: Final = one_of(
    *("publish_auto", "publish_ref", "share", "replay_auto", "replay_ref", "replay_n_auto", "replay_n_ref", "replay_t_auto"),
    *("ref_time", "cache", "cache_ttl"),
)

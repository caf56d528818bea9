"""Random cases: hot, timed, lossy and foreign sources, several at once, with several subscribers; the same for the same seed."""

from __future__ import annotations

from typing import Any, Final

from tests.invisible.push.arguments import DEEPEST, HORIZON, Drawer
from tests.invisible.push.drawing_table import COMPOSED_SOURCES, ONE, OPERATORS, SIMPLE_SOURCES, SOURCES, Drawn, draw
from tests.invisible.push.running import Demanding, described
from tests.recorded.cases import Spec, Subscriber, Trace

#: How often a source is wrapped in a publisher that is not the library's.
FOREIGN: Final = 0.12

#: These sources and operators need the clock; so does each that has an argument in milliseconds. A hot source gives its items at
#: times of the clock.
TIMED: Final = frozenset(("hot", "ticks", "interval_range", "observe_on", "observe_latest", "subscribe_on", "unsubscribe_on"))

KINDS: Final = ("flowable", "single", "maybe", "completable")


class Drawing:
    """Draws cases. ``demanding``: with subscribers that do not request everything. ``long``: with hundreds of items. ``untimed``:
    for one subscriber, and nothing needs a clock."""

    def __init__(self, *, demanding: bool = False, long: bool = False, untimed: bool = False) -> None:
        self.demanding, self.long, self.untimed = demanding, long, untimed
        self.operators = {kind: self.drawn(table) for kind, table in OPERATORS.items()}
        self.simple_sources = self.drawn(SIMPLE_SOURCES)
        self.sources = self.simple_sources | self.drawn(COMPOSED_SOURCES)
        self.one = {kind: self.drawn(table) for kind, table in ONE.items()}
        self.kinds = KINDS[:1] if demanding else (*KINDS[:1] * 5, *KINDS[1:])

    def drawn(self, table: dict[str, Drawn]) -> dict[str, Drawn]:
        return {name: drawn for name, drawn in table.items() if not self.left_out(name, drawn)}

    def left_out(self, name: str, drawn: Drawn) -> bool:
        return self.untimed and (name in TIMED or "ms" in drawn.arguments)

    def names(self) -> list[str]:
        """All sources and operators that are drawn."""
        made = {name for table in (*self.operators.values(), self.sources) for name in table}
        return sorted(made if self.demanding else made | {name for table in ONE.values() for name in table})

    def source(self, drawer: Drawer, kind: str) -> Spec:
        if kind in ("any", "same"):
            kind = drawer.kind if kind == "same" else drawer.pick(KINDS)
        table = self.one.get(kind) or (self.simple_sources if drawer.depth > DEEPEST else self.sources)
        return self.named_source(drawer, draw(drawer, table))

    def named_source(self, drawer: Drawer, name: str) -> Spec:
        before, drawer.depth = drawer.depth, drawer.depth + 1
        spec: dict[str, Any] = {"s": "pipe" if name == "ticks" else name, **SOURCES[name].draw(drawer)}
        drawer.depth = before
        flowable = name in SIMPLE_SOURCES or name in COMPOSED_SOURCES
        return {**spec, "probe": "p"} if flowable and drawer.chance(FOREIGN) else spec

    def operator(self, drawer: Drawer, kind: str, name: str | None = None) -> Spec:
        before, drawer.kind = drawer.kind, "flowable" if kind == "simple" else kind
        name = name or draw(drawer, self.operators[kind])
        spec = {"o": name, **OPERATORS[kind][name].draw(drawer)}
        drawer.kind = before
        return spec

    def drawer(self, seed: str) -> Drawer:
        drawer = Drawer(seed, self.source, self.operator)
        drawer.demanding, drawer.long, drawer.untimed = self.demanding, self.long, self.untimed
        return drawer

    def case(self, seed: object) -> Trace:
        """The case of a seed."""
        drawer = self.drawer(str(seed))
        source = self.source(drawer, drawer.pick(self.kinds))
        return self.completed(drawer, source, [], drawer.pick((1, 1, 2, 2, 2, 3, 3, 4, 5, 6)))

    def case_with(self, name: str, seed: object) -> Trace:
        """A case in which this source or operator has a part."""
        drawer = self.drawer(f"{name}/{seed}")
        kinds = [kind for kind in KINDS if name in OPERATORS[kind]]
        if not kinds:
            return self.completed(drawer, self.named_source(drawer, name), [], drawer.pick((0, 1, 1, 2)))
        kind = drawer.pick(kinds)
        source = self.source(drawer, kind)
        before = [self.operator(drawer, "simple")] if kind == "flowable" and drawer.chance(0.3) else []
        return self.completed(drawer, source, [*before, self.operator(drawer, kind, name)], drawer.pick((0, 0, 1, 2)))

    def completed(self, drawer: Drawer, source: Spec, operators: list[Spec], more: int) -> Trace:
        for _ in range(more):
            kind = kind_of(drawer, source, operators)
            if not self.operators[kind]:
                break
            operators.append(self.operator(drawer, kind))
        if self.untimed:
            return Trace(0, source, tuple(operators), (Subscriber("d0", 0, None, None),), (), HORIZON, {})
        subscribers = [self.subscriber(drawer, i) for i in range(drawer.pick((1, 1, 1, 2, 2, 3)))]
        return Trace(0, source, tuple(operators), tuple(subscribers), tuple(drawer.hot), HORIZON, {})

    def subscriber(self, drawer: Drawer, number: int) -> Subscriber:
        at = drawer.time() if number and drawer.chance(0.7) else 0
        after = drawer.amount(1, 4) if drawer.chance(0.1) else None
        cancel_at = at + drawer.time(4_000) if drawer.chance(0.15) else None
        if not self.demanding:
            return Subscriber(f"d{number}", at, cancel_at, after)
        later = sorted((at + drawer.time(4_000), drawer.amount(1, 4)) for _ in range(drawer.between(0, 4)))
        return Demanding(f"d{number}", at, cancel_at, after, drawer.amount(0, 3), drawer.pick((0, 0, 1, 1, 2)), tuple(later))


def kind_of(drawer: Drawer, source: Spec, operators: list[Spec]) -> str:
    return described(Trace(0, source, tuple(operators), (), tuple(drawer.hot), HORIZON, {})).kind

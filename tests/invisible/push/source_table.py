"""The sources of cases in the naive reference, one line each."""

from __future__ import annotations

from typing import Any, Final

from tests.invisible.push import again, combining, concatenating, items, sources
from tests.invisible.push import functions as f
from tests.invisible.push.functions import number
from tests.invisible.push.reading import Make, Reader
from tests.invisible.push.streams import Failure, Flow
from tests.recorded.cases import Spec


def _attempt(r: Reader, s: Spec, x: Any) -> Flow:
    """Another source at each subscription; from the last one on always that."""
    count = 0

    def supply() -> Flow:
        nonlocal count
        count += 1
        return r.source(s["xs"][min(count, len(s["xs"])) - 1], x)

    return again.in_turn(again.Postponed, supply) if r.variant.heeds else sources.defer(supply)


def _fail(name: str) -> Flow:
    raise Failure("App:" + name)


def _numbers(s: Spec, x: Any) -> list[int]:
    return [f.value(v, x) for v in s["v"]]


def _failure(s: Spec) -> Failure | None:
    return Failure("App:" + s["e"]) if "e" in s else None


def _range(r: Reader, s: Spec, x: Any) -> Flow:
    start = f.value(s["a"], x)
    return r.at_hand(list(range(start, start + s["n"])))


def _using(r: Reader, s: Spec, x: Any) -> Flow:
    def release() -> None:
        if s.get("throws"):
            raise Failure("App:release")

    return sources.using(lambda: r.source(s["src"], x), release, bool(s.get("eager")))


def _using_when(r: Reader, s: Spec, x: Any) -> Flow:
    return again.in_turn(again.UsingWhen, lambda: r.source(s["src"], x), lambda: r.source(s["g"], x))


def _timer(kind: str) -> Make:
    def make(r: Reader, s: Spec, x: Any) -> Flow:
        item = 0 if kind == "flowable" else 1 if x is None else number(x)
        return sources.timer(r.clock, f.value(s["ms"], x), item, kind)

    return make


def _callable(kind: str) -> Make:
    def make(r: Reader, s: Spec, x: Any) -> Flow:
        function, value = f.function(s["f"]), f.value(s["v"], x)
        if kind == "flowable" and not r.variant.ahead:
            return sources.called_on_request(lambda: function(value))
        return sources.from_callable(lambda: function(value), kind)

    return make


def _interval_range(r: Reader, s: Spec, x: Any) -> Flow:
    start = f.value(s["a"], x)
    if not s["n"]:
        return sources.timer(r.clock, s["first"]).through(items.Filter, lambda _: False)
    ticks = sources.interval(r.clock, s["first"], s["period"]).through(items.Take, s["n"])
    return ticks.through(items.Map, lambda tick: start + tick)


def _one(kind: str) -> Make:
    return lambda r, s, x: sources.single_item(f.value(s["v"], x), kind)


def _error(kind: str) -> Make:
    return lambda r, s, x: sources.error("App:" + s["e"], kind)


SOURCES: Final[dict[str, Make]] = {
    "range": _range,
    "just": lambda r, s, x: r.at_hand([f.value(s["v"], x)]),
    "iter": lambda r, s, x: r.listed(s, x),
    "array": lambda r, s, x: r.listed(s, x),
    "empty": lambda r, s, x: sources.empty(),
    "never": lambda r, s, x: sources.never(),
    "error": _error("flowable"),
    "interval": lambda r, s, x: sources.interval(r.clock, s["first"], s["period"]),
    "interval_range": _interval_range,
    "timer": _timer("flowable"),
    "hot": lambda r, s, x: r.hot[s["id"]],
    "callable": _callable("flowable"),
    "concat": lambda r, s, x: again.in_turn(again.Concat, *r.all(s["xs"], x)),
    "concat_de": lambda r, s, x: concatenating.in_turn(r.all(s["xs"], x), "end"),
    "concat_eager": lambda r, s, x: r.concat_eager(r.all(s["xs"], x)),
    "concat_eager_de": lambda r, s, x: r.concat_eager(r.all(s["xs"], x), "end"),
    "merge": lambda r, s, x: r.merge(r.all(s["xs"], x)),
    "merge_de": lambda r, s, x: r.merge(r.all(s["xs"], x), delay_error=True),
    "amb": lambda r, s, x: combining.amb(r.all(s["xs"], x)),
    "first_value": lambda r, s, x: combining.first_with_value(r.all(s["xs"], x)),
    "zip": lambda r, s, x: combining.zipped(r.all(s["xs"], x), f.combiner(s["f"]), r.prefetch(), ahead=r.variant.ahead),
    "zip_de": lambda r, s, x: combining.zipped(
        r.all(s["xs"], x), f.combiner(s["f"]), r.prefetch(), ahead=r.variant.ahead, delay_error=True
    ),
    "combine": lambda r, s, x: combining.combine_latest(r.all(s["xs"], x), f.combiner(s["f"]), r.prefetch()),
    "combine_de": lambda r, s, x: combining.combine_latest(r.all(s["xs"], x), f.combiner(s["f"]), r.prefetch(), True),
    "pick": lambda r, s, x: r.source(s["xs"][(0 if x is None else number(x)) % len(s["xs"])], x),
    "attempt": _attempt,
    "defer_throw": lambda r, s, x: sources.defer(lambda: _fail("defer")),
    "fail": lambda r, s, x: _fail("sel"),
    "pipe": lambda r, s, x: r.pipeline(s["src"], s["ops"], x),
    "generate": lambda r, s, x: r.ending(sources.generate(s["n"], s["end"])),
    "create": lambda r, s, x: sources.create(r.clock, s["script"], s["strategy"], bool(s.get("throws"))),
    "using": _using,
    "using_when": _using_when,
    "foreign": lambda r, s, x: sources.published(_numbers(s, x), _failure(s)),
    "paced": lambda r, s, x: sources.paced(r.clock, _numbers(s, x), s["ms"], _failure(s)),
    "s_timer": _timer("single"),
    "m_timer": _timer("maybe"),
    "c_timer": _timer("completable"),
    "s_callable": _callable("single"),
    "s_just": _one("single"),
    "s_error": _error("single"),
    "s_never": lambda r, s, x: sources.never("single"),
    "m_just": _one("maybe"),
    "m_empty": lambda r, s, x: sources.empty("maybe"),
    "m_error": _error("maybe"),
    "m_never": lambda r, s, x: sources.never("maybe"),
    "c_complete": lambda r, s, x: sources.empty("completable"),
    "c_error": _error("completable"),
    "c_never": lambda r, s, x: sources.never("completable"),
    "c_action": lambda r, s, x: sources.from_callable(f.action(s), "completable"),
}

"""Streams inside operators of the naive reference: windows, groups, shared streams, and the signals of retry_when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push import again, answers, combining, concatenating, flattening, items, sharing, sources, timeouts
from tests.invisible.push.functions import Fn, number
from tests.invisible.push.reading import Reader, flowable, to_list
from tests.invisible.push.streams import Count, Failure, Flow
from tests.recorded.cases import Spec
from tests.recorded.functions import remainder


def handler(r: Reader, op: Spec) -> Callable[[Flow], Flow]:
    """Of retry_when and repeat_when."""
    how, n, ms = op["h"], op["n"], op["ms"]

    def timer(delay: int) -> Flow:
        return sources.timer(r.clock, delay)

    def failing() -> Flow:
        return sources.error("App:rw")

    def throw(_: Flow) -> Flow:
        raise Failure("App:rwt")

    def in_turn(flow: Flow, mapper: Fn) -> Flow:
        return flow.through(concatenating.ConcatMap, mapper, r.prefetch(2))

    def zipped(flow: Flow) -> Flow:
        counts = sources.listed(list(range(1, n + 1)))
        return in_turn(combining.zipped([flow, counts], lambda _, i: i, r.prefetch()), lambda i: timer(i * ms))

    return {
        "take": lambda flow: flow.through(items.Take, n),
        "timer": lambda flow: in_turn(flow.through(items.Take, n), lambda _: timer(ms)),
        "zip": zipped,
        "error": lambda flow: in_turn(flow, lambda _: failing()),
        "empty": lambda _: sources.empty(),
        "never": lambda _: sources.never(),
        "throw": throw,
        "just": lambda _: sources.listed([1]),
        "delay": lambda flow: flow.through(items.Take, n).through(timeouts.Delay, r.clock, ms, False),
        "then_error": lambda flow: again.in_turn(again.Concat, flow.through(items.Take, n), failing()),
    }[how]


def flatten(r: Reader, flow: Flow, op: Spec) -> Flow:
    """What becomes of windows and groups."""
    how = op["fl"]

    def fold(a: Any, b: Any) -> int:
        return remainder(number(a) * 2 + number(b))

    def merged(flow: Flow, mapper: Fn = lambda part: part) -> Flow:
        return flow.through(flattening.FlatMap, mapper, r.prefetch(), r.prefetch(), False, r.variant.waiting, r.variant.ahead)

    def in_turn(mapper: Fn = lambda part: part, again: Count | None = None) -> Flow:
        return flow.through(concatenating.ConcatMap, mapper, r.prefetch(2), again=again)

    return {
        "flat": lambda: merged(flow),
        "concat": lambda: in_turn(),
        "switch": lambda: flow.through(flattening.SwitchMap, lambda part: part, r.prefetch()),
        "flat_list": lambda: merged(flow, to_list),
        "concat_list": lambda: in_turn(lambda part: flowable(to_list(part)), r.prefetch(1)),
        "take": lambda: merged(flow, lambda part: part.through(items.Take, op["n"])),
        "reduce": lambda: merged(flow, lambda part: part.through(answers.Reduce, fold, kind="maybe")),
        "scan": lambda: merged(flow, lambda part: part.through(items.Scan, fold)),
        "only": lambda: merged(flow.through(items.Take, op["n"])),
        "tag": lambda: merged(flow, lambda part: part.through(items.Map, lambda v: number(part.key) * 1000 + number(v))),
        "tag_list": lambda: merged(flow, lambda part: to_list(part).through(items.Map, lambda v: [part.key, v])),
        "count": lambda: merged(flow, lambda part: part.through(answers.Count_, kind="single")),
    }[how]()


def twice(r: Reader, a: Flow, op: Spec) -> Flow:
    """A shared stream used two times."""
    b = a.through(items.Map, lambda v: number(v) + 100)
    if "n" in op:
        b = b.through(items.Take, op["n"])
    return {
        "merge": lambda: r.merge([a, b]),
        "merge_r": lambda: r.merge([b, a]),
        "concat": lambda: again.in_turn(again.Concat, a, b),
        "zip": lambda: combining.zipped([a, b], lambda p, q: [p, q], r.prefetch()),
        "until": lambda: combining.take_until(a, b.through(items.Skip, 1)),
        "with": lambda: combining.with_latest_from(a, [b], lambda p, q: [p, q]),
        "one": lambda: a,
    }[op["mode"]]()


def share(r: Reader, flow: Flow, op: Spec) -> Flow:
    n, ms, size = op.get("subs", 1), op["ms"], op["size"]
    publish, replay = sharing.publish(flow, r.prefetch(), lossy=r.variant.observable), sharing.replay
    shared = {
        "publish_auto": lambda: sharing.auto_connect(publish, n),
        "publish_ref": lambda: sharing.RefCount(publish, n).flow(),
        "share": lambda: sharing.RefCount(publish, 1).flow(),
        "replay_auto": lambda: sharing.auto_connect(replay(flow), n),
        "replay_ref": lambda: sharing.RefCount(replay(flow), n).flow(),
        "replay_n_auto": lambda: sharing.auto_connect(replay(flow, size), n),
        "replay_n_ref": lambda: sharing.RefCount(replay(flow, size), 1).flow(),
        "replay_t_auto": lambda: sharing.auto_connect(replay(flow, age=ms, clock=r.clock), n),
        "ref_time": lambda: sharing.RefCount(publish, n, ms, r.clock).flow(),
        "cache": lambda: again.Cache(flow).flow(),
        "cache_ttl": lambda: again.CacheTtl(flow, ms, r.clock).flow(),
    }[op["how"]]()
    return again.counted_if_it_stays(shared, r.variant.heeds)

"""Making a case smaller as long as something remains true of it: that a form differs from the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tests.invisible.push.running import Demanding, demanding
from tests.recorded.cases import HotSource, Spec, Subscriber, Trace

#: Arguments without which a spec is complete.
OPTIONAL: Final = (
    "t",
    "c",
    "z",
    "de",
    "maxc",
    "pre",
    "probe",
    "throws",
    "at",
    "vf",
    "last",
    "b",
    "fb",
    "e",
    "subs",
    "n",
    "k",
    "p",
)
#: Lists that may be shorter.
LISTS: Final = ("xs", "v", "script", "ops")
#: A list of so many is made shorter by more than one item at a time.
MANY: Final = 16
#: Sources that say less than others. The last is also for subscribers that do not request everything.
PLAIN: Final[tuple[Spec, ...]] = ({"s": "empty"}, {"s": "just", "v": 1}, {"s": "never"})


def shrunk(case: Trace, still: Callable[[Trace], bool], most: int = 4_000) -> Trace:
    """The smallest case found. ``still`` is asked no more than ``most`` times, and says False of a case that makes no sense."""
    left = most
    smaller = True
    while smaller and left:
        smaller = False
        for candidate in candidates(case):
            left -= 1
            if still(candidate):
                case, smaller = candidate, True
                break
            if not left:
                break
    return case


def candidates(case: Trace) -> Iterator[Trace]:
    """Smaller cases, those with less of it first."""
    for at in range(len(case.operators)):
        yield replace(case, operators=(*case.operators[:at], *case.operators[at + 1 :]))
    for at in range(len(case.subscribers)):
        if len(case.subscribers) > 1:
            yield replace(case, subscribers=(*case.subscribers[:at], *case.subscribers[at + 1 :]))
    plain = PLAIN[-1:] if demanding(case) else PLAIN
    for source in smaller_specs(case.source, plain):
        yield replace(case, source=source)
    for at, operator in enumerate(case.operators):
        for smaller in smaller_specs(operator, plain):
            yield replace(case, operators=(*case.operators[:at], smaller, *case.operators[at + 1 :]))
    for at, subscriber in enumerate(case.subscribers):
        for plainer in plainer_subscribers(subscriber):
            yield replace(case, subscribers=(*case.subscribers[:at], plainer, *case.subscribers[at + 1 :]))
    for at, hot in enumerate(case.hot):
        for other in (None, *smaller_hot(hot)):
            kept = () if other is None else (other,)
            yield replace(case, hot=(*case.hot[:at], *kept, *case.hot[at + 1 :]))


def smaller_specs(spec: Spec, plainer: Sequence[Spec]) -> Iterator[Spec]:
    if "s" in spec and spec["s"][:2] not in ("s_", "m_", "c_"):
        yield from (plain for plain in plainer if size(plain) < size(spec))
        if spec["s"] in ("pipe", "using", "using_when"):
            yield spec["src"]
        yield from spec.get("xs", ())
    for key in OPTIONAL:
        if key in spec:
            yield {name: value for name, value in spec.items() if name != key}
    for key in LISTS:
        items = spec.get(key, ())
        if not isinstance(items, list):
            continue
        yield from ({**spec, key: shorter} for shorter in without_some(items) if shorter or key != "xs")
        for at, item in enumerate(items):
            if isinstance(item, Mapping):
                yield from ({**spec, key: [*items[:at], smaller, *items[at + 1 :]]} for smaller in smaller_specs(item, plainer))
    for key, value in spec.items():
        if isinstance(value, Mapping):
            yield from ({**spec, key: smaller} for smaller in smaller_specs(value, plainer))
        elif key in ("n", "a", "k", "size") and isinstance(value, int) and value > 0:
            yield from ({**spec, key: smaller} for smaller in smaller_counts(value))


def without_some(items: list[Any]) -> Iterator[list[Any]]:
    """Lists without one half, one quarter and so on, at last without one item."""
    size = len(items)
    while size >= MANY:
        size //= 2
        yield from without_each(items, size)
    yield from without_each(items, 1)


def without_each(items: list[Any], size: int) -> Iterator[list[Any]]:
    """Lists without the first ``size`` items, without the next ``size``, and so on."""
    for at in range(0, len(items), size):
        yield [*items[:at], *items[at + size :]]


def smaller_counts(count: int) -> Iterator[int]:
    if count > MANY:
        yield from (count // 2, count * 7 // 8)
    yield count - 1


def size(spec: Any) -> int:
    if isinstance(spec, Mapping):
        return 1 + sum(map(size, spec.values()))
    return sum(map(size, spec)) if isinstance(spec, list) else 1


def plainer_subscribers(subscriber: Subscriber) -> Iterator[Subscriber]:
    if subscriber.at:
        yield replace(subscriber, at=0)
    if subscriber.cancel_at is not None:
        yield replace(subscriber, cancel_at=None)
    if subscriber.cancel_after is not None:
        yield replace(subscriber, cancel_after=None)
    if isinstance(subscriber, Demanding):
        if subscriber.later:
            yield replace(subscriber, later=subscriber.later[:-1])
        if subscriber.with_each:
            yield replace(subscriber, with_each=0)
        if subscriber.first > MANY:
            yield from (replace(subscriber, first=first) for first in smaller_counts(subscriber.first))


def smaller_hot(hot: HotSource) -> Iterator[HotSource]:
    for script in without_some(list(hot.script)):
        yield replace(hot, script=tuple(script))
    if hot.kind != "publish":
        yield replace(hot, kind="publish")

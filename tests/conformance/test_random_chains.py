"""Random chains of stages over random items under random demand: fused, behind walls, with fusion off, and the reference agree.

``RX_CHAINS=5000`` tries more of them than the normal run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import accumulate, dropwhile, takewhile
from typing import Any, Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rx_ops import Flowable
from rx_testing import TestSubscriber, VirtualScheduler
from tests.conformance.harness import Flow, switched
from tests.conformance.sources import KINDS

Calls = list[tuple[str, Any]]
#: One step: over a stream, and over a list; both note the calls of their function.
Step = tuple[str, Callable[[Flow, Calls], Flow], Callable[[list[Any], Calls], list[Any]]]


def _noting(calls: Calls, name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def noted(x: Any) -> Any:
        calls.append((name, x))
        return function(x)

    return noted


def _size(x: Any) -> int:
    """Something to decide by, whatever the item: buffer makes lists of items."""
    return sum(map(_size, x)) if isinstance(x, (list, tuple)) else int(x)


def _copies(x: Any) -> list[Any]:
    return [x] * (_size(x) % 3)


def _unique(xs: list[Any]) -> list[Any]:
    return [x for at, x in enumerate(xs) if _size(x) not in map(_size, xs[:at])]


def _changes(xs: list[Any]) -> list[Any]:
    return [x for at, x in enumerate(xs) if at == 0 or xs[at - 1] != x]


def _overlapping(xs: list[Any], count: int, skip: int) -> list[Any]:
    return [xs[at : at + count] for at in range(0, len(xs), skip)]


# ruff: noqa: E501  # one line per step
STEPS: Final[tuple[Step, ...]] = (
    ("map", lambda s, c: s.map(_noting(c, "map", lambda x: _size(x) + 1)), lambda xs, c: [_noting(c, "map", _size)(x) + 1 for x in xs]),
    ("filter", lambda s, c: s.filter(_noting(c, "filter", lambda x: _size(x) % 2)), lambda xs, c: [x for x in xs if _noting(c, "filter", _size)(x) % 2]),
    ("take", lambda s, c: s.take(3), lambda xs, c: xs[:3]),
    ("take 1", lambda s, c: s.take(1), lambda xs, c: xs[:1]),
    ("take 0", lambda s, c: s.take(0), lambda xs, c: []),
    ("skip", lambda s, c: s.skip(2), lambda xs, c: xs[2:]),
    ("take_while", lambda s, c: s.take_while(lambda x: _size(x) < 6), lambda xs, c: list(takewhile(lambda x: _size(x) < 6, xs))),
    ("skip_while", lambda s, c: s.skip_while(lambda x: _size(x) < 3), lambda xs, c: list(dropwhile(lambda x: _size(x) < 3, xs))),
    ("distinct", lambda s, c: s.distinct(_size), lambda xs, c: _unique(xs)),
    ("changes", lambda s, c: s.distinct_until_changed(), lambda xs, c: _changes(xs)),
    ("scan", lambda s, c: s.map(_size).scan(max), lambda xs, c: list(accumulate(map(_size, xs), max))),
    ("scan seed", lambda s, c: s.scan(lambda a, x: a + _size(x), 1), lambda xs, c: list(accumulate(xs, lambda a, x: a + _size(x), initial=1))),
    ("expand", lambda s, c: s.flat_map_iterable(_noting(c, "expand", _copies)), lambda xs, c: [y for x in xs for y in _noting(c, "expand", _copies)(x)]),
    ("buffer", lambda s, c: s.buffer(2), lambda xs, c: _overlapping(xs, 2, 2)),
    ("gaps", lambda s, c: s.buffer(1, 2), lambda xs, c: _overlapping(xs, 1, 2)),
    ("overlap", lambda s, c: s.buffer(3, 1), lambda xs, c: _overlapping(xs, 3, 1)),
    ("element_at", lambda s, c: s.element_at(1).to_flowable(), lambda xs, c: xs[1:2]),
    ("first", lambda s, c: s.first(7).to_flowable(), lambda xs, c: xs[:1] or [7]),
    ("reduce", lambda s, c: s.map(_size).reduce(max).to_flowable(), lambda xs, c: [max(map(_size, xs))] if xs else []),
    ("count", lambda s, c: s.count().to_flowable(), lambda xs, c: [len(xs)]),
    ("to_list", lambda s, c: s.to_list().to_flowable(), lambda xs, c: [xs]),
    ("do_on_next", lambda s, c: s.do_on_next(_noting(c, "do", str)), lambda xs, c: [_noting(c, "do", str)(x) and x for x in xs]),
    ("concat", lambda s, c: s.concat_with(Flowable.of(1, 2)), lambda xs, c: [*xs, 1, 2]),
    ("concat_map", lambda s, c: s.concat_map(lambda x: Flowable.of(x, 1)), lambda xs, c: [y for x in xs for y in (x, 1)]),
)  # fmt: skip

CHAINS = st.lists(st.sampled_from(STEPS), min_size=1, max_size=6)
ITEMS = st.lists(st.integers(0, 9), max_size=12)
DEMANDS = st.lists(st.integers(1, 5), min_size=1, max_size=4)


def reference(chain: Sequence[Step], items: list[int]) -> list[Any]:
    made: list[Any] = list(items)
    for _, _, over_list in chain:
        made = over_list(made, [])
    return made


def run(chain: Sequence[Step], items: list[int], kind: str, mode: str, demands: list[int]) -> tuple[TestSubscriber[Any], Calls]:
    calls: Calls = []
    clock = VirtualScheduler()
    source = KINDS[kind](items, None, clock)
    flow = source.flow
    for _, over_stream, _ in chain:
        flow = over_stream(flow, calls)
        if mode == "hidden":
            flow = flow.hide()
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    with switched(mode):
        flow.subscribe(got)
        for at in range(400):
            while source.pump() or clock.run_due():
                pass
            if got.is_terminated:
                break
            got.request(demands[at % len(demands)])
    return got, calls


@settings(
    max_examples=int(os.environ.get("RX_CHAINS", "100")),
    deadline=None,
    derandomize="RX_CHAINS" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(chain=CHAINS, items=ITEMS, kind=st.sampled_from(sorted(KINDS)), demands=DEMANDS)
def test_all_ways_of_running_a_chain_agree(chain: list[Step], items: list[int], kind: str, demands: list[int]) -> None:
    wanted = reference(chain, items)
    seen = []
    for mode in ("fused", "hidden", "off"):
        got, calls = run(chain, items, kind, mode, demands)
        got.assert_result(*wanted)
        seen.append(sorted(map(repr, calls)))
    ends_early = any(name in ("take", "take 1", "take 0", "take_while", "element_at", "first") for name, _, _ in chain)
    if not ends_early:  # then everything is consumed and all functions see the same elements
        assert seen[0] == seen[1] == seen[2]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(chain=CHAINS, items=ITEMS, kind=st.sampled_from(["clean", "list", "generated", "running"]))
def test_iterating_a_chain_gives_the_same(chain: list[Step], items: list[int], kind: str) -> None:
    flow = KINDS[kind](items, None, VirtualScheduler()).flow
    for _, over_stream, _ in chain:
        flow = over_stream(flow, [])
    wanted = reference(chain, items)
    assert list(flow) == wanted
    assert flow.first_element().blocking_get() == next(iter(wanted), None)

from __future__ import annotations

import pickle
from operator import add, neg

import pytest

from rx_spark._jobs._compile import split_limit
from rx_spark._plans._plan import Count, Pass, Plan, RangeSource, Reduce, Stacked, Take, TextSource


def negated(source, function):  # type: ignore[no-untyped-def]  # as short as a stage can be
    for item in source:
        yield function(item)


def test_plans_are_values() -> None:
    plan = Plan(RangeSource(0, 10)).then(Pass(((abs, ()),))).then(Reduce(add))
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert plan == Plan(RangeSource(0, 10), (Pass(((abs, ()),)), Reduce(add)))


def test_stacked_stages_run_in_order_and_a_runner_wins() -> None:
    assert list(Pass(((negated, (neg,)), (negated, (abs,)))).to_runner()([1, -2])) == [1, 2]
    assert Pass(((negated, (neg,)),), runner=Stacked(())).to_runner() == Stacked(())


@pytest.mark.parametrize(
    ("steps", "rest", "limit"),
    [
        ((), (), None),
        ((Take(3),), (), 3),
        ((Count(), Take(5), Take(2), Take(7)), (Count(),), 2),
        ((Take(5), Count()), (Take(5), Count()), None),
    ],
)
def test_takes_at_the_end_become_the_limit(steps: tuple[Count | Take, ...], rest: object, limit: int | None) -> None:
    assert split_limit(Plan(RangeSource(0, 9), steps)) == (rest, limit)


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: Take(-1), ValueError, r"take\(-1\)"),
        (lambda: Take(1.5), TypeError, "1.5"),  # type: ignore[arg-type]  # the point
        (lambda: RangeSource(0, 1, 0), ValueError, "zero"),
        (lambda: TextSource("a.txt"), TypeError, r"TextSource\(\('a.txt',\)\)"),  # type: ignore[arg-type]  # the point
        (lambda: TextSource(("a",), encoding="utf-16"), ValueError, "utf-16"),
        (lambda: TextSource(("a",), encoding="nonsense"), LookupError, "nonsense"),
    ],
)
def test_wrong_arguments_are_refused_when_the_plan_is_built(build: object, error: type[Exception], text: str) -> None:
    assert callable(build)
    with pytest.raises(error, match=text):
        build()

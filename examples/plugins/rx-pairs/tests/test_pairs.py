from __future__ import annotations

from typing import Any

import pytest

from rx_ops import Flowable

NUMBERS = Flowable.range(8)


@pytest.mark.parametrize(
    ("size", "step", "expected"),
    [
        (1, 1, [(0,), (1,), (2,), (3,), (4,), (5,), (6,), (7,)]),
        (2, 1, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]),
        (2, 3, [(0, 1), (3, 4), (6, 7)]),
        (3, 2, [(0, 1, 2), (2, 3, 4), (4, 5, 6)]),
        (3, 3, [(0, 1, 2), (3, 4, 5)]),
        (9, 1, []),
    ],
)
def test_pairs_are_neighbours(size: int, step: int, expected: list[tuple[int, ...]]) -> None:
    assert NUMBERS.pairs(size, step=step).blocking_list() == expected


def test_two_neighbours_by_default() -> None:
    assert NUMBERS.pairs().blocking_list() == NUMBERS.pairs(2, step=1).blocking_list()


def test_each_run_starts_clean() -> None:
    pairs = NUMBERS.take(3).pairs()
    assert pairs.blocking_list() == pairs.blocking_list() == [(0, 1), (1, 2)]


def test_pairs_fuse_with_their_neighbours() -> None:
    plan = NUMBERS.map(str).pairs(2).map("".join).explain()
    assert "in one loop, no queue" in plan


def test_a_foreign_source_is_asked_for_what_the_tuples_need() -> None:
    requested: list[int] = []

    class Source:
        def subscribe(self, subscriber: Any, /) -> None:
            subscriber.on_subscribe(self)

        def request(self, n: int, /) -> None:
            requested.append(n)

        def cancel(self) -> None: ...

    class Asking:
        def on_subscribe(self, subscription: Any, /) -> None:
            subscription.request(2)
            subscription.request(1)

        def on_next(self, item: object, /) -> None: ...
        def on_error(self, error: Exception, /) -> None: ...
        def on_complete(self) -> None: ...

    Flowable[int].wrap(Source()).pairs(3, step=2).subscribe(Asking())
    assert requested == [5, 2]


@pytest.mark.parametrize(("size", "step"), [(0, 1), (2, 0), (-1, 1)])
def test_sizes_that_make_no_tuple_are_refused(size: int, step: int) -> None:
    with pytest.raises(ValueError, match=r"pairs\((size|step)=-?\d\): at least 1 is needed, for example pairs\(2, step=1\)"):
        NUMBERS.pairs(size, step=step)


def test_something_else_than_a_number_is_refused() -> None:
    with pytest.raises(TypeError, match=r"pairs\(size='2'\): a whole number is needed"):
        NUMBERS.pairs("2")  # type: ignore[arg-type]  # that is the mistake


def test_total() -> None:
    assert NUMBERS.total().blocking_get() == 28
    assert NUMBERS.take(0).total().blocking_get() == 0
